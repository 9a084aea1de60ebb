"""The pool of a dataset: sentences in, pairs composed from them on the page and by command, and back."""

import json
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command

from curation.datasets.composing import (
    Labels,
    composition_add,
    composition_preview,
    composition_undo,
    pool_of,
)
from curation.exchange.pool import SentenceOptions, pool_clear, sentences_import
from curation.files.identity import TooManyRowsError
from curation.files.sentences import SentenceColumns
from curation.forms.composing import CompositionForm
from curation.foundation.command import Error
from curation.foundation.errors import UserError
from curation.models import Composition, Dataset, Pair, PairScore, PooledSentence, Sentence, Snapshot
from curation.pairs.overlap import dice
from curation.pairs.sampling.drawing import Settings, Strategy
from tests.factories import PairFactory, ScoreSetFactory, SentenceFactory
from tests.markup import squeezed
from tests.wordnet import wordnet_made

pytestmark = pytest.mark.django_db
WHO, DOES, WHERE = ("dog", "cat", "bird", "child"), ("runs", "sits", "sings"), ("tree", "wall", "river")
TEXTS = [f"The old {who} {does} by the {where} now." for who in WHO for does in DOES for where in WHERE]
SETTINGS = Settings(Strategy.PERCENTILES, 12, buckets=3)
FORM = {
    "strategy": "percentiles", "count": 12, "shortest": 5, "longest": 25, "cap": 1, "seed": 7, "low": 25, "high": 75,
    "share_of": "first", "length_difference": 25, "buckets": 3, "growth": 1,
}  # fmt: skip


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "news.txt"
    path.write_text("\n".join([*TEXTS, "nul \x00", TEXTS[0]]))
    return path


@pytest.fixture
def pool(dataset, file: Path) -> None:
    sentences_import(dataset=dataset, path=file, options=SentenceOptions(), by=None)


def added(dataset, **changed) -> Composition:
    return composition_add(
        dataset=dataset, settings=SETTINGS, labels=Labels(), by=None, **({"state": None} | changed)
    )


def test_sentences_join_the_pool_once_and_what_is_known_stays(dataset, file: Path) -> None:
    known = SentenceFactory(dataset=dataset, text=TEXTS[3])

    first = sentences_import(dataset=dataset, path=file, options=SentenceOptions(), by=None)
    again = sentences_import(dataset=dataset, path=file, options=SentenceOptions(source="web"), by=None)

    assert (first.rows, first.added, first.known, first.rejected) == (38, 36, 1, 1)
    assert (again.added, again.known) == (0, 37)
    assert "NUL" in first.errors[0].reason
    assert PooledSentence.objects.get(sentence=known).source == "news"
    assert dataset.sentences.count() == 36
    assert pool_of(dataset).sources == [("news", 36)]


def test_labels_and_sources_of_a_table_are_kept_by_name(dataset, tmp_path: Path) -> None:
    path = tmp_path / "tweets.csv"
    path.write_text("tweet,target,stance,site\nIt is good.,dogs,for,one\nIt is not.,dogs,,two\n")
    columns = SentenceColumns(text="tweet", source="site", labels=["target", "stance"])

    sentences_import(dataset=dataset, path=path, options=SentenceOptions(columns=columns), by=None)

    assert list(PooledSentence.objects.values_list("sentence__text", "source", "labels")) == [
        ("It is good.", "one", {"target": "dogs", "stance": "for"}),
        ("It is not.", "two", {"target": "dogs", "stance": ""}),
    ]
    assert pool_of(dataset).labels == ["stance", "target"]


def test_a_file_without_a_sentence_changes_nothing_and_says_why(dataset, tmp_path: Path) -> None:
    path = tmp_path / "bad.txt"
    path.write_text("nul \x00\n")

    with pytest.raises(
        UserError, match=r"None of the 1 rows of bad.txt is a sentence. Line 1: the row holds a NUL"
    ):
        sentences_import(dataset=dataset, path=path, options=SentenceOptions(), by=None)
    assert not dataset.sentences.exists()


def test_too_many_sentences_are_refused_whole(dataset, file: Path) -> None:
    with pytest.raises(TooManyRowsError, match="more than 35 sentences"):
        sentences_import(dataset=dataset, path=file, options=SentenceOptions(), by=None, most=35)
    assert not dataset.sentences.exists()


def test_composed_pairs_are_those_of_the_preview(dataset, pool) -> None:
    preview = composition_preview(dataset, SETTINGS, Labels())

    composition = added(dataset, state=preview.state)

    pairs = list(Pair.objects.filter(dataset=dataset).select_related("a", "b"))
    assert composition.pairs == len(pairs) == 12
    assert {(pair.origin, pair.subset, pair.source, pair.status) for pair in pairs} == {
        ("sampled", "percentiles", "news", "active")
    }
    assert sorted(dice(pair.a.text, pair.b.text) for pair in pairs) == pytest.approx(
        sorted(preview.drawn.dice)
    )
    overlaps = [example.dice for example in preview.examples]
    assert len(overlaps) == 8
    assert overlaps == sorted(overlaps)
    assert composition.parameters["strategy"] == "percentiles"
    assert len({pair.external_id for pair in pairs}) == 12


def test_synonyms_of_wordnet_and_of_a_list_count_as_shared_on_the_page(
    dataset, client_of, curator, tmp_path: Path, settings
) -> None:
    settings.WORDNET_FOLDER = str(wordnet_made(tmp_path))
    path = tmp_path / "two.txt"
    path.write_text("large hounds begin barking tonight\nbig hound commences barks outside\n")
    sentences_import(dataset=dataset, path=path, options=SentenceOptions(), by=None)
    client, address = client_of(curator), f"/datasets/{dataset.slug}/compose/"
    asked = FORM | {"strategy": "overlap", "count": 1, "low": 60, "high": 90}

    plain = client.post(address, asked).context["preview"]
    by_wordnet = client.post(address, asked | {"synonyms": "wordnet"}).context["preview"]
    listed = {"synonyms": "list", "synonym_list": "big large\nhounds hound\ncommences begin\n"}
    by_list = client.post(address, asked | listed | {"state": by_wordnet.state, "add": "yes"})
    wrong = client.post(address, asked | {"synonyms": "list", "synonym_list": "big\n"})

    assert [len(one.drawn.dice) for one in (plain, by_wordnet)] == [0, 1]
    assert by_list.status_code == 302
    assert Composition.objects.get().parameters["synonyms"].startswith("a list: 3 words, SHA-256 ")
    assert "line 1 is not a word, a tab and its synonym: “big”" in squeezed(wrong.content.decode())


def test_without_a_wordnet_the_page_says_how_to_get_one(dataset, pool, client_of, curator, settings) -> None:
    settings.WORDNET_FOLDER = "/nowhere"

    page = client_of(curator).post(f"/datasets/{dataset.slug}/compose/", FORM | {"synonyms": "wordnet"})

    told = squeezed(page.content.decode())
    assert "There is no WordNet at /nowhere: install the Debian package wordnet-base" in told


def test_pairs_that_are_there_are_not_composed_again(dataset, pool) -> None:
    every = Settings(Strategy.PERCENTILES, 700, cap=99, buckets=1)  # more than the 630 that are possible
    labels = Labels()
    first = composition_add(dataset=dataset, settings=SETTINGS, labels=labels, state=None, by=None)

    second = composition_add(dataset=dataset, settings=every, labels=labels, state=None, by=None)

    either = {frozenset(pair) for pair in Pair.objects.values_list("a_id", "b_id")}
    assert first.pairs + second.pairs == len(either) == 36 * 35 // 2


def test_a_preview_of_another_state_is_not_added(dataset, pool) -> None:
    state = composition_preview(dataset, SETTINGS, Labels()).state
    a, b = Sentence.objects.filter(dataset=dataset)[:2]
    PairFactory(dataset=dataset, a=a, b=b)

    with pytest.raises(UserError, match="changed since the preview"):
        added(dataset, state=state)
    assert Pair.objects.count() == 1


def test_undo_takes_the_pairs_back_and_leaves_the_others(dataset, pool) -> None:
    other = PairFactory(dataset=dataset)
    composition = added(dataset)

    composition_undo(composition=composition, by=None)

    assert list(Pair.objects.all()) == [other]
    assert pool_of(dataset).sentences == 36
    with pytest.raises(UserError, match="undone before"):
        composition_undo(composition=composition, by=None)


def test_pairs_that_are_used_stay(dataset, pool) -> None:
    scored, held = added(dataset), added(dataset)
    pair = Pair.objects.filter(composed__composition=scored).first()
    PairScore.objects.create(score_set=ScoreSetFactory(dataset=dataset), pair=pair, value=0.5)

    with pytest.raises(UserError, match="have scores"):
        composition_undo(composition=scored, by=None)
    Snapshot.objects.create(dataset=dataset, number=1, rows=1, sha256="0" * 64, path="snapshot.parquet")
    with pytest.raises(UserError, match="A snapshot was made since"):
        composition_undo(composition=held, by=None)
    assert Pair.objects.count() == 24


def test_an_emptied_pool_leaves_the_sentences_of_pairs(dataset, pool) -> None:
    added(dataset)

    assert pool_clear(dataset=dataset, by=None) == 36

    assert dataset.sentences.count() == 24
    assert Pair.objects.count() == 12


def test_labels_that_no_sentence_has_are_named(dataset, pool) -> None:
    settings = Settings(Strategy.LABELS, 4, combinations=[("for", "for")])

    with pytest.raises(UserError, match="No single sentence has the label “target”"):
        composition_preview(dataset, settings, Labels("target", "stance"))
    with pytest.raises(UserError, match="Choose the label in common and the label that is combined"):
        composition_preview(dataset, settings, Labels("target", ""))


def test_an_archived_dataset_takes_no_sentence_and_no_pair(dataset, pool, file: Path) -> None:
    Dataset.objects.update(archived=True)

    for change in (lambda: added(dataset), lambda: pool_clear(dataset=dataset, by=None)):
        with pytest.raises(UserError, match="archived"):
            change()


def test_the_page_from_a_file_to_pairs_and_back(dataset, client_of, curator, file: Path) -> None:
    client, address = client_of(curator), f"/datasets/{dataset.slug}/compose/"
    empty = squeezed(client.get(address).content.decode())
    upload = {"file": SimpleUploadedFile("news.txt", file.read_bytes()), "kind": "lines", "language": "en"}

    told = squeezed(client.post(f"{address}sentences/", upload, follow=True).content.decode())
    preview = client.post(address, FORM)
    shown = squeezed(preview.content.decode())
    state = preview.context["preview"].state
    done = squeezed(client.post(address, FORM | {"state": state, "add": "yes"}, follow=True).content.decode())

    assert "Add a file of sentences" in empty
    assert "2. Pairs" not in empty
    assert "added 36 of 38 rows" in told
    assert "the row holds a NUL" in told
    assert "Preview: 12 pairs, nothing is changed yet" in shown
    assert "12 pairs were added." in done
    assert Pair.objects.filter(origin="sampled").count() == 12
    undone = client.post(f"{address}{Composition.objects.get().pk}/undo/", follow=True)
    assert "Sampling is undone." in squeezed(undone.content.decode())
    assert not Pair.objects.exists()


def test_a_dataset_folder_joins_the_pool_with_its_labels(dataset, client_of, curator, tmp_path: Path) -> None:
    folder = tmp_path / "tweets"
    (folder / "data").mkdir(parents=True)
    for split, texts in {"train": TEXTS[:3], "test": TEXTS[3:5]}.items():
        rows = pa.table({"text": texts, "target": ["dogs"] * len(texts)})
        pq.write_table(rows, folder / "data" / f"{split}-00000-of-00001.parquet")
    packed = Path(shutil.make_archive(str(tmp_path / "packed"), "zip", tmp_path, "tweets"))
    upload = {
        "file": SimpleUploadedFile("tweets.zip", packed.read_bytes()),
        "kind": "lines",
        "labels": "target, split",
    }

    call_command("import_sentences", str(folder), "--dataset", "mine", "--create", "--labels", "target")
    page = client_of(curator).post(f"/datasets/{dataset.slug}/compose/sentences/", upload, follow=True)

    assert "5 single sentences were added." in squeezed(page.content.decode())
    assert pool_of(dataset).sources == [("tweets", 5)]
    rows = PooledSentence.objects.filter(dataset=dataset).values_list("labels", flat=True)
    assert sorted(row["split"] for row in rows) == ["test", "test", "train", "train", "train"]
    assert pool_of(Dataset.objects.get(slug="mine")).sources == [("tweets", 5)]


def test_a_dataset_folder_of_pairs_is_imported_with_its_splits(
    dataset, client_of, curator, tmp_path: Path
) -> None:
    folder = tmp_path / "sts"
    folder.mkdir()
    for split, places in {"train": range(0, 6, 2), "test": range(6, 8, 2)}.items():
        first, second = [TEXTS[place] for place in places], [TEXTS[place + 1] for place in places]
        rows = pa.table({"sentence1": first, "sentence2": second, "score": [1.0] * len(first)})
        pq.write_table(rows, folder / f"{split}.parquet")
    packed = Path(shutil.make_archive(str(tmp_path / "packed"), "zip", tmp_path, "sts"))
    upload = {"file": SimpleUploadedFile("sts.zip", packed.read_bytes())}

    call_command("import_pairs", str(folder), "--dataset", "mine", "--create")
    page = client_of(curator).post(f"/datasets/{dataset.slug}/import/", upload, follow=True)

    splits = Pair.objects.filter(dataset__slug="mine").values_list("source", "split")
    assert sorted(splits) == [("sts", "test"), *[("sts", "train")] * 3]
    assert "sts.parquet" in squeezed(page.content.decode())
    wrong = {"file": SimpleUploadedFile("notes.zip", b"PK\x03\x04 nothing")}
    refused = client_of(curator).post(f"/datasets/{dataset.slug}/import/", wrong)
    assert "notes.zip is damaged or encrypted" in squeezed(refused.content.decode())


@pytest.mark.parametrize(("name", "fault"), [("x" * 101, "101 characters"), ("a\0b", "NUL")])
def test_a_source_that_no_row_may_have_is_refused(dataset, file: Path, name: str, fault: str) -> None:
    with pytest.raises(UserError, match=f"Choose another name of the source: .*{fault}"):
        sentences_import(dataset=dataset, path=file, options=SentenceOptions(source=name), by=None)
    assert not dataset.sentences.exists()


def test_what_a_composition_lacks_is_told_and_kept(capsys, dataset, pool) -> None:
    arguments = ["--strategy", "percentiles", "--buckets", "1", "--count", "700"]

    call_command("sample_pairs", "--dataset", dataset.slug, *arguments)

    assert "18 of 700 pairs were found." in capsys.readouterr().out
    (stratum,) = Composition.objects.get().parameters["strata"]
    assert (stratum["asked"], stratum["available"], stratum["drawn"]) == (700, 630, 18)


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"low": 80, "high": 20}, "overlap from 0.8 to below 0.2 holds nothing"),
        ({"count": 2}, "2 pairs cannot come from 3 buckets"),
        ({"strategy": "labels"}, "No single sentence has a label. Add a file with a column of labels"),
        ({"count": 10**6}, "less than or equal to 5000"),
        ({"seed": "x"}, "whole number"),
    ],
)
def test_a_wrong_setting_is_told_on_the_page(
    dataset, pool, client_of, curator, changed, sentence: str
) -> None:
    page = client_of(curator).post(f"/datasets/{dataset.slug}/compose/", FORM | changed)

    assert page.status_code == 200
    assert sentence in squeezed(page.content.decode())
    assert not Pair.objects.exists()


@pytest.mark.parametrize(
    ("combinations", "sentence"), [("", "Say which combinations"), ("for", "“for” is not a combination")]
)
def test_a_wrong_combination_of_labels_is_told_where_there_are_labels(
    combinations: str, sentence: str
) -> None:
    form = CompositionForm(FORM | {"strategy": "labels", "combinations": combinations}, names=["stance"])

    assert sentence in form.errors["__all__"][0]


def test_a_file_of_pairs_is_refused_on_the_page_with_what_reads_it(dataset, client_of, curator) -> None:
    upload = {"file": SimpleUploadedFile("p.csv", b"sentence1,sentence2\nA.,B.\n"), "kind": "lines"}

    page = client_of(curator).post(f"/datasets/{dataset.slug}/compose/sentences/", upload)

    assert "p.csv holds pairs of sentences" in squeezed(page.content.decode())
    assert not dataset.sentences.exists()


def test_the_commands_from_files_to_pairs(capsys, file: Path, tmp_path: Path) -> None:
    tweets = tmp_path / "tweets.tsv"
    rows = [f"I say number {n} about it all.\tdogs\t{('for', 'against')[n % 2]}" for n in range(20)]
    tweets.write_text("\n".join(["text\ttarget\tstance", *rows]))

    call_command("import_sentences", str(file), "--dataset", "mine", "--create")
    call_command("import_sentences", str(tweets), "--dataset", "mine", "--labels", "target,stance", "--json")
    imported = json.loads(capsys.readouterr().out.splitlines()[-1])
    call_command(
        "sample_pairs", "--dataset", "mine", "--strategy", "overlap", "--count", "5", "--overlap", ".3", ".9"
    )
    labels = ["--shared-label", "target", "--label", "stance", "--combinations", "for-against"]
    call_command(
        "sample_pairs", "--dataset", "mine", "--strategy", "labels", "--count", "6", *labels, "--json"
    )
    sampled = json.loads(capsys.readouterr().out.splitlines()[-1])

    assert {key: imported[key] for key in ("rows", "added", "known", "rejected")} == {
        "rows": 20,
        "added": 20,
        "known": 0,
        "rejected": 0,
    }
    assert (sampled["sentences"], sampled["pairs"], sampled["missing"]) == (56, 6, 0)
    assert Pair.objects.filter(dataset__slug="mine", subset="overlap").count() == 5
    assert Pair.objects.filter(dataset__slug="mine", subset="labels", source="tweets").count() == 6


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--dataset", "none"], "There is no dataset “none”"),
        (["s.txt", "--dataset", "none"], "leave out FILE"),
        (["--dataset", "none", "--text", "tweet"], "leave out FILE"),
        ([], "Name files of sentences and --out PAIRS, or --dataset SLUG"),
    ],
)
def test_a_wrong_call_is_one_sentence(arguments: list[str], sentence: str) -> None:
    with pytest.raises(Error, match=sentence):
        call_command("sample_pairs", *arguments, "--strategy", "overlap", "--count", "3")
