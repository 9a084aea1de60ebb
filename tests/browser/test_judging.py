"""The judging screen in a browser: by keyboard, mouse and touch, with and without a connection."""

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from annotation.campaigns.services import guideline_save
from annotation.models import Campaign, Flag, Judgement, Lease, Participation
from tests.browser.conftest import moment_passes, sideways_overflow, small_targets
from tests.factories import CampaignFactory

pytestmark = pytest.mark.browser
# Playwright has neither fingers nor pages without scripts in a Firefox that it did not build (ADR 5).
not_in_firefox = pytest.mark.skip_browser("firefox")


@pytest.fixture
def campaign(dataset) -> Campaign:
    """Six tuples, one judgement required of each, no gold."""
    return CampaignFactory(dataset=dataset, judgements_per_tuple=1, tuples=6)


@pytest.fixture
def gold_campaign(dataset) -> Campaign:
    """Every other tuple is gold: best is slot 0, worst is slot 1. The gate never stops anyone."""
    return CampaignFactory(dataset=dataset, judgements_per_tuple=1, gold_every=2, tuples=6, gold=6)


@pytest.fixture
def screen(open_as, annotator, campaign) -> Page:
    return judging(open_as(annotator), campaign)


def judging(page: Page, campaign: Campaign) -> Page:
    """The judging page, with the tuple after this one fetched already."""
    with page.expect_response("**/judge/screen/") as answered:
        page.goto(f"/campaigns/{campaign.pk}/judge/")
    answered.value.finished()
    moment_passes(page, 100)  # its script reads what has arrived
    start = page.get_by_role("button", name="Start annotating")
    if start.is_visible():
        start.click()
    return page


def settled(page: Page) -> None:
    """Wait until nothing more is sent."""
    page.wait_for_load_state("networkidle")


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def type_into(field: Locator, text: str) -> None:
    """Letter by letter: a field that Playwright fills in Firefox does not say that somebody changed it."""
    field.fill("")
    field.press_sequentially(text)


def best(page: Page, number: int):
    return page.get_by_role("radio", name=f"Most related (pair {number})")


def worst(page: Page, number: int):
    return page.get_by_role("radio", name=f"Least related (pair {number})")


def saved(page: Page, number: int) -> None:
    expect(page.get_by_text(f"{number} answered in this session")).to_be_visible()
    expect(page.locator("#saved").filter(has_text="saved ")).to_be_visible()


def stored() -> list[tuple[int, int]]:
    """Best and worst as places on the screen, in order of arrival."""
    return [
        (judgement.order_shown.index(judgement.best_slot), judgement.order_shown.index(judgement.worst_slot))
        for judgement in Judgement.objects.all()
    ]


def test_keys_judge_tuple_after_tuple(screen) -> None:
    press(screen, "2", "r", "Enter", "1", "Shift+Digit3", "Enter")

    saved(screen, 2)
    assert stored() == [(1, 3), (0, 2)]


def test_the_mouse_judges(screen) -> None:
    best(screen, 3).check()
    worst(screen, 1).check()
    screen.get_by_role("button", name="Next").click()

    saved(screen, 1)
    assert stored() == [(2, 0)]


@not_in_firefox
def test_a_finger_judges_on_a_telephone(open_as, annotator, campaign) -> None:
    page = judging(open_as(annotator, width=390, height=844, is_mobile=True, has_touch=True), campaign)

    best(page, 4).tap()
    worst(page, 2).tap()
    page.get_by_role("button", name="Next").tap()

    saved(page, 1)
    assert stored() == [(3, 1)]
    assert sideways_overflow(page) <= 0
    assert small_targets(page) == []


@not_in_firefox
def test_without_javascript_the_form_judges(open_as, annotator, campaign) -> None:
    page = open_as(annotator, java_script_enabled=False)
    page.goto(f"/campaigns/{campaign.pk}/judge/")

    best(page, 1).check()
    worst(page, 4).check()
    page.get_by_role("button", name="Next").click()

    expect(page.get_by_text("1 answered in this session")).to_be_visible()
    assert stored() == [(0, 3)]


@pytest.mark.exhaustive
def test_the_next_pairs_are_there_before_the_answer_has_left(screen) -> None:
    screen.route("**/judge/answer/", lambda route: None)  # the server never answers
    first = screen.get_by_role("group", name="Pair 1").inner_text()

    press(screen, "1", "w", "Enter")

    expect(screen.get_by_text("1 waiting")).to_be_visible()
    assert screen.get_by_role("group", name="Pair 1").inner_text() != first


def test_the_same_pair_as_worst_moves_the_role_and_says_so(screen) -> None:
    press(screen, "2", "w")

    expect(best(screen, 2)).not_to_be_checked()
    expect(worst(screen, 2)).to_be_checked()
    expect(screen.get_by_role("status").filter(has_text="Pair 2 changed sides.")).to_have_count(1)


def test_half_an_answer_is_not_sent(screen) -> None:
    press(screen, "2", "Enter")

    expect(screen.get_by_text("Choose a pair for “Least related”.").last).to_be_visible()
    assert not Judgement.objects.exists()


def test_a_double_enter_and_a_double_click_send_once(screen) -> None:
    press(screen, "1", "w", "Enter", "Enter")
    saved(screen, 1)
    press(screen, "3", "r")
    screen.get_by_role("button", name="Next").dblclick()

    saved(screen, 2)
    settled(screen)
    assert stored() == [(0, 1), (2, 3)]


def test_undo_brings_the_last_judgement_back_with_its_choice(screen) -> None:
    first = screen.get_by_role("group", name="Pair 1").inner_text()
    press(screen, "2", "r", "Enter")
    saved(screen, 1)

    press(screen, "u")

    expect(best(screen, 2)).to_be_checked()
    expect(worst(screen, 4)).to_be_checked()
    expect(screen.locator("#saved")).to_be_empty()
    assert screen.get_by_role("group", name="Pair 1").inner_text() == first
    press(screen, "3", "Enter")
    saved(screen, 1)
    settled(screen)
    assert stored() == [(2, 3)]


def test_while_an_undo_is_on_its_way_a_second_is_not_sent_and_answers_wait(screen) -> None:
    press(screen, "2", "r", "Enter")
    saved(screen, 1)
    undone: list[Route] = []
    posted: list[str] = []
    screen.on("request", lambda request: posted.append(request.url) if request.method == "POST" else None)
    screen.route("**/judge/undo/", lambda route: undone.append(route))  # noqa: PLW0108 -- a method of a list has no place for its marks

    press(screen, "u")
    moment_passes(screen, 50)
    press(screen, "u", "1", "w", "Enter")  # the answer of the question that was on the screen
    moment_passes(screen, 50)
    assert [address.rsplit("/", 2)[1] for address in posted] == ["undo"]
    undone[0].continue_()

    expect(best(screen, 2)).to_be_checked()
    press(screen, "3", "Enter")
    saved(screen, 2)
    settled(screen)
    assert stored() == [(0, 1), (2, 3)]


def test_a_skip_asks_why_and_moves_on(screen) -> None:
    first = screen.get_by_role("group", name="Pair 1").inner_text()
    press(screen, "s")
    dialog = screen.get_by_role("dialog", name="Skip these pairs")
    dialog.get_by_label("Broken text").check()
    dialog.get_by_label("Note").fill("2 words missing")
    dialog.get_by_role("button", name="Skip").click()

    expect(screen.get_by_text("Skipped. Here are the next pairs.")).to_be_visible()
    assert screen.get_by_role("group", name="Pair 1").inner_text() != first
    assert (Flag.objects.get().reason, Flag.objects.get().note) == ("broken", "2 words missing")


def test_keys_can_be_switched_off_and_stay_off(screen) -> None:
    press(screen, "?")
    screen.get_by_label("Use these keys on this device").uncheck()
    screen.get_by_role("button", name="Close").click()
    screen.reload()

    press(screen, "2")

    expect(best(screen, 2)).not_to_be_checked()


def test_two_judgements_wait_out_a_lost_connection_and_a_reload(screen) -> None:
    # Not the browser's offline switch: that would keep the page from being loaded again.
    screen.context.route("**/judge/answer/", lambda route: route.abort())
    screen.context.route("**/judge/screen/", lambda route: route.abort())
    press(screen, "1", "w", "Enter", "2", "e", "Enter")
    expect(screen.get_by_text("2 waiting")).to_be_visible()
    expect(screen.get_by_role("alert")).to_contain_text("wait on this device")
    screen.on("dialog", lambda dialog: dialog.accept())
    screen.reload()
    expect(screen.get_by_text("2 waiting")).to_be_visible()

    screen.context.unroute("**/judge/screen/")
    screen.context.unroute("**/judge/answer/")

    saved(screen, 2)
    expect(screen.get_by_role("alert")).to_be_hidden()
    assert stored() == [(0, 1), (1, 2)]


def test_what_waits_is_sent_even_where_nothing_is_left_to_judge(screen, campaign) -> None:
    screen.context.route("**/judge/answer/", lambda route: route.abort())
    press(screen, "1", "w", "Enter")
    expect(screen.get_by_role("alert")).to_be_visible()
    Campaign.objects.filter(pk=campaign.pk).update(state="paused")
    screen.context.unroute("**/judge/answer/")

    screen.goto(f"/campaigns/{campaign.pk}/judge/")

    expect(screen.get_by_role("heading", name="This campaign is paused")).to_be_visible()
    expect(screen.get_by_text("1 answered in this session")).to_be_visible()
    assert stored() == [(0, 1)]


def places(page: Page) -> list[dict[str, float] | None]:
    controls = [page.get_by_role("button", name=name) for name in ("Undo", "Keys", "Next")]
    return [control.bounding_box() for control in [best(page, 1), worst(page, 4), *controls]]


def test_neither_cards_nor_buttons_move_when_the_page_says_something(screen) -> None:
    before = places(screen)

    press(screen, "1", "Enter")
    expect(screen.get_by_text("Choose a pair for “Least related”.").last).to_be_visible()
    assert places(screen) == before
    press(screen, "w")
    expect(screen.get_by_text("Choose a pair for “Least related”.")).to_have_count(0)
    press(screen, "Enter")
    saved(screen, 1)
    assert places(screen) == before
    screen.context.set_offline(True)
    expect(screen.get_by_role("alert")).to_be_visible()
    assert places(screen) == before


def test_a_key_brings_what_it_chose_into_sight(open_as, annotator, dataset) -> None:
    campaign = CampaignFactory(dataset=dataset, tuple_size=8, tuples=1)
    page = judging(open_as(annotator, height=600), campaign)

    press(page, "8")

    chosen, foot = best(page, 8).bounding_box(), page.get_by_role("button", name="Next").bounding_box()
    assert chosen["y"] + chosen["height"] < foot["y"]


def test_offline_shows_at_once_and_being_back_sends_at_once(screen) -> None:
    screen.context.set_offline(True)
    press(screen, "1", "w", "Enter")
    expect(screen.get_by_role("alert")).to_contain_text("No connection.")

    screen.context.set_offline(False)

    saved(screen, 1)
    expect(screen.get_by_role("alert")).to_be_hidden()


FORBID_STORAGE = (
    "Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('', 'SecurityError') }})"
)


@pytest.mark.exhaustive
def test_where_the_browser_keeps_nothing_the_page_says_so_and_keeps_it(open_as, annotator, campaign) -> None:
    page = open_as(annotator)
    page.add_init_script(FORBID_STORAGE)
    page.route("**/judge/answer/", lambda route: route.abort())
    judging(page, campaign)

    press(page, "1", "w", "Enter")

    expect(page.get_by_role("alert")).to_contain_text("leave the page open until they are sent")
    page.unroute("**/judge/answer/")
    saved(page, 1)
    assert stored() == [(0, 1)]


@pytest.mark.exhaustive
def test_an_undo_while_an_answer_hangs_takes_it_back_as_soon_as_it_failed(screen) -> None:
    hanging: list[Route] = []

    def hang(route: Route) -> None:
        hanging.append(route)

    screen.route("**/judge/answer/", hang)
    first = screen.get_by_role("group", name="Pair 1").inner_text()
    press(screen, "2", "r", "Enter")
    expect(screen.get_by_text("1 waiting")).to_be_visible()

    press(screen, "u")
    moment_passes(screen, 50)
    hanging[0].abort()

    expect(best(screen, 2)).to_be_checked()
    assert screen.get_by_role("group", name="Pair 1").inner_text() == first


def test_an_answer_the_server_got_but_did_not_acknowledge_is_kept_once(screen) -> None:
    def lose_the_answer(route) -> None:
        route.fetch()
        route.abort()

    screen.route("**/judge/answer/", lose_the_answer, times=1)
    press(screen, "1", "w", "Enter")

    saved(screen, 1)
    assert stored() == [(0, 1)]


def test_a_lost_login_loses_no_judgement(screen, annotator) -> None:
    annotator.set_password("a long password")
    annotator.save()
    screen.context.clear_cookies()
    press(screen, "1", "w", "Enter")
    screen.get_by_role("alert").get_by_role("link", name="Log in").click()
    screen.get_by_label("Username").fill("annotator")
    screen.get_by_label("Password").fill("a long password")

    screen.get_by_role("button", name="Log in").click()

    saved(screen, 1)
    assert stored() == [(0, 1)]


def test_a_second_tab_moves_on_when_the_first_has_answered(screen, campaign) -> None:
    second = judging(screen.context.new_page(), campaign)
    before = second.get_by_role("group", name="Pair 1").inner_text()

    press(screen, "1", "w", "Enter")

    saved(screen, 1)
    expect(second.get_by_role("group", name="Pair 1")).not_to_have_text(before, use_inner_text=True)


def to_gold(page: Page, annotator) -> Lease:
    """Judge until a gold tuple is on the screen; answered golds on the way are answered as expected."""
    for turn in range(12):
        live = Lease.objects.select_related("tuple").filter(participation__user=annotator, state="live")
        lease = live.order_by("turn")[0]
        if lease.tuple.is_gold:
            return lease
        press(page, "1", "w", "Enter")
        saved(page, turn + 1)
    raise AssertionError("no attention check came")


def test_gold_feedback_names_the_expected_answer_and_waits_for_enter(
    open_as, annotator, gold_campaign
) -> None:
    page = judging(open_as(annotator), gold_campaign)
    lease = to_gold(page, annotator)
    right = [lease.order_shown.index(0), lease.order_shown.index(1)]
    wrong = [place for place in range(4) if place not in right]
    page.evaluate("performance.now = () => 0")

    press(page, f"Digit{wrong[0] + 1}", f"Shift+Digit{wrong[1] + 1}", "Enter")

    feedback = page.get_by_role("region", name="The expected answer was")
    expect(feedback).to_contain_text(f"pair {right[0] + 1} most related, pair {right[1] + 1} least related")
    expect(feedback).to_contain_text("The first pair says the same twice.")
    expect(feedback).to_be_focused()
    press(page, "Enter")
    expect(page.get_by_text("That came too early")).to_be_visible()
    expect(feedback).to_be_visible()
    page.evaluate("performance.now = () => 501")  # an Enter within half a second was meant for something else
    press(page, "Enter")
    expect(feedback).to_be_hidden()
    expect(page.get_by_text("That came too early")).to_be_hidden()
    expect(best(page, 1)).to_be_visible()


def test_the_guidelines_come_up_once_for_every_version_and_with_their_key(screen, campaign) -> None:
    guideline_save(campaign=campaign, text="Meaning, not words.")
    screen.reload()
    sheet = screen.get_by_role("dialog", name="Guidelines")
    expect(sheet).to_contain_text("Meaning, not words.")
    expect(sheet).to_contain_text("A session has about 40 questions")
    sheet.get_by_role("button", name="Start annotating").click()

    screen.reload()
    expect(sheet).to_be_hidden()
    press(screen, "g")
    sheet.get_by_role("button", name="Continue annotating").click()

    guideline_save(campaign=campaign, text="Meaning, and nothing else.")
    screen.reload()
    expect(sheet).to_contain_text("Meaning, and nothing else.")


@pytest.mark.exhaustive
def test_five_judgements_survive_a_dead_connection(open_as, annotator, dataset) -> None:
    campaign = CampaignFactory(dataset=dataset, judgements_per_tuple=1, tuples=80)
    page = judging(open_as(annotator), campaign)
    page.context.set_offline(True)

    for _ in range(6):  # the one on the screen and five after it
        expect(best(page, 1)).to_be_visible()
        press(page, "1", "w", "Enter")
    expect(page.get_by_text("The next pairs come as soon as there is a connection.")).to_be_visible()
    page.context.set_offline(False)

    saved(page, 6)
    settled(page)
    assert stored() == [(0, 1)] * 6
    assert Lease.objects.filter(state="live").count() == 6


def test_keys_can_be_changed_and_stay_changed(screen) -> None:
    press(screen, "?")
    fields = screen.get_by_role("dialog", name="Keys")
    type_into(fields.get_by_label("Most related"), "asdf")
    fields.get_by_label("Most related").press("Tab")
    expect(fields.get_by_role("alert")).to_contain_text("Each key can do one thing")  # s skips, f flags
    type_into(fields.get_by_label("Most related"), "asdv")
    type_into(fields.get_by_label("Skip, with a reason"), "x")
    fields.get_by_label("Skip, with a reason").press("Tab")
    expect(fields.get_by_role("alert")).to_be_hidden()
    fields.get_by_role("button", name="Close").click()
    screen.reload()

    press(screen, "d")

    expect(best(screen, 3)).to_be_checked()
    press(screen, "1")
    expect(best(screen, 1)).not_to_be_checked()


def test_the_page_takes_few_requests(open_as, annotator, campaign) -> None:
    page = open_as(annotator)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))

    judging(page, campaign)

    assert len(asked) <= 8, asked


def test_the_end_is_a_page_that_says_so(open_as, annotator, dataset) -> None:
    campaign = CampaignFactory(dataset=dataset, judgements_per_tuple=1, tuples=1)
    page = judging(open_as(annotator), campaign)

    press(page, "1", "w", "Enter")

    expect(page.get_by_role("heading", name="Everything here is annotated")).to_be_visible()


def test_a_person_who_is_stopped_meanwhile_is_told_politely(screen, annotator) -> None:
    Participation.objects.filter(user=annotator).update(state="stopped", reason="Too fast to have read them.")

    press(screen, "1", "w", "Enter")

    expect(screen.get_by_role("heading", name="Your part in this campaign has ended")).to_be_visible()
    expect(screen.get_by_text("Too fast to have read them.")).to_be_visible()
    assert stored() == [(0, 1)]


def test_four_cards_fit_a_small_laptop(open_as, annotator, campaign) -> None:
    page = judging(open_as(annotator, width=1280, height=800), campaign)

    tall = page.evaluate("document.documentElement.scrollHeight - document.documentElement.clientHeight")

    assert tall <= 0


def test_a_site_with_a_problem_is_told_from_no_connection_and_the_judgement_is_sent_later(screen) -> None:
    screen.context.route("**/judge/answer/", lambda route: route.fulfill(status=502, body="Bad gateway"))

    press(screen, "2", "r", "Enter")

    expect(screen.get_by_role("alert")).to_contain_text("This site has a problem at the moment.")
    expect(screen.get_by_role("alert")).not_to_contain_text("No connection")
    assert stored() == []
    screen.context.unroute("**/judge/answer/")
    saved(screen, 1)
    expect(screen.get_by_role("alert")).to_be_hidden()
    assert stored() == [(1, 3)]


def test_a_skip_that_the_site_cannot_keep_says_that_the_site_has_a_problem(screen) -> None:
    screen.context.route("**/judge/skip/", lambda route: route.fulfill(status=500, body="broken"))

    press(screen, "s")
    screen.get_by_role("dialog").get_by_role("radio").first.check()
    screen.get_by_role("dialog").get_by_role("button", name="Skip").click()

    expect(screen.get_by_role("dialog").get_by_role("alert")).to_contain_text("This site has a problem")


def test_a_screen_is_practised_and_nothing_of_it_is_stored(open_as, annotator, campaign) -> None:
    page = open_as(annotator)
    page.goto(f"/campaigns/{campaign.pk}/judge/")
    page.get_by_role("link", name="Practise on one question").click()
    expect(page.get_by_text("Practice. Nothing is stored here.")).to_be_visible()
    # It is hidden until the script listens to keys.
    expect(page.get_by_role("button", name="Skip")).to_be_visible()
    press(page, "2", "r", "Enter")
    expect(page.get_by_role("heading", name="That is how you answer a question")).to_be_visible()
    page.get_by_role("link", name="Start annotating").click()

    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(page.get_by_text("0 answered in this session")).to_be_visible()
    assert not Judgement.objects.exists()


@not_in_firefox
def test_without_javascript_a_screen_is_practised(open_as, annotator, campaign) -> None:
    page = open_as(annotator, java_script_enabled=False)
    page.goto(f"/campaigns/{campaign.pk}/judge/practice/")
    best(page, 1).check()
    worst(page, 2).check()
    page.get_by_role("button", name="Next").click()

    expect(page.get_by_role("heading", name="That is how you answer a question")).to_be_visible()
    assert not Judgement.objects.exists()


def test_in_a_rehearsal_undo_brings_the_choice_back_and_a_skip_goes_on(curator_page, campaign) -> None:
    page = curator_page
    Campaign.objects.filter(pk=campaign.pk).update(state="draft")
    campaign.tuples.all().delete()
    page.goto(f"/campaigns/{campaign.pk}/preview/")
    page.get_by_role("button", name="Start annotating").click()
    first = page.get_by_role("group", name="Pair 1").inner_text()
    press(page, "3", "q", "Enter")
    expect(page.get_by_role("group", name="Pair 1")).not_to_have_text(first, use_inner_text=True)

    press(page, "u")

    expect(best(page, 3)).to_be_checked()
    expect(worst(page, 1)).to_be_checked()
    press(page, "s")
    page.get_by_role("dialog").get_by_role("radio").first.check()
    page.get_by_role("dialog").get_by_role("button", name="Skip").click()
    expect(page.get_by_role("status").filter(has_text="Nothing is stored here.")).to_be_visible()
    assert not Judgement.objects.exists()
