"""`semblance evaluate` on a tiny encoder. Only the tests of `run:ID` may touch a database: the command needs none."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from curation.pairs.holding_out import HeldOut
from mlworkers.models import Artifact, Run
from mlworkers.science.paraphrasing.disclosure import benchmark_save

ROOT = Path(__file__).resolve().parents[2]
SCORED = """sentence1,sentence2,score
a dog runs,the dog runs,4.5
a cat sits on the mat,a bird sings in the tree,1
the man plays with a ball,a woman plays,3
the child sits,a child is on the grass,2.5
a bird sings,the bird is in the tree,3.5
"""
LABELLED = """a,b,same
a dog runs,the dog runs,1
a cat sits on the mat,a bird sings in the tree,0
the man plays with a ball,a man plays,1
the child sits,the ball is on the grass,0
"""
KEYS = [
    *("pairs", "pearson", "spearman", "spearman_low", "spearman_high", "pearson_low", "pearson_high"),
    *("seconds", "sentences_per_second", "guesses"),
]
LABEL_KEYS = [
    *("accuracy", "f1", "accuracy_threshold", "f1_threshold"),
    *("accuracy_low", "accuracy_high", "f1_low", "f1_high"),
]


@pytest.fixture
def scored(tmp_path) -> Path:
    return written(tmp_path / "scored.csv", SCORED)


@pytest.fixture
def labelled(tmp_path) -> Path:
    return written(tmp_path / "labelled.csv", LABELLED)


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def evaluate(model, pairs, *options) -> None:
    call_command("evaluate", str(model), "--pairs", str(pairs), *map(str, options))


def figures(capsys) -> dict[str, float]:
    return json.loads(capsys.readouterr().out.splitlines()[-1])


def test_the_last_line_is_an_object_with_the_promised_keys(encoder_folder, scored, capsys) -> None:
    evaluate(encoder_folder, scored, "--json")

    found = figures(capsys)
    assert list(found) == KEYS
    assert found["pairs"] == 5
    assert -1 <= found["spearman_low"] <= found["spearman"] <= found["spearman_high"] <= 1


def test_labels_add_their_keys(encoder_folder, labelled, capsys, tmp_path) -> None:
    dev = written(tmp_path / "dev.csv", LABELLED.replace("dog", "cat"))

    evaluate(encoder_folder, labelled, "--label", "same", "--dev", dev, "--json")

    assert list(figures(capsys)) == [*KEYS[:-1], *LABEL_KEYS, KEYS[-1]]


def test_people_read_every_figure_with_its_number_of_pairs(encoder_folder, scored, capsys) -> None:
    evaluate(encoder_folder, scored, "--seed", 7)

    shown = capsys.readouterr().out
    assert "scored.csv: 5 pairs, 10 distinct sentences" in shown
    assert "95 % interval" in shown
    assert "(1,000 resamples, seed 7)" in shown


def test_people_read_where_thresholds_come_from(encoder_folder, labelled, capsys, tmp_path) -> None:
    dev = written(tmp_path / "dev.csv", LABELLED.replace("dog", "cat"))

    evaluate(encoder_folder, labelled, "--label", "same", "--dev", dev)

    assert "tuned on the human labels of the 4 pairs of dev.csv" in capsys.readouterr().out


def test_columns_can_be_named_by_number_without_a_header(encoder_folder, tmp_path, capsys) -> None:
    rows = [line.split(",") for line in SCORED.splitlines()[1:]]
    bare = written(tmp_path / "bare.csv", "".join(f"{score},{b},{a}\n" for a, b, score in rows))

    evaluate(encoder_folder, bare, "--no-header", "--a", 3, "--b", 2, "--score", 1, "--json")

    assert figures(capsys)["pairs"] == 5


def test_both_sentences_may_be_in_one_column(encoder_folder, scored, tmp_path, capsys) -> None:
    rows = [line.split(",") for line in SCORED.splitlines()[1:]]
    by_line = "".join(f'p{n},"{a}\n{b}",{score}\n' for n, (a, b, score) in enumerate(rows))
    known = written(tmp_path / "known.csv", "PairID,Text,Score\n" + by_line)
    named = written(tmp_path / "named.csv", "PairID,both,Score\n" + by_line)
    bare = written(tmp_path / "bare.csv", by_line)

    found = []
    for call in (
        [scored],
        [known],
        [named, "--pair", "both"],
        [bare, "--no-header", "--pair", 2, "--score", 3],
    ):
        evaluate(encoder_folder, *call, "--json")
        found.append(
            {key: value for key, value in figures(capsys).items() if "second" not in key and key != "guesses"}
        )

    assert found[1:] == found[:1] * 3


def test_the_option_is_named_that_reads_both_sentences_of_one_column(encoder_folder, tmp_path) -> None:
    named = written(tmp_path / "named.csv", 'both,score\n"a\nb",1\n"c\nd",2\n"e\nf",3\n')

    with pytest.raises(CommandError, match='--pair "both"'):
        evaluate(encoder_folder, named)


def test_the_same_seed_gives_the_same_figures(encoder_folder, scored, capsys) -> None:
    found = []
    for _ in range(2):
        evaluate(encoder_folder, scored, "--seed", 3, "--json")
        found.append({key: value for key, value in figures(capsys).items() if "second" not in key})

    assert found[0] == found[1]


def test_no_resamples_give_no_interval(encoder_folder, scored, capsys) -> None:
    evaluate(encoder_folder, scored, "--bootstrap", 0, "--json")

    found = figures(capsys)
    assert (found["spearman_low"], found["spearman_high"]) == (None, None)


def test_equal_cosines_are_undefined_with_a_warning(encoder_folder, tmp_path, capsys) -> None:
    same = written(tmp_path / "same.csv", "a,b,score\na dog,a dog,1\na dog,a dog,2\na dog,a dog,3\n")

    evaluate(encoder_folder, same, "--json")

    printed = capsys.readouterr()
    assert json.loads(printed.out.splitlines()[-1])["spearman"] is None
    assert "Warning: The encoder gives every pair the same cosine" in printed.err


def test_pairs_that_thresholds_were_tuned_on_are_warned_of(encoder_folder, labelled, capsys) -> None:
    evaluate(encoder_folder, labelled, "--label", "same", "--dev", labelled)

    assert "Warning: 4 of the 4 pairs of labelled.csv stand in labelled.csv too" in capsys.readouterr().err


def test_nothing_but_figures_is_printed(encoder_folder, scored, capfd) -> None:
    named = ("--a", "sentence1", "--b", "sentence2", "--score", "score", "--delimiter", "comma")
    evaluate(encoder_folder, scored, *named, "--bootstrap", 0, "--json")

    printed = capfd.readouterr()
    assert len(printed.out.splitlines()) == 5
    assert printed.err == ""


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--label", "score"], "--label needs --dev FILE"),
        (["--dev", "other.csv"], "--dev is for labels; name their column with --label"),
        (["--bootstrap", "50"], "50 resamples are too few; give at least 100, or 0 for no interval"),
        (["--bootstrap", "-1"], "-1 resamples are too few"),
        (["--seed", "-1"], "The seed -1 is negative"),
        (["--score", "gold"], 'scored.csv has no column "gold"; it has "sentence1", "sentence2", "score"'),
        (["--score", "score", "--label", "score"], "not allowed with argument"),
    ],
)
def test_wrong_options_are_refused_with_what_to_do(encoder_folder, scored, options, reason) -> None:
    with pytest.raises(CommandError, match=reason):
        evaluate(encoder_folder, scored, *options)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("a dog,a cat,high", 'the score "high" is not a number'),
        ("a dog,a cat,nan", 'the score "nan" is not a finite number'),
        ("a dog,a cat,", "it has no score"),
    ],
)
def test_a_row_without_a_score_is_refused_in_a_column_that_was_named_and_left_out_of_another(
    encoder_folder, scored, capsys, row, reason
) -> None:
    written(scored, f"{SCORED}{row}\n")

    evaluate(encoder_folder, scored)

    assert "1 of 6 pairs have no score and are left out, the first on line 7." in capsys.readouterr().err
    with pytest.raises(CommandError, match=f"scored.csv, line 7: {reason}"):
        evaluate(encoder_folder, scored, "--score", "score")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (SCORED.replace("score", "fun"), "No column of scored.csv is known to hold scores"),
        ("a,b,score\na dog,a cat,1\n", "scored.csv holds too few pairs, 1; measuring needs 3 or more"),
        ("a,b,score\nx,y,2\nz,w,2\nu,v,2\n", "Every score in scored.csv is 2"),
        ("", "scored.csv"),
    ],
)
def test_a_file_that_measures_nothing_is_refused(encoder_folder, scored, text, reason) -> None:
    written(scored, text)

    with pytest.raises(CommandError, match=reason) as refused:
        evaluate(encoder_folder, scored)
    assert refused.value.returncode == 2


@pytest.mark.parametrize("model", ["/nowhere/at/all", "packaged:other", "run:x", "two words"])
def test_a_model_that_cannot_be_had_is_refused_with_the_other_ways(scored, model) -> None:
    with pytest.raises(CommandError, match="or give") as refused:
        evaluate(model, scored)
    assert refused.value.returncode == 2
    assert "\n" not in str(refused.value)


@pytest.mark.django_db
def test_the_model_a_run_made_is_named_by_the_run_s_number(encoder_folder, scored, home, capsys) -> None:
    run = Run.objects.create(kind="train_encoder")
    path = f"runs/{run.pk}/1/model"
    shutil.copytree(encoder_folder, home / path)
    Artifact.objects.create(run=run, kind="encoder", path=path, sha256="0" * 64)

    evaluate(f"run:{run.pk}", scored, "--json")

    assert figures(capsys)["pairs"] == 5


@pytest.mark.django_db
def test_a_run_that_made_no_model_is_refused(scored) -> None:
    run = Run.objects.create(kind="import_pairs")

    with pytest.raises(
        CommandError, match=f"Run {run.pk} made no encoder, or there is no such run; or give a folder"
    ):
        evaluate(f"run:{run.pk}", scored)


@pytest.mark.django_db
def test_of_a_run_that_made_several_models_one_must_be_named(scored) -> None:
    run = Run.objects.create(kind="compare_weightings")
    for label in ("plain-42", "random-42"):
        Artifact.objects.create(run=run, kind="encoder", path=label, sha256="0" * 64)

    with pytest.raises(
        CommandError, match=f"Run {run.pk} made 2 models; name one of them, such as run:{run.pk}/plain-42"
    ):
        evaluate(f"run:{run.pk}", scored)


def test_pairs_that_the_encoder_was_trained_on_are_warned_of(
    encoder_folder, scored, tmp_path, capsys
) -> None:
    shutil.copytree(encoder_folder, tmp_path / "trained")
    keys = sorted(HeldOut.of(["A dog runs.", "the child sits", "something else"]).keys)
    (tmp_path / "trained" / "semblance.json").write_text(
        json.dumps({"trained_on": keys, "trained_on_key": "near copy"})
    )

    evaluate(tmp_path / "trained", scored)

    assert "Warning: 2 of the 5 pairs of scored.csv hold sentences that the encoder was trained on" in (
        capsys.readouterr().err
    )


def test_the_figure_of_unseen_pairs_stands_beside_that_of_all_pairs(
    encoder_folder, scored, tmp_path, capsys
) -> None:
    shutil.copytree(encoder_folder, tmp_path / "trained")
    keys = sorted(HeldOut.of(["A dog runs.", "the child sits"]).keys)
    (tmp_path / "trained" / "semblance.json").write_text(
        json.dumps({"trained_on": keys, "trained_on_key": "near copy"})
    )
    lines = SCORED.splitlines(keepends=True)
    unseen = written(tmp_path / "unseen.csv", "".join(lines[number] for number in (0, 2, 3, 5)))

    evaluate(tmp_path / "trained", scored, "--json")
    both = figures(capsys)
    evaluate(encoder_folder, unseen, "--json")
    alone = figures(capsys)

    assert (both["pairs"], both["unseen_pairs"]) == (5, 3)
    assert both["unseen_spearman"] == alone["spearman"]
    assert both["unseen_pearson"] == pytest.approx(alone["pearson"])
    assert not any(name.startswith("unseen") for name in alone), "nobody knows what it was trained on"


def run_manage(home: Path, *arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, ROOT / "manage.py", *map(str, arguments)],
        env={**os.environ, "SEMBLANCE_HOME": str(home), "PYTHONWARNINGS": "", **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.exhaustive
def test_from_a_shell_a_run_without_a_database_is_one_line_and_status_2(scored, tmp_path) -> None:
    ended = run_manage(tmp_path / "new", "evaluate", "run:17", "--pairs", scored)

    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith(
        "Error: run:17 needs the database, which does not answer; or give a folder"
    )
    assert len(ended.stderr.splitlines()) == 1


@pytest.mark.exhaustive
def test_from_a_shell_an_installation_without_torch_says_what_to_install(scored, tmp_path) -> None:
    (tmp_path / "torch.py").write_text("raise ModuleNotFoundError(\"No module named 'torch'\", name='torch')")

    ended = run_manage(tmp_path / "new", "evaluate", "x", "--pairs", scored, PYTHONPATH=str(tmp_path))

    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == "Error: Evaluating needs the package torch; install Semblance with the extra ml.\n"


@pytest.mark.exhaustive
def test_the_help_is_printed_without_torch(tmp_path) -> None:
    (tmp_path / "torch.py").write_text("raise ModuleNotFoundError(\"No module named 'torch'\", name='torch')")

    ended = run_manage(tmp_path / "new", "evaluate", "--help", PYTHONPATH=str(tmp_path))

    assert ended.returncode == 0, ended.stderr
    assert "--bootstrap" in ended.stdout
    assert "openai:" not in ended.stdout, "evaluate refuses a model behind an endpoint"


def suite_folder(folder: Path) -> Path:
    folder.mkdir()
    rows = [line.split(",") for line in SCORED.splitlines()[1:]]
    texts = [
        f"{('main-news', 'main-captions')[n < 3]}\tf\t2012\t{n}\t{score}\t{a}\t{b}\n"
        for n, (a, b, score) in enumerate([*rows, ["a bird", "the bird", "5"]])
    ]
    written(folder / "sts-test.csv", "".join(texts))
    for part in ("dev", "test"):
        labelled_rows = [line.split(",") for line in LABELLED.splitlines()[1:]]
        text = "".join(f"{a} {part}\t{b}\t{1 - int(label)}\n" for a, b, label in labelled_rows)
        written(folder / f"snli-{part}.tsv", text)
    return folder


def test_suites_are_evaluated_together_with_a_row_for_each_genre(encoder_folder, tmp_path, capsys) -> None:
    folder = suite_folder(tmp_path / "files")

    call_command(
        "evaluate", str(encoder_folder), "--suite", f"stsb={folder}", "--suite", f"snli={folder}", "--json"
    )

    shown = capsys.readouterr().out
    found = json.loads(shown.splitlines()[-1])
    named = [(one["suite"], one["part"], one["metric"]) for one in found["figures"]]
    assert ("stsb", "main-captions", "spearman") in named
    assert ("snli", "", "f1") in named
    assert "main-news (3 pairs): Spearman" in shown
    assert len(found["files"]["stsb"]["sts-test.csv"]) == 64


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--suite", "stsb"], "Give a suite as NAME=PATH"),
        (["--suite", "none=/x"], "There is no suite “none”; the suites are stsb"),
        (["--suite", "stsb=/nowhere"], "STS benchmark: /nowhere is not a folder"),
        (["--suite", "stsb=/nowhere", "--a", "1"], "A suite knows its columns; leave out --a"),
        ([], "one of the arguments --pairs --suite is required"),
    ],
)
def test_what_is_wrong_with_a_suite_is_said_in_one_line(encoder_folder, options, reason) -> None:
    with pytest.raises(CommandError, match=reason) as refused:
        call_command("evaluate", str(encoder_folder), *options)
    assert "\n" not in str(refused.value)


def test_an_encoder_whose_examples_sts_b_labels_chose_is_warned_of_on_sts_b_alone(
    encoder_folder, scored, tmp_path, capsys
) -> None:
    marked = tmp_path / "marked"
    shutil.copytree(encoder_folder, marked)
    benchmark_save(marked, "STS-B")
    of_the_benchmark = written(tmp_path / "stsb-en-test.csv", SCORED)

    warned = []
    for model, pairs in (
        (marked, of_the_benchmark),
        (marked, scored),
        (encoder_folder, of_the_benchmark),
    ):
        evaluate(model, pairs, "--bootstrap", "0")
        warned.append("chosen by a scorer that learned from STS-B" in capsys.readouterr().err)

    assert warned == [True, False, False]
