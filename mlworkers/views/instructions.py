"""The instructions of a dataset's generators: their list, and a page to write the next version of one."""

from collections.abc import Sequence

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from curation.foundation.errors import UserError
from curation.foundation.numbers import number_from
from curation.models import Dataset
from curation.people.access import AuthedRequest
from mlworkers.access import instructions_dataset, instructions_may_write
from mlworkers.forms.instructions import InstructionsForm, LabelForms, texts_of
from mlworkers.kinds.generation.instructions import (
    LabelText,
    example_sentence,
    instructions_latest,
    instructions_save,
    label_texts,
    task_of,
    versions_of,
)
from mlworkers.kinds.generation.next_steps import generating_links
from mlworkers.models import Instructions
from mlworkers.science.synthesis.prompts import TASKS, TaskError, task_checked
from mlworkers.views.reports import reader_of


@require_GET
def instructions_list(request: AuthedRequest, slug: str) -> HttpResponse:
    dataset = instructions_dataset(request.user, slug, may="read")
    context = {
        "dataset": dataset,
        "latest": instructions_latest(dataset),
        "ready_made": TASKS,
        "may_write": instructions_may_write(request.user, dataset),
    }
    return render(request, "mlworkers/instructions/list.html", context)


@require_http_methods(["GET", "POST"])
def instructions_edit(request: AuthedRequest, slug: str, name: str = "") -> HttpResponse:
    """The versions of these instructions with a form for the next one; without a name, a form for new ones."""
    dataset = instructions_dataset(request.user, slug, may="write" if request.method == "POST" else "read")
    rows = versions_of(dataset, name) if name else []
    if name and not rows:
        raise Http404
    shown = _shown(request, [row.instructions for row in rows])
    texts = (
        label_texts(task_checked(shown.specification))
        if shown is not None
        else label_texts(TASKS.get(request.GET.get("like", ""), TASKS["sentences"]))
    )
    form = InstructionsForm(request.POST or None, initial={"name": name}, fixed=bool(name))
    labels = LabelForms(
        request.POST or None,
        initial=[
            {"label": each.label, "instruction": each.instruction, "counters": ", ".join(each.counters)}
            for each in texts
        ],
    )
    prompts: list[tuple[str, str]] = []
    if form.is_valid() and labels.is_valid():
        try:
            if "check" in request.POST:
                # Each label with what the model is given for a sentence of the dataset.
                task = task_of(form.cleaned_data["name"], 1, texts_of(labels))
                source = example_sentence(dataset)
                prompts = [(label, task.prompts(label, source)[0]) for label in task.instructions]
            else:
                return _saved(request, dataset, form, texts_of(labels), new=not name)
        except (UserError, TaskError) as error:
            form.add_error(None, str(error))
    context = {
        "dataset": dataset,
        "name": name,
        "rows": rows,
        "shown": shown,
        "form": form,
        "labels": labels,
        "prompts": prompts,
        "may_write": instructions_may_write(request.user, dataset),
        "generate": generating_links(reader_of(request), dataset, shown),
    }
    return render(request, "mlworkers/instructions/edit.html", context)


def _saved(
    request: AuthedRequest,
    dataset: Dataset,
    form: InstructionsForm,
    texts: Sequence[LabelText],
    *,
    new: bool,
) -> HttpResponse:
    name = form.cleaned_data["name"]
    if new and Instructions.objects.filter(dataset=dataset, name=name).exists():
        sentence = _(
            "There are instructions with the name “%(name)s” already; open them to write their next version."
        )
        raise UserError(sentence, name=name)
    saved = instructions_save(
        dataset=dataset, name=name, texts=texts, note=form.cleaned_data["note"], by=request.user
    )
    messages.success(request, _("Saved %(instructions)s.") % {"instructions": saved})
    return redirect("mlworkers:instructions", dataset.slug, name)


def _shown(request: AuthedRequest, versions: Sequence[Instructions]) -> Instructions | None:
    """The version whose texts the form begins with: the one that was asked for, or the latest."""
    if not versions:
        return None
    if "version" not in request.GET:
        return versions[0]
    number = number_from(request.GET["version"])
    found = next((one for one in versions if one.version == number), None)
    if found is None:
        raise Http404
    return found
