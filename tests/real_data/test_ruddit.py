"""Ruddit: 78,639 raw judgements whose published scores and reliability are known."""

import csv
import json
import random
from time import process_time

import numpy as np
import pytest
from django.core.management import call_command

from annotation.bws.files.columns import Columns
from annotation.bws.files.judgement_files import read_judgements
from annotation.bws.files.settling import BestIsWorst
from annotation.bws.reliability.split_half import split_half_reliability
from annotation.bws.scores.scoring import counting_scores
from annotation.models import Campaign
from annotation.results.bundle import bundle_write
from annotation.results.study import study_make
from curation.pairs.text import unspaced

pytestmark = pytest.mark.real_data


@pytest.fixture
def bws(capsys, real_data):
    """Call a verb on Ruddit's judgements; returns its figures."""

    def calling(verb: str, *arguments: object) -> dict:
        judgements = real_data / "ruddit" / "Ruddit_individual_annotations.csv"
        call_command("bws", verb, str(judgements), *map(str, arguments), "--json")
        return json.loads(capsys.readouterr().out.splitlines()[-1])

    return calling


@pytest.mark.exhaustive
def test_counting_gives_every_published_score(bws, real_data, tmp_path) -> None:
    figures = bws("score", "--out", tmp_path / "scores.csv", "--best-is-worst", "count")

    with (tmp_path / "scores.csv").open(newline="") as file:
        ours = {row["item"]: float(row["score"]) for row in csv.DictReader(file)}
    with (real_data / "ruddit" / "Ruddit.csv").open(newline="") as file:
        published = {row["comment_id"]: float(row["offensiveness_score"]) for row in csv.DictReader(file)}
    assert len(published) == 6000
    assert max(abs(ours[item] - score) for item, score in published.items()) < 0.0006
    assert (figures["judgements"], figures["repeated_items"], figures["rejected"]) == (78_639, 3455, 0)


@pytest.mark.exhaustive
def test_rows_with_best_as_worst_are_rejected_by_default(bws, tmp_path) -> None:
    figures = bws("score", "--out", tmp_path / "scores.csv")

    assert (figures["judgements"], figures["rejected"]) == (78_082, 557)


@pytest.mark.exhaustive
def test_split_half_reliability_is_the_recomputed_one_within_twenty_seconds(bws) -> None:
    started = process_time()  # of this process alone: what else the machine does must not fail the test

    figures = bws("reliability", "--trials", 1000, "--best-is-worst", "count")

    assert figures["spearman_mean"] == pytest.approx(0.847, abs=0.006)
    assert figures["pearson_mean"] == pytest.approx(0.876, abs=0.006)
    assert figures["tuples"] == 13_199
    assert process_time() - started < 20


@pytest.mark.exhaustive
def test_halves_of_tuples_agree_less_than_halves_of_judgements(bws) -> None:
    figures = bws("reliability", "--trials", 100, "--best-is-worst", "count", "--split", "tuples")

    assert figures["spearman_mean"] < 0.80


@pytest.mark.django_db
@pytest.mark.exhaustive
def test_ruddit_becomes_a_campaign_whose_study_and_bundle_agree_with_the_file(
    bws, real_data, tmp_path, capsys
) -> None:
    path = real_data / "ruddit" / "Ruddit_individual_annotations.csv"
    call_command(
        *("bws", "import", str(path), "--dataset", "ruddit", "--create", "--campaign", "Ruddit"),
        *("--without", "gold_comment", "--json"),
    )
    figures = json.loads(capsys.readouterr().out.splitlines()[-1])
    campaign = Campaign.objects.get(pk=figures["campaign"])

    study = study_make(campaign=campaign, at=campaign.opened_at).figures
    bundle = bundle_write(campaign=campaign, path=tmp_path / "bundle").path

    assert (figures["judgements"], figures["items"], figures["tuples"]) == (53_715, 6000, 9018)
    assert study["reliability"]["spearman"] == pytest.approx(0.8107, abs=0.003)
    # Places are chosen unevenly in this file.
    assert study["positions"]["worst"]["chi_square"] > 1000
    fitted = bws(
        "score", "--without", "gold_comment", "--method", "maxdiff", "--out", tmp_path / "of_file.csv"
    )
    # Rows that are left out number the items of the file otherwise, which moves the estimate of the prior a little.
    assert scores_in(bundle / "scores" / "maxdiff.csv") == pytest.approx(
        scores_in(tmp_path / "of_file.csv"), abs=1e-3
    )
    errors = scores_in(tmp_path / "of_file.csv", "standard_error").values()
    assert (fitted["standard_errors"], len(errors)) == ("laplace", 6000)
    assert 0 < min(errors) < max(errors) < 0.3


def scores_in(path, column: str = "score") -> dict[str, float]:
    with path.open(newline="") as file:
        return {row["item"]: float(row[column]) for row in csv.DictReader(file)}


@pytest.mark.exhaustive
def test_lost_spaces_lists_and_positions_change_neither_scores_nor_reliability(real_data, tmp_path) -> None:
    rng = random.Random(5)
    with (real_data / "ruddit" / "Ruddit_individual_annotations.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    rows = [row for row in rows if len(set(row[:4])) == 4]
    worn_rows = [
        [
            [spaced(item, lost=rng.random() < 0.2) for item in items],
            items.index(best) + 1,
            items.index(worst) + 1,
        ]
        for *items, best, worst in rows
    ]
    for name, lines in (("clean", [header, *rows]), ("worn", [["tuple", "best", "worst"], *worn_rows])):
        with (tmp_path / name).open("w", newline="") as file:
            csv.writer(file).writerows(lines)

    clean = read_judgements(tmp_path / "clean", best_is_worst=BestIsWorst.COUNT)
    worn = read_judgements(tmp_path / "worn", Columns(items=("tuple",)), best_is_worst=BestIsWorst.COUNT)

    assert tuple(map(unspaced, worn.items)) == clean.items
    assert (clean.merged_items, worn.merged_items > 5000) == (0, True)
    scores, expected = counting_scores(worn.judgements), counting_scores(clean.judgements)
    np.testing.assert_array_equal(scores.values, expected.values)
    again, reliability = (
        split_half_reliability(file.judgements, trials=20, seed=1).as_dict() for file in (worn, clean)
    )
    assert again == reliability


def spaced(item: str, *, lost: bool) -> str:
    """The id with a space behind each letter, all but the first of which may be lost."""
    return item[0] + " " + item[1:] if lost else " ".join(item)
