"""The tables that the demonstration prints: what it showed, its figures, and what to open first."""

from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from rich.table import Table

from annotation.models import Campaign
from semblance.demo.accounts import Account
from semblance.demo.job import Demonstrated
from semblance.demo.judging import YOUR_TURN


def tables(made: Demonstrated, figures: dict[str, Any], accounts: list[Account], *, site: str) -> list[Table]:
    """What is printed at the end, in this order: what the job shows comes first."""
    return [
        shown_table(figures),
        figures_table(made.campaign, figures),
        first_table(made, accounts, site=site),
    ]


def shown_table(figures: dict[str, Any]) -> Table:
    """What the job shows: scores from judgements, an encoder that learned from them, and weighting by p_D."""
    table = _two_columns(_("What it shows"))
    agreement = _figure(figures["latent_spearman"], figures["latent_low"], figures["latent_high"])
    table.add_row(_("Published scores, Spearman correlation with the known relatedness"), agreement)
    people = figures["people"]
    gain = next((one for one in people["differences"] if one["of"] == "plain"), None)
    table.add_row(
        _("An encoder trained on these scores − the same before, Spearman correlation on held-out pairs"),
        _too_few(people) if gain is None else _difference(gain, tests=people["tests"]),
    )
    small = figures["small"]
    weighed = next((one for one in small["differences"] if one["of"] == "realism"), None)
    table.add_row(
        _("Generated pairs weighted by p_D − unweighted, on the same pairs"),
        _too_few(small) if weighed is None else _difference(weighed, tests=small["tests"]),
    )
    return table


def figures_table(campaign: Campaign, figures: dict[str, Any]) -> Table:
    """All figures of the job, in its order."""
    table = _two_columns(_("All figures"))

    # What p_D says of sentences that the grammar of the demonstration cannot write. No person judged them.
    broken = figures["broken"]
    area = _("none to compare")
    if broken["auc"] is not None:
        area = _figure(broken["auc"], broken["low"], broken["high"])
    counted = _("%(broken)s of %(sentences)s") % broken
    lowest = _("%(lowest)s of %(broken)s") % broken
    for row in [
        (_("Pairs annotated"), f"{figures['pairs']:,}"),
        (_("4-tuples"), f"{figures['tuples']:,}"),
        (_("Judgements that count (simulated annotators)"), f"{figures['judgements']:,}"),
        (_("Annotators stopped by the exclusion rule"), f"{figures['annotators_stopped']}"),
        (_("Split-half reliability (Spearman correlation)"), f"{figures['shr_spearman']:.3f}"),
        *comparison_rows(_("On the published scores"), figures["people"]),
        (_("Pairs generated, and kept after clean-up"), f"{figures['generated']:,}, {figures['kept']:,}"),
        (_("Human and machine sentences classified, AUC"), f"{figures['realism_auc']:.3f}"),
        (
            _("Median p_D of human and of machine sentences"),
            f"{figures['median_p_human']:.3f}, {figures['median_p_machine']:.3f}",
        ),
        (_("Machine sentences that the grammar cannot write (broken)"), counted),
        (_("AUC of p_D for broken sentences (by the grammar, not by people)"), area),
        (_("Broken sentences in the lowest tenth of p_D (by the grammar)"), lowest),
        (_("Machine sentences reviewed (simulated curators)"), f"{figures['reviewed']:,}"),
        *comparison_rows(_("MiniLM"), figures["minilm"]),
        *comparison_rows(_("Small encoder"), figures["small"]),
        (_("Seconds"), f"{figures['seconds']:.1f}"),
    ]:
        table.add_row(*row)
    table.caption = _(
        "Dataset “%(dataset)s”, campaign “%(campaign)s”. The annotators and curators are simulated."
    ) % {"dataset": campaign.dataset.slug, "campaign": campaign.name}
    table.caption_justify = "left"
    return table


def first_table(made: Demonstrated, accounts: list[Account], *, site: str) -> Table:
    """Four pages to open first, each with the account to log in with. site: the address of the site, as `http://…`."""
    owner, curator, annotator = accounts
    campaign, dataset = made.campaign, made.campaign.dataset
    yours = Campaign.objects.get(dataset=dataset, name=YOUR_TURN)
    table = Table(title=_("Open first. The passwords are shown only once."), title_justify="left")
    for heading in (_("What you see"), _("Address"), _("User"), _("Password")):
        table.add_column(heading, overflow="fold")
    for what, path, account in [
        (_("Questions to answer, four pairs each"), reverse("annotation:judge", args=[yours.pk]), annotator),
        (_("A campaign that was annotated"), reverse("annotation:campaign", args=[campaign.pk]), curator),
        (
            _("Encoders before and after training"),
            reverse("mlworkers:run_detail", args=[made.learned.pk]),
            owner,
        ),
        (_("The dataset, its charts and pairs"), reverse("curation:dataset", args=[dataset.slug]), curator),
    ]:
        table.add_row(what, f"{site}{path}", account.user.username, account.password)
    return table


def _two_columns(title: str) -> Table:
    table = Table(title=title, title_justify="left", show_header=False)
    table.add_column(justify="left")
    table.add_column(justify="right")
    return table


def _figure(value: float, low: float, high: float) -> str:
    return f"{value:.3f} ({low:.3f}–{high:.3f})"


def comparison_rows(base: str, compared: dict[str, Any]) -> list[tuple[str, str]]:
    """A comparison that began with that baseline model: its correlations, and its differences or why there are none."""
    label = _("%(base)s, “%(name)s”: Spearman correlation on held-out pairs")
    encoders = [
        (label % {"base": base, "name": name}, _figure(row["spearman"], row["low"], row["high"]))
        for name, row in compared["encoders"].items()
    ]
    label = _("%(base)s: %(of)s − %(from)s")
    differences = [
        (label % {"base": base, **one}, _difference(one, tests=compared["tests"]))
        for one in compared["differences"]
    ]
    return encoders + (differences or [(_("%(base)s: differences") % {"base": base}, _too_few(compared))])


def _too_few(compared: dict[str, Any]) -> str:
    too_few = ngettext(
        "not tested: %(number)s seed cannot show how much training varies",
        "not tested: %(number)s seeds cannot show how much training varies",
        compared["seeds"],
    )
    return too_few % {"number": compared["seeds"]}


def _difference(one: dict[str, Any], *, tests: int) -> str:
    """The difference, its interval, and whether that excludes 0, as the page judges it."""
    words = {name: f"{one[name]:+.3f}".replace("-", "−") for name in ("difference", "low", "high")}
    if one["low"] <= 0 <= one["high"]:
        return _("%(difference)s (%(low)s to %(high)s), includes 0") % words
    if one["differs"]:
        return _("%(difference)s (%(low)s to %(high)s), excludes 0") % words
    sentence = _("%(difference)s (%(low)s to %(high)s), excludes 0, but not as one of %(tests)s differences")
    return sentence % {**words, "tests": tests}
