"""How a paraphraser decodes, and every setting of writing paraphrases for a dataset's sentences."""

from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from mlworkers.plans.fields import (
    PlanError,
    SettingName,
    dataset_setting,
    device_setting,
    seed_setting,
    setting,
    shard_sources_setting,
)
from mlworkers.science.encoders.plan import check_resamples, resamples_setting

PAPER_TAGS = "the paper's 16"
# Section 4: the tags of the corpus of 87 million paraphrases.
PAPER_PAIRS = tuple(  # 4 · 4 = 16 of the 48 cells
    (similarity, lexical)
    for similarity in ("SIM95", "SIM90", "SIM85", "SIM80")
    for lexical in ("BLEU0_5", "BLEU10", "BLEU15", "BLEU20")
)
_DECODING = "ConPGS paper, section 3.4"
_CORPUS = "ConPGS paper, section 4"
beams_setting = partial(
    setting, "Beams", "Width of the beam search.", default=5, bounds=(1, 100), source=_DECODING
)
shortest_setting = partial(
    setting,
    "Shortest paraphrase",
    "Length in tokens, as a multiple of the source without its tags.",
    default=0.75,
    bounds=(0.0, 1.0),
    source=_DECODING,
)
longest_setting = partial(
    setting,
    "Longest paraphrase",
    "Length in tokens, as a multiple of the source without its tags.",
    default=1.5,
    bounds=(1.0, 10.0),
    source=_DECODING,
)


class Search(StrEnum):
    SAMPLING = "sampling"  # p ∝ exp(z / T) over the k likeliest tokens (section 3.2)
    BEAM = "beam search"  # the best by the mean log-probability of a token


@dataclass(frozen=True)
class Sampling:
    """Each token is drawn from the top_k likeliest, their logits divided by the temperature (Fan et al. 2018)."""

    top_k: int
    temperature: float

    def __str__(self) -> str:
        return f"k{self.top_k} T{self.temperature:g}"


def check_best(best: int, other: str, most: int) -> None:
    """Raises PlanError where more is kept of a sentence than a search finds. other: the setting that says how many."""
    if best > most:
        raise PlanError(
            "“%(one)s” is %(best)d, but “%(other)s” is %(most)d; no more are found.",
            one=SettingName("best"),
            other=SettingName(other),
            best=best,
            most=most,
        )


@dataclass(frozen=True)
class Decoding:
    """beams: of the search; candidates: the best so many are returned. shortest, longest: of a paraphrase, in tokens,
    as multiples of its source without tags. sampling: how all candidates but the likeliest are drawn; None where the
    search finds them. seed: of what is drawn.
    """

    beams: int = 5
    candidates: int = 1
    shortest: float = 0.75
    longest: float = 1.5
    sampling: Sampling | None = None
    seed: int = 0

    def bounds(self, tokens: int) -> tuple[int, int]:
        """The fewest and the most tokens of the paraphrase of a source of so many; both at least 1."""
        # Rounded down, as in the released snippet, but of the source without tags and marks.
        return max(1, int(self.shortest * tokens)), max(1, int(self.longest * tokens))


@dataclass(frozen=True)
class WritingPlan:
    """Paraphrases of a dataset's human sentences, one or several for each pair of tags, as generated pairs."""

    dataset: str = dataset_setting()
    model: str = setting(
        "Paraphraser",
        "The paraphraser. Give run:ID of one that was trained here, a folder, or a hub id.",
        refers_to="model",
        kinds=("paraphraser",),
    )
    labeller: str = setting(
        "Scorer",
        "The model that measures how similar paraphrase and source are. Give run:ID of a scorer or an "
        "encoder, packaged:all-MiniLM-L6-v2, a folder or a hub id.",
        refers_to="model",
        kinds=("encoder", "labeller"),
    )
    tags: str = setting(
        "Tags",
        "Pairs of tags such as SIM95 BLEU20, separated by commas, or “the paper's 16”. These are SIM80 to "
        "SIM95 with BLEU0_5 to BLEU20.",
        default=PAPER_TAGS,
        source=_CORPUS,
        essential=True,
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
        default=100,
        bounds=(1, 10_000_000),
        essential=True,
    )
    least_tokens: int = setting(
        "Shortest sentence",
        "Fewest tokens of a source. A shorter one is left out.",
        default=10,
        bounds=(2, 1000),
        unit="tokens",
        source=_CORPUS,
    )
    most_tokens: int = setting(
        "Longest sentence",
        "Most tokens of a source. A longer one is left out.",
        default=100,
        bounds=(2, 8192),
        unit="tokens",
        source=_CORPUS,
    )
    language: str = setting(
        "Language",
        "Language of the sources, such as en. A source that is written in another language is left out. "
        "Empty: every language.",
        default="en",
        source=_CORPUS,
    )
    rerank: bool = setting(
        "Rerank",
        "Keeps the candidate nearest to its tags, by measured similarity and BLEU.",
        default=False,
        essential=True,
    )
    # Each candidate is labelled too. A beam that is narrower than this number is widened to it.
    candidates: int = setting(
        "Candidates",
        "Number of candidates that reranking chooses from.",
        default=10,
        bounds=(2, 100),
        unit="candidates",
    )
    best: int = setting(
        "Best paraphrases",
        "Number of paraphrases that are kept of a sentence and pair of tags (N-best). They are the "
        "likeliest of the beam or, with “Rerank”, the candidates nearest to the tags.",
        default=1,
        bounds=(1, 100),
        source="ConPGS paper, section 5.4",
    )
    search: Search = setting(
        "Other candidates",
        "Beam search finds likely candidates, which are much alike. Sampling keeps the likeliest one of a beam search "
        "and draws the others, which differ more.",
        default=Search.BEAM,
        choices=tuple(Search),
        source=_DECODING,
    )
    top_k: int = setting(
        "Likeliest tokens",
        "For sampling: number of the most likely tokens that can be drawn.",
        default=20,
        bounds=(1, 100_000),
        unit="tokens",
    )
    # softmax(logits / T) over the likeliest k.
    temperature: float = setting(
        "Temperature",
        "For sampling: above 1 draws unlikely tokens more often, below 1 less often.",
        default=1.0,
        bounds=(0.01, 100.0),
    )
    measured_by: str = setting(
        "Second scorer",
        "A second scorer, which measures the result and the score sets. Candidates are then not scored by "
        "the scorer that chose them. Empty: the scorer above.",
        default="",
        refers_to="model",
        kinds=("encoder", "labeller"),
        source="none",
    )
    beams: int = beams_setting()
    shortest: float = shortest_setting()
    longest: float = longest_setting()
    # |A ∩ B| / |A ∪ B| of both sentences' words (Jaccard).
    near_copy: float = setting(
        "Near copy",
        "Share of words in common with its source at which a candidate is dropped; 1: all.",
        default=1.0,
        bounds=(0.1, 1.0),
    )
    keep_misses: bool = setting(
        "Keep misses",
        "Also adds paraphrases that lie outside the cell that was asked for. Their target similarity is the one that "
        "was asked for.",
        default=True,
    )
    add_pairs: bool = setting(
        "Add the paraphrases",
        "Adds the paraphrases to the dataset as generated pairs. Off: the run only measures how well the "
        "paraphraser meets its tags; the paraphrases are in its file.",
        default=True,
    )
    bootstrap: int = resamples_setting()
    shard_sources: int = shard_sources_setting()
    seed: int = seed_setting()
    device: str = device_setting()

    def __post_init__(self) -> None:
        _pairs = self.tag_pairs
        check_resamples(self.bootstrap)
        check_best(
            self.best,
            "candidates" if self.rerank else "beams",
            self.candidates if self.rerank else self.beams,
        )
        if self.least_tokens > self.most_tokens:
            raise PlanError(
                "“%(one)s” is above “%(other)s”; no sentence is left.",
                one=SettingName("least_tokens"),
                other=SettingName("most_tokens"),
            )

    @property
    def tag_pairs(self) -> tuple[tuple[str, str], ...]:
        """Tag of similarity and tag of BLEU. Raises PlanError for a text that names none."""
        if self.tags.strip() == PAPER_TAGS:
            return PAPER_PAIRS
        pairs = [tuple(part.split()) for part in self.tags.split(",") if part.strip()]
        for pair in pairs:
            if len(pair) != 2 or not pair[0].startswith("SIM") or not pair[1].startswith("BLEU"):
                raise PlanError(
                    "“%(setting)s” has “%(text)s”; give a tag of similarity and a tag of BLEU, such as SIM95 BLEU20.",
                    setting=SettingName("tags"),
                    text=" ".join(pair),
                )
        if not pairs or len(set(pairs)) < len(pairs):
            raise PlanError("“%(setting)s” names no tags, or some twice.", setting=SettingName("tags"))
        return tuple((one, other) for one, other in pairs)

    @property
    def decoding(self) -> Decoding:
        if not self.rerank:
            return Decoding(self.beams, self.best, self.shortest, self.longest)
        if self.search == Search.SAMPLING:
            drawn = Sampling(self.top_k, self.temperature)
            return Decoding(self.beams, self.candidates, self.shortest, self.longest, drawn, self.seed)
        # a beam gives at most its width.
        return Decoding(max(self.beams, self.candidates), self.candidates, self.shortest, self.longest)
