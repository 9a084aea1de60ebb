"""What is worked out of judgements, shown with its interval, its n and the judgements behind it."""

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import pytest
from django.core.cache import cache
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from annotation import tasks as annotation_tasks
from annotation.judging.settling import participation_reinstate, participation_stop
from annotation.models import Campaign, CampaignStudy, Judgement
from annotation.results import study
from annotation.results.dashboard import campaign_dashboard
from annotation.results.figures import campaign_mark, live_figures
from annotation.results.publishing import scores_publish
from annotation.results.study import study_latest, study_make
from annotation.tasks import study_ask
from curation.models import Dataset
from tests.conftest import rolled_back
from tests.factories import DatasetFactory, GoldFactory, client_of
from tests.integration.annotation.crowd import BEGAN, CARELESS, STEADY, crowd_judge
from tests.integration.annotation.pages import address, text_of

COLUMNS = [
    *(
        "Person",
        "State",
        "Judgements",
        "Right choices in attention checks",
        "Agreement",
        "Median time, s",
        "Screen positions",
        "Last",
    ),
]
PEOPLE = {"anna": STEADY, "ben": STEADY, "cleo": STEADY, "eve": CARELESS}


@pytest.fixture(scope="module")
def judged_once(django_db_setup, django_db_blocker) -> Iterator[Campaign]:
    with rolled_back(django_db_blocker):
        yield crowd_judge(DatasetFactory(), people=PEOPLE)


@pytest.fixture
def dataset(judged) -> Dataset:
    return judged.dataset


@pytest.fixture
def eve(judged):
    return judged.participations.get(user__username="eve")


@pytest.fixture
def large(monkeypatch) -> None:
    """Any campaign is too large for a page to study, and what workers are asked for is written down."""
    monkeypatch.setattr(study, "MOST_AT_ONCE", 10)
    monkeypatch.setattr("annotation.results.dashboard.LIVE_AT_ONCE", 10)


@pytest.fixture
def asked(monkeypatch) -> list[int]:
    """The works for which a worker was invited."""
    found: list[int] = []
    monkeypatch.setattr(annotation_tasks, "worker_invite", lambda _task, pk: found.append(pk))
    return found


def test_the_first_row_has_reliability_now_with_its_interval(site, judged) -> None:
    figures = text_of(site.get(address("campaign", judged)))

    now = re.search(r"reliability \(SHR\) now (0\.\d{3}) (0\.\d{3})–(0\.\d{3})", figures)
    assert float(now[2]) < float(now[1]) < float(now[3])
    assert "320 / 320" in figures


def test_a_finished_campaign_forecasts_nothing(site, judged) -> None:
    finished = text_of(site.get(address("campaign", judged)))
    Campaign.objects.filter(pk=judged.pk).update(state="closed")
    judged.tuples.update(required=F("required") + 1)  # closed before its end
    closed = text_of(site.get(address("campaign", judged)))
    Campaign.objects.filter(pk=judged.pk).update(state="open")
    going_on = text_of(site.get(address("campaign", judged)))

    for page in (finished, closed):
        assert "forecast" not in page
        assert "Hours of work left" not in page
        assert "exclusion rule" not in page
    assert re.search(r"at the end, forecast (0\.\d\d) (-?0\.\d\d)–(\d\.\d\d)", going_on)
    assert "Hours of work left" in going_on


@pytest.mark.parametrize("goes_on", [False, True])
def test_the_dashboard_is_one_action_four_figures_and_the_annotators(site, judged, goes_on) -> None:
    judged.tuples.update(required=9 if goes_on else 4)
    page = site.get(address("campaign", judged)).content.decode()
    main = page[page.index("<main") : page.index("</main>")]

    assert len(re.findall(r'class="value', main)) == 4
    assert main.count('class="button primary"') == 1
    assert (
        re.findall(r"<h2[^>]*>([^<]*)</h2>", main)
        == ["Annotators", "Judgements that are still missing"][: 1 + goes_on]
    )


def test_the_figures_of_a_finished_campaign_count_who_is_excluded(site, judged, eve) -> None:
    participation_stop(participation=eve, reason="Answers at random.", exclude=True)
    Campaign.objects.filter(pk=judged.pk).update(state="closed")

    figures = text_of(site.get(address("campaign_progress", judged)))

    assert "Annotators who count 3 1 person is excluded" in figures
    assert "Intra-annotator agreement – no repeated questions" in figures


def test_what_the_design_guarantees_has_a_tab_that_who_may_only_read_may_open(judged, staff) -> None:
    page = text_of(client_of(staff).get(address("campaign_design", judged)))

    assert "Judgements per tuple 4" in page
    assert "Spend more judgements" not in page


def test_the_design_of_a_draft_is_its_first_page(site, campaign) -> None:
    Campaign.objects.filter(pk=campaign.pk).update(state="draft")

    assert site.get(address("campaign_design", campaign)).url == address("campaign", campaign)


def test_a_column_that_is_empty_for_everybody_is_left_out(site, judged) -> None:
    def columns() -> list[str]:
        table = (
            site.get(address("campaign", judged)).content.decode().split("<thead>")[1].split("</thead>")[0]
        )
        return [
            " ".join(re.sub("<[^>]*>", "", head).split()) for head in re.findall("(?s)<th.*?</th>", table)
        ]

    judged.participations.update(gold_trials=4, gold_right=4)
    assert columns() == COLUMNS
    assert "4 of 4" in text_of(site.get(address("campaign", judged)))
    judged.participations.update(gold_trials=0, gold_right=0)
    Judgement.objects.update(active_ms=None)
    cache.clear()
    assert columns() == [
        name for name in COLUMNS if name not in {"Right choices in attention checks", "Median time, s"}
    ]


def test_the_goal_says_how_many_more_judgements_it_takes(site, judged) -> None:
    assert re.search(
        r"About [\d,]+ more judgements for 0\.90 \(between", text_of(site.get(address("campaign", judged)))
    )


@pytest.fixture
def reaching(site, judged):
    """What the campaign's page and its figures that are fetched again say where this is the reliability now."""

    def page(*, low: float, spearman: float = 0.93) -> str:
        figures = study_make(campaign=judged, at=BEGAN).figures
        for row in figures["people"]:
            row["signs"] = []  # eve answers at random, and nobody stops before somebody looked at her
        CampaignStudy.objects.update(figures=figures)
        mark = campaign_mark(judged)
        seconds, now, note = live_figures(judged, mark)
        now = {**now, "spearman": spearman, "low": low, "high": 0.96}
        cache.set(f"annotation-live-figures-{judged.pk}", (mark, (seconds, now, note)))
        whole = text_of(site.get(address("campaign", judged)))
        again = text_of(site.get(address("campaign_progress", judged)))
        assert again in whole
        return again

    return page


def test_a_reliability_whose_lower_bound_is_below_the_goal_is_no_reason_to_stop(reaching) -> None:
    page = reaching(low=0.889)

    # 320 judgements and r = .889 to .9: 320 .9 .111 / (.889 .1) = 359.6, so 40 are missing.
    assert "You can stop here" not in page
    assert "the lower end of its interval, 0.889, is not. Do not stop yet. About 40 more judgements" in page
    assert page.endswith(
        "This campaign asks for no more. A copy with more judgements per tuple can ask for them."
    )


def test_where_no_bound_can_be_given_nobody_is_told_to_stop(reaching) -> None:
    page = reaching(low=-0.1)

    assert "You can stop here" not in page
    assert "Do not stop yet." in page


def test_a_reliability_whose_lower_bound_has_reached_the_goal_lets_the_campaign_stop(reaching) -> None:
    page = reaching(low=0.8996)

    assert "0.930 0.900–0.960" in page
    assert "The goal of 0.90 is reached. You can stop here." in page


def test_the_goal_is_compared_with_the_published_interval_where_that_is_shown(judged, reaching) -> None:
    published = scores_publish(campaign=judged)
    published.parameters["reliability"] |= {
        "spearman_mean": 0.93,
        "spearman_low": 0.871,
        "spearman_high": 0.97,
    }
    published.save()

    page = reaching(low=0.92)

    assert "0.930 0.871–0.970" in page
    assert "the lower end of its interval, 0.871, is not. Do not stop yet." in page


@pytest.mark.parametrize("spearman", [0.93, 0.8])
def test_what_is_missing_for_the_goal_has_its_price_where_the_draft_had_a_pay(
    site, judged, reaching, spearman
) -> None:
    judged.tuples.update(required=5)
    without = reaching(low=0.75, spearman=spearman)
    judged.estimate = {"pay": 12.0}
    judged.save()

    page = reaching(low=0.75, spearman=spearman)

    assert "at a pay of" not in without
    asks = r"This campaign asks for 80 more. A copy with more judgements per tuple can ask for the rest\.$"
    assert re.search(rf"They cost about [1-9][\d,]* at a pay of 12 an hour\. {asks}", page)
    # 80 judgements are left.
    left = re.search(r"Hours of work left ([\d.]+) .* cost: about (\d+) at a pay of 12 an hour", page)
    assert float(left[2]) == pytest.approx(12 * float(left[1]), abs=1.2)


def test_a_persons_page_shows_ten_judgements_and_leads_to_the_others(site, judged, eve) -> None:
    first, last = (site.get(address("annotator", judged, eve.pk), {"page": page}) for page in (1, 8))

    assert [len(page.context["judged"]) for page in (first, last)] == [10, 10]
    assert "1 to 10 of 80" in text_of(first)


def test_the_bounds_of_attention_checks_are_of_the_answers_beside_them(site, judged, eve) -> None:
    judged.participations.filter(pk=eve.pk).update(gold_trials=8, gold_right=1)
    before = text_of(site.get(address("campaign", judged)))
    participation_stop(participation=eve, reason="Answers at random.", exclude=True)
    participation_reinstate(participation=eve)

    after = text_of(site.get(address("campaign", judged)))
    own = text_of(site.get(address("annotator", judged, eve.pk)))

    # Clopper and Pearson's one-sided bounds of 1 in 8.
    assert "1 of 8 0.01–0.47" in before
    assert "since reinstated" not in before
    assert "1 of 8 0.01–0.47 0 of 0 since reinstated" in after
    assert "1 of 8, two in each check 0 of 0 since reinstated" in own


def test_a_careless_person_stands_out_by_agreement(judged, eve) -> None:
    people = {
        row["person"]: row["agreement"] for row in study_make(campaign=judged, at=BEGAN).figures["people"]
    }

    assert people.pop(eve.pk) < 0.6 < min(people.values())


@pytest.mark.exhaustive
def test_an_exclusion_shows_its_before_and_after(site, judged, eve) -> None:
    participation_stop(participation=eve, reason="Answers at random.", exclude=True)

    page = text_of(site.get(address("analysis", judged)))

    row = page[page.index("Exclusions, before and after") :]
    assert "eve Answers at random. 320 240" in row


def test_the_what_if_slider_works_without_scripts(site, judged) -> None:
    page = site.get(address("analysis", judged), {"agreement": "0.65"}).content.decode()

    assert re.search(r'name="agreement"[^>]*value="0.65"', page)
    shown = re.search(r'class="sentence-of"[^>]*>([^<]*)', page)[1]
    assert shown.startswith("1 person is excluded; 240 judgements count (now 320)")


def test_nonsense_in_the_address_of_the_slider_is_the_usual_threshold(site, judged) -> None:
    page = site.get(address("analysis", judged), {"agreement": "<script>", "gold": "nan"})

    assert page.status_code == 200
    assert 'value="0.6"' in page.content.decode()


@pytest.mark.exhaustive
def test_gold_is_weighed_where_people_have_answered_enough_of_it(site, judged, eve) -> None:
    assert "Exclusion sensitivity" in text_of(site.get(address("analysis", judged)))
    assert 'name="gold"' not in site.get(address("analysis", judged)).content.decode()
    judged.participations.update(gold_trials=20, gold_right=19)
    judged.participations.filter(pk=eve.pk).update(gold_right=11)

    rows = study_make(campaign=judged, at=now()).figures["what_if"]["gold"]

    assert {row["threshold"]: row["left_out"] for row in rows}[0.6] == 1
    assert 'name="gold"' in site.get(address("analysis", judged)).content.decode()


def test_a_hard_tuple_links_to_its_judgements(site, judged) -> None:
    page = site.get(address("analysis", judged)).content.decode()

    link = re.search(r'href="([^"]*\?tuple=(\d+))"', page)
    answer = text_of(site.get(link[1]))
    assert f"Judgements of tuple {link[2]}" in answer
    assert answer.count("Most related") == 4


@pytest.mark.exhaustive
def test_charts_come_with_their_numbers(site, judged) -> None:
    page = site.get(address("analysis", judged)).content.decode()

    for name in ("campaign-reliability", "campaign-per-tuple", "campaign-positions", "campaign-scores"):
        assert f'id="chart-{name}"' in page
    assert "No screen position is chosen more often than chance explains" in page


def test_the_page_says_what_the_scores_from_all_judgements_are_worth(site, judged) -> None:
    page = text_of(site.get(address("analysis", judged)))

    assert "95 % interval from resampled annotators and tuples" in text_of(
        site.get(address("campaign", judged))
    )
    assert re.search(
        r"ICC of counting scores ?. Pearson with the scores of other annotators .*? 0\.\d{3} Marginal", page
    )
    assert re.search(
        r"Marginal reliability of MaxDiff scores ?. Squared .*? interval is 0\.\d{3} to 0\.\d{3}\. 0\.\d{3} Standard",
        page,
    )
    assert re.search(
        r"come from: pairs \d+ %, the other pairs of the tuple \d+ %, how annotators differ", page
    )
    assert "the scores from all contain the same judgements" in page


def test_the_slider_over_agreement_says_that_it_selects_on_its_own_outcome(site, judged) -> None:
    page = text_of(site.get(address("analysis", judged)))

    assert "is not a reason to exclude anybody" in page
    assert re.search(
        r"If the same number of random people is excluded, the reliability is 0\.\d{3} on "
        "average",
        page,
    )


def test_a_study_of_judgements_without_times_can_be_stored(judged, at) -> None:
    Judgement.objects.update(active_ms=None)

    made = study_make(campaign=judged, at=at).figures

    assert study_latest(judged, campaign_mark(judged)).figures == made


def test_the_page_of_scores_says_how_few_answers_the_order_of_two_places_rests_on(site, judged) -> None:
    def asked(higher: object, lower: object) -> str:
        return text_of(site.get(f"{address('scores', judged)}?higher={higher}&lower={lower}"))

    last = judged.dataset.pairs.count()
    first = asked(1, last)

    assert re.search(rf"Place 1 \(score [01]\.\d+\) is above place {last} \(\d\.\d+\)\.", first)
    assert re.search(r"Without \d+ of the \d+ judgements it would not hold, and no fewer are enough\.", first)
    assert re.search(r"(Without \d+ of|No set of) the \d annotators", first)
    assert "above place: Give a place further down." in asked(5, 2)
    assert f"above place: Ensure this value is less than or equal to {last}." in asked(1, last + 1)
    assert "Is place: Enter a whole number." in asked("one", 2)


def test_the_analysis_says_how_few_judgements_the_reliability_rests_on(site, judged, at) -> None:
    found = study_make(campaign=judged, at=at).figures["turning"]

    page = text_of(site.get(address("analysis", judged)))

    assert found["judgements"]["number"] > 0
    assert f"Judgements that the claim of at least {found['least']:g} rests on" in page
    assert (
        f"Without {found['judgements']['number']} of the {found['judgements']['of']} judgements it would not hold"
        in page
    )


def test_gold_tuples_are_no_part_of_a_study(judged, at) -> None:
    before = study_make(campaign=judged, at=at).figures
    GoldFactory(campaign=judged)

    assert study_make(campaign=judged, at=at).figures == before


def test_a_study_is_kept_until_the_campaign_changes(judged, eve, at) -> None:
    study_make(campaign=judged, at=at)
    fresh = study_latest(judged, campaign_mark(judged))

    participation_stop(participation=eve, reason="Answers at random.", exclude=True)

    assert not fresh.stale
    assert study_latest(judged, campaign_mark(judged)).stale


@pytest.mark.exhaustive
def test_a_large_campaign_is_studied_by_a_worker_and_shows_the_last_study_meanwhile(
    site, judged, eve, large, asked, at
) -> None:
    def ask(since: str = "") -> str:
        query = f"?since={quote(since)}"
        return text_of(site.post(address("study", judged) + query, headers={"HX-Request": "true"}))

    first = text_of(site.get(address("campaign", judged)))
    assert "Compute new figures" in first
    assert asked == []
    assert "A worker is computing the figures." in ask()
    assert "A worker is computing the figures." in ask()
    assert asked == [judged.works.get().pk]
    assert annotation_tasks.work(asked[0]) is True
    assert "Compute new figures" not in text_of(site.get(address("campaign", judged)))

    participation_stop(participation=eve, reason="Answers at random.", exclude=True)
    page = text_of(site.get(address("campaign", judged)))

    assert "The figures below are of 320 judgements" in page
    assert "240 / 320" in page
    since = CampaignStudy.objects.get().computed_at.isoformat()
    CampaignStudy.objects.update(computed_at=F("computed_at") - timedelta(minutes=2))
    since = CampaignStudy.objects.get().computed_at.isoformat()
    assert "ready" not in ask(since)
    assert annotation_tasks.work(asked[1]) is True
    assert "The new figures are ready. Show them" in ask(since)
    assert annotation_tasks.work(asked[1]) is False


@pytest.mark.exhaustive
def test_a_campaign_that_is_again_as_it_was_is_studied_again(site, judged, eve, large, asked) -> None:
    """Somebody who was excluded comes back: the study with all of them has been replaced since."""

    def studied() -> dict[str, Any]:
        CampaignStudy.objects.update(computed_at=F("computed_at") - timedelta(minutes=2))
        site.post(address("study", judged), headers={"HX-Request": "true"})
        assert annotation_tasks.work(asked[-1]) is True
        figures = study_latest(judged, campaign_mark(judged))
        assert not figures.stale
        return figures.figures

    first = studied()
    participation_stop(participation=eve, reason="Answers at random.", exclude=True)
    without = studied()
    participation_reinstate(participation=eve)

    assert studied() == first != without


def test_without_a_script_a_button_asks_for_a_study(site, judged, large, asked) -> None:
    answer = site.post(address("study", judged))

    assert asked == [judged.works.get(kind="study").pk]
    assert answer.url == address("campaign", judged)


@pytest.mark.exhaustive
@pytest.mark.parametrize("size", ["small", "large"])
def test_looking_at_a_campaign_writes_its_study_at_most(site, judged, asked, size, request) -> None:
    if size == "large":
        request.getfixturevalue("large")
    site.get(
        address("campaign", judged)
    )  # the first request writes the session, and of a small one the study
    pages = (
        "campaign",
        "analysis",
        "campaign_progress",
        "scores",
        "judgements",
        "gold",
        "guidelines",
        "inbox",
        "publish",
    )

    with CaptureQueriesContext(connection) as queries:
        for page in pages:
            assert site.get(address(page, judged)).status_code == 200

    written = [query["sql"] for query in queries if re.match("INSERT|UPDATE|DELETE", query["sql"])]
    assert written == []
    assert asked == []


def test_a_page_stores_its_study_for_all_processes_until_the_campaign_changes(
    site, judged, monkeypatch
) -> None:
    first = text_of(site.get(address("campaign", judged)))
    cache.clear()  # another process, without Redis
    monkeypatch.setattr(study, "study", None)

    assert text_of(site.get(address("campaign", judged))) == first


def test_a_page_that_stays_open_while_people_judge_does_not_keep_a_worker_busy(
    judged, curator, asked, at
) -> None:
    study_make(campaign=judged, at=at)
    for seconds in (5, 55, 65, 70):
        study_ask(judged, f"mark {seconds}", at=at + timedelta(seconds=seconds), by=curator)

    assert [work.state for work in judged.works.all()] == ["waiting"]  # of the third; the fourth waits for it
    assert len(asked) == 1


def test_a_study_that_failed_is_said_and_asked_for_again_by_a_person_alone(
    site, judged, large, asked, monkeypatch
) -> None:
    def poll() -> str:
        return text_of(site.post(f"{address('study', judged)}?waits=1", headers={"HX-Request": "true"}))

    def broken(*_args, **_more) -> None:
        raise RuntimeError

    site.post(address("study", judged))
    with monkeypatch.context() as patched:
        patched.setattr(study, "study", broken)
        assert annotation_tasks.work(asked[0]) is False

    assert "The figures were not computed: An unexpected error stopped it" in poll()
    assert "The figures were not computed:" in text_of(site.get(address("campaign", judged)))
    assert len(asked) == 1
    site.post(address("study", judged))
    assert annotation_tasks.work(asked[1]) is True
    assert "The figures were not computed" not in text_of(site.get(address("campaign", judged)))


def test_a_study_that_waits_says_that_no_worker_runs(site, judged, large, asked) -> None:
    waits = text_of(site.post(address("study", judged), headers={"HX-Request": "true"}))

    assert "No worker serves the queue “default”" in waits


def test_a_large_campaign_has_its_reliability_from_its_study(judged, large, at) -> None:
    assert campaign_dashboard(judged, at=at).reliability is None

    made = study_make(campaign=judged, at=at)

    assert (
        campaign_dashboard(judged, at=at).reliability["spearman"] == made.figures["reliability"]["spearman"]
    )


def test_an_untouched_campaign_studies_nothing(site, campaign) -> None:
    page = text_of(site.get(address("campaign", campaign)))

    assert "Nobody has started." in page
    assert "What if" not in page
    assert not CampaignStudy.objects.exists()


@pytest.mark.exhaustive
def test_a_page_of_a_studied_campaign_takes_as_many_queries_for_many_people_as_for_few(
    admin, django_assert_max_num_queries
) -> None:
    site = client_of(admin)
    for people in (2, 6):
        names = {f"person-{people}-{number}": STEADY for number in range(people)}
        campaign = crowd_judge(DatasetFactory(), people=names, each=2)
        site.get(address("campaign", campaign))
        with django_assert_max_num_queries(32):
            site.get(address("campaign", campaign))


def test_what_a_worker_studies_anyway_costs_a_page_no_count_of_the_pairs(
    judged, django_assert_num_queries
) -> None:
    with django_assert_num_queries(0):
        quick = study.study_is_quick(judged, study.MOST_AT_ONCE + 1)

    assert not quick


def test_the_dashboard_leaves_the_analysis_to_its_tab_and_links_to_it(site, judged) -> None:
    page = site.get(address("campaign", judged)).content.decode()

    assert "Exclusion sensitivity" not in page
    assert "chart-campaign" not in page
    assert f'href="{address("analysis", judged)}"' in page


def test_an_analysis_of_nothing_says_so_and_leads_back(site, campaign) -> None:
    page = site.get(address("analysis", campaign))

    assert "There is nothing to analyse yet." in text_of(page)
    assert f'class="button primary" href="{address("campaign", campaign)}"' in page.content.decode()


def test_members_who_only_judge_do_not_see_the_dashboard(judged, annotator) -> None:
    for page in ("campaign", "analysis"):
        assert client_of(annotator).get(address(page, judged)).status_code == 403
    assert client_of(annotator).post(address("study", judged)).status_code == 403


@pytest.mark.exhaustive
def test_the_head_and_the_page_give_the_same_reliability(judged, site) -> None:
    published = scores_publish(campaign=judged).parameters["reliability"]
    cache.clear()

    dashboard = site.get(address("campaign", judged)).content.decode()
    analysis = site.get(address("analysis", judged))

    head = re.search(r"</abbr> <b>([\d.]+)</b>", dashboard)
    assert head is not None
    assert head[1] == f"{published['spearman_mean']:.3f}"
    assert campaign_dashboard(judged, at=now()).reliability["spearman"] == published["spearman_mean"]
    assert analysis.context["study"]["reliability"]["spearman"] == published["spearman_mean"]


def test_an_older_publication_does_not_hide_what_the_judgements_say_now(judged, eve) -> None:
    published = scores_publish(campaign=judged).parameters["reliability"]
    participation_stop(participation=eve, exclude=True, reason="Answers at random.")

    found = campaign_dashboard(judged, at=now()).reliability

    assert found["judgements"] < published["judgements"]
    assert found["spearman"] != published["spearman_mean"]


def test_the_reliability_before_publishing_is_the_one_that_is_published(judged) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "annotation.results.figures.RESAMPLES", 200
        )  # as it is; other tests of these pages make fewer
        before = campaign_dashboard(judged, at=now()).reliability

    published = scores_publish(campaign=judged).parameters["reliability"]

    assert (before["trials"], before["judgements"]) == (published["trials"], published["judgements"])
    for shown, kept in {"spearman": "spearman_mean", "low": "spearman_low", "high": "spearman_high"}.items():
        assert before[shown] == pytest.approx(published[kept], abs=1e-9)
