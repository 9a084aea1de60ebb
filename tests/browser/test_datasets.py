"""The pages of datasets in a browser: filtering, importing, inviting; and how they look on a narrow screen."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from curation.models import Membership, PairScore, SentenceScore
from tests.browser.conftest import sideways_overflow
from tests.factories import PairFactory, ScoreSetFactory, SentenceFactory

pytestmark = pytest.mark.browser

PASSWORD = "correct horse battery"
FORTY_WORDS = (
    "While the committee that had been appointed in the spring went on debating whether the old harbour wall could be "
    "repaired before the autumn storms, the fishermen quietly began to rebuild it themselves with stones carried down "
    "from the abandoned quarry."
)
ENDLESS = "Donaudampfschifffahrt" * 12
ROWS = "sentence1,sentence2,score\nA dog runs.,A dog is running.,4.5\n,Nothing before this.,3\n"


@pytest.fixture
def pairs(dataset):
    """Two dozen pairs with scores, one of them long, one a single endless word, as are the dataset's facts."""
    dataset.name, dataset.description = ENDLESS[:60], ENDLESS
    dataset.source_address = f"https://example.org/{ENDLESS[:150]}"
    dataset.save()
    gold = ScoreSetFactory(dataset=dataset, name="gold")
    texts = {0: FORTY_WORDS, 1: ENDLESS, 2: "<script>alert(1)</script>"}
    made = []
    for number in range(24):
        a = SentenceFactory(dataset=dataset, text=texts.get(number, f"The {number}th dog sleeps."))
        pair = PairFactory(
            dataset=dataset, external_id=f"pair-{number}", a=a, source=("news", "captions")[number % 2]
        )
        PairScore.objects.create(score_set=gold, pair=pair, value=number / 6)
        made.append(pair)
    return made


def rows(page: Page):
    return table(page).get_by_role("rowheader")


def table(page: Page):
    """The table of pairs; the charts below have tables of their own."""
    return page.locator("#pairs").get_by_role("table")


@pytest.mark.exhaustive
def test_the_short_name_of_a_new_dataset_follows_its_name_until_it_is_written(staff_page: Page) -> None:
    staff_page.goto("/datasets/new/")
    name, short = (staff_page.get_by_label(label, exact=True) for label in ("Name", "Short name"))

    name.press_sequentially("Größe & Café, 2. Teil ")
    expect(short).to_have_value("grosse-cafe-2-teil")
    short.fill("sizes")
    name.press_sequentially("of houses")
    expect(short).to_have_value("sizes")
    short.fill("")
    name.press_sequentially("!")
    expect(short).to_have_value("")


def test_a_person_logs_in(page: Page, owner, dataset) -> None:
    owner.set_password(PASSWORD)
    owner.save()
    page.goto("/accounts/login/")
    page.get_by_label("Username").fill("owner")
    page.get_by_label("Password").fill(PASSWORD)

    page.get_by_role("button", name="Log in").click()

    expect(page.get_by_role("heading", name="What waits for you")).to_be_visible()
    page.get_by_role("region", name="Your datasets").get_by_role("link", name=dataset.name).click()
    expect(page).to_have_url(re.compile(f"/datasets/{dataset.slug}/"))


@pytest.mark.exhaustive
def test_filtering_exchanges_the_table_and_becomes_the_address(curator_page: Page, dataset, pairs) -> None:
    page = curator_page
    page.goto(f"/datasets/{dataset.slug}/")
    filters = page.get_by_role("search", name="Filter the pairs")

    filters.get_by_label("Source").select_option("captions")
    filters.get_by_label("Words").fill("17th")
    filters.get_by_role("button", name="Filter").click()

    expect(rows(page)).to_have_text(["pair-17"])
    expect(page).to_have_url(re.compile(r"\?search=17th&source=captions&score_set=\d+$"))


@pytest.mark.exhaustive
def test_going_back_brings_the_earlier_table(curator_page: Page, dataset, pairs) -> None:
    page = curator_page
    page.goto(f"/datasets/{dataset.slug}/?source=news")
    page.get_by_role("searchbox", name="Words").fill("4th")
    page.get_by_role("button", name="Filter").click()
    expect(page.get_by_text("2 pairs", exact=True)).to_be_visible()

    page.go_back()

    expect(page.get_by_text("12 pairs", exact=True)).to_be_visible()


@pytest.mark.exhaustive
def test_a_heading_sorts_and_next_stays_in_that_order(curator_page: Page, dataset, pairs) -> None:
    page = curator_page
    page.goto(f"/datasets/{dataset.slug}/?source=news")
    table(page).get_by_role("link", name="gold").click()
    table(page).get_by_role("link", name="gold").click()
    rows(page).first.get_by_role("link").click()

    page.get_by_role("link", name="Next").click()

    expect(page.get_by_role("heading", name="Pair pair-20")).to_be_visible()


def test_a_file_is_imported_in_three_steps(curator_page: Page, dataset, tmp_path: Path) -> None:
    page = curator_page
    (tmp_path / "animals.csv").write_text(ROWS)
    page.goto(f"/datasets/{dataset.slug}/import/")
    page.get_by_label("File").set_input_files(tmp_path / "animals.csv")
    page.get_by_role("button", name="Upload and preview").click()
    expect(
        page.get_by_text("First sentence: sentence1 · Second sentence: sentence2 · Score: score")
    ).to_be_visible()
    expect(page.get_by_label("First sentence")).to_be_hidden()
    page.get_by_text("Change what is read").click()
    expect(page.get_by_label("First sentence")).to_have_value("sentence1")

    page.get_by_role("button", name="Check the import").click()
    expect(page.get_by_role("cell", name="sentence a is empty")).to_be_visible()
    page.get_by_role("button", name="Import 1 pair").click()
    page.get_by_role("link", name="View the pairs").click()

    expect(page.get_by_text("A dog is running.")).to_be_visible()


def test_someone_new_comes_in_by_a_link(owner_page: Page, dataset, new_context) -> None:
    owner_page.goto(f"/datasets/{dataset.slug}/members/")
    owner_page.get_by_role("link", name="Invite people").click()
    owner_page.get_by_role("button", name="Create the link").click()
    link = owner_page.get_by_label("Invitation link").input_value()
    guest = new_context().new_page()
    guest.goto(link)

    guest.get_by_label("Username").fill("newcomer")
    guest.get_by_label("Password", exact=True).fill(PASSWORD)
    guest.get_by_label("Password again").fill(PASSWORD)
    guest.get_by_role("button", name="Create the account and join").click()

    expect(
        guest.get_by_text(f"You are now a member of {dataset.name}, with the role annotator.")
    ).to_be_visible()
    assert Membership.objects.get(user__username="newcomer").role == "annotator"


def test_a_removal_is_undone_on_the_spot(owner_page: Page, dataset, annotator) -> None:
    owner_page.goto(f"/datasets/{dataset.slug}/members/")
    owner_page.get_by_role("button", name="Remove annotator").click()

    owner_page.get_by_role("button", name="Undo").click()

    expect(owner_page.get_by_role("rowheader", name="annotator")).to_be_visible()


def test_the_chosen_colours_stay(owner_page: Page, dataset) -> None:
    owner_page.goto("/datasets/")
    owner_page.get_by_text("owner", exact=True).click()
    owner_page.get_by_role("button", name="Dark").click()

    owner_page.goto(f"/datasets/{dataset.slug}/")

    expect(owner_page.locator("html")).to_have_attribute("data-theme", "dark")


PAGES = [
    "",
    "pairs/{pair}/",
    "import/",
    "compose/",
    "export/",
    "splits/",
    "edits/",
    "log/",
    "score-sets/",
    "snapshots/",
    "members/",
    "invitations/",
    "webhooks/",
    "settings/",
]


@pytest.fixture
def addresses(dataset, pairs) -> list[str]:
    own = [f"/datasets/{dataset.slug}/" + page.format(pair=pairs[1].pk) for page in PAGES]
    return ["/datasets/", "/datasets/new/", "/accounts/password/", "/accounts/tokens/", *own]


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_no_page_scrolls_sideways(open_as, owner, addresses, width: int) -> None:
    page = open_as(owner, width=width)

    overflowing = {}
    for address in addresses:
        page.goto(address)
        if pixels := sideways_overflow(page):
            overflowing[address] = pixels

    assert overflowing == {}


NAMELESS = """
() => [...document.querySelectorAll('input:not([type=hidden]), select, textarea, button, a[href]')]
  .filter((e) => !(e.labels && e.labels.length) && !e.getAttribute('aria-label') && !e.textContent.trim())
  .map((e) => e.outerHTML)
"""


@pytest.mark.exhaustive
def test_every_control_has_a_name(owner_page: Page, addresses) -> None:
    nameless = {}
    for address in addresses:
        owner_page.goto(address)
        if found := owner_page.evaluate(NAMELESS):
            nameless[address] = found

    assert nameless == {}


@pytest.mark.exhaustive
def test_no_page_breaks_the_content_security_policy(owner_page: Page, addresses) -> None:
    complaints: list[str] = []
    owner_page.on("console", lambda message: complaints.append(message.text))
    owner_page.on("pageerror", lambda error: complaints.append(str(error)))

    for address in addresses:
        owner_page.goto(address)

    assert complaints == []


def test_filtering_after_the_session_ended_asks_for_a_login(curator_page: Page, dataset, pairs) -> None:
    page = curator_page
    page.goto(f"/datasets/{dataset.slug}/")
    page.context.clear_cookies()

    page.get_by_role("button", name="Filter").click()

    expect(page.get_by_role("heading", name="Log in")).to_be_visible()


def test_filtering_a_dataset_that_one_has_just_left_says_so(
    curator_page: Page, dataset, pairs, curator
) -> None:
    page = curator_page
    page.goto(f"/datasets/{dataset.slug}/")
    Membership.objects.filter(user=curator).delete()

    page.get_by_role("button", name="Filter").click()

    expect(page.get_by_role("heading", name="Page not found")).to_be_visible()


def test_twelve_pairs_can_be_seen_at_once(curator_page: Page, dataset, pairs) -> None:
    dataset.name = "A dataset with a description"
    dataset.save()
    scores = dataset.score_sets.get()
    scores.name = "human: Relatedness of the first campaign, counting"
    scores.kind, scores.parameters = "human", {"annotators": 6, "simulated_annotators": 6}  # with a mark
    scores.save()
    for pair in pairs:  # also those with 40 words
        pair.a.dataset.sentences.filter(pk=pair.a_id).update(text=f"{FORTY_WORDS} {pair.pk}")
    # And with as many facts as a dataset can have.
    p_d = ScoreSetFactory(dataset=dataset, name="run 3: p_D", kind="realism")
    for number, pair in enumerate(pairs):
        dataset.pairs.filter(pk=pair.pk).update(
            source=f"a-source-with-a-long-name-{number % 6}", split="abcd"[number % 4]
        )
        dataset.sentences.filter(pk=pair.b_id).update(origin="machine")
        SentenceScore.objects.create(score_set=p_d, sentence=pair.b, value=0.5)
    # Also those that were composed, or set aside, which a tag says.
    dataset.pairs.update(origin="sampled")
    dataset.pairs.filter(pk__in=[pair.pk for pair in pairs[::2]]).update(status="retired")
    curator_page.goto(f"/datasets/{dataset.slug}/")

    ends = curator_page.evaluate(
        "() => [...document.querySelectorAll('#pairs tbody tr')].map((row) => row.getBoundingClientRect().bottom)"
    )

    assert sum(end <= 900 for end in ends) >= 12, ends[:12]


@pytest.mark.exhaustive
@pytest.mark.parametrize("width", [390, 1280])
def test_columns_are_chosen_by_keyboard_and_stay(open_as, curator, dataset, pairs, width: int) -> None:
    page = open_as(curator, width=width)
    page.goto(f"/datasets/{dataset.slug}/?source=captions")
    page.get_by_text("Columns", exact=True).focus()
    page.keyboard.press("Enter")
    page.get_by_role("checkbox", name="Words in common (Dice)").focus()
    page.keyboard.press("Space")
    page.get_by_role("button", name="Show these columns").focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"\?source=captions&columns=source%2Coverlap$"))

    page.get_by_role("searchbox", name="Words").fill("17th")
    page.get_by_role("button", name="Filter").click()
    expect(rows(page)).to_have_text(["pair-17"])

    page.goto(f"/datasets/{dataset.slug}/")
    assert "columns=source%2Coverlap" in page.url
    assert sideways_overflow(page) == 0
