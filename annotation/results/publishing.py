"""From a campaign to score sets of its dataset."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
from django.db import transaction
from django.utils.translation import gettext as _

from annotation.bws.reliability.report import scores_report, split_half_report
from annotation.bws.reliability.split_half import TooFewJudgements
from annotation.bws.scores.scoring import METHODS, Scores
from annotation.bws.studies.turning import claim_turning
from annotation.models import Campaign, TupleItem
from annotation.results.record import (
    CampaignJudgements,
    Mask,
    NumberedJudgements,
    campaign_judgements,
    judgements_at_most,
    judgements_require,
    rounds_of,
)
from annotation.results.selectors import phase_sums
from curation.datasets.services import score_set_name_require, score_set_publish
from curation.foundation.errors import UserError, errors_shown
from curation.models import Pair, ScoreSet, User
from curation.people.access import dataset_require_active

LONGEST_NAME = 100
# Judgements of which a request publishes scores, by method; with more it would take over a second, mostly for a
# thousand halvings and for the standard errors (log of experiments, J-15).
AT_ONCE: Mapping[str, int] = {"counting": 600, "bradley-terry": 600, "maxdiff": 400, "scales": 100}
# Pairs that people gave, and pairs that a machine wrote.
STRATA: Mapping[str, frozenset[str]] = {
    "imported": frozenset({Pair.Origin.IMPORTED.value, Pair.Origin.SAMPLED.value}),
    "generated": frozenset({Pair.Origin.GENERATED.value}),
}


@dataclass(frozen=True)
class Publication:
    """Scores that are computed and not stored yet. name: as it was given; label: what a name that is made says of the
    method.
    """

    name: str
    label: str
    stratum: str
    method: str
    parameters: Mapping[str, Any]
    scores: Sequence[tuple[int, float, float | None, int]]


def scores_publish(
    *,
    campaign: Campaign,
    method: str = "counting",
    name: str = "",
    stratum: str = "",
    annotator_scales: bool = False,
    mean_per_round: bool | None = None,
    by: User | None = None,
) -> ScoreSet:
    """Publish scores from the judgements that count now, as a new score set on 0..1.

    method: one of `annotation.bws.scores.scoring.METHODS`. name: of the score set; empty, it says campaign and
    method, with a number from the second on. stratum: `imported` or `generated` scores those pairs alone, from
    the judgements that compared nothing else. annotator_scales: a scale per annotator, of maxdiff alone.
    mean_per_round: a prior mean for the pairs of each round in which pairs joined, of maxdiff alone; None: wherever
    pairs joined. What was published never changes.
    """
    scored = _publication(
        campaign=campaign,
        method=method,
        name=name,
        stratum=stratum,
        annotator_scales=annotator_scales,
        mean_per_round=mean_per_round,
    )
    return publications_store(campaign=campaign, publications=[scored], by=by)[0]


def strata_publish(
    *,
    campaign: Campaign,
    method: str = "counting",
    name: str = "",
    annotator_scales: bool = False,
    mean_per_round: bool | None = None,
    by: User | None = None,
) -> list[ScoreSet]:
    """Publish imported and generated pairs as their own score sets; all of them or none.

    A stratum's name is added to the name that is given.
    """
    scored = publications_of(
        campaign=campaign,
        method=method,
        name=name,
        strata=True,
        annotator_scales=annotator_scales,
        mean_per_round=mean_per_round,
    )
    return publications_store(campaign=campaign, publications=scored, by=by)


def publications_of(
    *,
    campaign: Campaign,
    method: str = "counting",
    name: str = "",
    strata: bool = False,
    annotator_scales: bool = False,
    mean_per_round: bool | None = None,
) -> list[Publication]:
    """Compute what `scores_publish` or, with strata, `strata_publish` stores. Nothing is written, so that nobody who
    writes waits for it.
    """
    return [
        _publication(
            campaign=campaign,
            method=method,
            name=_name_of(name, stratum),
            stratum=stratum,
            annotator_scales=annotator_scales,
            mean_per_round=mean_per_round,
        )
        for stratum in (_strata_of(campaign) if strata else [""])
    ]


def publication_require(campaign: Campaign, asked: Mapping[str, Any]) -> None:
    """Raise UserError where the choices cannot be published, as far as that is known before anything is computed."""
    dataset_require_active(campaign.dataset)
    _require_known(asked.get("method", "counting"), METHODS)
    if name := asked.get("name", "").strip():
        for stratum in _strata_of(campaign) if asked.get("strata") else [""]:
            score_set_name_require(campaign.dataset, _name_of(name, stratum))


def _name_of(name: str, stratum: str) -> str:
    """The name that was given, with that of the stratum; "" where none was given."""
    given = name.strip()
    return f"{given}, {stratum}" if given and stratum else given


def publication_is_quick(campaign: Campaign, asked: Mapping[str, Any]) -> bool:
    """Whether somebody may wait for it. One query."""
    method = "scales" if asked.get("annotator_scales") else asked.get("method", "counting")
    return judgements_at_most(campaign, AT_ONCE[method])


@transaction.atomic
def publications_store(
    *, campaign: Campaign, publications: Sequence[Publication], by: User | None
) -> list[ScoreSet]:
    """Store what was computed as score sets; all of them or none."""
    stored = []
    for each in publications:
        name = each.name.strip()
        if not name:
            # `human: <campaign>, <method>`, with a number from the second on, within the length of a name.
            taken = set(ScoreSet.objects.filter(dataset=campaign.dataset_id).values_list("name", flat=True))
            what = f"{each.label}, {each.stratum}" if each.stratum else each.label
            for number in count(1):
                ending = f", {what}" if number == 1 else f", {what} {number}"
                name = f"human: {campaign.name[: LONGEST_NAME - len('human: ') - len(ending)]}{ending}"
                if name not in taken:
                    break
        score_set = score_set_publish(
            dataset=campaign.dataset,
            name=name,
            kind=ScoreSet.Kind.HUMAN,
            low=0.0,
            high=1.0,
            method=each.method,
            parameters=each.parameters,
            scores=each.scores,
            campaign_ref=campaign.pk,
            by=by,
        )
        stored.append(score_set)
    return stored


def _publication(
    *,
    campaign: Campaign,
    method: str,
    name: str,
    stratum: str,
    annotator_scales: bool,
    mean_per_round: bool | None,
) -> Publication:
    _require_known(method, METHODS)
    if annotator_scales and method != "maxdiff":
        raise UserError(
            _("Only the MaxDiff model has a scale per annotator; choose it, or leave scales out.")
        )
    if mean_per_round and method != "maxdiff":
        raise UserError(
            _("Only the MaxDiff model has a prior mean per round; choose it, or leave the means out.")
        )
    judged = campaign_judgements(campaign)
    usable = judgements_require(campaign, judged, method)
    chosen = usable & (_within(campaign, judged, stratum) if stratum else True)
    if not chosen.any():
        raise UserError(
            _("No judgement of “%(name)s” compared only %(stratum)s pairs. Score all pairs together."),
            name=campaign.name,
            stratum=stratum,
        )
    filed = judged.as_filed(chosen)
    options: dict[str, Any] = {"annotator_scales": True} if annotator_scales else {}
    rounds = None
    if method == "maxdiff" and mean_per_round is not False:
        rounds = rounds_of(campaign, filed.pairs)
    if rounds is not None:
        options["groups"] = rounds.numbers
    with errors_shown():
        scores = METHODS[method](filed.judgements, **options)
    parameters = {
        "campaign": campaign.name,
        "question": campaign.question or None,
        "judgements": len(filed.judgements),
        "judgements_collected": int(judged.collected.sum()),
        "judgements_required": sum(phase.required for phase in phase_sums(campaign).values()),
        "annotators": len(filed.people),
        "simulated_annotators": campaign.participations.filter(
            pk__in=filed.people.tolist(), user__simulated=True
        ).count(),
        "tuple_size": campaign.tuple_size,
        "judgements_per_tuple": campaign.judgements_per_tuple,
        "excluded_annotators": campaign.participations.filter(excluded=True).count(),
        **scores.facts(),
    } | _reliability(campaign, judged, chosen)
    if rounds is not None:
        parameters |= scores.means_of_groups(rounds.names)
    if stratum:
        left_out = int(usable.sum() - chosen.sum())
        parameters |= {"stratum": stratum, "mixed_judgements_left_out": left_out}
    label = f"{method} with scales" if annotator_scales else method
    return Publication(name, label, stratum, method, parameters, _rows(filed, scores))


def _strata_of(campaign: Campaign) -> list[str]:
    """The strata that the campaign's pairs belong to. Raises UserError where there is one alone."""
    origins = set(
        Pair.objects.filter(tuple_items__in=TupleItem.objects.for_scores(campaign))
        .order_by()
        .values_list("origin", flat=True)
        .distinct()
    )
    strata = [stratum for stratum, members in STRATA.items() if members & origins]
    if len(strata) < 2:
        raise UserError(
            _("All pairs of “%(name)s” are of one kind. Score them together."), name=campaign.name
        )
    return strata


def _require_known(method: str, known: Mapping[str, object]) -> None:
    if method not in known:
        raise UserError(
            _("There is no method “%(method)s”. Choose one of %(methods)s."),
            method=method,
            methods=", ".join(known),
        )


def _within(campaign: Campaign, judged: CampaignJudgements, stratum: str) -> Mask:
    """Which judgements (n,) compared pairs of the stratum and no others.

    A score says how a pair fared against those it met. Where both kinds met, no part of the answer is about
    one kind alone that all methods could use, so the whole judgement is left out.
    """
    _require_known(stratum, STRATA)
    of_stratum = Pair.objects.filter(dataset=campaign.dataset_id)
    members = of_stratum.filter(origin__in=STRATA[stratum]).order_by().values_list("pk", flat=True)
    of_members = np.isin(judged.shown, np.fromiter(members, dtype=np.int64)) | (judged.shown < 0)
    inside: Mask = np.atleast_1d(of_members.all(axis=1))
    return inside


def _reliability(campaign: Campaign, judged: CampaignJudgements, chosen: Mask) -> dict[str, object]:
    """Of a thousand halvings, and what no split says; None where there is too little for one."""
    feeding = chosen & judged.feeding("reliability")
    adaptive = int(chosen.sum() - feeding.sum())
    facts: dict[str, object] = {"adaptive_judgements": adaptive} if adaptive else {}
    judgements = judged.as_filed(feeding).judgements
    facts |= scores_report(judgements, seed=campaign.seed)
    try:
        found = split_half_report(judgements, seed=campaign.seed)
        found["turning"] = claim_turning(judgements, found["spearman_mean"], seed=campaign.seed)
        return facts | {"reliability": found}
    except TooFewJudgements:
        return facts | {"reliability": None}


def _rows(filed: NumberedJudgements, scores: Scores) -> list[tuple[int, float, float | None, int]]:
    """Pair, value, standard error and judgements of each scored pair, in order of the pairs."""
    columns = zip(filed.pairs, scores.values, scores.standard_errors, scores.appearances, strict=True)
    return sorted(
        (int(pair), float(value), None if math.isnan(error) else float(error), int(appearances))
        for pair, value, error, appearances in columns
    )
