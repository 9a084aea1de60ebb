#!/usr/bin/env python3
"""People's scores with the help of a machine: coverage and saving in simulated campaigns, for machines of any quality.

usage: PYTHONPATH=. python docs/experiments/with_machine.py [--campaigns 60] [--items 200]      (five minutes)

Simulated: people choose by MaxDiff from utilities with a standard deviation of 1.5; two of them judge each of the
tuples of 4 of 16 random rounds. The machine orders the items of every tuple by a latent variable with the given
correlation with the utilities. The truth is the mean of what people are expected to answer to all tuples.
"""

import argparse

import numpy as np
import scipy.stats

from annotation.bws.judgements import Judgements
from annotation.bws.scores.with_machine import AssistedScores, assisted_scores

SPREAD, ROUNDS, JUDGED, EACH = 1.5, 16, 4, 2
MACHINES = (0.95, 0.8, 0.5, 0.0, -0.8)


def campaign(seed: int, items: int, correlation: float) -> tuple[AssistedScores, np.ndarray]:
    """What was found, and the truth (items,)."""
    rng = np.random.default_rng([seed, 46])
    utilities = SPREAD * scipy.stats.norm.ppf((np.arange(items) + 0.5) / items)
    tuples = np.concatenate([rng.permutation(items).reshape(-1, 4) for _round in range(ROUNDS)])
    share = items // 4
    rounds = rng.choice(ROUNDS, JUDGED, replace=False)
    judged = np.repeat((rounds[:, None] * share + np.arange(share)).ravel(), EACH)
    apart = utilities[tuples][:, :, None] - utilities[tuples][:, None, :]
    apart[:, range(4), range(4)] = -np.inf
    chosen = (apart[judged] + rng.gumbel(size=(len(judged), 4, 4))).reshape(-1, 16).argmax(axis=1)
    people = Judgements.from_slots(tuples[judged], chosen // 4, chosen % 4, item_count=items)
    noise = np.sqrt(1 - correlation**2) * rng.normal(size=items)
    heard = (correlation * utilities / SPREAD + noise)[tuples]
    machine = Judgements.from_slots(tuples, heard.argmax(axis=1), heard.argmin(axis=1), item_count=items)
    chances = np.exp(apart)
    chances /= chances.sum(axis=(1, 2), keepdims=True)
    truth = np.bincount(tuples.ravel(), (chances.sum(axis=2) - chances.sum(axis=1)).ravel()) / ROUNDS
    return assisted_scores(people, machine, seed=seed), truth


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--campaigns", type=int, default=60)
    parser.add_argument("--items", type=int, default=200, help="a multiple of 4")
    asked = parser.parse_args()
    print(
        "| machine | intervals that hold | of people alone | width | saved, told | saved, true | ceiling | weight |"
    )
    print("|---:|---:|---:|---:|---:|---:|---:|---:|")
    for correlation in MACHINES:
        found = [campaign(seed, asked.items, correlation) for seed in range(asked.campaigns)]
        hold = np.mean([(np.abs(one.values - truth) < 1.96 * one.errors).mean() for one, truth in found])
        alone = np.mean(
            [(np.abs(one.people - truth) < 1.96 * one.people_errors).mean() for one, truth in found]
        )
        width = np.mean([(one.errors / one.people_errors).mean() for one, _truth in found])
        ours, theirs = (
            sum(((getattr(one, name) - truth) ** 2).sum() for one, truth in found)
            for name in ("values", "people")
        )
        told, ceiling, weight = (
            np.mean([getattr(one, name) for one, _truth in found]) for name in ("saved", "ceiling", "weight")
        )
        print(
            f"| {correlation:.2f} | {hold:.3f} | {alone:.3f} | {width:.3f} | {told:.3f} | {1 - ours / theirs:.3f} "
            f"| {ceiling:.3f} | {weight:.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
