"""Gold tuples: made by hand, or suggested from scores that exist already."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from annotation.bws.judgements import FloatArray, IntArray
from annotation.campaigns.rounds import campaign_lock, campaign_record, campaign_require
from annotation.campaigns.seeds import Stream, campaign_rng
from annotation.campaigns.selectors import pairs_fitting
from annotation.models import Campaign, GoldAnswer, Tuple, TupleItem
from curation.foundation.errors import UserError
from curation.models import Pair, PairScore, ScoreSet, User
from curation.people.access import dataset_require_active
from curation.people.audit import Action

# As shares of the set's scale. An answer that good annotators could miss would stop the wrong people.
SMALLEST_MARGIN = 0.25
TRIES_PER_TUPLE = 50


@dataclass(frozen=True)
class GoldSuggestion:
    """Pairs whose best and worst a score set leaves no doubt about; margin is a share of its scale.

    scores: of the pairs, in the units of the set.
    """

    pairs: list[Pair]
    best: Pair
    worst: Pair
    margin: float
    scores: list[float]

    @property
    def scored(self) -> list[tuple[Pair, float]]:
        return list(zip(self.pairs, self.scores, strict=True))


def gold_suggest(
    *, campaign: Campaign, score_set: ScoreSet, number: int = 10, seed: int = 0
) -> list[GoldSuggestion]:
    """Up to `number` gold tuples from a score set, no pair in two of them and no sentence twice in one.

    Best and worst each lie at least a quarter of the scale away from the other pairs. They come from the source and
    the split that the campaign is about, so that what is held out stays unseen. Nothing is stored.
    """
    fitting = pairs_fitting(campaign.dataset, campaign.pair_filter)
    scores = PairScore.objects.filter(score_set=score_set, pair__in=fitting).order_by("pair")
    rows = list(scores.values_list("pair", "pair__a", "pair__b", "value"))
    pairs = np.array([row[0] for row in rows], dtype=np.int64)
    sentences = np.array([row[1:3] for row in rows], dtype=np.int64).reshape(-1, 2)
    scale = score_set.high - score_set.low
    values = np.array([row[3] for row in rows]) / scale
    rng = campaign_rng(campaign, Stream.GOLD_SUGGESTION, seed)
    clear_tuples = list(islice(_clear_tuples(values, sentences, campaign.tuple_size, rng), number))
    if not clear_tuples:
        raise UserError(
            _(
                "“%(name)s” has no %(size)d pairs of which one is clearly above the others and one clearly below."
            ),
            name=score_set.name,
            size=campaign.tuple_size,
        )
    chosen = Pair.objects.select_related("a", "b").in_bulk(pairs[np.concatenate(clear_tuples)].tolist())
    suggested = [[chosen[pair] for pair in pairs[items].tolist()] for items in clear_tuples]
    return [
        GoldSuggestion(
            members,
            best=members[0],
            worst=members[1],
            margin=_margin(values[items]),
            scores=(values[items] * scale).tolist(),
        )
        for members, items in zip(suggested, clear_tuples, strict=True)
    ]


def _margin(values: FloatArray) -> float:
    """How far best and worst stand from the others, or from each other where there are no others."""
    best, worst, others = values[0], values[1], values[2:]
    return float(min(best - others.max(), others.min() - worst) if len(others) else best - worst)


def _clear_tuples(
    values: FloatArray, sentences: IntArray, size: int, rng: np.random.Generator
) -> Iterator[IntArray]:
    """Best from the top, worst from the bottom, the others from the middle, until too many draws fail."""
    free = rng.permutation(len(values))
    low, high = (values.min(), values.max()) if len(values) else (0.0, 0.0)
    height = (values - low) / ((high - low) or 1.0)  # of every item, 0 the lowest score and 1 the highest
    misses = 0
    while misses < TRIES_PER_TUPLE:
        highest, lowest = free[height[free] >= 0.75], free[height[free] <= 0.25]
        middle = free[np.abs(height[free] - 0.5) <= 0.1]
        if not len(highest) or not len(lowest) or len(middle) < size - 2:
            return
        others = rng.choice(middle, size=size - 2, replace=False)
        drawn = np.concatenate([rng.choice(highest, 1), rng.choice(lowest, 1), others])
        if _margin(values[drawn]) < SMALLEST_MARGIN or len(np.unique(sentences[drawn])) < 2 * size:
            misses += 1
            continue
        misses = 0
        free = free[~np.isin(free, drawn)]
        yield drawn


@transaction.atomic
def gold_add(
    *,
    campaign: Campaign,
    pairs: Sequence[Pair],
    best: Pair,
    worst: Pair,
    why: str = "",
    by: User | None = None,
) -> Tuple:
    """A tuple whose answer is known. Its pairs are shuffled, so that no slot tells the answer."""
    campaign = campaign_lock(campaign)
    campaign_require(campaign, Campaign.State.DRAFT, Campaign.State.OPEN, Campaign.State.PAUSED)

    if best == worst:
        raise UserError(
            _("Best and worst of an attention check are the same pair; choose two different pairs.")
        )
    if not len(set(pairs)) == len(pairs) == campaign.tuple_size:
        sentence = _(
            "An attention check of this campaign needs %(size)d different pairs; %(pairs)d are given."
        )
        raise UserError(sentence, size=campaign.tuple_size, pairs=len(set(pairs)))
    if best not in pairs or worst not in pairs:
        raise UserError(
            _("Best and worst must be among the pairs of the attention check; choose them again.")
        )
    for pair in pairs:
        if pair.dataset_id != campaign.dataset_id:
            sentence = _("Pair %(pair)s is not of this campaign's dataset; choose another.")
            raise UserError(sentence, pair=pair.external_id)

    number = campaign.tuples.filter(is_gold=True).aggregate(Max("number", default=0))["number__max"] + 1
    order = campaign_rng(campaign, Stream.GOLD_SLOTS, number).permutation(len(pairs))
    members = [pairs[index] for index in order]
    gold = Tuple.objects.create(campaign=campaign, is_gold=True, number=number, priority=number, required=0)
    TupleItem.objects.bulk_create(
        TupleItem(tuple=gold, slot=slot, pair=pair) for slot, pair in enumerate(members)
    )
    GoldAnswer.objects.create(
        tuple=gold, best_slot=members.index(best), worst_slot=members.index(worst), why=why.strip()
    )
    campaign_record(campaign, Action.GOLD_ADDED, by=by, tuple=number)
    return gold


@transaction.atomic
def gold_change(*, gold: Tuple, why: str, by: User | None = None) -> GoldAnswer:
    """Change the reason that people read. The answer stays, because people were judged by it."""
    dataset_require_active(gold.campaign.dataset)
    answer = gold.gold_answer
    if answer.why != why.strip():
        answer.why = why.strip()
        answer.save(update_fields=["why"])
        campaign_record(gold.campaign, Action.GOLD_CHANGED, by=by, tuple=gold.number)
    return answer


@transaction.atomic
def gold_remove(*, gold: Tuple, by: User | None = None) -> None:
    """Take away a gold tuple that nobody has seen."""
    campaign = campaign_lock(gold.campaign)
    dataset_require_active(campaign.dataset)
    if gold.leases.exists():
        raise UserError(
            _("Attention check %(number)d has been shown to people already, so it cannot be deleted."),
            number=gold.number,
        )
    gold.delete()
    campaign_record(campaign, Action.GOLD_REMOVED, by=by, tuple=gold.number)
