"""Curves of similarity from contexts: parts of a corpus are nested, and points are of the same pairs."""

from pathlib import Path

import numpy as np
import pytest

from curation.files.documents import Document
from curation.files.progress import silent
from curation.statistics.correlation import spearman
from mlworkers.plans.fields import PlanError
from mlworkers.science.contexts.bigram_index import index_write
from mlworkers.science.contexts.corpus import Corpus, corpus_write
from mlworkers.science.contexts.curves import corpus_part, curve_points
from mlworkers.science.contexts.curves_plan import ContextCurvesPlan

N, NAN = 40, float("nan")
RNG = np.random.default_rng(2)
HUMAN = RNG.normal(size=N)
NEAR, FAR = HUMAN + 0.1 * RNG.normal(size=N), HUMAN + 5 * RNG.normal(size=N)


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    """Ten documents of two segments with seven sentences each."""
    folder = tmp_path / "whole"
    folder.mkdir()
    documents = [
        Document(
            f"d{one}",
            [[f"Sentence {n} of part {part} in text {one}." for n in range(7)] for part in "ab"],
            [],
        )
        for one in range(10)
    ]
    corpus_write(documents, folder, language="en")
    index_write(Corpus(folder), folder)
    return Corpus(folder)


def part(corpus: Corpus, folder: Path, sentences: int) -> Corpus:
    folder.mkdir()
    corpus_part(corpus, folder, sentences=sentences, seed=1, report=silent)
    return Corpus(folder)


def test_a_part_has_whole_documents_and_of_the_last_one_its_beginning(corpus, tmp_path) -> None:
    found = part(corpus, tmp_path / "part", 31)

    texts = [found.text(place) for place in range(len(found))]
    assert len(texts) == 31
    assert found.facts.language == "en"
    assert found.facts.documents == 3
    assert np.diff(found.segments).tolist() == [7, 7, 7, 7, 3]  # nothing reaches over the end of a segment
    for first, after in zip(found.segments[:-1], found.segments[1:], strict=True):
        assert len({(found.text(place)[-12:]) for place in range(first, after)}) == 1
    assert texts[28].startswith("Sentence 0 of part a")


def test_a_smaller_part_is_in_each_larger_one(corpus, tmp_path) -> None:
    small, large = (part(corpus, tmp_path / f"part{size}", size) for size in (20, 60))

    texts = [{one.text(place) for place in range(len(one))} for one in (small, large)]
    assert texts[0] < texts[1]


def test_points_are_of_the_pairs_that_have_every_similarity_and_differ_from_the_last_one() -> None:
    few = NEAR.copy()
    few[:5] = NAN

    points = curve_points({10: [FAR], 50: [few]}, HUMAN, resamples=200, seed=1)

    assert [(one.x, one.own, one.pairs) for one in points] == [(10, N, N - 5), (50, N - 5, N - 5)]
    first, last = points
    assert first.spearman == pytest.approx(spearman(FAR[5:], HUMAN[5:]))
    assert first.low < first.spearman < first.high
    assert first.difference == pytest.approx(first.spearman - last.spearman)
    assert first.difference_high < 0  # resampled together: the difference is clear
    assert last.difference is None


def test_seeds_are_averaged() -> None:
    (point,) = curve_points({1: [FAR, NEAR]}, HUMAN, resamples=100, seed=1)

    assert point.spearman == pytest.approx((spearman(FAR, HUMAN) + spearman(NEAR, HUMAN)) / 2)


def test_without_three_pairs_in_common_there_is_no_correlation() -> None:
    lacking = np.full(N, NAN)
    lacking[:2] = 1, 2

    points = curve_points({1: [NEAR], 2: [lacking]}, HUMAN, resamples=100, seed=1)

    assert [(one.spearman, one.low, one.pairs) for one in points] == [(None, None, 2)] * 2


def plan(**more: object) -> ContextCurvesPlan:
    return ContextCurvesPlan(**{"dataset": "d", "corpus": 1, "score_set": "s", **more})  # type: ignore[arg-type]


def test_sizes_are_ordered_with_the_whole_corpus_at_the_end() -> None:
    found = plan(sizes="0, 500, 100", surrogate_pairs="20,10")

    assert (found.all_sizes, found.all_pairs) == ((100, 500, 0), (10, 20))
    assert found.scores(7).contexts == 7


@pytest.mark.parametrize(
    "wrong",
    [{"sizes": "5"}, {"sizes": "a"}, {"contexts": "2"}, {"contexts": ""}, {"surrogate_pairs": "0"}, {"sizes": "0,00"},
     {"sizes": ",".join(map(str, range(10, 30)))}, {"bootstrap": 0}, {"width": 33}],
)  # fmt: skip
def test_what_is_no_list_of_sizes_is_refused_in_one_sentence(wrong) -> None:
    with pytest.raises(PlanError, match=r"\.$"):
        plan(**wrong)
