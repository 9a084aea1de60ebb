"""The review in a browser: by keyboard, mouse and touch, with and without a connection and JavaScript."""

import pytest
from playwright.sync_api import Page, expect

from curation.models import Dataset, Pair, ReviewDecision
from tests.browser.conftest import keys_used, moment_passes, sideways_overflow, small_targets
from tests.factories import GeneratedPairFactory, SentenceFactory, run_score_set

pytestmark = pytest.mark.browser

FORTY_WORDS = (
    "While the committee that had been appointed in the spring went on debating whether the old harbour wall could be "
    "repaired before the autumn storms, the fishermen quietly began to rebuild it themselves with stones carried down "
    "from the abandoned quarry."
)


@pytest.fixture
def pairs(dataset) -> list[Pair]:
    """Five machine sentences by rising p_D, one of forty words, among twenty human ones."""
    scored = run_score_set(dataset, "realism", "p_D")
    for number in range(20):
        human = SentenceFactory(dataset=dataset, text=f"A girl paints house number {number}.")
        human.scores.create(score_set=scored, value=0.5 + number / 40)
    texts = {1: FORTY_WORDS}
    return [
        GeneratedPairFactory(
            dataset=dataset,
            a__text=f"A girl paints the {number}th house.",
            b__text=texts.get(number, f"House {number} paints house {number}."),
            p_d=0.1 + number / 10,
            intended=0.5,
        )
        for number in range(5)
    ]


@pytest.fixture
def screen(curator_page: Page, dataset, pairs) -> Page:
    return reviewing(curator_page, dataset)


def reviewing(page: Page, dataset: Dataset, query: str = "share=1.0") -> Page:
    """The review, with the sentences after the first fetched already."""
    with page.expect_response("**/screen/**"):
        page.goto(f"/review/{dataset.slug}/?{query}")
    ready(page)
    return page


def ready(page: Page) -> None:
    """Nothing more is sent, and the moment has passed in which a hurried second press is ignored."""
    page.wait_for_load_state("networkidle")
    moment_passes(page, 260)


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def machine(page: Page):
    return page.get_by_role("region", name="Machine-written sentence")


def stored() -> list[tuple[str, list[str]]]:
    shown = ReviewDecision.objects.filter(undone_at=None).order_by("pk")
    return [(decision.verdict, decision.reasons) for decision in shown]


def test_three_sentences_are_reviewed_by_keyboard_and_the_last_verdict_is_undone(screen, pairs) -> None:
    press(screen, "k")
    expect(machine(screen)).to_contain_text("While the committee")
    ready(screen)

    press(screen, "r")
    expect(screen.get_by_role("group", name="Why is it rejected?")).to_be_visible()
    press(screen, "1", "4", "2", "2", "Enter")
    expect(machine(screen)).to_contain_text("House 2")
    ready(screen)

    press(screen, "e")
    screen.get_by_label("The sentence as it should be").fill("A girl paints two houses.")
    press(screen, "Enter")
    expect(machine(screen)).to_contain_text("House 3")
    expect(screen.get_by_text("3 of 5 decided")).to_be_visible()
    assert stored() == [("keep", []), ("reject", ["grammar", "context"]), ("edit", [])]
    assert ReviewDecision.objects.get(verdict="edit").replacement.b.text == "A girl paints two houses."

    ready(screen)
    press(screen, "u")
    expect(machine(screen)).to_contain_text("House 2")
    expect(screen.get_by_text("2 of 5 decided")).to_be_visible()
    expect(screen.locator("#saved")).to_be_empty()
    assert stored() == [("keep", []), ("reject", ["grammar", "context"])]


def test_rejecting_without_a_reason_asks_for_one_and_escape_goes_back(screen) -> None:
    press(screen, "r", "Enter")

    expect(screen.get_by_text("Choose at least one reason, then press Enter.")).to_be_visible()
    press(screen, "Escape")
    expect(screen.get_by_role("button", name="Keep")).to_be_visible()
    assert stored() == []


def test_an_edit_without_a_change_is_not_sent_and_letters_typed_decide_nothing(screen) -> None:
    press(screen, "e", "Enter")
    expect(screen.get_by_text("The text has not changed. Keep the sentence instead.")).to_be_visible()

    screen.keyboard.type("krub")

    expect(screen.get_by_label("The sentence as it should be")).to_have_value("House 0 paints house 0.krub")
    assert stored() == []


def test_the_mouse_rejects_and_the_list_of_decisions_undoes(screen) -> None:
    screen.get_by_role("button", name="Reject").click()
    screen.get_by_label("Logical flaw").check()
    screen.get_by_label("Note").fill("houses do not paint")
    screen.get_by_role("button", name="Reject the sentence").click()
    expect(screen.get_by_text("1 of 5 decided")).to_be_visible()
    assert (stored(), ReviewDecision.objects.get().note) == ([("reject", ["logic"])], "houses do not paint")

    screen.get_by_role("button", name="Undo: House 0 paints house 0.").click()

    expect(screen.get_by_text("Undone: the sentence waits again.")).to_be_visible()
    expect(machine(screen)).to_contain_text("House 0")
    assert stored() == []


def test_the_three_last_decisions_are_shown_and_what_is_unfolded_stays_so(
    curator_page: Page, dataset, pairs
) -> None:
    GeneratedPairFactory(dataset=dataset, b__text="The sixth house paints itself.", p_d=0.7, intended=0.5)
    screen = reviewing(curator_page, dataset)
    undo = screen.locator("#figures").get_by_role("button", name="Undo:")

    def keep(decided: int) -> None:
        screen.keyboard.press("k")
        expect(screen.get_by_text(f"{decided} of 6 decided")).to_be_visible()
        ready(screen)

    for decided in range(1, 5):
        keep(decided)
    expect(undo).to_have_count(3)  # what is folded is not in the tree of roles
    screen.get_by_text("Earlier decisions").click()
    expect(undo).to_have_count(4)

    keep(5)

    expect(undo).to_have_count(5)
    expect(undo.last).to_have_accessible_name("Undo: House 0 paints house 0.")


def test_a_key_that_comes_too_early_says_so(screen) -> None:
    screen.evaluate(
        """for (const key of ["k", "k"])
             document.body.dispatchEvent(new KeyboardEvent("keydown", { key, code: "KeyK", bubbles: true }))"""
    )

    said = screen.get_by_role("status").filter(has_text="Nothing was decided; decide again.")
    expect(said).to_be_visible()
    expect(screen.get_by_text("1 of 5 decided")).to_be_visible()
    assert stored() == [("keep", [])]
    ready(screen)
    press(screen, "k")
    expect(screen.get_by_text("2 of 5 decided")).to_be_visible()
    expect(said).to_have_count(0)


def test_a_double_press_and_a_double_click_decide_once(screen) -> None:
    # At once, as on a bouncing key: two presses of Playwright come apart where the machine is busy.
    pressed = "document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'k', bubbles: true}))"
    screen.evaluate(f"{pressed}; {pressed}")
    expect(screen.get_by_text("1 of 5 decided")).to_be_visible()
    ready(screen)

    screen.get_by_role("button", name="Keep").dblclick()

    expect(screen.get_by_text("2 of 5 decided")).to_be_visible()
    ready(screen)
    assert stored() == [("keep", []), ("keep", [])]


def test_a_key_held_down_on_a_button_decides_once(screen) -> None:
    screen.get_by_role("button", name="Keep").focus()

    for _repeat in range(3):
        screen.keyboard.down("Enter")
        moment_passes(screen, 260)
    screen.keyboard.up("Enter")

    expect(screen.get_by_text("1 of 5 decided")).to_be_visible()
    ready(screen)
    assert stored() == [("keep", [])]


def test_letters_can_be_switched_off_and_stay_off(screen) -> None:
    keys_used(screen, False)
    screen.reload()
    ready(screen)

    press(screen, "k")

    screen.get_by_role("button", name="Reject").click()
    press(screen, "Escape")
    expect(screen.get_by_text("0 of 5 decided")).to_be_visible()
    assert stored() == []


def test_blind_hides_p_d_and_the_verdict_says_that_it_was_hidden(screen) -> None:
    expect(screen.get_by_text("human sentences score lower")).to_be_visible()

    press(screen, "b")
    expect(screen.get_by_text("Blind: p_D is hidden")).to_be_visible()
    ready(screen)
    expect(screen.get_by_text("human sentences score lower")).to_have_count(0)
    press(screen, "k")

    expect(screen.get_by_text("1 of 5 decided")).to_be_visible()
    assert ReviewDecision.objects.get().blind


@pytest.mark.exhaustive
def test_verdicts_wait_out_a_lost_connection_and_a_reload(screen, pairs) -> None:
    def lost(route) -> None:
        route.abort()

    screen.context.route("**/decide/**", lost)
    screen.context.route("**/screen/**", lost)
    press(screen, "k")
    moment_passes(screen, 260)
    press(screen, "r", "3", "Enter")
    expect(screen.get_by_text("2 waiting to be sent")).to_be_visible()
    expect(screen.get_by_role("alert")).to_contain_text("stored on this device")
    screen.reload()
    expect(screen.get_by_text("2 waiting to be sent")).to_be_visible()
    assert stored() == []

    screen.context.unroute("**/decide/**", lost)
    screen.context.unroute("**/screen/**", lost)

    expect(screen.get_by_text("2 of 5 decided")).to_be_visible()
    expect(screen.get_by_role("alert")).to_be_hidden()
    assert stored() == [("keep", []), ("reject", ["logic"])]


def test_an_unsent_verdict_is_taken_back_without_the_server(screen) -> None:
    screen.context.route("**/decide/**", lambda route: route.abort())
    press(screen, "r", "2", "Enter")
    expect(screen.get_by_text("1 waiting to be sent")).to_be_visible()
    expect(screen.get_by_role("alert")).to_be_visible()

    press(screen, "u")

    expect(machine(screen)).to_contain_text("House 0")
    expect(screen.get_by_text("1 waiting to be sent")).to_have_count(0)
    moment_passes(screen, 260)
    press(screen, "r")
    expect(screen.get_by_label("Repetition")).to_be_checked()
    assert stored() == []


def test_who_comes_second_is_told_and_goes_on(screen, open_as, owner, dataset, pairs) -> None:
    with_p_d = reviewing(open_as(owner), dataset)
    expect(machine(with_p_d)).to_contain_text("House 3")  # the first three are on the curator's screen
    Pair.objects.filter(pk=pairs[0].pk).update(status="retired")

    press(screen, "k")

    expect(screen.get_by_text("Only active and pending pairs are reviewed")).to_be_visible()
    expect(machine(screen)).to_contain_text("While the committee")


@pytest.mark.exhaustive
def test_when_all_is_decided_the_page_says_so(curator_page, dataset, pairs) -> None:
    page = reviewing(curator_page, dataset, "share=0.1")

    press(page, "k")

    expect(page.get_by_text("The one sentence of this share has a decision")).to_be_visible()
    page.get_by_role("link", name="Continue with: lowest quarter").click()
    expect(machine(page)).to_contain_text("While the committee")


@pytest.mark.exhaustive
def test_a_finger_reviews_on_a_telephone(open_as, curator, dataset, pairs) -> None:
    page = reviewing(open_as(curator, width=390, height=844, is_mobile=True, has_touch=True), dataset)

    before = page.get_by_role("button", name="Keep").bounding_box()
    page.get_by_role("button", name="Keep").tap()
    expect(machine(page)).to_contain_text("While the committee")
    expect(page.get_by_text("1 of 5 decided")).to_be_visible()
    assert page.get_by_role("button", name="Keep").bounding_box() == before
    assert sideways_overflow(page) <= 0
    ready(page)
    assert small_targets(page) == []
    page.get_by_role("button", name="Reject").tap()
    assert small_targets(page) == []
    page.get_by_label("Uncommon in context").check()
    page.get_by_role("button", name="Reject the sentence").tap()

    expect(page.get_by_text("2 of 5 decided")).to_be_visible()
    assert sideways_overflow(page) <= 0
    assert stored() == [("keep", []), ("reject", ["context"])]


def test_the_sentence_is_seen_above_the_buttons_when_a_telephone_opens_the_page(
    open_as, curator, dataset, pairs
) -> None:
    page = open_as(curator, width=390, height=844, is_mobile=True, has_touch=True)
    page.goto(f"/review/{dataset.slug}/?share=1.0")

    sentence, keep = machine(page).bounding_box(), page.get_by_role("button", name="Keep").bounding_box()

    assert sentence["y"] + sentence["height"] <= keep["y"]


@pytest.mark.exhaustive
def test_without_javascript_plain_forms_review(open_as, curator, dataset, pairs) -> None:
    page = open_as(curator, java_script_enabled=False)
    page.goto(f"/review/{dataset.slug}/?share=1.0")
    page.get_by_role("button", name="Keep").click()
    expect(machine(page)).to_contain_text("While the committee")
    page.get_by_role("button", name="Reject").click()
    page.get_by_label("Other").check()
    page.get_by_role("button", name="Reject the sentence").click()
    expect(machine(page)).to_contain_text("House 2")

    page.get_by_role("button", name="Edit").click()
    page.get_by_label("The sentence as it should be").fill("A girl paints.")
    page.get_by_role("button", name="Save the edit").click()

    expect(page.get_by_text("3 of 5 decided")).to_be_visible()
    assert stored() == [("keep", []), ("reject", ["other"]), ("edit", [])]


def test_a_site_with_a_problem_is_told_from_no_connection_and_the_verdict_is_sent_later(screen) -> None:
    screen.context.route("**/decide/**", lambda route: route.fulfill(status=503, body="Unavailable"))

    press(screen, "k")

    expect(screen.get_by_role("alert")).to_contain_text("This site has a problem at the moment.")
    assert stored() == []
    screen.context.unroute("**/decide/**")
    expect(screen.get_by_role("alert")).to_be_hidden()
    assert stored() == [("keep", [])]


@pytest.mark.exhaustive
def test_a_random_sample_is_judged_by_keyboard_and_tells_no_origin(curator_page, dataset, pairs) -> None:
    page = reviewing(curator_page, dataset, "share=1.0")
    page.get_by_label("Queue").select_option("random sample")
    expect(page.get_by_label("Sample")).to_have_value("100")
    ready(page)

    for number in range(5):
        expect(page.get_by_role("region", name="Sentence to review")).to_be_visible()
        press(page, "k")
        if number < 4:
            expect(page.get_by_text(f"{number + 1} of 5 decided")).to_be_visible()
            ready(page)

    expect(page.get_by_text("All 5 sentences of this sample are reviewed.")).to_be_visible()
    expect(page.get_by_role("link", name="Compare p_D with the decisions")).to_be_visible()
    frames = set(ReviewDecision.objects.values_list("frame", "blind", "second"))
    assert frames == {("random", True, False)}


@pytest.mark.exhaustive
def test_two_people_disagree_and_a_curator_resolves_it_on_a_telephone(
    open_as, curator, owner, dataset, pairs
) -> None:
    query = "share=1.0&twice=on"
    press(reviewing(open_as(curator), dataset, query), "k")
    second = reviewing(open_as(owner), dataset, query)
    moment_passes(second, 300)
    ReviewDecision.objects.get()
    second.reload()
    ready(second)
    press(second, "r", "2", "Enter")
    expect(second.get_by_text("2 of 10 decided")).to_be_visible()

    page = open_as(curator, width=390, height=844, is_mobile=True, has_touch=True)
    page.goto(f"/review/{dataset.slug}/disagreements/")
    assert sideways_overflow(page) <= 0
    page.get_by_role("button", name="Choose “reject” for: House 0 paints house 0.").tap()

    expect(page.get_by_text("The adjudication is saved.")).to_be_visible()
    expect(page.get_by_text("No sentence waits for adjudication.")).to_be_visible()
    pairs[0].refresh_from_db()
    assert pairs[0].status == "rejected"
