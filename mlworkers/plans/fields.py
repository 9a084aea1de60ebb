"""What the plans of all runs have in common: how a setting is described, and what is wrong with one.

Pages and commands word an error differently: a page names a setting by its label on the form, a command by the key that
is typed.
"""

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field
from functools import partial
from typing import Any

from curation.pairs.inclusion import EXPLAINED, UNNAMED

# Kinds of runs that write sentences, and pairs with them. Settings of several packages refer to their runs.
GENERATING = "generate_pairs"
WRITING = (GENERATING, "translate_round_trip", "write_paraphrases")


@dataclass(frozen=True)
class SettingName:
    """Something in a sentence that a page and a command call by different names: a setting, or a kind of run."""

    name: str

    def __str__(self) -> str:
        return self.name


class SettingError(ValueError):
    """One sentence. Its `words` fill the places of `sentence`; those that are `SettingName` are settings.

    str() is the sentence for a command, with the names as they are typed; `labelled` is the one for a page.
    """

    def __init__(self, sentence: str, **words: Any) -> None:
        super().__init__(sentence % words)
        self._sentence, self._words = sentence, words

    @property
    def names(self) -> list[str]:
        """What the sentence calls by its name: settings, and perhaps the kind of run."""
        return [word.name for word in self._words.values() if isinstance(word, SettingName)]

    def labelled(self, labels: Mapping[str, Any]) -> str:
        """The sentence with the label of each setting that has one. labels: by the settings' names."""
        return self._sentence % {
            name: labels.get(word.name, word.name) if isinstance(word, SettingName) else word
            for name, word in self._words.items()
        }


class PlanError(SettingError):
    """Settings that do not go together, or a text that names nothing. One sentence."""


def setting(
    label: Any,
    help: Any,  # noqa: A002 - forms and commands call it so
    *,
    default: Any = MISSING,
    bounds: tuple[float | None, float | None] = (None, None),
    kw_only: Any = MISSING,
    **more: Any,
) -> Any:
    """A field of a plan: its label, help text, default, bounds (both allowed), and what else forms know (unit …)."""
    low, high = bounds
    metadata = {"label": label, "help": help, "low": low, "high": high, **more}
    return field(default=default, kw_only=kw_only, metadata=metadata)


SEEDS = (0, 2**31 - 1)
seed_setting = partial(
    setting,
    "Seed",
    "Seed of everything that the run draws at random. If it trains several times, the other seeds are the numbers that "
    "follow.",
    default=42,
    bounds=SEEDS,
)
dataset_setting = partial(setting, "Dataset", "Short name of the dataset.", refers_to="dataset")
snapshot_setting = partial(
    setting,
    "Snapshot",
    "Number of the snapshot that is used; 0 makes a new one.",
    default=0,
    bounds=(0, None),
    refers_to="snapshot",
)
# Plans that were stored before this setting mean its default.
generated_pairs_setting = partial(
    setting, "Generated pairs", EXPLAINED, default=UNNAMED, refers_to="generated pairs", essential=True
)
HEAD_WIDTH = 32  # of each attention head of the transformers that are made here
width_setting = partial(
    setting, "Width", "Length of the vector of a token: a multiple of 32.", bounds=(32, 2048)
)
device_setting = partial(
    setting,
    "Device",
    "auto uses a GPU if there is one. Or choose cpu, cuda, cuda:1 or mps.",
    default="auto",
)
ALL_DEVICES = "all"
MOST_DEVICES = 64
devices_setting = partial(
    setting,
    "Devices",
    "Number of GPUs that share each batch, or all. Without a GPU: number of processes that share the processor.",
    default="1",
    source="docs/guide/how-to/train-and-compare.md",
)
warmup_setting = partial(
    setting, "Warm-up", "Share of all steps in which the learning rate rises.", bounds=(0.0, 1.0)
)
weight_decay_setting = partial(
    setting,
    "Weight decay",
    "Weight decay of AdamW. It is not applied to biases and norms.",
    bounds=(0.0, 1.0),
)
clip_setting = partial(
    setting,
    "Maximum gradient norm",
    "A longer gradient is clipped to this norm.",
    default=1.0,
    bounds=(1e-6, 1e6),
)
precision_setting = partial(
    setting,
    "Precision",
    "float32 repeats exactly on a processor; bfloat16 and auto are faster on some GPUs.",
    default="float32",
    choices=("float32", "bfloat16", "auto"),
)
shard_sources_setting = partial(
    setting,
    "Sources of a shard",
    "Number of sources in one shard. Several workers can share the shards of a run.",
    default=20,
    bounds=(1, 10_000),
)
OF_ENDPOINTS = "only for models openai:NAME"
endpoint_setting = partial(setting, source=OF_ENDPOINTS)
concurrency_setting = partial(
    endpoint_setting,
    "Requests at a time",
    "Number of requests that a worker has open at once.",
    default=8,
    bounds=(1, 256),
    unit="requests",
)
timeout_setting = partial(
    endpoint_setting,
    "Time for an answer",
    "A request that takes longer is sent again.",
    default=120.0,
    bounds=(1, 3600),
    unit="seconds",
)
attempts_setting = partial(
    endpoint_setting,
    "Attempts",
    "How often a request is sent if the endpoint is busy or unreachable. The pauses grow from 1 to 60 "
    "seconds.",
    default=8,
    bounds=(1, 100),
)


def devices_wanted(devices: str) -> int | None:
    """How many devices share a training; None for all that there are. Raises PlanError."""
    text = devices.strip().lower()
    if text == ALL_DEVICES:
        return None
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= MOST_DEVICES):
        raise PlanError(
            "“%(setting)s” is “%(value)s”; give all, or a number from 1 to %(most)d.",
            setting=SettingName("devices"),
            value=devices,
            most=MOST_DEVICES,
        )
    return int(text)


def check_devices(device: str, devices: str) -> None:
    """Raises PlanError for a number that is none, and for several devices where one is named."""
    if devices_wanted(devices) != 1 and ":" in device:
        raise PlanError(
            "“%(device)s” names one GPU, %(named)s; choose auto or cuda, or 1 for “%(devices)s”.",
            device=SettingName("device"),
            devices=SettingName("devices"),
            named=device,
        )


def check_width(width: int) -> None:
    """Raises PlanError for the width of a transformer that its attention heads do not divide."""
    if width % HEAD_WIDTH:
        raise PlanError(
            "“%(setting)s” is %(width)d; give a multiple of 32, the width of an attention head.",
            setting=SettingName("width"),
            width=width,
        )
