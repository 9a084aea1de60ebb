"""All that a campaign's dashboard shows beyond counts, computed in one go while the campaign runs."""

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from annotation.bws.annotators.agreement import leave_one_out_agreement, tuple_agreement
from annotation.bws.annotators.carelessness import Answers, agreement_signs, carelessness_signs
from annotation.bws.annotators.position_bias import position_bias
from annotation.bws.designs.swapping import Report, unreported
from annotation.bws.judgements import FloatArray, IntArray, Judgements, Mask, grouped_order, tuple_numbers
from annotation.bws.reliability.correlation import spearman_of
from annotation.bws.reliability.interval import reliability_interval
from annotation.bws.reliability.replication import compared_methods, counting_values, replication
from annotation.bws.reliability.report import curve_report, scores_report
from annotation.bws.reliability.split_half import (
    TooFewJudgements,
    equal_shares,
    split_half_reliability,
)
from annotation.bws.scores.refitting import MaxDiffFit, maxdiff_fit
from annotation.bws.studies.forecast import ForecastPlan, fitted_noise, forecast
from annotation.bws.studies.turning import claim_turning

MOST_EXCLUSIONS = 30  # those of the people with most judgements are computed
SCORE_BINS = 20
CHANCE = 0.05  # of finding position bias in anybody if nobody has one
THRESHOLDS: Mapping[str, tuple[float, ...]] = {
    "gold": (0.0, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95),
    "agreement": (0.0, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9),
}

# The split-half reliability with its interval, or None and why there is none.
ReliabilityNow: TypeAlias = tuple[dict[str, Any] | None, str]


@dataclass(frozen=True)
class StudyPlan:
    """Every number that shapes a study. trials: of the reliability now; the others are less certain and as quick.

    factor: tuples per item. items: of the whole campaign; few of them may be judged yet.
    """

    size: int
    factor: float
    judgements_per_tuple: int
    items: int = 0
    target: float = 0.9
    trials: int = 1000
    resamples: int = 200
    curve_points: int = 8
    curve_trials: int = 50
    curve_fits: int = 3
    across_trials: int = 5
    scenario_trials: int = 50
    random_choices: int = 4
    random_trials: int = 10
    campaigns: int = 20
    most_items_simulated: int = 300
    most_cells: int = 2_000_000
    lowest_agreement_tuples: int = 10
    seed: int = 1234


@dataclass(frozen=True, eq=False)
class CampaignRecord:
    """What was judged, gold tuples left out, in order of arrival; n judgements of k items.

    judged: their annotators are the people's numbers. tuples: (n,). best_slot, worst_slot: (n,) of the
    design. best_position, worst_position: (n,) on the screen. All four are -1 for a tie. required: (n,)
    judgements of the tuple. counted: (n,) whether it counts now. excluded: people whose judgements do not
    count. gold_shares: of people who answered gold tuples.
    named: whether these are the people who judged; reliability takes no notice of made-up ones.
    seconds: (n,) that the tuple was looked at, NaN where nobody measured. letters: (n,) of its texts, as of
    `carelessness.reading_letters`. Without them nothing is said about speed.
    """

    judged: Judgements
    tuples: IntArray
    best_slot: IntArray
    worst_slot: IntArray
    best_position: IntArray
    worst_position: IntArray
    required: IntArray
    counted: Mask
    excluded: frozenset[int]
    gold_shares: Mapping[int, float]
    named: bool = True
    seconds: FloatArray | None = None
    letters: IntArray | None = None

    def answers_of(self, person: int) -> Answers:
        """Theirs, in order of arrival."""
        own = self.judged.people == person
        seconds = np.full(len(own), np.nan) if self.seconds is None else self.seconds
        letters = np.zeros(len(own), dtype=np.int64) if self.letters is None else self.letters
        sizes = self.judged.sizes
        return Answers(
            *(array[own] for array in (self.best_position, self.worst_position, sizes, seconds, letters))
        )

    @property
    def everybody(self) -> set[int]:
        return set(np.unique(self.judged.people).tolist())


@dataclass(frozen=True)
class LeavingOutResult:
    """What is left of a campaign without some people.

    people: how many judged.
    judgements: how many count.
    reliability: split-half Spearman, None if there is too little.
    rank: Spearman between the counting scores and those of the campaign as it is, None if nothing can be compared.
    """

    people: int
    judgements: int
    reliability: float | None
    rank: float | None


def study(
    record: CampaignRecord,
    plan: StudyPlan,
    *,
    now: ReliabilityNow | None = None,
    report: Report = unreported,
) -> dict[str, Any]:
    """Compute everything, as numbers, lists and texts that JSON can hold.

    Reliability now with its interval and how few judgements it rests on, its curve and its target; the forecast for the
    end; people; what leaving people out by a threshold would change, and what each exclusion changed; the tuples that
    people agree least on; screen positions. now: the reliability, if it was computed before. report: of the search for
    the design that the forecast simulates. MaxDiff is fitted once, and the fits of parts of the judgements share its
    prior.
    """
    every = record.judged.only(record.counted)
    if not record.named:
        every = replace(every, annotators=None)
    # Counting and what is counted leave ties out; MaxDiff knows them.
    counted = every.only(~every.ties)
    reliability, note = now or reliability_now(
        counted, trials=plan.trials, resamples=plan.resamples, seed=plan.seed
    )
    # One fit of everything; parts of the judgements share its l and v (`MaxDiffSettings`).
    compared, fit = agreements(record), maxdiff_fit(every)
    agreement = {person: row[0] for person, row in compared.items()}
    shown = {"best": record.best_position, "worst": record.worst_position}
    return {
        "judgements": len(counted),
        "ties": len(every) - len(counted),
        "reliability": reliability,
        "note": note,
        "turning": claim_turning(
            counted,
            reliability["spearman"] if reliability else 0.0,
            seed=plan.seed,
            most_cells=plan.most_cells,
        ),
        **_growth(counted, reliability, plan),
        "across": _across(counted, fit, plan),
        **scores_report(counted, fit=fit, seed=plan.seed),
        "per_tuple": curve_report(
            counted, fit=fit, trials=plan.curve_trials, fits=plan.curve_fits, seed=plan.seed
        ),
        "forecast": _forecast(every, plan, report),
        "people": list(_people(record, compared)),
        "what_if": _what_if(record, {"gold": record.gold_shares, "agreement": agreement}, plan),
        "exclusions": list(_exclusions(record, plan)),
        "lowest_agreement": list(_lowest_agreement(record, plan)),
        "scores": _scores(counted),
        "positions": {
            role: asdict(position_bias(chosen[record.counted], every.sizes)) for role, chosen in shown.items()
        },
    }


def reliability_now(
    counted: Judgements, *, trials: int = 1000, resamples: int = 200, seed: int = 1234
) -> ReliabilityNow:
    """The split-half reliability of the judgements that count, with its interval, as JSON may hold it.

    trials: random halves. resamples: draws for the interval. The same seed gives the same figures.
    Returns the figures and "", or None and the sentence that says why there are too few judgements.
    """
    try:
        reliability = split_half_reliability(counted, trials=trials, seed=seed)
    except TooFewJudgements as error:
        return None, str(error)
    mean = reliability.spearman_mean
    interval = reliability_interval(counted, mean, resamples=resamples, seed=seed)
    figures = {
        "spearman": mean,
        **asdict(interval),
        "spearman_brown": reliability.spearman_brown,
        "trials": trials,
        "judgements": len(counted),
    }
    return figures, ""


def _growth(counted: Judgements, now: dict[str, Any] | None, plan: StudyPlan) -> dict[str, Any]:
    """The curve over growing judgements, each point with its interval, and the target."""
    curve: list[dict[str, Any]] = []
    # A quarter of the resamples: SE of a bootstrap standard error is about 1 / sqrt(2 B), 10 % for B = 50.
    settings = {"trials": plan.curve_trials, "resamples": plan.resamples // 4, "seed": plan.seed}
    # Reliability after 1/8, 2/8, ... of the judgements, in order of arrival.
    for count in equal_shares(len(counted), plan.curve_points):
        then = now
        if count < len(counted):
            # The first ones to arrive.
            then, _note = reliability_now(counted.only(np.arange(count)), **settings)
        if then:
            names = ("judgements", "spearman", "low", "high", "people")
            curve.append({name: then[name] for name in names})
    return {"curve": curve, "target": plan.target}


def _forecast(every: Judgements, plan: StudyPlan, report: Report) -> dict[str, Any]:
    """What the campaign will reach with people as noisy as these, who leave as many tuples undecided; with usual ones,
    if too little was judged. every: the judgements that count, ties too.
    """
    counted = every.only(~every.ties)
    people = None if counted.annotators is None else len(np.unique(counted.annotators))
    usual = ForecastPlan(
        items=min(max(counted.item_count, plan.items, plan.size), plan.most_items_simulated),
        size=plan.size,
        factor=plan.factor,
        judgements_per_tuple=plan.judgements_per_tuple,
        people=people or ForecastPlan.people,
        campaigns=plan.campaigns,
        seed=plan.seed,
    )
    try:
        noise, error = fitted_noise(counted, usual)
        like_these, fitted = (
            replace(usual, noise=noise, noise_error=error, ties=float(every.ties.mean())),
            True,
        )
    except TooFewJudgements:
        like_these, fitted = usual, False
    expected = forecast(like_these, report=report)
    return {
        "noise": like_these.noise,
        "fitted": fitted,
        "reliability": asdict(expected.reliability) if expected.reliability else None,
        "counting": asdict(expected.counting_accuracy),
        "maxdiff": asdict(expected.maxdiff_accuracy),
        "maxdiff_share": expected.maxdiff_share,
    }


def _across(counted: Judgements, fit: MaxDiffFit, plan: StudyPlan) -> dict[str, float] | None:
    """Spearman of the scores of half of the tuples with those of the other half, by counting and by MaxDiff.

    None if the halves have nothing to compare.
    """
    # Every judgement that the kept half has: `each` is the most of any tuple.
    each = int(np.bincount(tuple_numbers(counted.items)).max(initial=0))
    settings = {"judgements_per_tuple": each, "trials": plan.across_trials, "seed": plan.seed}
    try:
        means = {
            name: replication(counted, method, **settings).spearman_mean
            for name, method in compared_methods(fit.settings).items()
        }
    except ValueError:
        return None
    return None if np.isnan(list(means.values())).any() else means


def agreements(record: CampaignRecord) -> dict[int, tuple[float, float, int]]:
    """Each person's agreement with the judgements of the others that count: a share, 1/2 is guessing; with its standard
    error and the number of judgements behind it.

    Of people who count, those judgements alone; an excluded person is compared with people who count, and never the
    other way round.
    """
    shares = _agreement_shares(record.judged.only(record.counted))
    for person in record.everybody - shares.keys():
        mine = record.judged.people == person
        with_mine = _agreement_shares(record.judged.only(record.counted | mine))
        shares |= {person: with_mine[person]} if person in with_mine else {}
    return shares


def _agreement_shares(judgements: Judgements) -> dict[int, tuple[float, float, int]]:
    found = leave_one_out_agreement(judgements)
    columns = (found.annotators, found.shares, found.errors, found.judgements)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return {person: row for person, *row in rows if not math.isnan(row[0])}  # type: ignore[misc]


def _people(
    record: CampaignRecord, compared: Mapping[int, tuple[float, float, int]]
) -> Iterator[dict[str, Any]]:
    """Somebody has a position bias if chance would hardly show one in any of all the people (Bonferroni).

    signs: what asks for a look at the person, as fields of `carelessness.Sign`; no agreement of excluded people, who
    would otherwise move the median.
    """
    counting = {person: row for person, row in compared.items() if person not in record.excluded}
    disagreeing = agreement_signs(counting) if record.named else {}
    for person in sorted(record.everybody):
        answers = record.answers_of(person)
        # The smaller p of two tests (best, worst).
        best, worst = (position_bias(positions, answers.sizes) for positions in (answers.best, answers.worst))
        worse = min(best, worst, key=lambda bias: bias.p)
        favourite = int(np.argmax(worse.counts))
        signs = carelessness_signs(answers) if record.named else []
        if person in disagreeing:
            signs.append(disagreeing[person])
        yield {
            "person": person,
            "judgements": len(answers.best),
            "agreement": compared[person][0] if person in compared else None,
            "p": worse.p,
            # Bonferroni: p times 2 tests of each person.
            "biased": worse.p * 2 * len(record.everybody) < CHANCE,
            "role": "best" if worse is best else "worst",
            "position": favourite + 1,  # on the screen, the one chosen most often, from 1
            "share": worse.counts[favourite] / max(1, sum(worse.counts)),
            "signs": [asdict(sign) for sign in signs],
        }


def _what_if(
    record: CampaignRecord, measures: Mapping[str, Mapping[int, float]], plan: StudyPlan
) -> dict[str, list[dict[str, Any]]]:
    """For each measure and threshold: the campaign if the people below it, and nobody else, were left out.

    random: the reliability if as many random people are left out. People with low agreement are those who lower the
    reliability, so leaving them out raises it by itself; this says by how much leaving out anybody changes it.
    """
    without = cache(lambda below: asdict(leaving_out_result(record, below, plan)))

    @cache
    def random(people: int) -> float | None:
        """The mean reliability if so many random people are left out; None if that leaves too little."""
        # A stream for each number of people: thresholds that leave out equally many have the same random choices.
        rng, everybody = np.random.default_rng([plan.seed, people]), sorted(record.everybody)
        values = [
            leaving_out_result(
                record,
                rng.choice(everybody, size=people, replace=False).tolist(),
                replace(plan, scenario_trials=plan.random_trials),
            )
            for _ in range(plan.random_choices if people < len(everybody) else 0)
        ]
        known = [value.reliability for value in values if value.reliability is not None]
        return float(np.mean(known)) if known else None

    results: dict[str, list[dict[str, Any]]] = {measure: [] for measure in measures}
    for measure, values in measures.items():
        for threshold in THRESHOLDS[measure] if values else ():
            below = frozenset(person for person, value in values.items() if value < threshold)
            row = {"threshold": threshold, "left_out": len(below), **without(below), "random": None}
            if measure == "agreement" and below:
                row["random"] = random(len(below))
            results[measure].append(row)
    return results


def leaving_out_result(
    record: CampaignRecord, excluded: Collection[int], plan: StudyPlan
) -> LeavingOutResult:
    """What the campaign would be if these people, and nobody else, were excluded.

    Without the excluded people, extra judgements may count that did not count before (`counted_without`).
    plan: its trials and its seed; the same plan gives the same figures.
    """
    counted = counted_without(record.judged.people, record.tuples, record.required, excluded)
    chosen = record.judged.only(counted)
    try:
        reliability = split_half_reliability(
            chosen, trials=plan.scenario_trials, seed=plan.seed
        ).spearman_mean
    except TooFewJudgements:
        reliability = None
    now = record.judged.only(record.counted)
    # Spearman of counting scores before and after, over items that both have.
    rank = spearman_of(counting_values(chosen), counting_values(now))
    people = len(np.unique(chosen.people))
    return LeavingOutResult(people, len(chosen), reliability, None if np.isnan(rank) else rank)


def counted_without(
    people: IntArray, tuples: IntArray, required: IntArray, excluded: Collection[int]
) -> Mask:
    """Which judgements (n,), in order of arrival, count if these people are excluded.

    people, tuples: (n,). required: (n,) how many judgements the tuple needs. Of each tuple the first `required` by the
    others count, so that extra judgements replace those that are lost.
    """
    kept = ~np.isin(people, list(excluded))
    number = np.unique(tuples, return_inverse=True)[1]  # T numbers from 0
    order = grouped_order(number)  # by tuple, and in each by arrival
    before: IntArray = np.cumsum(kept[order]) - kept[order]  # kept ones before each, over all tuples
    starts = np.searchsorted(number[order], np.arange(number.max(initial=-1) + 1))
    # Rank of a kept judgement within its tuple: kept ones before it, less those before the tuple's first.
    rank = np.empty(len(kept), dtype=np.int64)  # kept ones before each within its tuple
    rank[order] = before - before[starts][number[order]]
    return kept & (rank < required)


def _exclusions(record: CampaignRecord, plan: StudyPlan) -> Iterator[dict[str, Any]]:
    """What the campaign would be if one of the excluded people counted, beside what it is without them."""
    work = {person: int((record.judged.people == person).sum()) for person in record.excluded}
    now = asdict(leaving_out_result(record, record.excluded, plan)) if work else {}
    for person in sorted(filter(work.get, work), key=lambda person: -work[person])[:MOST_EXCLUSIONS]:
        before = leaving_out_result(record, record.excluded - {person}, plan)
        yield {"person": person, "before": asdict(before), "after": now, "rank": before.rank}


def _lowest_agreement(record: CampaignRecord, plan: StudyPlan) -> Iterator[dict[str, Any]]:
    """The tuples that people agree least on, of those that somebody disagreed on."""
    rows = record.counted
    tuples, judgements, shares = tuple_agreement(
        record.tuples[rows], record.best_slot[rows], record.worst_slot[rows], record.judged.sizes[rows]
    )
    # Lowest share first; of equal shares the tuple with more judgements.
    order = np.lexsort((-judgements, shares))[: plan.lowest_agreement_tuples]  # shares that are NaN come last
    for index in order[shares[order] < 1].tolist():
        yield {
            "tuple": int(tuples[index]),
            "agreement": float(shares[index]),
            "judgements": int(judgements[index]),
        }


def _scores(counted: Judgements) -> dict[str, Any] | None:
    """How the counting scores, 0..1, are spread."""
    scores = counting_values(counted)
    scores = scores[~np.isnan(scores)]
    if not len(scores):
        return None
    counts = np.histogram(scores, bins=SCORE_BINS, range=(0, 1))[0]
    return {"counts": counts.tolist(), "quartiles": np.quantile(scores, [0.25, 0.5, 0.75]).tolist()}
