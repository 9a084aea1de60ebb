"""How often the 95 % intervals of scores hold the true value, and how often equal items are called different.

python docs/experiments/interval_coverage.py [--campaigns 40]

100 items of normal true values, two 4-tuples per item, in ten pairs of equal items. Choices are made by noise .7 on the
true values (Thurstone) or drawn from the MaxDiff model with the true utilities. People are identical, or five differ:
each sees own values, with a standard deviation of .5 around the common ones, and has own noise, .4 to 1.2. The true
counting score is the expected one over random tuples, from 40,000 judgements; the true utility of
Thurstone's choices is what the MaxDiff model, nearly without a prior, finds in them. With five people, "these" are the
truth of the average over the five and "new" over 200 other people.
"""

import argparse
from itertools import permutations

import numpy as np

from annotation.bws.designs.design import design_tuples
from annotation.bws.judgements import Judgements
from annotation.bws.scores.empirical_bayes import fit_with_prior
from annotation.bws.scores.maxdiff import MaxDiffLikelihood
from annotation.bws.scores.scoring import ErrorSource, Scale, Scores, counting_scores, maxdiff_scores
from annotation.bws.studies.simulation import SimulatedAnnotator, simulated_choices

ITEMS, NOISE, DIFFERENCE = 100, 0.7, 0.5
TRUE_TUPLES = 10_000
EQUAL = np.arange(0, ITEMS, 10)  # each of them is equal to the next item
EACH = (1, 2, 4, 8)
WAYS = np.array(list(permutations(range(4), 2)))


def maxdiff_choices(values: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    weight = np.exp(values[:, WAYS[:, 0]] - values[:, WAYS[:, 1]])
    shares = np.cumsum(weight / weight.sum(axis=1, keepdims=True), axis=1)
    chosen = WAYS[(rng.random(len(values))[:, None] > shares).sum(axis=1)]
    return chosen[:, 0], chosen[:, 1]


class People:
    """Who judges: what each person sees of the items (people, m), and with which noise (people,)."""

    def __init__(
        self, latent: np.ndarray, count: int, rng: np.random.Generator, *, differ: bool, model: str
    ) -> None:
        own = rng.standard_normal((count, ITEMS)) * DIFFERENCE if differ else np.zeros((count, ITEMS))
        own[:, EQUAL + 1] = own[:, EQUAL]
        self.values, self.model = latent + own, model
        self.noise = rng.uniform(0.4, 1.2, count) if differ else np.full(count, NOISE)

    def judge(self, tuples: np.ndarray, person: np.ndarray, rng: np.random.Generator) -> Judgements:
        best, worst = np.empty((2, len(tuples)), dtype=np.int64)
        for number in np.unique(person):
            mine = person == number
            values = self.values[number][tuples[mine]]
            if self.model == "maxdiff":
                best[mine], worst[mine] = maxdiff_choices(values, rng)
            else:
                best[mine], worst[mine] = simulated_choices(
                    values, SimulatedAnnotator(self.noise[number]), rng
                )
        return Judgements.from_slots(tuples, best, worst, item_count=ITEMS, annotators=person)


def truths(people: People, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Counting scores, signed, and utilities that sum to zero, of all these people together (m,) each."""
    tuples = np.array([rng.permutation(ITEMS) for _ in range(TRUE_TUPLES * 4 // ITEMS)]).reshape(-1, 4)
    asked = np.vstack([tuples] * 4)
    judged = people.judge(asked, rng.integers(0, len(people.values), len(asked)), rng)
    fitted = fit_with_prior(MaxDiffLikelihood(judged), prior_precision=1e-3)
    return counting_scores(judged, scale=Scale.SIGNED).values, fitted.utilities


def held(scores: Scores, truth: np.ndarray) -> tuple[float, float]:
    """The share of intervals that hold the truth, and the share of pairs of equal items that are called different."""
    values, errors = scores.values, scores.standard_errors
    of_differences = np.hypot(errors[EQUAL], errors[EQUAL + 1])
    if scores.fit is not None and scores.fit.contrasts is not None:
        values, errors = scores.fit.utilities, scores.fit.contrasts.errors
        of_differences = scores.fit.contrasts.of_differences(EQUAL, EQUAL + 1)
    different = np.abs(values[EQUAL] - values[EQUAL + 1]) > 1.96 * of_differences
    return float((np.abs(values - truth) < 1.96 * errors).mean()), float(different.mean())


def campaign(each: int, kind: str, model: str, rng: np.random.Generator) -> dict[str, tuple[float, float]]:
    latent = rng.standard_normal(ITEMS) * (1.7 if model == "maxdiff" else 1.0)
    latent[EQUAL + 1] = latent[EQUAL]
    differ, count = kind != "identical", {"identical": 40, "five": 5, "forty": 40}[kind]
    people = People(latent, count, rng, differ=differ, model=model)
    tuples = np.repeat(design_tuples(ITEMS, seed=int(rng.integers(50))).tuples, each, axis=0)
    seats = np.argsort(rng.random((len(tuples) // each, count)), axis=1)
    person = np.take_along_axis(seats, np.tile(np.arange(each) % count, (len(seats), 1)), axis=1).ravel()
    judged = people.judge(tuples, person, rng)
    everybody = People(latent, 200, rng, differ=differ, model=model) if differ else people
    counted, utility = truths(people, rng)
    new_counted, new_utility = truths(everybody, rng) if differ else (counted, utility)
    counting = counting_scores(judged, scale=Scale.SIGNED)
    fits = {source.value: maxdiff_scores(judged, errors=source) for source in ErrorSource}
    found = {"counting": held(counting, counted)}
    found |= {f"maxdiff, {name}": held(fit, utility) for name, fit in fits.items()}
    if differ:
        found["counting, new"] = held(counting, new_counted)
        found |= {f"maxdiff, {name}, new": held(fit, new_utility) for name, fit in fits.items()}
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--campaigns", type=int, default=40)
    campaigns = parser.parse_args().campaigns
    for model, kind in (
        ("thurstone", "identical"),
        ("maxdiff", "identical"),
        ("thurstone", "five"),
        ("thurstone", "forty"),
    ):
        rows: dict[str, list[str]] = {}
        for each in EACH:
            rng = np.random.default_rng([each, len(model), len(kind)])
            found = [campaign(each, kind, model, rng) for _ in range(campaigns)]
            for name in found[0]:
                covered, different = np.mean([one[name] for one in found], axis=0)
                rows.setdefault(name, []).append(f"{covered:.3f} / {different:.3f}")
        print(f"\n{model}, {kind} people | " + " | ".join(f"m = {each}" for each in EACH), flush=True)
        for name, cells in rows.items():
            print(f"{name} | " + " | ".join(cells), flush=True)


if __name__ == "__main__":
    main()
