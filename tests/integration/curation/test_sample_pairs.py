"""`semblance sample_pairs`: from files of sentences or pairs to a file that `import_pairs` reads."""

import csv
import gzip
import json
from pathlib import Path

import pytest
from django.core.management import call_command

from curation.foundation.command import Error
from curation.models import Pair
from tests.wordnet import wordnet_made

WHO, DOES, WHERE = (
    ("dog", "cat", "bird", "child", "horse"),
    ("runs", "sits", "sings"),
    ("tree", "wall", "river"),
)


@pytest.fixture
def sentences(tmp_path: Path) -> Path:
    """45 sentences of 8 words, a short one, and a bad line."""
    made = [f"The old {who} {does} by the {where} now." for who in WHO for does in DOES for where in WHERE]
    path = tmp_path / "news.txt"
    path.write_text("\n".join([*made, "Too short.", "nul \x00"]))
    return path


@pytest.fixture
def sample(capsys, tmp_path: Path):
    """Call the command; returns its figures, the lines it printed, and the rows it wrote."""

    def calling(*arguments: object) -> tuple[dict, str, list[dict[str, str]]]:
        out = tmp_path / "pairs.csv"
        call_command("sample_pairs", *map(str, arguments), "--out", str(out), "--json")
        *lines, figures = capsys.readouterr().out.splitlines()
        with out.open(newline="") as file:
            return json.loads(figures), "\n".join(lines), list(csv.DictReader(file))

    return calling


def test_sentences_become_pairs_with_their_source_and_strategy(sample, sentences: Path) -> None:
    figures, lines, rows = sample(sentences, "--strategy", "overlap", "--count", 10, "--overlap", 0.5, 0.99)

    assert figures.pop("seconds") >= 0
    assert figures == {
        "sentences": 46,
        "pairs": 10,
        "strategy": "overlap",
        "usable": 45,
        "rejected": 1,
        "missing": 0,
        "guesses": [],
    }
    assert len({text for row in rows for text in (row["sentence1"], row["sentence2"])}) == 20
    assert {(row["source"], row["subset"]) for row in rows} == {("news", "overlap")}
    assert "Line 47 of news.txt was left out: the row holds a NUL" in lines
    assert "45 sentences can be sampled; excluded: 1 too short, 0 too long, 0 copies of another." in lines


@pytest.mark.django_db
def test_what_it_writes_is_imported_as_it_stands(sample, sentences: Path, tmp_path: Path) -> None:
    sample(sentences, "--strategy", "percentiles", "--count", 12, "--buckets", 4)

    call_command("import_pairs", str(tmp_path / "pairs.csv"), "--dataset", "composed", "--create", "--strict")

    pairs = Pair.objects.filter(dataset__slug="composed")
    assert pairs.count() == 12
    assert set(pairs.values_list("source", "subset")) == {("news", "percentiles")}
    assert not pairs.filter(scores__isnull=False).exists()


def test_several_files_one_of_them_packed_are_one_pool(sample, sentences: Path, tmp_path: Path) -> None:
    packed = tmp_path / "web.txt.gz"
    packed.write_bytes(
        gzip.compress(b"\n".join(b"A young fox number %d hides near here." % n for n in range(45)))
    )

    figures, _lines, rows = sample(
        sentences, packed, "--strategy", "percentiles", "--count", 30, "--buckets", 1
    )

    assert figures["sentences"] == 91
    assert {row["source"] for row in rows} == {"news", "web", "news + web"}


def test_labels_come_from_two_columns(sample, tmp_path: Path) -> None:
    path = tmp_path / "tweets.csv"
    rows = [
        f"tweet number {n} says something here,{'ab'[n % 2]},{('for', 'against')[n // 2 % 2]}"
        for n in range(40)
    ]
    path.write_text("\n".join(["tweet,target,stance", *rows]))
    named = ("--text", "tweet", "--shared-label", "target", "--label", "stance")

    figures, lines, rows = sample(
        path, *named, "--strategy", "labels", "--combinations", "for-for,for-against", "--count", 30
    )

    # The twenty sentences that are for are shared: six for-for and six for-against pairs use eighteen of them, and the
    # other two make one more pair, or two if they are of different targets.
    assert len(rows) == figures["pairs"] in {13, 14}
    assert figures["missing"] == 30 - figures["pairs"]
    found = [
        sum(of in line for line in lines.splitlines()) for of in ("of 15 pairs were found.", "for–for: 0")
    ]
    assert found == [2, 0]
    cap = ("--cap", 2)
    assert (
        sample(
            path, *named, "--strategy", "labels", "--combinations", "for-for,for-against", "--count", 30, *cap
        )[0]["pairs"]
        > 20
    )


def test_bins_of_a_score_are_drawn_from_pairs(sample, tmp_path: Path) -> None:
    path = tmp_path / "sts.tsv"
    lines = [
        f"The number {n} is a good one.\tThe number {n + 100} is another good one.\t{n % 50 / 10}"
        for n in range(100)
    ]
    path.write_text("\n".join(["sentence1\tsentence2\tscore", *lines]))

    figures, _lines, rows = sample(
        path, "--pairs", "--strategy", "score", "--bins", "0,1,2,3,4,5", "--count", 20
    )

    assert figures["pairs"] == 20
    scores = [int(row["sentence1"].split()[2]) % 50 // 10 for row in rows]
    assert [scores.count(low) for low in range(5)] == [4] * 5
    assert all(float(row["score"]) == int(row["sentence1"].split()[2]) % 50 / 10 for row in rows)


def test_fewer_pairs_than_asked_for_are_told_for_their_stratum(sample, sentences: Path) -> None:
    figures, lines, rows = sample(sentences, "--strategy", "overlap", "--count", 100)

    assert len(rows) == figures["pairs"] <= 22
    assert figures["missing"] == 100 - len(rows)
    assert f"overlap from 0.25 to below 0.75: {len(rows)} of 100 pairs were found." in lines


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--strategy", "score", "--bins", "0,1"], "add --pairs"),
        (["--strategy", "labels", "--combinations", "a-b"], "Name the columns of both labels"),
        (
            ["--strategy", "overlap", "--overlap", ".8", ".2"],
            "An overlap from 0.8 to below 0.2 holds nothing.",
        ),
        (["--strategy", "overlap", "--text", "tweet"], 'news.txt has no column "tweet"'),
        (["--strategy", "percentiles", "--count", "3"], "3 pairs cannot come from 50 buckets"),
        (["--strategy", "overlap", "--synonyms", "nowhere.tsv"], "nowhere.tsv cannot be read"),
        (
            ["--strategy", "labels", "--shared-label", "a", "--label", "b", "--combinations", "x"],
            "“x” is not a combination",
        ),
        (["--strategy", "score", "--pairs", "--bins", "low,high"], "are no edges of bins"),
        (["--strategy", "score", "--pairs", "--bins", "0,nan,1"], "Say where the bins"),
        (["--strategy", "score", "--pairs", "--bins", "0,inf"], "Say where the bins"),
        (["--strategy", "similarity"], "start the run “Sample pairs by similarity”"),
        (["--strategy", "overlap", "--seed", "-1"], "The seed must be a whole number of 0 or more, not -1."),
        (
            ["--strategy", "overlap", "--documents", "--language", "Klingon!"],
            "“Klingon!” is not a tag of a language",
        ),
        (
            ["--strategy", "overlap", "--pairs"],
            "add them on the page “Sample pairs” or with import_sentences",
        ),
    ],
)
def test_a_wrong_call_is_one_sentence_and_writes_nothing(
    sentences: Path, tmp_path: Path, arguments: list[str], sentence: str
) -> None:
    out = tmp_path / "pairs.csv"
    count = [] if "--count" in arguments else ["--count", "100"]

    with pytest.raises(Error) as caught:
        call_command("sample_pairs", str(sentences), *arguments, *count, "--out", str(out))

    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not out.exists()


def test_a_file_is_not_replaced_by_its_own_pairs(sentences: Path) -> None:
    before = sentences.read_bytes()

    with pytest.raises(Error, match="one of the files that are read"):
        call_command(
            "sample_pairs", str(sentences), "--strategy", "overlap", "--count", "3", "--out", str(sentences)
        )
    assert sentences.read_bytes() == before


def test_wordnet_makes_synonyms_shared_words(sample, tmp_path: Path) -> None:
    path = tmp_path / "two.txt"
    path.write_text("large hounds begin barking tonight\nbig hound commences barks outside\n")
    window = ("--strategy", "overlap", "--count", 1, "--overlap", 0.6, 0.9)

    plain = sample(path, *window)[2]
    rows = sample(path, *window, "--wordnet", wordnet_made(tmp_path))[2]

    assert plain == []
    assert [float(row["dice"]) for row in rows] == [0]


def test_synonyms_come_from_one_place(sentences: Path, tmp_path: Path) -> None:
    call = [str(sentences), "--strategy", "overlap", "--count", "3", "--out", str(tmp_path / "pairs.csv")]

    with pytest.raises(Error, match="leave out --synonyms or --wordnet"):
        call_command("sample_pairs", *call, "--synonyms", "s.tsv", "--wordnet", "/nowhere")
    with pytest.raises(
        Error, match="There is no WordNet at /nowhere: install the Debian package wordnet-base"
    ):
        call_command("sample_pairs", *call, "--wordnet", "/nowhere")


def test_a_synonym_with_two_words_is_told_with_its_line(sentences: Path, tmp_path: Path) -> None:
    (tmp_path / "synonyms.tsv").write_text("big\tlarge\nbig dog\thound\n")
    call = ["--strategy", "overlap", "--count", "3", "--synonyms", str(tmp_path / "synonyms.tsv")]

    with pytest.raises(Error, match=r"synonyms.tsv cannot be read as synonyms: line 2 is not a word"):
        call_command("sample_pairs", str(sentences), *call, "--out", str(tmp_path / "pairs.csv"))


def test_for_a_spreadsheet_no_cell_is_a_formula_and_numbers_stay(sample, tmp_path: Path) -> None:
    path = tmp_path / "=news.txt"
    path.write_text("\n".join(f"=the old {who} runs by the river" for who in WHO))
    call = (path, "--strategy", "overlap", "--count", 2, "--overlap", 0.5, 0.99)

    rows, safe = (sample(*call, *more)[2] for more in ((), ("--spreadsheet",)))

    assert all(row["sentence1"].startswith("=the old") for row in rows)
    changed = ("sentence1", "sentence2", "source")
    assert safe == [{**row, **{name: f"'{row[name]}" for name in changed}} for row in rows]
