"""The links that the page of a run shows once it succeeded: contexts."""

from collections.abc import Sequence

from django.urls import reverse
from django.utils.translation import gettext as _

from curation.results.reports import Link
from mlworkers.kinds.reader import Reader
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
    if run.result.get("informs") is False:
        return _trained_again(run, reader)
    label = _("Score pairs by contexts")
    given = {"corpus": run.plan.get("corpus", 0), "trained": run.pk}
    return reader.form("score_contexts", run.dataset, label, look="primary", **given)


def discriminative_model_trained(run: Run, reader: Reader) -> Sequence[Link | str]:
    if run.result.get("informs") is False:
        return _trained_again(run, reader)
    label = _("Score pairs by contexts, with this model as the discriminative one")
    given = {"corpus": run.plan.get("corpus", 0), "ranks": run.pk}
    return reader.form("score_contexts", run.dataset, label, look="primary", **given)


def _trained_again(run: Run, reader: Reader) -> Sequence[Link | str]:
    """For a model that knows no more than the frequencies of words."""
    label = _("Train again with other settings")
    again = reader.form(run.kind, run.dataset, label, look="primary", again=run.pk)
    return [_("Train it for more steps, or on more text, before you use it."), *again]


def scored(run: Run, _reader: Reader) -> Sequence[Link]:
    label = _("See how the similarities agree with human scores, and why")
    return [Link(label, reverse("mlworkers:context_scores", args=[run.pk]), look="primary")]


def harvested(run: Run, reader: Reader) -> Sequence[Link]:
    corpus = run.plan.get("corpus", 0)
    return reader.form(
        "score_contexts", run.dataset, _("Score pairs by contexts"), look="primary", corpus=corpus
    )
