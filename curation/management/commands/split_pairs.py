"""`semblance split_pairs`: divide a dataset's pairs into splits that share no sentence."""

from argparse import ArgumentParser
from time import monotonic
from typing import Any

from django.utils.translation import gettext as _

from curation.datasets.selectors import dataset_named, score_shown_first
from curation.datasets.splits import Drawing, splits_apply, splits_now, splits_preview
from curation.foundation.command import Command as BaseCommand
from curation.foundation.command import seed_argument, slug_argument
from curation.pairs.leaks import Leaks


class Command(BaseCommand):
    help = (
        "Divide a dataset's pairs into splits; pairs that share a sentence come into one split. Without --ratios: show "
        "the splits, and how many pairs of each share a sentence with another."
    )
    needs_database = True

    def add_arguments(self, parser: ArgumentParser) -> None:
        slug_argument(parser)
        parser.add_argument(
            "--ratios",
            metavar="NAME=SHARE,…",
            help="The splits and their shares, as train=.8,dev=.1,test=.1.",
        )
        seed_argument(parser)
        parser.add_argument("--all-sources", action="store_true", help="Do not divide each source by itself.")
        parser.add_argument(
            "--replace", action="store_true", help="Give pairs that have a split another one, too."
        )
        parser.add_argument(
            "--leaks",
            choices=[each.value for each in Leaks],
            default=Leaks.REFUSE.value,
            help="Whether pairs may join splits of a file with which they share sentences. Default: %(default)s.",
        )
        parser.add_argument("--dry-run", action="store_true", help="Show the splits and change nothing.")

    def handle(self, *, dataset: str, ratios: str | None, **options: Any) -> None:
        started = monotonic()
        divided = dataset_named(dataset)
        shown = score_shown_first(divided)
        if ratios is None:
            splits, changed = splits_now(divided, shown), 0
        else:
            shares = {}
            for part in ratios.split(","):
                name, _equals, share = part.partition("=")
                try:
                    shares[name.strip()] = float(share)
                except ValueError:
                    self.fail(_("“%(part)s” is not NAME=SHARE, such as train=.8.") % {"part": part})
            drawing = Drawing(
                shares,
                seed=options["seed"],
                by_source=not options["all_sources"],
                replace=options["replace"],
            )
            preview = splits_preview(divided, drawing, shown)
            splits, changed = preview.splits, preview.changed
            if changed and not options["dry_run"]:
                splits_apply(
                    dataset=divided,
                    drawing=drawing,
                    state=preview.state,
                    by=None,
                    leaks=Leaks(options["leaks"]),
                )
        figures = {
            "dataset": divided.slug,
            "changed": changed,
            "splits": {row.split: row.pairs for row in splits.rows},
            "leaks": [[leak.split, leak.other, leak.pairs] for leak in splits.leaks],
            "seconds": round(monotonic() - started, 3),
        }
        lines = [
            _("%(split)s: %(pairs)d pairs (%(share).1f %%)")
            % {"split": row.split or _("no split"), "pairs": row.pairs, "share": 100 * row.share}
            for row in splits.rows
        ]
        lines += [
            _("%(pairs)d of the %(of)d pairs of %(split)s share a sentence with %(other)s.")
            % {"pairs": leak.pairs, "of": leak.of, "split": leak.split, "other": leak.other}
            for leak in splits.leaks
        ]
        if not splits.leaks:
            lines.append(_("No split shares a sentence with another."))
        dry = options["dry_run"]
        words = _("%(n)d pairs would get another split.") if dry else _("%(n)d pairs got another split.")
        self.answer(figures, *lines, words % {"n": changed}, as_json=options["json"])
