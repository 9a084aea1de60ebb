"""How often does a 95 % interval of the split-half reliability contain the mean reliability of campaigns like it?

The items stay the same; every campaign has other people and other tuples, two for each item. People who differ have
values of their own (standard deviation .5 beside the 1 of the items) and noise of their own (.7, log-normal with .5).
The mean over all simulated campaigns is the target. The columns are ways to resample:

    tuples, annotators    one of the two
    wider                 the wider of these two, which `reliability_interval` gives
    both at once          each judgement as often as its tuple times its annotator (pigeonhole bootstrap, Owen 2007)
    sum                   tuples + annotators - judgements (Cameron, Gelbach and Miller 2011), in variances

For each the script prints the share of intervals that contain the target, and the mean width as a multiple of the
width that the true standard deviation would give. One judgement per tuple has no split of judgements; --split chooses
the others.

    python docs/experiments/reliability_coverage.py [--campaigns 300] [--each 2 4 8] [--crowds NAME ...] [--random]
        [--split tuples]
"""

from argparse import ArgumentParser

import numpy as np

from annotation.bws.designs.design import design_tuples
from annotation.bws.judgements import FloatArray, IntArray, Judgements, tuple_numbers
from annotation.bws.reliability.correlation import fisher_z
from annotation.bws.reliability.interval import resampled_variance
from annotation.bws.reliability.split_half import Split, split_half_reliability

WAYS = ("tuples", "annotators", "wider", "both at once", "sum")
# Who judges: how many, and whether they differ. Eight judgements of a tuple need eight people.
CROWDS = {
    "200 alike": (200, False),
    "30 alike": (30, False),
    "5 alike": (5, False),
    "3 differ": (3, True),
    "5 differ": (5, True),
    "30 differ": (30, True),
}


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--campaigns", type=int, default=300)
    parser.add_argument("--items", type=int, default=60)
    parser.add_argument("--each", type=int, nargs="+", default=[2, 4, 8], help="judgements per tuple")
    parser.add_argument("--crowds", nargs="+", default=list(CROWDS), choices=CROWDS)
    parser.add_argument("--split", type=Split, default=Split.JUDGEMENTS, choices=list(Split))
    parser.add_argument("--random", action="store_true", help="tuples are drawn at random, not designed")
    options = parser.parse_args()
    designs = [_tuples(options.items, seed, options.random) for seed in range(options.campaigns)]
    print("judgements per tuple, people: mean SHR;", ", ".join(WAYS))
    for each in options.each:
        for crowd in options.crowds:
            people, differ = CROWDS[crowd]
            if people < each:
                continue
            found = [
                _campaign(judged_by(tuples, each, people, differ, seed=seed), options.split, seed=seed)
                for seed, tuples in enumerate(designs)
            ]
            print(f"{each}, {crowd:9}: {_row(found)}", flush=True)


def _tuples(items: int, seed: int, random: bool) -> IntArray:
    if not random:
        return design_tuples(items, seed=seed).tuples
    return np.random.default_rng(seed).random((2 * items, items)).argsort(axis=1)[:, :4]


def judged_by(tuples: IntArray, each: int, people: int, differ: bool, *, seed: int) -> Judgements:
    """The judgements of one campaign, in which every tuple (T, 4) is judged by `each` of the people."""
    rng, items = np.random.default_rng([seed, each, people]), int(tuples.max()) + 1
    latent = np.random.default_rng(7).standard_normal(items)
    values = latent + differ * 0.5 * rng.standard_normal((people, items))  # (people, items)
    noise = 0.7 * np.exp(differ * 0.5 * rng.standard_normal(people))
    person = rng.random((len(tuples), people)).argsort(axis=1)[:, :each].ravel()
    shown = np.repeat(tuples, each, axis=0)  # (n, 4)
    seen = values[person[:, None], shown] + noise[person, None] * rng.standard_normal(shown.shape)
    slots = seen.argmax(axis=1), seen.argmin(axis=1)
    return Judgements.from_slots(shown, *slots, item_count=items, annotators=person)


def _campaign(judged: Judgements, split: Split, *, seed: int) -> tuple[float, FloatArray]:
    """The reliability of one campaign, and the variance of its z by each way (5,)."""
    rng = np.random.default_rng(seed)
    units = {
        "tuples": tuple_numbers(judged.items),
        "annotators": judged.people,
        "judgements": np.arange(len(judged)),
    }
    by_tuple, by_person, by_judgement, at_once = (
        resampled_variance(judged, [units[name] for name in names], split=split, resamples=200, rng=rng)
        or np.nan
        for names in (["tuples"], ["annotators"], ["judgements"], ["tuples", "annotators"])
    )
    wider, total = max(by_tuple, by_person), by_tuple + by_person - by_judgement
    estimate = split_half_reliability(judged, trials=100, split=split, seed=seed).spearman_mean
    return estimate, np.array([by_tuple, by_person, wider, at_once, total])


def _row(found: list[tuple[float, FloatArray]]) -> str:
    estimates, errors = np.array([row[0] for row in found]), np.sqrt(np.array([row[1] for row in found]))
    z, target = fisher_z(estimates), fisher_z(estimates.mean(keepdims=True))
    held = np.nanmean(np.abs(z - target)[:, None] <= 1.96 * errors, axis=0)
    width = np.nanmean(errors, axis=0) / z.std(ddof=1)
    return f"{estimates.mean():.3f};  " + "  ".join(
        f"{share:.3f} (x{ratio:.2f})" for share, ratio in zip(held, width, strict=True)
    )


if __name__ == "__main__":
    main()
