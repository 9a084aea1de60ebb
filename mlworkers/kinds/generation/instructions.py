"""The instructions of a dataset's generators: versions that people write on a page, and runs that used them.

A plan holds the instructions themselves, as JSON, so that a run can be repeated whatever becomes of the page.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Max, QuerySet
from django.utils.translation import gettext as _

from curation.foundation.errors import UserError
from curation.models import Dataset, Sentence, User
from mlworkers.models import Instructions, Run
from mlworkers.science.synthesis.prompts import TASKS, Task, TaskError, task_checked

MOST_NAMES = 100  # of a dataset: each is a choice of a form


@dataclass(frozen=True)
class LabelText:
    """The instruction of one label, and its counter labels."""

    label: str
    instruction: str
    counters: tuple[str, ...] = ()


@dataclass(frozen=True)
class VersionRow:
    """A version with what it changed, and how many runs used it."""

    instructions: Instructions
    changes: str
    runs: int


def label_texts(task: Task) -> list[LabelText]:
    return [LabelText(label, each.text, each.counters) for label, each in task.instructions.items()]


def task_of(name: str, version: int, texts: Sequence[LabelText]) -> Task:
    """The task that these texts describe. Raises TaskError with one sentence on the first that cannot be used."""
    return task_checked(_specification(name, version, texts))


def instructions_save(
    *, dataset: Dataset, name: str, texts: Sequence[LabelText], note: str = "", by: User
) -> Instructions:
    """Keep the texts as the next version of these instructions.

    Raises UserError where the texts cannot be used or equal the latest version, or somebody else saved in the meantime.
    """
    kept = Instructions.objects.filter(dataset=dataset)
    latest = kept.filter(name=name).order_by("-version").first()
    if latest is None and kept.values("name").distinct().count() >= MOST_NAMES:
        raise UserError(_("A dataset has at most %(most)d instructions."), most=MOST_NAMES)
    version = 1 if latest is None else latest.version + 1
    try:
        task_of(name, version, texts)
    except TaskError as error:
        raise UserError(str(error)) from error
    specification = _specification(name, version, texts)
    if latest is not None and latest.specification["labels"] == specification["labels"]:
        raise UserError(
            _("Version %(version)d says the same; change something first."), version=latest.version
        )
    try:
        with transaction.atomic():
            return Instructions.objects.create(
                dataset=dataset,
                name=name,
                version=version,
                text=json.dumps(specification, ensure_ascii=False),
                note=note.strip(),
                created_by=by,
            )
    except IntegrityError as error:
        sentence = _(
            "Somebody else saved version %(version)d of these instructions in the meantime; look at it first."
        )
        raise UserError(sentence, version=version) from error


def _specification(name: str, version: int, texts: Sequence[LabelText]) -> dict[str, Any]:
    if len({text.label for text in texts}) < len(texts):
        raise TaskError("Two instructions have the same label; give each label one instruction.")
    labels = {
        text.label: {"instruction": text.instruction, "counter_labels": list(text.counters)} for text in texts
    }
    return {"task_name": f"{name}.v{version}", "labels": labels}


def instructions_latest(dataset: Dataset) -> list[Instructions]:
    """The latest version of each, by name."""
    kept = Instructions.objects.filter(dataset=dataset)
    newest = kept.values("name").order_by().annotate(newest=Max("version")).values_list("name", "newest")
    wanted = dict(newest)
    rows = kept.filter(version__in=set(wanted.values())).select_related("created_by")
    return [row for row in rows.order_by("name") if wanted[row.name] == row.version]


def instructions_offered(dataset: Dataset) -> list[tuple[str, str]]:
    """The choices of a form: DINO's, and the latest version of each of the dataset's own."""
    offered = [(name, _("%(name)s (DINO)") % {"name": name}) for name in TASKS]
    return offered + [(one.text, str(one)) for one in instructions_latest(dataset)]


def versions_of(dataset: Dataset, name: str) -> list[VersionRow]:
    """All versions, the newest first."""
    versions = list(
        Instructions.objects.filter(dataset=dataset, name=name)
        .select_related("created_by")
        .order_by("version")
    )
    before: Mapping[str, Any] = {}
    rows = []
    for one in versions:
        labels = one.specification["labels"]
        rows.append(VersionRow(one, _changes(before, labels), runs_with(one).count()))
        before = labels
    return rows[::-1]


def runs_with(instructions: Instructions) -> QuerySet[Run]:
    """The runs whose plan holds these instructions."""
    return Run.objects.filter(dataset=instructions.dataset_id, plan__task=instructions.text)


def example_sentence(dataset: Dataset) -> str:
    """A sentence that a person wrote, to show what a model is given; one of ours where the dataset has none."""
    human = Sentence.objects.filter(dataset=dataset, origin=Sentence.Origin.HUMAN).order_by("pk").first()
    return human.text if human is not None else "A dog runs across the meadow."


def _changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """What a version changed, in words; of the first one, its labels."""
    if not before:
        return _("labels %(labels)s") % {"labels": ", ".join(after)}
    sorts = (
        (_("added: %(labels)s"), [label for label in after if label not in before]),
        (_("removed: %(labels)s"), [label for label in before if label not in after]),
        (
            _("changed: %(labels)s"),
            [label for label in after if label in before and after[label] != before[label]],
        ),
    )
    return "; ".join(sentence % {"labels": ", ".join(labels)} for sentence, labels in sorts if labels)
