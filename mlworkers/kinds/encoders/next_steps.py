"""The links that the page of a run shows once it succeeded: encoders."""

from collections.abc import Sequence

from django.urls import reverse
from django.utils.translation import gettext as _

from curation.results.reports import Link
from mlworkers.kinds.comparisons.next_steps import weightings_links
from mlworkers.kinds.reader import Reader
from mlworkers.kinds.steps import model_links, pairs_links, used_links
from mlworkers.models import Run


def initialised(run: Run, reader: Reader) -> Sequence[Link]:
    label = _("Train it")
    return [
        *used_links(run, reader, "train_encoder", label, look="primary"),
        *model_links(run, look="button"),
    ]


def trained(run: Run, reader: Reader) -> Sequence[Link]:
    return [
        *evaluation_links(run, reader),
        *used_links(run, reader, "score_pairs", _("Score pairs with it")),
    ]


def evaluation_links(run: Run, reader: Reader) -> list[Link]:
    """What follows an encoder that the run trained: its evaluation, and its page."""
    evaluate = used_links(run, reader, "evaluate_encoder", _("Evaluate the encoder"), look="primary")
    return [*evaluate, *model_links(run, look="button")]


def evaluated(run: Run, reader: Reader) -> Sequence[Link]:
    weightings = _("Compare weightings of the training pairs")
    return [
        Link(_("See it among all models"), reverse("mlworkers:model_list"), look="primary"),
        *weightings_links(run, reader, weightings),
    ]


def scorers_compared(run: Run, reader: Reader) -> Sequence[Link]:
    label = _("Score pairs by the best of them")
    return [*reader.form("score_pairs", run.dataset, label, look="primary"), *pairs_links(run)]


def speed_measured(_run: Run, _reader: Reader) -> Sequence[Link]:
    return [Link(_("See the models"), reverse("mlworkers:model_list"), look="primary")]


def indexed(run: Run, _reader: Reader) -> Sequence[Link]:
    if run.dataset is None:
        return []
    address = reverse("mlworkers:sentence_search", args=[run.dataset.slug])
    return [Link(_("Search the sentences"), address, look="primary")]


def searched(run: Run, _reader: Reader) -> Sequence[Link]:
    address = reverse("mlworkers:sentences_searched", args=[run.pk])
    return [Link(_("See the sentences, and search again"), address, look="primary")]


def related(_run: Run, _reader: Reader) -> Sequence[Link]:
    return [Link(_("Try other sentences"), reverse("mlworkers:model_list"), look="primary")]


def composed(run: Run, reader: Reader) -> Sequence[Link]:
    undo = _("Undo, or sample other pairs")
    return [*pairs_links(run, look="primary"), *reader.work("curation:compose", run.dataset, undo)]


def pairs_scored(run: Run, _reader: Reader) -> Sequence[Link]:
    scores = run.dataset.score_sets.filter(run_ref=run.pk).first() if run.dataset else None
    if run.dataset is None or scores is None:
        return pairs_links(run)
    address = reverse("curation:score_sets_compared", args=[run.dataset.slug])
    return [Link(_("Compare these scores with others, pair by pair"), f"{address}?second={scores.pk}")]
