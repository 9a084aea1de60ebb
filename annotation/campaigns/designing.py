"""From a campaign's settings to the tuples it would ask for: what a draft shows, and what opening writes."""

from math import comb

import numpy as np
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.bws.designs.design import Design, DesignError, design_tuples, tuple_count
from annotation.bws.judgements import IntArray
from annotation.campaigns.seeds import Stream, campaign_rng
from annotation.campaigns.selectors import design_work_of, pairs_fitting
from annotation.campaigns.watching import NOBODY, RequestWatch, TakesLonger, Watch
from annotation.cards import Card
from annotation.models import Campaign
from curation.foundation.errors import UserError, errors_shown
from curation.models import Pair

FEWEST_PAIRS = 4
# Of a campaign's design, tuples x size: designing and writing more takes a worker hours and gigabytes.
MOST_PLACES = 2_000_000
TUPLES_SHOWN = 5
NAMED = 3  # of the pairs that prevent a design


def chosen_pairs(campaign: Campaign) -> tuple[IntArray, IntArray]:
    """The pairs that the campaign is about: ids (m,), and the ids of their sentences (m, 2).

    All active pairs that fit its filter, or a number of them drawn with its seed. Raises UserError where
    fewer fit than that number.
    """
    fitting = pairs_fitting(campaign.dataset, campaign.pair_filter)
    rows = np.array(list(fitting.order_by("pk").values_list("pk", "a", "b")), dtype=np.int64).reshape(-1, 3)
    if (number := campaign.pair_filter.get("number")) is not None:
        rows = pairs_sample(rows, number, campaign_rng(campaign, Stream.SAMPLE))
    return rows[:, 0], rows[:, 1:]


def pairs_sample(rows: IntArray, number: int, rng: np.random.Generator) -> IntArray:
    """`number` of the rows, in their order; UserError where there are fewer."""
    if number > len(rows):
        raise UserError(
            _(
                "%(number)d pairs are asked for, but only %(found)d match the filter. "
                "Ask for fewer, or choose a wider filter."
            ),
            number=number,
            found=len(rows),
        )
    return rows[np.sort(rng.choice(len(rows), size=number, replace=False))]


def design_count(pairs: int, *, size: int, factor: float, fewest: int = FEWEST_PAIRS) -> int:
    """How many tuples the design of so many pairs has. The form's estimate asks this as the design itself does.

    Raises UserError where no design of them can be made, or one that is larger than any campaign's.
    """
    if pairs < max(fewest, size):
        raise UserError(
            _(
                "A campaign needs at least %(fewest)d active pairs, and %(pairs)d would take part. Ask for more, or "
                "add pairs."
            ),
            fewest=max(fewest, size),
            pairs=pairs,
        )
    with errors_shown():
        count = tuple_count(pairs, factor)
    if count < 1:
        raise UserError(
            _("%(pairs)d pairs with %(factor)g tuples per pair make no tuple. Ask for more tuples per pair."),
            pairs=pairs,
            factor=factor,
        )
    if (places := count * size) > MOST_PLACES:
        sentence = _(
            "%(pairs)s pairs with %(factor)g tuples per pair fill %(places)s places, and a campaign has at most "
            "%(most)s; lower the tuples per pair or the number of pairs."
        )
        facts = {"pairs": f"{pairs:,}", "places": f"{places:,}", "most": f"{MOST_PLACES:,}"}
        raise UserError(sentence, **facts, factor=factor)
    if count > (possible := comb(pairs, size)):
        raise UserError(
            _(
                "%(pairs)d pairs make only %(possible)d different tuples of %(size)d, and %(factor)g tuples per pair "
                "are %(count)d. Ask for fewer tuples per pair, or for more pairs."
            ),
            pairs=pairs,
            possible=possible,
            size=size,
            factor=factor,
            count=count,
        )
    return count


def design_places(campaign: Campaign, pairs: int, *, fewest: int = FEWEST_PAIRS) -> int:
    """How many places the design of so many pairs has. Raises UserError where there is no such design."""
    size = campaign.tuple_size
    return design_count(pairs, size=size, factor=campaign.factor, fewest=fewest) * size


def campaign_design(campaign: Campaign, *, watch: Watch = NOBODY) -> tuple[IntArray, Design]:
    """The chosen pairs' ids (m,), and a design of them in which pairs of one tuple share no sentence.

    Where the campaign asks for an even mix, every tuple gets its share of imported and of generated pairs.
    """
    pairs, sentences = chosen_pairs(campaign)
    watch.begins(design_places(campaign, len(pairs)))
    strata = None
    if campaign.pair_filter.get("even_mix"):  # which of the pairs (m,) a machine wrote
        generated = campaign.dataset.pairs.filter(origin=Pair.Origin.GENERATED).values_list("pk", flat=True)
        strata = np.isin(pairs, np.fromiter(generated, dtype=np.int64)).astype(np.int64)
    try:
        design = design_tuples(
            len(pairs),
            size=campaign.tuple_size,
            factor=campaign.factor,
            seed=campaign.seed,
            sentences=sentences,
            strata=strata,
            report=watch.searched,
        )
    except DesignError as error:
        raise UserError(_refusal(campaign, pairs[list(error.items)])) from error
    return pairs, design


def _refusal(campaign: Campaign, pairs: IntArray) -> str:
    """What a person reads where the search found no design. pairs: ids of those that prevent it, perhaps none."""
    if not len(pairs):
        return _(
            "No design was found in which all tuples differ and pairs that share a sentence never meet. Ask for fewer "
            "tuples per pair, or add pairs."
        )
    named = campaign.dataset.pairs.in_bulk(pairs[:NAMED].tolist())
    return ngettext(
        "No design was found, because of the pair %(names)s. Ask for fewer tuples per pair, or leave the pair out.",
        "No design was found: %(number)d pairs share one sentence, and no tuple may hold two of them (%(names)s). Ask "
        "for fewer tuples per pair, or leave some of these pairs out.",
        len(pairs),
    ) % {
        "number": len(pairs),
        "names": ", ".join(
            [*(str(pair.external_id) for pair in named.values()), *(["…"] if len(pairs) > NAMED else [])]
        ),
    }


def first_tuples(pairs: IntArray, design: Design) -> list[list[int]]:
    """The pairs' ids of the tuples that a draft keeps for its preview."""
    first: list[list[int]] = pairs[design.tuples[:TUPLES_SHOWN]].tolist()
    return first


def preview_tuples(campaign: Campaign) -> list[list[Card]]:
    """The first tuples of the design that the campaign would get; nothing is stored.

    Empty where nobody has worked the design out yet and it would take too long to do so now.
    """
    work = design_work_of(campaign)
    first = work.first if work else []
    if not first and work and work.is_long:
        return []
    if not first:
        try:
            first = first_tuples(*campaign_design(campaign, watch=RequestWatch()))
        except TakesLonger:
            return []
    pairs_by_number = campaign.dataset.pairs.select_related("a", "b").in_bulk(
        {pair for pairs in first for pair in pairs}
    )
    return [
        [Card(slot, slot, pairs_by_number[pair]) for slot, pair in enumerate(members)]
        for members in first
        if pairs_by_number.keys() >= set(members)
    ]
