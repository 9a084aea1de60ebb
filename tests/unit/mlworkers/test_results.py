"""A result of any kind of run becomes figures and small tables."""

from mlworkers.runs.results import parts_of, shown


def figures(result: dict[str, object]) -> list[tuple[str, str, str]]:
    return [(one.name, one.value, one.interval) for one in parts_of(result).figures]


def test_a_figure_takes_its_bounds_as_its_interval_with_as_many_digits() -> None:
    shown = figures({"auc": 0.9412, "auc_low": 0.93, "auc_high": 0.9521, "humans": 1200})

    assert shown == [("AUC on held-out sentences", "0.941", "0.930 to 0.952"), ("Humans", "1,200", "")]


def test_bounds_that_could_not_be_had_are_no_interval() -> None:
    shown = figures({"auc": 0.9412, "auc_low": None, "auc_high": None})

    assert shown == [("AUC on held-out sentences", "0.9412", "")]


def test_counts_by_reason_become_a_table_with_the_largest_first() -> None:
    (table,) = parts_of({"dropped": {"too_short": 120, "no_quote": 611}}).tables

    rows = [(name, [one.value for one in values]) for name, values in table.rows]
    assert (table.name, rows) == ("Dropped", [("No quote", ["611"]), ("Too short", ["120"])])


def test_a_share_with_its_interval_is_one_figure_and_no_table_of_counts() -> None:
    share = {"value": 0.552, "low": 0.48, "high": 0.622, "n": 183}

    assert figures({"places": 9, "share_of_places": share}) == [
        ("Places", "9", ""),
        ("Share of places", "0.552", "0.480 to 0.622, n = 183"),
    ]


def test_names_of_splits_stay_as_they_are() -> None:
    (table,) = parts_of({"by_split": {"harvested-train": 80, "harvested-dev": 10}}).tables

    assert [name for name, _ in table.rows] == ["harvested-train", "harvested-dev"]


def test_a_short_list_of_named_rows_becomes_a_table_and_other_lists_do_not() -> None:
    # As a restored backup has them: their keys sorted.
    bands = [{"asked": 9, "band": "[0, 0.5)", "pairs": 9}, {"asked": 9, "band": "[0.5, 1]", "pairs": 2}]
    others = {
        "rows": [{"pair": 1, "cosine": 0.5}],
        "folds": [{"fold": "1", "methods": []}],
        "words": ["a", "b"],
    }

    (table,) = parts_of({"bands": bands, "many": [{"many": str(n)} for n in range(99)]} | others).tables

    rows = [(name, [one.value for one in values]) for name, values in table.rows]
    assert (table.name, table.columns) == ("Bands", ["Asked for", "Pairs"])
    assert rows == [("[0, 0.5)", ["9", "9"]), ("[0.5, 1]", ["9", "2"])]


def test_figures_by_encoder_become_a_table_whose_gaps_are_dashes() -> None:
    encoders = {
        "base": {"spearman": 0.8, "low": 0.78, "high": 0.82},
        "realism": {"spearman": 0.845, "low": 0.82, "high": 0.86, "sd": 0.002},
    }

    (table,) = parts_of({"encoders": encoders}).tables

    rows = [(name, [(one.value, one.interval) for one in values]) for name, values in table.rows]
    assert table.columns == ["Spearman", "sd over seeds"]
    assert rows == [
        ("base", [("0.800", "0.780 to 0.820"), ("–", "")]),
        ("realism", [("0.845", "0.820 to 0.860"), ("0.002", "")]),
    ]


def test_parts_that_are_texts_keep_the_name_of_the_whole_before_them() -> None:
    assert figures({"columns": {"a": "sentence1"}, "errors": [{"line": 3}]}) == [
        ("Columns: a", "sentence1", "")
    ]


def test_a_list_of_sentences_is_read_as_sentences() -> None:
    assert shown(["One is short.", "Two are long."]) == "One is short. Two are long."
    assert shown(["a", "b"]) == "a, b"
