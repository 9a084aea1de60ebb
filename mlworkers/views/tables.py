"""A table as a CSV file to download."""

import csv
from collections.abc import Iterable, Sequence

from django.http import HttpResponse


def csv_answer(name: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> HttpResponse:
    """name: of the file, with its ending."""
    answer = HttpResponse(content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    writer = csv.writer(answer)
    writer.writerow(columns)
    writer.writerows(rows)
    return answer
