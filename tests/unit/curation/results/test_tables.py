"""Tables as pages, papers and data frames have them."""

import io

import pyarrow.parquet as pq
import pytest

from curation.files.publishing.prose import latex_text, markdown_text
from curation.results.estimates import Estimate
from curation.results.tables import Cell, Column, Mark, Table

TABLE = Table(
    [
        Column("encoder", "Encoder", form="text"),
        Column("pairs", "Pairs"),
        Column("spearman", "Spearman", over="STS_B", digits=2),
        Column("difference", "Difference", over="STS_B", form="signed", digits=2),
    ],
    [
        ["plain | short", 1234, Estimate(0.5, 0.4, 0.6, sd=0.05), None],
        [
            Cell("other", mark=Mark("cite", "good")),
            5,
            Cell(Estimate(0.75), strong=True),
            Estimate(-0.25, -0.5, 0.125),
        ],
    ],
    groups=[("of people", 1), ("of machines", 1)],
)


def test_markdown_has_figures_with_their_digits_deviations_and_intervals() -> None:
    assert TABLE.markdown(markdown_text).splitlines() == [
        "| Encoder | Pairs | Spearman | Difference |",
        "| --- | ---: | ---: | ---: |",
        r"| plain \| short | 1,234 | 0.50 ± 0.05 \[0.40, 0.60\] | – |",
        r"| other | 5 | 0.75 | −0.25 \[−0.50, +0.12\] |",
    ]


def test_latex_has_no_letter_that_it_would_take_for_a_command() -> None:
    table = Table([Column("a_b", form="text"), Column("share", form="percent")], [["50 % & more", 0.25]])

    assert table.latex(latex_text) == (
        "\\begin{tabular}{lr}\n\\toprule\na\\_b & share \\\\\n\\midrule\n50 \\% \\& more & 25\\% \\\\\n"
        "\\bottomrule\n\\end{tabular}\n"
    )


def test_a_data_frame_has_the_ends_of_estimates_in_columns() -> None:
    frame = TABLE.frame()

    assert list(frame.columns) == [
        "encoder", "pairs", "spearman", "spearman_low", "spearman_high", "spearman_sd", "difference",
        "difference_low", "difference_high",
    ]  # fmt: skip
    assert frame["spearman"].tolist() == [0.5, 0.75]
    assert frame["difference"].isna().tolist() == [True, False]


def test_a_parquet_file_has_the_values_of_the_data_frame() -> None:
    table = Table([Column("target"), Column("value")], [["", 1], [0.5, 2.5]])

    assert pq.read_table(io.BytesIO(table.parquet())).to_pydict() == {
        "target": [None, 0.5],
        "value": [1, 2.5],
    }


def test_rows_are_divided_into_groups() -> None:
    assert [(heading, [row[0][1].value for row in rows]) for heading, rows in TABLE.parts] == [
        ("of people", ["plain | short"]),
        ("of machines", ["other"]),
    ]


def test_neighbours_share_the_heading_over_them() -> None:
    assert TABLE.over == [("", 1), ("", 1), ("STS_B", 2)]


@pytest.mark.parametrize(
    ("column", "value", "text"),
    [
        (Column(), None, "–"),
        (Column(), 1234567, "1,234,567"),
        (Column(digits=1), -0.26, "−0.3"),
        (Column(form="signed"), 0.5, "+0.500"),
        (Column(form="percent"), 0.125, "12%"),
        (Column(), "13", "13"),
    ],
)
def test_a_value_is_written_in_the_form_of_its_column(column, value, text) -> None:
    assert column.text(value) == text
