"""Starting runs: the kinds there are, the form made from a plan, and an old plan once more."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from curation.foundation.errors import UserError
from curation.foundation.numbers import number_asked, number_from
from curation.people.access import AuthedRequest, dataset_for, datasets_may_create, datasets_readable
from mlworkers.access import (
    datasets_offered,
    instructions_dataset,
    kind_for,
    kinds_offered,
    kinds_startable,
    model_for,
    run_for,
    runs_allow,
    start_allow,
)
from mlworkers.forms.plans import PlanForm
from mlworkers.kinds.comparisons.searches import comparison_values, search_of
from mlworkers.models import Instructions
from mlworkers.pipelines.estimating import run_estimate
from mlworkers.plans.kind import GROUPS
from mlworkers.plans.kinds import Kind, plan_from
from mlworkers.runs.models_named import reference_to
from mlworkers.runs.references import model_kind_is_wrong, references_wrong
from mlworkers.runs.selectors import worker_for
from mlworkers.runs.services import run_again as start_again
from mlworkers.runs.services import run_start as start
from mlworkers.runs.suggesting import kinds_suggested
from mlworkers.views.presets import PresetOffered, presets_of


@require_POST
def run_again(request: AuthedRequest, pk: int) -> HttpResponse:
    run = run_for(request.user, pk, may="start")
    again = start_again(run=run, by=request.user, launch=_launch(request))
    return redirect("mlworkers:run_detail", pk=again.pk)


def _launch(request: AuthedRequest) -> UUID | None:
    """What goes with the button, so that sending it twice starts one run."""
    try:
        return UUID(request.POST.get("launch", ""))
    except ValueError:
        return None


@require_GET
def run_kinds(request: AuthedRequest) -> HttpResponse:
    """The kinds that the person may start, in groups; for a dataset (`?dataset=`) first those that fit its state."""
    runs_allow(request.user)
    slug = request.GET.get("dataset", "")
    dataset = dataset_for(request.user, slug, may="read") if slug else None
    kinds = kinds_startable(request.user)
    some_left_out = len(kinds) < len(kinds_offered(request.user))
    grouped = [(label, [kind for kind in kinds if kind.group == group]) for group, label in GROUPS.items()]
    context = {
        "dataset": dataset,
        "groups": [(label, members) for label, members in grouped if members],
        "suggested": kinds_suggested(dataset, kinds) if dataset else [],
        "some_left_out": some_left_out,
        "may_create": some_left_out and datasets_may_create(request.user),
    }
    return render(request, "mlworkers/kinds.html", context)


@require_http_methods(["GET", "POST"])
def run_start(request: AuthedRequest, kind: str) -> HttpResponse:
    """The form made from the plan; where the plan needs a dataset and nobody named one, the choice of one."""
    chosen = kind_for(request.user, kind)
    slug = (request.POST or request.GET).get("dataset", "")
    if chosen.needs_dataset and not slug:
        datasets = datasets_offered(request.user, chosen)
        return render(request, "mlworkers/start_dataset.html", {"kind": chosen, "datasets": datasets})
    dataset = dataset_for(request.user, slug, may=chosen.needs) if chosen.needs_dataset else None
    start_allow(request.user, chosen, dataset)
    datasets = datasets_readable(request.user)
    presets = presets_of(chosen, dataset, datasets) if request.method == "GET" else []
    initial = _preset_chosen(request, presets) or _plan_before(request, chosen)
    form = PlanForm(request.POST or None, kind=chosen, dataset=dataset, datasets=datasets, initial=initial)
    if "add_row" in request.POST:  # a page without scripts asks for it
        initial = form.filled_in(row_for=request.POST["add_row"])
        form = PlanForm(kind=chosen, dataset=dataset, datasets=datasets, initial=initial)
    estimate = None
    if form.is_valid() and chosen.estimated and dataset is not None and "estimate" in request.POST:
        estimate = run_estimate(chosen, plan_from(chosen, form.plan()), dataset)
    elif form.is_valid():
        plan, launch = form.plan(), form.cleaned_data["launch"]
        try:
            previewed = chosen.preview if "preview" in request.POST else ""
            run = start(
                kind=previewed or chosen.name, plan=plan, by=request.user, dataset=dataset, launch=launch
            )
        except UserError as error:
            problems = references_wrong(chosen, asdict(plan_from(chosen, plan)), dataset)
            form.add_problems(problems or {"": str(error)})
        else:
            return redirect("mlworkers:run_detail", pk=run.pk)
    context = {
        "kind": chosen,
        "dataset": dataset,
        "form": form,
        "presets": presets,
        "estimate": estimate,
        **worker_for(chosen.queue),
    }
    return render(request, "mlworkers/start.html", context)


def _preset_chosen(request: AuthedRequest, presets: Sequence[PresetOffered]) -> dict[str, Any]:
    """The settings of the preset that the address names; nothing where it names none."""
    if "preset" not in request.GET:
        return {}
    for one in presets:
        if one.preset.name == request.GET["preset"]:
            return dict(one.preset.values)
    raise Http404


def _plan_before(request: AuthedRequest, kind: Kind) -> dict[str, Any]:
    """The plan of the run that is to be started again with changes, without models of a wrong kind; the settings that a
    search chose; the things whose page the person comes from; or the instructions that were chosen.
    """
    if "search" in request.GET:
        number = number_from(request.GET["search"])
        run = run_for(request.user, number, may="read") if number is not None else None
        if run is None or search_of(run) is None:
            raise Http404
        return comparison_values(run)
    if named := _things_named(request):
        return named
    if "again" not in request.GET:
        return _instructions_chosen(request)
    number = number_from(request.GET["again"])
    if number is None:
        raise Http404
    before = run_for(request.user, number, may="read")
    settings = {setting.name: setting for setting in kind.settings}
    return {
        name: value
        for name, value in before.plan.items()
        if name not in settings or not model_kind_is_wrong(settings[name], str(value))
    }


def _things_named(request: AuthedRequest) -> dict[str, Any]:
    """The score set, model, run, snapshot, selection, block of tuples, or corpus with a model for contexts."""
    if "scores" in request.GET:
        return {"scores": request.GET["scores"]}
    if "model" in request.GET:
        return {"model": reference_to(model_for(request.user, number_asked(request, "model", 0)))}
    for name in ("snapshot", "selection", "block", "run"):
        if name in request.GET:
            return {name: number_asked(request, name, 0)}
    if "corpus" in request.GET:
        values: dict[str, Any] = {"corpus": number_asked(request, "corpus", 0)}
        named = {"trained": "model", "ranks": "discriminator"}
        runs = {name: number_from(request.GET.get(asked, "")) for asked, name in named.items()}
        return values | {name: f"run:{number}" for name, number in runs.items() if number}
    return {}


def _instructions_chosen(request: AuthedRequest) -> dict[str, Any]:
    number = number_from(request.GET.get("instructions", ""))
    chosen = Instructions.objects.select_related("dataset").filter(pk=number).first() if number else None
    if chosen is None:
        return {}
    instructions_dataset(request.user, chosen.dataset.slug, may="read")
    return {"task": chosen.text, "labels": ",".join(chosen.specification["labels"])}
