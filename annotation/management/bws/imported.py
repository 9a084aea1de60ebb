"""Import finished judgements as a campaign, with its dashboard, scores and bundle."""

from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.management.bws import verb
from annotation.results.importing import ImportedJudgements, judgements_record
from curation.database import database_ready
from curation.datasets.services import dataset_create
from curation.errors import UserError
from curation.files.writing import sha256_of
from curation.models import Dataset


def add_arguments(parser: ArgumentParser) -> None:
    verb.add_judgements(parser)
    parser.add_argument(
        "--dataset",
        required=True,
        metavar="SLUG",
        help="The dataset; the ids of its pairs are the items' names.",
    )
    parser.add_argument(
        "--create",
        action="store_true",
        help="If the dataset does not exist, create it with a pair for each item.",
    )
    parser.add_argument("--campaign", required=True, metavar="NAME", help="The name of the campaign.")
    parser.add_argument(
        "--question", default="", metavar="TEXT", help="What the annotators were asked (default: not known)."
    )


def run(options: dict[str, Any]) -> verb.Answer:
    if options["best_is_worst"] == "count":
        raise UserError(_("The site stores no judgement whose best is its worst; leave --best-is-worst out."))
    database_ready()
    file, slug = verb.judgements_of(options), options["dataset"]
    dataset = Dataset.objects.filter(slug=slug).first()
    if dataset is None and not options["create"]:
        missing = _(
            "There is no dataset called “%(slug)s”; check its short name, or create it with --create."
        )
        raise UserError(missing, slug=slug)
    with transaction.atomic():
        if dataset is None:
            dataset = dataset_create(slug=slug, name=slug, description=_("Made from a file of judgements."))
        recorded = judgements_record(
            dataset=dataset,
            name=options["campaign"],
            file=file,
            sha256=_checksum(options["judgements"]),
            at=now(),
            question=options["question"],
        )
    figures = {
        "campaign": recorded.campaign.pk,
        "dataset": slug,
        **verb.file_figures(file),
        "judgements": recorded.judgements,
        "items": recorded.items,
        "tuples": recorded.tuples,
        "annotators": recorded.annotators,
        "twice_by_one": recorded.twice_by_one,
        "pairs_made": recorded.pairs_made,
        "single_texts": recorded.single_texts,
    }
    return verb.Answer([*verb.file_lines(file), *_lines(recorded)], figures)


def _checksum(paths: Sequence[Path]) -> str:
    """The SHA-256 of a file, or of the checksums of several, by which an import is known again."""
    sums = sorted(sha256_of(path) for path in paths)
    return sums[0] if len(sums) == 1 else sha256("".join(sums).encode()).hexdigest()


def _lines(recorded: ImportedJudgements) -> Iterator[str]:
    if recorded.repeated_items:
        yield ngettext(
            "%(n)s row names an item twice and is left out: a tuple of the site cannot hold a pair twice.",
            "%(n)s rows name an item twice and are left out: a tuple of the site cannot hold a pair twice.",
            recorded.repeated_items,
        ) % {"n": f"{recorded.repeated_items:,}"}
    if recorded.twice_by_one:
        yield ngettext(
            "%(n)s row is the second judgement of a tuple by the same person and is left out.",
            "%(n)s rows are a second judgement of a tuple by the same person and are left out.",
            recorded.twice_by_one,
        ) % {"n": f"{recorded.twice_by_one:,}"}
    if recorded.pairs_made:
        yield _("%(n)s pairs were created, one for each item.") % {"n": f"{recorded.pairs_made:,}"}
    if recorded.single_texts:
        yield ngettext(
            "%(n)s item holds one text and not two; both sentences of its pair are this text.",
            "%(n)s items hold one text and not two; both sentences of their pairs are this text.",
            recorded.single_texts,
        ) % {"n": f"{recorded.single_texts:,}"}
    campaign = {"number": recorded.campaign.pk, "name": recorded.campaign.name}
    yield _(
        "Imported %(judgements)s judgements of %(tuples)s tuples as the closed campaign %(number)d, “%(name)s”."
    ) % (campaign | verb.with_commas(judgements=recorded.judgements, tuples=recorded.tuples))
