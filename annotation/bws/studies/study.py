"""All that is worked out of a campaign while it runs, in one go: what its dashboard shows beyond counts."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

from annotation.bws.annotators.agreement import agreement_with_others, tuple_agreement
from annotation.bws.annotators.leaving_out import Mask, Outcome, counted_without, outcome_of
from annotation.bws.annotators.position_bias import PositionBias, position_bias
from annotation.bws.designs.swapping import Report, unreported
from annotation.bws.judgements import FloatArray, IntArray, Judgements, tuple_numbers
from annotation.bws.reliability.growth import judgements_for, reliability_curve
from annotation.bws.reliability.intervals import Interval, reliability_interval
from annotation.bws.reliability.replication import Scored, stability
from annotation.bws.reliability.split_half import Reliability, TooFewJudgements, split_half_reliability
from annotation.bws.scores.scoring import counting_scores, maxdiff_scores
from annotation.bws.studies.forecast import ForecastPlan, fitted_noise, forecast

USUAL_NOISE, USUAL_NOISE_ERROR = 0.7, 0.35
MOST_EXCLUSIONS = 30  # those of the people with the most work are worked out
SCORE_BINS = 20
CHANCE = 0.05  # of finding position bias in anybody where nobody has one


@dataclass(frozen=True)
class StudyPlan:
    """Every number that shapes a study. trials: of the reliability now; the others are less sure and as quick.

    items: of the whole campaign; few of them may be judged yet.
    """

    size: int
    factor: float
    judgements_per_tuple: int
    items: int = 0
    target: float = 0.9
    trials: int = 200
    resamples: int = 200
    curve_points: int = 8
    curve_trials: int = 50
    across_trials: int = 5
    scenario_trials: int = 50
    campaigns: int = 20
    most_items_simulated: int = 300
    hardest: int = 10
    thresholds: Mapping[str, tuple[float, ...]] | None = None
    seed: int = 1234

    def steps(self, measure: str) -> tuple[float, ...]:
        found: tuple[float, ...] = (self.thresholds or THRESHOLDS)[measure]
        return found


THRESHOLDS: Mapping[str, tuple[float, ...]] = {
    "gold": (0.0, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95),
    "agreement": (0.0, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9),
}


@dataclass(frozen=True, eq=False)
class Record:
    """What was judged, gold tuples left out, in order of arrival; n judgements of k items.

    judged: their annotators are the people's numbers. tuples: (n,). best_slot, worst_slot: (n,) of the design.
    best_place, worst_place: (n,) of the screen. wanted: (n,) of the tuples. counted: (n,) whether it counts now.
    excluded: people whose judgements do not count. gold_shares: of people, where they answered gold tuples.
    """

    judged: Judgements
    tuples: IntArray
    best_slot: IntArray
    worst_slot: IntArray
    best_place: IntArray
    worst_place: IntArray
    wanted: IntArray
    counted: Mask
    excluded: frozenset[int]
    gold_shares: Mapping[int, float]

    @property
    def people(self) -> IntArray:
        if self.judged.annotators is None:
            raise ValueError("A study needs to know who judged.")
        return self.judged.annotators


def study(record: Record, plan: StudyPlan, *, report: Report = unreported) -> dict[str, Any]:
    """Work out everything, as numbers, lists and texts that JSON can hold.

    reliability now with its interval, its curve and what is missing for the target; the forecast for the end;
    people; what leaving people out by a threshold would do, and what each exclusion did; the tuples that
    people agree least on; places of the screen. report: of the search for the design that the forecast simulates.
    """
    counted = record.judged.only(record.counted)
    reliability, note = _reliability(counted, plan)
    agreement = agreements(record)
    return {
        "judgements": len(counted),
        "reliability": reliability,
        "note": note,
        **_growth(counted, reliability, plan),
        "across": _across(counted, plan),
        "forecast": _forecast(counted, plan, report),
        "people": list(_people(record, agreement)),
        "what_if": _what_if(record, {"gold": record.gold_shares, "agreement": agreement}, plan),
        "exclusions": list(_exclusions(record, plan)),
        "hardest": _hardest(record, plan),
        "scores": _scores(counted),
        "positions": _positions(record.best_place, record.worst_place, record.counted, plan.size),
    }


def _reliability(counted: Judgements, plan: StudyPlan) -> tuple[dict[str, Any] | None, str]:
    try:
        found = split_half_reliability(counted, trials=plan.trials, seed=plan.seed)
    except TooFewJudgements as error:
        return None, str(error)
    interval = reliability_interval(counted, found.spearman_mean, resamples=plan.resamples, seed=plan.seed)
    return reliability_figures(found, interval), ""


def reliability_figures(found: Reliability, interval: Interval) -> dict[str, Any]:
    return {
        "spearman": found.spearman_mean,
        "low": interval.low,
        "high": interval.high,
        "spearman_brown": found.spearman_brown,
        "trials": found.trials,
        "judgements": found.judgements,
    }


def _growth(counted: Judgements, now: dict[str, Any] | None, plan: StudyPlan) -> dict[str, Any]:
    """The curve over growing judgements, each point with its interval, and how many more the target takes."""
    points = reliability_curve(counted, points=plan.curve_points, trials=plan.curve_trials, seed=plan.seed)
    curve = [_point(counted, point.judgements, point.reliability, plan) for point in points]
    more = {
        name: _more(plan.target, len(counted), now[name]) if now else None
        for name in ("spearman", "low", "high")
    }
    return {"curve": curve, "target": plan.target, "more": more}


def _point(counted: Judgements, count: int, found: Reliability, plan: StudyPlan) -> dict[str, Any]:
    first = counted.only(np.arange(count))
    interval = reliability_interval(
        first, found.spearman_mean, resamples=plan.resamples // 4, splits=4, seed=plan.seed
    )
    return {"judgements": count, "spearman": found.spearman_mean, "low": interval.low, "high": interval.high}


def _more(target: float, judgements: int, spearman: float) -> int | None:
    """Judgements that are still missing for the target; 0 where it is reached."""
    needed = judgements_for(target, judgements=judgements, spearman=spearman)
    return None if needed is None else max(0, needed - judgements)


def _forecast(counted: Judgements, plan: StudyPlan, report: Report) -> dict[str, Any]:
    """What the campaign will come to, by people as noisy as these; as usual ones, where too little was judged."""
    try:
        noise, error = fitted_noise(counted, seed=plan.seed)
        fitted = True
    except TooFewJudgements:
        noise, error, fitted = USUAL_NOISE, USUAL_NOISE_ERROR, False
    found = forecast(
        ForecastPlan(
            items=min(max(counted.item_count, plan.items, plan.size), plan.most_items_simulated),
            size=plan.size,
            factor=plan.factor,
            judgements_per_tuple=plan.judgements_per_tuple,
            noise=noise,
            noise_error=error,
            campaigns=plan.campaigns,
            seed=plan.seed,
        ),
        report=report,
    )
    return {
        "noise": noise,
        "fitted": fitted,
        "reliability": asdict(found.reliability) if found.reliability else None,
        "counting": asdict(found.counting_accuracy),
        "maxdiff": asdict(found.maxdiff_accuracy),
        "maxdiff_share": found.maxdiff_share,
    }


def _across(counted: Judgements, plan: StudyPlan) -> dict[str, float] | None:
    """Spearman of the scores of half of the tuples with those of the other half, by counting and by MaxDiff.

    None where the halves have nothing to compare.
    """
    by: dict[str, Scored] = {
        "counting": counting_scores,
        "maxdiff": partial(maxdiff_scores, with_errors=False),
    }
    each = int(np.bincount(tuple_numbers(counted.items)).max(initial=0))
    try:
        found = {
            name: stability(
                counted, scored, judgements_per_tuple=each, trials=plan.across_trials, seed=plan.seed
            ).spearman_mean
            for name, scored in by.items()
        }
    except ValueError:
        return None
    return None if np.isnan(list(found.values())).any() else found


def agreements(record: Record) -> dict[int, float]:
    """Each person's agreement with the judgements of the others that count: a share, 1/2 is guessing.

    Of whoever counts, those judgements alone; an excluded person is held against people who count, and never
    the other way round.
    """
    found = _shares(record.judged.only(record.counted))
    for person in _who(record) - found.keys():
        mine = record.people == person
        shares = _shares(record.judged.only(record.counted | mine))
        found |= {person: shares[person]} if person in shares else {}
    return found


def _who(record: Record) -> set[int]:
    return set(np.unique(record.people).tolist())


def _shares(judgements: Judgements) -> dict[int, float]:
    if not len(judgements):
        return {}
    found = agreement_with_others(judgements)
    pairs = zip(found.annotators.tolist(), found.shares.tolist(), found.compared.tolist(), strict=True)
    return {person: share for person, share, compared in pairs if compared}


def _people(record: Record, agreement: Mapping[int, float]) -> Iterator[dict[str, Any]]:
    """Position bias is said of somebody where chance would hardly bring it about in any of all the people."""
    everybody = sorted(_who(record))
    for person in everybody:
        own = record.people == person
        bias = [
            position_bias(places[own], record.judged.size)
            for places in (record.best_place, record.worst_place)
        ]
        worse = min(bias, key=lambda found: found.p)
        place, share = _favourite(worse)
        yield {
            "person": person,
            "judgements": int(own.sum()),
            "agreement": agreement.get(person),
            "p": worse.p,
            "biased": worse.p * 2 * len(everybody) < CHANCE,
            "role": "best" if worse is bias[0] else "worst",
            "place": place,
            "share": share,
        }


def _favourite(bias: PositionBias) -> tuple[int, float]:
    """The place, from 1, that was chosen most often, and its share."""
    place = int(np.argmax(bias.counts))
    return place + 1, bias.counts[place] / max(1, sum(bias.counts))


def _what_if(
    record: Record, measures: Mapping[str, Mapping[int, float]], plan: StudyPlan
) -> dict[str, list[dict[str, Any]]]:
    """For each measure and threshold: the campaign if whoever lies below it, and nobody else, was left out."""
    known: dict[frozenset[int], Outcome] = {}
    found: dict[str, list[dict[str, Any]]] = {}
    for measure, values in measures.items():
        rows = []
        for threshold in plan.steps(measure) if values else ():
            below = frozenset(person for person, value in values.items() if value < threshold)
            if below not in known:
                known[below] = _outcome(record, below, plan)
            rows.append({"threshold": threshold, "left_out": len(below), **asdict(known[below])})
        found[measure] = rows
    return found


def _outcome(record: Record, excluded: frozenset[int], plan: StudyPlan) -> Outcome:
    counted = counted_without(record.people, record.tuples, record.wanted, excluded)
    return outcome_of(record.judged, counted, record.counted, trials=plan.scenario_trials, seed=plan.seed)


def _exclusions(record: Record, plan: StudyPlan) -> Iterator[dict[str, Any]]:
    """What the campaign would be if one of the excluded people counted, beside what it is without them."""
    work = {person: int((record.people == person).sum()) for person in record.excluded}
    now = _outcome(record, record.excluded, plan) if work else None
    for person in sorted(work, key=lambda person: -work[person])[:MOST_EXCLUSIONS]:
        if now is None or not work[person]:
            continue
        before = _outcome(record, record.excluded - {person}, plan)
        yield {"person": person, "before": asdict(before), "after": asdict(now), "rank": before.rank}


def _hardest(record: Record, plan: StudyPlan) -> list[dict[str, Any]]:
    """The tuples that people agree least on, of those that somebody disagreed on."""
    rows = record.counted
    found = tuple_agreement(
        record.tuples[rows], record.best_slot[rows], record.worst_slot[rows], record.judged.size
    )
    shares: FloatArray = np.where(np.isnan(found.shares), np.inf, found.shares)
    order = np.lexsort((-found.judgements, shares))[: plan.hardest]
    return [
        {
            "tuple": int(found.tuples[place]),
            "agreement": float(shares[place]),
            "judgements": int(found.judgements[place]),
        }
        for place in order.tolist()
        if shares[place] < 1
    ]


def _scores(counted: Judgements) -> dict[str, Any] | None:
    """How the counting scores, 0..1, are spread."""
    scores = counting_scores(counted).values
    scores = scores[~np.isnan(scores)]
    if not len(scores):
        return None
    counts = np.histogram(scores, bins=SCORE_BINS, range=(0, 1))[0]
    return {"counts": counts.tolist(), "quartiles": np.quantile(scores, [0.25, 0.5, 0.75]).tolist()}


def _positions(best: IntArray, worst: IntArray, counted: Mask, size: int) -> dict[str, Any]:
    return {
        name: asdict(position_bias(places[counted], size))
        for name, places in (("best", best), ("worst", worst))
    }
