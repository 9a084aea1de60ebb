"""What the verdicts of people say about a p_D score set: one figure for each way in which sentences were chosen."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from curation.models import Pair, PairScore, ReviewDecision, ScoreSet, Sentence, User
from curation.pairs.keeping import KeptShare, kept_share
from curation.pairs.sample_order import stratum_sizes
from curation.results.estimates import Estimate
from curation.review.judged import JudgedSentence, judged_sentences
from curation.statistics.kappa import Kappa, cohen_kappa
from mlworkers.science.realism.thresholds import Cut, cut_at
from mlworkers.science.realism.verdicts import (
    Bin,
    Needed,
    RankFigures,
    Sample,
    kept_bins,
    rank_figures,
    verdicts_needed,
)

Frame = ReviewDecision.Frame
Reason = ReviewDecision.Reason
SAMPLES = (Frame.RANDOM, Frame.STRATIFIED)  # of all machine sentences of the set
FRAMES = (*SAMPLES, Frame.UNCERTAIN, Frame.LOWEST)
LOWEST_SHARE = 0.1  # of the machine sentences, by p_D: what the RISE paper calls the bottom
STEPS = tuple(step / 20 for step in range(1, 20))
FIGURE_COLUMNS = (
    "frame", "figure", "from_p_d", "to_p_d", "value", "low", "high", "verdicts", "kept", "rejected",
)  # fmt: skip
SENTENCE_COLUMNS = ("sentence", "p_d", "text", "reasons", "blind", "frame", "decided_at")


@dataclass(frozen=True)
class FrameReport:
    """The blind verdicts on sentences that were chosen in one way."""

    frame: str
    sample: Sample
    sentences: Sequence[int]

    @property
    def label(self) -> str:
        return str(Frame(self.frame).label)

    @property
    def of_all(self) -> bool:
        """Whether it is a sample of all machine sentences."""
        return self.frame in SAMPLES

    @cached_property
    def figures(self) -> RankFigures:
        return rank_figures(self.sample)

    @cached_property
    def bins(self) -> list[Bin]:
        return kept_bins(self.sample)

    @property
    def needed(self) -> Needed:
        return verdicts_needed(self.sample.kept_n, self.sample.rejected_n, self.figures.auc)


@dataclass(frozen=True)
class VerdictReport:
    """Everything that verdicts say about a p_D set. blind: whether each sentence was kept, however it was chosen.

    machine_p_d: of every machine sentence. frames: those with blind verdicts. seen: verdicts of people who saw
    p_D, chosen: of sentences picked one by one, simulated: of simulated reviewers; none of these counts. humans:
    rejected ones among blind verdicts on human sentences, as `KeptShare` of "rejected". lowest_p_d: at or below
    it lies the lowest tenth.
    """

    score_set: ScoreSet
    machine_p_d: Sequence[float]
    frames: Sequence[FrameReport]
    seen: int
    chosen: int
    simulated: int
    humans: KeptShare
    kappa: Kappa
    lowest_p_d: float | None
    rejected: Sequence[JudgedSentence]
    kept: Sequence[JudgedSentence]
    blind: Mapping[int, bool]

    @property
    def empty(self) -> bool:
        """Whether no person has given a verdict."""
        return not (self.judged or self.seen or self.chosen or self.humans.n)

    @property
    def judged(self) -> int:
        """Blind verdicts that count."""
        return sum(report.sample.n for report in self.frames)

    @cached_property
    def main(self) -> FrameReport | None:
        """The sample of all sentences that answers: one with an AUC, the larger of two; otherwise the larger."""
        samples = [report for report in self.frames if report.of_all]
        return max(samples, key=lambda each: (each.figures.auc is not None, each.sample.n), default=None)

    @cached_property
    def cuts(self) -> list[Cut]:
        """What each threshold would decide, by the verdicts of the main sample; none without verdicts."""
        if self.main is None:
            return []
        found = [cut_at(self.main.sample, self.machine_p_d, share) for share in STEPS]
        return [
            cut for before, cut in zip([None, *found], found, strict=False) if cut.below and cut != before
        ]

    @property
    def by_reason(self) -> list[tuple[str, list[JudgedSentence]]]:
        """Rejected sentences of low p_D under each reason that was given for them; one may be under several."""
        several = [
            (str(reason.label), [each for each in self.rejected if reason in each.reasons])
            for reason in Reason
        ]
        return [(label, sentences) for label, sentences in several if sentences]


def verdict_report(score_set: ScoreSet) -> VerdictReport:
    everything = [each for each in judged_sentences(score_set) if each.p_d is not None or each.human]
    reviewers = {each.reviewer for each in everything if each.reviewer is not None}
    simulated = set(User.objects.filter(pk__in=reviewers, simulated=True).values_list("pk", flat=True))
    judged = [each for each in everything if each.reviewer not in simulated]
    p_d = machine_p_d(score_set)
    values = list(p_d.values())
    lowest = lowest_p_d(values)
    machine = [each for each in judged if not each.human and each.sentence in p_d]
    low = [each for each in machine if lowest is not None and each.p_d is not None and each.p_d <= lowest]
    humans = [each.kept for each in judged if each.human and each.blind and not each.second]
    # Agreement is about sentences that two people judged blind: the first verdict of all and the first second one.
    first: dict[int, bool] = {}
    second: dict[int, bool] = {}
    for each in machine:
        if each.blind:
            (second if each.second else first).setdefault(each.sentence, each.kept)
    both = [number for number in first if number in second]
    words = {True: "keep", False: "reject"}
    return VerdictReport(
        score_set=score_set,
        machine_p_d=values,
        frames=_frames(machine, len(values)),
        seen=sum(not each.blind for each in judged),
        chosen=sum(each.blind and each.frame == Frame.CHOSEN and not each.human for each in judged),
        simulated=len(everything) - len(judged),
        humans=kept_share(humans.count(False), len(humans)),
        kappa=cohen_kappa([words[first[each]] for each in both], [words[second[each]] for each in both]),
        lowest_p_d=lowest,
        rejected=_distinct([each for each in low if each.reasons]),
        blind={each.sentence: each.kept for each in machine if each.blind and not each.second},
        kept=_distinct([each for each in low if each.kept and each.blind]),
    )


def lowest_p_d(values: Sequence[float]) -> float | None:
    """The p_D at or below which the lowest tenth of so many sentences lies; None without sentences."""
    return float(np.quantile(values, LOWEST_SHARE, method="inverted_cdf")) if values else None


def machine_p_d(score_set: ScoreSet) -> dict[int, float]:
    """p_D of each machine sentence of the set, by its number; where it has several, that of its first pair."""
    scores = PairScore.objects.filter(
        score_set=score_set, pair__origin=Pair.Origin.GENERATED, pair__b__origin=Sentence.Origin.MACHINE
    )
    return dict(scores.order_by("-pair").values_list("pair__b", "value"))


def _frames(machine: Sequence[JudgedSentence], sentences: int) -> list[FrameReport]:
    """Samples of first, blind verdicts: a second reviewer's are for the agreement alone."""
    first = [
        each
        for each in machine
        if each.blind and not each.second and (each.frame != Frame.STRATIFIED or each.stratum)
    ]
    reports = []
    for frame in FRAMES:
        rows = [each for each in first if each.frame == frame]
        if not rows:
            continue
        p_d = np.array([each.p_d for each in rows], dtype=np.float64)
        kept = np.array([each.kept for each in rows], dtype=bool)
        stratum, sizes = np.zeros(len(rows), dtype=np.int64), {0: max(sentences, len(rows))}
        if frame == Frame.STRATIFIED:
            stratum = np.array([each.stratum or 0 for each in rows], dtype=np.int64)
            sizes = stratum_sizes(sentences)
        sample = Sample(p_d, kept, stratum, sizes)
        reports.append(FrameReport(frame, sample, [each.sentence for each in rows]))
    return reports


def _distinct(rows: Sequence[JudgedSentence]) -> list[JudgedSentence]:
    """Each sentence once, by its newest verdict of these; the lowest p_D first."""
    newest = {each.sentence: each for each in rows}
    return sorted(newest.values(), key=lambda each: (each.p_d or 0.0, each.sentence))


def figure_rows(report: VerdictReport) -> Iterator[list[object]]:
    """The statistics as a table under FIGURE_COLUMNS."""
    for each in report.frames:
        sample, figures = each.sample, each.figures
        counts = [sample.n, sample.kept_n, sample.rejected_n]
        area = figures.auc
        estimates: dict[str, Estimate | None] = {
            "auc": Estimate(area.value, area.low, area.high) if area else None,
            "spearman": figures.spearman,
            "calibration_slope": figures.slope,
            "calibration_intercept": figures.intercept,
        }
        for name, estimate in estimates.items():
            yield [each.frame, name, "", "", *(estimate or ("", "", "")), *counts]
        for part in each.bins:
            yield [
                each.frame,
                "kept",
                part.low,
                part.high,
                *part.share,
                part.n,
                part.kept,
                part.n - part.kept,
            ]
    for cut in report.cuts:
        frame = report.main.frame if report.main else ""
        sides = (
            ("kept_above", cut.threshold, "", cut.kept_above, cut.judged_above),
            ("rejected_below", "", cut.threshold, cut.rejected_below, cut.judged_below),
        )
        for name, low, high, estimate, n in sides:
            yield [frame, name, low, high, *(estimate or ("", "", "")), n, "", ""]
    humans, kappa = report.humans, report.kappa
    value = "" if humans.share is None else humans.share
    yield ["human sentences", "rejected", "", "", value, humans.low, humans.high, humans.n,
           humans.n - humans.kept, humans.kept]  # fmt: skip
    yield ["two reviewers", "kappa", "", "", kappa.value, kappa.low, kappa.high, kappa.n, "", ""]


def sentence_rows(sentences: Sequence[JudgedSentence]) -> Iterator[list[object]]:
    """Judged sentences as a table under SENTENCE_COLUMNS."""
    for each in sentences:
        reasons = ";".join(each.reasons)
        yield [
            each.sentence,
            each.p_d,
            each.text,
            reasons,
            each.blind,
            each.frame,
            each.decided_at.isoformat(),
        ]
