"""Signs of carelessness on the pages: a tag with its reason, a curator's decision, and no advice to stop meanwhile."""

from collections.abc import Iterator

import pytest

from annotation.bws.studies.simulation import SimulatedAnnotator
from annotation.judging.looking import signs_accept
from annotation.judging.settling import participation_stop
from annotation.models import Campaign, Judgement
from annotation.results.study import study_make
from curation.foundation.errors import UserError
from tests.conftest import rolled_back
from tests.factories import DatasetFactory, MembershipFactory, client_of
from tests.integration.annotation.crowd import BEGAN, crowd_judge
from tests.integration.annotation.pages import address, text_of

SURE = SimulatedAnnotator(noise=0.05)


@pytest.fixture(scope="module")
def judged_once(django_db_setup, django_db_blocker) -> Iterator[Campaign]:
    """Everybody agrees, so the goal of reliability is reached; eve answers like a script, each time after .3 s."""
    with rolled_back(django_db_blocker):
        people = {"anna": SURE, "ben": SURE, "cleo": SURE, "eve": SURE}
        campaign = crowd_judge(DatasetFactory(), people=people, each=4)
        Judgement.objects.filter(participation__user__username="eve").update(active_ms=300)
        study_make(campaign=campaign, at=BEGAN)
        yield campaign


@pytest.fixture
def eve(judged):
    return judged.participations.get(user__username="eve")


@pytest.fixture
def site(judged):
    return client_of(MembershipFactory(dataset=judged.dataset, role="curator").user)


def test_a_script_needs_a_look_and_says_why(site, judged) -> None:
    page = text_of(site.get(address("campaign", judged)))

    assert (
        "too fast Of the latest 50 answers, 100 % took less time than reading at 3 times the usual speed"
        in page
    )
    assert "the median is 0.3 s" in page
    assert "even times" in page
    assert page.count("needs a look") == 2  # of the one person, and in the sentence about the campaign


def test_nobody_is_told_to_stop_while_somebody_needs_a_look(site, judged, eve) -> None:
    before = text_of(site.get(address("campaign", judged)))

    site.post(address("annotator_signs", judged, eve.pk), {"kind": ["speed", "rhythm"]})

    after = text_of(site.get(address("campaign", judged)))
    assert "You can stop here." not in before
    assert "Before you stop, look at the person who is marked on Progress." in before
    assert "The goal of 0.90 is reached. You can stop here." in after


def test_who_publishes_is_told_first_that_somebody_needs_a_look(site, judged, eve) -> None:
    asked = "1 person needs a look before you rely on the judgements. Look at them"
    before = text_of(site.get(address("publish", judged)))

    site.post(address("annotator_signs", judged, eve.pk), {"kind": ["speed", "rhythm"]})

    assert asked in before
    assert asked not in text_of(site.get(address("publish", judged)))


def test_a_sign_stops_nobody(site, judged, eve) -> None:
    site.get(address("campaign", judged))

    eve.refresh_from_db()
    assert (eve.state, eve.excluded) == ("active", False)


def test_what_was_looked_at_stays_on_the_persons_page_and_can_be_taken_back(site, judged, eve) -> None:
    site.get(address("campaign", judged))
    signs_accept(participation=eve, kinds=["speed"])

    page = text_of(site.get(address("annotator", judged, eve.pk)))
    assert page.index("even times") < page.index("too fast")
    assert "Looked at, harmless." in page

    site.post(address("annotator_signs", judged, eve.pk), {"again": "1"})
    eve.refresh_from_db()
    assert eve.signs_accepted == []


def test_one_sign_that_was_looked_at_leaves_the_others(site, judged, eve) -> None:
    site.post(address("annotator_signs", judged, eve.pk), {"kind": "rhythm"})

    page = text_of(site.get(address("campaign", judged)))
    assert "too fast" in page
    assert "even times" not in page


def test_an_excluded_person_needs_no_look(site, judged, eve) -> None:
    participation_stop(participation=eve, reason="Too fast.", exclude=True)

    assert "needs a look" not in text_of(site.get(address("campaign", judged)))


@pytest.mark.parametrize("kinds", [[], ["carelessness"], ["speed", "x"]])
def test_signs_that_do_not_exist_are_refused(eve, kinds) -> None:
    with pytest.raises(UserError, match="did not say which signs"):
        signs_accept(participation=eve, kinds=kinds)


def test_an_annotator_may_not_decide_about_signs(judged, eve) -> None:
    stranger = client_of(MembershipFactory(dataset=judged.dataset, role="annotator").user)

    assert stranger.post(address("annotator_signs", judged, eve.pk), {"kind": "speed"}).status_code == 403
    eve.refresh_from_db()
    assert eve.signs_accepted == []
