"""Gold tuples: made by hand, or suggested from scores or from the words that sentences share."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from django.db import transaction
from django.db.models import Max, QuerySet
from django.utils.translation import gettext as _

from annotation.bws.annotators.gold_choice import (
    BY_SCORES,
    BY_WORDS,
    clear_tuples,
    heights_within,
    margin_of,
    pairs_between,
    word_overlaps,
)
from annotation.bws.judgements import FloatArray, IntArray
from annotation.campaigns.rounds import campaign_lock, campaign_record, campaign_require
from annotation.campaigns.seeds import Stream, campaign_rng
from annotation.campaigns.selectors import pairs_fitting
from annotation.models import Campaign, GoldAnswer, Tuple, TupleItem
from curation.foundation.errors import UserError
from curation.models import Pair, PairScore, ScoreSet, User
from curation.pairs.segmenting import segmented_words
from curation.people.access import dataset_require_active
from curation.people.audit import Action

MOST_PAIRS = 5_000  # whose words are compared while somebody waits: about half a second


@dataclass(frozen=True)
class GoldSuggestion:
    """Pairs whose best and worst scores leave no doubt about, or the words that their sentences share.

    margin: a share of the scale. scores: of the pairs, in the units of the set; word overlaps, 0..1, if by_words.
    """

    pairs: list[Pair]
    best: Pair
    worst: Pair
    margin: float
    scores: list[float]
    by_words: bool = False

    @property
    def scored(self) -> list[tuple[Pair, float]]:
        return list(zip(self.pairs, self.scores, strict=True))


@dataclass(frozen=True)
class _Offered:
    """The pairs that checks may be made of. pairs: (n,) numbers. sentences: (n, 2) numbers. values: (n,) 0..1."""

    pairs: IntArray
    sentences: IntArray
    values: FloatArray


def gold_suggest(
    *, campaign: Campaign, score_set: ScoreSet | None = None, number: int = 10, seed: int = 0
) -> list[GoldSuggestion]:
    """Up to `number` gold tuples, no pair in two of them and no sentence twice in one. Nothing is stored.

    From a score set: best and worst each lie at least a quarter of the scale away from the other pairs. Without one,
    from the words: the sentences of the best pair are nearly equal, those of the worst share nothing.
    They come from the source and the split that the campaign is about, so that what is held out stays unseen, and
    from pairs that no gold tuple of the campaign has.
    """
    rng = campaign_rng(campaign, Stream.GOLD_SUGGESTION, seed)
    fitting = _unused(campaign, pairs_fitting(campaign.dataset, campaign.pair_filter))
    if score_set:
        offered, bands, scale = _scored(fitting, score_set), BY_SCORES, score_set.high - score_set.low
        heights = heights_within(offered.values)
    else:
        offered, bands, scale = _worded(fitting, rng), BY_WORDS, 1.0
        heights = offered.values
    drawn = clear_tuples(offered.values, heights, offered.sentences, campaign.tuple_size, rng, bands=bands)
    found = list(islice(drawn, number))
    if not found:
        raise _nothing_clear(campaign, score_set)
    chosen = Pair.objects.select_related("a", "b").in_bulk(offered.pairs[np.concatenate(found)].tolist())
    suggested = [[chosen[pair] for pair in offered.pairs[items].tolist()] for items in found]
    return [
        GoldSuggestion(
            members,
            best=members[0],
            worst=members[1],
            margin=margin_of(offered.values[items]),
            scores=(offered.values[items] * scale).tolist(),
            by_words=score_set is None,
        )
        for members, items in zip(suggested, found, strict=True)
    ]


def _unused(campaign: Campaign, fitting: QuerySet[Pair], needed: Sequence[Pair] = ()) -> QuerySet[Pair]:
    """Those of no gold tuple yet, and those that are `needed`."""
    used = TupleItem.objects.filter(tuple__campaign=campaign, tuple__is_gold=True).exclude(pair__in=needed)
    return fitting.exclude(pk__in=used.values("pair"))


def _nothing_clear(campaign: Campaign, score_set: ScoreSet | None) -> UserError:
    if score_set:
        return UserError(
            _(
                "“%(name)s” has no %(size)d pairs of which one is clearly above the others and one clearly below."
            ),
            name=score_set.name,
            size=campaign.tuple_size,
        )
    return UserError(
        _(
            "By their words, no %(size)d pairs are clear: a check needs one pair of nearly equal sentences and one "
            "that shares nothing. Choose pairs by hand."
        ),
        size=campaign.tuple_size,
    )


def _scored(fitting: QuerySet[Pair], score_set: ScoreSet) -> _Offered:
    scores = PairScore.objects.filter(score_set=score_set, pair__in=fitting).order_by("pair")
    rows = list(scores.values_list("pair", "pair__a", "pair__b", "value"))
    scale = score_set.high - score_set.low
    return _offered(rows, np.array([row[3] for row in rows], dtype=float) / scale)


def _worded(fitting: QuerySet[Pair], rng: np.random.Generator, needed: Sequence[Pair] = ()) -> _Offered:
    """A sample of the pairs where there are many, `needed` among them."""
    numbers = np.array(fitting.order_by("pk").values_list("pk", flat=True), dtype=np.int64)
    if len(numbers) > MOST_PAIRS:
        numbers = np.union1d(rng.choice(numbers, MOST_PAIRS, replace=False), [pair.pk for pair in needed])
    asked = Pair.objects.filter(pk__in=numbers.tolist()).order_by("pk")
    rows = list(asked.values_list("pk", "a", "b", "a__text", "b__text"))
    words = [(frozenset(segmented_words(row[3])), frozenset(segmented_words(row[4]))) for row in rows]
    return _offered(rows, word_overlaps(words))


def _offered(rows: Sequence[Sequence[Any]], values: FloatArray) -> _Offered:
    pairs = np.array([row[0] for row in rows], dtype=np.int64)
    sentences = np.array([row[1:3] for row in rows], dtype=np.int64).reshape(-1, 2)
    return _Offered(pairs, sentences, values)


def gold_fill(*, campaign: Campaign, best: Pair, worst: Pair, between: Sequence[Pair] = ()) -> list[Pair]:
    """The pairs of a gold tuple of which only some are chosen: the missing ones lie between best and worst.

    By a score set that has both, else by word overlap. Raises UserError where too few pairs are left.
    """
    chosen = [best, worst, *between]
    missing = campaign.tuple_size - len(chosen)
    if not missing:
        return chosen
    rng = campaign_rng(campaign, Stream.GOLD_SUGGESTION, best.pk, worst.pk)
    fitting = _unused(campaign, pairs_fitting(campaign.dataset, {}), chosen)
    sets = ScoreSet.objects.offered().filter(dataset=campaign.dataset_id)
    score_set = sets.filter(scores__pair=best).filter(scores__pair=worst).order_by("-pk").first()
    if score_set and score_set.scores.filter(pair__in=chosen).count() == len(chosen):
        offered = _scored(fitting, score_set)
    else:
        offered = _worded(fitting, rng, chosen)
    place = {pair: index for index, pair in enumerate(offered.pairs.tolist())}
    places = [place[pair.pk] for pair in chosen]
    found = pairs_between(offered.values, offered.sentences, places, missing, rng)
    if len(found) < missing:
        raise UserError(
            _(
                "An attention check of this campaign needs %(size)d pairs that share no sentence; add pairs first."
            ),
            size=campaign.tuple_size,
        )
    filled = Pair.objects.in_bulk(offered.pairs[found].tolist())
    return [*chosen, *filled.values()]


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
