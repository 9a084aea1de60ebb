"""Designing tuples: how the time for an item grows from 10,000 items to 1,000,000.

The promise is about growth, so the baseline is the same work at a hundredth of the size, per item. Both designs are
checked: every item 8 times, and no two items together twice.
"""

from time import perf_counter

from _compare import is_quick, print_comparison, rates_compared

from annotation.bws.designs.certificate import Certificate
from annotation.bws.designs.design import design_tuples


def designed(items: int) -> tuple[float, Certificate]:
    """Seconds and certificate of a design with two 4-tuples per item."""
    started = perf_counter()
    certificate = design_tuples(items, size=4, factor=2).certificate
    seconds = perf_counter() - started
    assert (certificate.min_appearances, certificate.max_appearances) == (8, 8), certificate
    assert certificate.repeated_pairs == 0, certificate
    return seconds, certificate


def main() -> None:
    large, rounds = (100_000, 1) if is_quick(__doc__) else (1_000_000, 2)
    small = large // 100
    designed(small)  # start-up is left out
    small_seconds = [designed(small)[0] for _ in range(rounds)]
    seconds = []
    for _ in range(rounds):
        seconds.append(designed(large)[0])
        small_seconds.append(designed(small)[0])
    usual = designed(5_500)[0]
    print_comparison(
        rates_compared(
            "bws_design",
            work=large,
            unit="items/s",
            seconds=min(seconds),
            baseline=f"the same design of {small:,} items",
            baseline_seconds=100 * min(small_seconds),
            notes=(
                f"{large:,} items into {2 * large:,} tuples in {min(seconds):.1f} s; {small:,} in "
                f"{min(small_seconds):.3f} s; 5,500 in {usual:.2f} s; every item 8 times, no pair twice; "
                f"best of {rounds}; a ratio of 0.5 is twice the time an item"
            ),
        )
    )


if __name__ == "__main__":
    main()
