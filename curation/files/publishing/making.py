"""How a dataset was made, as its methods section tells it: values, read from pairs, campaigns, reviews and runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True)
class PairsFrom:
    """Pairs of the snapshot with the same source, origin and strategy. strategy: how they were chosen or generated."""

    source: str
    origin: str
    strategy: str
    pairs: int


@dataclass(frozen=True)
class ImportedFile:
    """rows: of the file; pairs, scores: that it added."""

    name: str
    rows: int
    pairs: int
    scores: int
    sha256: str
    day: date


@dataclass(frozen=True)
class ComposedPairs:
    """One sample of pairs from the dataset's sentences. pairs: those that are in the snapshot."""

    strategy: str
    settings: Mapping[str, str]
    pairs: int


@dataclass(frozen=True)
class ChosenPairs:
    """One choice among pairs that existed. split: that the chosen pairs got, None where the others were set aside.

    pairs: that were changed.
    """

    strategy: str
    settings: Mapping[str, str]
    pairs: int
    split: str | None


@dataclass(frozen=True)
class GenerationRun:
    """One run that generated sentences.

    instructions: by label. written, kept: sentences that the model wrote, and rows that the run kept, partners among
    them; pairs: those of them in the snapshot. rejected: pairs that curators rejected since.
    """

    number: int
    model: str
    task: str
    instructions: Mapping[str, str]
    decoding: Mapping[str, str]
    self_debiased: bool
    sources: int | None
    written: int | None
    kept: int | None
    dropped: Mapping[str, int]
    pairs: int
    rejected: int


@dataclass(frozen=True)
class RealismScores:
    """A score set of p_D. auc: of telling machine sentences from human ones, with its interval."""

    name: str
    model: str
    classifier: str
    folds: int | None
    auc: float | None
    auc_low: float | None
    auc_high: float | None


@dataclass(frozen=True)
class Reviewed:
    """Verdicts on sentences that a machine wrote, undone ones left out.

    simulated: reviewers that a program simulates. kept, edited, rejected: sentences. reasons: of the rejections.
    removed: pairs that are rejected now. unreviewed: generated pairs of the snapshot without a verdict.
    """

    reviewers: int
    simulated: int
    kept: int
    edited: int
    rejected: int
    blind: int
    reasons: Mapping[str, int]
    removed: int
    unreviewed: int

    @property
    def sentences(self) -> int:
        return self.kept + self.edited + self.rejected


@dataclass(frozen=True)
class EncoderRun:
    """One run that trained or evaluated encoders: what it says, and a table of its figures.

    snapshot: its number. settings: in the order of the text. notes: sentences, about leaks above all.
    header, rows: of the table; empty where there is none.
    """

    number: int
    what: str
    snapshot: int | None
    settings: Mapping[str, str]
    notes: Sequence[str]
    header: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    trained: bool = False
    realism: bool = False


@dataclass(frozen=True)
class Making:
    """files: of pairs; sentence_files: from which pairs were composed.

    everything: whether `encoders` are all such runs; otherwise the newest of them.
    """

    pairs: int = 0
    selection: Sequence[PairsFrom] = ()
    files: Sequence[ImportedFile] = ()
    sentence_files: Sequence[ImportedFile] = ()
    compositions: Sequence[ComposedPairs] = ()
    choices: Sequence[ChosenPairs] = ()
    generations: Sequence[GenerationRun] = ()
    realism: Sequence[RealismScores] = ()
    review: Reviewed | None = None
    encoders: Sequence[EncoderRun] = ()
    encoders_in_all: int = 0
