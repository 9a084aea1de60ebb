"""What a run will ask of an endpoint or of the device, in words, before it starts.

Pages show it, so that nothing here imports a machine-learning library.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma
from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext as _

from curation.models import Dataset
from mlworkers.pipelines.paces import OPTIMIZER, Pace, pace_of, room_of
from mlworkers.pipelines.work import work_of
from mlworkers.plans.kinds import Kind
from mlworkers.runs.results import duration_in_words


@dataclass(frozen=True)
class RunWork:
    """What a run will ask for, a sentence a line: the amount of work, the time, the memory, the room on the disk.
    fits: whether the disk has that room.
    """

    lines: Sequence[str]
    fits: bool = True


def run_estimate(kind: Kind, plan: Any, dataset: Dataset) -> RunWork:
    """Of a kind that is `estimated`."""
    work = work_of(kind, plan, dataset)
    amount = _("With these settings there is nothing to do. Choose other scores, pairs or runs.")
    if kind.amount_in_words:
        amount = str(kind.function(kind.amount_in_words)(plan, dataset))
    elif work:
        amount = str(kind.amount) % {"work": intcomma(work)}
    if not work:
        return RunWork([amount])
    pace = pace_of(kind, plan)
    lines = [amount, _time_in_words(kind, plan, work, pace)]
    if trained := kind.function(kind.trained)(plan) if kind.trained else 0:
        lines.append(_memory_in_words(trained))
    room = room_of(kind, plan, work, pace)
    if room is None:
        return RunWork(lines)
    words = {name: filesizeformat(getattr(room, name)) for name in ("kept", "meanwhile", "free")}
    sentence = _("It will leave files of about %(kept)s.")
    if room.meanwhile:
        sentence = _(
            "It will leave files of about %(kept)s and needs about %(meanwhile)s more while it runs."
        )
    free = _("%(free)s are free on the disk.")
    if not room.fits:
        free = _("Only %(free)s are free on the disk: this is too little. Free some space first.")
    return RunWork([*lines, f"{sentence} {free}" % words], room.fits)


def _memory_in_words(trained: int) -> str:
    """What does not depend on the batch: the weights, a gradient of each, and what the optimizer keeps of it."""
    sentence = _(
        "The device needs at least %(memory)s of memory for the weights, their gradients and the optimizer. "
        "Larger batches and longer sentences need more."
    )
    return sentence % {"memory": filesizeformat(trained * (OPTIMIZER + 1))}


def time_in_short(kind: Kind, plan: Any, dataset: Dataset) -> str:
    """The time of a run, in one short sentence."""
    work = work_of(kind, plan, dataset)
    if not work:
        return _("There is nothing to do: choose other scores or pairs.")
    pace = pace_of(kind, plan)
    if pace is None:
        return _("The time is known once such a run has finished here.")
    return _("About %(time)s.") % {"time": duration_in_words(_seconds(kind, plan, work, pace))}


def _seconds(kind: Kind, plan: Any, work: int, pace: Pace) -> float:
    seconds = pace.seconds_for(work)
    return min(seconds, kind.function(kind.most_seconds)(plan)) if kind.most_seconds else seconds


def _time_in_words(kind: Kind, plan: Any, work: int, pace: Pace | None) -> str:
    if pace is None:
        sentence = _(
            "The time cannot be estimated yet: no run of this kind with these settings and this model has finished "
            "without interruption on a device that this queue's workers have."
        )
        if kind.preview:
            sentence += " " + _("“Preview ten rows” measures it.")
        return sentence
    sentence = _("About %(time)s, by run %(run)s, which took %(taken)s for %(share)s times this work")
    if pace.run.kind == kind.preview:
        sentence = _("About %(time)s, by the preview of run %(run)s")
    words = {
        "time": duration_in_words(_seconds(kind, plan, work, pace)),
        "run": pace.run.pk,
        "taken": duration_in_words(pace.seconds),
        "share": f"{pace.work / work:.2g}",
    }
    same = plan.model == pace.run.plan.get("model") if hasattr(plan, "model") else True
    return sentence % words + ("." if same else _(" with another model of the same size."))
