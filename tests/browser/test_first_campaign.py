"""The clicks of docs/guide/start/first-campaign.md, in two browsers, and then its last commands."""

import re
import shlex
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command
from playwright.sync_api import Locator, Page, expect

from annotation.models import Campaign
from annotation.results.works import work_carry_out
from curation.models import User

pytestmark = pytest.mark.browser
ROOT = Path(settings.BASE_DIR)
PAGE = (ROOT / "docs/guide/start/first-campaign.md").read_text("utf-8")
# What the page names in italics; a path such as *Scores › Publish scores* is several names.
NAMED = {name for text in re.findall(r"(?<!\*)\*([^*\n]+)\*(?!\*)", PAGE) for name in text.split(" › ")}


def press(page: Page, name: str, *, within: str = "body") -> None:
    """Press the button, link or folded heading that the tutorial names."""
    assert name in NAMED or re.sub(r"\d+", "800", name) in NAMED, f"The tutorial does not name “{name}”."
    found = page.locator(within)
    begins = re.compile(rf"^\s*{re.escape(name)}(\s|$)")  # a screen reader hears more: “Begin Relatedness”
    control: Locator = (
        found.get_by_role("button", name=begins)
        .or_(found.get_by_role("link", name=begins))
        .or_(found.locator("summary").filter(has_text=begins))
    )
    control.locator("visible=true").first.click()


def field(page: Page, label: str) -> Locator:
    assert f"**{label}**" in PAGE, f"The tutorial does not name the field “{label}”."
    return page.get_by_label(label, exact=True)


def campaign_opened(owner: Page) -> Campaign:
    """Steps 2 to 5: import, plan, attention checks, opening."""
    owner.goto("/datasets/")
    press(owner, "Create a dataset")
    owner.get_by_label("Name", exact=True).fill("first")
    owner.get_by_label("Short name").fill("first")
    owner.get_by_role("button", name="Create the dataset").click()
    owner.get_by_label("File").set_input_files(ROOT / "docs/examples/pairs.csv")
    press(owner, "Upload and preview")
    press(owner, "Check the import")
    press(owner, "Import 800 pairs")
    press(owner, "Plan a campaign")
    field(owner, "Name").fill("Relatedness")
    field(owner, "Number of pairs").fill("60")
    field(owner, "Guidelines").fill((ROOT / "docs/examples/guidelines.md").read_text("utf-8"))
    field(owner, "Judgements per tuple").fill("4")
    press(owner, "Make draft")
    press(owner, "Attention checks")
    press(owner, "Suggest", within="main")  # leads to the page that suggests
    press(owner, "Suggest", within="main form")
    for box in owner.locator("[name$=-keep]").all()[:8]:
        box.check()
    press(owner, "Keep the chosen ones")
    campaign = Campaign.objects.get()
    owner.goto(f"/campaigns/{campaign.pk}/")
    press(owner, "Open campaign")
    press(owner, "Open it now")
    expect(owner.get_by_text("Nobody has annotated yet.")).to_be_visible()
    return campaign


def link_made(owner: Page) -> str:
    """Step 6: the address of an invitation."""
    press(owner, "Settings")
    press(owner, "Members")
    press(owner, "Invite people")
    owner.get_by_label("Role").select_option("annotator")
    owner.get_by_label("people", exact=False).last.fill("4")
    press(owner, "Create the link")
    return owner.get_by_label("Invitation link").input_value()


def question_answered(annotator: Page, link: str) -> None:
    """Step 7, in the other window."""
    annotator.goto(link)
    annotator.get_by_label("Username").fill("nora")
    for box in annotator.locator("[type=password]").all():
        box.fill("a-long-enough-secret")
    annotator.get_by_role("button", name="Create the account and join").click()
    press(annotator, "Annotate")
    press(annotator, "Begin")
    press(annotator, "Start annotating")
    annotator.keyboard.press("1")
    annotator.keyboard.press("r")
    press(annotator, "Next")
    expect(annotator.get_by_text("1 answered in this session")).to_be_visible()


def scores_published(owner: Page, campaign: Campaign) -> None:
    """Step 9: scores, a snapshot, and the page with the methods section."""
    owner.goto(f"/campaigns/{campaign.pk}/")
    press(owner, "Scores")
    press(owner, "Publish scores")
    press(owner, "Publish scores", within="main form")
    expect(owner.locator("main")).to_contain_text("A worker computes the scores and publishes them.")
    work_carry_out(work_pk=campaign.works.get().pk, beats=False)
    owner.reload()
    press(owner, "Pairs")
    press(owner, "Snapshots")
    owner.get_by_label("Scores", exact=True).select_option(campaign.dataset.score_sets.get(kind="human").name)
    press(owner, "Create a snapshot")
    press(owner, "Results")
    press(owner, "Export and publish")
    press(owner, "Publish a snapshot")
    press(owner, "Read the methods section")
    expect(owner.get_by_role("heading", level=1)).to_contain_text("Methods")


def test_the_first_campaign_is_played_as_its_page_says(
    new_context, open_as, staff: User, tmp_path: Path, monkeypatch, capsys
) -> None:
    owner: Page = open_as(staff)
    campaign = campaign_opened(owner)
    link = link_made(owner)
    question_answered(new_context(viewport={"width": 1280, "height": 900}).new_page(), link)
    (simulate,) = re.findall(r"`semblance (simulate) 1 (--beside-people)`", PAGE)
    call_command(simulate[0], str(campaign.pk), simulate[1])
    scores_published(owner, campaign)
    assert campaign.dataset.score_sets.filter(kind="human").exists()

    (_sh, commands), (_text, shown) = re.findall(r"```(sh|text)\n(.*?)```", PAGE, re.DOTALL)[-2:]
    (tmp_path / "var").mkdir()
    monkeypatch.chdir(tmp_path)
    for line in commands.splitlines():
        call_command(*shlex.split(line)[1:])

    assert set(shown.splitlines()) <= set(capsys.readouterr().out.splitlines())
