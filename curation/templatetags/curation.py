"""What pages of every app share: the head of a dataset, and the colour of a state."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django import template
from django.template.context import Context
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext_lazy

from curation.datasets.selectors import dataset_facts
from curation.exchange.importing import CHANGE_NAMES, change_shown
from curation.exchange.rating_words import agreement_in_words, ratings_in_words
from curation.files.marked_text import marked_html
from curation.models import AuditEntry, Dataset, mark_shown
from curation.pairs.judged_by import judged_by
from curation.people.access import dataset_rights
from curation.people.accounts.visitors import is_of_this_machine
from curation.people.audit import audit_details, detail_shown

register = template.Library()
register.filter("of_this_machine", is_of_this_machine)


# The class of a tag (static/css/app.css) for each state, status and verdict that a page shows.
_STATES = {
    "good": ("succeeded", "keep"),
    "wrong": ("failed", "reject", "rejected", "excluded"),
    "accent": ("running", "edit", "gold"),
    "doubtful": ("cancelled", "retired", "extra"),
}
_TONES = {state: tone for tone, states in _STATES.items() for state in states}
SMALLEST_IN_DECIMALS = 0.001


@register.filter
def tone(value: str) -> str:
    """The class that a tag with this state, status or verdict has; none for an ordinary one."""
    return _TONES.get(value, "")


@register.filter
def marked(text: str) -> SafeString:
    """Markdown that a curator wrote, as HTML."""
    return mark_safe(marked_html(text))  # noqa: S308 - it escapes all HTML of the text


@register.filter
def web_address(text: str) -> str:
    """The text if it is an address of the web, else "": an address from a backup was checked by no form."""
    return text if text.lower().startswith(("http://", "https://", "ftp://", "ftps://")) else ""


@register.filter(name="agreement_in_words")
def agreement_sentences(facts: Mapping[str, Any]) -> list[str]:
    """facts: of a score set. How far raters agree, where it says so."""
    return [agreement_in_words(facts["agreement"])] if facts.get("agreement") else []


@register.filter(name="ratings_in_words")
def ratings_shown(facts: dict[str, int] | None) -> list[str]:
    """The sentences on an import of ratings; none of another one."""
    return list(ratings_in_words(facts)) if facts else []


@register.filter
def mark(judges: str) -> str:
    """The mark of scores of these judges; "" of people. judges: in the words of files."""
    return mark_shown(judges)


@register.simple_tag
def judges_mark(annotators: int, simulated: int) -> str:
    """The mark of what so many annotators judged, of whom so many are simulated."""
    return mark_shown(judged_by("human", annotators=annotators, simulated=simulated))


@register.filter
def figure(value: float | None, digits: int = 3) -> str:
    """A correlation or the like with so many digits: "0.847", "−0.051", "–" where there is none."""
    return "–" if value is None else f"{value:.{digits}f}".replace("-", "−")


@register.filter
def in_short(value: object) -> object:
    """A number of a chart's table with at most four decimals, or two digits where it is smaller; its CSV has all."""
    if not isinstance(value, float) or value.is_integer() or not math.isfinite(value):
        return value
    return f"{value:.2g}" if abs(value) < SMALLEST_IN_DECIMALS else f"{value:.4f}".rstrip("0")


@register.filter
def details_shown(entry: AuditEntry) -> list[tuple[str, str]]:
    """What an entry of the log says beside its subject, each with its label."""
    return audit_details(entry)


@register.filter
def in_words(details: dict[str, Any]) -> str:
    """What a part of an entry's details says, such as which pairs an edit was about."""
    return detail_shown(details)


@register.filter
def change_name(what: str) -> str:
    """What a row of an import changes of a pair."""
    return str(CHANGE_NAMES.get(what, what))


@register.filter
def change_value(value: str | float | None) -> str:
    """What a pair has, or gets by an import."""
    return change_shown(value)


class DatasetPage(NamedTuple):
    """A page about a dataset, in the head of all of them.

    tab: the value of the block `tab` in the templates of the page and of those below it.
    right: the right to the dataset that opens it.
    starts: the addresses of other pages that belong to it, as "app:name" of URLs without arguments.
    by_query: whether its address is a list of the whole site, narrowed to the dataset.
    """

    tab: str
    label: Any
    view: str
    right: str
    starts: Sequence[str] = ()
    by_query: bool = False

    def address(self, dataset: Dataset) -> str:
        if self.by_query:
            return f"{reverse(self.view)}?dataset={dataset.slug}"
        return reverse(self.view, args=[dataset.slug])

    def is_at(self, tab: str, path: str) -> bool:
        return (
            path.startswith(tuple(reverse(name) for name in self.starts)) if self.starts else tab == self.tab
        )


# The tabs, and the pages of each. A tab leads to the first of its pages that the person may open.
DATASET_TABS: Sequence[tuple[Any, Sequence[DatasetPage]]] = [
    (
        gettext_lazy("Pairs"),
        [
            DatasetPage("dataset", gettext_lazy("Pairs"), "curation:dataset", "read"),
            DatasetPage("import", gettext_lazy("Import"), "curation:import", "oversee"),
            DatasetPage("splits", gettext_lazy("Splits"), "curation:splits", "read"),
            DatasetPage("snapshots", gettext_lazy("Snapshots"), "curation:snapshots", "read"),
        ],
    ),
    (
        gettext_lazy("Campaigns"),
        [
            DatasetPage(
                "",
                gettext_lazy("Campaigns"),
                "annotation:campaign_list",
                "read",
                ["annotation:campaign_list"],
                by_query=True,
            )
        ],
    ),
    (
        gettext_lazy("Generate and review"),
        [
            DatasetPage("review", gettext_lazy("Review"), "curation:review", "curate"),
            DatasetPage("paraphrases", gettext_lazy("Paraphrases"), "mlworkers:paraphrases", "read"),
        ],
    ),
    (
        gettext_lazy("Results"),
        [
            DatasetPage(
                "",
                gettext_lazy("Runs"),
                "mlworkers:run_list",
                "read",
                ["mlworkers:run_list", "mlworkers:model_list", "mlworkers:comparison_list"],
                by_query=True,
            ),
            DatasetPage("scores", gettext_lazy("Score sets"), "curation:score_sets_compared", "read"),
            DatasetPage("export", gettext_lazy("Export and publish"), "curation:export", "read"),
        ],
    ),
    (
        gettext_lazy("Settings"),
        [
            DatasetPage("settings", gettext_lazy("Settings"), "curation:settings", "archive"),
            DatasetPage("members", gettext_lazy("Members"), "curation:members", "read"),
            DatasetPage("audit", gettext_lazy("Log"), "curation:audit", "audit"),
        ],
    ),
]


class DatasetTab(NamedTuple):
    """A tab, or one of its pages.

    here: whether the page that is shown belongs to it.
    """

    label: str
    address: str
    here: bool


@register.inclusion_tag("curation/_dataset_facts.html")
def dataset_facts_again(dataset: Dataset, now: bool) -> dict[str, Any]:
    """The facts in the head of a page that is open; `now`: also of a large dataset as they are at this moment."""
    return {"facts": dataset_facts(dataset, now=now), "again": True}


@register.inclusion_tag("curation/_dataset_head.html", takes_context=True)
def dataset_head(context: Context, dataset: Dataset, here: str = "") -> dict[str, Any]:
    """The dataset with its facts, the tabs that the person may open, and the pages of the tab that is open.

    here: the tab of the page that is shown.
    """
    rights, path = dataset_rights(context["user"], dataset), context["request"].path
    tabs, pages = [], []
    for label, all_pages in DATASET_TABS:
        allowed = [
            DatasetTab(page.label, page.address(dataset), page.is_at(here, path))
            for page in all_pages
            if page.right in rights
        ]
        is_here = any(page.here for page in allowed)
        if allowed:
            tabs.append(DatasetTab(label, allowed[0].address, is_here))
        if is_here:
            pages = allowed if len(allowed) > 1 else []
    return {
        "dataset": dataset,
        "facts": dataset_facts(dataset),
        "tabs": tabs,
        "pages": pages,
        "rights": rights,
        "campaign": context.get("campaign"),
        "request": context["request"],
    }
