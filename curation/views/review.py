"""The review of machine-written sentences. Verdicts answer as a page, and as JSON to the page's script."""

from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl
from uuid import uuid4

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpResponse, JsonResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from curation.forms.review import SHARES, SIZES, QueueForm, ResolveForm, VerdictForm
from curation.foundation.errors import UserError
from curation.models import Dataset, Pair, PairScore, ReviewDecision, ScoreSet
from curation.people.access import AuthedRequest, dataset_for, datasets_curated
from curation.review.disagreements import decisions_disputed, disagreement_resolve, disagreements
from curation.review.queue import SAMPLED, Queue, realism_sets, standing, waiting_by_set
from curation.review.queues import queue_waiting, queue_wider
from curation.review.samples import has_human, sample_score
from curation.review.screen import figures_of, progress_text, screen_json, shown_next, shown_of, words
from curation.review.verdicts import Reason, review_decide, review_undo


@require_GET
def review_list(request: AuthedRequest) -> HttpResponse:
    """The p_D sets with sentences that wait, in the datasets that the person curates."""
    datasets = list(datasets_curated(request.user).filter(archived=False))
    waiting = waiting_by_set(datasets)
    sets = ScoreSet.objects.filter(pk__in=waiting).select_related("dataset")
    rows = [
        (score_set, waiting[score_set.pk])
        for score_set in sets.order_by("dataset__name", "-created_at", "-pk")
    ]
    return render(request, "curation/review/list.html", {"rows": rows})


@never_cache
@require_GET
def review(request: AuthedRequest, slug: str) -> HttpResponse:
    dataset = dataset_for(request.user, slug, may="curate")
    queue = _queue(request, dataset)
    if queue is None:
        return render(request, "curation/review/nothing.html", {"dataset": dataset})
    if not ("share" in request.GET or queue.samples or queue_waiting(queue, reviewer=request.user)):
        queue = _next_wider(request, queue) or queue
    return _page(request, queue)


@never_cache
@require_GET
def review_screen(request: AuthedRequest, slug: str) -> JsonResponse:
    """The sentence on the screen and those fetched ahead, for the script."""
    dataset = dataset_for(request.user, slug, may="curate")
    queue = _queue(request, dataset)
    if queue is None:
        return JsonResponse({"note": _no_scores(dataset)}, status=400)
    return JsonResponse(screen_json(request, queue, at=now()))


@require_POST
def review_decide_view(request: AuthedRequest, slug: str) -> HttpResponse:
    dataset = dataset_for(request.user, slug, may="curate")
    queue = _queue(request, dataset)
    form = VerdictForm(dataset, request.POST, mixed=queue is not None and queue.mixes)
    if queue is None or not form.is_valid():
        return _refused(request, dataset, queue, form, form.first_error())
    if form.opens and not _asks_for_json(request):
        return _page(request, queue, form=form, opened=form.opens)
    try:
        decided = review_decide(by=request.user, at=now(), queue=queue, **form.cleaned_data)
    except UserError as error:
        return _refused(request, dataset, queue, form, str(error))
    if _asks_for_json(request):
        return JsonResponse(screen_json(request, queue, at=now()) | {"decided": decided.pk})
    return redirect(_address(queue))


@require_POST
def review_undo_view(request: AuthedRequest, slug: str, decision_pk: int) -> HttpResponse:
    """Take a decision back: the person's last one, or any of the list."""
    dataset = dataset_for(request.user, slug, may="curate")
    decision = get_object_or_404(ReviewDecision, pk=decision_pk, pair__dataset=dataset)
    queue = _queue(request, dataset)
    try:
        undone = review_undo(decision=decision, by=request.user, at=now())
    except UserError as error:
        if _asks_for_json(request):
            return JsonResponse({"note": str(error)}, status=400)
        messages.warning(request, str(error))
        return redirect(_address(queue) if queue else "curation:review_list")
    if queue and _asks_for_json(request):
        score = _score(queue, undone.pair)
        return JsonResponse(screen_json(request, queue, at=now(), undone=score))
    messages.info(request, _("Undone: the sentence waits again."))
    return redirect(_address(queue) if queue else "curation:review_list")


@never_cache
@require_http_methods(["GET", "POST"])
def review_disagreements(request: AuthedRequest, slug: str) -> HttpResponse:
    """Sentences on which two reviewers gave different verdicts; a POST makes one of the verdicts the valid one."""
    dataset = dataset_for(request.user, slug, may="curate")
    if request.method == "POST":
        form = ResolveForm(dataset, request.POST)
        try:
            disagreement_resolve(by=request.user, at=now(), **form.verdict())
        except UserError as error:
            messages.warning(request, str(error))
        else:
            messages.info(request, _("The adjudication is saved."))
        return redirect("curation:review_disagreements", dataset.slug)
    disputed = decisions_disputed(dataset).count()
    shown = [(uuid4(), each) for each in disagreements(dataset)]
    context = {"dataset": dataset, "disputed": disputed, "shown": shown}
    return render(request, "curation/review/disagreements.html", context)


def _queue(request: AuthedRequest, dataset: Dataset) -> Queue | None:
    """What the address asks to review; None where nothing has a p_D yet."""
    sets = realism_sets(dataset)
    return QueueForm(request.GET, score_sets=sets).queue if sets else None


def _scores(queue: Queue) -> QuerySet[PairScore]:
    return queue.score_set.scores.select_related("pair__a", "pair__b")


def _score(queue: Queue, pair: Pair) -> PairScore | None:
    return sample_score(queue, pair) if queue.samples else _scores(queue).filter(pair=pair).first()


def _address(queue: Queue) -> str:
    return f"{reverse('curation:review', args=[queue.score_set.dataset.slug])}?{queue.address}"


def _asks_for_json(request: AuthedRequest) -> bool:
    return request.headers.get("Accept") == "application/json"


def _no_scores(dataset: Dataset) -> str:
    sentence = _("No sentence of %(dataset)s has a p_D yet. Score its generated pairs first.")
    return sentence % {"dataset": dataset}


def _refused(
    request: AuthedRequest, dataset: Dataset, queue: Queue | None, form: VerdictForm, sentence: str
) -> HttpResponse:
    """The sentence that says why; without JavaScript on the page, with what was chosen kept."""
    if queue is None:
        sentence = _no_scores(dataset)
    if _asks_for_json(request) or queue is None:
        more = screen_json(request, queue, at=now()) if queue else {}
        return JsonResponse(more | {"note": sentence}, status=400)
    return _page(request, queue, form=form, opened=form.data.get("verdict", ""), problem=sentence, status=400)


def _page(
    request: AuthedRequest,
    queue: Queue,
    *,
    form: VerdictForm | None = None,
    opened: str = "",
    problem: str = "",
    status: int = 200,
) -> HttpResponse:
    """opened: reject or edit, whose panel is open. The sentence that a form is about stays on the screen."""
    at = now()
    score = _score_kept(request, queue, form) if form else None
    several = shown_of(queue, [score]) if score else shown_next(request, queue, at=at, count=1)
    shown = several[0] if several else None
    # The next larger share or sample in which something waits for the person.
    wider = None if shown else _next_wider(request, queue)
    larger = None
    if wider is not None:
        label = dict(SIZES)[wider.size] if wider.samples else dict(SHARES)[wider.share]
        larger = {"label": label, "address": wider.address}
    figures = figures_of(request, queue, at=at)
    context: dict[str, Any] = figures | {
        "shown": shown,
        "opened": opened if shown else "",
        "problem": problem,
        "chosen": form.data.getlist("reasons") if form else [],  # type: ignore[attr-defined]
        "note": form.data.get("note", "") if form else "",
        # In the field for an edit: what the curator wrote, else the sentence as it is.
        "text": (form.data.get("text") if form else "") or (shown.pair.b.text if shown else ""),
        "reasons": [(number, *reason) for number, reason in enumerate(Reason.choices, start=1)],
        "progress_text": progress_text(figures),
        "queue_form": QueueForm(QueryDict(queue.address), score_sets=realism_sets(queue.score_set.dataset)),
        "address": queue.address,
        "other_sight": replace(queue, blind=not queue.blind).address,
        "other_people": replace(queue, twice=not queue.twice).address,
        "other_mix": replace(queue, human=not queue.human).address,
        "no_human": queue.mixes and not has_human(queue),
        "of_all": queue.frame in SAMPLED,
        "kept_choices": [
            (name, value) for name, value in parse_qsl(queue.address) if name in ("blind", "human", "twice")
        ],
        "missing": figures["progress"].missing if queue.samples or queue.twice else 0,
        "sentences": figures["progress"].total // queue.verdicts_needed,
        "disputed": decisions_disputed(queue.score_set.dataset).count(),
        "elsewhere": 0 if shown else queue_waiting(queue, reviewer=request.user),
        "wider": larger,
        "words": words(),
    }
    return render(request, "curation/review/review.html", context, status=status)


def _score_kept(request: AuthedRequest, queue: Queue, form: VerdictForm) -> PairScore | None:
    """The sentence that a form is about, where the person may still judge it."""
    pair = form.cleaned_data.get("pair")
    if pair is None:
        return None
    if queue.samples or queue.twice:
        own = ReviewDecision.objects.filter(undone_at=None, reviewer=request.user, pair=pair)
        return None if own.exists() else _score(queue, pair)
    return _scores(queue).exclude(pair__decisions__in=standing()).filter(pair=pair).first()


def _next_wider(request: AuthedRequest, queue: Queue) -> Queue | None:
    return queue_wider(
        queue,
        reviewer=request.user,
        shares=[share for share, _label in SHARES],
        sizes=[size for size, _label in SIZES],
    )
