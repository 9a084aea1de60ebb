"""What all addresses of the API share: pages of bounded size, and refusals that are JSON with a sentence."""

from typing import Any

from django.core.exceptions import BadRequest, RequestDataTooBig, TooManyFieldsSent
from django.http import QueryDict
from django.utils.translation import gettext as _
from rest_framework.exceptions import APIException, ParseError, ValidationError
from rest_framework.pagination import LimitOffsetPagination
from rest_framework.parsers import DataAndFiles, FormParser, JSONParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param
from rest_framework.views import exception_handler

from curation.files.json_text import nested_deeply
from curation.foundation.errors import NUL_REFUSED, UserError
from curation.foundation.numbers import MOST_DIGITS, number_from


class Pages(LimitOffsetPagination):
    """`limit` and `offset` as asked for; one that is not a number is refused, because a page guessed is a page missed.

    A view with a method `rows_after` has a list that may be long: `next` goes on after the last row, by its number
    (`row_number` names the field), so that no page is slower than the first. `offset` is possible all the same.
    """

    default_limit = 100
    max_limit = 1000
    after_query_param = "after"
    _last: int | None = None  # the number of the last row, where there are more
    _goes_on_after_rows = False
    _here = ""

    def get_limit(self, request: Request) -> int:
        asked = _asked(request, self.limit_query_param, least=1, default=self.default_limit)
        return min(asked, self.max_limit)

    def get_offset(self, request: Request) -> int:
        return _asked(request, self.offset_query_param, least=0, default=0)

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> list[Any] | None:
        asked = request.query_params.keys() & {self.after_query_param, self.offset_query_param}
        if len(asked) == 2 or (self.after_query_param in asked and not hasattr(view, "rows_after")):
            raise ValidationError({self.after_query_param: [_("This list goes on by offset here.")]})
        if not hasattr(view, "rows_after") or self.offset_query_param in asked:
            return super().paginate_queryset(queryset, request, view)
        self.request, self._here = request, request.build_absolute_uri()
        self.limit, self._goes_on_after_rows = self.get_limit(request), True
        self.count: Any = None if asked else self.get_count(queryset)
        if asked:
            queryset = view.rows_after(queryset, _asked(request, self.after_query_param, least=0, default=0))
        rows = list(queryset[: self.limit + 1])
        if len(rows) > self.limit:
            rows.pop()
            self._last = getattr(rows[-1], getattr(view, "row_number", "pk"))
        return rows

    def get_next_link(self) -> str | None:
        if not self._goes_on_after_rows:
            return super().get_next_link()
        if self._last is None:
            return None
        here = replace_query_param(self._here, self.limit_query_param, self.limit)
        return replace_query_param(here, self.after_query_param, self._last)

    def get_previous_link(self) -> str | None:
        return None if self._goes_on_after_rows else super().get_previous_link()

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        described = super().get_paginated_response_schema(schema)
        described["properties"]["count"] |= {
            "nullable": True,
            "description": "The number of rows. Null on pages after the first.",
        }
        return described

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        parameters: list[dict[str, Any]] = super().get_schema_operation_parameters(view)
        if hasattr(view, "rows_after"):
            about = "The number of the last row of the page before; `next` has it."
            after = {"name": self.after_query_param, "required": False, "in": "query", "description": about}
            parameters.append({**after, "schema": {"type": "integer"}})
        return parameters


def _asked(request: Request, name: str, *, least: int, default: int) -> int:
    text = request.query_params.get(name)
    if text is None:
        return default
    number = number_from(text)
    if number is None or number < least:
        sentence = _("Give a whole number from %(least)s, with at most %(digits)s digits.")
        raise ValidationError({name: [sentence % {"least": least, "digits": MOST_DIGITS}]})
    return number


class _Readable:
    """A parser whose texts are ones that a database stores."""

    def parse(self, *args: Any, **kwargs: Any) -> Any:
        try:
            parsed = super().parse(*args, **kwargs)  # type: ignore[misc]
        except RecursionError as error:
            raise ParseError(_("The JSON is nested too deeply.")) from error
        if nested_deeply(parsed):
            raise ParseError(_("The JSON is nested too deeply."))
        # Every text in a body, names of fields included; of the files that came with it, none.
        waiting = [parsed]
        while waiting:
            value = waiting.pop()
            if isinstance(value, str):
                if "\0" in value:
                    raise ParseError(NUL_REFUSED)
                try:
                    value.encode()
                except UnicodeEncodeError as error:
                    half = _(
                        "The text contains half of a character (a lone surrogate). Send whole characters."
                    )
                    raise ParseError(half) from error
            elif isinstance(value, DataAndFiles):
                waiting.append(value.data)
            elif isinstance(value, dict):
                waiting.extend(value.lists() if isinstance(value, QueryDict) else value.items())
            elif isinstance(value, list | tuple):
                waiting.extend(value)
        return parsed


class ReadableJSON(_Readable, JSONParser):
    pass


class ReadableForm(_Readable, FormParser):
    pass


class ReadableMultiPart(_Readable, MultiPartParser):
    pass


def error_answer(error: Exception, context: dict[str, Any]) -> Response | None:
    """Django REST framework's answer, and one for what a person can mend; None for a bug, which is logged."""
    sentence, status = str(error), getattr(error, "status", 400)
    if isinstance(error, RequestDataTooBig):
        sentence, status = _("The request is larger than this site accepts. Send less at once."), 413
    elif isinstance(error, TooManyFieldsSent):
        sentence, status = (
            _("The request has more fields than this site accepts. Send JSON, or less at once."),
            413,
        )
    if isinstance(error, UserError | RequestDataTooBig | TooManyFieldsSent | BadRequest):
        error = APIException({"detail": sentence})
        error.status_code = status
    return exception_handler(error, context)


def refusals_described(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """The description of the API with what an address answers where it refuses: the same everywhere."""
    detail = {"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
    sentences = {"type": "object", "properties": {"detail": detail}, "additionalProperties": {}}
    refusal = {
        "description": "Refused: `detail` says why in one or several sentences, or each wrong field has its own.",
        "content": {"application/json": {"schema": sentences}},
    }
    result.setdefault("components", {})["responses"] = {"Refusal": refusal}
    for methods in result["paths"].values():
        for operation in methods.values():
            operation["responses"]["4XX"] = {"$ref": "#/components/responses/Refusal"}
    return result
