"""Lines of the log that say what happened: what has happened, with fields, without names and secrets."""

import json
import logging
from datetime import timedelta

import pytest
from django.db import transaction
from django.urls import reverse
from django.utils.timezone import now
from pythonjsonlogger.json import JsonFormatter

from curation.foundation.log_lines import log_line
from curation.models import WebhookDelivery
from curation.people.audit import Action, audit_record
from curation.people.outgoing import Outcome, outgoing_carry_out
from mlworkers.runs.lifecycle import run_cancel, run_claim, run_fail, run_finish
from tests.factories import RunFactory, UserFactory, client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def happened(caplog, django_capture_on_commit_callbacks):
    """Does something, and returns the lines of the log that say what happened."""

    def lines(act) -> list[str]:
        caplog.clear()
        with (
            caplog.at_level(logging.INFO, "semblance.happened"),
            django_capture_on_commit_callbacks(execute=True),
        ):
            act()
        return [record.getMessage() for record in caplog.records if record.name == "semblance.happened"]

    return lines


def test_fields_are_words_and_a_line_stays_one_line(happened, caplog) -> None:
    forged = "a\nb login user=1"

    lines = happened(lambda: log_line("imported", pairs=3, file=forged, empty="", nothing=None))

    assert lines == [r'imported pairs=3 file="a\nb login user=1"']
    said = json.loads(JsonFormatter("{message}", style="{").format(caplog.records[-1]))
    assert (said["event"], said["pairs"], said["file"]) == ("imported", 3, forged)


def test_logins_are_told_by_number_and_address_and_never_by_what_was_typed(happened, client) -> None:
    user = UserFactory(username="anna")
    user.set_password("the right one")
    user.save()
    form = reverse("login")

    def logs_in_and_out() -> None:
        client.post(form, {"username": "anna", "password": "a wrong secret"})
        client.post(form, {"username": "anna", "password": "the right one"})
        client.post(reverse("logout"))

    assert happened(logs_in_and_out) == [
        "login_failed address=127.0.0.1",
        f"login user={user.pk} address=127.0.0.1",
        f"logout user={user.pk} address=127.0.0.1",
    ]


def test_who_is_refused_is_told_with_the_view_and_without_the_address(happened, dataset, annotator) -> None:
    site = client_of(annotator)

    lines = happened(lambda: site.get(reverse("curation:settings", args=[dataset.slug])))

    assert lines == [f"refused status=403 method=GET view=curation:settings user={annotator.pk}"]


def test_a_run_is_told_when_it_is_claimed_and_when_it_ends(happened) -> None:
    run, at = RunFactory(kind="score_realism", queue="gpu"), now()
    claims = []

    claimed = happened(lambda: claims.append(run_claim(run_id=run.pk, worker="gpu@here", at=at)))
    ended = happened(lambda: run_finish(claim=claims[0], at=at + timedelta(seconds=12.5), result={}))

    assert claimed[0].startswith(
        f"run_claimed run={run.pk} kind=score_realism attempt=1 worker=gpu@here waited="
    )
    assert ended == [f"run_ended run={run.pk} kind=score_realism state=succeeded attempt=1 seconds=12.5"]


def test_runs_that_fail_or_are_cancelled_end_too(happened) -> None:
    failing, cancelled = RunFactory.create_batch(2)
    claim = run_claim(run_id=failing.pk, worker="here", at=now())

    assert "state=failed" in happened(lambda: run_fail(claim=claim, at=now(), message="No memory."))[0]
    assert happened(lambda: run_cancel(run_id=cancelled.pk, at=now(), message="")) == [
        f"run_ended run={cancelled.pk} kind=export_dataset state=cancelled attempt=0"
    ]
    assert happened(lambda: run_cancel(run_id=cancelled.pk, at=now(), message="")) == []


def test_what_the_audit_log_keeps_is_told_and_a_blind_review_names_nobody(happened, dataset, curator) -> None:
    def imports_and_reviews() -> None:
        audit_record(dataset=dataset, action=Action.PAIRS_IMPORTED, by=curator, subject="my.csv", pairs=7)
        audit_record(dataset=dataset, action=Action.REVIEW_DECIDED, by=curator, blind=True)

    assert happened(imports_and_reviews) == [
        f"pairs_imported via=site user={curator.pk} dataset={dataset.slug} pairs=7",
        f"review_decided via=blind dataset={dataset.slug}",
    ]


def test_a_webhook_is_told_once_it_is_given_up(happened, dataset) -> None:
    webhook = dataset.webhooks.create(url="https://secret.example.org/path", secret="s")
    delivery = WebhookDelivery.objects.create(
        webhook=webhook, event="run.finished", key="run 1", next_at=now()
    )
    outcomes = iter([Outcome(problem="503"), Outcome(problem="503")])

    def deliver() -> None:
        WebhookDelivery.objects.update(next_at=now())
        outgoing_carry_out(
            WebhookDelivery.objects.all(),
            send=lambda row: next(outcomes),
            now=now,
            pauses=lambda row: [timedelta(seconds=1)],
        )

    assert happened(deliver) == []
    assert happened(deliver) == [f"sending_given_up what=webhookdelivery id={delivery.pk} tries=2"]


def test_nothing_is_told_of_what_is_undone(happened, dataset, curator) -> None:
    def undone() -> None:
        with transaction.atomic():
            audit_record(dataset=dataset, action=Action.PAIRS_IMPORTED, by=curator)
            transaction.set_rollback(True)

    assert happened(undone) == []
