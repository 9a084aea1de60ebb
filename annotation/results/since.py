"""What changed in campaigns since scores were published from them."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Count, Q
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.models import Judgement
from curation.models import ScoreSet


@dataclass(frozen=True)
class Since:
    """added: judgements that count and came after the scores. gone: those that counted then and do not any more."""

    added: int = 0
    gone: int = 0


def changed_since(score_sets: Iterable[ScoreSet]) -> dict[int, Since]:
    """By the key of each score set that a campaign published. One query for all of them.

    A set that was published before its campaign's judgements were counted with it says nothing of `gone`.
    """
    published = [each for each in score_sets if each.campaign_ref]
    if not published:
        return {}
    counts = {
        name: Count("pk", filter=Q(participation__campaign=each.campaign_ref) & when)
        for each in published
        for name, when in (
            (f"now_{each.pk}", Q()),
            (f"after_{each.pk}", Q(submitted_at__gt=each.created_at)),
        )
    }
    of_campaigns = Judgement.objects.filter(
        status=Judgement.Status.COLLECTED,
        participation__campaign__in={each.campaign_ref for each in published},
    )
    counted = of_campaigns.aggregate(**counts)
    return {
        each.pk: _since(
            counted[f"now_{each.pk}"],
            counted[f"after_{each.pk}"],
            each.parameters.get("judgements_collected"),
        )
        for each in published
    }


def since_said(since: Since) -> list[str]:
    """Phrases, those that apply."""
    added = ngettext("%(n)s judgement came since", "%(n)s judgements came since", since.added)
    gone = ngettext("%(n)s does not count any more", "%(n)s do not count any more", since.gone)
    said = ((added, since.added), (gone, since.gone))
    return [words % {"n": f"{number:,}"} for words, number in said if number]


def early_said(collected: int, required: int) -> str:
    """A sentence for people who publish while judgements are missing; "" when all are there."""
    if collected >= required:
        return ""
    sentence = _(
        "%(collected)s of %(required)s judgements are there. Published scores stay as they are when the others come; "
        "publish again then."
    )
    return sentence % {"collected": f"{collected:,}", "required": f"{required:,}"}


def _since(now: int, after: int, then: int | None) -> Since:
    """now, then: judgements that count, now and when scores were published. after: those of now that came later.

    A judgement that was excluded when scores were published and counts again came earlier, and is added all the same.
    """
    if then is None:
        return Since(added=after)
    added = max(after, now - then)
    return Since(added=added, gone=then + added - now)
