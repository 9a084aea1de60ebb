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
