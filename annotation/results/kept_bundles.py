"""Bundles that are kept as files, because making one takes longer than somebody waits for a page.

Each lies in a folder of its work's own, `bundles/WORK/ATTEMPT.zip`, here and in the file storage, and goes with the
row of that work. What a killed process left behind is removed an hour later.
"""

import hashlib
import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db.models import Count, Max, QuerySet, Sum
from django.utils.translation import gettext as _

from annotation.models import (
    Campaign,
    CampaignWork,
    Flag,
    GoldAnswer,
    NormingComment,
    NormingJudgement,
    PairRating,
    QuizResult,
    SliderArm,
    TupleItem,
)
from annotation.results.bundle import bundle_write
from annotation.results.figures import campaign_mark
from annotation.results.machines import block_of
from annotation.results.record import judgements_at_most, judgements_require_any
from curation.files.drafts import FileError
from curation.files.sums import content_sum, sums_of
from curation.files.writing import make_folder
from curation.foundation.errors import UserError, errors_shown
from curation.foundation.heartbeats import database_now
from curation.foundation.shared_files import (
    StorageAway,
    StorageError,
    local_remove,
    shared_objects,
    shared_path,
    shared_put,
    shared_remove,
)
from curation.models import Dataset, Pair

FOLDER = "bundles"  # in SEMBLANCE_HOME
# Of which a request makes the bundle, within about a second of a free core (log of experiments, J-17).
JUDGEMENTS_AT_ONCE = 400
FORGOTTEN_AFTER = timedelta(hours=1)


@dataclass(frozen=True)
class KeptBundle:
    """A bundle that lies ready. read_at: from when on judgements may be missing in it. mark: of what it holds
    (`campaign_mark`). size: in bytes.
    """

    work: CampaignWork
    read_at: datetime
    mark: str
    sha256: str
    size: int
    judgements: int
    spreadsheet: bool


def bundle_kept(work: CampaignWork) -> KeptBundle | None:
    """What there is to say of the bundle that the work made; None where it made none."""
    if not work.has_bundle:
        return None
    found = work.result
    return KeptBundle(
        work=work,
        read_at=datetime.fromisoformat(found["read_at"]),
        **{name: found[name] for name in ("mark", "sha256", "size", "judgements")},
        spreadsheet=work.asked["spreadsheet"],
    )


def bundle_is_quick(campaign: Campaign, _asked: Mapping[str, Any] | None = None) -> bool:
    """Whether a request makes it while somebody waits. One query."""
    return judgements_at_most(campaign, JUDGEMENTS_AT_ONCE)


def bundle_require(campaign: Campaign, _asked: Mapping[str, Any]) -> None:
    """Raise UserError where there is nothing that a bundle could hold."""
    judgements_require_any(campaign)


def bundle_state(campaign: Campaign) -> str:
    """A mark of everything that a bundle of the campaign would be written from.

    A superset of `campaign_mark`: also texts, settings, comments and whatever else is not a judgement.
    """
    people = {"participation__campaign": campaign}
    block = block_of(campaign)
    asked = TupleItem.objects.filter(tuple__campaign=campaign).values("pair")
    rows: list[QuerySet[Any, Any]] = [
        Campaign.objects.filter(pk=campaign.pk).values_list(),
        Dataset.objects.filter(pk=campaign.dataset_id).values_list("slug", "language", "licence"),
        campaign.guidelines.order_by("pk").values_list(),
        campaign.quiz.order_by("pk").values_list(),
        QuizResult.objects.filter(**people).order_by("pk").values_list("pk", "right", "asked"),
        campaign.participations.order_by("pk").values_list(
            *("pk", "state", "excluded", "reason", "gold_trials", "gold_right", "rates"),
            *("user__username", "user__simulated"),
        ),
        GoldAnswer.objects.filter(tuple__campaign=campaign).order_by("pk").values_list(),
        Flag.objects.filter(**people).order_by("pk").values_list("pk", "kind", "reason", "slot", "note"),
        campaign.norming.order_by("pk").values_list("pk", "state"),
        NormingComment.objects.filter(**people).order_by("pk").values_list("pk", "text"),
        SliderArm.objects.filter(campaign=campaign).values_list(),
        Pair.objects.filter(pk__in=asked)
        .order_by("pk")
        .values_list(
            *("pk", "external_id", "a__text", "b__text", "source", "subset", "split", "origin"),
        ),
    ]
    counted: list[QuerySet[Any]] = [
        campaign.tuples.all(),
        NormingJudgement.objects.filter(**people),
        PairRating.objects.filter(**people),
        *(judge.judgements.all() for judge in (block.judges.all() if block else ())),
    ]
    digest = hashlib.sha256(campaign_mark(campaign).encode())
    digest.update(repr(campaign.tuples.aggregate(required=Sum("required"))).encode())
    for query in counted:
        digest.update(repr(query.order_by().aggregate(rows=Count("pk"), last=Max("pk"))).encode())
    for query in rows:
        for row in query.iterator(chunk_size=2000):
            digest.update(repr(row).encode())
        digest.update(b"\0")
    return digest.hexdigest()


def bundle_keep(work: CampaignWork) -> dict[str, Any]:
    """Make the bundle that the work asks for, and keep it: the facts that the row keeps of it.

    What an earlier attempt left goes first. Raises UserError where nothing counts, or it cannot be written or stored.
    """
    bundle_files_remove([work.pk])
    path = Path(settings.SEMBLANCE_HOME) / _name(work)
    # Before anything is read: what comes in the meantime may be missing in the bundle.
    facts = {"read_at": database_now().isoformat(), "mark": campaign_mark(work.campaign)}
    facts["state"] = bundle_state(work.campaign)
    with errors_shown(FileError):
        make_folder(path.parent)
    bundle = bundle_write(campaign=work.campaign, path=path, spreadsheet=bool(work.asked.get("spreadsheet")))
    shared_put(path)
    sums = sums_of(path)
    return facts | {
        "path": _name(work),
        "sha256": content_sum(sums),
        "size": sums[0].size,
        "judgements": bundle.judgements,
    }


def bundle_forget(work: CampaignWork) -> None:
    """Remove what this attempt of the work wrote, because it came to no good end."""
    path = Path(settings.SEMBLANCE_HOME) / _name(work)
    local_remove(path)
    with suppress(OSError):  # another attempt's file is there, or nothing
        path.parent.rmdir()
    with suppress(StorageError):  # `bundles_tidy` removes it
        shared_remove(_name(work))


def bundle_is_there(work: CampaignWork) -> bool:
    """Whether the file of a bundle that is done can be read. Raises StorageAway."""
    try:
        bundle_path(work)
    except StorageAway:
        raise
    except UserError:
        return False
    return True


def bundle_path(work: CampaignWork) -> Path:
    """The file, fetched from the file storage where it is not on this machine, with the SHA-256 of its row.

    Raises UserError where it is gone or is another, StorageError where the store is away.
    """
    path = shared_path(work.result["path"], work.result["sha256"])
    if not path.is_file():
        raise UserError(_("The file of this bundle is gone; have a new one made."))
    if content_sum(sums_of(path)) != work.result["sha256"]:
        raise UserError(_("The file of this bundle was changed or cut off on the disk; have a new one made."))
    return path


def bundle_files_remove(works: Iterable[int]) -> None:
    """Remove everything that was written for these works, here and in the file storage."""
    for work in works:
        shutil.rmtree(Path(settings.SEMBLANCE_HOME) / FOLDER / str(work), ignore_errors=True)
        with suppress(StorageError):  # `bundles_tidy` removes it
            shared_remove(f"{FOLDER}/{work}")


def bundles_tidy(*, at: datetime) -> None:
    """Remove what killed processes left, and copies here of bundles that were removed elsewhere."""
    old: dict[int, bool] = {}  # by the number of the work: whether nobody has written to its folder lately
    for folder in (Path(settings.SEMBLANCE_HOME) / FOLDER).glob("*/"):
        with suppress(FileNotFoundError, ValueError):  # another process tidies as well
            old[int(folder.name)] = folder.stat().st_mtime < (at - FORGOTTEN_AFTER).timestamp()
    for kind in ("files", "sums"):
        for one in shared_objects(f"{kind}/{FOLDER}"):
            with suppress(ValueError):
                number = int(one.name.split("/")[2])
                old[number] = old.get(number, True) and one.changed < at - FORGOTTEN_AFTER
    # After the files were listed: the row of a work is there before its folder.
    rows = set(CampaignWork.objects.filter(pk__in=old).values_list("pk", flat=True))
    bundle_files_remove(number for number, is_old in old.items() if is_old and number not in rows)


def _name(work: CampaignWork) -> str:
    """Relative to SEMBLANCE_HOME. Each attempt has its own: one that was paused writes over nobody's file."""
    return f"{FOLDER}/{work.pk}/{work.attempt}.zip"
