"""Every setting of comparing scorers of pairs, and how their list is read. Needs neither torch nor Django."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from curation.pairs.inclusion import Inclusion
from mlworkers.plans.fields import (
    PlanError,
    SettingName,
    dataset_setting,
    device_setting,
    generated_pairs_setting,
    seed_setting,
    setting,
    snapshot_setting,
)
from mlworkers.plans.rows import Cells, Column, RowSyntax, rows_setting
from mlworkers.science.encoders.plan import check_resamples, names_listed, resamples_setting

MOST_SCORERS = 20  # so many rows a table of a result has


class Way(StrEnum):
    """How a pair is scored by models. OWN: by an encoder's cosine, or by a cross-encoder."""

    OWN = ""  # cos(u, v), or the mean of f(a, b) and f(b, a)
    STATIC = "static"  # u = the mean of its tokens' rows in the input embeddings
    CLS = "cls"  # u = h_1
    MEAN = "mean"  # u = Σ_t h_t / T
    BERTSCORE = "bertscore"  # 2 P R / (P + R) of matched tokens
    TWO = "two"  # (f(a) · g(b) + f(b) · g(a)) / 2


class ScorerNamed(NamedTuple):
    """One scorer as a plan names it. models: one, or two of the way `TWO`."""

    way: Way
    models: tuple[str, ...]

    @property
    def label(self) -> str:
        models = "+".join(self.models)
        return f"{self.way}:{models}" if self.way else models


@dataclass(frozen=True)
class ScorerSyntax(RowSyntax):
    """A row is WAY:MODEL or MODEL alone. Names of models have the character between the cells as well."""

    @property
    def separators(self) -> str:
        return self.between_rows

    def row_split(self, text: str) -> Cells:
        way, between, models = text.partition(self.between_cells)
        return (way, models.strip()) if between and way in {each.value for each in Way} else ("", text)

    def row_join(self, cells: Cells) -> str:
        return self.between_cells.join(cells) if cells[0] else cells[1]


SCORER_ROWS = ScorerSyntax(
    (
        Column("way", "Way", offered="way of scoring"),
        Column("models", "Model, or MODEL+MODEL", required=True, offered="models"),
    ),
    "MODEL, static:MODEL, cls:MODEL, mean:MODEL, bertscore:MODEL or two:MODEL+MODEL",
    between_cells=":",
    between_rows=",",
)


@dataclass(frozen=True)
class ScorersPlan:
    """Scorers of pairs beside the same scores: how well they agree, and how many pairs a second each does."""

    dataset: str = dataset_setting()
    score_set: str = setting(
        "Score set",
        "The scores that the scorers are compared with. They are human scores, or the similarities that a "
        "student encoder learned.",
        refers_to="score set",
        kinds=("human", "reference", "model"),
    )
    scorers: str = rows_setting(
        "Scorers",
        "The others are compared with the first. A model is run:ID or packaged:NAME, an encoder "
        "or a cross-encoder. Of an encoder, static takes the mean of its input embeddings, cls and mean its own layers "
        "with that pooling, and bertscore compares the vectors of single tokens. two multiplies the vectors of two "
        "encoders, one for each sentence, as DPR does.",
        rows=SCORER_ROWS,
        default="packaged:all-MiniLM-L6-v2",
        refers_to="scorers",
        source="Sun et al. 2022, tables 2, 4 and 5",
        essential=True,
    )
    split: str = setting(
        "Split", "Only pairs of this split are used. Empty: every pair.", default="", offered="split"
    )
    bootstrap: int = resamples_setting()
    device: str = device_setting()
    snapshot: int = snapshot_setting()
    generated_pairs: Inclusion = generated_pairs_setting()
    seed: int = seed_setting(default=1234)

    def __post_init__(self) -> None:
        check_resamples(self.bootstrap)
        if not self.named:
            raise PlanError(
                "“%(setting)s” is empty; name an encoder, such as packaged:all-MiniLM-L6-v2.",
                setting=SettingName("scorers"),
            )
        if len(self.named) > MOST_SCORERS:
            raise PlanError(
                "“%(setting)s” names %(number)d scorers; %(most)d are the most.",
                setting=SettingName("scorers"),
                number=len(self.named),
                most=MOST_SCORERS,
            )

    @property
    def named(self) -> tuple[ScorerNamed, ...]:
        """Raises PlanError for a name that cannot be read, or comes twice."""
        return tuple(map(scorer_read, names_listed(self.scorers)))


def scorer_read(name: str) -> ScorerNamed:
    """Raises PlanError for a name that is none. Folders and hub ids are none: what is compared is registered here."""
    way, models = Way.OWN, name
    for each in Way:
        if each and name.startswith(f"{each}:"):  # OWN is the empty prefix, which every name has
            way, models = each, name.removeprefix(f"{each}:")
    found = tuple(part.strip() for part in models.split("+"))
    if len(found) != (2 if way is Way.TWO else 1) or not all(
        part.startswith(("run:", "packaged:")) for part in found
    ):
        raise PlanError(
            "“%(setting)s” has “%(name)s”; give run:ID or packaged:NAME, perhaps with static:, cls:, mean: or "
            "bertscore: before it, or two:MODEL+MODEL.",
            setting=SettingName("scorers"),
            name=name,
        )
    return ScorerNamed(way, found)


def models_of_scorers(text: str) -> tuple[str, ...]:
    """The models that a list of scorers names, each once. Raises PlanError."""
    named = (scorer_read(name) for name in names_listed(text))
    return tuple(dict.fromkeys(model for one in named for model in one.models))
