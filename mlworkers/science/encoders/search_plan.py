"""Every setting of a search over settings: what is tried, how often, and by which pairs the best is chosen."""

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from typing import TypeVar

from mlworkers.plans.fields import SEEDS, PlanError, SettingName, check_devices, setting
from mlworkers.science.encoders.plan import (
    FITTED,
    RISE_WEIGHTINGS,
    SEEDS_MAX,
    EncoderPlan,
    SharedTraining,
    TrainingPlan,
    Weighting,
    check_resamples,
    check_signals,
    dev_dataset_setting,
    leaks_setting,
    realism_setting,
    resamples_setting,
    test_dataset_setting,
    test_split_setting,
)
from mlworkers.science.encoders.searching import Trial, grid_of, trials_drawn

FITTED_WORD = "fitted"
MOST_TRIALS = 1_000
Number = TypeVar("Number", int, float)
ours = partial(setting, source="docs/guide/how-to/search-settings.md")
tried = partial(ours, essential=True)


@dataclass(frozen=True)
class SearchPlan(SharedTraining):
    """Encoders of one weighting, trained with different settings. The one that does best on dev pairs is measured on
    the test pairs.
    """

    realism: str = realism_setting(preselected=True)  # the default weighting needs it
    test_score_set: str = setting(
        "Test scores",
        "Human or reference scores of the test pairs. They are read once, for the chosen settings.",
        kw_only=True,
        refers_to="score set",
        kinds=("reference", "human"),
        within="test_dataset",
    )
    weighting: Weighting = setting(
        "Weighting",
        "The weighting that every trial uses.",
        default=Weighting.REALISM,
        source=RISE_WEIGHTINGS,
        essential=True,
    )
    # RISE's grid has 0.5, 0.7 and 0.9, and chose one for each source (its table 9).
    temperatures: str = tried(
        "Temperatures of p_D to try (τ)",
        "Numbers to try, separated by commas; fitted leaves p_D as it was published. A weighting that does "
        "not use the size of p_D takes one value.",
        default="fitted,0.5,0.7,0.9,1",
    )
    learning_rates: str = tried(
        "Learning rates to try", "Numbers to try, separated by commas.", default="1e-5,2e-5,5e-5"
    )
    epochs: str = tried("Numbers of epochs to try", "Numbers to try, separated by commas.", default="1,3")
    batch_sizes: str = tried("Batch sizes to try", "Numbers to try, separated by commas.", default="16,32")
    # 5 temperatures · 3 rates · 2 numbers of epochs · 2 batch sizes = 60 combinations by default.
    trials: int = ours(
        "Trials",
        "Number of combinations to try; 0: all. They are drawn at random if there are more.",
        default=0,
        bounds=(0, MOST_TRIALS),
        essential=True,
    )
    seeds: int = ours(
        "Seeds of a trial",
        "Number of trainings, each with another seed. Each combination is trained so often. With one seed, "
        "a difference between trials may be the noise of training.",
        default=1,
        bounds=(1, SEEDS_MAX),
    )
    first_seed: int = setting(
        "First seed",
        "The first seed; the others are the numbers that follow. It is also the seed of the draw of trials "
        "and of the synthetic dev set.",
        default=42,
        bounds=(0, SEEDS[1] - SEEDS_MAX),
    )
    dev_scores: str = ours(
        "Dev scores",
        "Human or reference scores of the dev pairs, which choose the best trial. Empty: a synthetic dev "
        "set, made of training pairs that no trial is trained on.",
        default="",
        refers_to="score set",
        kinds=("reference", "human"),
        within="dev_dataset",
    )
    dev_dataset: str = dev_dataset_setting()
    dev_split: str = setting(
        "Dev split",
        "Only pairs of this split are used to choose. The split test is refused.",
        default="dev",
        offered="split",
    )
    # Synthetic dev pairs rank trials by the very labels that they learn: RISE chooses checkpoints so.
    dev_share: float = ours(
        "Share of a synthetic dev set",
        "Share of the training pairs in the synthetic dev set. If there are no dev scores, these pairs are "
        "not trained on, and the trials are compared on their scores.",
        default=0.1,
        bounds=(0.01, 0.5),
    )
    test_dataset: str = test_dataset_setting()
    test_split: str = test_split_setting()
    leaks: str = leaks_setting()
    bootstrap: int = resamples_setting()

    def __post_init__(self) -> None:
        check_signals(self, [Weighting(self.weighting)])
        check_devices(self.device, self.devices)
        check_resamples(self.bootstrap)
        if not Weighting(self.weighting).uses_size_of_realism and len({t.temperature for t in self.grid}) > 1:
            raise PlanError(
                "“%(setting)s” has several values, and the weighting “%(weighting)s” does not use the size of p_D; "
                "give one value, such as fitted.",
                setting=SettingName("temperatures"),
                weighting=self.weighting,
            )
        if len(self.grid) > MOST_TRIALS and not self.trials:
            raise PlanError(
                "%(number)d combinations are more than %(most)d; name fewer values, or give “%(setting)s” a number.",
                number=len(self.grid),
                most=MOST_TRIALS,
                setting=SettingName("trials"),
            )
        if self.dev_scores:
            self._refuse_test_as_dev()

    @property
    def grid(self) -> list[Trial]:
        """Every combination. Raises PlanError for the first value that is none."""
        return grid_of(
            _listed("temperatures", self.temperatures, "temperature", _temperature),
            _listed("learning_rates", self.learning_rates, "learning_rate", float),
            _listed("epochs", self.epochs, "epochs", int),
            _listed("batch_sizes", self.batch_sizes, "batch_size", int),
        )

    @property
    def tried(self) -> list[Trial]:
        """The combinations that are tried, in the order of the grid."""
        return trials_drawn(self.grid, self.trials, seed=self.first_seed)

    @property
    def all_seeds(self) -> range:
        return range(self.first_seed, self.first_seed + self.seeds)

    @property
    def trainings(self) -> int:
        """How many encoders are trained: one for each trial and seed, and the chosen settings once more."""
        return (len(self.tried) + 1) * self.seeds

    def encoder(self, trial: Trial, seed: int) -> EncoderPlan:
        """The plan of one of the encoders."""
        shared = {one.name: getattr(self, one.name) for one in fields(SharedTraining)}
        return EncoderPlan(
            weighting=self.weighting,
            seed=seed,
            temperature=trial.temperature,
            learning_rate=trial.learning_rate,
            epochs=trial.epochs,
            batch_size=trial.batch_size,
            **shared,
        )

    def _refuse_test_as_dev(self) -> None:
        """Raises PlanError where test pairs would choose the settings."""
        split, tested = (each.strip().lower() for each in (self.dev_split, self.test_split))
        one_dataset = (self.dev_dataset or self.dataset) == (self.test_dataset or self.dataset)
        if split != "test" and not (one_dataset and (split == tested or not split or not tested)):
            return
        raise PlanError(
            "“%(setting)s” is “%(split)s”, so test pairs would choose the settings; name a split that the test does "
            "not read, such as dev.",
            setting=SettingName("dev_split"),
            split=self.dev_split,
        )


def _temperature(text: str) -> float:
    value = FITTED if text == FITTED_WORD else float(text)
    if value == FITTED and text != FITTED_WORD:  # 0 means “as published”, and is written as a word
        raise ValueError
    return value


def _listed(name: str, text: str, of: str, read: Callable[[str], Number]) -> list[Number]:
    """The numbers between commas, each once. Raises PlanError that names the first wrong value and its place.

    of: the setting of a training that they are values of, whose bounds hold.
    """
    about = next(one.metadata for one in fields(TrainingPlan) if one.name == of)
    parts = [part.strip() for part in text.split(",")]
    found: list[Number] = []
    for place, part in enumerate(parts, start=1):
        try:
            value = read(part)
            # Float() reads “inf” and “nan” too.
            right = math.isfinite(value) and about["low"] <= value <= about["high"] and value not in found
        except ValueError:
            right = False
        if not right:
            raise PlanError(
                "Value %(place)d of “%(setting)s” is “%(value)s”; give different numbers from %(low)g to %(high)g with "
                "commas between.",
                place=place,
                setting=SettingName(name),
                value=part,
                low=about["low"],
                high=about["high"],
            )
        found.append(value)
    return found
