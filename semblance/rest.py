"""What all addresses of the API share: pages of bounded size, and refusals that are JSON with a sentence."""

from typing import Any

from django.core.exceptions import BadRequest, RequestDataTooBig
from django.utils.translation import gettext as _
from rest_framework.exceptions import APIException, ParseError, ValidationError
from rest_framework.pagination import LimitOffsetPagination
from rest_framework.parsers import JSONParser
from rest_framework.response import Response
from rest_framework.views import exception_handler

from curation.errors import UserError


class Pages(LimitOffsetPagination):
    default_limit = 100
    max_limit = 1000


class BoundedJSONParser(JSONParser):
    def parse(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().parse(*args, **kwargs)
        except RecursionError as error:
            raise ParseError(_("The JSON is nested too deeply.")) from error


class _TooLarge(APIException):
    status_code = 413


def error_answer(error: Exception, context: dict[str, Any]) -> Response | None:
    """Django REST framework's answer, and one for what a person can mend; None for a bug, which is logged."""
    if isinstance(error, UserError):
        error = ValidationError({"detail": str(error)})
    elif isinstance(error, BadRequest):
        error = ParseError(str(error))
    elif isinstance(error, RequestDataTooBig):
        error = _TooLarge(_("The request is larger than this site takes; send less at once."))
    return exception_handler(error, context)
