"""What a balanced selection of paraphrases got of each cell: a table for each split."""

from django.contrib.humanize.templatetags.humanize import intcomma
from django.urls import reverse
from django.utils.translation import gettext as _

from curation.results.reports import Link, Links, Part, Points, Report, Section, Text
from curation.results.tables import Column, Row, Table
from mlworkers.kinds.reader import Reader
from mlworkers.models import Run
from mlworkers.science.paraphrasing.selection import CellReport


def selection_report(run: Run, reader: Reader) -> Report:
    cells = [CellReport(*cell) for cell in run.result.get("cells", ())]
    parts: list[Part] = []
    if cells and (benchmark := run.result.get("labels_from", "")):
        told = _(
            "These pairs were chosen by a scorer that was trained on %(benchmark)s. If what is trained on "
            "them is evaluated on %(benchmark)s, say so beside the figure."
        )
        parts.append(Text(told % {"benchmark": benchmark}, "doubtful"))
    for split in dict.fromkeys(cell.split for cell in cells):
        own = [cell for cell in cells if cell.split == split]
        rows: dict[str, list[str]] = {}
        for cell in own:
            words = {"chosen": intcomma(cell.chosen), "asked": intcomma(cell.asked)}
            shown = _("%(chosen)s of %(asked)s") % words if cell.shortfall else str(words["chosen"])
            rows.setdefault(cell.lexical, []).append(shown)
        tags = dict.fromkeys(cell.similarity for cell in own)
        columns = [Column(label=_("BLEU"), form="text"), *(Column(label=tag) for tag in tags)]
        lines: list[Row] = [[tag, *found] for tag, found in rows.items()]
        counted = _("%(chosen)s of %(asked)s pairs. %(short)s cells have too few.") % {
            "chosen": intcomma(sum(cell.chosen for cell in own)),
            "asked": intcomma(sum(cell.asked for cell in own)),
            "short": intcomma(sum(cell.shortfall > 0 for cell in own)),
        }
        parts.append(Section(split, [Text(counted), Table(columns, lines)], name=f"split-{split}"))
    if cells:
        points = [
            _(
                "A cell that shows “3 of 50” had too few candidates for what was asked. It gave all that its splits "
                "can take; no pair is taken twice."
            ),
            _("All pairs of one source sentence, and of its near copies, are in one split."),
            _("The cells of BLEU0_5 are twice as wide as others and get twice as many pairs."),
        ]
        train = reader.form(
            "train_paraphraser", run.dataset, _("Train a paraphraser"), look="primary", selection=run.pk
        )
        files = [
            Link(
                _("Download %(name)s") % {"name": file.name},
                reverse("mlworkers:artifact_download", args=[run.pk, file.pk]),
                "button",
                download=True,
            )
            for file in run.artifacts.order_by("pk")
        ]
        parts += [Section(_("How to read this"), [Points(points)]), Links([*train, *files])]
    return Report(
        title=_("Selection %(number)s") % {"number": run.pk},
        lead=_("How many pairs each split got of each cell of similarity and BLEU."),
        parts=parts,
    )
