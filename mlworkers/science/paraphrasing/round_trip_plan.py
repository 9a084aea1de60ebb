"""How translations are decoded, and every setting of round-trip translation."""

from dataclasses import dataclass
from enum import StrEnum
from itertools import product

from mlworkers.plans.fields import (
    PlanError,
    SettingName,
    dataset_setting,
    device_setting,
    seed_setting,
    setting,
)
from mlworkers.science.paraphrasing.writing_plan import Decoding, Sampling, Search, check_best

PAPER_SETTINGS = "20 3, 30 2"  # two there, two back: four candidates a sentence
PAPER_GRID = "the paper's grid"
MOST_COMBINATIONS = 256  # of the paper's grid: 16 settings there and 16 back
ROUND_TRIP = "round trip"  # the subset of pairs by beam search, and the beginning of the others
_PAPER = "ConPGS paper, section 3.3"
_BASELINE = "ConPGS paper, section 5.2"
_HOTTEST, _WIDEST = 100.0, 100_000


class Engine(StrEnum):
    AUTO = "auto"
    CTRANSLATE2 = "CTranslate2"
    TRANSFORMERS = "transformers"


Way = Sampling | Decoding
# In this order the paper names them.
# 4 · 4 = 16 pairs of k and T.
GRID = tuple(Sampling(k, float(t)) for k, t in product((10, 20, 30, 40), (1, 2, 3, 4)))


@dataclass(frozen=True)
class Trip:
    """One way there and back. name: of its pairs' subset."""

    forward: Way
    backward: Way
    name: str


@dataclass(frozen=True)
class RoundTripPlan:
    """Human sentences of a dataset, translated into another language and back, as generated pairs."""

    dataset: str = dataset_setting()
    forward: str = setting(
        "Model there",
        "An FSMT or Marian model that translates the sentences, such as facebook/wmt19-en-de. Give a hub "
        "id or a folder. Helsinki-NLP/opus-mt-en-de is another one.",
        refers_to="model",
        kinds=("translator",),
    )
    backward: str = setting(
        "Model back",
        "A model that translates back, such as Helsinki-NLP/opus-mt-de-en.",
        refers_to="model",
        kinds=("translator",),
    )
    search: Search = setting(
        "Decoding",
        "Sampling gives several different candidates of a sentence. Beam search gives the likeliest one: the baseline "
        "of the paper's experiments.",
        default=Search.SAMPLING,
        choices=tuple(Search),
        source=_PAPER,
        essential=True,
    )
    forward_settings: str = setting(
        "Settings there",
        "Pairs of k and temperature for sampling, separated by commas. Each is combined with each setting "
        "back. “the paper's grid” is all 16 pairs of 10, 20, 30, 40 and 1, 2, 3, 4.",
        default=PAPER_SETTINGS,
        source=_PAPER,
        essential=True,
    )
    backward_settings: str = setting(
        "Settings back",
        "Pairs of k and temperature for the way back. A sentence gets one candidate for each combination.",
        default=PAPER_SETTINGS,
        source=_PAPER,
        essential=True,
    )
    beams: int = setting("Beams", "Width of the beam search.", default=5, bounds=(1, 100), source=_BASELINE)
    best: int = setting(
        "Best of the beam",
        "Number of translations back that beam search keeps of a sentence. They are the likeliest ones, "
        "and become its paraphrases.",
        default=1,
        bounds=(1, 100),
        source=_BASELINE,
    )
    shortest: float = setting(
        "Shortest translation",
        "Length in tokens, as a multiple of the source. Beam search uses it.",
        default=0.75,
        bounds=(0.0, 1.0),
        source=_BASELINE,
    )
    longest: float = setting(
        "Longest translation",
        "Length in tokens, as a multiple of the source. Beam search uses it.",
        default=1.5,
        bounds=(1.0, 10.0),
        source=_BASELINE,
    )
    split: str = setting(
        "Split",
        "Sources are human sentences of this split. Held-out sentences are left out.",
        default="train",
        offered="split",
    )
    sources: int = setting(
        "Sentences",
        "Most source sentences, drawn at random.",
        default=1000,
        bounds=(1, 10_000_000),
        essential=True,
    )
    least_tokens: int = setting(
        "Shortest sentence",
        "Fewest tokens of a source. A shorter one is left out.",
        default=3,
        bounds=(2, 1000),
        unit="tokens",
    )
    most_tokens: int = setting(
        "Longest sentence",
        "Most tokens of a source. A longer one is left out.",
        default=100,
        bounds=(2, 8192),
        unit="tokens",
    )
    check_language: bool = setting(
        "Check the language",
        "Leaves out sources in another language than the first model translates from. Short sentences are "
        "often taken for another language.",
        default=True,
    )
    # |A ∩ B| / |A ∪ B| of both sentences' words (Jaccard).
    near_copy: float = setting(
        "Near copy",
        "Share of words in common with its source at which a candidate is dropped; 1: all.",
        default=1.0,
        bounds=(0.1, 1.0),
    )
    engine: Engine = setting(
        "Engine",
        "CTranslate2 is faster on a processor, in 8 bits; auto takes it there if installed, and "
        "transformers otherwise.",
        default=Engine.AUTO,
        choices=tuple(Engine),
    )
    shard_sources: int = setting(
        "Sources of a shard",
        "Number of sources in one shard. Several workers can share the shards of a run.",
        default=50,
        bounds=(1, 10_000),
    )
    seed: int = seed_setting()
    device: str = device_setting()

    def __post_init__(self) -> None:
        _trips = self.trips
        if self.least_tokens > self.most_tokens:
            raise PlanError(
                "“%(one)s” is above “%(other)s”; no sentence is left.",
                one=SettingName("least_tokens"),
                other=SettingName("most_tokens"),
            )
        if self.search is Search.BEAM:
            check_best(self.best, "beams", self.beams)

    @property
    def trips(self) -> tuple[Trip, ...]:
        """Every combination there and back. Raises PlanError for texts that name none, or too many."""
        if self.search is Search.BEAM:
            there, back = (
                Decoding(self.beams, candidates, self.shortest, self.longest) for candidates in (1, self.best)
            )
            return (Trip(there, back, ROUND_TRIP),)
        sides = [
            samplings_read(getattr(self, name), setting=name)
            for name in ("forward_settings", "backward_settings")
        ]
        combined = list(product(*sides))  # every way there with every way back
        if len(combined) > MOST_COMBINATIONS:
            raise PlanError(
                "“%(one)s” and “%(other)s” have %(combined)d combinations; at most %(most)d are allowed.",
                one=SettingName("forward_settings"),
                other=SettingName("backward_settings"),
                combined=len(combined),
                most=MOST_COMBINATIONS,
            )
        return tuple(Trip(there, back, f"{ROUND_TRIP} {there} back {back}") for there, back in combined)

    @property
    def candidates(self) -> int:
        """Of each sentence."""
        return self.best if self.search is Search.BEAM else len(self.trips)


def samplings_read(text: str, *, setting: str) -> tuple[Sampling, ...]:
    """The pairs of k and temperature between commas, such as 20 3, 30 2. Raises PlanError where it has none, or one
    comes twice. setting: its name.
    """
    if text.strip() == PAPER_GRID:
        return GRID
    found = []
    for part in (part.strip() for part in text.split(",") if part.strip()):
        try:
            top_k, temperature = part.split()
            one = Sampling(int(top_k), float(temperature))
        except ValueError:
            one = Sampling(0, 0)
        if not (1 <= one.top_k <= _WIDEST and 0 < one.temperature <= _HOTTEST):
            raise PlanError(
                "“%(setting)s” has “%(text)s”; give a whole number k and a temperature above 0, such as 20 3.",
                setting=SettingName(setting),
                text=part,
            )
        found.append(one)
    if not found or len(set(found)) < len(found):
        raise PlanError(
            "“%(setting)s” names no pair of k and temperature, or one twice.", setting=SettingName(setting)
        )
    return tuple(found)
