"""What a claim rests on, as pages, commands and files say it."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from django.utils.translation import gettext as _

from annotation.bws.studies.turning import order_turning
from annotation.models import Campaign
from annotation.results.figures import campaign_mark, counted_judgements, scores_now, tie_groups_now


def turning_said(claim: Mapping[str, Any]) -> str:
    """What a claim of `bws.studies.turning` rests on, in one sentence or two."""
    if claim["judgements"]["number"] == 0:
        return _("It does not hold.")
    sentences = [_sentence(claim["judgements"], _("judgements"))]
    if claim["annotators"]:
        sentences.append(_sentence(claim["annotators"], _("annotators")))
    return " ".join([*sentences, _("If a few answers can turn it, collect more before you cite it.")])


def _sentence(found: Mapping[str, Any], what: str) -> str:
    words = {"number": f"{found['number'] or 0:,}", "of": f"{found['of']:,}", "what": what}
    if found["number"] is None and found["least"]:
        return _("No set of the %(of)s %(what)s turns it.") % words
    if found["number"] is None:
        return _("No set of the %(of)s %(what)s was found that turns it.") % words
    if found["least"]:
        return (
            _("Without %(number)s of the %(of)s %(what)s it would not hold, and no fewer are enough.") % words
        )
    return _("Without %(number)s of the %(of)s %(what)s it would not hold; fewer may be enough.") % words


def order_claim(campaign: Campaign, higher: int, lower: int) -> str:
    """What it rests on that the pair at one place of `score_page` scores above the pair at a lower one, from 1."""
    mark = campaign_mark(campaign)
    scores = scores_now(campaign, mark)
    items = tie_groups_now(campaign, mark, scores).order[[higher - 1, lower - 1]]
    asked = counted_judgements(campaign)
    numbers = np.searchsorted(asked.pairs, scores.pairs[items])
    claim = _("Place %(higher)d (score %(above).3f) is above place %(lower)d (%(below).3f).") % {
        "higher": higher,
        "lower": lower,
        "above": scores.values[items[0]],
        "below": scores.values[items[1]],
    }
    return f"{claim} {turning_said(order_turning(asked.judgements, *numbers.tolist()))}"
