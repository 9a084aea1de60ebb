"""What a chart offers beside its picture."""

from urllib.parse import unquote

import altair as alt
import pytest

from curation.charts import CSV_FILE, chart_draw


@pytest.mark.parametrize(("source", "safe"), [("=1+1", "source,n\r\n'=1+1,-2\r\n"), ("news", "")])
def test_the_table_of_a_chart_is_safe_for_a_spreadsheet_on_demand(source, safe) -> None:
    drawn = alt.Chart(alt.Data(values=[{"source": source, "n": -2}])).mark_bar().encode(x="n:Q", y="source:N")

    chart = chart_draw(
        drawn,
        name="pairs",
        finding="One source.",
        n=1,
        unit="pair",
        columns=["source", "n"],
        rows=[(source, -2)],
    )

    assert unquote(chart.csv_file) == f"{CSV_FILE}source,n\r\n{source},-2\r\n"
    assert unquote(chart.csv_safe) == (f"{CSV_FILE}{safe}" if safe else "")


@pytest.mark.parametrize(
    "name",
    ["a\x1bb", "a\0b", "a\uffffb", "a\ud83db", "a\u2028b", "a\nb\rc", "a\\", 'a\\" + now() + "b', "<script>"],
)
def test_no_name_stops_the_drawing_or_is_code_in_it(name) -> None:
    """A control character in a label ended the process of the site, and a backslash in a title was an error."""
    data = alt.Data(values=[{"source": name, "n": 1}, {"source": "c", "n": 2}])
    drawn = alt.Chart(data).mark_bar()
    drawn = drawn.encode(
        x=alt.X("n:Q", title=name), y=alt.Y("source:N", sort=[name, "c"], title=[name, name])
    )

    chart = chart_draw(drawn, name="n", finding="", n=2, unit="pairs", columns=["source"], rows=[("c",)])

    assert "<script" not in chart.svg
    assert chart.svg.count(">c</text>") == 1
