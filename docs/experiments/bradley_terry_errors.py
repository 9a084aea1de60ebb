"""Whether errors of Bradley-Terry that know which pairs come from one judgement would hold.

    python docs/experiments/bradley_terry_errors.py [--campaigns 12]

100 items with utilities of standard deviation 1.7 in two 4-tuples each; choices drawn from MaxDiff. The truth is what
Bradley-Terry, nearly without a prior, finds in 10,000 random tuples. The errors are a sandwich with one cluster for
each judgement.
"""

import argparse

import numpy as np
from interval_coverage import EQUAL, ITEMS, maxdiff_choices
from scipy.sparse import coo_array, csr_array
from scipy.special import expit

from annotation.bws.designs.design import design_tuples
from annotation.bws.judgements import Judgements
from annotation.bws.scores.bradley_terry import BradleyTerryLikelihood, implied_pairs
from annotation.bws.scores.contrasts import contrasts
from annotation.bws.scores.posterior import fit_utilities


def gradients(judged: Judgements, utilities: np.ndarray) -> csr_array:
    """One row for each judgement, of its implied pairs together."""
    parts = [implied_pairs(judged.only(np.array([row]))) for row in range(len(judged))]
    judgement = np.repeat(np.arange(len(parts)), [len(winners) for winners, _losers in parts])
    winners, losers = (np.concatenate([part[side] for part in parts]) for side in (0, 1))
    lost = expit(utilities[losers] - utilities[winners])
    places = (np.tile(judgement, 2), np.concatenate([winners, losers]))
    return csr_array(coo_array((np.concatenate([lost, -lost]), places), shape=(len(judged), ITEMS)))


def campaign(each: int, precision: float, rng: np.random.Generator) -> tuple[float, float]:
    utilities = 1.7 * rng.standard_normal(ITEMS)
    utilities[EQUAL + 1] = utilities[EQUAL]

    def judge(tuples: np.ndarray) -> Judgements:
        return Judgements.from_slots(tuples, *maxdiff_choices(utilities[tuples], rng), item_count=ITEMS)

    def fit(judged: Judgements, prior: float):
        return fit_utilities(BradleyTerryLikelihood(*implied_pairs(judged), ITEMS), prior_precision=prior)

    design = np.repeat(design_tuples(ITEMS, seed=int(rng.integers(50))).tuples, each, axis=0)
    wide = np.array([rng.permutation(ITEMS) for _ in range(400)]).reshape(-1, 4)
    truth = fit(judge(wide), 1e-3).utilities
    judged = judge(design)
    posterior = fit(judged, precision)
    errors = contrasts(posterior, gradients=gradients(judged, posterior.utilities))
    found = posterior.utilities - posterior.utilities.mean()
    different = np.abs(found[EQUAL] - found[EQUAL + 1]) > 1.96 * errors.of_differences(EQUAL, EQUAL + 1)
    return (np.abs(found - (truth - truth.mean())) < 1.96 * errors.errors).mean(), different.mean()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--campaigns", type=int, default=12)
    campaigns = parser.parse_args().campaigns
    for precision in (1.0, 0.3, 0.15):
        for each in (1, 4):
            rng = np.random.default_rng(each)
            found = np.array([campaign(each, precision, rng) for _ in range(campaigns)])
            means, errors = found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(campaigns)
            print(
                f"precision {precision}, {each} judgements: held {means[0]:.3f} ± {errors[0]:.3f}, "
                f"equal items called different {means[1]:.3f} ± {errors[1]:.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
