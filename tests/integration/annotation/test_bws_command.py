"""`semblance bws`: files in, files out, one JSON object, no database."""

import csv
import json
import os
import subprocess
import sys
import zipfile
from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from annotation.bws.files.judgement_files import write_judgements
from annotation.bws.studies.simulation import SimulatedAnnotator, simulated_judgements
from curation.files.manifest import write_manifest

ROOT = Path(__file__).resolve().parents[3]
JUDGEMENTS = """Item1,Item2,Item3,Item4,BestItem,WorstItem,Annotator
a,b,c,d,a,d,ann
d,c,b,a,b,d,bob
c,d,e,f,c,f,ann
c,d,e,f,e,f,bob
a,b,e,f,a,a,bob
a,b,e,f,x,a,bob
"""


@pytest.fixture
def items(tmp_path) -> Path:
    path = tmp_path / "items.txt"
    path.write_text("".join(f"item {number}\n" for number in range(50)))
    return path


@pytest.fixture
def judgements(tmp_path) -> Path:
    path = tmp_path / "judgements.csv"
    path.write_text(JUDGEMENTS)
    return path


@pytest.fixture
def bws(capsys):
    """Call the command; returns the lines for people and the object for programs."""

    def calling(*arguments: object) -> tuple[list[str], dict]:
        call_command("bws", *map(str, arguments), "--json")
        *lines, last = capsys.readouterr().out.splitlines()
        return lines, json.loads(last)

    return calling


def test_design_writes_balanced_tuples_and_says_what_they_guarantee(bws, items, tmp_path) -> None:
    lines, figures = bws("design", items, "--out", tmp_path / "tuples.tsv")

    rows = [line.split("\t") for line in (tmp_path / "tuples.tsv").read_text().splitlines()]
    assert Counter(item for row in rows for item in row) == {f"item {number}": 8 for number in range(50)}
    assert figures.pop("seconds") >= 0
    assert {
        key: figures[key] for key in ("items", "tuples", "size", "min_appearances", "max_appearances")
    } == {
        "items": 50,
        "tuples": 100,
        "size": 4,
        "min_appearances": 8,
        "max_appearances": 8,
    }
    assert (figures["repeated_pairs"], figures["duplicate_tuples"], figures["components"]) == (0, 0, 1)
    assert lines[-1] == "No two items meet in more than one tuple."


def test_design_takes_size_factor_and_seed(bws, items, tmp_path) -> None:
    for name, seed in (("one", 3), ("again", 3), ("other", 4)):
        bws("design", items, "--out", tmp_path / name, "--size", 3, "--factor", 1, "--seed", seed)

    one, again, other = ((tmp_path / name).read_text() for name in ("one", "again", "other"))
    assert one == again != other
    assert [line.count("\t") for line in one.splitlines()] == [2] * 50


def test_design_says_where_tuples_are_too_few_to_join_the_items(bws, items, tmp_path) -> None:
    lines, figures = bws("design", items, "--out", tmp_path / "tuples.tsv", "--factor", 0.25)

    assert figures["components"] > 1
    assert "ask for more tuples per item" in lines[-1]


def test_scores_for_a_spreadsheet_hold_no_formula(bws, tmp_path) -> None:
    (tmp_path / "judgements.csv").write_text("Item1,Item2,BestItem,WorstItem\n=1+1,b,=1+1,b\n")

    bws("score", tmp_path / "judgements.csv", "--out", tmp_path / "scores.csv", "--spreadsheet")

    assert (tmp_path / "scores.csv").read_text().splitlines()[1].startswith("'=1+1,1.0,")


def test_score_writes_scores_and_tells_what_it_left_out(bws, judgements, tmp_path) -> None:
    lines, figures = bws("score", judgements, "--out", tmp_path / "scores.csv")

    with (tmp_path / "scores.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["item"], float(row["score"])) for row in rows] == [
        ("a", 0.5),
        ("b", 0.5),
        ("e", 0.5),
        ("c", 0.25),
        ("d", -0.5),
        ("f", -1.0),
    ]
    assert figures.pop("seconds") >= 0
    guesses = figures.pop("guesses")
    assert [guess["reason"] for guess in guesses] == [line for line in lines if line.startswith("The c")]
    assert {guess["what"]: guess["taken"] for guess in guesses} == {
        "delimiter": ",",
        "items": "Item1, Item2, Item3, Item4",
        "best": "BestItem",
        "worst": "WorstItem",
        "annotator": "Annotator",
    }
    assert figures == {
        "items": 6,
        "judgements": 4,
        "rejected": 2,
        "prior_precision": None,
        "tie_weight": None,
        "distinguishable": 0.0,
        "distinguishable_holm": 0.0,
        "distinguishable_fdr": 0.0,
        "tied": pytest.approx(3 / 15),
        "pairs": 15,
        "pairs_tested": 15,
        "repeated_items": 0,
        "merged_items": 0,
        "left_out": 0,
        "twice_by_one": 0,
        "warnings": lines[:1],
        "method": "counting",
        "scale": "signed",
        "standard_errors": "counted",
        "groups": 1,
    }
    assert lines[0].startswith("2 of 6 rows (33%) are not judgements and are left out")
    assert 'Line 6 is left out: the row names "a" both best and worst.' in lines


def test_score_takes_the_prior_and_the_errors_of_maxdiff_and_of_no_other_method(
    bws, judgements, tmp_path
) -> None:
    out = ("--out", tmp_path / "s.csv")

    lines, figures = bws("score", judgements, *out, "--method", "maxdiff", "--prior-precision", "0.5")

    assert figures["prior_precision"] == 0.5
    assert "The precision of the prior is 0.5." in lines
    with pytest.raises(CommandError, match="Only --method maxdiff takes --prior-precision"):
        bws("score", judgements, *out, "--prior-precision", "0.5")
    _lines, figures = bws("score", judgements, *out, "--method", "maxdiff", "--errors", "annotators")
    assert figures["standard_errors"] == "annotators"


@pytest.mark.exhaustive
def test_score_estimates_a_scale_per_annotator_and_says_what_it_changes(bws, tmp_path) -> None:
    people = [SimulatedAnnotator(noise) for noise in (0.1, 0.1, 0.4, 2.0)]
    latent = np.random.default_rng(1).standard_normal(20)
    tuples = np.array([np.random.default_rng(seed).permutation(20)[:4] for seed in range(80)])
    judged = simulated_judgements(tuples, latent, annotators=people, judgements_per_tuple=4, seed=1)
    path = tmp_path / "differ.csv"
    names = ["precise", "careful", "typical", "noisy"]
    write_judgements(path, [f"item {number}" for number in range(20)], judged, names)
    out = ("--out", tmp_path / "s.csv", "--method", "maxdiff", "--annotator-scales")

    lines, figures = bws("score", path, *out)

    assert [each["annotator"] for each in figures["scales"]][:2] == ["noisy", "typical"]
    assert figures["annotator_scales"]["evidence_gain"] > 3
    assert 0.9 < figures["annotator_scales"]["correlation"] < 1
    assert any(line.startswith("noisy: scale 0.") for line in lines)
    with pytest.raises(CommandError, match="one scale for all"):
        bws("score", path, *out, "--errors", "annotators")


def test_score_counts_best_is_worst_where_it_is_asked_to(bws, judgements, tmp_path) -> None:
    _lines, figures = bws(
        "score", judgements, "--out", tmp_path / "s.csv", "--best-is-worst", "count", "--scale", "unit"
    )

    with (tmp_path / "s.csv").open(newline="") as file:
        scores = {row["item"]: float(row["score"]) for row in csv.DictReader(file)}
    assert figures["judgements"] == 5
    assert scores["a"] == pytest.approx((1 / 3 + 1) / 2)


@pytest.mark.parametrize(("method", "errors"), [("maxdiff", "variational"), ("bradley-terry", "none")])
def test_score_by_a_model_says_where_its_errors_come_from(method, errors, bws, judgements, tmp_path) -> None:
    _lines, figures = bws("score", judgements, "--out", tmp_path / "s.csv", "--method", method)

    with (tmp_path / "s.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert (figures["method"], figures["standard_errors"]) == (method, errors)
    assert all((row["standard_error"] == "") == (errors == "none") for row in rows)
    assert {row["item"] for row in rows[:3]} == {"a", "b", "e"}


def test_reliability_tells_all_figures_with_what_they_rest_on(bws, judgements) -> None:
    lines, figures = bws("reliability", judgements, "--trials", 50)

    assert set(figures) == {
        "trials",
        "split",
        "tuples",
        "judgements",
        "rejected",
        "repeated_items",
        "merged_items",
        "left_out",
        "twice_by_one",
        "warnings",
        "guesses",
        "spearman_mean",
        "spearman_sd",
        "pearson_mean",
        "pearson_sd",
        "spearman_brown",
        "spearman_low",
        "spearman_high",
        "people_resampled",
        "marginal_reliability",
        "marginal_reliability_low",
        "marginal_reliability_high",
        "components",
        "seconds",
    }
    assert (figures["trials"], figures["tuples"], figures["judgements"], figures["rejected"]) == (50, 2, 4, 2)
    assert "4 judgements of 2 tuples, 50 splits into halves of each tuple's judgements:" in lines


def test_reliability_says_how_few_judgements_and_annotators_a_claim_rests_on(bws, tmp_path) -> None:
    path = tmp_path / "claims.csv"
    # bob did not see a above b; without the two judgements in which ann and cy saw it, it does not hold.
    rows = ["a,b,c,d,a,d,ann", "a,b,c,d,b,d,bob", "a,b,c,d,a,d,cy", "c,d,e,f,c,f,ann", "c,d,e,f,c,f,bob"]
    path.write_text("\n".join(["Item1,Item2,Item3,Item4,BestItem,WorstItem,Annotator", *rows]))
    asked = ("--trials", 50, "--at-least", -0.9, "--above", "a", "b", "--above", "b", "a")

    lines, figures = bws("reliability", path, *asked)

    claims = {claim["claim"]: claim for claim in figures["turning"]}
    order, turned = claims['"a" scores above "b".'], claims['"b" scores above "a".']
    assert order["judgements"] == {"number": 1, "of": 3, "least": True}
    assert order["annotators"] == {"number": 1, "of": 3, "least": True}
    assert turned["judgements"]["number"] == 0
    assert '"b" scores above "a". It does not hold.' in lines
    assert (
        '"a" scores above "b". Without 1 of the 3 judgements it would not hold, and no fewer are enough. '
        "Without 1 of the 3 annotators it would not hold, and no fewer are enough. "
        "If a few answers can turn it, collect more before you cite it."
    ) in lines
    with pytest.raises(CommandError, match='No item of the file is called "z"'):
        bws("reliability", path, "--above", "a", "z")
    with pytest.raises(CommandError, match="between -1 and 1, not 80"):
        bws("reliability", path, "--at-least", 80)


@pytest.fixture
def judged_twice(tmp_path) -> Path:
    """Two tuples by two people, and one of them by ann a second time, in another order and with another answer."""
    path = tmp_path / "twice.csv"
    path.write_text("".join(JUDGEMENTS.splitlines(keepends=True)[:5]) + "d,c,b,a,b,c,ann\n")
    return path


@pytest.mark.parametrize("arguments", [("score", "--out", "scores.csv"), ("reliability", "--trials", 5)])
def test_the_first_of_two_judgements_of_a_tuple_by_one_person_counts_and_the_rest_are_said(
    bws, judged_twice, tmp_path, monkeypatch, arguments
) -> None:
    monkeypatch.chdir(tmp_path)
    verb, *options = arguments

    lines, figures = bws(verb, judged_twice, *options)
    _lines, kept = bws(verb, judged_twice, *options, "--keep-repeats")

    assert (figures["judgements"], figures["left_out"], figures["twice_by_one"]) == (4, 1, 1)
    assert "1 row is a second judgement of a tuple by the same person and is left out" in lines[0]
    assert "--keep-repeats" in figures["warnings"][0]
    assert (kept["judgements"], kept["left_out"], kept["warnings"]) == (5, 0, [])


@pytest.fixture
def once(tmp_path) -> Path:
    """Twelve tuples of seven items, each judged once by one of four people; nearer to a is better."""
    rows = ["Item1,Item2,Item3,Item4,BestItem,WorstItem,Annotator"]
    for number, items in enumerate(list(combinations("abcdefg", 4))[::3]):
        rows.append(",".join([*items, items[0], items[-1], f"person {number % 4}"]))
    path = tmp_path / "once.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def test_a_split_that_cannot_be_names_those_that_can(bws, once) -> None:
    with pytest.raises(
        CommandError, match=r"0 of 12 .* work for this file: --split tuples, --split annotators"
    ):
        bws("reliability", once)

    unnamed = once.with_name("unnamed.csv")
    unnamed.write_text("\n".join(line.rsplit(",", 1)[0] for line in once.read_text().splitlines()))
    with pytest.raises(CommandError, match=r"work for this file: --split tuples\.$"):
        bws("reliability", unnamed)
    with pytest.raises(CommandError, match=r"do not say who made them.* for this file: --split tuples\.$"):
        bws("reliability", unnamed, "--split", "annotators")
    by_tuples = bws("reliability", unnamed, "--split", "tuples")[1]
    assert by_tuples["spearman_low"] < by_tuples["spearman_mean"] < by_tuples["spearman_high"]


def test_the_curve_says_what_fewer_judgements_per_tuple_give(bws, tmp_path) -> None:
    path = tmp_path / "j.csv"
    tuples = np.random.default_rng(1).random((60, 30)).argsort(axis=1)[:, :4]
    people = [SimulatedAnnotator(0.5)] * 3
    latent = np.linspace(-2, 2, 30)
    judged = simulated_judgements(tuples, latent, annotators=people, judgements_per_tuple=3, seed=1)
    write_judgements(path, [f"item {n}" for n in range(30)], judged, ["ann", "bob", "cleo"])

    lines, figures = bws("reliability", path, "--curve", "--trials", 50)

    one, two, three = figures["curve"]
    assert (one["judgements"], two["judgements"], three["judgements"]) == (60, 120, 180)
    assert one["spearman_mean"] is None
    assert two["spearman_mean"] < three["spearman_mean"]
    assert one["agreement_mean"] < two["agreement_mean"] < three["agreement_mean"] == pytest.approx(1.0)
    assert figures["spearman_low"] < figures["spearman_mean"] < figures["spearman_high"]
    assert figures["people_resampled"]
    assert 0 < figures["components"]["score_icc"] < 1
    assert any("for other annotators and tuples" in line for line in lines)


def test_replication_tells_both_methods_for_each_number_of_judgements(bws, judgements) -> None:
    lines, figures = bws("replication", judgements, "--trials", 3, "--best-is-worst", "count")

    assert [point["judgements_per_tuple"] for point in figures["points"]] == [1, 2]
    assert set(figures["points"][0]) >= {"counting_mean", "counting_sd", "maxdiff_mean", "maxdiff_sd"}
    assert lines[-1].startswith("        2")


def test_forecast_tells_work_cost_and_what_they_will_be_worth(bws) -> None:
    lines, figures = bws("forecast", "--items", 60, "--judgements", 3, "--pay", 12, "--seconds-each", 30)

    assert (figures["tuples"], figures["judgements"], figures["hours"], figures["cost"]) == (
        120,
        360,
        3.0,
        36.0,
    )
    assert figures["spearman_low"] < figures["spearman_mean"] < figures["spearman_high"]
    assert figures["counting_accuracy_mean"] < figures["maxdiff_accuracy_mean"]
    assert "360 judgements: 3.0 hours at 30 seconds each." in lines


def test_forecast_takes_its_noise_from_a_file(bws, judgements) -> None:
    _lines, figures = bws("forecast", "--items", 40, "--like", judgements)

    assert figures["noise"] != 0.7
    assert figures["noise_error"] > 0


def test_forecast_reads_a_file_with_other_columns_and_says_what_it_left_out(bws, tmp_path) -> None:
    rows = [f"{a};{b};{c};{a};{c}\n" for a, b, c in combinations("uvwxyz", 3)]
    (tmp_path / "j.csv").write_text("p;q;r;good;bad\n" + "x;y;z;x;nobody\n" + 2 * "".join(rows))
    columns = ["--item-columns", "p", "q", "r", "--best", "good", "--worst", "bad"]

    lines, figures = bws("forecast", "--items", 20, "--like", tmp_path / "j.csv", *columns)

    assert (figures["like"]["judgements"], figures["like"]["rejected"]) == (40, 1)
    assert any(line.startswith("Line 2 is left out") for line in lines)


@pytest.mark.exhaustive
def test_forecast_compares_sizes_of_tuples(bws) -> None:
    lines, figures = bws("forecast", "--items", 60, "--size", 6, "--factor", 1, "--judgements", 1, "--sizes")

    assert figures["seconds_per_judgement"] == 37.5
    assert [(row["same"], row["size"]) for row in figures["sizes"]] == [
        (same, size) for same in ("judgements", "time") for size in (3, 4, 5, 6)
    ]
    hours = {row["size"]: row["hours"] for row in figures["sizes"] if row["same"] == "judgements"}
    assert hours == {3: 0.31, 4: 0.42, 5: 0.52, 6: 0.62}  # 60 judgements of 18.75 to 37.5 seconds
    assert {row["judgements"] for row in figures["sizes"] if row["same"] == "time"} == {120, 90, 72, 60}
    assert "In as much time:" in lines


def test_forecast_of_single_judgements_has_no_reliability(bws) -> None:
    lines, figures = bws("forecast", "--items", 40, "--judgements", 1)

    assert figures["spearman_mean"] is None
    assert "Split-half reliability needs at least two judgements per tuple." in lines


def test_columns_of_other_names_can_be_given(bws, tmp_path) -> None:
    (tmp_path / "j.csv").write_text("p;q;good;bad;who\na;b;1;2;ann\nb;a;1;2;bob\n")

    _lines, figures = bws(
        *("reliability", tmp_path / "j.csv", "--items", "p", "q", "--best", "good", "--worst", "bad"),
        *("--annotator", "who", "--split", "annotators", "--trials", 10),
    )

    assert figures["spearman_mean"] == -1


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["score", "nowhere.csv", "--out", "s.csv"], "nowhere.csv cannot be read: No such file"),
        (["score", "judgements.csv", "--out", "s.csv", "--strict"], "Line 6 of judgements.csv"),
        (
            ["score", "judgements.csv", "--out", "s.csv", "--best-is-worst", "fail"],
            "Line 6 of judgements.csv",
        ),
        (["score", "judgements.csv", "--out", "s.csv", "--best", "Good"], 'No column "Good" among "Item1"'),
        (["reliability", "judgements.csv", "--trials", "0"], "at least 1 trial, not 0"),
        (["reliability", "judgements.csv", "--seed", "-1"], "The seed -1 is negative"),
        (["forecast", "--items", "3"], "Tuples of 4 need at least 4 items, and there are 3"),
        (["forecast", "--items", "50", "--noise", "0"], "needs noise above 0, not 0"),
        (["design", "items.txt", "--out", "t.tsv", "--size", "60"], "Tuples of 60 need at least 60 items"),
        (["design", "items.txt", "--out", "missing/t.tsv"], "missing does not exist"),
        (["design", "items.txt", "--out", "t.tsv", "--factor", "1e9"], "at most 25,000,000 can be designed"),
        (["design", "items.txt", "--out", "items.txt"], "items.txt is the file to read"),
        (["score", "judgements.csv", "--out", "./judgements.csv"], "judgements.csv is the file to read"),
        (["score", "judgements.csv", "--out", "."], "is a folder; give the name of a file in it"),
        (["reliability", "judgements.csv", "--trials", "100000000"], "at most 1,000,000 trials"),
        (["replication", "judgements.csv", "--trials", "1000000"], "At most 10,000 trials"),
        (["forecast", "--items", "50", "--noise", "1e300"], "noise of at most 1000 standard deviations"),
        (["forecast", "--items", "50", "--pay", "-5"], "The pay for an hour cannot be -5"),
        (["forecast", "--items", "50", "--pay", "nan"], "The pay for an hour cannot be nan"),
        (["forecast", "--items", "50", "--judgements", "1000000"], "simulates at most 2,000,000 judgements"),
        (["verify", "nowhere"], "nowhere cannot be read: No such file"),
    ],
)
@pytest.mark.usefixtures("items", "judgements")
def test_what_is_wrong_is_said_in_one_line_and_nothing_is_written(
    arguments, reason, tmp_path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)

    with pytest.raises(CommandError, match=reason) as caught:
        call_command("bws", *arguments)

    assert caught.value.returncode == 2
    assert "\n" not in str(caught.value)
    assert {path.name for path in tmp_path.iterdir()} <= {"items.txt", "judgements.csv", "home"}


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["score", "judgements.csv", "--out", "s.csv", "--scale", "unti"], "choose one of signed, unit"),
        (["reliability", "judgements.csv", "--seed", "1", "--seed", "2"], "given twice"),
        (["forecast", "--items", "1" * 20], "is too large"),
        (["forecast", "--items", "many"], '"many" is not a whole number'),
    ],
)
def test_a_value_that_an_option_does_not_take_is_told_with_the_option(arguments, reason) -> None:
    with pytest.raises(CommandError, match=f"argument --[a-z]+: .*{reason}"):
        call_command("bws", *arguments)


def test_verify_says_that_a_bundle_is_whole_or_ends_with_status_one_and_each_fault(
    bws, capsys, tmp_path
) -> None:
    (tmp_path / "items.csv").write_text("id\n")
    write_manifest(tmp_path, {})

    lines, figures = bws("verify", tmp_path)
    (tmp_path / "items.csv").write_text("id\nmore\n")
    with pytest.raises(SystemExit) as ended:
        bws("verify", tmp_path)

    assert lines == [f"{tmp_path} is complete: every file is as its manifest says."]
    assert figures == {"bundle": str(tmp_path), "whole": True, "faults": []}
    assert ended.value.code == 1
    *told, last = capsys.readouterr().out.splitlines()
    assert told == ["items.csv was changed."]
    assert json.loads(last) == {"bundle": str(tmp_path), "whole": False, "faults": told}


def called(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, ROOT / "manage.py", "bws", *map(str, arguments)],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.exhaustive
def test_it_works_where_the_database_does_not_answer(items, tmp_path) -> None:
    outcome = called(
        *("design", items, "--out", tmp_path / "tuples.tsv", "--json"),
        DATABASE_URL="postgres://nobody@127.0.0.1:1/nothing",
        SECRET_KEY="for this test",
        ALLOWED_HOSTS="localhost",
    )

    assert outcome.returncode == 0, outcome.stderr
    assert json.loads(outcome.stdout.splitlines()[-1])["tuples"] == 100


@pytest.mark.exhaustive
def test_a_database_that_does_not_answer_is_told_in_one_line(tmp_path) -> None:
    outcome = called(
        *("bundle", "1", "--out", tmp_path / "b.zip"),
        DATABASE_URL="postgres://nobody@127.0.0.1:1/nothing",
        SECRET_KEY="for this test",
        ALLOWED_HOSTS="localhost",
    )

    assert outcome.returncode == 2
    assert outcome.stderr.startswith("Error: The database cannot be reached")
    assert outcome.stderr.count("\n") == 1


@pytest.mark.exhaustive
def test_a_bundle_that_unpacks_to_too_much_is_refused_in_one_line(tmp_path) -> None:
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", bytes(8 * 1024**2))

    outcome = called("verify", tmp_path / "bomb.zip")

    assert outcome.returncode == 2
    assert outcome.stderr.startswith("Error: manifest.json of ")
    assert outcome.stderr.count("\n") == 1


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "arguments", [["design", "--size", "many"], ["guess"], [], ["score", "x", "--method", "magic"]]
)
def test_a_wrong_call_ends_with_status_two_and_one_line(arguments) -> None:
    outcome = called(*arguments)

    assert outcome.returncode == 2
    assert outcome.stdout == ""
    assert outcome.stderr.startswith("Error: ")
    assert outcome.stderr.count("\n") == 1


def test_score_with_a_machine_says_what_it_saves_and_writes_people_s_scores(bws, tmp_path) -> None:
    rng = np.random.default_rng(3)
    tuples = np.concatenate([rng.permutation(40).reshape(-1, 4) for _round in range(8)])
    names = np.array([f"item {number:02}" for number in range(40)])

    def answered(rows: np.ndarray, noise: float, path: Path) -> Path:
        heard = tuples[rows] + noise * rng.normal(size=(len(rows), 4))
        place = np.arange(len(rows))
        best, worst = (names[tuples[rows][place, each]] for each in (heard.argmax(1), heard.argmin(1)))
        table = np.column_stack([names[tuples[rows]], best, worst, np.char.add("p", (place % 2).astype(str))])
        head = ["Item1", "Item2", "Item3", "Item4", "BestItem", "WorstItem", "Annotator"]
        path.write_text("\n".join(",".join(row) for row in [head, *table.tolist()]) + "\n")
        return path

    people = answered(np.repeat(np.arange(40), 2), 12.0, tmp_path / "people.csv")
    machine = answered(np.arange(80), 1.0, tmp_path / "machine.csv")
    out = tmp_path / "scores.csv"

    lines, figures = bws("score", people, "--machine", machine, "--out", out)

    assert any(line.startswith("People annotated 40 of 80 tuples.") for line in lines)
    assert figures["machine"]["tuples"] == 80
    assert figures["machine"]["agreement"] > 0.8
    assert 0 < figures["machine"]["saved"] < figures["machine"]["ceiling"] + 0.1
    with out.open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 40
    assert all(row["appearances"] == "8" for row in rows)
    with pytest.raises(CommandError, match="Only --method counting takes --machine"):
        call_command("bws", "score", people, "--machine", machine, "--out", out, "--method", "maxdiff")
    with pytest.raises(CommandError, match="must answer every tuple that people annotated"):
        call_command(
            "bws",
            "score",
            people,
            "--machine",
            answered(np.arange(5), 1.0, tmp_path / "five.csv"),
            "--out",
            out,
        )
