"""Many judgements while the network comes and goes: none is lost, none is there twice."""

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Campaign, Judgement
from tests.factories import CampaignFactory, TupleFactory

pytestmark = pytest.mark.browser
AHEAD = 6  # judgements: those that one screen and five tuples ahead allow without a network

# Presses the keys of one answer as soon as there is a tuple, so many times; says how many tuples it answered.
ANSWER = """async (times) => {
    const there = () => document.querySelector("#stage input[name=lease]");
    let answered = 0;
    for (; answered < times; answered++) {
        for (let waited = 0; !there() && waited < 20; waited++) await new Promise((go) => setTimeout(go, 50));
        if (!there()) break;
        document.querySelector("#stage").focus();
        for (const [code, key] of [["Digit1", "1"], ["KeyW", "w"], ["Enter", "Enter"]]) {
            const pressed = new KeyboardEvent("keydown", {code, key, bubbles: true, cancelable: true});
            document.activeElement.dispatchEvent(pressed);
        }
    }
    return answered;
}"""


@pytest.fixture
def campaign(dataset) -> Campaign:
    return CampaignFactory(dataset=dataset, judgements_per_tuple=1)


def started(page: Page, campaign: Campaign) -> Page:
    page.goto(f"/campaigns/{campaign.pk}/judge/")
    page.wait_for_load_state("networkidle")  # the script has begun: it asks for the tuples after this one
    start = page.get_by_role("button", name="Start annotating")
    if start.is_visible():
        start.click()
    return page


@pytest.mark.parametrize(
    ("judgements", "cuts"), [(40, 3), pytest.param(200, 10, marks=pytest.mark.exhaustive)]
)
def test_judgements_survive_cuts_of_the_network(
    open_as, annotator, campaign, monkeypatch, judgements: int, cuts: int
) -> None:
    TupleFactory.create_batch(judgements + 60, campaign=campaign)
    monkeypatch.setattr("annotation.judging.screen.SITTING", 10 * judgements)  # no pause on the way
    page = started(open_as(annotator), campaign)
    answered = 0

    for cut in range(1, cuts + 1):
        while answered < cut * judgements // cuts - AHEAD:
            answered += page.evaluate(ANSWER, cut * judgements // cuts - AHEAD - answered)
        page.context.set_offline(True)  # also while answers are on their way
        answered += page.evaluate(ANSWER, AHEAD)
        page.context.set_offline(False)
    while answered < judgements:
        answered += page.evaluate(ANSWER, judgements - answered)

    expect(page.get_by_text(f"{judgements} answered in this session")).to_be_visible()
    page.wait_for_load_state("networkidle")
    assert page.evaluate("Object.keys(localStorage).filter((key) => key.startsWith('judging:'))") == []
    kept = list(Judgement.objects.values_list("tuple", "order_shown", "best_slot", "worst_slot"))
    assert len(kept) == len({tuple_id for tuple_id, *_ in kept}) == judgements
    assert all(order[:2] == [best, worst] for _, order, best, worst in kept)
