"""Tables as CSV files to download."""

import json
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.utils.http import content_disposition_header

from curation.files.tables import csv_file_rows, csv_lines
from curation.pairs.judged_by import with_mark


def for_spreadsheet(request: HttpRequest) -> bool:
    """Whether a file is asked for in which nothing is a formula to a spreadsheet."""
    return request.GET.get("spreadsheet") == "1"


def csv_answer(
    request: HttpRequest,
    name: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    judges: str = "",
) -> HttpResponse:
    """A small table as a file of this name. judges: who judged the scores behind it, for `with_mark`.

    With `?spreadsheet=1` nothing in it is a formula to a spreadsheet, as with the switch of that name of exports.
    """
    columns, rows = with_mark(columns, rows, judges)
    answer = csv_streamed(request, name, columns, rows)
    return HttpResponse(b"".join(answer), headers=answer.headers)


def csv_streamed(
    request: HttpRequest, name: str, columns: Sequence[str], rows: Iterable[Sequence[object]]
) -> StreamingHttpResponse:
    """Rows as a file of this name, sent while they are written, with the same choice."""
    return _answer(request, name, chain([columns], rows))


def jsonl_streamed(name: str, objects: Iterable[dict[str, Any]]) -> StreamingHttpResponse:
    """Objects as a file of this name, one in each line, sent while they are written."""
    lines = (json.dumps(each, ensure_ascii=False).encode() + b"\n" for each in objects)
    answer = StreamingHttpResponse(lines, content_type="application/jsonl")
    answer["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=name) or ""
    return answer


def csv_file_answer(request: HttpRequest, name: str, path: Path) -> StreamingHttpResponse:
    """A CSV file that is stored, under this name, with the same choice."""
    return _answer(request, name, csv_file_rows(path))


def _answer(request: HttpRequest, name: str, rows: Iterable[Sequence[object]]) -> StreamingHttpResponse:
    lines = csv_lines(rows, spreadsheet=for_spreadsheet(request))
    answer = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=name) or ""
    return answer
