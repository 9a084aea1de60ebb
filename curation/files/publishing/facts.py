"""What a published folder says of a dataset, and how that was made: values that its files are written from."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from curation.files.tables import Column, Row
from curation.pairs.judged_by import judged_by
from curation.pairs.leaks import Leak


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


# Names of splits: of the only one of what is not divided, as `datasets` calls it, and of the pairs that have none.
WHOLE, UNASSIGNED = "train", "unassigned"


@dataclass(frozen=True)
class Scores:
    """A score set as a snapshot holds it, and how its values were made.

    column: its name in the snapshot.
    count: pairs of the snapshot with a score.
    judgements, annotators: what the scores were computed from, None where the set does not say.
    simulated: annotators among these that a program simulated.
    reliability: split-half reliability, as the set keeps it; None where there is none.
    marginal: marginal reliability of MaxDiff scores, and its 95 % interval if known; None for other methods.
    agreement: of the raters whose ratings a file gave (`RaterAgreement`); None where there is none.
    campaign: its name.
    published: the day on which the scores were computed, as 2026-03-01; "" where nobody knows it.
    withdrawn: on which day and why, such as "2026-03-01: wrong question"; "" for scores that are offered.
    added_since, gone_since: judgements that joined or left those that count in the campaign after that day's scores.
    """

    column: str
    name: str
    kind: str
    low: float
    high: float
    count: int
    method: str = ""
    judgements: int | None = None
    annotators: int | None = None
    simulated: int = 0
    reliability: Mapping[str, Any] | None = None
    marginal: tuple[float, float | None, float | None] | None = None
    agreement: Mapping[str, Any] | None = None
    campaign: str = ""
    published: str = ""
    withdrawn: str = ""
    added_since: int = 0
    gone_since: int = 0

    @property
    def judged_by(self) -> str:
        """Who gave the judgements: people, a program that simulates them, or both; "" for scores of other kinds."""
        return judged_by(self.kind, annotators=self.annotators, simulated=self.simulated)


@dataclass(frozen=True)
class Collection:
    """A campaign whose scores are published: its question, its annotators and its results.

    tuples_per_item: in how many tuples a pair is, on average. judgements: those that count, which are `extra` and
    `excluded` more than in all. annotators: who gave any; `simulated` of them are programs, and the judgements of
    `excluded_annotators` of them do not count; exclusions: how many of these there are for each reason. imported:
    whether the judgements came from a file, which does not say what was asked.
    """

    name: str
    question: str
    guidelines: str
    imported: bool
    tuple_size: int
    pairs: int
    tuples: int
    tuples_per_item: float
    judgements_per_tuple: int
    judgements: int
    extra: int
    excluded: int
    annotators: int | None
    simulated: int
    excluded_annotators: int
    exclusions: Mapping[str, int]
    gold_tuples: int
    gold_threshold: float
    began: date | None
    ended: date | None


@dataclass(frozen=True)
class Table:
    """Rows of a configuration beside the scores."""

    columns: Sequence[Column]
    rows: Iterator[Row]


@dataclass(frozen=True)
class Publication:
    """Everything that a published folder states.

    taken: the day of the snapshot, from which everything else is dated, so that the same state gives the same bytes.
    chosen: which generated pairs the snapshot includes.
    software: with its version.
    main: the scores that `scored` has.
    making: how it was made, for the methods section.
    """

    slug: str
    name: str
    description: str
    language: str
    licence: str
    address: str
    authors: Sequence[str]
    snapshot: int
    sha256: str
    taken: date
    chosen: str
    software: str
    main: Scores
    others: Sequence[Scores] = ()
    collections: Sequence[Collection] = ()
    making: Making = field(default_factory=Making)

    @property
    def scores(self) -> list[Scores]:
        return [self.main, *self.others]

    @property
    def simulated(self) -> bool:
        """Whether any of its scores come from judgements that a program gave."""
        return any(scores.simulated for scores in self.scores)


@dataclass(frozen=True)
class Configuration:
    """Tables with the same columns. files: for each split, its path in the folder and its number of rows."""

    name: str
    columns: Sequence[Column]
    files: Mapping[str, tuple[str, int]]

    @property
    def rows(self) -> int:
        return sum(rows for _path, rows in self.files.values())


@dataclass(frozen=True)
class Contents:
    """What the written tables hold. pairs: counts by origin; kept: generated pairs that a curator kept or edited.
    leaks: what splits share.
    """

    configurations: Sequence[Configuration]
    origins: Mapping[str, int] = field(default_factory=dict)
    machine: bool = False
    kept: int = 0
    leaks: Sequence[Leak] = ()

    @property
    def pairs(self) -> int:
        return sum(self.origins.values())

    @property
    def unreviewed(self) -> int:
        """Generated pairs without a verdict. A pair that an edit made is kept, and may have another origin."""
        return max(0, self.origins.get("generated", 0) - self.kept)

    @property
    def scored(self) -> Configuration:
        """The pairs with a score, which every published folder has."""
        return next(each for each in self.configurations if each.name == "scored")
