"""What an owner reads of a slider arm: both methods in the same time, the ratings as a file, and the bundle."""

import csv
import io
import json
from datetime import timedelta
from uuid import uuid4

import numpy as np
import pytest

from annotation.campaigns.slider import raters_add, slider_start
from annotation.judging.rating import rating_submit
from annotation.models import PairRating, SliderArm
from annotation.results.bundle import bundle_write
from annotation.results.slider import comparison_of, verdict
from tests.factories import MembershipFactory, client_of
from tests.integration.annotation.crowd import BEGAN
from tests.integration.annotation.pages import address, text_of


def rate_all(arm: SliderArm, *, people: int, noise: float, at, seconds: int = 5) -> None:
    """So many people rate every pair, one after another; pairs are best in the order in which they were made."""
    users = [
        MembershipFactory(dataset=arm.campaign.dataset, user__username=f"rater{n}").user
        for n in range(people)
    ]
    rng = np.random.default_rng(3)
    items = list(arm.pairs.order_by("pair"))
    for person in raters_add(arm=arm, chosen=[user.pk for user in users]):
        when = at
        for place, item in enumerate(items):
            when += timedelta(seconds=seconds)
            latent = 100 - 100 * place / len(items)
            value = int(np.clip(latent + noise * rng.normal(), 0, 100))
            rating_submit(
                person=person,
                item=item,
                value=value,
                client_id=uuid4(),
                at=when,
                shown_at=when - timedelta(seconds=seconds),
                active_ms=4000,
            )


@pytest.fixture
def arm(judged) -> SliderArm:
    for person in judged.participations.all():  # 20 seconds for each judgement
        for number, judgement in enumerate(person.judgements.order_by("pk"), 1):
            judgement.submitted_at = BEGAN + timedelta(seconds=20 * number)
            judgement.save()
    words = {"question": "How close?", "low_label": "not", "high_label": "very"}
    return slider_start(campaign=judged, ratings_per_pair=4, **words)


@pytest.mark.exhaustive
def test_hours_are_those_from_answer_to_answer_and_the_precise_method_is_found(arm, at) -> None:
    rate_all(arm, people=4, noise=2, at=at)
    compared = comparison_of(arm)

    assert compared.ratings == 160
    assert compared.rating_hours == pytest.approx(160 * 5 / 3600)
    assert compared.judgement_hours == pytest.approx(compared.judgements * 20 / 3600)
    assert compared.found.last.slider.value > 0.95
    assert verdict(compared.found).startswith("In the same time, ratings") == (
        compared.found.last.difference.high < 0
    )


@pytest.mark.exhaustive
def test_ratings_that_say_nothing_are_less_reliable(arm, at) -> None:
    rate_all(arm, people=4, noise=400, at=at)
    compared = comparison_of(arm)

    assert compared.found.last.difference.low > 0
    assert (
        verdict(compared.found)
        == "In the same time, Best-Worst judgements give more reliable scores than ratings."
    )


@pytest.mark.exhaustive
def test_a_new_rating_makes_a_new_comparison(arm, at) -> None:
    rate_all(arm, people=3, noise=20, at=at)
    before = comparison_of(arm)
    PairRating.objects.last().delete()

    assert (before.ratings, comparison_of(arm).ratings) == (120, 119)


@pytest.mark.exhaustive
def test_the_page_says_what_is_missing_then_what_was_found(arm, curator, at) -> None:
    MembershipFactory(dataset=arm.campaign.dataset, user=curator, role="curator")
    site = client_of(curator)
    empty = text_of(site.get(address("slider_comparison", arm.campaign)))
    rate_all(arm, people=4, noise=20, at=at)
    page = text_of(site.get(address("slider_comparison", arm.campaign)))
    standardised = text_of(site.get(address("slider_comparison", arm.campaign), {"standardised": 1}))
    owner_page = text_of(site.get(address("slider", arm.campaign)))

    assert "There are no ratings or no judgements yet." in empty
    assert "Best-Worst less rating scale:" in page
    assert verdict(comparison_of(arm).found) in page
    assert "Ratings are standardised" in standardised
    assert "Every pair has its ratings. Compare the methods" in owner_page


@pytest.mark.exhaustive
def test_without_times_there_is_no_comparison(arm, at) -> None:
    rate_all(arm, people=2, noise=20, at=at)
    PairRating.objects.update(shown_at=None, submitted_at=at)

    compared = comparison_of(arm)
    assert compared.rating_hours == 0
    assert compared.found is None
    assert "not known how long" in compared.why


@pytest.mark.exhaustive
def test_ratings_are_a_file_with_codes_and_stand_in_the_bundle_apart_from_scores(
    arm, curator, at, tmp_path
) -> None:
    before = bundle_write(campaign=arm.campaign, path=tmp_path / "before")
    rate_all(arm, people=2, noise=20, at=at)
    MembershipFactory(dataset=arm.campaign.dataset, user=curator, role="curator")
    file = client_of(curator).get(address("slider_ratings", arm.campaign))
    rows = list(csv.DictReader(io.StringIO(file.content.decode())))
    after = bundle_write(campaign=arm.campaign, path=tmp_path / "after")

    assert len(rows) == 80
    assert {row["annotator"] for row in rows} == {"A005", "A006"}
    assert rows[0]["seconds"] == "4.0"
    assert "rater" not in file.content.decode()
    assert len((tmp_path / "after" / "ratings.csv").read_text().splitlines()) == 81
    assert json.loads((tmp_path / "after" / "ratings.json").read_text())["high_label"] == "very"
    assert "ratings.csv" in (tmp_path / "after" / "README.md").read_text()
    kept = [name for name in before.files if name.startswith("scores/") or "judgements" in name]
    assert kept
    assert {name: before.files[name] for name in kept} == {name: after.files[name] for name in kept}
    assert before.files["annotators.csv"] == after.files["annotators.csv"]
