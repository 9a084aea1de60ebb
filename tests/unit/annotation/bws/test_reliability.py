"""Split-half reliability: against a slow script of the published procedure, and by hand."""

from collections import Counter, defaultdict

import numpy as np
import pytest
from scipy.stats import pearsonr, rankdata, spearmanr

from annotation.bws.judgements import Judgements
from annotation.bws.reliability.correlation import average_ranks, pearson, spearman
from annotation.bws.reliability.drawing import halves_of_groups, halves_of_units, random_ranks
from annotation.bws.reliability.split_half import (
    HalfScores,
    Split,
    TooFewJudgements,
    spearman_brown,
    split_half_reliability,
)
from annotation.bws.studies.simulation import SimulatedAnnotator, simulated_judgements

PEOPLE = [SimulatedAnnotator(noise=0.7)] * 6


def campaign(seed: int = 0, *, items: int = 30, judgements_per_tuple: int = 3) -> Judgements:
    rng = np.random.default_rng(seed)
    tuples = np.array([rng.permutation(items)[:4] for _ in range(2 * items)])
    latent = rng.standard_normal(items)
    return simulated_judgements(
        tuples, latent, annotators=PEOPLE, judgements_per_tuple=judgements_per_tuple, seed=seed
    )


def published_procedure(judgements: Judgements, trials: int, seed: int) -> tuple[list[float], list[float]]:
    """The published procedure step by step: dictionaries, one trial after the other."""
    rng = np.random.default_rng(seed)
    of_tuple = defaultdict(list)
    rows = zip(judgements.items.tolist(), judgements.best.tolist(), judgements.worst.tolist(), strict=True)
    for items, best, worst in rows:
        of_tuple[frozenset(items)].append((items, best, worst))
    rho, r = [], []
    for _ in range(trials):
        halves: tuple[list, list] = ([], [])
        for judged in of_tuple.values():
            shuffled = [judged[i] for i in rng.permutation(len(judged))]
            cut = len(judged) // 2 + (len(judged) % 2 and rng.random() < 0.5)
            halves[0].extend(shuffled[:cut])
            halves[1].extend(shuffled[cut:])
        one, two = map(counted, halves)
        pairs = [(score, two.get(item, 0.0)) for item, score in one.items()]
        left, right = zip(*pairs, strict=True)
        rho.append(spearmanr(left, right).statistic)
        r.append(pearsonr(left, right).statistic)
    return rho, r


def counted(half: list) -> dict[int, float]:
    net, seen = Counter(), Counter()
    for items, best, worst in half:
        seen.update(items)
        net[best] += 1
        net[worst] -= 1
    return {item: net[item] / times for item, times in seen.items()}


@pytest.mark.parametrize("judgements_per_tuple", [2, 3, 5])
def test_it_agrees_with_the_published_procedure_done_step_by_step(judgements_per_tuple) -> None:
    judgements = campaign(1, judgements_per_tuple=judgements_per_tuple)

    rho, r = published_procedure(judgements, 400, seed=5)
    ours = split_half_reliability(judgements, trials=4000, seed=6)

    assert ours.spearman_mean == pytest.approx(np.mean(rho), abs=4 * np.std(rho) / 20)
    assert ours.pearson_mean == pytest.approx(np.mean(r), abs=4 * np.std(r) / 20)
    assert ours.spearman_sd == pytest.approx(np.std(rho), rel=0.2)


def test_one_tuple_judged_twice_leaves_one_possible_split() -> None:
    # Item order 0 1 2 3. One half says 0 best, 3 worst: 1 0 0 -1. The other 1 best, 3 worst: 0 1 0 -1.
    judgements = Judgements(np.array([[0, 1, 2, 3], [3, 2, 1, 0]]), np.array([0, 1]), np.array([3, 3]), 4)

    reliability = split_half_reliability(judgements, trials=20)

    # Ranks 4 2.5 2.5 1 and 2.5 4 2.5 1, both of mean 2.5: products 0 0 0 2.25, squares 4.5 each.
    assert reliability.spearman_mean == pytest.approx(2.25 / 4.5)
    assert reliability.pearson_mean == pytest.approx(1 / 2)
    assert reliability.spearman_sd == 0
    assert (reliability.tuples, reliability.judgements, reliability.trials) == (1, 2, 20)


def test_the_odd_judgement_of_a_tuple_goes_to_either_half_equally_often() -> None:
    group = np.array([0, 0, 0, 1, 2, 2, 2, 2, 2])

    first = halves_of_groups(group)(8000, np.random.default_rng(2))

    in_first = {size: (first[group == g].sum(axis=0)).mean() for g, size in ((0, 3), (1, 1), (2, 5))}
    assert in_first == {size: pytest.approx(size / 2, abs=0.03) for size in (3, 1, 5)}
    assert set(first[group == 2].sum(axis=0).tolist()) == {2, 3}


def test_every_half_of_a_tuple_is_equally_likely() -> None:
    first = halves_of_groups(np.zeros(4, dtype=int))(12_000, np.random.default_rng(3))

    halves = Counter(map(tuple, first.T.astype(int).tolist()))

    assert len(halves) == 6
    assert all(times == pytest.approx(2000, abs=200) for times in halves.values())


def test_judgements_of_one_unit_stay_together() -> None:
    unit = np.array([0, 1, 2, 0, 1, 2, 2])

    first = halves_of_units(unit)(50, np.random.default_rng(4))

    for number in range(3):
        assert (first[unit == number] == first[unit == number][0]).all()
    assert set(np.stack([first[0], first[1], first[2]]).sum(axis=0).tolist()) == {1, 2}


def test_items_that_only_the_second_half_saw_are_dropped_and_missing_ones_score_zero() -> None:
    judgements = Judgements(np.array([[0, 1], [1, 2]]), np.array([0, 1]), np.array([1, 2]), 3)

    one, two, seen = HalfScores(judgements).count(np.array([[True], [False]]))

    assert seen.tolist() == [[True, True, False]]
    assert one[0, :2].tolist() == [1.0, -1.0]
    assert two[0].tolist() == [0.0, 1.0, -1.0]


def test_correlations_of_many_rows_are_those_of_scipy() -> None:
    rng = np.random.default_rng(8)
    left, right = rng.integers(0, 6, size=(2, 40, 25)) / 5
    counted_items = rng.random((40, 25)) < 0.8

    rho, r = spearman(left, right, counted_items), pearson(left, right, counted_items)

    for row in range(40):
        chosen = counted_items[row]
        assert rho[row] == pytest.approx(spearmanr(left[row, chosen], right[row, chosen]).statistic)
        assert r[row] == pytest.approx(pearsonr(left[row, chosen], right[row, chosen]).statistic)


def test_a_constant_list_correlates_with_nothing() -> None:
    everything = np.ones((1, 3), dtype=bool)

    assert np.isnan(spearman(np.ones((1, 3)), np.array([[1.0, 2, 3]]), everything)[0])


def test_the_same_seed_gives_the_same_reliability() -> None:
    judgements = campaign(2)

    first, again = (split_half_reliability(judgements, trials=50, seed=9) for _ in range(2))

    assert first == again


def test_halves_of_different_tuples_agree_less_than_halves_of_the_same() -> None:
    judgements = campaign(3, items=80, judgements_per_tuple=4)

    same = split_half_reliability(judgements, trials=100)
    different = split_half_reliability(judgements, trials=100, split=Split.TUPLES)

    assert different.spearman_mean < same.spearman_mean - 0.02


def test_annotators_who_all_judge_alike_are_as_reliable_split_by_annotator() -> None:
    judgements = campaign(4, items=60, judgements_per_tuple=6)

    by_annotator = split_half_reliability(judgements, trials=50, split=Split.ANNOTATORS)

    by_judgement = split_half_reliability(judgements, trials=50)
    assert by_annotator.spearman_mean == pytest.approx(by_judgement.spearman_mean, abs=0.05)


def test_an_annotator_who_disagrees_lowers_the_split_by_annotator_most() -> None:
    rng = np.random.default_rng(0)
    tuples = np.array([rng.permutation(40)[:4] for _ in range(80)])
    latent = rng.standard_normal(40)
    kind = simulated_judgements(
        tuples, latent, annotators=[SimulatedAnnotator(0.3)] * 2, judgements_per_tuple=2, seed=1
    )
    contrary = simulated_judgements(
        tuples, -latent, annotators=[SimulatedAnnotator(0.3)] * 2, judgements_per_tuple=2, seed=2
    )
    together = Judgements(
        np.vstack([kind.items, contrary.items]),
        np.concatenate([kind.best, contrary.best]),
        np.concatenate([kind.worst, contrary.worst]),
        40,
        np.repeat([0, 1], [len(kind), len(contrary)]),
    )

    by_annotator = split_half_reliability(together, trials=20, split=Split.ANNOTATORS)

    assert by_annotator.spearman_mean < -0.5
    assert by_annotator.spearman_brown == by_annotator.spearman_mean


def test_one_judgement_a_tuple_is_no_reliability() -> None:
    with pytest.raises(TooFewJudgements, match="at least two judgements for most tuples; 0 of 60 have them"):
        split_half_reliability(campaign(judgements_per_tuple=1))


def test_one_annotator_cannot_be_split() -> None:
    judgements = Judgements(np.array([[0, 1]] * 2), np.array([0, 0]), np.array([1, 1]), 2, np.array([4, 4]))

    with pytest.raises(TooFewJudgements, match="by annotators needs at least two of them, and there is 1"):
        split_half_reliability(judgements, split=Split.ANNOTATORS)


def test_without_a_judgement_no_tuple_is_there_to_be_split() -> None:
    nothing = Judgements(np.empty((0, 2), dtype=int), np.empty(0, dtype=int), np.empty(0, dtype=int), 2)

    with pytest.raises(TooFewJudgements, match="by tuples needs at least two of them, and there is 0"):
        split_half_reliability(nothing, split=Split.TUPLES)


def test_unnamed_annotators_cannot_be_split() -> None:
    judgements = Judgements(np.array([[0, 1]] * 2), np.array([0, 0]), np.array([1, 1]), 2)

    with pytest.raises(ValueError, match="do not say who made them"):
        split_half_reliability(judgements, split=Split.ANNOTATORS)


def test_two_tuples_without_a_common_item_have_nothing_to_compare() -> None:
    judgements = Judgements(np.array([[0, 1], [2, 3]]), np.array([0, 2]), np.array([1, 3]), 4)

    with pytest.raises(TooFewJudgements, match="2 judgements are too few"):
        split_half_reliability(judgements, split=Split.TUPLES)


def test_no_trials_are_no_reliability() -> None:
    with pytest.raises(ValueError, match="at least 1 trial"):
        split_half_reliability(campaign(), trials=0)


def test_spearman_brown_by_hand() -> None:
    assert spearman_brown(0.84) == pytest.approx(0.9130, abs=5e-5)
    assert spearman_brown(-1.0) == -1.0


@pytest.mark.parametrize("shape", [(1, 1), (3, 7), (20, 40)])
def test_average_ranks_are_those_of_scipy(shape) -> None:
    rng = np.random.default_rng(1)
    values = rng.integers(-3, 4, shape) / rng.integers(1, 4, shape)
    values[0, 0] = np.inf

    assert (average_ranks(values) == rankdata(values, axis=1) - 1).all()


def test_every_judgement_of_a_tuple_is_equally_often_among_the_few() -> None:
    tuples = np.array([0, 1, 0, 1, 0])

    ranks = random_ranks(tuples, 6000, np.random.default_rng(1))  # (5, 6000)

    assert (np.sort(ranks[tuples == 0], axis=0) == np.arange(3)[:, None]).all()
    assert (np.sort(ranks[tuples == 1], axis=0) == np.arange(2)[:, None]).all()
    first = (ranks == 0).mean(axis=1)
    assert first == pytest.approx(np.array([1 / 3, 1 / 2, 1 / 3, 1 / 2, 1 / 3]), abs=0.03)
