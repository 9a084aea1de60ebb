"""What pages of every app share: the head of a dataset, and the colour of a state."""

import math
from typing import Any, NamedTuple

from django import template
from django.template.context import Context
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from curation.datasets.selectors import dataset_facts
from curation.exchange.importing import CHANGE_NAMES, change_shown
from curation.exchange.rating_words import ratings_in_words
from curation.files.marked_text import marked_html
from curation.models import AuditEntry, Dataset, mark_shown
from curation.pairs.judged_by import judged_by
from curation.people.access import dataset_rights
from curation.people.audit import audit_details, detail_shown

register = template.Library()


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


class DatasetTab(NamedTuple):
    label: str
    address: str
    here: bool


@register.inclusion_tag("curation/_dataset_head.html", takes_context=True)
def dataset_head(context: Context, dataset: Dataset, here: str = "") -> dict[str, Any]:
    """The dataset with its facts, and the pages about it that the person may open; `here` names the one shown."""
    rights = dataset_rights(context["user"], dataset)
    wanted = [
        ("dataset", _("Pairs"), "read"),
        ("review", _("Review"), "curate"),
        ("import", _("Import"), "oversee"),
        ("splits", _("Splits"), "read"),
        ("export", _("Export"), "read"),
        ("snapshots", _("Snapshots"), "read"),
        ("members", _("Members"), "read"),
        ("audit", _("Log"), "audit"),
        ("settings", _("Settings"), "archive"),
    ]
    tabs = [
        DatasetTab(label, reverse(f"curation:{name}", args=[dataset.slug]), here=name == here)
        for name, label, right in wanted
        if right in rights
    ]
    if "read" in rights:
        # Wherever a campaign, a run, a model or a comparison is shown, which have their own addresses, is its tab.
        path = context["request"].path
        campaigns, runs = reverse("annotation:campaign_list"), reverse("mlworkers:run_list")
        of_runs = (runs, reverse("mlworkers:model_list"), reverse("mlworkers:comparison_list"))
        asked = f"?dataset={dataset.slug}"
        tabs.insert(1, DatasetTab(_("Campaigns"), campaigns + asked, here=path.startswith(campaigns)))
        runs_tab = DatasetTab(_("Runs"), runs + asked, here=path.startswith(of_runs))
        tabs.insert(-1 - 2 * ("archive" in rights), runs_tab)
    return {
        "dataset": dataset,
        "facts": dataset_facts(dataset),
        "tabs": tabs,
        "rights": rights,
        "campaign": context.get("campaign"),
        "request": context["request"],
    }
