"""A linguistic analysis: tables for each family of groups, a chart, and what they show."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.text import get_text_list
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from curation.files.heavy import alt
from curation.results.estimates import Estimate, estimate_stored
from curation.results.reports import Chart, Points, Report, Section, Text
from curation.results.tables import Cell, Column, Row, Table
from mlworkers.kinds.dot_chart import Dot, dots_in_rows, labels_axis
from mlworkers.kinds.reader import Reader
from mlworkers.models import Run
from mlworkers.science.linguistics.measures import DIVERSITY, MEASURES, SUMMARY, Group

_Stored = Mapping[str, Any]
GROUP_LABELS: Mapping[str, Any] = {
    Group.HUMAN: gettext_lazy("human"),
    Group.GENERATED: gettext_lazy("generated"),
    Group.HIGHEST: gettext_lazy("highest p_D"),
    Group.LOWEST: gettext_lazy("lowest p_D"),
}
_OF_FILE = (
    "target", "group", "measure", "value", "low", "high", "difference_from_human", "difference_low", "difference_high",
    "at_own_size", "budget_tokens", "pairs", "sentences", "tokens",
)  # fmt: skip
_WIDTH, _ROW, _COLUMNS = 190, 26, 2  # of the chart's panels
_LABELS = 100  # pixels for the names of groups, which grow on a telephone (curation/charts.py)


def language_report(run: Run, _reader: Reader) -> Report:
    families = run.result.get("families", [])
    data: list[Row] = []  # for each family, group and measure; a target of "" means all generated pairs
    for family in families:
        target = "" if family["target"] is None else family["target"]
        for group in family["groups"]:
            data += [
                [
                    target, group["group"], name, *estimate_stored(group["figures"][name]),
                    *difference_from_human(group, name), group["at_own_size"].get(name), family["budget"],
                    group["pairs"], group["sentences"], group["tokens"],
                ]
                for name in MEASURES
            ]  # fmt: skip
    return Report(
        title=_("Linguistic analysis %(number)s") % {"number": run.pk},
        parts=[_chart(families[0]), *map(_section, families), _how_to_read()] if families else [],
        data=Table(list(map(Column, _OF_FILE)), data),
    )


def difference_from_human(group: _Stored, measure: str) -> Estimate:
    return estimate_stored(group["differences"].get(measure))


def _label(group: _Stored) -> str:
    return str(GROUP_LABELS.get(group["group"], group["group"]))


def _section(family: _Stored) -> Section:
    """The rows of the paper's Table 1, and folded the further ones of its Table 4."""
    heading = _("All generated pairs")
    if family["target"] is not None:
        target = Column(digits=1).text(float(family["target"]))
        heading = _("Target similarity %(target)s") % {"target": target}
    groups = family["groups"]
    columns = [Column(label=_("Measure"), form="text")] + [
        Column(
            label=_label(group),
            note=_("%(pairs)s pairs, %(tokens)s tokens")
            % {"pairs": intcomma(group["pairs"]), "tokens": intcomma(group["tokens"])},
        )
        for group in groups
    ]

    def rows(names: Sequence[str]) -> list[Row]:
        return [
            [
                name,
                *(
                    Cell(
                        estimate_stored(group["figures"][name]),
                        strong=difference_from_human(group, name).differs,
                    )
                    for group in groups
                ),
            ]
            for name in names
        ]

    further = rows([name for name in MEASURES if name not in SUMMARY])
    own_sizes: list[Row] = [
        [name, *(group["at_own_size"].get(name) for group in groups)] for name in DIVERSITY
    ]
    divided = [
        ("", len(further)), (_("All sentences of each group, whatever its size"), len(own_sizes))
    ]  # fmt: skip
    note = _(
        "Distinct-n and the Zipf coefficient depend on the size of a group. They are computed for %(budget)s tokens "
        "in every group, so that groups can be compared. “All measures” also shows those of all sentences, as papers "
        "print them. Do not compare groups of different sizes by them."
    ) % {"budget": intcomma(family["budget"])}
    folded = Section(_("All measures"), [Table(columns, [*further, *own_sizes], divided)], folded=True)
    return Section(heading, [Table(columns, rows(SUMMARY)), folded, Text(note, "soft")])


def _how_to_read() -> Section:
    points = [
        _(
            "Bold: the 95 % interval of the difference from the human pairs excludes 0. Lighter figures are 95 % "
            "intervals. Pairs with the same first sentence count as one unit, because they resemble each other. No "
            "correction for the number of measures is made."
        ),
        _(
            "BLEU and Jaccard say how many words the two sentences of a pair have in common. Pairs of low p_D often "
            "have a low target similarity, and therefore few words in common. Compare them within one target "
            "similarity as well."
        ),
        _(
            "These are the measures of Tables 1 and 4 of RISE (Kim et al. 2022), as fractions. The paper prints them "
            "times 100."
        ),
    ]
    return Section(_("How to read this"), [Points(points)])


def _finding(family: _Stored) -> str:
    """In which of the summary's measures each group differs from the human pairs, and by which side."""
    clauses = []
    for group in family["groups"]:
        if group["group"] == Group.HUMAN:
            continue
        differences = {name: difference_from_human(group, name) for name in SUMMARY}
        sides = [
            _("%(measure)s (%(side)s)")
            % {"measure": name, "side": _("higher") if (one.value or 0) > 0 else _("lower")}
            for name, one in differences.items()
            if one.differs
        ]
        words = {"group": _label(group), "pairs": intcomma(group["pairs"])}
        sentence = _("The pairs “%(group)s” (%(pairs)s) differ from human pairs in no measure.")
        if sides:
            words["measures"] = get_text_list(sides, _("and"))
            sentence = _("The pairs “%(group)s” (%(pairs)s) differ from human pairs in %(measures)s.")
        clauses.append(sentence % words)
    if len(clauses) == len(family["groups"]) or not clauses:
        return _("There are not both human and generated pairs, so nothing can be compared.")
    return " ".join(clauses)


def _chart(family: _Stored) -> Chart:
    """The summary's measures: a panel for each, since their scales differ, with a row for each group."""
    groups = {_label(group): group for group in family["groups"]}
    figures = {
        name: {label: estimate_stored(group["figures"][name]) for label, group in groups.items()}
        for name in SUMMARY
    }
    shown = [
        name
        for name, of_groups in figures.items()
        if any(one.value is not None for one in of_groups.values())
    ]
    panels = [
        dots_in_rows(
            [Dot(label, *one) for label, one in figures[name].items()],
            title=name,
            width=_WIDTH,
            row=_ROW,
            ticks=alt.Axis(tickCount=3, format=".2~f"),
            # The first panel of a line names the groups of every panel in it.
            labels=labels_axis(
                list(groups), room=0 if place % _COLUMNS else _LABELS, shown=not place % _COLUMNS
            ),
        )
        for place, name in enumerate(shown)
    ]
    return Chart(
        name="language",
        finding=_finding(family),
        n=sum(group["pairs"] for group in family["groups"] if group["group"] in ("human", "generated")),
        unit=_("pairs"),
        drawing=alt.concat(*panels, columns=_COLUMNS, spacing=24, align="each").to_dict(),
        columns=[_("group"), _("measure"), _("value"), _("from"), _("to")],
        rows=[
            [label, name, *figures[name][label]]
            for label in groups
            for name in SUMMARY
            if figures[name][label].value is not None
        ],
    )
