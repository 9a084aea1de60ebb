"""Judgements that were made elsewhere, as a closed campaign: its dashboard, its scores and its bundle."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple, cast

import numpy as np
from django.db import transaction
from django.db.models import CharField
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.bws.files.judgement_files import JudgementFile
from annotation.bws.files.settling import repeats
from annotation.bws.judgements import ranks_within, tuple_numbers
from annotation.models import MOST_PAIRS_IN_TUPLE, Campaign
from annotation.results.imported_rows import campaign_written
from curation.exchange.importing import ImportOptions, pairs_import
from curation.files.pair_cells import holds_two_sentences, two_sentences
from curation.files.progress import Report, silent
from curation.files.tables import csv_lines
from curation.foundation.errors import UserError
from curation.models import Dataset, Pair, User
from curation.pairs.text import normalise
from curation.people.access import dataset_lock
from curation.people.audit import Action, audit_record

LONGEST_ID = 200
IDS_AT_ONCE = 5000


@dataclass(frozen=True)
class ImportFigures:
    """What became of a file, or would become of it.

    repeated_items: rows left out, because a tuple of the site holds no pair twice.
    pairs_made: stand-ins for items that no pair had the id of. single_texts: how many of these hold one
    text and not two.
    """

    items: int
    tuples: int
    judgements: int
    annotators: int
    repeated_items: int
    pairs_made: int
    single_texts: int

    @property
    def lines(self) -> Iterator[str]:
        """A sentence for each way in which the campaign is not simply the rows of the file."""
        if self.repeated_items:
            yield ngettext(
                "%(n)s row names an item twice and is left out: a tuple of the site cannot hold a pair twice.",
                "%(n)s rows name an item twice and are left out: a tuple of the site cannot hold a pair twice.",
                self.repeated_items,
            ) % {"n": f"{self.repeated_items:,}"}
        if self.single_texts:
            yield ngettext(
                "%(n)s item holds one text and not two; both sentences of its pair are this text.",
                "%(n)s items hold one text and not two; both sentences of their pairs are this text.",
                self.single_texts,
            ) % {"n": f"{self.single_texts:,}"}


@dataclass(frozen=True)
class ImportedJudgements:
    campaign: Campaign
    figures: ImportFigures


def judgements_foresee(
    *, dataset: Dataset, name: str, file: JudgementFile, sha256: str, question: str = ""
) -> ImportFigures:
    """What `judgements_record` would write. Raises the same errors, and writes nothing."""
    kept = _recordable(dataset, file, sha256, name=name, question=question)
    names = _names_of_items(kept.file)
    if makes_pairs(dataset):
        _stand_ins(dataset, list(names.values()), dry_run=True)
        made, single = len(names), _single_texts(names)
    else:
        _known_pairs(dataset, names)
        made = single = 0
    return kept.figures(items=len(names), made=made, single=single)


@transaction.atomic
def judgements_record(
    *,
    dataset: Dataset,
    name: str,
    file: JudgementFile,
    sha256: str,
    at: datetime,
    question: str = "",
    by: User | None = None,
    report: Report = silent,
) -> ImportedJudgements:
    """Keep finished judgements as a closed campaign; all of them, or none.

    An item is the pair of the dataset with that id. In a dataset without pairs each item becomes one: of two
    texts (`two_sentences`) its two sentences, of a single text a pair of that text with itself. question: what people
    were asked, "" where nobody knows. Where the file names no annotators, the r-th judgement of each tuple is given
    to the r-th of as many people of whom nothing is known, and no page says anything of them one by one.
    Raises UserError where items are unknown, nothing is left, or the file is there already.
    """
    dataset_lock(dataset)
    kept = _recordable(dataset, file, sha256, name=name, question=question)
    names = _names_of_items(kept.file)
    made = single = 0
    if makes_pairs(dataset):
        made, single = _stand_ins(dataset, list(names.values()), by=by), _single_texts(names)
    pairs = _known_pairs(dataset, names)
    campaign = campaign_written(
        kept.file, sha256, pairs, report,
        dataset=dataset, name=name, question=question, opened_at=at, created_by=by,
    )  # fmt: skip
    audit_record(
        dataset=dataset,
        action=Action.CAMPAIGN_IMPORTED,
        by=by,
        subject=campaign.name,
        pairs=len(names),
        details={"campaign": campaign.pk, "judgements": len(kept.file.judgements), "sha256": sha256},
    )
    return ImportedJudgements(campaign, kept.figures(items=len(names), made=made, single=single))


class _Recordable(NamedTuple):
    """A file with the judgements that the site can hold, each with an annotator; and how many name an item twice."""

    file: JudgementFile
    repeated_items: int

    def figures(self, *, items: int, made: int, single: int) -> ImportFigures:
        judged = self.file.judgements
        counts = (
            items,
            len(np.unique(tuple_numbers(judged.items))),
            len(judged),
            len(np.unique(judged.people)),
        )
        return ImportFigures(*counts, self.repeated_items, made, single)


def _recordable(dataset: Dataset, file: JudgementFile, sha256: str, **texts: str) -> _Recordable:
    there = Campaign.objects.filter(dataset=dataset, certificate__imported__sha256=sha256).first()
    if there is not None:
        raise UserError(
            _("These judgements are in the dataset already, as the campaign “%(name)s” (number %(number)d)."),
            name=there.name,
            number=there.pk,
        )
    for field_name, text in texts.items():
        field = cast("CharField[str, str]", Campaign._meta.get_field(field_name))
        most = field.max_length or 0
        if len(text) > most:
            sentence = _("The %(field)s has %(n)d characters; at most %(most)d are possible.")
            raise UserError(sentence, field=field.verbose_name, n=len(text), most=most)
    judged = file.judgements
    if judged.size > MOST_PAIRS_IN_TUPLE:
        sentence = _(
            "The largest row has %(n)d items, and a tuple of the site holds at most %(most)d. Leave out larger rows, "
            "or score the file with semblance bws score."
        )
        raise UserError(sentence, n=judged.size, most=MOST_PAIRS_IN_TUPLE)
    repeated = (repeats(judged.items) > 0) | ((judged.best == judged.worst) & ~judged.ties)
    judged = judged.only(~repeated)
    if not len(judged):
        raise UserError(_("No judgement of the file can be kept: each names an item twice."))
    kept = replace(judged, items=judged.items[:, (judged.items >= 0).any(axis=0)])

    # The annotators (n,): the numbers of the file, and where it names nobody numbers above them. The r-th such
    # judgement of each tuple, in the order of the file, is given to the r-th unknown person.
    people = np.full(len(kept), -1) if kept.annotators is None else kept.annotators.copy()
    unnamed = np.flatnonzero(people == (file.annotators.index("") if "" in file.annotators else -1))
    tuples = np.unique(tuple_numbers(kept.items[unnamed]), return_inverse=True)[1]
    ranks = np.empty(len(unnamed), dtype=np.int64)
    ranks[np.argsort(tuples, kind="stable")] = ranks_within(np.bincount(tuples))
    people[unnamed] = len(file.annotators) + ranks
    kept = replace(kept, annotators=people)
    return _Recordable(replace(file, judgements=kept), int(repeated.sum()))


def _names_of_items(file: JudgementFile) -> dict[int, str]:
    items = np.unique(file.judgements.items)
    return {item: file.items[item] for item in items[items >= 0].tolist()}


def makes_pairs(dataset: Dataset) -> bool:
    """Whether the items become pairs of the dataset: where it has none."""
    return not Pair.objects.filter(dataset=dataset).exists()


def _single_texts(names: Mapping[int, str]) -> int:
    return sum(not holds_two_sentences(name) for name in names.values())


def _known_pairs(dataset: Dataset, names: Mapping[int, str]) -> dict[int, int]:
    """From the items to the primary keys of the pairs that have their ids."""
    ids = [_id(name) for name in names.values()]
    known: dict[str, int] = {}
    shared: set[str] = set()
    for start in range(0, len(ids), IDS_AT_ONCE):
        some = Pair.objects.filter(dataset=dataset, external_id__in=ids[start : start + IDS_AT_ONCE])
        for name, pk in some.values_list("external_id", "pk"):
            if known.setdefault(name, pk) != pk:
                shared.add(name)
    if shared:
        sentence = _(
            "%(n)d items are ids that pairs of several sources or splits of “%(dataset)s” have, the first “%(first)s”; "
            "import the judgements into a dataset without pairs."
        )
        raise UserError(sentence, n=len(shared), dataset=dataset.name, first=min(shared)[:80])
    missing = [name for name in names.values() if _id(name) not in known]
    if missing:
        raise UserError(
            _(
                "%(n)d of %(items)d items are no pair of “%(dataset)s”, the first “%(first)s”; "
                "import the pairs with these ids first, or import the judgements into a dataset without pairs."
            ),
            n=len(missing),
            items=len(names),
            dataset=dataset.name,
            first=missing[0][:80],
        )
    return {item: known[_id(name)] for item, name in names.items()}


def _id(item: str) -> str:
    """The id of the pair that an item names: the item on one line, cut where it is longer than an id may be."""
    name = normalise(item)
    if len(name) <= LONGEST_ID:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:16]
    return f"{name[: LONGEST_ID - 17]}-{digest}"


def _stand_ins(
    dataset: Dataset, items: Sequence[str], *, by: User | None = None, dry_run: bool = False
) -> int:
    """Make a pair of each item; how many there are."""
    with TemporaryDirectory(prefix="items-") as folder:
        path = Path(folder) / "items.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            rows = (
                (_id(item), *(two_sentences(item) if holds_two_sentences(item) else (item, item)))
                for item in items
            )
            file.writelines(csv_lines(chain([("id", "sentence1", "sentence2")], rows)))
        options = ImportOptions(source="items")
        outcome = pairs_import(dataset=dataset, path=path, options=options, by=by, dry_run=dry_run)
    if outcome.rejected:
        error = outcome.errors[0]
        raise UserError(
            _("%(n)d items cannot be pairs, the first on line %(line)d: %(reason)s."),
            n=outcome.rejected,
            line=error.line - 1,
            reason=error.reason,
        )
    return outcome.added
