"""What an encoder has seen: what its folder says, and what shaped its training pairs in the runs that it came from.

A generator may repeat the text that it was trained on, and p_y is estimated by classifiers that learned human scores,
so the sentences of both count as seen too.
"""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import numpy as np
from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from curation.datasets.leak_guard import splits_set_here
from curation.exchange.snapshots import leaks_of_snapshot
from curation.models import Snapshot
from curation.pairs.holding_out import HeldOut
from mlworkers.models import Run
from mlworkers.pipelines.snapshots import table_of
from mlworkers.plans.kinds import KINDS
from mlworkers.runs.jobs import Job
from mlworkers.runs.lineage import lineage_of
from mlworkers.science.encoders.rows import Rows
from mlworkers.science.encoders.saving import seen_by
from mlworkers.science.encoders.seen import (
    NOTHING_KNOWN,
    Seen,
    shared_pairs_refuse,
    shared_training_refuse,
)
from mlworkers.science.pretrained.sources import Kind as SourceKind
from mlworkers.science.pretrained.sources import ModelError, parse_source


def seen_by_model(model: str, folder: Path) -> Seen:
    """What a model and the runs behind it have seen. folder: where its files are."""
    own = seen_by(folder, model)
    with suppress(ModelError):
        source = parse_source(model)
        if source.kind is SourceKind.RUN:
            runs = Run.objects.select_related("dataset").filter(pk=int(source.name))
            return own | seen_upstream(runs.get()) if runs.exists() else own
    return own


def seen_upstream(run: Run) -> Seen:
    """What the generators and the classifiers of p_y behind a run were trained on; not what its encoders were."""
    found = NOTHING_KNOWN
    for ancestor in lineage_of(run):
        kind = KINDS.get(ancestor.run.kind)
        if kind and kind.seen:
            found |= kind.function(kind.seen)(ancestor.run)
    return found


def seen_behind(job: Job) -> Seen:
    """What the generators and the classifiers behind the run of a job were trained on."""
    return seen_upstream(Run.objects.select_related("dataset").get(pk=job.run_id))


def seen_texts(run: Run, texts: Iterable[str] | None) -> Seen:
    """texts: the sentences that a run learned from; None where nobody knows them any more."""
    if texts is None:
        return Seen(unknown=(_("run %(run)s") % {"run": run.pk},))
    return Seen((HeldOut.of(texts),), known=True)


def seen_in_words(seen: Seen) -> str:
    """Of how many sentences it is known that the encoder was trained on them, and of which models it is not known."""
    if not seen.known:
        return _("not known, so the figures are those of all test pairs")
    found = ngettext("%(n)s sentence is known", "%(n)s sentences are known", len(seen)) % {
        "n": intcomma(len(seen))
    }
    if not seen.unknown:
        return found
    return _("%(found)s; not known of %(models)s") % {"found": found, "models": ", ".join(seen.unknown)}


def leaking_splits_refuse(snapshot: Snapshot, rows: Rows, *, trained: str, tested: str) -> None:
    """Raises LeakError where the tested split shares sentences with the one trained on, because of a split that was
    drawn or set here.

    Splits that came with a file are another person's: training leaves out what they share. rows: those of the test.
    """
    if not trained or tested in ("", trained):
        return
    table = table_of(snapshot)
    numbers, splits = table.column("pair"), [split or "" for split in table.column("split").tolist()]
    set_here = splits_set_here(snapshot.dataset, numbers, splits, at=snapshot.created_at)
    if not set_here.any():
        return
    first, second = rows.first.tolist(), rows.second.tolist()
    shared, with_ours = (
        ~Seen((table.human_sentences(trained, among=among),)).pairs_unseen(first, second)
        for among in (None, set_here)
    )
    ours = shared & np.isin(rows.numbers, numbers[set_here]) | with_ours
    shared_pairs_refuse(int(ours.sum()), of=len(rows), trained=trained, tested=tested)


def training_leaks_refuse(snapshot: Snapshot, *, trained: str) -> None:
    """Raises LeakError where the split that is trained on shares sentences with another split, and one of the two was
    drawn or set here.
    """
    table_of(snapshot)  # whose file must be the one that was written
    for leak in leaks_of_snapshot(snapshot, most=None) or ():
        if leak.split == trained and leak.own:
            shared_training_refuse(leak.own, of=leak.of, trained=trained, other=leak.other)


def left_out_in_words(pairs: int) -> str:
    """Of training pairs whose sentences another split holds."""
    sentence = ngettext(
        "%(n)s pair was left out of training, because another split holds a sentence of it.",
        "%(n)s pairs were left out of training, because other splits hold sentences of them.",
        pairs,
    )
    return sentence % {"n": intcomma(pairs)}
