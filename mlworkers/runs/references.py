"""What a plan names must be there, and be the dataset's own: checked before the run is queued."""

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils.text import get_text_list
from django.utils.translation import gettext as _

from curation.datasets.inclusion import snapshot_inclusion
from curation.foundation.errors import UserError, errors_shown
from curation.models import Dataset
from curation.people.access import dataset_require_active
from mlworkers.models import Artifact, Run
from mlworkers.plans.fields import SettingError, SettingName
from mlworkers.plans.kinds import MODEL_KINDS, Kind, sentence_for_page
from mlworkers.plans.settings import Setting, listed
from mlworkers.runs.models_named import models_of_run, reference_of
from mlworkers.science.encoders.plan import BASELINES, TRAINED_ON, names_listed, sources_listed
from mlworkers.science.encoders.scorers_plan import models_of_scorers
from mlworkers.science.encoders.suites.catalogue import suite_named
from mlworkers.science.pretrained.sources import (
    PACKAGES,
    SCORERS,
    ModelError,
    ModelSource,
    causal_problem,
    check_roots,
    local_folder,
    parse_source,
    unavailable,
    unavailable_generator,
)
from mlworkers.science.pretrained.sources import Kind as SourceKind


def references_check(kind: Kind, values: Mapping[str, Any], dataset: Dataset | None) -> None:
    """Raises UserError, or SettingError where the sentence calls a setting by its name, about the first name that leads
    nowhere. An empty one names nothing. Models of runs are locked until the transaction ends, so that nobody removes
    their files before the new run's row is there (`runs.removing`).
    """
    for setting in kind.settings:
        _check(setting, values, dataset)
    if dataset is not None and values.get("snapshot") and "generated_pairs" in values:
        # A run that says “human only” must not read a snapshot that was made otherwise, nor the reverse.
        number, given = values["snapshot"], values["generated_pairs"]
        made_with = snapshot_inclusion(dataset.snapshots.get(number=number))
        if given != made_with:
            sentence = _(
                "Snapshot %(number)s was made with “%(made)s”, but “%(setting)s” is “%(given)s”; choose “%(made)s”, or "
                "0 for a new snapshot."
            )
            words = {"number": number, "made": made_with.value, "given": str(given)}
            raise SettingError(sentence, setting=SettingName("generated_pairs"), **words)


@transaction.atomic
def references_wrong(kind: Kind, values: Mapping[str, Any], dataset: Dataset | None) -> dict[str, str]:
    """Every setting that names what is not there, with its sentence, for a form that says all at once."""
    found = {}
    for setting in kind.settings:
        try:
            _check(setting, values, dataset)
        except (UserError, SettingError) as error:
            found[setting.name] = sentence_for_page(kind, error)
    return found


def _check(setting: Setting, values: Mapping[str, Any], dataset: Dataset | None) -> None:
    value = values[setting.name]
    if setting.refers_to == "snapshot" and not value and dataset is not None:
        dataset_require_active(dataset)  # a new snapshot would be added to it
    if value in (None, "", 0):
        return
    if setting.refers_to == "model":
        _check_model(setting, str(value))
    elif setting.refers_to == "dataset":
        dataset_named(value, dataset)
    elif setting.refers_to in _CHECKS_OF_LISTS:
        _CHECKS_OF_LISTS[setting.refers_to](str(value))
    elif setting.refers_to in _CHECKS:
        _CHECKS[setting.refers_to](setting, value, _dataset_of(setting, values, dataset))


def _check_model(setting: Setting, name: str) -> None:
    with errors_shown(ModelError), _right_ways(setting):
        source = parse_source(name)
        if source.kind is SourceKind.ENDPOINT and not setting.endpoint and "generator" not in setting.kinds:
            problem = _("%(model)s is behind an endpoint, which writes sentences and encodes none")
            raise unavailable(problem % {"model": name}, source.kind)
        if problem := _kind_problem(setting, source):
            raise unavailable(problem, source.kind)
        if source.kind is SourceKind.RUN:
            _lock(model_of_run(int(source.name), source.part, kinds=setting.kinds or MODEL_KINDS))


@contextmanager
def _right_ways(setting: Setting) -> Iterator[None]:
    """An error about a model that writes names no encoder instead."""
    try:
        yield
    except ModelError as error:
        if "generator" not in setting.kinds:
            raise
        raise unavailable_generator(error) from error


def _kind_problem(setting: Setting, source: ModelSource) -> str:
    """What is wrong with the kind of a packaged model, or of one in a folder that people may name; nothing if that is
    right, or only the worker can tell.
    """
    if source.kind is SourceKind.PACKAGED:
        kind = PACKAGES[source.name].kind
        if not setting.kinds or kind in setting.kinds:
            return ""
        words = {"model": f"packaged:{source.name}", "kinds": get_text_list(list(setting.kinds), _("or"))}
        if kind == "generator":
            return _("%(model)s is a language model, and this takes a model of the kind %(kinds)s") % words
        return _("%(model)s is a sentence encoder, and this takes a model of the kind %(kinds)s") % words
    folder = local_folder(source)
    if folder is None or set(setting.kinds) != {"generator"}:
        return ""
    with suppress(
        OSError, ValueError
    ):  # outside the roots nothing is said, and of damaged files by the worker
        check_roots(folder, settings.MODEL_ROOTS)
        return causal_problem(folder).partition(";")[0]
    return ""


def model_kind_is_wrong(setting: Setting, name: str) -> bool:
    """Whether the name of a model is surely one of another kind than the setting takes: a form proposes it no more."""
    try:
        return setting.refers_to == "model" and bool(_kind_problem(setting, parse_source(name)))
    except ModelError:
        return True


def _lock(model: Artifact) -> None:
    if Artifact.objects.select_for_update(no_key=True).get(pk=model.pk).removed_at is not None:
        raise files_missing(model)


def files_missing(model: Artifact) -> ModelError:
    """Somebody removed the files of the model to free the disk, or they were lost."""
    words = {"kind": model.kind, "name": model.name, "run": model.run_id}
    sentence = _(
        "The files of the %(kind)s “%(name)s” of run %(run)s are missing; start the run again to create them"
    )
    return unavailable(sentence % words, SourceKind.RUN)


def _suites_check(names: str) -> None:
    """The suites that a plan names are known and have a folder; what is in it, the worker reads."""
    with errors_shown():
        suites = [suite_named(name) for name in names_listed(names)]
    for suite in suites:
        if not (settings.SUITES_FOLDER / suite.name).is_dir():
            sentence = _(
                "There are no files of %(suite)s; ask the administrator of the site to put %(files)s into %(folder)s."
            )
            raise UserError(
                sentence, suite=suite.label, files=suite.looks_for, folder=f"SUITES_FOLDER/{suite.name}"
            )


def _sources_check(text: str) -> None:
    """The further datasets of a comparison have the score sets that it names."""
    for row, source in enumerate(sources_listed(text), start=1):
        named = (
            (source.scores, TRAINED_ON),
            (source.realism, ("realism",)),
            (source.consistency, ("consistency",)),
        )
        try:
            dataset = dataset_named(source.dataset)
        except UserError as error:
            raise UserError(_("Row %(row)d: %(problem)s"), row=row, problem=str(error)) from error
        for name, kinds in named:
            found = dataset.score_sets.filter(name=name, kind__in=kinds).exists()
            if name and not found:
                sentence = _(
                    "Row %(row)d: the dataset “%(dataset)s” has no score set “%(name)s” of the kind %(kinds)s."
                )
                raise UserError(sentence, row=row, dataset=dataset.slug, name=name, kinds=listed(kinds))


def _baselines_check(text: str) -> None:
    """Baseline rows are made from the base model, or are encoders that are registered here or packaged."""
    for name in names_listed(text):
        if name in BASELINES:
            continue
        with errors_shown(ModelError):
            source = parse_source(name)
            if source.kind is SourceKind.RUN:
                _lock(model_of_run(int(source.name), source.part, kinds=("encoder",)))
        if source.kind not in (SourceKind.RUN, SourceKind.PACKAGED):
            sentence = _("“%(name)s” is not a baseline row; give %(known)s, run:ID or packaged:NAME.")
            raise UserError(sentence, name=name, known=listed(BASELINES))


def _scorers_check(text: str) -> None:
    """The models that scorers are made of are packaged, or registered here."""
    for name in models_of_scorers(text):
        with errors_shown(ModelError):
            source = parse_source(name)
            if source.kind is SourceKind.RUN:
                _lock(model_of_run(int(source.name), source.part, kinds=SCORERS))


def dataset_named(slug: str, given: Dataset | None = None) -> Dataset:
    """The dataset of that short name; `given` where it is that one."""
    if given is not None and given.slug == slug:
        return given
    named = Dataset.objects.filter(slug=slug).first()
    if named is None:
        raise UserError(_("There is no dataset called “%(slug)s”; check its short name."), slug=slug)
    return named


def _dataset_of(setting: Setting, values: Mapping[str, Any], dataset: Dataset | None) -> Dataset:
    """The dataset in which the named thing must stand: the run's, or that of the setting that `within` names."""
    slug = values.get(setting.within, "") if setting.within else ""
    if slug:
        return dataset_named(slug, dataset)
    if dataset is None:
        sentence = _("“%(setting)s” refers to part of a dataset, but the run has no dataset.")
        raise SettingError(sentence, setting=SettingName(setting.name))
    return dataset


def _check_batch(setting: Setting, number: int, dataset: Dataset) -> None:
    if not dataset.imports.filter(pk=number).exists():
        sentence = _("The dataset “%(dataset)s” has no uploaded file number %(number)s; upload it first.")
        raise UserError(sentence, dataset=dataset.slug, number=number)
    busy = Run.objects.filter(
        dataset=dataset, plan__batch=number, state__in=[Run.State.QUEUED, Run.State.RUNNING]
    ).first()
    if busy:
        sentence = _("Run %(run)s already imports this file. Wait for it or cancel it.")
        raise UserError(sentence, run=busy.pk)


def _check_score_set(setting: Setting, name: str, dataset: Dataset) -> None:
    score_set = dataset.score_sets.filter(name=name).first()
    words = {"dataset": dataset.slug, "name": name}
    if score_set is None:
        sentence = _("The dataset “%(dataset)s” has no score set “%(name)s”; choose one that it has.")
        raise UserError(sentence, **words)
    if setting.kinds and score_set.kind not in setting.kinds:
        sentence = _("The score set “%(name)s” is of the kind %(kind)s; “%(setting)s” takes %(kinds)s.")
        about = {"setting": SettingName(setting.name), "kind": score_set.kind, "kinds": listed(setting.kinds)}
        raise SettingError(sentence, **words, **about)


def _check_snapshot(setting: Setting, number: int, dataset: Dataset) -> None:
    if not dataset.snapshots.filter(number=number).exists():
        sentence = _(
            "The dataset “%(dataset)s” has no snapshot %(number)s; choose one that it has, or 0 for a new one."
        )
        raise UserError(sentence, dataset=dataset.slug, number=number)


def _check_block(_setting: Setting, number: int, dataset: Dataset) -> None:
    if not dataset.tuple_blocks.filter(pk=number).exists():
        sentence = _(
            "The dataset “%(dataset)s” has no block of tuples %(number)s; sample one on a campaign's page "
            "“Model annotators”."
        )
        raise UserError(sentence, dataset=dataset.slug, number=number)


def _check_run(setting: Setting, number: int, dataset: Dataset) -> None:
    run = Run.objects.filter(pk=number, dataset=dataset).first()
    words = {"dataset": dataset.slug, "number": number}
    if run is None:
        sentence = _("The dataset “%(dataset)s” has no run %(number)s; choose one of its runs.")
        raise UserError(sentence, **words)
    if setting.kinds and run.kind not in setting.kinds:
        sentence = _("Run %(number)s is of the kind %(kind)s; give one of %(kinds)s.")
        raise UserError(sentence, **words, kind=run.kind, kinds=listed(setting.kinds))
    if run.state != Run.State.SUCCEEDED:
        sentence = _("Run %(number)s is %(state)s; give one that succeeded.")
        raise UserError(sentence, **words, state=run.get_state_display())


def model_of_run(run_id: int, part: str, *, kinds: Collection[str]) -> Artifact:
    """A run's model of those kinds, or the one named `part`. Raises ModelError for none, or several."""
    made = list(models_of_run(run_id, part, kinds=kinds))
    words = {"run": run_id, "kinds": get_text_list(list(kinds), _("or")), "part": part, "number": len(made)}
    if not made and part:
        raise unavailable(_("Run %(run)s made no %(kinds)s called “%(part)s”") % words, SourceKind.RUN)
    if not made:
        raise unavailable(_("Run %(run)s made no %(kinds)s, or there is no such run") % words, SourceKind.RUN)
    if len(made) > 1:
        words["one"] = reference_of(made[0], alone=False)
        sentence = _("Run %(run)s made %(number)s models; name one of them, such as %(one)s")
        raise unavailable(sentence % words, SourceKind.RUN)
    return made[0]


_CHECKS_OF_LISTS: dict[str, Callable[[str], None]] = {
    "suites": _suites_check,
    "sources": _sources_check,
    "baselines": _baselines_check,
    "scorers": _scorers_check,
}
_CHECKS: dict[str, Callable[[Setting, Any, Dataset], None]] = {
    "batch": _check_batch,
    "score set": _check_score_set,
    "snapshot": _check_snapshot,
    "run": _check_run,
    "block": _check_block,
}


def models_check_roots(kind: Kind, values: Mapping[str, Any]) -> None:
    """Raise ModelError where a plan names a folder outside MODEL_ROOTS. Asked when a person's run is started, and
    again by its worker, on whose disk links may lead elsewhere.
    """
    named = [str(values[setting.name]) for setting in kind.settings if setting.refers_to == "model"]
    for folder in (local_folder(parse_source(name)) for name in named if name):
        if folder is not None:
            check_roots(folder, settings.MODEL_ROOTS)
    for setting in kind.settings:
        name = str(values[setting.name])
        if setting.refers_to in ("pipeline", "word vectors") and "/" in name:
            check_roots(Path(os.path.expanduser(name)), settings.MODEL_ROOTS)
