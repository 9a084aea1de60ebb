"""Every setting of composing pairs by the similarity that an encoder gives them."""

from dataclasses import dataclass

from curation.pairs.sampling.drawing import BANDS, MOST_PAIRS, SamplingError, Settings, Strategy, edges_read
from mlworkers.plans.fields import (
    PlanError,
    dataset_setting,
    device_setting,
    seed_setting,
    setting,
)

GUIDE = "docs/guide/how-to/sample-pairs.md"
STR_PAPER = "STR paper, appendix A"


@dataclass(frozen=True)
class BandsPlan:
    """Pairs of a pool's sentences, equally many in each band of cosine similarity."""

    dataset: str = dataset_setting()
    model: str = setting(
        "Encoder",
        "The encoder whose cosines are the similarity. Give packaged:all-MiniLM-L6-v2, run:ID, a folder or "
        "a hub id.",
        refers_to="model",
        kinds=("encoder",),
    )
    edges: str = setting(
        "Bands",
        "Where the bands of similarity begin and end, from -1 to 1.",
        default=BANDS,
        source=GUIDE,
        essential=True,
    )
    pairs_per_band: int = setting(
        "Pairs of each band",
        "Number of pairs in each band. A band in which too few pairs are possible gives fewer, which the "
        "result says.",
        default=100,
        bounds=(1, MOST_PAIRS),
        source=GUIDE,
        essential=True,
    )
    shortest: int = setting(
        "Fewest words of a sentence",
        "Fewest words of a sentence. Shorter ones are left out.",
        default=5,
        bounds=(0, 1000),
        source=STR_PAPER,
    )
    longest: int = setting(
        "Most words of a sentence",
        "Most words of a sentence. Longer ones are left out.",
        default=25,
        bounds=(1, 1000),
        source=STR_PAPER,
    )
    cap: int = setting(
        "Pairs of one sentence, at most",
        "In how many pairs a sentence may be.",
        default=1,
        bounds=(1, 1000),
        source=GUIDE,
    )
    preview: bool = setting(
        "Only a preview",
        "Shows the pairs and how many each band has, and adds none. The same seed adds the same pairs.",
        default=False,
        essential=True,
    )
    device: str = device_setting()
    seed: int = seed_setting(default=1234)

    def __post_init__(self) -> None:
        _ = self.settings

    @property
    def settings(self) -> Settings:
        """Raises PlanError where the bands are none, or the settings do not hold together."""
        try:
            edges = edges_read(self.edges)
            return Settings(
                strategy=Strategy.SIMILARITY,
                count=self.pairs_per_band * max(1, len(edges) - 1),  # k + 1 edges make k bands
                seed=self.seed,
                cap=self.cap,
                shortest=self.shortest,
                longest=self.longest,
                edges=edges,
            )
        except SamplingError as error:
            raise PlanError("%(problem)s", problem=str(error)) from error
