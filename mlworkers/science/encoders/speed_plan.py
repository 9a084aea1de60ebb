"""Every setting of measuring how many sentences a second encoders encode. Needs neither torch nor Django."""

from dataclasses import dataclass

from mlworkers.plans.fields import (
    PlanError,
    SettingName,
    dataset_setting,
    device_setting,
    seed_setting,
    setting,
)
from mlworkers.science.encoders.plan import names_listed
from mlworkers.science.encoders.scorers_plan import MOST_SCORERS, Way, models_of_scorers, scorer_read

SPEED = "sentences per second"  # metric of an evaluation
BY_LENGTH, IN_ORDER = "batches of like length", "batches in order"  # parts of it


@dataclass(frozen=True)
class SpeedPlan:
    """The speed of encoders on a dataset's sentences, with batches of like length and without."""

    dataset: str = dataset_setting()
    models: str = setting(
        "Encoders",
        "The encoders, separated by commas. Give run:ID or packaged:NAME. Empty: every encoder that is "
        "registered here, the newest first.",
        default="",
        refers_to="scorers",
        several_models=True,
        essential=True,
    )
    sentences: int = setting(
        "Sentences",
        "Number of different sentences that are drawn and encoded. They are fewer where the dataset does "
        "not have them.",
        default=1_000,
        bounds=(16, 100_000),
        unit="sentences",
        source="docs/guide/how-to/evaluate-encoder.md",
        essential=True,
    )
    batch_size: int = setting(
        "Batch size",
        "Number of sentences in a batch in their order. Batches of like length have as many tokens as "
        "elsewhere in Semblance.",
        default=32,
        bounds=(1, 4096),
        unit="sentences",
        source="sentence-transformers, encode",
    )
    # A median of three is not moved by one round that other work slowed down.
    rounds: int = setting(
        "Rounds",
        "Number of times that both ways are measured, in turn. The median is given, with the slowest and "
        "the fastest round.",
        default=3,
        bounds=(1, 100),
    )
    device: str = device_setting()
    seed: int = seed_setting()

    def __post_init__(self) -> None:
        if any(scorer_read(name).way is not Way.OWN for name in names_listed(self.models)):
            raise PlanError(
                "“%(setting)s” is “%(value)s”; give encoders alone, such as run:5 or packaged:all-MiniLM-L6-v2.",
                setting=SettingName("models"),
                value=self.models,
            )
        if len(self.named) > MOST_SCORERS:
            raise PlanError(
                "“%(setting)s” names %(number)d encoders; %(most)d are the most.",
                setting=SettingName("models"),
                number=len(self.named),
                most=MOST_SCORERS,
            )

    @property
    def named(self) -> tuple[str, ...]:
        """Raises PlanError."""
        return models_of_scorers(self.models)
