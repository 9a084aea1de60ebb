"""Which pairs of sentences are chosen: overlaps, windows, buckets, bins, labels, bands, caps and quotas."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from curation.pairs.overlap import dice
from curation.pairs.sampling.allocation import allocation, exponential_weights
from curation.pairs.sampling.bands import pairs_by_similarity
from curation.pairs.sampling.sample import bin_names, bins_of, percentile_edges
from curation.pairs.sampling.searching import READ_ON, Denominator, PartnerSearch, Window
from curation.pairs.sampling.strategies import (
    pairs_by_labels,
    pairs_by_percentiles,
    pairs_by_score,
    pairs_within_window,
    random_candidates,
    within_lengths,
)
from curation.pairs.sampling.synonyms import SynonymError, synonyms_read
from curation.pairs.sampling.uses import Uses
from curation.pairs.text import words
from curation.pairs.word_tables import dice_of_pairs, inverse_document_frequencies, word_table


def sentences_made(number: int, *, vocabulary: int = 40, seed: int = 1) -> list[str]:
    """Sentences of 3 to 12 words in which low words are frequent, as in a language."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(3, 13, size=number)
    return [" ".join(f"w{word}" for word in rng.zipf(1.5, size=length) % vocabulary) for length in lengths]


def within(window: Window, first: str, second: str) -> bool:
    """The definition, written out for two sentences."""
    one, other = set(words(first)), set(words(second))
    whole = {"first": len(one), "shorter": min(len(one), len(other)), "longer": max(len(one), len(other))}
    overlap = len(one & other) / whole[window.denominator]
    longest = max(len(words(first)), len(words(second)))
    difference = abs(len(words(first)) - len(words(second))) / longest
    return window.low <= overlap < window.high and difference <= window.length_difference


class TestWords:
    def test_dice_of_many_pairs_is_that_of_each(self) -> None:
        texts = [*sentences_made(30), "", "!?"]
        pairs = np.array(list(combinations(range(len(texts)), 2)))

        found = dice_of_pairs(word_table(texts), pairs[:, 0], pairs[:, 1])

        assert found == pytest.approx([dice(texts[a], texts[b]) for a, b in pairs])

    def test_weighted_dice_by_hand(self) -> None:
        table = word_table(["the cat", "the dog", "the cat sat", "the end"])
        weights = inverse_document_frequencies(table)  # the: 0, cat: ln 2, dog, sat, end: ln 4

        found = dice_of_pairs(table, np.array([0, 0, 0]), np.array([1, 2, 0]), weights=weights)

        assert found == pytest.approx([0, 2 / (1 + 3), 1])

    def test_synonyms_count_as_shared_words(self) -> None:
        table = word_table(["a big house", "a large house"], synonyms={"large": "big"})

        assert dice_of_pairs(table, np.array([0]), np.array([1])) == pytest.approx([1.0])

    def test_lengths_count_repeated_words(self) -> None:
        table = word_table(["no no no no no", "one two three four", "a " * 26])

        assert within_lengths(table).tolist() == [0]

    def test_a_file_of_synonyms_is_read_or_refused_with_its_line(self) -> None:
        assert synonyms_read(["# thesaurus\n", "Large\tbig\n", "\n", "huge\tbig"]) == {
            "large": "big",
            "huge": "big",
        }
        with pytest.raises(SynonymError, match="line 2 is not a word, a tab and its synonym"):
            synonyms_read(["large\tbig\n", "two words\tbig\n"])
        with pytest.raises(SynonymError, match="line 2 gives “large” a second synonym"):
            synonyms_read(["large\tbig\n", "large\tgreat\n"])


class TestWindow:
    @pytest.mark.exhaustive
    @pytest.mark.parametrize("denominator", list(Denominator))
    @pytest.mark.parametrize("read_on", [READ_ON, 1, 64])
    def test_a_search_finds_what_reading_all_sentences_finds(
        self, monkeypatch: pytest.MonkeyPatch, denominator: Denominator, read_on: int
    ) -> None:
        monkeypatch.setattr("curation.pairs.sampling.searching.READ_ON", read_on)
        monkeypatch.setattr("curation.pairs.sampling.searching.FIRST_BLOCK", 16)
        texts = sentences_made(120)
        window = Window(0.5, 0.9, 0.2, denominator)
        search = PartnerSearch(word_table(texts), window, seed=7)

        for first in range(0, 120, 7):
            uses = Uses(120, cap=120)
            partners = []
            while (partner := search.partner(first, start=3 * first % 120, uses=uses)) is not None:
                partners.append(partner)
                uses.take(first, partner)

            expected = {
                other for other in range(120) if other != first and within(window, texts[first], texts[other])
            }
            assert set(partners) == expected
            assert len(partners) == len(expected)

    def test_the_inverted_index_gives_the_same_partner(self, monkeypatch: pytest.MonkeyPatch) -> None:
        table = word_table(sentences_made(500))
        asked = [(first, 31 * first % 500) for first in range(0, 500, 11)]

        def partners(read_on: int) -> list[int | None]:
            monkeypatch.setattr("curation.pairs.sampling.searching.READ_ON", read_on)
            search = PartnerSearch(table, Window(), seed=3)
            return [search.partner(first, start=start, uses=Uses(500, cap=1)) for first, start in asked]

        assert partners(1) == partners(READ_ON)

    def test_pairs_are_within_the_window_and_respect_the_cap(self) -> None:
        texts = sentences_made(400)
        window = Window()

        sample = pairs_within_window(
            word_table(texts), pairs=150, window=window, uses=Uses(400, cap=1), seed=5
        )

        assert len(sample.pairs) == 150
        assert all(within(window, texts[a], texts[b]) for a, b in sample.pairs)
        assert len(set(sample.pairs.ravel().tolist())) == 300

    def test_the_same_seed_gives_the_same_pairs_and_another_seed_others(self) -> None:
        table = word_table(sentences_made(400))

        def drawn(seed: int) -> list[list[int]]:
            found = pairs_within_window(table, pairs=50, window=Window(), uses=Uses(400, cap=1), seed=seed)
            return found.pairs.tolist()

        assert drawn(1) == drawn(1)
        assert drawn(1) != drawn(2)

    def test_too_few_pairs_are_reported(self) -> None:
        table = word_table(["a b c d e", "a b x y z", "k l m n o"])

        sample = pairs_within_window(table, pairs=5, window=Window(), uses=Uses(3, cap=5), seed=1)

        assert sorted(sorted(pair) for pair in sample.pairs.tolist()) == [[0, 1]]
        assert sample.missing == 4

    def test_existing_pairs_are_not_drawn_again(self) -> None:
        table = word_table(["a b c d e", "a b x y z"])

        sample = pairs_within_window(
            table, pairs=1, window=Window(), uses=Uses(2, cap=5, taken=[(1, 0)]), seed=1
        )

        assert len(sample.pairs) == 0

    def test_an_empty_window_is_refused(self) -> None:
        with pytest.raises(ValueError, match="holds nothing"):
            Window(0.5, 0.5)


class TestStrata:
    def test_the_largest_remainder_by_hand(self) -> None:
        assert allocation([1, 1, 1], 10, [9, 9, 9]).tolist() == [4, 3, 3]
        assert allocation([5, 3, 2], 9, [9, 9, 9]).tolist() == [4, 3, 2]  # 4.5, 2.7, 1.8
        assert allocation(np.ones(100), 450, np.full(100, 9)).sum() == 450

    def test_what_a_stratum_lacks_comes_from_the_others(self) -> None:
        assert allocation([1, 1, 2], 8, [1, 9, 9]).tolist() == [1, 2, 5]
        assert allocation([1, 1], 8, [2, 3]).tolist() == [2, 3]
        assert allocation([0, 1], 3, [9, 9]).tolist() == [0, 3]

    def test_exponential_weights_grow_by_the_base_and_never_overflow(self) -> None:
        weights = exponential_weights(4, 2.0)

        assert weights / weights[0] == pytest.approx([1, 2, 4, 8])
        assert np.isfinite(exponential_weights(2000, 10.0)).all()

    def test_the_last_bin_is_closed_and_values_outside_are_in_none(self) -> None:
        edges = [0.0, 1.0, 2.0]

        assert bins_of(np.array([-0.1, 0, 0.99, 1, 2, 2.1]), edges).tolist() == [-1, 0, 0, 1, 1, -1]
        assert bin_names(edges) == ["[0, 1)", "[1, 2]"]

    def test_equal_percentiles_are_one_bucket(self) -> None:
        assert percentile_edges(np.array([0, 0, 0, 0, 1.0]), 4) == [0.0, 1.0]
        assert len(percentile_edges(np.array([2.0, 2.0]), 4)) == 2

    def test_as_many_pairs_of_each_bin_of_a_score(self) -> None:
        rng = np.random.default_rng(2)
        candidates, scores = np.arange(400).reshape(-1, 2), rng.uniform(0, 5, size=200)

        sample = pairs_by_score(
            candidates, scores, edges=[0, 1, 2, 3, 4, 5], pairs=50, uses=Uses(400, cap=1), seed=1
        )

        assert sample.places is not None
        assert Counter(np.floor(scores[sample.places]).astype(int).tolist()) == dict.fromkeys(range(5), 10)
        assert candidates[sample.places].tolist() == sample.pairs.tolist()

    def test_buckets_give_exponentially_more_pairs_from_low_to_high(self) -> None:
        candidates = np.arange(4000).reshape(-1, 2)
        values = np.random.default_rng(3).uniform(size=2000)

        sample = pairs_by_percentiles(
            candidates, values, pairs=300, buckets=4, growth=2.0, uses=Uses(4000, cap=1), seed=1
        )

        assert [stratum.drawn for stratum in sample.strata] == [20, 40, 80, 160]
        assert [stratum.available for stratum in sample.strata] == [500] * 4

    def test_a_bucket_that_runs_short_is_reported_and_not_filled_from_others(self) -> None:
        candidates, values = np.arange(20).reshape(-1, 2), np.array([0.1] * 9 + [0.9])

        sample = pairs_by_score(candidates, values, edges=[0, 0.5, 1], pairs=6, uses=Uses(20, cap=1), seed=1)

        assert [(one.asked, one.available, one.drawn) for one in sample.strata] == [(3, 9, 3), (3, 1, 1)]
        assert sample.missing == 2

    def test_random_candidates_are_different_pairs_of_different_sentences(self) -> None:
        found = random_candidates(30, pairs=5000, seed=1)

        unordered = {tuple(sorted(pair)) for pair in found.tolist()}
        assert (found[:, 0] != found[:, 1]).all()
        assert len(unordered) == len(found) == 30 * 29 // 2

    def test_random_candidates_are_drawn_evenly(self) -> None:
        counts: Counter[tuple[int, int]] = Counter()
        for seed in range(200):
            counts.update(
                (min(a, b), max(a, b)) for a, b in random_candidates(4, pairs=3, seed=seed).tolist()
            )

        shares = np.array(list(counts.values())) / sum(counts.values())
        assert len(counts) == 6
        assert np.abs(shares - 1 / 6).max() < 0.06  # about four standard errors


class TestLabels:
    def test_pairs_share_the_target_and_meet_the_quotas(self) -> None:
        rng = np.random.default_rng(4)
        targets = rng.choice(["abortion", "clinton", ""], size=300).tolist()
        stances = rng.choice(["for", "against"], size=300).tolist()
        quotas = {("for", "for"): 20, ("against", "against"): 20, ("for", "against"): 20}

        sample = pairs_by_labels(targets, stances, quotas=quotas, uses=Uses(300, cap=1), seed=1)

        found = Counter((stances[a], stances[b]) for a, b in sample.pairs)
        assert found == quotas
        assert all(targets[a] == targets[b] != "" for a, b in sample.pairs)
        assert sample.missing == 0

    def test_pairs_of_small_targets_are_as_likely_as_others(self) -> None:
        # Target s has one pair and target t three: each of the four is the first one in a quarter of the samples.
        times = 4_000
        first = [
            pairs_by_labels(
                ["s", "s", "t", "t", "t"],
                ["for"] * 5,
                quotas={("for", "for"): 1},
                uses=Uses(5, cap=1),
                seed=seed,
            ).pairs[0, 0]
            for seed in range(times)
        ]

        # The standard error is 27; with twice the same sentence drawn and thrown away, 800 were of s.
        assert sum(one < 2 for one in first) == pytest.approx(times / 4, abs=110)

    def test_scarce_combinations_are_filled_as_far_as_possible_and_reported(self) -> None:
        sample = pairs_by_labels(
            ["t"] * 3, ["for", "for", "against"], quotas={("for", "against"): 5}, uses=Uses(3, cap=9), seed=1
        )

        assert {tuple(pair) for pair in sample.pairs.tolist()} == {(0, 2), (1, 2)}
        assert [(one.name, one.available, one.missing) for one in sample.strata] == [("for–against", 2, 3)]

    @pytest.mark.parametrize("seed", range(5))
    def test_where_the_cap_leaves_too_few_sentences_the_combinations_share_them(self, seed: int) -> None:
        """By hand: of 8 for and 4 against, the combinations take in turn 2 against, 2 for, and one of each.

        After one round 5 for and 1 against are left; then 2 for, and one of each; then 2 for.
        """
        quotas = {("for", "for"): 9, ("for", "against"): 9, ("against", "against"): 9}
        stances = ["for"] * 8 + ["against"] * 4

        sample = pairs_by_labels(["t"] * 12, stances, quotas=quotas, uses=Uses(12, cap=1), seed=seed)

        assert [(one.name, one.drawn, one.missing) for one in sample.strata] == [
            ("for–for", 3, 6),
            ("for–against", 2, 7),
            ("against–against", 1, 8),
        ]
        assert [(stances[a], stances[b]) for a, b in sample.pairs] == [
            *[("for", "for")] * 3,
            *[("for", "against")] * 2,
            ("against", "against"),
        ]

    def test_a_combination_that_nobody_has_gives_nothing(self) -> None:
        sample = pairs_by_labels(["t"], ["for"], quotas={("for", "none"): 2}, uses=Uses(1, cap=1), seed=1)

        assert len(sample.pairs) == 0
        assert sample.missing == 2


class TestBands:
    EDGES = (-0.5, 0.5, 0.9, 1.0)

    def vectors(self, number: int, seed: int = 5, width: int = 4) -> np.ndarray:
        made = np.random.default_rng(seed).normal(size=(number, width)).astype(np.float32)
        return made / np.linalg.norm(made, axis=1, keepdims=True)

    def bands(self, vectors: np.ndarray) -> np.ndarray:
        """Of all pairs, by brute force: the place of each pair's band, -1 for none."""
        cosines = (vectors @ vectors.T).astype(np.float64)
        np.fill_diagonal(cosines, -9)
        return bins_of(cosines.ravel(), self.EDGES).reshape(cosines.shape)

    def test_pairs_are_in_their_bands_and_meet_the_quotas(self) -> None:
        vectors = self.vectors(600)

        sample = pairs_by_similarity(vectors, edges=self.EDGES, per_band=15, uses=Uses(600, cap=1), seed=1)

        found = self.bands(vectors)[sample.pairs[:, 0], sample.pairs[:, 1]]
        assert np.bincount(found).tolist() == [15, 15, 15]
        assert len(set(sample.pairs.ravel().tolist())) == 90

    @pytest.mark.parametrize("cap", [1, 3])
    @pytest.mark.parametrize("block", [8, 8192])
    def test_a_band_lacks_pairs_only_if_no_free_sentences_are_left_in_it(
        self, monkeypatch: pytest.MonkeyPatch, cap: int, block: int
    ) -> None:
        monkeypatch.setattr("curation.pairs.sampling.bands.BLOCK", block)
        vectors = self.vectors(150)
        uses = Uses(150, cap=cap, taken=[(0, 1), (2, 3)])

        sample = pairs_by_similarity(vectors, edges=self.EDGES, per_band=90, uses=uses, seed=2)

        short = [band for band, stratum in enumerate(sample.strata) if stratum.missing]
        bands = self.bands(vectors)
        left = [(a, b) for a, b in combinations(range(150), 2) if bands[a, b] in short and uses.allows(a, b)]
        assert short
        assert left == []
        assert Counter(sample.pairs.ravel().tolist()).most_common(1)[0][1] <= cap

    def test_every_pair_of_a_band_is_drawn_where_the_cap_allows_it(self) -> None:
        vectors = self.vectors(60)

        sample = pairs_by_similarity(vectors, edges=(0.9, 1.0), per_band=9999, uses=Uses(60, cap=60), seed=3)

        expected = {(a, b) for a, b in combinations(range(60), 2) if self.bands(vectors)[a, b] == 2}
        assert {(min(pair), max(pair)) for pair in sample.pairs.tolist()} == expected

    def test_the_pairs_of_a_band_are_drawn_about_evenly(self) -> None:
        """Of the pairs of a band each is drawn about as often: within five standard errors, over 400 seeds."""
        vectors = self.vectors(24)
        inside = [(a, b) for a, b in combinations(range(24), 2) if self.bands(vectors)[a, b] == 0]
        counts: Counter[tuple[int, int]] = Counter()
        for seed in range(400):
            sample = pairs_by_similarity(
                vectors, edges=(-0.5, 0.5), per_band=3, uses=Uses(24, cap=1), seed=seed
            )
            counts.update((min(pair), max(pair)) for pair in sample.pairs.tolist())

        # A sentence comes first with equal chance, then each of its partners; the earlier pairs change this a little.
        partners = Counter(place for pair in inside for place in pair)
        expected = {(a, b): (1 / partners[a] + 1 / partners[b]) / 24 * 1200 for a, b in inside}
        assert set(counts) <= set(inside)
        assert all(
            abs(counts[pair] - mean) < 5 * np.sqrt(mean) + 0.2 * mean for pair, mean in expected.items()
        )

    def test_the_same_seed_gives_the_same_pairs(self) -> None:
        one, again, other = (
            pairs_by_similarity(
                self.vectors(200), edges=self.EDGES, per_band=9, uses=Uses(200, cap=1), seed=seed
            ).pairs.tolist()
            for seed in (1, 1, 2)
        )
        assert one == again != other

    def test_equal_sentences_are_in_the_last_band_and_no_sentence_is_its_own_partner(self) -> None:
        one = self.vectors(1, width=300)
        vectors = np.concatenate([one, one])

        sample = pairs_by_similarity(vectors, edges=[0.5, 1], per_band=2, uses=Uses(2, cap=5), seed=1)

        assert sorted(sample.pairs.ravel().tolist()) == [0, 1]
        assert sample.missing == 1

    def test_a_band_that_holds_nothing_is_reported(self) -> None:
        vectors = np.eye(8, dtype=np.float32)

        sample = pairs_by_similarity(vectors, edges=[0.5, 1], per_band=2, uses=Uses(8, cap=1), seed=1)

        assert sample.missing == 2
