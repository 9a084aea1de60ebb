"""The Bradley-Terry model on the pairs that judgements imply."""

import numpy as np
import scipy

from annotation.bws.judgements import FloatArray, IntArray, Judgements, summed


class BradleyTerryLikelihood:
    """P(i over j) = 1 / (1 + exp(u_j - u_i)) for each comparison of winners and losers (p,) (Bradley, Terry 1952)."""

    def __init__(self, winners: IntArray, losers: IntArray, item_count: int) -> None:
        self.item_count = item_count
        # Each ordered pair once (q,), with how often it was compared.
        pairs, self.times = np.unique(winners * item_count + losers, return_counts=True)
        self.winners, self.losers = pairs // item_count, pairs % item_count

    def value(self, utilities: FloatArray) -> float:
        # L = sum of n_wl log P(w over l); log_expit keeps the digits of a chance near 0.
        return float(self.times @ scipy.special.log_expit(utilities[self.winners] - utilities[self.losers]))

    def expand(self, utilities: FloatArray) -> "tuple[FloatArray, scipy.sparse.csr_array]":
        """The gradient (m,) of the log-likelihood at the utilities (m,), and its negative Hessian (m, m), sparse.

        Both are sums over comparisons, so an item that was never compared has only zeros in them.
        """
        # With p the chance that the winner had of losing, each comparison moves its two items by p, one up and one
        # down, and has the curvature p (1 - p).
        # p = P(l over w) = 1 / (1 + exp(u_w - u_l)).
        lost = scipy.special.expit(utilities[self.losers] - utilities[self.winners])  # (q,)
        surprise, weight = self.times * lost, self.times * lost * (1 - lost)
        size = self.item_count
        gradient = summed(self.winners, surprise, size) - summed(self.losers, surprise, size)  # (m,)
        # Each pair adds to four cells of the curvature, +p (1 - p) at (w, w), (l, l) and -p (1 - p) at (w, l), (l, w).
        rows = np.concatenate([self.winners, self.losers, self.winners, self.losers])
        columns = np.concatenate([self.winners, self.losers, self.losers, self.winners])
        values = np.concatenate([weight, weight, -weight, -weight])
        return gradient, scipy.sparse.csr_array(
            scipy.sparse.coo_array((values, (rows, columns)), shape=(size, size))
        )


def implied_pairs(judgements: Judgements) -> tuple[IntArray, IntArray]:
    """The comparisons that judgements imply: winners and losers (p,), the best over all, all others over the worst.

    2 k - 3 for a tuple of k. An item that is in a tuple twice is not compared with itself, and a judgement whose best
    is its worst contains no order, and neither does a tie.
    """
    judgements = judgements.only(judgements.best != judgements.worst)
    winners, losers = [], []
    for item in judgements.items.T:  # (n,): the items of one position; -1 on either side is no comparison
        winners.append(np.where(item == judgements.best, -1, judgements.best))
        losers.append(item)
        middle = (item != judgements.best) & (item != judgements.worst)
        winners.append(np.where(middle, item, -1))
        losers.append(judgements.worst)
    winner, loser = np.concatenate(winners), np.concatenate(losers)
    compared = (winner >= 0) & (loser >= 0)
    return winner[compared], loser[compared]
