"""The groups of a linguistic analysis, their figures and intervals."""

import numpy as np
import pytest

from mlworkers.science.linguistics.analysis import FamilyFigures, GroupFigures, linguistic_analysis
from mlworkers.science.linguistics.groups import AnalysedPairs, families_of
from mlworkers.science.linguistics.jackknife import BLOCKS, jackknife_interval
from mlworkers.science.linguistics.measures import MEASURES, Group


def _pairs(
    texts: list[tuple[str, str]],
    generated: list[bool],
    realism: list[float],
    target: list[float] | None = None,
) -> AnalysedPairs:
    known: dict[str, int] = {}
    a = [known.setdefault(first, len(known)) for first, _second in texts]
    b = [known.setdefault(second, len(known)) for _first, second in texts]
    return AnalysedPairs(
        numbers=np.arange(len(texts)),
        a=np.array(a),
        b=np.array(b),
        first=np.array([first for first, _second in texts], dtype=object),
        second=np.array([second for _first, second in texts], dtype=object),
        generated=np.array(generated),
        realism=np.array(realism),
        target=np.array(target if target is not None else [np.nan] * len(texts)),
    )


def _silent(*_report: object) -> None:
    pass


def _sentence(rng: np.random.Generator, vocabulary: int) -> str:
    return " ".join(f"w{number}" for number in rng.integers(vocabulary, size=9))


@pytest.fixture(scope="module")
def family() -> FamilyFigures:
    """Human pairs and generated pairs of high p_D draw from 500 words, those of low p_D from 100."""
    rng = np.random.default_rng(7)
    human = [(_sentence(rng, 500), _sentence(rng, 500)) for _pair in range(150)]
    generated = [(_sentence(rng, 500), _sentence(rng, 100 if low else 500)) for low in [True, False] * 75]
    realism = [0.1, 0.9] * 75
    pairs = _pairs([*human, *generated], [False] * 150 + [True] * 150, [np.nan] * 150 + realism)
    return linguistic_analysis(pairs, share=0.5, seed=1, report=_silent)[0]


def _group(family: FamilyFigures, group: Group) -> GroupFigures:
    return next(each for each in family.groups if each.group is group)


def test_a_poorer_vocabulary_is_found_and_an_equal_one_is_not(family: FamilyFigures) -> None:
    poor, rich = (_group(family, group).differences["Distinct-1"] for group in (Group.LOWEST, Group.HIGHEST))

    assert poor.high < 0
    assert rich.low < 0 < rich.high
    assert family.highest_minus_lowest["Distinct-1"].low > 0


def test_every_measure_of_every_group_has_an_interval_around_it(family: FamilyFigures) -> None:
    for group in family.groups:
        assert set(group.figures) == set(MEASURES)
        for estimate in group.figures.values():
            assert estimate.low <= estimate.value <= estimate.high


def test_groups_of_different_sizes_are_compared_at_the_same_number_of_tokens() -> None:
    """Pairs of one kind: 400 human ones and 40 generated ones. At its own size, the larger group looks less varied."""
    rng = np.random.default_rng(11)
    texts = [(_sentence(rng, 300), _sentence(rng, 300)) for _pair in range(440)]
    pairs = _pairs(texts, [False] * 400 + [True] * 40, [np.nan] * 440)

    human, generated = linguistic_analysis(pairs, share=0.1, seed=1, report=_silent)[0].groups

    assert human.at_own_size["Distinct-1"] < 0.5 * generated.at_own_size["Distinct-1"]
    difference = generated.differences["Distinct-1"]
    assert difference.low < 0 < difference.high


def test_the_highest_and_lowest_parts_are_taken_by_p_d_and_then_by_number() -> None:
    texts = [(f"a{number}", f"b{number}") for number in range(6)]
    pairs = _pairs(texts, [True] * 6, [0.5, 0.1, 0.5, np.nan, 0.5, 0.9])

    groups = next(families_of(pairs, share=0.4)).groups

    assert groups[Group.LOWEST].tolist() == [1, 0]
    assert groups[Group.HIGHEST].tolist() == [4, 5]
    assert groups[Group.GENERATED].tolist() == [0, 1, 2, 3, 4, 5]
    assert Group.HUMAN not in groups


def test_each_target_similarity_is_a_family_with_all_human_pairs() -> None:
    texts = [(f"a{number}", f"b{number}") for number in range(5)]
    generated, target = [False, True, True, True, True], [np.nan, 0.0, 1.0, 0.0, np.nan]
    pairs = _pairs(texts, generated, [np.nan, 0.3, 0.4, 0.5, 0.6], target)

    families = list(families_of(pairs, share=0.5))

    assert [family.target for family in families] == [None, 0.0, 1.0]
    assert families[1].groups[Group.GENERATED].tolist() == [1, 3]
    assert families[2].groups[Group.HUMAN].tolist() == [0]


def test_the_jackknife_of_a_mean_is_the_t_interval_of_its_blocks() -> None:
    values = np.random.default_rng(5).normal(size=BLOCKS)
    left_out = [float(np.delete(values, block).mean()) for block in range(BLOCKS)]

    ours = jackknife_interval(float(values.mean()), left_out)

    half = 2.093024 * values.std(ddof=1) / np.sqrt(BLOCKS)  # t of 19 degrees of freedom, from a table
    assert (ours.low, ours.high) == pytest.approx((values.mean() - half, values.mean() + half))


def test_a_figure_that_is_undefined_without_a_block_has_no_interval() -> None:
    estimate = jackknife_interval(0.5, [0.5] * 19 + [None])

    assert (estimate.value, estimate.low) == (0.5, None)


def test_groups_of_fewer_than_twenty_pairs_are_left_out() -> None:
    pairs = _pairs([(f"a{number} x", f"b{number} x") for number in range(19)], [False] * 19, [np.nan] * 19)

    assert linguistic_analysis(pairs, share=0.1, seed=1, report=_silent) == []
