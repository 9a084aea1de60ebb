"""A curator's review screen: as a page, and as the JSON that the page's script reads."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID, uuid4

from django.middleware.csrf import get_token
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext as _

from curation.models import Pair, PairScore
from curation.people.access import AuthedRequest
from curation.review.evidence import Neighbour, human_scores, intended_of, nearest_human
from curation.review.history import last_decision_of, last_decisions, review_pace, review_precision
from curation.review.queue import Queue
from curation.review.queues import queue_progress
from curation.review.verdicts import review_next

LONG_SENTENCE = 150  # characters
_BARS = 40


class Bar(NamedTuple):
    """A bar of the strip, in hundredths of its width and of its height; y counts from the top."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Strip:
    """A p_D among those of people's sentences. `position` in hundredths of the width; `below` is a share, 0..1."""

    p_d: float
    position: float
    below: float | None
    n: int
    bars: Sequence[Bar]

    @property
    def below_percent(self) -> int:
        return round(100 * (self.below or 0))


@dataclass(frozen=True)
class ShownSentence:
    """A sentence to review. strip: None in blind mode. intended: None among human sentences, which have none."""

    pair: Pair
    intended: PairScore | None
    strip: Strip | None
    nearest: Neighbour | None
    client_id: UUID

    @property
    def long(self) -> bool:
        return len(self.pair.b.text) > LONG_SENTENCE


def shown_next(request: AuthedRequest, queue: Queue, *, at: datetime, count: int = 3) -> list[ShownSentence]:
    return shown_of(queue, review_next(queue=queue, reviewer=request.user, at=at, count=count))


def shown_of(queue: Queue, scores: Sequence[PairScore]) -> list[ShownSentence]:
    """The context of each sentence, in a number of queries that does not depend on how many there are."""
    if not scores:
        return []
    intended = {} if queue.mixes else intended_of([score.pair_id for score in scores])
    strips: list[Strip | None] = [None] * len(scores)
    if not queue.blind:
        human = human_scores(queue.score_set)
        together = len(human.counts) // _BARS
        sums = [
            sum(human.counts[start : start + together]) for start in range(0, len(human.counts), together)
        ]
        width, most = 100 / len(sums), max(sums) or 1
        heights = [(bin_number * width, 100 * n / most) for bin_number, n in enumerate(sums) if n]
        bars = [Bar(round(x, 3), round(100 - up, 2), round(width, 3), round(up, 2)) for x, up in heights]
        strips = [
            Strip(p_d, round(100 * human.position(p_d), 2), human.share_below(p_d), human.n, bars)
            for p_d in (score.value for score in scores)
        ]
    # A human sentence that was mixed in is not its own neighbour.
    asked = [(score.pair.b.text, [score.pair.a_id, score.pair.b_id]) for score in scores]
    nearest = nearest_human(queue.score_set.dataset, asked)
    return [
        ShownSentence(score.pair, intended.get(score.pair_id), strip, neighbour, uuid4())
        for score, strip, neighbour in zip(scores, strips, nearest, strict=True)
    ]


def figures_of(request: AuthedRequest, queue: Queue, *, at: datetime) -> dict[str, Any]:
    """The column beside the sentences: progress, pace, figures of the verdicts, and the last of them."""
    dataset = queue.score_set.dataset
    last = last_decision_of(dataset, request.user)
    return {
        "dataset": dataset,
        "queue": queue,
        "address": queue.address,
        "progress": queue_progress(queue),
        "pace": review_pace(dataset, request.user, at=at),
        "precision": review_precision(queue.score_set),
        "decisions": last_decisions(queue, request.user),
        "undo": last.pk if last else "",
    }


def screen_json(
    request: AuthedRequest, queue: Queue, *, at: datetime, undone: PairScore | None = None
) -> dict[str, Any]:
    """The sentences on the screen and after it, drawn, with the figures beside them."""
    items = shown_next(request, queue, at=at)
    figures = figures_of(request, queue, at=at)
    answer = {
        "token": get_token(request),
        "items": [_drawn(request, figures, item) for item in items],
        "figures": render_to_string("curation/review/_figures.html", figures, request),
        "progress": progress_text(figures),
        "decided_of": [figures["progress"].decided, figures["progress"].total],
        "undo": figures["undo"],
        "note": "",
    }
    if undone:
        answer["undone"] = _drawn(request, figures, shown_of(queue, [undone])[0])
    return answer


def _drawn(request: AuthedRequest, context: dict[str, Any], shown: ShownSentence) -> dict[str, Any]:
    html = render_to_string("curation/review/_sentence.html", context | {"shown": shown}, request)
    return {"pair": shown.pair.pk, "html": html}


def progress_text(figures: dict[str, Any]) -> str:
    progress, pace = figures["progress"], figures["pace"]
    parts = [_("%(decided)d of %(total)d decided") % {"decided": progress.decided, "total": progress.total}]
    if pace.per_hour:
        parts.append(_("%(number)d an hour") % {"number": pace.per_hour})
    return " · ".join(parts)


def words() -> dict[str, str]:
    """What the page's script says."""
    return {
        "keep": _("Kept."),
        "reject": _("Rejected."),
        "edit": _("Edited."),
        "undone": _("Undone. The sentence waits for a decision again."),
        "saved": _("saved"),
        "waiting": _("{number} waiting to be sent"),
        "fetching": _("Fetching the next sentence …"),
        "early": _("That came too early: the sentence had just appeared. Nothing was decided; decide again."),
        "reasons_missing": _("Choose at least one reason, then press Enter."),
        "text_missing": _("The new text is empty. Write the sentence as it should be, or reject it."),
        "text_unchanged": _("The text has not changed. Keep the sentence instead."),
        "choose_reasons": _("Why? Choose one or more reasons, then press Enter."),
        "edit_text": _("Change the sentence, then press Enter."),
        "unreachable": _(
            "No connection. Your decisions are stored on this device and will be sent automatically."
        ),
        "failing": _(
            "This site has a problem at the moment. Your decisions are stored on this device and will "
            "be sent automatically."
        ),
        "forbidden": _(
            "You no longer have permission to review this dataset. Unsent decisions stay on this device. "
            "Ask an owner."
        ),
        "logged_out": _(
            "You were logged out. Your decisions are stored on this device and will be sent after you log in."
        ),
        "log_in": _("Log in"),
        "unkept": _("This browser cannot store decisions. Leave the page open until they are sent."),
        "login_address": reverse("login"),
    }
