"""A dataset's pairs and scores into a file, and back."""

import csv
import json
from io import StringIO
from uuid import uuid4

import pyarrow.parquet as pq
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from curation.exchange.dataset_card import card_write
from curation.exchange.exporting import pairs_export
from curation.exchange.importing import ImportOptions, pairs_import
from curation.files.parsing import Columns
from curation.files.tables import FORMATS
from curation.foundation.errors import UserError
from curation.models import Dataset, Pair, PairScore, ScoreSet, Sentence
from curation.pairs.text import normalise, sentence_key, shows_something
from tests.factories import DatasetFactory, PairFactory, ScoreSetFactory, SentenceFactory
from tests.markup import HOSTILE, elements_in, html_of


@pytest.fixture
def scored(dataset):
    """Three pairs, the last of them rejected, and two score sets, the second of which holds one score."""
    pairs = [PairFactory(dataset=dataset, source="news", split="train") for _ in range(3)]
    Pair.objects.filter(pk=pairs[2].pk).update(status=Pair.Status.REJECTED)
    gold, people = (
        ScoreSetFactory(dataset=dataset, name="gold"),
        ScoreSetFactory(dataset=dataset, name="people"),
    )
    for number, pair in enumerate(pairs):
        PairScore.objects.create(score_set=gold, pair=pair, value=number + 0.1)
    PairScore.objects.create(score_set=people, pair=pairs[1], value=4)
    return dataset


def rows_of(path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def test_active_pairs_are_written_in_order_with_every_score_set(scored, tmp_path) -> None:
    outcome = pairs_export(dataset=scored, path=tmp_path / "out.csv", format="csv")

    first, second = Pair.objects.filter(status="active").order_by("pk")
    assert rows_of(tmp_path / "out.csv") == [
        ["id", "sentence1", "sentence2", "source", "subset", "split", "origin", "gold", "people"],
        [first.external_id, first.a.text, first.b.text, "news", "", "train", "imported", "0.1", ""],
        [second.external_id, second.a.text, second.b.text, "news", "", "train", "imported", "1.1", "4.0"],
    ]
    assert (outcome.rows, outcome.score_sets) == (2, ("gold", "people"))


def test_a_named_score_set_is_the_only_one_and_its_column_is_called_score(scored, tmp_path) -> None:
    pairs_export(dataset=scored, path=tmp_path / "out.csv", format="csv", score_set="people", plain=True)

    assert [row[6:] for row in rows_of(tmp_path / "out.csv")] == [["score"], [""], ["4.0"]]


@pytest.mark.parametrize(("score_set", "rows"), [(None, 2), ("gold", 2), ("people", 1)])
def test_pairs_that_no_written_score_set_scores_can_be_left_out(scored, tmp_path, score_set, rows) -> None:
    PairFactory(dataset=scored, origin="generated")  # has no score

    outcome = pairs_export(
        dataset=scored, path=tmp_path / "out.csv", format="csv", score_set=score_set, scored_only=True
    )
    whole = pairs_export(dataset=scored, path=tmp_path / "whole.csv", format="csv", score_set=score_set)

    assert len(rows_of(tmp_path / "out.csv")) == outcome.rows + 1 == rows + 1
    assert (outcome.generated, outcome.unreviewed) == (0, 0)
    assert (whole.rows, whole.generated) == (3, 1)


@pytest.fixture
def judged(scored):
    """The same pairs with the scores that a campaign of three people and two programs gave the second one."""
    scored.licence = "CC BY 4.0"
    scored.save()
    facts = {"judgements": 40, "annotators": 5, "simulated_annotators": 2}
    judged = ScoreSetFactory(dataset=scored, name="bws", kind="human", method="counting", parameters=facts)
    pair = Pair.objects.filter(status="active").order_by("pk")[1]
    PairScore.objects.create(score_set=judged, pair=pair, value=0.5, standard_error=0.25, judgements=32)
    return scored


def test_scores_stand_beside_their_judgements_errors_method_and_who_judged(judged, tmp_path) -> None:
    pairs_export(dataset=judged, path=tmp_path / "out.csv", format="csv", standard_errors=True)

    names, first, second = rows_of(tmp_path / "out.csv")
    of_scores = ["bws", "bws: judgements", "bws: standard_error", "bws: method", "bws: judged_by"]
    assert names[9:] == [*of_scores, "licence"]
    assert first[9:] == [*[""] * 5, "CC BY 4.0"]
    assert second[9:] == ["0.5", "32", "0.25", "counting", "people and simulated annotators", "CC BY 4.0"]


def test_scores_by_contexts_stand_beside_their_contexts_and_interval_and_others_keep_their_columns(
    judged, tmp_path
) -> None:
    pair = judged.pairs.order_by("pk").first()
    by_contexts = ScoreSetFactory(
        dataset=judged, name="by contexts", kind="model", method="", low=-1.0, high=1.0
    )
    PairScore.objects.create(
        score_set=by_contexts, pair=pair, value=0.25, contexts=40, interval_low=-0.125, interval_high=0.5
    )

    pairs_export(dataset=judged, path=tmp_path / "all.csv", format="csv", standard_errors=True)
    pairs_export(dataset=judged, path=tmp_path / "plain.csv", format="csv", plain=True)

    names, first, second = rows_of(tmp_path / "all.csv")
    row = dict(zip(names, first, strict=True))
    assert row["by contexts"] == "0.25"
    details = [row[f"by contexts: {name}"] for name in ("contexts", "interval_low", "interval_high")]
    assert details == ["40", "-0.125", "0.5"]
    assert "by contexts: judgements" not in row
    assert dict(zip(names, second, strict=True))["bws: standard_error"] == "0.25"
    assert "by contexts: contexts" not in (tmp_path / "plain.csv").read_text("utf-8")


@pytest.mark.parametrize("format_", FORMATS)
def test_even_a_plain_file_of_one_set_marks_scores_of_simulated_annotators(
    judged, tmp_path, format_: str
) -> None:
    path = tmp_path / f"out.{format_}"

    outcome = pairs_export(dataset=judged, path=path, format=format_, score_set="bws", plain=True)

    text = str(pq.read_table(path).to_pylist()) if format_ == "parquet" else path.read_text()
    assert "judged_by" in text
    assert text.count("people and simulated annotators") == 1
    card = card_write(judged, outcome).read_text()
    assert "**annotated by people and simulated annotators**" in card
    assert "Licence: CC BY 4.0" in card


def test_a_parquet_file_states_the_licence_and_how_its_scores_were_made(judged, tmp_path) -> None:
    pairs_export(dataset=judged, path=tmp_path / "out.parquet", format="parquet")

    about = json.loads(pq.read_schema(tmp_path / "out.parquet").metadata[b"semblance"])
    assert about["licence"] == "CC BY 4.0"
    assert about["scores"]["bws"]["judged_by"] == "people and simulated annotators"
    assert about["scores"]["gold"]["kind"] == "reference"


@pytest.mark.parametrize("format_", FORMATS)
def test_a_file_with_every_column_is_imported_again_and_says_what_it_does_not_read(
    judged, tmp_path, format_: str
) -> None:
    path = tmp_path / f"out.{format_}"
    pairs_export(dataset=judged, path=path, format=format_, score_set="bws", standard_errors=True)
    there = DatasetFactory()

    outcome = pairs_import(dataset=there, path=path, options=ImportOptions(scale=(0, 1)))

    assert (outcome.added, outcome.rejected, outcome.scores_added) == (2, 0, 1)
    licence = [] if format_ == "parquet" else ["licence"]
    assert outcome.unread == ["origin", "judgements", "standard_error", "method", "judged_by", *licence]
    assert PairScore.objects.get(score_set__dataset=there).value == 0.5


def test_parquet_keeps_numbers_as_numbers(scored, tmp_path) -> None:
    pairs_export(dataset=scored, path=tmp_path / "out.parquet", format="parquet")

    assert pq.read_table(tmp_path / "out.parquet").to_pydict()["gold"] == [0.1, 1.1]


def test_an_unknown_score_set_is_answered_with_those_there_are(scored, tmp_path) -> None:
    with pytest.raises(UserError, match=r"no score set “silver”. Its score sets: “gold”, “people”\."):
        pairs_export(dataset=scored, path=tmp_path / "out.csv", format="csv", score_set="silver")


def test_other_datasets_are_left_out(scored, tmp_path) -> None:
    PairFactory()

    assert pairs_export(dataset=scored, path=tmp_path / "out.csv", format="csv").rows == 2


def test_formulas_are_written_as_they_are_unless_asked(dataset, tmp_path) -> None:
    PairFactory(dataset=dataset, a=SentenceFactory(dataset=dataset, text="=1+1"))

    pairs_export(dataset=dataset, path=tmp_path / "plain.csv", format="csv")
    pairs_export(dataset=dataset, path=tmp_path / "safe.csv", format="csv", neutralise=True)

    assert (rows_of(tmp_path / "plain.csv")[1][1], rows_of(tmp_path / "safe.csv")[1][1]) == ("=1+1", "'=1+1")


def test_progress_is_told_and_a_stop_leaves_the_older_file(scored, tmp_path) -> None:
    (tmp_path / "out.csv").write_text("older")

    def stop(done: int, total: int, message: str) -> None:
        raise InterruptedError(f"{done} of {total}")

    with pytest.raises(InterruptedError, match="2 of 2"):
        pairs_export(dataset=scored, path=tmp_path / "out.csv", format="csv", report=stop)

    assert (tmp_path / "out.csv").read_text() == "older"


def test_the_number_of_queries_does_not_grow_with_the_rows(scored, tmp_path) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as caught:
            pairs_export(dataset=scored, path=tmp_path / "out.csv", format="csv")
        return len(caught)

    few = queries()
    for _ in range(20):
        PairFactory(dataset=scored)

    assert queries() == few


def test_the_command_writes_the_file_and_says_so(scored, tmp_path) -> None:
    out = StringIO()

    call_command(
        "export_dataset",
        scored.slug,
        "--format",
        "tsv",
        "--out",
        str(tmp_path / "o.tsv"),
        "--json",
        stdout=out,
    )

    lines = out.getvalue().splitlines()
    told = json.loads(lines[-1])
    assert lines[0] == f"2 pairs and 2 score sets of {scored.slug} written to {tmp_path / 'o.tsv'}."
    assert (told["rows"], told["score_sets"]) == (2, ["gold", "people"])
    assert (tmp_path / "o.tsv").read_text().startswith("id\tsentence1\t")
    assert told["card"] == str(tmp_path / "o-card.md")
    assert "Licence: not stated" in (tmp_path / "o-card.md").read_text()


@pytest.mark.parametrize(
    ("slug", "out", "message"),
    [("none", "out.csv", "There is no dataset “none”"), ("", "none/out.csv", "The folder .* does not exist")],
)
def test_the_command_answers_in_one_line(scored, tmp_path, slug: str, out: str, message: str) -> None:
    with pytest.raises(CommandError, match=message) as caught:
        call_command("export_dataset", slug or scored.slug, "--format", "csv", "--out", str(tmp_path / out))

    assert caught.value.returncode == 2


# Out and in again


sentences = (
    st.text(st.characters(exclude_categories=["Cs"]), max_size=30).map(normalise).filter(shows_something)
)
scores = st.none() | st.floats(0, 5)
rows = st.lists(st.tuples(sentences, sentences, scores, scores), min_size=1, max_size=8)


def stored(rows) -> Dataset:
    """A dataset of these pairs: two sentences, and their scores in two score sets."""
    dataset = Dataset.objects.create(slug=uuid4().hex, name="From here")
    sets = [ScoreSetFactory(dataset=dataset, name=name) for name in ("gold", "people")]
    for number, (a, b, *values) in enumerate(rows):
        sides = [
            Sentence.objects.get_or_create(dataset=dataset, key=sentence_key(text), defaults={"text": text})[
                0
            ]
            for text in (a, b)
        ]
        pair = PairFactory(dataset=dataset, a=sides[0], b=sides[1], source="news", split="dev"[: number % 4])
        for score_set, value in zip(sets, values, strict=True):
            if value is not None:
                PairScore.objects.create(score_set=score_set, pair=pair, value=value)
    return dataset


def content(dataset: Dataset) -> tuple[list[object], list[object]]:
    pairs = Pair.objects.filter(dataset=dataset).order_by("external_id")
    scores = PairScore.objects.filter(pair__dataset=dataset).order_by("score_set__name", "pair__external_id")
    return (
        list(pairs.values_list("external_id", "a__text", "b__text", "source", "subset", "split")),
        list(scores.values_list("score_set__name", "pair__external_id", "value")),
    )


@pytest.mark.exhaustive
@pytest.mark.parametrize("format_", FORMATS)
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(rows)
def test_a_dataset_that_is_exported_and_imported_is_the_same(
    db, tmp_path_factory, format_: str, rows
) -> None:
    path = tmp_path_factory.mktemp("files") / f"out.{format_}"
    here, there = stored(rows), Dataset.objects.create(slug=uuid4().hex, name="To there")

    pairs_export(dataset=here, path=path, format=format_)
    for name in ("gold", "people"):
        options = ImportOptions(columns=Columns(score=name), score_set=name, scale=(0, 5))
        pairs_import(dataset=there, path=path, options=options)

    assert content(there) == content(here)


@pytest.mark.django_db
@pytest.mark.parametrize(("asked", "cell"), [((), "=1+1"), (("--spreadsheet",), "'=1+1")])
def test_the_command_makes_files_safe_for_a_spreadsheet_by_choice(dataset, tmp_path, asked, cell) -> None:
    PairFactory(dataset=dataset, a__text="=1+1")

    call_command(
        "export_dataset", dataset.slug, "--format", "csv", "--out", str(tmp_path / "pairs.csv"), *asked
    )

    with (tmp_path / "pairs.csv").open(newline="", encoding="utf-8") as file:
        assert [row["sentence1"] for row in csv.DictReader(file)] == [cell]


def test_what_people_typed_is_text_in_the_card_of_a_file(dataset, tmp_path) -> None:
    texts = ("name", "description", "licence", "source_address")
    lengths = {text: Dataset._meta.get_field(text).max_length for text in texts}
    Dataset.objects.filter(pk=dataset.pk).update(**{text: HOSTILE[:most] for text, most in lengths.items()})
    dataset.refresh_from_db()
    name = HOSTILE[: ScoreSet._meta.get_field("name").max_length]
    scores = ScoreSetFactory(dataset=dataset, name=name, method=HOSTILE[:40])
    PairScore.objects.create(score_set=scores, pair=PairFactory(dataset=dataset), value=1)

    outcome = pairs_export(dataset=dataset, path=tmp_path / "out.csv", format="csv", score_set=name)
    card = card_write(dataset, outcome).read_text()

    assert set(elements_in(html_of(card))) == {"h1", "h2", "p", "ul", "li"}
    assert "\x1b" not in card
