"""Scores of items from judgements: by counting, by the MaxDiff model, by the Bradley-Terry model.

The models find a utility u for each item. On the scales of counting it is tanh(u / 2), signed, or 1 / (1 + exp(-u)),
unit: the inverse of how Marley, Islam and Hawkins (2016) estimate a utility from a counting score.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np
import scipy

from annotation.bws.judgements import FloatArray, IntArray, Judgements
from annotation.bws.scores.annotator_scales import AnnotatorScales, fit_with_scales
from annotation.bws.scores.bradley_terry import BradleyTerryLikelihood, implied_pairs
from annotation.bws.scores.contrasts import MOST_ITEMS_JOINT, Contrasts, contrasts
from annotation.bws.scores.counting import counting_errors, counts, design_effects
from annotation.bws.scores.distinction import Distinction, pair_tests
from annotation.bws.scores.empirical_bayes import fit_with_prior
from annotation.bws.scores.maxdiff import MaxDiffLikelihood
from annotation.bws.scores.posterior import ErrorKind, Posterior, fit_utilities
from annotation.bws.scores.prior_means import with_uncertain_means
from annotation.bws.scores.variational import averaged


class Scale(StrEnum):
    """The range of scores: -1..1 as counted, or 0..1 by (score + 1) / 2."""

    SIGNED = "signed"
    UNIT = "unit"


class ErrorSource(StrEnum):
    """What standard errors of MaxDiff trust: the model, or only that different annotators judge independently."""

    MODEL = "model"
    ANNOTATORS = "annotators"


@dataclass(frozen=True, eq=False)
class ScaleEffect:
    """What a scale per annotator changes, for the decision whether to use it.

    scales: what was fitted, with the gain in evidence.
    correlation: of the utilities with those of one scale for all (Pearson).
    error_change: by which share the mean standard error of the utilities is larger; None without errors.
    """

    scales: AnnotatorScales
    correlation: float
    error_change: float | None

    def facts(self) -> dict[str, Any]:
        """Without the scale of any one annotator, so that it can be published."""
        names = ("spread", "evidence_gain", "likelihood_gain")
        return {
            **{name: getattr(self.scales, name) for name in names},
            "lowest": float(self.scales.scales.min()),
            "highest": float(self.scales.scales.max()),
            "correlation": self.correlation,
            "error_change": self.error_change,
        }


@dataclass(frozen=True, eq=False)
class ModelFit:
    """What a model found, on its own scale, for the s items that appeared, by ascending number.

    utilities: (s,).
    contrasts: their errors, None if they were not asked for.
    prior_precision: of the prior.
    tie_weight: of "too close to call" (`MaxDiffLikelihood`), 0 without ties.
    scale_effect: of a scale per annotator; None if all annotators have one scale.
    group_means: the prior mean of each group of items by its number, NaN for a group without an item that appeared;
    None with one prior mean for all.
    """

    utilities: FloatArray
    contrasts: Contrasts | None
    prior_precision: float
    tie_weight: float = 0.0
    scale_effect: ScaleEffect | None = None
    group_means: FloatArray | None = None


@dataclass(frozen=True, eq=False)
class Scores:
    """One score for each of m items, with the counts behind it; NaN for an item that never appeared.

    error_kind: where the standard errors come from; if it is NONE, they are NaN.
    fit: of the models.
    """

    values: FloatArray
    standard_errors: FloatArray
    appearances: IntArray
    best: IntArray
    worst: IntArray
    error_kind: ErrorKind = ErrorKind.COUNTED
    fit: ModelFit | None = None

    def facts(self) -> dict[str, Any]:
        """What to state beside the scores: where errors and prior come from, and how many pairs are distinguishable."""
        effect = None if self.fit is None else self.fit.scale_effect
        return {
            **({} if effect is None else {"annotator_scales": effect.facts()}),
            "standard_errors": self.error_kind.value,
            "prior_precision": None if self.fit is None else self.fit.prior_precision,
            "tie_weight": None if self.fit is None else self.fit.tie_weight,
            **asdict(self.distinction()),
        }

    def means_of_groups(self, names: Sequence[str]) -> dict[str, Any]:
        """The prior mean of each group by its name, as a fact; nothing with one prior mean for all."""
        if self.fit is None or self.fit.group_means is None:
            return {}
        return {"prior_means": dict(zip(names, self.fit.group_means.tolist(), strict=True))}

    def distinction(self, *, seed: int = 1234) -> Distinction:
        """Which share of the pairs of scored items differ: of the models by their utilities."""
        known = ~np.isnan(self.values)
        # NaN scores have no rank and no difference; the fit holds the same items, in the same order.
        values, errors = self.values[known], self.standard_errors[known]
        if self.error_kind is ErrorKind.NONE:
            return pair_tests(values, None, seed=seed)
        if self.fit is not None and self.fit.contrasts is not None:
            # Of the models, utilities are tested, since a difference of scores shrinks towards the ends of 0..1.
            of_differences = self.fit.contrasts.of_differences
            return pair_tests(self.fit.utilities, of_differences, equal=values, seed=seed)
        # Var(s_i - s_j) = SE_i^2 + SE_j^2 for counting, whose errors carry no covariances.
        return pair_tests(values, lambda left, right: np.hypot(errors[left], errors[right]), seed=seed)


def counting_scores(judgements: Judgements, *, scale: Scale = Scale.UNIT, with_errors: bool = True) -> Scores:
    """Score each item by (times best - times worst) / appearances (Orme 2009).

    Returns m scores in 0..1, or -1..1 when signed, with standard errors on the same scale. A tie is an appearance of
    its items, neither best nor worst.

    The errors take into account that judgements of one tuple share its items (`design_effects`), and not that one
    person judged several tuples. They estimate the score over random tuples and people, and take most of the time.
    """
    appearances, best, worst = counts(judgements)
    with np.errstate(invalid="ignore"):
        signed = np.where(appearances > 0, (best - worst) / appearances, np.nan)  # s in -1..1 (m,)
    errors, kind = np.full(len(signed), np.nan), ErrorKind.NONE
    if with_errors:
        errors, kind = counting_errors(appearances, best, worst), ErrorKind.COUNTED
        # The variance is that of independent judgements times the design effect.
        errors *= np.sqrt(design_effects(judgements))
    # (s + 1) / 2 halves the errors as well.
    values, errors = (signed, errors) if scale is Scale.SIGNED else ((signed + 1) / 2, errors / 2)
    return Scores(values, errors, appearances, best, worst, kind)


def maxdiff_scores(
    judgements: Judgements,
    *,
    scale: Scale = Scale.UNIT,
    prior_precision: float | None = None,
    groups: IntArray | None = None,
    errors: ErrorSource = ErrorSource.MODEL,
    annotator_scales: bool = False,
    with_errors: bool = True,
) -> Scores:
    """Score each item by its utility in the MaxDiff model, with a Gaussian prior.

    The model uses which items an item met, so it needs fewer judgements than counting (on Ruddit about half). An item
    that never appeared has NaN.

    prior_precision: None to estimate it from the judgements (`fit_with_prior`).
    groups: (m,) numbers from 0 of groups of items that have their own prior means, which are estimated (`prior_means`).
    annotator_scales: each annotator distinguishes the items by their own scale (`fit_with_scales`).
    errors: of u minus the mean of all u, from the posterior or from how much the annotators differ.
    with_errors: with them, the utilities of up to 3,000 items are the posterior's means (`averaged`), else its mode.

    Raises ValueError if annotators are needed and not known, or if errors from annotators are asked for together with
    their scales.
    """
    if prior_precision is not None and not prior_precision > 0:
        raise ValueError(f"The prior needs a precision above 0, not {prior_precision:g}.")
    if annotator_scales and errors is ErrorSource.ANNOTATORS:
        raise ValueError(
            "Errors from the annotators take one scale for all of them; use errors from the model."
        )
    seen, among = _seen_only(judgements)
    groups_seen = None if groups is None else groups[seen]
    prior: dict[str, Any] = {"prior_precision": prior_precision, "groups": groups_seen}
    scales: AnnotatorScales | None = None
    if annotator_scales:
        likelihood, posterior, scales = fit_with_scales(among, **prior)
    else:
        likelihood = MaxDiffLikelihood(among)
        posterior = fit_with_prior(likelihood, **prior)
    uncertainty: Contrasts | None = None
    if with_errors:
        if among.item_count <= MOST_ITEMS_JOINT:
            posterior = averaged(likelihood, posterior, precision_known=prior_precision is not None)
        if groups_seen is not None:
            posterior = with_uncertain_means(posterior, groups_seen)
        uncertainty = contrasts(posterior, gradients=_gradients_of(errors, likelihood, posterior))
    scores = _model_scores(
        posterior, judgements, seen, scale=scale, uncertainty=uncertainty, tie_weight=likelihood.tie_weight
    )
    if groups is not None and scores.fit is not None:
        means = np.full(int(groups.max(initial=-1)) + 1, np.nan)
        means[groups[seen]] = posterior.prior_mean  # NaN where none of a group's items appeared
        scores = replace(scores, fit=replace(scores.fit, group_means=means))
    if scales is None or scores.fit is None:
        return scores
    alike = maxdiff_scores(
        judgements, prior_precision=prior_precision, groups=groups, with_errors=with_errors
    )
    return replace(scores, fit=replace(scores.fit, scale_effect=_effect(scales, scores.fit, alike.fit)))


def _gradients_of(
    errors: ErrorSource, likelihood: MaxDiffLikelihood, posterior: Posterior
) -> "scipy.sparse.csr_array | None":
    if errors is ErrorSource.MODEL:
        return None
    # Rows g of the sandwich: all judgements of one annotator are one independent unit.
    people = np.unique(likelihood.judgements.people, return_inverse=True)[1]
    return likelihood.gradients(posterior.utilities, people)


def _effect(scales: AnnotatorScales, fit: ModelFit | None, alike: ModelFit | None) -> ScaleEffect | None:
    """How a fit with annotators' scales differs from that of the same judgements with one scale."""
    if fit is None or alike is None:
        return None
    change = None
    if fit.contrasts is not None and alike.contrasts is not None:
        # 0.1 means that standard errors are 10 % larger on the average.
        change = float(fit.contrasts.errors.mean() / alike.contrasts.errors.mean() - 1)
    return ScaleEffect(scales, float(np.corrcoef(fit.utilities, alike.utilities)[0, 1]), change)


def bradley_terry_scores(
    judgements: Judgements, *, scale: Scale = Scale.UNIT, prior_precision: float = 1.0
) -> Scores:
    """Score each item by its utility in the Bradley-Terry model on the pairs that judgements imply.

    Has no standard errors: the pairs of one judgement are not independent, and errors that assume so would be too
    small. `maxdiff_scores` has them.
    """
    seen, among = _seen_only(judgements)
    likelihood = BradleyTerryLikelihood(*implied_pairs(among), among.item_count)
    # The prior N(0, 1 / l) keeps an item finite that won or lost every comparison.
    posterior = fit_utilities(likelihood, prior_precision=prior_precision)
    return _model_scores(posterior, judgements, seen, scale=scale)


METHODS: dict[str, Callable[..., Scores]] = {
    "counting": counting_scores,  # (times best - times worst) / appearances
    "bradley-terry": bradley_terry_scores,  # P(i before j) = σ(u_i - u_j)
    "maxdiff": maxdiff_scores,  # P(b best, w worst) ∝ exp(u_b - u_w)
}


def _seen_only(judgements: Judgements) -> tuple[IntArray, Judgements]:
    """The items that appeared (s,), and the judgements with these items alone, numbered from 0."""
    seen = np.flatnonzero(counts(judgements)[0])
    if len(seen) == judgements.item_count:
        return seen, judgements
    number = np.full(judgements.item_count + 1, -1)  # the last one is for -1
    number[seen] = np.arange(len(seen))
    # Items that appeared, renumbered; -1 stays -1.
    items, best, worst = (
        number[numbers] for numbers in (judgements.items, judgements.best, judgements.worst)
    )
    return seen, replace(judgements, items=items, best=best, worst=worst, item_count=len(seen))


def _model_scores(
    posterior: Posterior,
    judgements: Judgements,
    seen: IntArray,
    *,
    scale: Scale,
    uncertainty: Contrasts | None = None,
    tie_weight: float = 0.0,
) -> Scores:
    """Utilities and their errors (s,) on a scale of counting (m,); errors by the slope of the scale at the utility."""
    unit = scipy.special.expit(posterior.utilities)  # 1 / (1 + e^-u), in 0..1
    slope = unit * (1 - unit)  # d expit(u) / du
    # The delta method: SE of f(u) is |f'(u)| SE of u.
    columns = (unit, slope * uncertainty.errors if uncertainty else np.full(len(seen), np.nan))
    if scale is Scale.SIGNED:
        columns = (2 * columns[0] - 1, 2 * columns[1])  # 2 expit(u) - 1 = tanh(u / 2), with twice the slope
    values, errors = np.full((2, judgements.item_count), np.nan)
    values[seen], errors[seen] = columns
    fit = ModelFit(posterior.utilities, uncertainty, posterior.prior_precision, tie_weight)
    return Scores(
        values, errors, *counts(judgements), uncertainty.kind if uncertainty else ErrorKind.NONE, fit
    )
