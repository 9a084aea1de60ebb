"""Split-half reliability: ours against the loop that people write, on judgements as many as Ruddit's.

The loop splits each tuple's judgements, counts with pandas `value_counts` in each half and calls
`scipy.stats.spearmanr`.
"""

import numpy as np
import pandas as pd
from _compare import alternate, is_quick, print_comparison, rates_compared
from _judgements import judgements_found
from scipy.stats import spearmanr

from annotation.bws.judgements import Judgements, tuple_numbers
from annotation.bws.reliability.split_half import split_half_reliability

BASELINE = "the loop with pandas value_counts and scipy spearmanr"


class Loop:
    """One trial after the other over a table of judgements."""

    def __init__(self, judgements: Judgements) -> None:
        self.table = pd.DataFrame(judgements.items).add_prefix("item")
        self.table["best"], self.table["worst"] = judgements.best, judgements.worst
        self.columns = [name for name in self.table if name.startswith("item")]
        number = tuple_numbers(judgements.items)
        self.tuples = np.split(np.argsort(number, kind="stable"), np.cumsum(np.bincount(number))[:-1])
        self.rng = np.random.default_rng(1)

    def trial(self) -> float:
        first: list[int] = []
        second: list[int] = []
        for judged in self.tuples:
            shuffled = self.rng.permutation(judged).tolist()
            cut = len(shuffled) // 2 + (len(shuffled) % 2 and self.rng.random() < 0.5)
            first += shuffled[:cut]
            second += shuffled[cut:]
        one, two = self.counted(first), self.counted(second)
        return float(spearmanr(one, two.reindex(one.index).fillna(0)).statistic)

    def counted(self, rows: list[int]) -> "pd.Series[float]":
        half = self.table.iloc[rows]
        seen = pd.concat([half[column] for column in self.columns]).value_counts()
        best, worst = half["best"].value_counts(), half["worst"].value_counts()
        return best.reindex(seen.index).fillna(0).sub(worst.reindex(seen.index).fillna(0)) / seen


def main() -> None:
    trials, rounds = (20, 1) if is_quick(__doc__) else (100, 4)
    judgements, source = judgements_found()
    loop, loop_trials = Loop(judgements), max(2, trials // 20)
    ours = split_half_reliability(judgements, trials=trials).spearman_mean
    theirs = np.mean([loop.trial() for _ in range(loop_trials)])
    assert abs(ours - theirs) < 0.006, (ours, theirs)
    seconds, loop_seconds = alternate(
        lambda: split_half_reliability(judgements, trials=trials),
        lambda: [loop.trial() for _ in range(loop_trials)],
        rounds=rounds,
    )
    print_comparison(
        rates_compared(
            "bws_reliability",
            work=trials,
            unit="trials/s",
            seconds=seconds,
            baseline=BASELINE,
            baseline_seconds=loop_seconds * trials / loop_trials,
            notes=(
                f"{len(judgements):,} judgements ({source}); Spearman {ours:.4f} and {theirs:.4f} by the loop, "
                f"which takes {1000 * loop_seconds / loop_trials:.0f} ms a trial; best of {rounds} rounds"
            ),
        )
    )


if __name__ == "__main__":
    main()
