"""How often the intervals of the page of verdicts hold the true value: AUC, Spearman, slope, shares, kappa.

Sentences have p_D from a beta distribution, and are kept with log-odds a + b · log-odds of p_D. Verdicts are drawn at
random; or within the tenths by p_D, from some of which twice as many were judged; or equally many within ten strata of
equally wide p_D, whose sizes differ much. No verdict here is a person's.

python docs/experiments/verdict_coverage.py [--trials 400] [--only random|tenths|wide|kappa]
"""

import argparse
from collections import defaultdict

import numpy as np
from scipy.special import expit, logit
from scipy.stats import spearmanr

from curation.statistics.kappa import cohen_kappa, kappa_of_table
from mlworkers.science.realism import verdicts
from mlworkers.science.realism.discrimination import auc, sampled_auc_interval
from mlworkers.science.realism.thresholds import weighted_share
from mlworkers.science.realism.verdicts import Sample, calibration_line

POPULATION = 40_000
STRATA = 10


def population(rng: np.random.Generator, rejected: float, slope: float) -> tuple[np.ndarray, np.ndarray]:
    """p_D and verdicts of many sentences, about `rejected` of which are rejected."""
    p_d = np.clip(rng.beta(2.0, 2.5, POPULATION), 0.002, 0.998)
    odds = slope * logit(p_d)
    shifts = np.linspace(-8, 8, 1601)
    rates = [np.mean(expit(-(odds[::40] + shift))) for shift in shifts]
    shift = shifts[int(np.argmin(np.abs(np.array(rates) - rejected)))]
    return p_d, rng.random(POPULATION) < expit(odds + shift)


def draw(rng: np.random.Generator, p_d: np.ndarray, kept: np.ndarray, n: int, *, strata: str) -> Sample:
    if not strata:
        own = rng.choice(POPULATION, n, replace=False)
        return Sample(p_d[own], kept[own], np.zeros(n, dtype=np.int64), {0: POPULATION})
    if strata == "wide":
        stratum, judged = np.minimum((p_d * STRATA).astype(np.int64), STRATA - 1), [n // STRATA] * STRATA
    else:
        stratum = np.argsort(np.argsort(p_d)) * STRATA // POPULATION
        judged = [n // 15, 2 * n // 15] * (STRATA // 2)
    sizes = np.bincount(stratum, minlength=STRATA)
    own = np.concatenate(
        [rng.permutation(np.flatnonzero(stratum == each))[: judged[each]] for each in range(STRATA)]
    )
    return Sample(p_d[own], kept[own], stratum[own], {each: int(sizes[each]) for each in range(STRATA)})


def sampled(trials: int, *, strata: str) -> None:
    rng = np.random.default_rng(5)
    print(f"\n{strata or 'random'}: n, share rejected, slope | held: "
          "AUC, Spearman, slope, kept above the median | AUC's mean width | without a figure")  # fmt: skip
    by_rarer: dict[str, list[bool]] = defaultdict(list)
    for n in (60, 150, 400):
        for rejected in (0.08, 0.3):
            for slope in (0.0, 0.5, 1.5):
                p_d, kept = population(rng, rejected, slope)
                true = auc(p_d, kept)
                true_rank = float(spearmanr(p_d, kept).statistic)
                middle = float(np.median(p_d))
                true_share = float(kept[p_d >= middle].mean())
                held = defaultdict(list)
                without = 0
                for _trial in range(trials):
                    sample = draw(rng, p_d, kept, n, strata=strata)
                    rarer = min(sample.kept_n, sample.rejected_n)
                    if rarer >= 2:
                        area = sampled_auc_interval(sample.p_d, sample.kept, sample.weights, sample.stratum)
                        holds = area.low <= true <= area.high
                        group = (
                            "2-4" if rarer < 5 else "5-9" if rarer < 10 else "10-19" if rarer < 20 else "20+"
                        )
                        by_rarer[group].append(holds)
                    over = sample.p_d >= middle
                    share = weighted_share(sample.kept[over], sample.weights[over])
                    held["share"].append(share is not None and share.low <= true_share <= share.high)
                    if rarer < verdicts.FEWEST_EACH:
                        without += 1
                        continue
                    held["auc"].append(holds)
                    held["width"].append(area.high - area.low)
                    rank = verdicts.rank_figures(sample).spearman
                    held["rank"].append(rank is not None and rank.low <= true_rank <= rank.high)
                    line = calibration_line(sample)
                    held["slope"].append(line is not None and line[1].low <= slope <= line[1].high)
                figures = " ".join(
                    f"{np.mean(held[name]):.3f}" if held[name] else "  -  "
                    for name in ("auc", "rank", "slope", "share", "width")
                )
                print(f"{n:4d} {rejected:.2f} {slope:.1f} | {figures} | {without / trials:.2f}", flush=True)
    for group, found in sorted(by_rarer.items()):
        print(f"AUC, {group} of the rarer verdict: held {np.mean(found):.3f} of {len(found)}")


def kappas(trials: int) -> None:
    rng = np.random.default_rng(7)
    print("\nkappa: n, share rejected, agreement beyond chance | held, mean width, undefined")
    for n in (30, 60, 150):
        for rejected in (0.1, 0.3):
            for same in (0.2, 0.6, 0.9):
                # With the share `same` the second gives the first's verdict, otherwise one of their own.
                table = np.diag([1 - rejected, rejected]) * same
                table += (1 - same) * np.outer([1 - rejected, rejected], [1 - rejected, rejected])
                true = kappa_of_table(table)[0]
                held, widths, undefined = [], [], 0
                for _trial in range(trials * 5):
                    counts = rng.multinomial(n, table.ravel()).reshape(2, 2)
                    first = ["k"] * counts[0].sum() + ["r"] * counts[1].sum()
                    second = (
                        ["k"] * counts[0, 0]
                        + ["r"] * counts[0, 1]
                        + ["k"] * counts[1, 0]
                        + ["r"] * counts[1, 1]
                    )
                    found = cohen_kappa(first, second)
                    if found.value is None:
                        undefined += 1
                        continue
                    held.append(found.low <= true <= found.high)
                    widths.append(found.high - found.low)
                print(f"{n:4d} {rejected:.1f} {same:.1f} | {np.mean(held):.3f} {np.mean(widths):.2f} "
                      f"{undefined / trials / 5:.3f}", flush=True)  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--trials", type=int, default=400)
    parser.add_argument("--only", choices=["random", "tenths", "wide", "kappa"])
    given = parser.parse_args()
    for name in ("random", "tenths", "wide"):
        if given.only in (None, name):
            sampled(given.trials, strata="" if name == "random" else name)
    if given.only in (None, "kappa"):
        kappas(given.trials)
