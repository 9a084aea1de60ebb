"""A published folder of a snapshot, on the disk or as a zip."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _

from annotation.models import Judgement
from annotation.results.published import campaign_tables
from curation.exchange.exporting import snapshot_file
from curation.files.drafts import FileError
from curation.files.publishing.facts import Contents, Publication
from curation.files.publishing.folder import fill_folder, published_ids, require_replaceable
from curation.files.writing import folder_replacing
from curation.files.zipping import zip_folder
from curation.foundation.errors import UserError, errors_shown
from curation.models import Dataset, ScoreSet, Snapshot
from semblance.publishing.collecting import Collected, certainty, publication_of

# Above these a folder takes more than some seconds; the command has no limit.
MOST_PAIRS = 100_000
MOST_JUDGEMENTS = 100_000


@dataclass(frozen=True)
class Published:
    """What was written: the facts, and the tables with their rows."""

    publication: Publication
    contents: Contents


def dataset_publish(
    *, snapshot: Snapshot, path: Path, score_set: str = "", authors: Sequence[str] = ()
) -> Published:
    """Write a snapshot as a folder that is ready for a hub. An earlier one gives way; anything else stays.

    Raises UserError where the snapshot has no such scores, or the place is taken or cannot be written.
    """
    collected = publication_of(snapshot, score_set=score_set, authors=authors)
    with errors_shown(FileError):
        require_replaceable(path)
        with folder_replacing(path) as folder:
            return _fill(snapshot, collected, folder)


def dataset_publish_zip(
    *, snapshot: Snapshot, file: IO[bytes], score_set: str = "", authors: Sequence[str] = ()
) -> Published:
    """Write the folder as a zip into an open file."""
    collected = publication_of(snapshot, score_set=score_set, authors=authors)
    with TemporaryDirectory(prefix="published-") as place, errors_shown(FileError):
        folder = Path(place)
        published = _fill(snapshot, collected, folder)
        zip_folder(folder, file, name=folder_name(snapshot))
    return published


def publishing_is_quick(snapshot: Snapshot) -> bool:
    """Whether a page can make the folder while somebody waits."""
    refs = ScoreSet.objects.filter(dataset=snapshot.dataset_id).values("campaign_ref")
    judged = Judgement.objects.filter(participation__campaign__in=refs)[: MOST_JUDGEMENTS + 1].count()
    return snapshot.rows <= MOST_PAIRS and judged <= MOST_JUDGEMENTS


def small_snapshot(dataset: Dataset, number: int, *, command: str) -> Snapshot:
    """Raises Http404, and UserError where nobody can wait for what is made of it. command: what to run then."""
    snapshot = get_object_or_404(dataset.snapshots, number=number)
    if not publishing_is_quick(snapshot):
        sentence = _(
            "Snapshot %(number)s is too large for a page. Run: semblance %(command)s %(dataset)s "
            "--snapshot %(number)s --to FOLDER"
        )
        raise UserError(sentence, number=snapshot.number, dataset=dataset.slug, command=command)
    return snapshot


def folder_name(snapshot: Snapshot) -> str:
    return f"{snapshot.dataset.slug}-{snapshot.number}"


def _fill(snapshot: Snapshot, collected: Collected, folder: Path) -> Published:
    path = snapshot_file(snapshot)
    ids = published_ids(path)
    contents = fill_folder(
        folder,
        collected.publication,
        path,
        partial(certainty, snapshot),
        more=campaign_tables(collected.campaigns, ids),
        ids=ids,
    )
    return Published(collected.publication, contents)
