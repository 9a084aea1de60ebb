"""The guide as pages of the site: every file of docs/guide, its links and pictures, and nothing from elsewhere."""

import re
import runpy
import tomllib
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.urls import URLResolver, get_resolver

from mlworkers.plans.kinds import KINDS
from semblance.guide.contents import GROUPS, MOVED
from semblance.guide.links import EXPLAINED
from semblance.guide.rendering import FOLDER, page_files, page_groups, page_read
from semblance.guide.search import search, sections_of
from tests.factories import DatasetFactory, MembershipFactory, client_of
from tests.integration.semblance.every_address import ALL, answered, path_of
from tests.integration.semblance.objects_of_others import Others

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).parents[3]


class Parts(HTMLParser):
    """Ids, and the addresses of links and of what a browser fetches by itself."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        about = dict(attrs)
        self.ids.add(about.get("id") or "")
        if tag == "a":
            self.links.append(about.get("href") or "")
        elif tag in ("img", "script", "link", "iframe"):
            self.fetched.append(about.get("src") or about.get("href") or "")


def read(text: str, guide: Path):
    """A page of the first group."""
    (guide / "start").mkdir(exist_ok=True)
    (guide / "start" / "one.md").write_text(text)
    return page_read(
        "one", page_address="/guide/{}/".format, image_address="/pictures/{}".format, folder=guide
    )


@pytest.fixture
def reader(client):
    """Somebody without an account."""
    return client


def test_the_guide_lists_every_file_of_docs_guide(reader) -> None:
    page = Parts(reader.get("/guide/").content.decode())

    files = [path.stem for path in (ROOT / "docs" / "guide").glob("**/*.md")]
    assert {f"/guide/{name}/" for name in files} <= set(page.links)
    assert set(page_files()) == set(files)


def test_the_folder_of_a_page_is_its_group_and_its_place_the_one_in_the_list(tmp_path) -> None:
    for path in ("explain/other", "start/better-encoder", "start/first-campaign", "start/appended"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / f"{path}.md").write_text("# A page")

    groups = [(group.title, list(pages)) for group, pages in page_groups(tmp_path)]

    assert groups == [
        ("Start", ["first-campaign", "better-encoder", "appended"]),
        ("Explain", ["other"]),
    ]


def test_each_page_has_its_place_and_no_two_have_one_name() -> None:
    names = [path.stem for path in (ROOT / "docs" / "guide").glob("**/*.md")]
    planned = [name for group in GROUPS for name in group.order]

    assert sorted(names) == sorted(planned) == sorted(set(planned))


def test_each_link_of_a_page_leads_to_a_file_that_is_there() -> None:
    linked = [
        (path.resolve().parent / address, name)
        for name, path in page_files().items()
        for address in re.findall(
            r"\]\((?!https?:)([^)#\s]+)",
            re.sub(r"```.*?```|`[^`]*`", "", path.read_text(), flags=re.DOTALL),
        )
    ]

    assert len(linked) > 100
    assert [(name, target) for target, name in linked if not target.exists()] == []


def test_links_and_pictures_of_a_page_in_a_folder_lead_to_pages_of_other_folders(tmp_path) -> None:
    (tmp_path / "how-to").mkdir()
    (tmp_path / "how-to" / "split.md").write_text("# Split")
    text = "# One\n\n[split](../how-to/split.md#leaks) [log](../../split.md) ![crowd](../pictures/crowd.png)"

    page = read(text, tmp_path)

    assert '<a href="/guide/split/#leaks">split</a>' in page.body
    assert "<span>log</span>" in page.body
    assert 'src="/pictures/crowd.png"' in page.body


def test_a_search_finds_sections_with_every_word_those_with_it_in_the_heading_first(tmp_path) -> None:
    text = "# Splits\n\nSee leaks & seeds.\n\n## Draw\n\nA seed is drawn.\n\n## Leaks\n\nTwo *Seeds* leak.\n"
    sections = sections_of([read(text, tmp_path)])

    found = [(each.section.anchor, each.excerpt) for each in search(sections, "LEAK seed")]

    assert found == [("leaks", "Two Seeds leak."), ("", "See leaks & seeds.")]
    assert search(sections, "leak nowhere") == search(sections, "  ") == []


def test_a_search_finds_other_forms_of_a_word(tmp_path) -> None:
    sections = sections_of([read("# Scores\n\nAn owner withdraws one, and restores it.\n", tmp_path)])

    found = {
        word: len(search(sections, word)) for word in ("withdrawing", "owners", "restored", "publishing")
    }

    assert found == {"withdrawing": 1, "owners": 1, "restored": 1, "publishing": 0}


def test_the_search_works_without_a_script_and_leads_to_the_heading(reader) -> None:
    html = reader.get("/guide/", {"q": "upload_max_bytes"}).content.decode()

    assert "/guide/settings/#upload_max_bytes" in Parts(html).links
    assert reader.get("/guide/", {"q": "<b>"}).content.decode().count("<b>") == 0


@pytest.mark.parametrize(("old", "new"), MOVED.items())
def test_the_address_of_a_page_that_moved_leads_to_its_new_one(reader, old, new) -> None:
    answer = reader.get(f"/guide/{old}/")

    assert (answer.status_code, answer["Location"]) == (301, f"/guide/{new}/")
    assert new in page_files()
    assert old not in page_files()


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", page_files())
def test_every_link_and_picture_of_a_page_leads_somewhere_in_the_site(reader, name) -> None:
    page = Parts(reader.get(f"/guide/{name}/").content.decode())

    for link in page.links:
        address, _hash, anchor = link.partition("#")
        if address.startswith("http"):
            continue
        answer = reader.get(address or f"/guide/{name}/")
        assert answer.status_code in (200, 302), link
        if anchor and address.startswith(("/guide/", "")) and answer.status_code == 200:
            assert anchor in Parts(answer.content.decode()).ids, link
    assert not [address for address in page.fetched if re.match(r"(https?:)?//", address)]
    for address in page.fetched:
        if address.startswith("/guide/"):
            assert reader.get(address).status_code == 200


def test_a_file_of_the_source_code_is_named_and_not_linked(tmp_path) -> None:
    page = read("# One\n\nSee [the log](../experiments/LOG.md) and [two](two.md#part).", tmp_path)

    assert "<span>the log</span>" in page.body
    assert "<span>two</span>" in page.body, "there is no such page"


def test_html_in_a_file_is_text(tmp_path) -> None:
    page = read("# One\n\n<script>alert(1)</script> [a](javascript:alert(1))", tmp_path)

    assert "<script" not in page.body
    assert 'href="javascript' not in page.body


def test_titles_anchors_and_tables_are_those_of_the_site(tmp_path) -> None:
    page = read(
        "# One\n\nThe *first* words.\n\n## Gold, and `more`\n\n## Gold, and more\n\n|  | b |\n|---|--:|\n| 1 | 2 |\n",
        tmp_path,
    )

    assert (page.title, page.lead) == ("One", "The first words.")
    assert [(one.anchor, one.text) for one in page.headings] == [
        ("gold-and-more", "Gold, and more"),
        ("gold-and-more-1", "Gold, and more"),
    ]
    assert "<h1" not in page.body
    assert '<div class="table-wrap"><table>' in page.body
    assert '<td class="num">2</td>' in page.body
    assert "style=" not in page.body
    assert "<th></th>" not in page.body


@pytest.mark.parametrize("address", ["/guide/no-such/", "/guide/pictures/none.png", "/guide/pictures/api.md"])
def test_what_the_guide_does_not_have_is_not_found(reader, address) -> None:
    assert reader.get(address).status_code == 404


def names_of_addresses(patterns, before: str = "") -> Iterator[str]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            namespace = f"{pattern.namespace}:" if pattern.namespace else ""
            yield from names_of_addresses(pattern.url_patterns, before + namespace)
        else:
            yield f"{before}{pattern.name}"


def test_each_sign_beside_a_title_is_of_an_address_and_leads_to_a_page_and_a_heading_that_are_there(
    reader,
) -> None:
    assert set(EXPLAINED) <= set(names_of_addresses(get_resolver().url_patterns))

    for explained in set(EXPLAINED.values()):
        page, _hash, anchor = explained.partition("#")
        html = reader.get(f"/guide/{page}/").content.decode()
        assert page in page_files(), explained
        assert anchor in {"", *Parts(html).ids}, explained


def test_a_refusal_has_no_sign_because_it_is_not_the_page(client) -> None:
    member = MembershipFactory(role="annotator")
    client.force_login(member.user)

    answer = client.get(f"/datasets/{member.dataset.slug}/members/")

    assert answer.status_code == 403
    assert "guide-link" not in answer.content.decode()


def test_a_page_has_a_sign_beside_its_title_that_leads_to_its_page_of_the_guide(staff) -> None:
    dataset = DatasetFactory()
    MembershipFactory(dataset=dataset, user=staff, role="owner")
    client = client_of(staff)

    for address, explained in (
        (f"/datasets/{dataset.slug}/webhooks/", "/guide/webhooks/"),
        ("/accounts/tokens/", "/guide/use-the-api/#get-a-token"),
        (f"/runs/start/train_encoder/?dataset={dataset.slug}", "/guide/runs/#train_encoder"),
    ):
        assert explained in Parts(client.get(address).content.decode()).links


# A question fills the screen, and nothing leads away from it; the others are for people who have yet to log in.
WITHOUT_SIGN = {
    *("judge", "practice", "campaign_preview", "norming_judge", "tuple_skip", "tuple_flag"),
    *("invitation", "password_reset", "password_reset_confirm", "password_reset_complete"),
}


def test_every_page_but_questions_has_a_sign_beside_its_title(settings) -> None:
    settings.MAIL_SERVER = True  # which has pages
    others = Others()
    client = client_of(others.people["superuser"])
    seen, without = set(), set()

    for address in ALL:
        if address.programs or address.route.startswith(("admin/", "api/", "guide/")):
            continue
        with answered(client, "GET", path_of(address, others)) as answer:
            if answer.status_code == 200 and not answer.streaming and b"<main" in answer.content:
                seen.add(address.name)
                if b'class="guide-link"' not in answer.content:
                    without.add(address.name)

    assert without == WITHOUT_SIGN
    assert len(seen) > 100


@pytest.mark.parametrize("kind", KINDS)
def test_the_sign_of_a_form_leads_to_the_heading_of_its_kind_of_run(kind) -> None:
    assert f"\n## {kind}\n" in (ROOT / "docs/guide/reference/runs.md").read_text()


def test_the_form_of_a_run_links_to_the_page_that_its_help_names(staff) -> None:
    dataset = DatasetFactory()
    MembershipFactory(dataset=dataset, user=staff, role="owner")

    html = client_of(staff).get(f"/runs/start/train_encoder/?dataset={dataset.slug}").content.decode()

    assert '<a href="/guide/train-and-compare/">' in html
    assert "docs/guide" not in html


def test_the_static_build_has_the_groups_of_the_site_and_links_only_within_the_guide() -> None:
    build = runpy.run_path(str(ROOT / "docs" / "static_guide.py"))
    config = build["on_config"](SimpleNamespace(nav=None, mdx_configs={}))
    pages = [
        SimpleNamespace(file=SimpleNamespace(src_uri=path))
        for group in config.nav[1:]
        for path in next(iter(group.values()))
    ]

    assert [next(iter(group)) for group in config.nav[1:]] == [group.title for group in GROUPS]
    assert len(pages) == len(page_files())
    assert (
        build["on_page_markdown"](
            "[in](../how-to/split.md#leaks) [out](../../experiments/LOG.md) ![picture](../pictures/crowd.png)",
            page=pages[0],
        )
        == "[in](../how-to/split.md#leaks) out ![picture](../pictures/crowd.png)"
    )
    assert config.mdx_configs["toc"]["slugify"]("Gold, and more", "-") == "gold-and-more"


def test_a_wheel_holds_the_files_of_the_guide() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        patterns = tomllib.load(file)["tool"]["setuptools"]["package-data"]["semblance.guide"]

    held = {path for each in patterns for path in FOLDER.parent.glob(each)}
    assert FOLDER.resolve() == ROOT / "docs" / "guide"
    assert [path for path in FOLDER.glob("**/*") if path not in held] == []
