"""Several encoders on the same test pairs."""

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.metrics import f1_score

from curation.statistics.correlation import spearman
from curation.statistics.intervals import bootstrap_interval
from mlworkers.science.encoders.comparison import adjusted, compare, differences_of, undefined
from mlworkers.science.encoders.differences import holm
from mlworkers.science.encoders.measuring import (
    Measured,
    Metric,
    classification_measured,
    correlation_measured,
)

GENERATOR = np.random.default_rng(8)
GOLD = GENERATOR.integers(0, 6, size=120).astype(float)
FROM_PLAIN = ("other", "plain")


def noisy(amount: float, *, seeds: int = 1) -> list[np.ndarray]:
    return [GOLD + amount * GENERATOR.normal(size=GOLD.size) for _seed in range(seeds)]


def measured(
    cosines: dict[str, list[np.ndarray]], *, resamples: int = 0, seed: int = 1
) -> dict[str, list[Measured]]:
    return {
        label: [
            correlation_measured(Metric.SPEARMAN, vector, GOLD, resamples=resamples, seed=seed)
            for vector in vectors
        ]
        for label, vectors in cosines.items()
    }


def test_a_mean_over_seeds_and_its_deviation_by_hand() -> None:
    vectors = noisy(2.0, seeds=3)
    each = [spearmanr(vector, GOLD).statistic for vector in vectors]

    found = compare(measured({"plain": vectors}, resamples=0, seed=1))["plain"]

    assert found.seeds == pytest.approx(each)
    assert found.mean.value == pytest.approx(np.mean(each))
    assert found.sd == pytest.approx(np.std(each, ddof=1))
    assert found.mean.low is None


def test_the_interval_of_one_seed_is_the_bootstrap_s() -> None:
    (vector,) = noisy(2.0)

    found = compare(measured({"plain": [vector]}, resamples=300, seed=4))["plain"]

    interval = bootstrap_interval(vector, GOLD, resamples=300, seed=4)
    assert (found.mean.low, found.mean.high) == pytest.approx((interval.low, interval.high))
    assert found.sd is None


def test_the_interval_of_a_difference_of_one_seed_is_that_of_resampling_both_together() -> None:
    plain, other = noisy(2.5)[0], noisy(1.0)[0]

    found = differences_of(measured({"plain": [plain], "other": [other]}), [FROM_PLAIN])[FROM_PLAIN]

    rng = np.random.default_rng(77)
    drawn = [rng.integers(GOLD.size, size=GOLD.size) for _ in range(400)]
    apart = [
        spearmanr(other[rows], GOLD[rows]).statistic - spearmanr(plain[rows], GOLD[rows]).statistic
        for rows in drawn
    ]
    assert found.value == pytest.approx(spearmanr(other, GOLD).statistic - spearmanr(plain, GOLD).statistic)
    assert (found.low, found.high) == pytest.approx(np.quantile(apart, [0.025, 0.975]), abs=0.03)


def test_a_difference_pairs_the_seeds() -> None:
    plain, other = noisy(2.0, seeds=4), noisy(1.5, seeds=4)
    by_seed = [
        spearmanr(ours, GOLD).statistic - spearmanr(theirs, GOLD).statistic
        for ours, theirs in zip(other, plain, strict=True)
    ]

    found = differences_of(measured({"plain": plain, "other": other}), [FROM_PLAIN])[FROM_PLAIN]

    assert found.value == pytest.approx(np.mean(by_seed))
    assert found.sd == pytest.approx(np.std(by_seed, ddof=1))


def test_a_model_that_is_not_trained_is_compared_with_every_seed() -> None:
    base, plain = noisy(3.0), noisy(2.0, seeds=3)

    found = differences_of(measured({"base": base, "plain": plain}), [("base", "plain")])["base", "plain"]

    assert found.value == pytest.approx(
        spearmanr(base[0], GOLD).statistic - np.mean([spearmanr(one, GOLD).statistic for one in plain])
    )
    assert found.sd == pytest.approx(np.std([spearmanr(one, GOLD).statistic for one in plain], ddof=1))


def test_a_difference_says_without_how_many_test_pairs_it_would_be_gone() -> None:
    random = np.random.default_rng(3)
    human = random.standard_normal(30)
    good, bad = (human + noise * random.standard_normal(30) for noise in (0.3, 2.5))
    figures = {
        label: correlation_measured(Metric.SPEARMAN, cosines, human, resamples=50, seed=1)
        for label, cosines in (("good", good), ("bad", bad))
    }

    found = differences_of(
        {label: [one] for label, one in figures.items()}, [("good", "bad"), ("bad", "good"), ("good", "good")]
    )

    turned = found["good", "bad"].turned_by
    assert turned == found["bad", "good"].turned_by
    assert found["good", "good"].turned_by is None
    # Pairs on which the worse encoder is wrong go first: never fewer than by their exact effects, one after the other.
    kept = np.ones(30, dtype=np.bool_)
    removed, difference = 0, 1.0
    while difference > 0:
        without = []
        for pair in np.flatnonzero(kept):
            kept[pair] = False
            without.append(spearman(good[kept], human[kept]) - spearman(bad[kept], human[kept]))
            kept[pair] = True
        kept[np.flatnonzero(kept)[int(np.argmin(without))]] = False
        removed, difference = removed + 1, min(without)
    assert turned == pytest.approx(removed, abs=1)


def test_p_values_are_adjusted_for_all_differences_that_are_defined() -> None:
    cosines = {
        "plain": noisy(2.0, seeds=3),
        "other": noisy(1.8, seeds=3),
        "third": noisy(1.5, seeds=3),
        "flat": [np.full(GOLD.size, 0.3)] * 3,
    }
    between = [("other", "plain"), ("third", "plain"), ("flat", "plain"), ("third", "other")]

    found = adjusted(differences_of(measured(cosines), between))

    tested = [found[pair] for pair in between if pair[0] != "flat"]
    assert [one.p_holm for one in tested] == pytest.approx(holm([one.p for one in tested]))
    assert (found["flat", "plain"].value, found["flat", "plain"].p_holm) == (None, None)


def test_an_encoder_that_differs_in_nothing_has_a_difference_of_exactly_nothing() -> None:
    vectors = noisy(1.0, seeds=2)

    found = differences_of(measured({"plain": vectors, "other": vectors}), [FROM_PLAIN])[FROM_PLAIN]

    assert (found.value, found.low, found.high, found.p) == (0, 0, 0, 1)


def test_equal_cosines_are_undefined_and_said() -> None:
    vectors = {"plain": noisy(1.0, seeds=2), "flat": [np.full(GOLD.size, 0.3), noisy(1.0)[0]]}

    found = compare(measured(vectors, resamples=100, seed=2))

    assert (found["flat"].mean.value, found["flat"].sd) == (None, None)
    assert list(undefined(found)) == [
        "The encoder “flat” gives every test pair the same cosine, so it has no correlation."
    ]


def test_an_encoder_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match="There is no encoder “plain” to compare with; there are base"):
        differences_of(measured({"base": noisy(1.0)}), [("base", "plain")])


def test_different_numbers_of_seeds_are_refused() -> None:
    vectors = {"plain": noisy(1.0, seeds=2), "other": noisy(1.0, seeds=3)}

    with pytest.raises(ValueError, match="“other” has 3 seeds and “plain” 2; they are compared seed by seed"):
        differences_of(measured(vectors), [FROM_PLAIN])


@pytest.mark.exhaustive
def test_the_interval_of_a_difference_in_f1_is_that_of_resampling_both_together() -> None:
    labels = (GOLD > 2).astype(int)
    plain, other = noisy(2.5)[0], noisy(1.0)[0]
    figures = {
        label: [classification_measured(Metric.F1, each, labels, threshold=2.4, resamples=0, seed=1)]
        for label, each in (("plain", plain), ("other", other))
    }

    found = differences_of(figures, [FROM_PLAIN])[FROM_PLAIN]

    rng = np.random.default_rng(5)
    drawn = [rng.integers(GOLD.size, size=GOLD.size) for _ in range(800)]
    apart = [
        f1_score(labels[rows], other[rows] > 2.4) - f1_score(labels[rows], plain[rows] > 2.4)
        for rows in drawn
    ]
    assert found.value == pytest.approx(f1_score(labels, other > 2.4) - f1_score(labels, plain > 2.4))
    assert (found.low, found.high) == pytest.approx(np.quantile(apart, [0.025, 0.975]), abs=0.03)
