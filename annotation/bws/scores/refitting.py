"""MaxDiff fits of many parts of the same judgements, or of many simulated ones, that are compared by ranks alone."""

from dataclasses import dataclass

import numpy as np

from annotation.bws.judgements import FloatArray, Judgements
from annotation.bws.scores.counting import counts
from annotation.bws.scores.empirical_bayes import fit_with_prior
from annotation.bws.scores.maxdiff import MaxDiffLikelihood
from annotation.bws.scores.posterior import Posterior, fit_utilities

CLOSE_ENOUGH = 1e-4  # of a utility: ranks change where two items are nearer to each other than that
FURTHEST = 0.9  # the part of a counting score that the search begins with: at 1 it would begin at infinity


@dataclass(frozen=True)
class MaxDiffSettings:
    """What a fit takes as known of items and people: the prior's precision and the weight of ties."""

    prior_precision: float
    tie_weight: float = 0.0

    def utilities(self, judgements: Judgements) -> FloatArray:
        """The utilities (m,) of these judgements, to about .0001; NaN for an item that never appeared.

        The search begins where counting puts the items (u = 2 artanh of the signed score; Marley, Islam and Hawkins
        2016), so it takes four steps instead of seven.
        """
        likelihood = MaxDiffLikelihood(judgements)
        likelihood.tie_weight = self.tie_weight
        appearances, best, worst = counts(judgements)
        # artanh(.9) = 1.47, so no item starts further out than u = +-2.94.
        start = 2 * np.arctanh(FURTHEST * (best - worst) / np.maximum(1, appearances))
        # l and v are given: one search for the mode, and no search for the prior.
        posterior = fit_utilities(
            likelihood, prior_precision=self.prior_precision, start=start, smallest_step=CLOSE_ENOUGH
        )
        return np.where(appearances > 0, posterior.utilities, np.nan)


@dataclass(frozen=True, eq=False)
class MaxDiffFit:
    """A fit of all judgements, whose settings the fits of parts of them share. posterior: of all m items."""

    likelihood: MaxDiffLikelihood
    posterior: Posterior
    settings: MaxDiffSettings


def maxdiff_fit(judgements: Judgements) -> MaxDiffFit:
    """Fit the utilities with the prior and the weight of ties that the judgements themselves say."""
    likelihood = MaxDiffLikelihood(judgements)
    # Of all m items: one that was never judged keeps u = 0, and adds nothing to the evidence for l.
    posterior = fit_with_prior(likelihood)
    return MaxDiffFit(
        likelihood, posterior, MaxDiffSettings(posterior.prior_precision, likelihood.tie_weight)
    )
