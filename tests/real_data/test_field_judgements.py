"""Files of judgements and of ratings with the habits of the field's, read as their README says."""

import json

import pytest
from django.core.management import call_command

from curation.models import PairScore

pytestmark = [pytest.mark.real_data, pytest.mark.django_db]


@pytest.fixture
def told(capsys):
    def calling(*arguments: object) -> dict:
        call_command(*map(str, arguments), "--json")
        return json.loads(capsys.readouterr().out.splitlines()[-1])

    return calling


@pytest.mark.parametrize(("name", "left_out"), [("bws_twice.csv", 20), ("bws_long_indiv.csv", 0)])
@pytest.mark.parametrize(
    ("verb", "options"),
    [
        ("score", ("--out", "scores.csv")),
        ("reliability", ("--trials", 2)),
        ("import", ("--dataset", "elsewhere", "--create", "--campaign", "Elsewhere")),
    ],
)
def test_every_verb_counts_the_same_judgements(
    real_data, told, tmp_path, monkeypatch, verb, options, name, left_out
) -> None:
    monkeypatch.chdir(tmp_path)

    figures = told("bws", verb, real_data / "field" / name, *options)

    assert (figures["judgements"], figures["left_out"], figures["rejected"]) == (144, left_out, 0)
    assert any("20 rows are second judgements" in each for each in figures["warnings"]) == bool(left_out)


def test_ratings_become_pairs_with_the_mean_of_those_that_were_approved(real_data, told) -> None:
    figures = told("import_pairs", real_data / "field" / "mturk_pairs.csv", "--dataset", "rated", "--create")

    scores = dict(PairScore.objects.values_list("pair__a__text", "value"))
    assert (figures["added"], figures["ratings"]["ratings"], figures["ratings"]["rejected_assignments"]) == (
        10,
        20,
        10,
    )
    assert (scores["A dog runs 0."], scores["A dog runs 5."]) == (0.5, 2.5)
    assert set(PairScore.objects.values_list("judgements", flat=True)) == {2}
