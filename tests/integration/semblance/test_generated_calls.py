"""The short form of `make attack`'s generated calls of the API, in one process, each taken back after it."""

import pytest
import requests
from django.core.signals import request_finished
from django.db import close_old_connections
from django.test import Client
from schemathesis import Case, Response

from tests.generated_calls import played
from tests.integration.semblance.every_address import undone
from tests.objects_for_calls import world_of

pytestmark = pytest.mark.django_db


def sent(case: Case, headers: dict[str, str]) -> Response:
    """The answer of this process. What the call changes is taken back."""
    asked = case.as_transport_kwargs(base_url="http://testserver", headers=headers)
    names = ("method", "url", "params", "headers", "cookies", "json", "data", "files")
    request = requests.Request(**{name: asked[name] for name in names if name in asked}).prepare()
    body = request.body.encode() if isinstance(request.body, str) else request.body or b""
    kind = request.headers.pop("Content-Type", "application/octet-stream")
    request.headers.pop("Accept-Encoding", None)  # nothing would unpack the answer here
    with undone():
        client = Client(raise_request_exception=False)
        answer = client.generic(request.method, request.path_url, body, kind, headers=dict(request.headers))
        if answer.status_code == 301:  # the end of the address had no slash
            answer = client.get(answer["Location"], headers=dict(request.headers))
        content = answer.getvalue()
        # A file is closed, which Django takes for the end of its connection to the database.
        request_finished.disconnect(close_old_connections)
        answer.close()
        request_finished.connect(close_old_connections)
    told = {name.lower(): [value] for name, value in answer.headers.items()}
    return Response(answer.status_code, told, content, request, elapsed=0.0, verify=False)


@pytest.mark.exhaustive
def test_no_generated_call_of_the_api_is_an_error_of_the_server_or_not_as_described() -> None:
    report = played([world_of()], sent, calls=200, drawn=13)

    assert report.calls >= 200
    assert report.errors == []
    assert dict(report.faults) == {}
    assert len(report.beyond) > 20  # the calls get beyond refusals
