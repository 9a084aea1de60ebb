"""The marginal reliability of MaxDiff scores: how much of the utilities' variance the judgements have settled."""

from annotation.bws.judgements import Judgements
from annotation.bws.scores.counting import counts
from annotation.bws.scores.posterior import Posterior, estimated_inverse_diagonal, inverse_diagonal

MOST_ITEMS_EXACT = 1_500  # above, an estimate is quicker, and a mean over so many items hardly differs


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
    # Only the prior fixes the mean of the utilities: its variance is 1 / (precision m).
    uncertain = float(variances[seen].mean()) - 1 / (posterior.prior_precision * float(seen.sum()))
    spread = float(posterior.utilities[seen].var(ddof=1))
    return spread / (spread + uncertain)
