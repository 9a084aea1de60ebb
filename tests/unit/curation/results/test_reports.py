"""Reports as JSON, and the tables in them."""

import json

import pytest

from curation.results.estimates import Estimate
from curation.results.reports import (
    Chart,
    Fact,
    Facts,
    Link,
    Links,
    Points,
    Report,
    Section,
    Text,
    as_json,
    from_json,
)
from curation.results.tables import Cell, Column, Mark, Table

TABLE = Table(
    (Column("method", "Method", form="text"), Column("mean")),
    (("Dice", Cell(Estimate(0.5, n=3), mark=Mark("cite", "good"))),),
)
REPORT = Report(
    "Run 7",
    data=Table((Column("a"),), ((1,), (None,))),
    warnings=("Few pairs.",),
    parts=(
        Text("It is so.", "finding"),
        Facts((Fact("Run", "7", "/runs/7/"),)),
        Section("Means", (TABLE, Section("More", (TABLE,), folded=True)), name="means"),
        Chart("dots", "It rises.", 3, "pairs", {"mark": "point", "data": {"values": (1, 2)}}, ("x",), ((1,),)),
        Points(("One.", "Two.")),
        Links((Link("Start", "/start/", "primary"),)),
    ),
)  # fmt: skip


def test_a_report_is_the_same_after_json() -> None:
    assert from_json(json.loads(json.dumps(as_json(REPORT)))) == REPORT


def test_tables_come_with_the_heading_that_they_are_under() -> None:
    assert [heading for heading, _table in REPORT.tables] == ["Means", "More"]


@pytest.mark.parametrize(
    "stored", [{"is": "Run"}, {"is": "Text", "words": "", "html": "<b>"}, {"is": "Link"}]
)
def test_what_is_no_part_of_a_report_is_refused(stored) -> None:
    with pytest.raises(ValueError, match="not part of a report"):
        from_json(stored)
