"""A campaign's pages for curators: the draft, the moves, the dashboard, scores, people, the inbox."""

import csv
import io
import re
import runpy
import zipfile
from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.campaigns.cost import gate_of_campaign
from annotation.campaigns.services import campaign_create, guideline_save
from annotation.crowds.presets import PRESETS
from annotation.crowds.services import crowd_change
from annotation.models import Campaign, GoldAnswer, Participation
from curation.models import ScoreSet
from tests.factories import (
    CampaignFactory,
    DatasetFactory,
    FlagFactory,
    GoldFactory,
    MembershipFactory,
    PairFactory,
    SentenceFactory,
    TupleFactory,
    UserFactory,
    client_of,
)
from tests.integration.annotation.pages import address, text_of
from tests.markup import squeezed

pytestmark = pytest.mark.django_db


@pytest.fixture
def pairs(dataset):
    return PairFactory.create_batch(12, dataset=dataset, source="news")


@pytest.fixture
def draft(dataset, pairs):
    return campaign_create(dataset=dataset, name="Pilot")


@pytest.fixture
def judged(campaign, anna, ben, answer):
    """The campaign with every tuple judged by two people."""
    for person in (anna, ben):
        for _tuple in range(3):
            answer(person)
    return campaign


SETTINGS = {
    "name": "Pilot",
    "question": "Which pairs?",
    "best_label": "Most related",
    "worst_label": "Least related",
    "tuple_size": 4,
    "factor": 2,
    "judgements_per_tuple": 2,
    "gold_every": 15,
    "gold_minimum": 10,
    "gold_threshold": 0.7,
    "repeat_every": 0,
    "seed": 1234,
}

# The form


def test_an_even_mix_is_offered_where_there_are_generated_pairs(site, dataset, pairs) -> None:
    form = f"/campaigns/new/?dataset={dataset.slug}"
    label = "Mix imported and generated pairs evenly"

    before = text_of(site.get(form))
    PairFactory(dataset=dataset, origin="generated")
    after = text_of(site.get(form))

    assert label not in before
    assert label in after


FIRST_HOUR = runpy.run_path(str(Path(__file__).parents[3] / "docs" / "experiments" / "first_hour.py"))


def test_the_form_shows_few_fields_at_first_with_all_that_the_estimate_needs(site, dataset, pairs) -> None:
    PairFactory(dataset=dataset, origin="generated")
    shown = FIRST_HOUR["Page"]()

    shown.feed(site.get(f"/campaigns/new/?dataset={dataset.slug}").content.decode())

    assert len(shown.fields) <= FIRST_HOUR["MOST_FIELDS"]
    assert shown.links <= FIRST_HOUR["MOST_LINKS"]
    assert shown.fields >= {
        "number",
        "tuple_size",
        "factor",
        "judgements_per_tuple",
        "seconds",
        "people",
        "pay",
    }


@pytest.mark.parametrize(
    ("wrong", "opened"), [({"name": ""}, False), ({"gold_every": "0"}, True), ({"seed": "-1"}, True)]
)
def test_folded_fields_are_shown_where_an_error_may_be_theirs(site, dataset, pairs, wrong, opened) -> None:
    page = site.post(f"/campaigns/new/?dataset={dataset.slug}", SETTINGS | wrong)

    assert ('<details class="more" open>' in page.content.decode()) == opened


# The list


def test_an_empty_list_says_what_a_campaign_is_made_from(site, dataset) -> None:
    page = site.get("/campaigns/")

    assert "No campaigns yet. Create one from the pairs of a dataset" in text_of(page)


def test_the_list_holds_campaigns_of_ones_own_datasets_only(site, campaign) -> None:
    CampaignFactory(name="Elsewhere")

    page = text_of(site.get("/campaigns/"))

    assert campaign.name in page
    assert "Elsewhere" not in page


def test_the_list_costs_the_same_queries_however_many_campaigns(site, campaign) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            site.get("/campaigns/")
        return len(captured)

    few = queries()
    CampaignFactory.create_batch(5, dataset=campaign.dataset)
    assert queries() == few


# A new one


def test_a_campaign_is_made_from_its_name_alone(site, dataset, pairs) -> None:
    answer = site.post(f"/campaigns/new/?dataset={dataset.slug}", SETTINGS, follow=True)

    campaign = Campaign.objects.get()
    assert campaign.state == "draft"
    assert campaign.certificate["tuples"] == 24
    assert "Every pair is in exactly 8 tuples." in text_of(answer)
    assert "The same pairs, settings and seed (1234) give the same design." in text_of(answer)


def test_too_few_pairs_are_said_on_the_form_and_what_was_typed_stays(site, dataset) -> None:
    PairFactory.create_batch(3, dataset=dataset)

    page = site.post(f"/campaigns/new/?dataset={dataset.slug}", SETTINGS)

    assert "at least 4" in text_of(page)
    assert 'value="Pilot"' in page.content.decode()
    assert not Campaign.objects.exists()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("factor", "0"),
        ("factor", "nan"),
        ("tuple_size", "1"),
        ("gold_threshold", "1.5"),
        ("name", ""),
        ("seed", "-1"),
    ],
)
def test_a_setting_that_cannot_work_is_refused(site, dataset, pairs, field, value) -> None:
    page = site.post(f"/campaigns/new/?dataset={dataset.slug}", SETTINGS | {field: value})

    assert page.status_code == 200
    assert not Campaign.objects.exists()


def test_without_a_dataset_one_is_chosen_first(site, dataset) -> None:
    elsewhere = DatasetFactory()

    page = site.get("/campaigns/new/").content.decode()

    assert f"?dataset={dataset.slug}" in page
    assert elsewhere.slug not in page


DESIGN = {"tuple_size": 4, "factor": 2}


def test_the_estimate_follows_the_settings(site, dataset, pairs) -> None:
    asked = DESIGN | {"judgements_per_tuple": 3, "gold_every": 10, "seconds": 30, "pay": 20}

    estimate = text_of(site.get(f"/campaigns/estimate/{dataset.slug}/", asked))

    # 12 pairs, 24 tuples, 72 judgements and 8 gold answers of half a minute: 40 minutes.
    assert (
        estimate
        == "Pairs 12 Tuples 24 Judgements 72 Answers to attention checks in addition, about 8 Hours of work "
        "0.7 Cost 13.33"
    )


@pytest.mark.parametrize(
    ("number", "factor", "said"),
    [
        (
            3,
            2,
            "A campaign needs at least 4 active pairs, and 3 would take part. Ask for more, or add pairs.",
        ),
        (5, 2, "5 pairs make only 5 different tuples of 4, and 2 tuples per pair are 10."),
        (12, 0.01, "12 pairs with 0.01 tuples per pair make no tuple."),
    ],
)
def test_the_estimate_refuses_what_the_design_refuses(site, dataset, number, factor, said) -> None:
    PairFactory.create_batch(number, dataset=dataset)
    asked = SETTINGS | {"factor": factor}

    estimate = text_of(site.get(f"/campaigns/estimate/{dataset.slug}/", asked))
    refused = text_of(site.post(f"/campaigns/new/?dataset={dataset.slug}", asked))

    assert estimate.startswith(said)
    assert "Hours of work" not in estimate
    assert refused.count(said) == 2  # above the form, and in its estimate
    assert not Campaign.objects.exists()


def test_repeats_cost_hours_too(site, dataset, pairs) -> None:
    asked = DESIGN | {"judgements_per_tuple": 3, "gold_every": 10, "repeat_every": 10, "seconds": 36}

    estimate = text_of(site.get(f"/campaigns/estimate/{dataset.slug}/", asked))

    # 72 judgements are eight tenths of what is handed out: 90 tuples of 36 seconds.
    assert estimate.endswith(
        "Answers to attention checks in addition, about 9 Repeated questions in addition, about 9 Hours of "
        "work 0.9"
    )


GATE = DESIGN | {"gold_every": 15, "gold_minimum": 10, "gold_threshold": 0.7}


def test_sizes_of_tuples_are_compared_on_request(site, dataset, pairs) -> None:
    asked = DESIGN | {"judgements_per_tuple": 2, "gold_every": 10, "seconds": 30}

    compared = text_of(site.get(f"/campaigns/estimate/{dataset.slug}/sizes/", asked))

    # 12 pairs, 24 tuples twice: 48 judgements of 22.5 to 45 seconds, or 64 to 32 in 24 minutes.
    assert re.search(
        r"In as many judgements 3 pairs, 0\.3 hours 0\.\d\d · 0\.\d\d .* 6 pairs, 0\.6 hours", compared
    )
    assert re.search(r"In as much of people's time 64 × 3 pairs .* 32 × 6 pairs", compared)


@pytest.mark.parametrize(
    ("asked", "said"),
    [({"factor": ""}, "Fill in the design first."), ({"factor": 900}, "too many judgements per pair")],
)
def test_sizes_that_cannot_be_compared_say_why(site, dataset, pairs, asked, said) -> None:
    design = DESIGN | {"judgements_per_tuple": 2, "gold_every": 10, "seconds": 30}

    assert said in text_of(site.get(f"/campaigns/estimate/{dataset.slug}/sizes/", design | asked))


@pytest.fixture
def sixty(dataset):
    return PairFactory.create_batch(60, dataset=dataset)


def test_the_estimate_says_when_the_gold_gate_cannot_act_and_what_can(site, dataset, sixty) -> None:
    asked = GATE | {"judgements_per_tuple": 2, "people": 5}

    estimate = text_of(site.get(f"/campaigns/estimate/{dataset.slug}/", asked))

    # 120 tuples twice, of which each of five people gets a fifth, and a fourteenth of gold on top. In 51 tuples are at
    # least three gold ones, and three stop nobody.
    assert estimate.endswith(
        "The exclusion rule cannot act in this campaign. The first possible stop comes after 4 answers to "
        "attention checks, that is after 60 tuples. If 5 people share the work evenly, each gets about 51 "
        "tuples. It can act with one attention check in every 6 questions."
    )


def test_the_estimate_follows_the_people_who_share_the_work(site, dataset, sixty) -> None:
    asked = GATE | {"judgements_per_tuple": 3, "gold_every": 6}

    few, many = (
        text_of(site.get(f"/campaigns/estimate/{dataset.slug}/", asked | {"people": people}))
        for people in (18, 36)
    )

    # The gate stops with 0 or 1 of 8 trials right. If somebody guesses, the chance is (3/4)^8 + 2 (3/4)^7 = .367.
    assert few.endswith(
        "The exclusion rule can act once the campaign has 4 attention checks. The first possible stop comes "
        "after 4 answers to attention checks, that is after 24 tuples. If 18 people share the work evenly, each gets "
        "about 24 tuples. The exclusion rule stops people who fail too many attention checks. Of 100 people who answer "
        "4 checks, it stops about 37 if all guess, fewer than one if all choose right 70 % of the time, and fewer "
        "than one if all choose right 85 % of the time."
    )
    assert "The exclusion rule cannot act in this campaign." in many


def test_the_gate_counts_the_people_that_a_crowds_link_may_bring(site, dataset, sixty) -> None:
    campaign = campaign_create(dataset=dataset, name="Crowd", gold_every=6, judgements_per_tuple=3)
    crowd_change(
        campaign=campaign, consent="You may stop.", places=16, screens=20, **PRESETS["prolific"].settings
    )
    closed, before = gate_of_campaign(campaign), text_of(site.get(address("campaign", campaign)))
    crowd_change(campaign=campaign, consent="You may stop.", is_open=True)

    opened, shown = gate_of_campaign(campaign), text_of(site.get(address("campaign", campaign)))

    assert (closed.crowd, opened.crowd, opened.people) == (0, 16, dataset.memberships.count() + 16)
    assert opened.each == 20
    assert "16 of them come by the link of the crowd." in shown
    assert "link of the crowd" not in before


def test_a_new_campaigns_form_proposes_a_gold_gate_that_can_act(site, dataset, pairs) -> None:
    page = site.get(f"/campaigns/new/?dataset={dataset.slug}")

    assert re.search(r'name="gold_every" value="6"', page.content.decode())
    assert (
        "The first possible stop comes after 4 answers to attention checks, that is after 24 tuples."
        in text_of(page)
    )
    assert "cannot act" not in text_of(page)


def test_a_draft_ticks_the_gold_gate_only_where_people_can_reach_it(site, dataset, pairs) -> None:
    usual = campaign_create(dataset=dataset, name="Usual")
    reached = campaign_create(dataset=dataset, name="Reached", gold_every=6)
    for campaign in (usual, reached):
        GoldFactory.create_batch(10, campaign=campaign, pairs=pairs[:4])

    ticked, marked = (
        re.search(r'<li class="(\w+)">(?:(?!</?li).)*attention checks\.', page.content.decode(), re.DOTALL)[1]
        for page in (site.get(address("campaign", reached)), site.get(address("campaign", usual)))
    )

    assert (ticked, marked) == ("kept", "short")


def _gate_of(page, mark="!") -> str:
    """What a draft says of its gold gate."""
    begins = r"(?:\d+ attention checks\. )?(?=The exclusion rule|There are (?:no|too few) attention checks)"
    found = re.search(rf"{re.escape(mark)} {begins}(.*?) Attention checks", text_of(page))
    return found[1] if found else ""


@pytest.mark.parametrize(
    ("golds", "mark", "said"),
    [
        (0, "!", ("There are no attention checks, so the exclusion rule cannot stop anybody. Missing "
            "attention checks: 10. A person answers each of them once, and the rule uses up to 10 answers here. ")),
        (3, "!", ("There are too few attention checks, so the exclusion rule cannot stop anybody. Missing "
            "attention checks: 7. A person")),
        (4, "!", ("The exclusion rule can act. Missing attention checks: 6. .* With 10 it would stop more .* "
            "Of 100 people who answer 4 checks, it stops about 37 if all guess")),
        (10, "✓", ("The exclusion rule can act. The first possible .* Of 100 people who answer 10 checks, "
            "it stops nearly all if all guess, about 5 if")),
    ],
)  # fmt: skip
def test_a_draft_promises_what_its_gold_tuples_can_keep(site, dataset, sixty, golds, mark, said) -> None:
    campaign = campaign_create(dataset=dataset, name="Few", gold_every=6)
    GoldFactory.create_batch(golds, campaign=campaign, pairs=sixty[:4])

    gate = _gate_of(site.get(address("campaign", campaign)), mark)

    assert re.match(said, gate), gate
    assert ("can act" in gate) != ("cannot stop" in gate)


def test_the_draft_its_form_its_gold_page_and_the_open_campaign_say_the_same_of_the_gate(
    site, dataset, sixty
) -> None:
    campaign = campaign_create(dataset=dataset, name="Few", gold_every=6)
    GoldFactory.create_batch(4, campaign=campaign, pairs=sixty[:4])

    gate = _gate_of(site.get(address("campaign", campaign)))

    assert gate in text_of(site.get(address("gold", campaign)))
    assert gate in text_of(site.get(address("campaign_edit", campaign)))
    changing = GATE | {"judgements_per_tuple": 2, "gold_every": 6, "campaign": campaign.pk}
    assert gate in text_of(site.get(f"/campaigns/estimate/{dataset.slug}/", changing))
    site.post(address("campaign_move", campaign), {"move": "open"})
    assert gate in text_of(site.get(address("gold", campaign)))
    running = text_of(site.get(address("campaign", campaign)))
    assert "The exclusion rule cannot do its work yet: Attention checks" in running


def test_an_estimate_of_unfinished_settings_waits(site, dataset) -> None:
    estimate = site.get(f"/campaigns/estimate/{dataset.slug}/", {"factor": ""})

    assert text_of(estimate) == "Fill in the design to see what it costs."


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"seconds": 0}, "Seconds per judgement: Ensure this value is greater than or equal to 1."),
        ({"pay": -1}, "Pay per hour: Ensure this value is greater than or equal to 0."),
        ({"pay": "1e308"}, "Pay per hour: Ensure this value is less than or equal to 1000000000."),
        ({"people": "some"}, "People who annotate: Enter a whole number."),
        ({"number": 0}, "Number of pairs: Ensure this value is greater than or equal to 1."),
        (
            {"judgements_per_tuple": 9999},
            "Judgements per tuple: Ensure this value is less than or equal to 1000.",
        ),
        (
            {"tuple_size": 1, "factor": ""},
            "Pairs per question: Ensure this value is greater than or equal to 2.",
        ),
    ],
)
def test_the_estimate_says_which_value_is_wrong_and_gives_no_figures(
    site, dataset, pairs, wrong, said
) -> None:
    asked = DESIGN | {"judgements_per_tuple": 3, "gold_every": 10, "seconds": 30} | wrong

    for of_sizes in ("", "sizes/"):
        assert text_of(site.get(f"/campaigns/estimate/{dataset.slug}/{of_sizes}", asked)) == said


def test_the_estimate_says_where_fewer_pairs_fit_than_are_asked_for(site, dataset, pairs) -> None:
    asked = DESIGN | {"judgements_per_tuple": 3, "gold_every": 10}

    few, many = (
        text_of(site.get(f"/campaigns/estimate/{dataset.slug}/", asked | {"number": number}))
        for number in (8, 10**9)
    )

    assert few.startswith("Pairs 8 Tuples 16")
    assert many.startswith("Pairs, all that fit 12 Tuples 24")


# The draft


def test_a_draft_without_guidelines_asks_before_it_opens(site, draft) -> None:
    without = text_of(site.get(address("campaign", draft)))
    guideline_save(campaign=draft, text="Read both sentences.")
    with_some = text_of(site.get(address("campaign", draft)))

    assert "Write the guidelines Open without guidelines" in without
    assert "Open without guidelines" not in with_some
    assert "the design cannot change. Open it now" in with_some


def test_guidelines_that_were_emptied_are_missing(site, draft) -> None:
    for text in ("Read both sentences.", ""):
        guideline_save(campaign=draft, text=text)

    page = text_of(site.get(address("gold", draft)))

    assert "Open without guidelines" in page


def test_gold_tuples_are_suggested_with_scores_and_without(site, dataset, draft) -> None:
    without = site.get(address("gold", draft))
    PairFactory.create_batch(3, dataset=dataset)
    page = site.get(address("gold_suggest", draft))

    assert address("gold_suggest", draft) in without.content.decode()
    assert "By their words, no 4 pairs are clear" in text_of(page)
    assert page.context["form"]["score_set"].value() == ""


def test_a_draft_says_what_is_missing_before_it_opens(site, draft) -> None:
    page = text_of(site.get(address("campaign", draft)))

    assert "There are no attention checks, so the exclusion rule cannot stop anybody." in page
    assert "0 attention checks" not in page
    assert "There are no guidelines yet" in page


def test_a_draft_invites_as_many_people_as_are_missing(dataset, pairs, owner) -> None:
    draft = campaign_create(dataset=dataset, name="Pilot", judgements_per_tuple=4)

    page = client_of(owner).get(address("campaign", draft))

    assert "1 person may annotate; every tuple needs 4." in text_of(page)
    assert '<input type="hidden" name="people" value="3">' in page.content.decode()
    assert "For 3 annotators, valid for 14 days." in text_of(page)


def test_a_changed_draft_keeps_its_changes(site, draft) -> None:
    site.post(address("campaign_edit", draft), SETTINGS | {"judgements_per_tuple": 4, "number": 8})

    draft.refresh_from_db()
    assert (draft.judgements_per_tuple, draft.pair_filter["number"]) == (4, 8)


def test_the_pay_of_the_estimate_stays_with_the_draft_after_another_login(
    site, curator, dataset, pairs
) -> None:
    made = site.post(
        f"/campaigns/new/?dataset={dataset.slug}",
        SETTINGS | {"seconds": 30, "pay": 12, "people": ""},
        follow=True,
    )
    form = client_of(curator).get(address("campaign_edit", Campaign.objects.get()))

    # 48 judgements and 3 answers to attention checks of half a minute, at 12 an hour.
    for page in (made, form):
        assert "Cost 5.10" in text_of(page)
    assert "At 30 seconds per judgement." in text_of(made)
    assert re.search(r'name="pay" value="12.0"', form.content.decode())


def test_what_the_estimate_was_told_stays_where_the_form_has_an_error(site, dataset, pairs) -> None:
    page = site.post(f"/campaigns/new/?dataset={dataset.slug}", SETTINGS | {"factor": "0", "pay": "9.5"})

    assert re.search(r'name="pay" value="9.5"', page.content.decode())


def test_a_form_with_an_error_leaves_the_head_of_the_page_as_it_is_saved(site, draft) -> None:
    page = site.post(address("campaign_edit", draft), SETTINGS | {"name": "Renamed", "factor": "0"})

    assert "Pilot" in text_of(page)


def test_an_open_campaign_is_not_changed(site, campaign) -> None:
    site.post(address("campaign_edit", campaign), SETTINGS | {"name": "Renamed"})

    campaign.refresh_from_db()
    assert campaign.name != "Renamed"


def test_the_preview_shows_real_pairs_and_stores_nothing(site, draft) -> None:
    page = site.get(address("campaign_preview", draft))

    assert text_of(page).count("A dog runs past house number") == 8
    assert not draft.tuples.exists()
    assert not Participation.objects.exists()


@pytest.mark.parametrize(
    ("moves", "state"),
    [
        (["open"], "open"),
        (["open", "pause"], "paused"),
        (["open", "pause", "resume"], "open"),
        (["open", "close"], "closed"),
    ],
)
def test_a_campaign_moves_by_its_buttons(site, draft, moves, state) -> None:
    for move in moves:
        site.post(address("campaign_move", draft), {"move": move})

    draft.refresh_from_db()
    assert draft.state == state


def test_a_move_that_cannot_be_is_said(site, campaign) -> None:
    page = site.post(address("campaign_move", campaign), {"move": "open"}, follow=True)

    assert "so this is not possible" in text_of(page)


# Guidelines


def test_guidelines_keep_their_earlier_versions(site, campaign) -> None:
    guideline_save(campaign=campaign, text="First words.")
    site.post(address("guidelines", campaign), {"text": "Second words."})

    page = text_of(site.get(address("guidelines", campaign), {"version": 1}))

    assert campaign.guidelines.count() == 2
    assert "First words." in page


# The dashboard


def test_a_campaign_nobody_judged_says_where_to_judge(site, campaign) -> None:
    page = text_of(site.get(address("campaign", campaign)))

    assert f"Members of the dataset annotate at http://testserver{address('judge', campaign)}" in page
    assert "Needs at least two judgements per tuple." in page
    assert "There is nothing to analyse yet." in text_of(site.get(address("analysis", campaign)))


def test_the_dashboard_counts_what_counts(site, judged) -> None:
    page = text_of(site.get(address("campaign", judged)))

    assert "Collected, of required 6 / 6" in page
    assert "n = 12 pairs" in text_of(site.get(address("analysis", judged)))


def test_simulated_people_are_marked(site, judged, anna) -> None:
    anna.user.simulated = True
    anna.user.save()

    dashboard = text_of(site.get(address("campaign", judged)))
    judgements = text_of(site.get(address("judgements", judged)))

    assert "anna simulated" in dashboard
    assert "anna simulated" in judgements


def test_only_an_open_campaigns_figures_fetch_themselves_again(site, campaign) -> None:
    opened = site.get(address("campaign_progress", campaign)).content.decode()
    Campaign.objects.update(state="closed")
    closed = site.get(address("campaign_progress", campaign)).content.decode()

    assert "hx-trigger" in opened
    assert "hx-trigger" not in closed


@pytest.mark.exhaustive
def test_the_dashboard_costs_no_more_queries_however_many_people(site, judged, answer) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            site.get(address("campaign", judged))
        return len(captured)

    TupleFactory.create_batch(6, campaign=judged)
    queries()
    few = queries()
    for number in range(5):
        TupleFactory.create_batch(2, campaign=judged)
        answer(Participation.objects.create(campaign=judged, user=UserFactory(username=f"more{number}")))
    queries()
    assert queries() <= few


def test_scores_stand_in_order_both_ways(site, judged) -> None:
    def scores(order: str) -> list[float]:
        page = site.get(address("scores", judged), {"order": order}).content.decode()
        return [float(score) for score in re.findall(r"(\d\.\d{3}) <span class=\"interval\"", page)]

    assert scores("-score") == sorted(scores("score"), reverse=True)
    assert len(scores("score")) == 12


def test_publishing_makes_a_score_set_and_links_to_it(site, judged) -> None:
    page = site.post(address("publish", judged), follow=True)

    published = ScoreSet.objects.get(campaign_ref=judged.pk)
    assert f"Published as the score set “{published.name}”." in text_of(page)
    assert f"?score_set={published.pk}" in page.content.decode()


def test_the_page_of_a_published_score_set_states_its_reliability(site, judged) -> None:
    site.post(address("publish", judged))
    published = ScoreSet.objects.get(campaign_ref=judged.pk)

    page = site.get(f"/datasets/{judged.dataset.slug}/", {"score_set": published.pk})

    shown = f"Split-half reliability {published.parameters['reliability']['spearman_mean']:.3f}"
    assert shown in text_of(page)
    assert "of the pairs of scores are distinguishable at 95 %" in text_of(page)


@pytest.mark.parametrize(
    ("low", "says"),
    [
        (0.0, "Answers drawn at random could give it: its 95 % interval is 0 to 0.250."),
        (0.1, "if judgements are independent. Its 95 % interval is 0.100 to 0.250."),
        (None, "Marginal reliability of MaxDiff scores 0.120, if judgements are independent. "),
    ],
)
def test_the_page_says_where_chance_could_give_the_marginal_reliability(site, judged, low, says) -> None:
    site.post(address("publish", judged))
    published = ScoreSet.objects.get(campaign_ref=judged.pk)
    ends = {} if low is None else {"marginal_reliability_low": low, "marginal_reliability_high": 0.25}
    facts = {name: value for name, value in published.parameters.items() if "marginal" not in name}
    ScoreSet.objects.filter(pk=published.pk).update(parameters=facts | {"marginal_reliability": 0.12} | ends)

    page = text_of(site.get(f"/datasets/{judged.dataset.slug}/", {"score_set": published.pk}))

    assert says in page
    assert ("drawn at random" in page) == (low == 0)


def test_publishing_nothing_is_refused_in_words(site, campaign) -> None:
    page = site.post(address("publish", campaign), follow=True)

    assert "no judgements that count yet" in text_of(page)


def test_the_downloaded_judgements_are_the_files_of_the_field(site, judged) -> None:
    answer = site.get(address("judgements_file", judged))

    rows = list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))
    assert len(rows) == 6
    assert list(rows[0]) == ["Item1", "Item2", "Item3", "Item4", "BestItem", "WorstItem", "Annotator"]
    assert all(row["BestItem"] in {row[f"Item{place}"] for place in range(1, 5)} for row in rows)


def test_for_a_spreadsheet_no_cell_of_the_judgements_is_a_formula(site, judged) -> None:
    pair = judged.tuples.first().items.first().pair
    pair.external_id = '=HYPERLINK("http://elsewhere.example")'
    pair.save()

    def cells(address: str) -> set[str]:
        lines = b"".join(site.get(address).streaming_content).decode()
        return {cell for row in csv.reader(io.StringIO(lines)) for cell in row}

    file = address("judgements_file", judged)
    assert f"'{pair.external_id}" in cells(f"{file}?spreadsheet=1")
    assert not any(cell.startswith("=") for cell in cells(f"{file}?spreadsheet=1"))
    assert pair.external_id in cells(file)
    assert f"{file}?spreadsheet=1" in site.get(address("scores", judged)).content.decode()


# People


def test_stopping_needs_a_reason(site, judged, anna) -> None:
    page = site.post(address("annotator", judged, anna.pk), {"reason": " "})

    anna.refresh_from_db()
    assert anna.state == "active"
    assert "This field is required." in text_of(page)


def test_a_stopped_persons_work_is_wanted_again_and_comes_back_with_them(site, judged, anna) -> None:
    site.post(address("annotator", judged, anna.pk), {"reason": "Always the first.", "exclude": "on"})
    stopped = text_of(site.get(address("campaign", judged)))

    site.post(address("annotator_reinstate", judged, anna.pk))

    reinstated = text_of(site.get(address("campaign", judged)))
    assert "Collected, of required 3 / 6" in stopped
    assert "stopped, excluded" in stopped
    assert "Collected, of required 6 / 6" in reinstated


def test_a_persons_page_shows_their_judgements_only(site, judged, anna) -> None:
    page = site.get(address("annotator", judged, anna.pk)).content.decode()

    assert page.count('class="panel"') - page.count('<details class="panel"') == 3
    assert "0 of 0, two in each check" in page


# The inbox


def test_an_empty_inbox_says_so(site, campaign) -> None:
    assert "There are no open skips, flags or comments" in text_of(site.get(address("inbox", campaign)))


def test_a_resolved_flag_leaves_the_inbox_and_is_found_among_the_resolved(site, campaign, curator) -> None:
    flag = FlagFactory(tuple=campaign.tuples.first(), note="<i>cut</i> off")
    before = text_of(site.get(address("inbox", campaign)))

    site.post(address("flag_resolve", campaign, flag.pk))

    after = text_of(site.get(address("inbox", campaign)))
    resolved = text_of(site.get(address("inbox", campaign), {"show": "resolved"}))
    assert "Inbox (1)" in before
    assert "<i>cut</i> off" in before
    assert "cut" not in after
    assert f"resolved by {curator}" in resolved


# Gold tuples


# The first pair is nearly the same twice, the second has nothing in common, the others share some words.
WORDED = [
    ("A brown dog runs over the field", "A brown dog runs over the meadow"),
    ("Trains leave at noon", "My aunt grows tomatoes"),
    ("Two boys kick one football outside", "Some boys kick stones near houses"),
    ("She reads old books quietly", "He sells old books downtown"),
]


@pytest.fixture
def scored(dataset):
    """Sixteen pairs whose gold scores leave no doubt: four low, eight in the middle, four high."""
    made = PairFactory.create_batch(16, dataset=dataset)
    scores = ScoreSet.objects.create(dataset=dataset, name="gold", kind="reference", low=0, high=5)
    values = [0.0] * 4 + [2.5] * 8 + [5.0] * 4
    for pair, value in zip(made, values, strict=True):
        pair.scores.create(score_set=scores, value=value)
    return scores


def test_two_clicks_make_a_gold_tuple_and_pairs_from_between_join(site, draft, scored) -> None:
    pairs = list(draft.dataset.pairs.filter(scores__score_set=scored).order_by("pk"))
    where = address("gold_new", draft)
    first = site.post(where, {"best": pairs[-1].pk})
    page = site.post(first.url, {"worst": pairs[0].pk}, follow=True)

    gold = draft.tuples.get(is_gold=True)
    slots = {item.slot: item.pair for item in gold.items.all()}
    best, worst = slots.pop(gold.gold_answer.best_slot), slots.pop(gold.gold_answer.worst_slot)
    assert (best, worst) == (pairs[-1], pairs[0])
    assert [scored.scores.get(pair=pair).value for pair in slots.values()] == [2.5, 2.5]
    assert "Attention check 1 is added. Read it and write its reason" in text_of(page)
    assert "Chosen" not in text_of(page)


def test_pairs_that_were_chosen_for_between_are_the_others(site, draft, pairs) -> None:
    where = address("gold_new", draft)
    for role, pair in (("between", 3), ("between", 1), ("best", 2)):
        where = site.post(where, {role: pairs[pair].pk}).url

    site.post(where, {"worst": pairs[0].pk})

    gold = draft.tuples.get(is_gold=True)
    assert {item.pair for item in gold.items.all()} == set(pairs[:4])
    assert gold.items.get(slot=gold.gold_answer.best_slot).pair == pairs[2]


def test_a_pair_has_one_role_and_can_be_taken_out(site, draft, pairs) -> None:
    as_best = site.post(address("gold_new", draft), {"best": pairs[0].pk}).url
    as_worst = site.post(as_best, {"worst": pairs[0].pk}).url
    out = site.post(as_worst, {"out": pairs[0].pk}).url

    assert f"best={pairs[0].pk}" in as_best
    assert as_worst.endswith(f"?worst={pairs[0].pk}&search=")
    assert out.endswith("?search=")
    assert not draft.tuples.exists()


def test_where_too_few_pairs_lie_between_nothing_is_added_and_the_page_says_so(site, dataset, draft) -> None:
    dataset.pairs.update(status="retired")
    one, other, _ = PairFactory.create_batch(3, dataset=dataset)

    page = site.post(f"{address('gold_new', draft)}?best={one.pk}", {"worst": other.pk}, follow=True)

    assert "needs 4 pairs that share no sentence; add pairs first." in text_of(page)
    assert not draft.tuples.exists()


def test_pairs_of_another_dataset_are_not_taken(site, draft) -> None:
    foreign = PairFactory()

    page = site.get(address("gold_new", draft), {"best": foreign.pk, "worst": "x", "between": "9" * 20})

    assert page.context["roles"] == []


def test_pairs_are_found_by_their_words(site, draft, pairs) -> None:
    page = site.get(address("gold_new", draft), {"search": pairs[5].a.text})

    assert re.findall(r'name="best" value="(\d+)"', squeezed(page.content.decode())) == [str(pairs[5].pk)]


def test_suggestions_are_kept_as_far_as_they_are_chosen(site, draft, scored) -> None:
    where = f"{address('gold_suggest', draft)}?score_set={scored.pk}&number=2"
    page = site.get(where).content.decode()
    answers = re.findall(r'name="form-\d-answer" value="([^"]+)"', page)
    sent = {"form-TOTAL_FORMS": 2, "form-INITIAL_FORMS": 2, "form-0-keep": "on", "form-0-why": "Far apart."}

    sent |= {f"form-{place}-answer": answer for place, answer in enumerate(answers)}
    none = text_of(site.post(where, sent | {"form-0-keep": ""}))
    assert "None is ticked, so nothing was added." in none
    assert not draft.tuples.filter(is_gold=True).exists()

    site.post(where, sent)

    gold = draft.tuples.get(is_gold=True)
    assert len(answers) == 2
    assert gold.gold_answer.why == "Far apart."


def test_suggestions_come_unticked_the_clearest_first_with_scores_and_a_drafted_reason(
    site, draft, scored
) -> None:
    page = site.get(address("gold_suggest", draft), {"score_set": scored.pk, "number": 2})

    html = page.content.decode()
    margins = [float(margin) for margin in re.findall(r"margin (0\.\d\d) of the scale", text_of(page))]
    assert not re.search(r'name="form-\d-keep"[^>]*checked', html)
    assert len(margins) == 2
    assert margins == sorted(margins, reverse=True)
    assert re.search(r"▲ Most related · \d\.\d\d", text_of(page))
    assert html.count("Earlier scores leave no doubt: the pairs have") == 2


def test_a_suggestion_by_words_is_kept_with_its_reason(site, dataset, draft) -> None:
    dataset.pairs.update(status="retired")
    for one, other in WORDED:
        a, b = (SentenceFactory(dataset=dataset, text=text) for text in (one, other))
        PairFactory(dataset=dataset, a=a, b=b)
    where = address("gold_suggest", draft)
    page = site.get(where)
    (answer,) = re.findall(r'name="form-\d-answer" value="([^"]+)"', page.content.decode())

    site.post(
        where,
        {"form-TOTAL_FORMS": 1, "form-INITIAL_FORMS": 1, "form-0-keep": "on", "form-0-answer": answer},
    )

    gold = draft.tuples.get(is_gold=True)
    assert gold.items.get(slot=gold.gold_answer.best_slot).pair.a.text == WORDED[0][0]
    assert gold.items.get(slot=gold.gold_answer.worst_slot).pair.a.text == WORDED[1][0]
    assert "margin" not in text_of(page)


def test_what_the_address_asks_for_is_listed(site, campaign) -> None:
    GoldFactory.create_batch(3, campaign=campaign)
    first, second, third = campaign.tuples.filter(is_gold=True).order_by("number")
    GoldAnswer.objects.filter(tuple=second).update(withdrawn=True)
    GoldAnswer.objects.filter(tuple=third).update(why="A plain reason.")

    def listed(**asked: str) -> list[int]:
        page = site.get(address("gold", campaign), asked).content.decode()
        return [int(number) for number in re.findall(r'<tr id="gold-(\d+)"', page)]

    assert listed() == [first.pk, third.pk]
    assert listed(show="removed") == [second.pk]
    assert listed(show="unanswered", search="PLAIN") == [third.pk]
    assert listed(show="missed") == []
    assert listed(show="<nonsense>") == [first.pk, third.pk]


def test_scores_that_lie_close_together_suggest_nothing_and_say_so(site, draft, dataset, pairs) -> None:
    scores = ScoreSet.objects.create(dataset=dataset, name="flat", kind="reference", low=0, high=5)
    for pair in pairs:
        pair.scores.create(score_set=scores, value=2.5)

    page = site.get(address("gold_suggest", draft), {"score_set": scores.pk, "number": 5})

    assert "is clearly above the others" in text_of(page)


def test_a_reason_can_be_edited_and_the_answer_stays(site, campaign) -> None:
    gold = GoldFactory(campaign=campaign)

    site.post(address("gold_edit", campaign, gold.pk), {"why": "Better said."})

    gold.gold_answer.refresh_from_db()
    assert (gold.gold_answer.why, gold.gold_answer.best_slot) == ("Better said.", 0)


def test_the_list_of_gold_says_how_people_did(site, campaign, anna, answer) -> None:
    Campaign.objects.update(gold_every=2)
    GoldFactory(campaign=campaign)
    anna.refresh_from_db()
    while not anna.judgements.filter(tuple__is_gold=True).exists():
        answer(anna, best=0, worst=2)

    page = text_of(site.get(address("gold", campaign)))

    assert "1 person answered: best right 1, worst right 0" in page


def test_an_unseen_gold_tuple_can_be_removed(site, campaign) -> None:
    gold = GoldFactory(campaign=campaign)

    site.post(address("gold_remove", campaign, gold.pk))

    assert not campaign.tuples.filter(is_gold=True).exists()


def test_a_curator_of_two_datasets_sees_both_among_their_campaigns(site, campaign, curator) -> None:
    other = MembershipFactory(user=curator, role="curator").dataset
    CampaignFactory(dataset=other, name="The other")

    page = text_of(site.get("/campaigns/"))

    assert campaign.name in page
    assert "The other" in page


def test_the_dashboard_stands_after_the_first_judgement(campaign, curator, anna, answer) -> None:
    """Four pairs are judged by then, which are too few for a design of their own."""
    answer(anna)

    page = client_of(curator).get(address("campaign", campaign))

    assert page.status_code == 200
    assert "1 / 6" in text_of(page)


def test_for_a_spreadsheet_no_cell_of_a_bundle_is_a_formula(site, judged) -> None:
    pair = judged.tuples.first().items.first().pair
    pair.external_id = '=HYPERLINK("http://elsewhere.example")'
    pair.save()

    def tables(address: str) -> dict[str, set[str]]:
        archive = zipfile.ZipFile(io.BytesIO(b"".join(site.get(address).streaming_content)))
        texts = {
            name: archive.read(name).decode()
            for name in archive.namelist()
            if name.endswith((".csv", ".tsv"))
        }
        rows = {
            name.split("/", 1)[1]: csv.reader(
                io.StringIO(text), delimiter="\t" if name.endswith(".tsv") else ","
            )
            for name, text in texts.items()
        }
        return {name: {cell for row in read for cell in row} for name, read in rows.items()}

    plain, safe = (tables(address("bundle", judged) + end) for end in ("", "?spreadsheet=1"))

    holding = {name for name, cells in plain.items() if pair.external_id in cells}
    assert {"items.csv", "tuples.tsv", "judgements.csv", "scores/counting.csv"} <= holding
    assert holding == {name for name, cells in safe.items() if f"'{pair.external_id}" in cells}
    assert not any(cell.startswith("=") for cells in safe.values() for cell in cells)
    assert (
        f"{address('bundle', judged)}?spreadsheet=1" in site.get(address("scores", judged)).content.decode()
    )
