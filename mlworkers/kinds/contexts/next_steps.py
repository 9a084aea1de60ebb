"""The links that the page of a run shows once it succeeded: contexts."""

from collections.abc import Sequence

from django.urls import reverse
from django.utils.translation import gettext as _

from curation.results.reports import Link
from mlworkers.kinds.encoders.next_steps import evaluation_links
from mlworkers.kinds.reader import Reader
from mlworkers.kinds.steps import model_links, pairs_links
from mlworkers.models import Run


def indexed(run: Run, _reader: Reader) -> Sequence[Link]:
    if run.dataset is None:
        return []
    corpora = reverse("mlworkers:running_text", args=[run.dataset.slug])
    return [
        Link(_("Find contexts of a sentence"), reverse("mlworkers:corpus", args=[run.pk]), look="primary"),
        Link(_("See the corpora of the dataset"), corpora),
    ]


def model_trained(run: Run, reader: Reader) -> Sequence[Link | str]:
    return _used_or_trained_again(run, reader, _("Score pairs by contexts"), trained=run.pk)


def discriminative_model_trained(run: Run, reader: Reader) -> Sequence[Link | str]:
    label = _("Score pairs by contexts, with this model as the discriminative one")
    return _used_or_trained_again(run, reader, label, ranks=run.pk)


def _used_or_trained_again(run: Run, reader: Reader, label: str, **model: int) -> Sequence[Link | str]:
    """A model that knows no more than the frequencies of words is trained again.

    model: its run, under the name that the form of scores has for it.
    """
    if run.result.get("informs") is False:
        again = _("Train again with other settings")
        links = reader.form(run.kind, run.dataset, again, look="primary", again=run.pk)
        return [_("Train it for more steps, or on more text, before you use it."), *links]
    corpus = run.plan.get("corpus", 0)
    links = reader.form("score_contexts", run.dataset, label, look="primary", corpus=corpus, **model)
    return [*links, *model_links(run, look="button")]


def sections_learned(run: Run, reader: Reader) -> Sequence[Link]:
    return evaluation_links(run, reader)


def scored(run: Run, _reader: Reader) -> Sequence[Link]:
    label = _("See how the similarities agree with human scores, and why")
    return [Link(label, reverse("mlworkers:context_scores", args=[run.pk]), look="primary")]


def harvested(run: Run, reader: Reader) -> Sequence[Link]:
    label, corpus = _("Score pairs by contexts"), run.plan.get("corpus", 0)
    links = reader.form("score_contexts", run.dataset, label, look="primary", corpus=corpus)
    return [*links, *pairs_links(run, look="button")]
