"""Near duplicates (Jaccard index of the words at least .8) among 1,000,000 sentences.

The baseline is MinHash with locality-sensitive hashing by the library datasketch (128 permutations), on a fiftieth of
the sentences; its time is taken to grow in proportion. Recall is by brute force on a sample. A tenth of the sentences
are copies of others with one word changed.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from time import perf_counter

from _compare import is_quick, peak_mb, print_comparison, rates_compared
from _sentences import sentences_made, with_near_copies

from curation.pairs.near_duplicates import near_duplicates
from curation.pairs.text import words
from curation.pairs.word_tables import word_table

THRESHOLD = 0.8
PART = 50  # the library gets one sentence of so many
CHECKED = 3_000  # sentences that are compared with each other by brute force
Found = set[tuple[int, int]]


def ours(sentences: Sequence[str]) -> Found:
    found = near_duplicates(word_table(sentences), threshold=THRESHOLD)
    return set(zip(found.first.tolist(), found.second.tolist(), strict=True))


def theirs(sentences: Sequence[str]) -> Found:
    from datasketch import MinHash, MinHashLSH  # noqa: PLC0415 - a package that nothing else needs

    index = MinHashLSH(threshold=THRESHOLD, num_perm=128)
    found: Found = set()
    for number, sentence in enumerate(sentences):
        sketch = MinHash(num_perm=128)
        sketch.update_batch([word.encode() for word in set(words(sentence))])
        found.update((other, number) for other in index.query(sketch))
        index.insert(number, sketch)
    return found


def by_brute_force(sentences: Sequence[str]) -> Found:
    sets = [set(words(sentence)) for sentence in sentences]
    return {
        (first, second)
        for second, other in enumerate(sets)
        for first, one in enumerate(sets[:second])
        if len(one & other) >= THRESHOLD * len(one | other) - 1e-9
    }


def main() -> None:
    if find_spec("datasketch") is None:
        print("near_duplicates: the baseline needs datasketch; nothing is measured.", file=sys.stderr)
        print('{"name": "near_duplicates", "figure": null, "notes": "datasketch is not installed"}')
        return
    number = 50_000 if is_quick(__doc__) else 1_000_000
    sentences = with_near_copies(sentences_made(number), share=0.1)
    before = peak_mb()
    started = perf_counter()
    found = ours(sentences)
    seconds = perf_counter() - started
    peak = peak_mb()
    part = sentences[::PART]
    started = perf_counter()
    theirs(part)
    baseline_seconds = PART * (perf_counter() - started)
    # Copies stand at the end: take originals and their copies, not one of each kind.
    checked = with_near_copies(sentences[:CHECKED], share=0.3)
    true = by_brute_force(checked)
    recalls = [len(true & search(checked)) / len(true) for search in (ours, theirs)]
    compared = rates_compared(
        "near_duplicates",
        work=number,
        unit="sentences/s",
        seconds=seconds,
        baseline="datasketch, MinHash of 128 permutations with LSH",
        baseline_seconds=baseline_seconds,
        notes=f"{len(found):,} pairs of {number:,} sentences in {seconds:.1f} s, reading included; the sentences "
        f"themselves hold {before:.0f} MB of the peak; datasketch by {len(part):,} sentences; recall on {CHECKED:,} "
        f"sentences with {len(true):,} near duplicates {recalls[0]:.3f}, datasketch {recalls[1]:.3f}",
    )
    print_comparison(replace(compared, peak_mb=peak))


if __name__ == "__main__":
    main()
