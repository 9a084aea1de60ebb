"""What programs read of labelled pairs and round trips, and how they rate candidates."""

import pytest

from curation.models import Pair
from mlworkers.models import CandidateRating
from mlworkers.runs.ratings import candidates_draw
from tests.factories import DatasetFactory, program_of
from tests.integration.mlworkers.test_paraphrase_pages import labelled as pairs_labelled
from tests.integration.mlworkers.test_round_trip_pages import HOT, MILD, labelled, translated

pytestmark = pytest.mark.django_db
RATED = {"fluency": 5, "meaning": 4, "wording": 2}


def post(user, address: str, body: object = None):
    return program_of(user).post(f"/api/v1/{address}", body or {}, content_type="application/json")


def get(user, address: str):
    return program_of(user).get(f"/api/v1/{address}")


def test_the_cells_of_a_dataset_are_those_of_its_page(curator, dataset) -> None:
    labelled(translated(dataset))

    found = get(curator, f"paraphrases/{dataset.slug}/cells/").json()

    assert (found["pairs"], found["inside"]) == (4, 3)
    filled = {(cell["similarity"], cell["bleu"]): cell["pairs"] for cell in found["cells"] if cell["pairs"]}
    assert filled == {("SIM95", "BLEU0_5"): 1, ("SIM95", "BLEU10"): 1, ("SIM70", "BLEU40"): 1}
    assert len(found["cells"]) == 48


def test_a_dataset_without_labels_has_no_cells(curator, dataset) -> None:
    assert get(curator, f"paraphrases/{dataset.slug}/cells/").status_code == 404


def test_labelled_datasets_are_read_side_by_side(curator, stranger, dataset) -> None:
    similarity, _bleu = pairs_labelled(dataset, 7)
    other, _bleu = pairs_labelled(DatasetFactory(name="Secret"), 8)
    Pair.objects.filter(pk=dataset.pairs.first().pk).update(subset="round trip")

    found = get(curator, f"paraphrases/?labels={similarity.pk}&by=subset").json()

    assert found["labelled"] == [{"labels": similarity.pk, "dataset": dataset.slug, "run": 7}]
    assert [(part["part"], part["pairs"]) for part in found["parts"]] == [("none", 4), ("round trip", 1)]
    assert found["parts"][1]["cells"] == [{"similarity": "SIM95", "bleu": "BLEU0_5", "pairs": 1}]
    assert found["parts"][1]["inside"]["value"] == 1
    assert get(stranger, "paraphrases/").json() == {"labelled": [], "parts": []}
    for numbers in (other.pk, "x"):
        assert get(curator, f"paraphrases/?labels={numbers}").status_code == 404
    refused = get(curator, "paraphrases/?by=password")
    assert (refused.status_code, list(refused.json())) == (400, ["by"])


def test_each_setting_of_round_trips_has_its_yield(curator, dataset) -> None:
    run = translated(dataset)
    labelled(run)

    settings = {
        one["setting"]: one for one in get(curator, f"round-trips/{run.pk}/cells/").json()["settings"]
    }

    assert (settings[HOT]["written"], settings[HOT]["dropped"], settings[HOT]["inside"]) == (3, 1, 1)
    assert settings[MILD]["share"]["value"] == pytest.approx(2 / 3)
    assert sum(cell["pairs"] for cell in settings[MILD]["cells"]) == 2


def test_a_program_draws_rates_undoes_and_reads_the_means(curator, annotator, dataset) -> None:
    run = translated(dataset)
    drawn = post(curator, f"round-trips/{run.pk}/ratings/draw/", {"most": 2})
    first = get(annotator, f"round-trips/{run.pk}/ratings/next/").json()

    second = post(
        annotator, f"round-trips/{run.pk}/ratings/", {"candidate": first["candidate"]["id"], **RATED}
    )
    means = get(curator, f"round-trips/{run.pk}/ratings/").json()
    undone = program_of(annotator).delete(f"/api/v1/round-trips/{run.pk}/ratings/last/")

    assert (drawn.status_code, drawn.json(), first["rated"], first["all"]) == (201, {"drawn": 4}, 0, 4)
    assert set(first["candidate"]) == {"id", "source", "text"}
    assert second.status_code == 201
    assert second.json()["candidate"]["id"] != first["candidate"]["id"]
    assert (means["ratings"], means["raters"], means["drawn"]) == (1, 1, 4)
    [rated] = [one for one in means["settings"] if one["ratings"]]
    assert {one["scale"]: one["value"] for one in rated["scales"]} == RATED
    assert undone.json()["candidate"] == first["candidate"]
    assert not CandidateRating.objects.exists()
    assert program_of(annotator).delete(f"/api/v1/round-trips/{run.pk}/ratings/last/").status_code == 404


@pytest.mark.parametrize("wrong", [{"wording": 6}, {"wording": "much"}, {"taste": 3}, {"candidate": "x"}])
def test_a_wrong_rating_is_refused_by_its_field(annotator, dataset, wrong) -> None:
    run = translated(dataset)
    candidates_draw(run=run, most=1)
    candidate = run.rated_candidates.first().pk

    refused = post(annotator, f"round-trips/{run.pk}/ratings/", {"candidate": candidate, **RATED, **wrong})

    assert refused.status_code == 400
    assert next(iter(wrong)) in refused.json()
    assert not CandidateRating.objects.exists()


def test_a_candidate_of_another_run_cannot_be_rated(annotator, dataset) -> None:
    run, other = translated(dataset), translated(dataset)
    candidates_draw(run=other, most=1)

    sent = {"candidate": other.rated_candidates.first().pk, **RATED}

    assert post(annotator, f"round-trips/{run.pk}/ratings/", sent).status_code == 404


def test_strangers_get_nothing_and_annotators_no_results(stranger, annotator, dataset) -> None:
    run = translated(dataset)
    results = [
        f"round-trips/{run.pk}/cells/",
        f"round-trips/{run.pk}/ratings/",
        f"paraphrases/{dataset.slug}/cells/",
    ]

    assert [get(stranger, one).status_code for one in results] == [404, 404, 404]
    assert [get(annotator, one).status_code for one in results] == [403, 403, 403]
    assert post(stranger, f"round-trips/{run.pk}/ratings/", RATED).status_code == 404
    assert post(annotator, f"round-trips/{run.pk}/ratings/draw/").status_code == 403
