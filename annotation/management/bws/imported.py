"""`bws import`: its options and its answer."""

from argparse import ArgumentParser
from typing import Any

from django.db import transaction
from django.utils.timezone import now
from django.utils.translation import gettext as _

from annotation.management.bws import verb
from annotation.results.importing import judgements_record
from curation.datasets.services import dataset_create, owner_lines
from curation.files.writing import sha256_of, sha256_of_several
from curation.foundation.command import owner_argument
from curation.foundation.database import database_ready
from curation.foundation.errors import UserError
from curation.models import Dataset
from curation.people.accounts.lookup import account_named


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
    owner_argument(parser)
    parser.add_argument("--campaign", required=True, metavar="NAME", help="The name of the campaign.")
    parser.add_argument(
        "--question", default="", metavar="TEXT", help="What the annotators were asked (default: not known)."
    )


def run(options: dict[str, Any]) -> verb.Answer:
    if options["best_is_worst"] == "count":
        raise UserError(_("The site stores no judgement whose best is its worst; leave --best-is-worst out."))
    if options["keep_repeats"]:
        raise UserError(
            _("The site stores one judgement of a tuple by each person; leave --keep-repeats out.")
        )
    database_ready()
    file, slug = verb.judgements_of(options), options["dataset"]
    owner = account_named(options["owner"]) if options["owner"] else None
    there = dataset = Dataset.objects.filter(slug=slug).first()
    if dataset is None and not options["create"]:
        missing = _(
            "There is no dataset called “%(slug)s”; check its short name, or create it with --create."
        )
        raise UserError(missing, slug=slug)
    with transaction.atomic():
        if dataset is None:
            description = _("Made from a file of judgements.")
            dataset = dataset_create(slug=slug, name=slug, owner=owner, description=description)
        recorded = judgements_record(
            dataset=dataset,
            name=options["campaign"],
            file=file,
            sha256=sha256_of_several([sha256_of(path) for path in options["judgements"]]),
            at=now(),
            question=options["question"],
        )
    figures = {
        "campaign": recorded.campaign.pk,
        "dataset": slug,
        **verb.file_figures(file),
        "judgements": recorded.figures.judgements,
        "items": recorded.figures.items,
        "tuples": recorded.figures.tuples,
        "annotators": recorded.figures.annotators,
        "pairs_made": recorded.figures.pairs_made,
        "single_texts": recorded.figures.single_texts,
    }
    made = recorded.figures
    lines = [*owner_lines(dataset, made=there is None), *verb.file_lines(file), *made.lines]
    if made.pairs_made:
        lines.append(_("%(n)s pairs were created, one for each item.") % {"n": f"{made.pairs_made:,}"})
    campaign = {"number": recorded.campaign.pk, "name": recorded.campaign.name}
    lines.append(
        _(
            "Imported %(judgements)s judgements of %(tuples)s tuples as the closed campaign %(number)d, “%(name)s”."
        )
        % (campaign | verb.with_commas(judgements=made.judgements, tuples=made.tuples))
    )
    return verb.Answer(lines, figures)
