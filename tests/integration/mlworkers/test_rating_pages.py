"""People rate candidates of a round-trip translation without knowing their settings."""

import csv
import io

import pytest
from django.db import IntegrityError, transaction
from django.urls import reverse

from mlworkers.models import CandidateRating
from mlworkers.runs.ratings import candidates_draw
from tests.factories import RunFactory, client_of
from tests.integration.mlworkers.test_round_trip_pages import HOT, MILD, translated
from tests.markup import squeezed

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(dataset):
    """Four candidates to rate: two of each setting."""
    run = translated(dataset)
    candidates_draw(run=run, most=2)
    return run


def get(client, user, run, name: str = "rate"):
    client.force_login(user)
    return client.get(reverse(f"mlworkers:{name}", args=[run.pk]))


def post(client, user, run, name: str = "rate", **values: object):
    client.force_login(user)
    return client.post(reverse(f"mlworkers:{name}", args=[run.pk]), values, follow=True)


def rated(client, user, run, *, fluency: int = 5, meaning: int = 4, wording: int = 2):
    """Rate what is on the screen; its candidate."""
    candidate = get(client, user, run).context["candidate"]
    post(client, user, run, candidate=candidate.pk, fluency=fluency, meaning=meaning, wording=wording)
    return candidate


def test_a_stranger_gets_no_page_and_cannot_rate(client, stranger, run) -> None:
    for name in ("rate", "ratings", "ratings_csv"):
        assert get(client, stranger, run, name).status_code == 404
    for name in ("rate", "rate_undo", "ratings_draw"):
        assert post(client, stranger, run, name).status_code == 404


def test_an_annotator_rates_and_sees_no_results(client, annotator, run) -> None:
    assert get(client, annotator, run).status_code == 200
    for name in ("ratings", "ratings_csv"):
        assert get(client, annotator, run, name).status_code == 403
    assert post(client, annotator, run, "ratings_draw", most=2).status_code == 403


def test_the_page_shows_source_and_candidate_and_not_the_setting(client, annotator, run) -> None:
    answer = get(client, annotator, run)

    text = answer.content.decode()
    candidate = answer.context["candidate"]
    assert candidate.source in text
    assert candidate.text in text
    assert "round trip" not in text
    assert "k20" not in text
    assert "k30" not in text


def test_a_rating_is_stored_for_its_person_and_the_next_candidate_follows(
    client, annotator, curator, run
) -> None:
    first = rated(client, annotator, run)

    rating = CandidateRating.objects.get()
    assert (rating.candidate, rating.person) == (first, annotator)
    assert (rating.fluency, rating.meaning, rating.wording) == (5, 4, 2)
    assert get(client, annotator, run).context["candidate"] != first
    assert get(client, curator, run).context["progress"] == (0, 4)


def test_every_candidate_comes_once_until_all_are_rated(client, annotator, run) -> None:
    seen = {rated(client, annotator, run).pk for _place in range(4)}

    assert len(seen) == 4
    assert "You rated all 4 candidates." in squeezed(get(client, annotator, run).content.decode())


def test_the_last_rating_is_taken_back_and_its_candidate_shown_again(client, annotator, curator, run) -> None:
    rated(client, curator, run)
    rated(client, annotator, run)
    last = rated(client, annotator, run)

    answer = post(client, annotator, run, "rate_undo")

    assert answer.context["candidate"] == last
    assert CandidateRating.objects.filter(person=annotator).count() == 1
    assert CandidateRating.objects.filter(person=curator).count() == 1


def test_undo_without_a_rating_does_nothing(client, annotator, run) -> None:
    assert post(client, annotator, run, "rate_undo").status_code == 200


@pytest.mark.parametrize("wrong", [{"fluency": 6}, {"meaning": 0}, {"wording": "x"}, {"fluency": ""}])
def test_what_is_no_rating_is_refused_and_nothing_stored(client, annotator, run, wrong) -> None:
    candidate = run.rated_candidates.first()

    answer = post(
        client,
        annotator,
        run,
        **{"candidate": candidate.pk, "fluency": 1, "meaning": 1, "wording": 1, **wrong},
    )

    assert "Choose a value on each of the three scales." in answer.content.decode()
    assert not CandidateRating.objects.exists()


def test_a_candidate_of_another_run_cannot_be_rated_here(client, annotator, dataset, run) -> None:
    other = translated(dataset)
    candidates_draw(run=other, most=1)
    candidate = other.rated_candidates.first()

    answer = post(client, annotator, run, candidate=candidate.pk, fluency=1, meaning=1, wording=1)

    assert answer.status_code == 404


def test_a_rating_that_is_sent_twice_is_stored_once(client, annotator, run) -> None:
    candidate = run.rated_candidates.first()
    for value in (1, 2):
        post(client, annotator, run, candidate=candidate.pk, fluency=value, meaning=3, wording=3)

    assert CandidateRating.objects.get().fluency == 2


def test_the_database_takes_no_rating_beyond_the_scale(annotator, run) -> None:
    candidate = run.rated_candidates.first()

    with pytest.raises(IntegrityError), transaction.atomic():
        CandidateRating.objects.create(candidate=candidate, person=annotator, fluency=6, meaning=1, wording=1)


def test_the_results_are_means_of_each_setting(client, curator, annotator, run) -> None:
    for candidate in run.rated_candidates.all():
        value = 5 if candidate.setting == HOT else 2
        for person in (curator, annotator):
            post(client, person, run, candidate=candidate.pk, fluency=value, meaning=value, wording=value)

    answer = get(client, curator, run, "ratings")

    means = {one.setting: one.means[0].value for one in answer.context["shown"].settings}
    assert means == {HOT: 5, MILD: 2}
    assert "Ratings: 8. People: 2. Candidates drawn: 4." in squeezed(answer.content.decode())
    rows = list(
        csv.DictReader(io.StringIO(get(client, curator, run, "ratings_csv").content.decode("utf-8-sig")))
    )
    assert len(rows) == 2 * 3
    assert (rows[0]["setting"], rows[0]["scale"], rows[0]["mean"]) == (HOT, "fluency", "5.0")


def test_candidates_are_drawn_once_by_a_curator(client, curator, dataset) -> None:
    run = translated(dataset)

    first = post(client, curator, run, "ratings_draw", most=2)
    again = post(client, curator, run, "ratings_draw", most=2)

    assert "4 candidates can be rated." in first.content.decode()
    assert "The candidates to rate were drawn already." in again.content.decode()
    assert run.rated_candidates.count() == 4


@pytest.mark.parametrize("most", ["0", "201", "x", ""])
def test_a_number_of_candidates_that_makes_no_sense_is_refused(client, curator, dataset, most) -> None:
    run = translated(dataset)

    assert post(client, curator, run, "ratings_draw", most=most).status_code == 200
    assert not run.rated_candidates.exists()


def test_nothing_is_drawn_from_a_run_that_has_not_ended(client, curator, dataset) -> None:
    run = RunFactory(kind="translate_round_trip", dataset=dataset, state="running")

    answer = post(client, curator, run, "ratings_draw", most=2)

    assert "Candidates can be drawn when the run has succeeded." in answer.content.decode()


def test_nobody_rates_in_an_archived_dataset(client, annotator, dataset, run) -> None:
    dataset.archived = True
    dataset.save()

    assert post(client, annotator, run, candidate=1, fluency=1, meaning=1, wording=1).status_code == 403


def test_who_may_rate_finds_the_candidates_among_their_work_until_all_are_rated(
    client, annotator, stranger, run
) -> None:
    def mine(person) -> str:
        client.force_login(person)
        return squeezed(client.get(reverse("annotation:mine")).content.decode())

    address = reverse("mlworkers:rate", args=[run.pk])
    before, elsewhere = mine(annotator), mine(stranger)
    for _place in range(4):
        rated(client, annotator, run)

    assert address in before
    assert "0 of 4 rated" in before
    assert address not in elsewhere
    assert address not in mine(annotator)


def test_nothing_is_offered_to_rate_while_no_candidates_are_drawn(annotator, dataset) -> None:
    run = translated(dataset)

    assert (
        reverse("mlworkers:rate", args=[run.pk])
        not in client_of(annotator).get(reverse("annotation:mine")).content.decode()
    )
