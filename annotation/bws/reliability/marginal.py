"""The marginal reliability of MaxDiff scores: how much of the utilities' variance the judgements have settled."""

import math

import numpy as np
import scipy

from annotation.bws.judgements import Judgements
from annotation.bws.scores.counting import counts
from annotation.bws.scores.empirical_bayes import LOG_PRECISIONS, log_evidence
from annotation.bws.scores.posterior import (
    Posterior,
    estimated_inverse_diagonal,
    fit_utilities,
    inverse_diagonal,
)
from annotation.bws.scores.refitting import MaxDiffFit

MOST_ITEMS_EXACT = 1_500  # above, an estimate is quicker, and a mean over so many items hardly differs
NORMAL = 1.96
ENOUGH_KNOWN = 50.0  # about log l, so that its standard deviation is .14 or less
CLOSE_ENOUGH = 0.02  # of log l at an end of its interval
SMALLEST_STEP = 1e-4  # of a utility, in the search for it


def marginal_reliability(judgements: Judgements, posterior: Posterior, *, seed: int = 1234) -> float | None:
    """1 - mean posterior variance / variance of the utilities (Green, Bock, Humphreys, Linn and Reckase 1984).

    posterior: the utilities of all m items, fitted to these judgements.
    The variance of the true utilities is that of the fitted ones plus the mean posterior variance (the law of total
    variance), since the prior draws fitted ones together. It is the expected squared correlation of fitted with true
    utilities if the MaxDiff model is right, in which all judgements are independent: what one person sees in an item
    and others do not is taken for the item's. Variances are around the mean, which no judgement says anything about.
    None for fewer than two items that were judged.
    """
    seen = counts(judgements)[0] > 0  # (m,)
    if seen.sum() < 2:
        return None
    if seen.sum() <= MOST_ITEMS_EXACT:
        variances = inverse_diagonal(posterior.precision)
    else:
        variances = estimated_inverse_diagonal(posterior.precision, seed=seed)
    # Mean of Var(u_i - mean u) = mean of Var(u_i) - Var(mean u), of the items that were judged.
    # Only the prior fixes the mean of the utilities: its variance is 1 / (precision m).
    uncertain = float(variances[seen].mean()) - 1 / (posterior.prior_precision * float(seen.sum()))
    # Both are means over m items, so neither is divided by m - 1.
    spread = float(posterior.utilities[seen].var())
    return spread / (spread + uncertain)  # r = Var(fitted) / (Var(fitted) + mean Var(u_i - mean u))


def marginal_interval(fit: MaxDiffFit, reliability: float) -> tuple[float, float]:
    """The ends of the 95 % interval of the marginal reliability of a fit, 0 if all answers may be chance.

    What is uncertain is the precision l of the prior. An item with the information I has the reliability I / (I + l),
    so a change of log l changes the logit of the reliability r by as much. If much is known, log l is normal with the
    information m r^2 / 2 (that of m known utilities, less what is missing; Louis 1982). Otherwise the interval takes in
    all l whose log marginal likelihood is at most 1.92 below that of the estimate. All utilities are equal where l is
    infinite, which is the likelihood of answers drawn at random, with r = 0.
    """
    # Information on log l: m r^2 / 2, with the m items that were judged; others say nothing.
    judged = np.count_nonzero(counts(fit.likelihood.judgements)[0])
    known = judged * reliability**2 / 2
    deviation = 1 / math.sqrt(max(known, 1e-9))  # SE of log l; 1e-9 keeps it finite at r = 0
    lower, upper = -NORMAL * deviation, NORMAL * deviation
    if known < ENOUGH_KNOWN:
        lower, upper = _profile(fit, deviation)
    # logit r' = logit r - change, so r' = r / (r + (1 - r) e^change); the upper end of log l gives the lower r'.
    low, high = (reliability / (reliability + (1 - reliability) * math.exp(end)) for end in (upper, lower))
    return low, high


def _profile(fit: MaxDiffFit, deviation: float) -> tuple[float, float]:
    """How far the log precision goes down and up, infinite where answers may all be chance."""
    likelihood, posterior = fit.likelihood, fit.posterior
    middle, highest = math.log(posterior.prior_precision), log_evidence(likelihood, posterior)

    def surplus(log_precision: float) -> float:
        """How much further the evidence falls than the interval goes."""
        there = fit_utilities(
            likelihood,
            prior_precision=math.exp(log_precision),
            prior_mean=posterior.prior_mean,
            start=posterior.utilities,
            smallest_step=SMALLEST_STEP,
        )
        # Below 0 inside the interval: twice the fall is chi-square with 1 degree of freedom, 1.96^2 = 3.84 at 95 %.
        return highest - log_evidence(likelihood, there) - NORMAL**2 / 2

    def end(bound: float) -> float:
        """Between the estimate and a bound; the bound itself if the interval goes further."""
        inner, outer = middle, middle
        # Steps of one standard deviation until the end is passed, then the root between the last two.
        while surplus(outer) < 0:
            if outer == bound:
                return bound
            inner, outer = outer, outer + math.copysign(deviation, bound - middle)
            outer = min(outer, bound) if bound > middle else max(outer, bound)
        return float(scipy.optimize.brentq(surplus, inner, outer, xtol=CLOSE_ENOUGH))

    # At l = infinity all utilities are the prior's means; their log-likelihood is the limit of the evidence.
    chance = highest - likelihood.value(posterior.prior_mean) <= NORMAL**2 / 2
    return end(LOG_PRECISIONS[0]) - middle, math.inf if chance else end(LOG_PRECISIONS[1]) - middle
