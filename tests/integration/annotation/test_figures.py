"""Figures of a campaign: computed from what counts, once for each state of it, in a constant number of queries."""

from datetime import timedelta

import pytest
from django.db.models import F

from annotation.campaigns.selectors import flags_open
from annotation.campaigns.services import campaign_create, campaign_open
from annotation.judging.assignment import judgement_undo, participation_join, tuple_claim
from annotation.judging.settling import participation_reinstate, participation_stop
from annotation.models import Judgement, TupleItem
from annotation.results.dashboard import campaign_dashboard
from annotation.results.figures import campaign_mark, score_page
from annotation.results.publishing import scores_publish
from annotation.results.record import campaign_judgements
from curation.foundation.errors import UserError
from curation.models import PairScore, ScoreSet
from tests.factories import CampaignFactory, FlagFactory, GoldFactory, PairFactory, UserFactory


@pytest.fixture
def judged(dataset, at, answer):
    """Twelve pairs judged twice by people who prefer the pair that came first, and agree."""
    pairs = PairFactory.create_batch(12, dataset=dataset)
    campaign = campaign_open(campaign=campaign_create(dataset=dataset, name="Relatedness"), at=at)
    for name in ("anna", "ben"):
        judge_all(participation_join(campaign=campaign, user=UserFactory(username=name)), at, answer)
    campaign.pairs = pairs
    return campaign


def judge_all(person, at, answer, *, reverse=False) -> None:
    while not isinstance(lease := tuple_claim(participation=person, at=at), str):
        slots = list(TupleItem.objects.filter(tuple=lease.tuple_id).order_by("pair"))
        ends = (slots[-1], slots[0]) if reverse else (slots[0], slots[-1])
        answer.submit(person, lease.tuple_id, best=ends[0].slot, worst=ends[1].slot, active_ms=12_000)


def test_the_dashboard_counts_what_counts_and_what_is_wanted(judged, at) -> None:
    dashboard = campaign_dashboard(judged, at=at)

    assert (dashboard.collected, dashboard.required) == (48, 48)
    assert (dashboard.extra, dashboard.excluded) == (0, 0)


def test_people_who_agree_are_reliable(judged, at) -> None:
    reliability = campaign_dashboard(judged, at=at).reliability

    assert reliability["spearman"] == pytest.approx(1.0)
    assert (reliability["trials"], reliability["judgements"]) == (1000, 48)


def test_without_two_judgements_a_tuple_a_sentence_stands_in_place_of_the_reliability(
    campaign, anna, at, answer
) -> None:
    answer(anna)

    dashboard = campaign_dashboard(campaign, at=at)

    assert dashboard.reliability is None
    assert "at least two judgements" in dashboard.reliability_note


def test_an_untouched_campaign_has_a_dashboard(campaign, at) -> None:
    dashboard = campaign_dashboard(campaign, at=at)

    assert (dashboard.collected, dashboard.required, dashboard.annotators) == (0, 6, [])
    assert (dashboard.pace, dashboard.hours_left, dashboard.reliability) == (None, None, None)


def test_annotators_stand_with_what_they_did(judged, at) -> None:
    participation_stop(participation=judged.participations.first(), reason="Answers at random.", exclude=True)

    rows = {row.participation.user.username: row for row in campaign_dashboard(judged, at=at).annotators}

    assert (rows["anna"].judgements, rows["anna"].collected) == (24, 0)
    assert (rows["ben"].judgements, rows["ben"].collected) == (24, 24)
    assert rows["ben"].median_seconds == 12.0


def test_pace_and_work_left_follow_from_what_was_measured(campaign, anna, at, answer) -> None:
    for _ in range(2):
        lease = tuple_claim(participation=anna, at=at)
        answer.submit(anna, lease.tuple_id, active_ms=30_000)

    dashboard = campaign_dashboard(campaign, at=at + timedelta(hours=2))

    assert dashboard.pace == 1.0
    assert dashboard.hours_left == pytest.approx(4 * 30 / 3600)


def test_an_answer_that_the_page_timed_with_nothing_is_not_timed(campaign, anna, answer, at) -> None:
    lease = tuple_claim(participation=anna, at=at)
    answer.submit(anna, lease.tuple_id, active_ms=0)

    assert campaign_judgements(campaign).median_seconds() == {}


@pytest.mark.parametrize("active_ms", [None, 0, 300])
def test_what_nobody_can_have_read_in_says_nothing_of_the_hours_left(
    campaign, anna, at, answer, active_ms
) -> None:
    lease = tuple_claim(participation=anna, at=at)
    answer.submit(anna, lease.tuple_id, active_ms=active_ms)

    dashboard = campaign_dashboard(campaign, at=at)

    assert (dashboard.median_seconds, dashboard.hours_left) == (None, None)


def test_work_of_another_day_makes_no_pace(campaign, anna, at, answer) -> None:
    answer(anna)

    assert campaign_dashboard(campaign, at=at + timedelta(days=2)).pace is None


def test_open_flags_are_counted(campaign, at) -> None:
    tuple_ = campaign.tuples.first()
    FlagFactory(tuple=tuple_)
    FlagFactory(tuple=tuple_, resolved_at=at)

    assert flags_open(campaign) == 1


def test_the_dashboard_takes_as_many_queries_for_many_people_as_for_few(
    dataset, at, answer, django_assert_num_queries
) -> None:
    for people in (3, 5):
        campaign = CampaignFactory(dataset=dataset, judgements_per_tuple=5, tuples=3, gold=people)
        for _ in range(people):
            person = participation_join(campaign=campaign, user=UserFactory())
            for _ in range(3):  # all tuples: with fewer it is by chance whether there is a reliability
                answer(person)
        with django_assert_num_queries(10):
            campaign_dashboard(campaign, at=at)
        with django_assert_num_queries(7):  # what is heavy is kept
            campaign_dashboard(campaign, at=at)


@pytest.mark.parametrize("change", ["judge", "undo", "exclude", "reinstate"])
def test_whatever_changes_what_counts_changes_the_mark(campaign, anna, ben, at, answer, change) -> None:
    answer(anna)
    answer(ben)
    if change == "reinstate":
        participation_stop(participation=ben, reason="Answers at random.", exclude=True)
    before = campaign_mark(campaign)

    {
        "judge": lambda: answer(anna),
        "undo": lambda: judgement_undo(participation=anna, at=at),
        "exclude": lambda: participation_stop(participation=ben, reason="Answers at random.", exclude=True),
        "reinstate": lambda: participation_reinstate(participation=ben),
    }[change]()

    assert campaign_mark(campaign) != before


def test_what_is_kept_is_not_shown_after_a_change(judged, at) -> None:
    before = score_page(judged).rows[0].appearances

    participation_stop(participation=judged.participations.first(), reason="Answers at random.", exclude=True)

    assert (before, score_page(judged).rows[0].appearances) == (16, 8)


def test_a_score_is_best_less_worst_by_appearances(judged) -> None:
    rows = {row.pair.pk: row for row in score_page(judged).rows}
    chosen = judged.pairs[5]

    best = Judgement.objects.filter(tuple__items__pair=chosen, tuple__items__slot=F("best_slot")).count()
    worst = Judgement.objects.filter(tuple__items__pair=chosen, tuple__items__slot=F("worst_slot")).count()

    row = rows[chosen.pk]
    assert (row.best, row.worst, row.appearances) == (best, worst, 16)
    assert row.score == pytest.approx(((best - worst) / 16 + 1) / 2)


def test_the_score_table_begins_with_the_best_or_the_worst(judged) -> None:
    best, worst = score_page(judged), score_page(judged, lowest_first=True)

    assert best.rows[0].pair == judged.pairs[0]
    assert worst.rows[0].pair == judged.pairs[-1]
    assert (best.page.number, best.page.paginator.num_pages, best.page.paginator.count) == (1, 1, 12)


def test_each_pair_knows_the_ranks_of_its_tie_group(judged) -> None:
    best, worst = score_page(judged), score_page(judged, lowest_first=True)

    assert [row.rank for row in best.rows] == list(range(1, 13))
    assert all(row.first <= row.rank <= row.last for row in best.rows)
    top, bottom = best.rows[0], best.rows[-1]
    assert top.last < bottom.first
    assert best.distinction.distinguishable is not None
    assert best.distinction.distinguishable_fdr is not None
    assert 0 < best.distinction.distinguishable_fdr <= best.distinction.distinguishable < 1
    # A line stands where no places cross it, whichever way the table runs.
    lines = {place for place in range(2, 13) if all(row.last < place for row in best.rows[: place - 1])}
    assert {row.rank for row in best.rows[1:] if row.apart} == lines
    assert {row.rank + 1 for row in worst.rows[1:] if row.apart} == lines


def test_a_page_beyond_the_last_is_the_last(judged) -> None:
    assert score_page(judged, page=9).page.number == 1


def test_judgements_of_gold_tuples_make_no_scores(judged, at, answer) -> None:
    gold = GoldFactory(campaign=judged)
    Judgement.objects.create(
        tuple=gold,
        participation=judged.participations.first(),
        best_slot=0,
        worst_slot=1,
        order_shown=[0, 1, 2, 3],
        client_id="5b9c2d3e-0000-4000-8000-000000000001",
        submitted_at=at,
        status="gold",
    )

    record = campaign_judgements(judged)
    asked = record.as_asked(record.feeding("counting"))

    assert len(asked.judgements) == 48
    assert not set(asked.pairs) & set(gold.items.values_list("pair", flat=True))


def test_published_scores_are_a_score_set_of_the_dataset(judged) -> None:
    published = scores_publish(campaign=judged)

    scores = PairScore.objects.filter(score_set=published).order_by("pair")
    assert (published.name, published.kind) == ("human: Relatedness, counting", "human")
    assert (published.low, published.high, published.campaign_ref) == (0.0, 1.0, judged.pk)
    assert [score.pair_id for score in scores] == [pair.pk for pair in judged.pairs]
    assert (scores[0].value, scores[11].value) == (1.0, 0.0)
    assert {score.judgements for score in scores} == {16}
    assert all(0 < score.standard_error < 0.5 for score in scores)


def test_a_published_set_says_how_reliable_it_is(judged) -> None:
    parameters = scores_publish(campaign=judged).parameters

    assert (parameters["judgements"], parameters["annotators"]) == (48, 2)
    assert parameters["reliability"]["spearman_mean"] == pytest.approx(1.0)
    assert parameters["reliability"]["trials"] == 1000


def test_publishing_again_makes_another_set_and_leaves_the_first(judged, at) -> None:
    first = scores_publish(campaign=judged)
    kept = list(first.scores.order_by("pair").values_list("value", flat=True))
    participation_stop(participation=judged.participations.first(), reason="Answers at random.", exclude=True)

    second = scores_publish(campaign=judged)

    assert second.name == "human: Relatedness, counting 2"
    assert list(first.scores.order_by("pair").values_list("value", flat=True)) == kept


def test_a_long_name_is_cut_and_stays_its_own(judged) -> None:
    judged.name = "x" * 200
    names = [scores_publish(campaign=judged).name for _ in range(2)]

    assert [len(name) for name in names] == [100, 100]
    assert names[0].endswith("x, counting")
    assert names[1].endswith("x, counting 2")


def test_nothing_is_published_before_the_first_judgement(campaign) -> None:
    with pytest.raises(UserError, match="no judgements that count yet"):
        scores_publish(campaign=campaign)

    assert not ScoreSet.objects.exists()
