"""Fitting the MaxDiff model: ours against scipy's L-BFGS on the same posterior, on judgements as many as Ruddit's.

The baseline is what people write: the likelihood of every judgement and its gradient in numpy, handed to
`scipy.optimize.minimize`. Both must come to the same utilities. Standard errors are timed beside it.
"""

from time import perf_counter

import numpy as np
from _compare import alternate, is_quick, print_comparison, rates_compared
from _judgements import judgements_found
from scipy.optimize import minimize

from annotation.bws.judgements import Judgements
from annotation.bws.scores.maxdiff import MaxDiffLikelihood
from annotation.bws.scores.posterior import Posterior, fit_utilities, posterior_errors

BASELINE = "scipy.optimize.minimize (L-BFGS-B) over all judgements"


def ours(judgements: Judgements) -> Posterior:
    return fit_utilities(MaxDiffLikelihood(judgements), prior_precision=1.0)


def by_scipy(judgements: Judgements) -> np.ndarray:
    telling = judgements.only(judgements.best != judgements.worst)
    items, count = telling.items, telling.item_count
    net = np.bincount(telling.best, minlength=count) - np.bincount(telling.worst, minlength=count)

    def loss(utilities: np.ndarray) -> tuple[float, np.ndarray]:
        rise, fall = np.exp(utilities[items]), np.exp(-utilities[items])
        rises, falls = rise.sum(axis=1, keepdims=True), fall.sum(axis=1, keepdims=True)
        total = rises * falls - items.shape[1]
        expected = (rise * (falls - fall) - fall * (rises - rise)) / total
        gradient = np.bincount(items.ravel(), weights=expected.ravel(), minlength=count) - net + utilities
        value = np.log(total).sum() - net @ utilities + utilities @ utilities / 2
        return float(value), gradient

    found = minimize(loss, np.zeros(count), jac=True, method="L-BFGS-B", options={"gtol": 1e-5, "ftol": 0})
    return np.asarray(found.x)


def main() -> None:
    quick = is_quick(__doc__)
    judgements, source = judgements_found()
    if quick:
        judgements = judgements.only(np.arange(8000))
    rounds = 2 if quick else 5
    fit = ours(judgements)
    apart = float(np.abs(fit.utilities - by_scipy(judgements)).max())
    assert apart < 1e-4, f"the two come to different utilities, {apart:.2g} apart"
    seconds, baseline_seconds = alternate(
        lambda: ours(judgements), lambda: by_scipy(judgements), rounds=rounds
    )
    started = perf_counter()
    kind = posterior_errors(fit.precision)[1]
    error_seconds = perf_counter() - started
    print_comparison(
        rates_compared(
            "bws_maxdiff",
            work=len(judgements),
            unit="judgements/s",
            seconds=seconds,
            baseline=BASELINE,
            baseline_seconds=baseline_seconds,
            notes=(
                f"{len(judgements):,} judgements ({source}) of {judgements.item_count:,} items fitted in "
                f"{seconds:.2f} s (baseline {baseline_seconds:.2f} s), utilities within {apart:.1g} of each "
                f"other; {kind} standard errors in {error_seconds:.1f} s more; best of {rounds} rounds"
            ),
        )
    )


if __name__ == "__main__":
    main()
