"""What describes a kind of run. The kinds are in `mlworkers/kinds`, a folder for each family."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from importlib import import_module
from typing import Any

from django.utils.translation import gettext_lazy as _

from mlworkers.plans.settings import Setting, Text, settings_of

QUEUES = ("default", "gpu", "playground")
# The artefacts of runs that are models.
MODEL_KINDS = (
    "encoder", "generator", "labeller", "paraphraser", "classifier", "context_model", "discriminative_model",
)  # fmt: skip

# The groups under which the page "Start a run" lists kinds.
GROUPS: dict[str, Text] = {
    "write": _("Write pairs"),
    "check": _("Check pairs"),
    "train": _("Train encoders"),
    "evaluate": _("Evaluate and compare"),
    "paraphrases": _("Paraphrases"),
    "contexts": _("Contexts"),
}


@dataclass(frozen=True)
class Page:
    """The page of a kind's results.

    address: its address before the run's number.
    name: the name of its URL; with "_csv", that of its file.
    report: "module.function" in the kind's folder, from a run and its reader to a `Report`.
    file: the name of its file before the run's number, "" where it has none.
    see: the text of the link on the run's page.
    models: the heading of the models that the run kept.
    proposed: "module.function", from a run to the encoder or method whose largest errors are shown first.
    """

    address: str
    name: str
    report: str
    file: str
    see: Text
    models: Text = ""
    proposed: str = ""


@dataclass(frozen=True)
class Measured:
    """Where the plan and the result of a run name the test that an encoder was measured on.

    dataset, scores: settings of the plan.
    snapshot: a key of the result.
    predicted: whether the values beside those of people are scores that a method predicted, not cosines.
    """

    dataset: str = "dataset"
    scores: str = "score_set"
    snapshot: str = "snapshot"
    predicted: bool = False


@dataclass(frozen=True)
class Preset:
    """Settings that a form can be filled in with.

    name: in the address of the form.
    answers: the question that such a run answers, in a sentence.
    values: of the settings that are not the form's own defaults.
    """

    name: str
    label: Text
    answers: Text
    values: Mapping[str, Any]


@dataclass(frozen=True)
class Kind:
    """A kind of run. Functions are named by "module.function" within the folder of its family, because some of their
    modules load machine-learning libraries, and a process imports only those that it calls (`function`).

    plan: the frozen dataclass of its settings.
    unit: the things that its progress counts.
    needs: the right to the dataset that a person needs to start it (`curation.people.access`).
    pipeline: (plan, job) -> Outcome, called by a worker of its queue.
    writes: whether it adds to the dataset, so that an archived one cannot have it.
    repeatable: whether a run that succeeded can be started again.
    listed: whether lists of runs show it and pages offer it. An unlisted one answers a question on a page, and
        Semblance forgets it after an hour.
    group: a key of `GROUPS`; "" where a page of its own starts it.
    fits: facts about a dataset for which the page "Start a run" suggests it first, or "no " before one that must not
        hold (`mlworkers.runs.suggesting`); it is not suggested without any.
    presets: (dataset, datasets) -> the `Preset`s that its form offers.
    preview: the kind that tries the same plan on a few rows.
    long: whether a worker with several threads must keep some of them free of such runs.
    work: (plan, dataset) -> the amount of work, in a unit that is the same for every run of the kind.
    amount: the sentence with %(work)s that its form shows for it.
    amount_in_words: (plan, dataset) -> that sentence, where numbers of the plan say it.
    room: (plan, work, scaled bytes of an earlier run) -> bytes kept and bytes needed during the run; None: unknown.
    trained: plan -> bytes of the weights of the model that it trains; 0: unknown, or it trains none.
    most_seconds: plan -> a limit that the plan itself sets.
    page: the page of its results.
    next_steps: (run, reader) -> the links and sentences that its page shows once it succeeded.
    below: the template of what its page shows below, where the result has rows.
    measured: for encoders that it measured on pairs, where the test is named.
    seen: run -> what the models that it made, or that learned from its scores, have seen.
    published: run -> `Told`, for the methods section of a published folder.
    ended: run -> None, called before the files that the attempts of an ended run shared are removed.
    home: the package of its family.
    """

    name: str
    label: Text
    description: Text
    plan: type[Any]
    unit: Text
    needs: str
    pipeline: str
    queue: str = "default"
    staff_only: bool = False
    writes: bool = False
    repeatable: bool = True
    listed: bool = True
    group: str = ""
    fits: Sequence[str] = ()
    presets: str = ""
    preview: str = ""
    long: bool = False
    work: str = ""
    amount: Text = ""
    amount_in_words: str = ""
    room: str = ""
    trained: str = ""
    most_seconds: str = ""
    page: Page | None = None
    next_steps: str = ""
    below: str = ""
    measured: Measured | None = None
    seen: str = ""
    published: str = ""
    ended: str = ""
    home: str = ""

    @cached_property
    def settings(self) -> list[Setting]:
        """Kept, because a form asks for them with every field that it shows."""
        return settings_of(self.plan)

    @property
    def needs_dataset(self) -> bool:
        return any(setting.refers_to == "dataset" for setting in self.settings)

    @property
    def estimated(self) -> bool:
        """Whether its form can say what the run will ask for."""
        return bool(self.amount or self.amount_in_words)

    def function(self, name: str) -> Any:
        """The function behind "module.function" in the folder of the family. Its module is imported now."""
        module, _, function = name.rpartition(".")
        return getattr(import_module(f"{self.home}.{module}"), function)


machine_kind = partial(Kind, needs="read", queue="gpu", staff_only=True)
