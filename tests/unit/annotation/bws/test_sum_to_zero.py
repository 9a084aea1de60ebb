"""Errors of items that sum to zero, against a conditional logit with effects coding that shares no code with ours.

The shape is that of a survey: a balanced incomplete block design that every respondent judges completely.
"""

from itertools import permutations

import numpy as np
import pytest
from scipy.optimize import minimize

from annotation.bws.judgements import Judgements
from annotation.bws.scores.contrasts import contrasts
from annotation.bws.scores.maxdiff import MaxDiffLikelihood
from annotation.bws.scores.posterior import fit_utilities
from annotation.bws.scores.scoring import maxdiff_scores
from tests.unit.annotation.bws.test_prior_and_contrasts import drawn

# 13 items in 13 blocks of 4, in which any two items meet once: the lines of the projective plane of order 3.
BLOCKS = (np.array([0, 1, 3, 9]) + np.arange(13)[:, None]) % 13
RESPONDENTS = 30
UTILITIES = np.linspace(-1.2, 1.2, 13)


@pytest.fixture(scope="module")
def survey() -> Judgements:
    return drawn(np.tile(BLOCKS, (RESPONDENTS, 1)), UTILITIES, 21)


@pytest.fixture(scope="module")
def conditional_logit(survey) -> tuple[np.ndarray, np.ndarray]:
    """Estimates (13,) that sum to zero and their covariance (13, 13), from one row of a table for each option."""
    coding = np.vstack([np.eye(12), -np.ones(12)])  # (13, 12): the last item is minus the sum of the others
    options = np.array(list(permutations(range(4), 2)))
    best, worst = (survey.items[:, options[:, side]] for side in (0, 1))  # (n, 12) each
    rows = coding[best] - coding[worst]  # (n, 12 options, 12 parameters)
    chosen = np.argmax((best == survey.best[:, None]) & (worst == survey.worst[:, None]), axis=1)

    def loss(parameters: np.ndarray) -> float:
        values = rows @ parameters
        return float(np.log(np.exp(values).sum(axis=1)).sum() - values[np.arange(len(values)), chosen].sum())

    fitted = minimize(loss, np.zeros(12), method="BFGS", options={"gtol": 1e-6}).x
    step = 1e-3 * np.eye(12)
    hessian = np.array(
        [
            [
                loss(fitted + a + b) - loss(fitted + a - b) - loss(fitted - a + b) + loss(fitted - a - b)
                for a in step
            ]
            for b in step
        ]
    ) / (4e-6)
    return coding @ fitted, coding @ np.linalg.inv(hessian) @ coding.T


def test_any_two_items_of_the_design_meet_once() -> None:
    meetings = sorted(tuple(sorted(pair)) for block in BLOCKS for pair in permutations(block, 2))

    assert len(meetings) == 2 * len(set(meetings)) == 13 * 12


def test_utilities_and_errors_are_those_of_a_conditional_logit_with_effects_coding(
    survey, conditional_logit
) -> None:
    estimates, covariance = conditional_logit
    posterior = fit_utilities(MaxDiffLikelihood(survey), prior_precision=1e-6)

    found = contrasts(posterior)

    assert posterior.utilities == pytest.approx(estimates, abs=1e-4)
    assert found.errors == pytest.approx(np.sqrt(np.diag(covariance)), rel=1e-3)
    assert found.covariance == pytest.approx(covariance, abs=1e-5)
    assert maxdiff_scores(survey).fit.contrasts.errors == pytest.approx(found.errors, rel=0.03)


def test_errors_with_the_common_origin_in_them_would_hide_most_differences(survey, conditional_logit) -> None:
    estimates, covariance = conditional_logit
    left, right = np.triu_indices(13, 1)
    variances = np.diag(covariance)
    exact = np.sqrt(variances[left] + variances[right] - 2 * covariance[left, right])
    distinguishable = (np.abs(estimates[left] - estimates[right]) > 1.96 * exact).mean()
    posterior = fit_utilities(MaxDiffLikelihood(survey), prior_precision=1.0)

    facts = maxdiff_scores(survey).facts()
    single = np.sqrt(np.diag(np.linalg.inv(posterior.precision.toarray())))

    with_origin = np.hypot(single[left], single[right])
    hidden = (np.abs(estimates[left] - estimates[right]) > 1.96 * with_origin).mean()
    assert facts["distinguishable"] == pytest.approx(distinguishable, abs=0.03)
    assert single.mean() > 2 * np.sqrt(variances).mean()
    assert hidden < distinguishable - 0.2
