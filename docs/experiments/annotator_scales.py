"""What a scale per annotator finds, and what it is worth, in campaigns drawn from the model.

    python docs/experiments/annotator_scales.py [--campaigns 8]

100 items with utilities of standard deviation 1.5 in two 4-tuples each; log scales of the given spread, centred.
"""

import argparse

import numpy as np
from interval_coverage import maxdiff_choices

from annotation.bws.designs.design import design_tuples
from annotation.bws.judgements import Judgements
from annotation.bws.scores.annotator_scales import fit_with_scales
from annotation.bws.scores.empirical_bayes import fit_with_prior
from annotation.bws.scores.maxdiff import MaxDiffLikelihood

ITEMS = 100
CASES = ((10, 2, 0.0), (40, 4, 0.0), (10, 4, 0.35), (40, 4, 0.35), (10, 4, 0.7))


def campaign(people: int, each: int, spread: float, rng: np.random.Generator) -> list[float]:
    utilities, log_scales = 1.5 * rng.standard_normal(ITEMS), spread * rng.standard_normal(people)
    log_scales -= log_scales.mean()
    base = design_tuples(ITEMS, seed=int(rng.integers(99))).tuples
    tuples = np.repeat(base, each, axis=0)
    person = np.argsort(rng.random((len(base), people)), axis=1)[:, :each].ravel()
    best, worst = maxdiff_choices(np.exp(log_scales)[person][:, None] * utilities[tuples], rng)
    judged = Judgements.from_slots(tuples, best, worst, item_count=ITEMS, annotators=person)
    _likelihood, posterior, found = fit_with_scales(judged)
    alike = fit_with_prior(MaxDiffLikelihood(judged)).utilities
    found_log = np.log(found.scales)
    differ = spread > 0 and found.spread > 0
    off = found_log - log_scales
    return [
        found.spread,
        float(np.corrcoef(found_log, log_scales)[0, 1]) if differ else np.nan,
        float(np.polyfit(found_log, log_scales, 1)[0]) if differ else np.nan,
        float((np.abs(off) < 1.96 * found.errors).mean()),
        float(np.sqrt((off**2).mean())),
        float(found.errors.mean()),
        found.evidence_gain,
        float(np.corrcoef(alike, utilities)[0, 1]),
        float(np.corrcoef(posterior.utilities, utilities)[0, 1]),
    ]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--campaigns", type=int, default=8)
    campaigns = parser.parse_args().campaigns
    for people, each, spread in CASES:
        rng = np.random.default_rng(5)
        rows = np.array([campaign(people, each, spread, rng) for _ in range(campaigns)])
        spread_found, correlation, slope, held, off, error, gain, alike, scaled = rows.mean(axis=0)
        chance = rows[:, 3].std(ddof=1) / np.sqrt(campaigns)
        print(
            f"{people} annotators, {each} judgements, spread {spread}: spread {spread_found:.3f} "
            f"(0 in {(rows[:, 0] == 0).sum()}), log scales r {correlation:.3f} slope {slope:.2f} "
            f"held {held:.3f} ± {chance:.3f}, off {off:.3f}, errors {error:.3f}, "
            f"evidence {gain:.1f} ({rows[:, 6].min():.1f}, {rows[:, 6].max():.1f}), "
            f"utilities {alike:.4f}, with scales {scaled:.4f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
