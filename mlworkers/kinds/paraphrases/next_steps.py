"""The links that the page of a run shows once it succeeded: paraphrases."""

from collections.abc import Sequence

from django.urls import reverse
from django.utils.translation import gettext as _

from curation.models import Dataset
from curation.results.reports import Link
from mlworkers.kinds.reader import Reader
from mlworkers.kinds.realism.next_steps import realism_links
from mlworkers.kinds.steps import model_links, pairs_links, used_links
from mlworkers.models import Run


def labelling_links(reader: Reader, dataset: Dataset | None) -> Sequence[Link]:
    return reader.form("label_paraphrases", dataset, _("Label paraphrases"))


def selecting_links(reader: Reader, run: Run) -> Sequence[Link]:
    return reader.form("select_paraphrases", run.dataset, _("Select paraphrases"), written_by=run.pk)


def labelled(run: Run, reader: Reader) -> Sequence[Link]:
    if run.dataset is None:
        return []
    profile = f"{reverse('mlworkers:paraphrases', args=[run.dataset.slug])}?run={run.pk}"
    return [
        Link(_("See how the pairs spread over similarity and BLEU"), profile),
        *reader.form("select_paraphrases", run.dataset, _("Select equally many pairs of every cell")),
    ]


def paraphraser_trained(run: Run, reader: Reader) -> Sequence[Link]:
    links = used_links(run, reader, "write_paraphrases", _("Write paraphrases"), look="primary")
    return [*links, *model_links(run, look="button")]


def tried(_run: Run, _reader: Reader) -> Sequence[Link]:
    return [Link(_("Try another sentence"), reverse("mlworkers:model_list"), look="primary")]


def written(run: Run, reader: Reader) -> Sequence[Link]:
    if run.dataset is None or not run.result.get("score_sets"):
        return []
    profile = f"{reverse('mlworkers:paraphrases', args=[run.dataset.slug])}?run={run.pk}"
    return [
        Link(_("See how the kept ones spread over similarity and BLEU"), profile),
        *pairs_links(run),
        *realism_links(run, reader),
    ]


def translated(run: Run, reader: Reader) -> Sequence[Link]:
    if run.dataset is None:
        return []
    address = reverse("mlworkers:round_trip", args=[run.pk])
    return [
        Link(_("See which candidates each setting gives"), address, look="primary"),
        *pairs_links(run),
        *realism_links(run, reader),
    ]


def labeller_trained(run: Run, reader: Reader) -> Sequence[Link]:
    label = _("Score pairs with this scorer")
    return [
        *used_links(run, reader, "label_paraphrases", label, look="primary"),
        *model_links(run, look="button"),
    ]
