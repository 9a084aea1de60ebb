"""`bws design`: its options and its answer."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.bws.designs.design import design_tuples
from annotation.bws.files.item_files import read_items, write_tuples
from annotation.management.bws import verb
from curation.foundation.command import seed_argument


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("items", type=Path, help="One item per line; blank lines are ignored.")
    parser.add_argument(
        "--out", type=Path, required=True, metavar="TUPLES", help="Tab-separated, one tuple per line."
    )
    parser.add_argument("--size", type=verb.whole, default=4, help="Items in each tuple (default 4).")
    parser.add_argument(
        "--factor", type=float, default=2.0, help="Tuples per item (default 2): 100 items make 200 tuples."
    )
    seed_argument(parser)


def run(options: dict[str, Any]) -> verb.Answer:
    verb.keep_apart(options["items"], options["out"])
    file = read_items(options["items"])
    shape = {name: options[name] for name in ("size", "factor", "seed")}
    design = design_tuples(len(file.items), **shape)
    write_tuples(options["out"], file.items, design.tuples)
    certificate = design.certificate
    lines = list(file.warnings)
    if file.duplicates:
        sentence = ngettext(
            "%(n)s line repeats an item and is left out (line %(first)s).",
            "%(n)s lines repeat an item and are left out (the first is line %(first)s).",
            len(file.duplicates),
        )
        lines.append(sentence % {"n": f"{len(file.duplicates):,}", "first": file.duplicates[0]})
    facts = {"size": certificate.size, "seed": certificate.seed, "out": options["out"]}
    lines += [
        _("%(items)s items in %(tuples)s tuples of %(size)s, written to %(out)s (seed %(seed)s).")
        % (facts | verb.with_commas(items=certificate.items, tuples=certificate.tuples)),
        _("Every item appears %(times)s times, and %(places)s times at each position.")
        % {
            "times": _range(certificate.min_appearances, certificate.max_appearances),
            "places": _range(certificate.min_place, certificate.max_place),
        },
    ]
    met_again = _(
        "%(pairs)s pairs of items meet in more than one tuple: %(meetings)s meetings beyond the first "
        "(no design of this size has fewer than %(bound)s)."
    ) % verb.with_commas(
        pairs=certificate.repeated_pairs,
        meetings=certificate.repeated_meetings,
        bound=certificate.fewest_repeated_meetings,
    )
    lines.append(met_again if certificate.repeated_pairs else _("No two items meet in more than one tuple."))
    if certificate.components > 1:
        sentence = _(
            "The items fall into %(parts)s groups that no tuple joins, so scores of different groups "
            "cannot be compared; ask for more tuples per item (--factor)."
        )
        lines.append(sentence % {"parts": f"{certificate.components:,}"})
    return verb.Answer(lines, certificate.as_dict())


def _range(low: int, high: int) -> str:
    return str(low) if low == high else _("%(low)s to %(high)s") % {"low": low, "high": high}
