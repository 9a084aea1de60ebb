"""The table that the demonstration prints."""

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from rich.table import Table

from annotation.models import Campaign


def results_table(campaign: Campaign, figures: dict[str, Any]) -> Table:
    """What the demonstration prints at its end."""
    table = Table(title=_("Results"), title_justify="left", show_header=False)
    table.add_column(justify="left")
    table.add_column(justify="right")

    # What p_D says of sentences that the grammar of the demonstration cannot write. No person judged them.
    broken = figures["broken"]
    area = _("none to compare")
    if broken["auc"] is not None:
        area = f"{broken['auc']:.3f} ({broken['low']:.3f}–{broken['high']:.3f})"
    counted = _("%(broken)s of %(sentences)s") % broken
    lowest = _("%(lowest)s of %(broken)s") % broken
    for row in [
        (_("Pairs annotated"), f"{figures['pairs']:,}"),
        (_("4-tuples"), f"{figures['tuples']:,}"),
        (_("Judgements that count (simulated annotators)"), f"{figures['judgements']:,}"),
        (_("Annotators stopped by the exclusion rule"), f"{figures['annotators_stopped']}"),
        (_("Split-half reliability (Spearman correlation)"), f"{figures['shr_spearman']:.3f}"),
        (_("Spearman correlation with the known relatedness"), f"{figures['latent_spearman']:.3f}"),
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


def comparison_rows(base: str, compared: dict[str, Any]) -> list[tuple[str, str]]:
    """A comparison that began with that baseline model: its correlations, and its differences or why there are none."""
    label = _("%(base)s, “%(name)s”: Spearman correlation on held-out pairs")
    encoders = [
        (label % {"base": base, "name": name}, f"{row['spearman']:.3f} ({row['low']:.3f}–{row['high']:.3f})")
        for name, row in compared["encoders"].items()
    ]
    label = _("%(base)s: %(of)s − %(from)s")
    differences = [
        (label % {"base": base, **one}, _difference(one, tests=compared["tests"]))
        for one in compared["differences"]
    ]
    too_few = ngettext(
        "not tested: %(number)s seed cannot show how much training varies",
        "not tested: %(number)s seeds cannot show how much training varies",
        compared["seeds"],
    )
    none = [(_("%(base)s: differences") % {"base": base}, too_few % {"number": compared["seeds"]})]
    return encoders + (differences or none)


def _difference(one: dict[str, Any], *, tests: int) -> str:
    """The difference, its interval, and whether that excludes 0, as the page judges it."""
    words = {name: f"{one[name]:+.3f}".replace("-", "−") for name in ("difference", "low", "high")}
    if one["low"] <= 0 <= one["high"]:
        return _("%(difference)s (%(low)s to %(high)s), includes 0") % words
    if one["differs"]:
        return _("%(difference)s (%(low)s to %(high)s), excludes 0") % words
    sentence = _("%(difference)s (%(low)s to %(high)s), excludes 0, but not as one of %(tests)s differences")
    return sentence % {**words, "tests": tests}
