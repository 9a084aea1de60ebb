"""A comparison of weightings: trains an encoder for each source dataset, weighting and seed, and evaluates them."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _

from curation.files.json_text import json_from
from curation.files.progress import Report
from curation.files.writing import folder_remove, folder_replacing
from curation.models import Snapshot
from curation.pairs.leaks import Leaks
from curation.statistics.correlation import Scores
from mlworkers.models import Evaluation, Run
from mlworkers.pipelines.disclosure import (
    Disclosure,
    dataset_names,
    disclosure,
    suite_names_of,
)
from mlworkers.pipelines.encoder_data import (
    LONGEST_NAME,
    EncoderData,
    agreement_rows,
    benchmark_of_data,
    curve_note,
    encoder_card,
    encoder_store,
    folder_linked,
    furthest_pairs,
    judges_results,
    left_out_figures,
    suite_words,
    training_figures,
    training_rows_of,
)
from mlworkers.pipelines.models import folder_of_model
from mlworkers.pipelines.seen import (
    leaks_refuse,
    seen_by_model,
    seen_in_words,
    seen_upstream,
)
from mlworkers.pipelines.snapshots import dataset_read, snapshot_taken, table_of
from mlworkers.pipelines.suite_tables import BASELINE, RESAMPLED_BY, Results, SuiteTable
from mlworkers.pipelines.suites import (
    ceiling_in,
    ceiling_results,
    evaluation_of,
    seen_before,
    suite_files,
    suites_of_run,
)
from mlworkers.runs.jobs import Job, NewArtifact, Outcome
from mlworkers.runs.storage import home_relative
from mlworkers.science.encoders.arrays import array_read, array_write
from mlworkers.science.encoders.encoding import sentence_vectors
from mlworkers.science.encoders.evaluation import measure_agreement
from mlworkers.science.encoders.plan import (
    BASELINES,
    ComparisonPlan,
    EncoderPlan,
    Source,
    Weighting,
)
from mlworkers.science.encoders.rows import unseen_rows
from mlworkers.science.encoders.saving import seen_by
from mlworkers.science.encoders.static import static_vectors
from mlworkers.science.encoders.suites.evaluating import suite_cosines, suite_unseen
from mlworkers.science.encoders.training import TrainedEncoder, encoder_train, steps_planned
from mlworkers.science.paraphrasing.disclosure import benchmark_behind, benchmarks_joined
from mlworkers.science.pretrained.compute import choose_compute
from mlworkers.science.pretrained.encoder import load_encoder, pooling_set

BASE = "base"
REFERENCE = Weighting.PLAIN
WEIGHT_FIGURES = ("effective_pairs", "mean_weight")
STATIC = "static"
_EVALUATING = 1  # what measuring the base counts for, beside the steps of trainings


def compare_weightings(plan: ComparisonPlan, job: Job) -> Outcome:
    """The base, and an encoder of each weighting and seed, each a shard of the run."""
    comparison = _Comparison(plan, job)
    paths = job.shards.all(
        "encoders", comparison.sizes, comparison.shard, message=_("Training and evaluating encoders")
    )
    return comparison.outcome(paths)


@dataclass(frozen=True)
class _Member:
    """An encoder of a comparison. source: the dataset that it is trained on; "" of those that are not trained.

    model: what it is made from. way: of a row without training, `static`, or the pooling that replaces the model's own.
    """

    label: str
    source: str = ""
    plan: EncoderPlan | None = None
    model: str = ""
    way: str = ""

    @property
    def folder_name(self) -> str:
        """Of its files, where it was trained."""
        return f"{self.label}-{self.plan.seed}" if self.plan else self.label


class _Comparison:
    """What the shards of a comparison share. Cheap to make, and the same in every worker that does a shard of it."""

    def __init__(self, plan: ComparisonPlan, job: Job) -> None:
        self._plan, self._job = plan, job
        self._members = [
            _Member(BASE, model=plan.model),
            *[
                _Member(f"{BASE}, {name}", model=plan.model, way=name)
                if name in BASELINES
                else _Member(name, model=name)
                for name in plan.baseline_names
            ],
        ]
        self._members += [
            _Member(str(weighting), source.dataset, plan.encoder(weighting, seed, source))
            for source in plan.all_sources
            for weighting in plan.chosen
            for seed in plan.all_seeds
        ]
        self._base = folder_of_model(plan.model, kind="encoder", report=job.report)
        self._suites = suites_of_run(job, plan.suite_names)
        snapshot = self._test_snapshot = snapshot_taken(
            job, job.dataset_of(plan.dataset), plan.snapshot, generated_pairs=plan.generated_pairs
        )
        if plan.test_dataset not in ("", plan.dataset):
            self._test_snapshot = self._snapshot_of(plan.test_dataset)
        table = table_of(self._test_snapshot)
        every = table.rows(plan.test_score_set, split=plan.test_split or None)
        self._scale, self._test_judges = table.scale(plan.test_score_set), table.judges(plan.test_score_set)
        # What any of the rows had seen before this run, so that all of them are measured on the same pairs.
        run = Run.objects.select_related("dataset").get(pk=self._job.run_id)
        seen = seen_by(self._base, self._plan.model) | seen_upstream(run)
        for name in self._plan.baseline_names:
            if name not in BASELINES:
                folder = folder_of_model(name, kind="encoder", report=self._job.report)
                seen |= seen_by_model(name, folder)
        self._every_test, self._seen = every, seen
        self._unseen = self._seen.pairs_unseen(every.first.tolist(), every.second.tolist())
        if plan.leaks == Leaks.REFUSE:
            leaks_refuse(
                self._seen,
                every,
                self._test_snapshot,
                tested=plan.test_split,
                dataset=plan.dataset,
                trained=plan.split,
            )
        self._tests, self._tests_left_out = unseen_rows(every, self._seen)
        self._data = {plan.dataset: self._data_of(plan.all_sources[0], snapshot)}
        for source in plan.all_sources[1:]:
            self._data[source.dataset] = self._data_of(source, self._snapshot_of(source.dataset))

    def _snapshot_of(self, slug: str) -> Snapshot:
        dataset = dataset_read(self._job, slug)
        return snapshot_taken(self._job, dataset, 0, generated_pairs=self._plan.generated_pairs)

    def _data_of(self, source: Source, snapshot: Snapshot) -> EncoderData:
        """The same pairs for every weighting: those that all of them can use, without a sentence of any test."""
        plan = self._plan
        training = training_rows_of(
            plan.encoder(plan.chosen[0], plan.first_seed, source),
            snapshot,
            weightings=plan.chosen,
            tests=self._tested_sentences(),
        )
        return EncoderData(snapshot, training, self._base)

    def _tested_sentences(self) -> Iterator[str]:
        yield from self._every_test.sentences
        for _suite, read in self._suites:
            for part in (read.test, *([read.dev] if read.dev else [])):
                yield from (*part.first, *part.second)

    @cached_property
    def sizes(self) -> list[int]:
        """Of each shard, in steps."""
        return [
            _EVALUATING
            if member.plan is None
            else steps_planned(self._data[member.source].training.rows, member.plan)
            for member in self._members
        ]

    def shard(self, number: int, path: Path, report: Report) -> None:
        """Train an encoder and measure it: a folder with the encoder, its cosines and what there is to tell."""
        started = monotonic()
        checkpoints = self._job.kept / "checkpoints" / path.name
        member = self._members[number]
        plan = member.plan
        trained = None if plan is None else self._trained(member, plan, checkpoints, report)

        def still(done: int, total: int, message: str) -> None:
            """Measuring comes after all steps: it counts no further, but can still be stopped."""
            report(self.sizes[number], self.sizes[number], message)

        with folder_replacing(path, once=True) as beside:
            facts = dict[str, Any]()
            if plan is None or trained is None:
                model = folder_of_model(member.model, kind="encoder", report=still)
            else:
                data, model = self._data[member.source], beside / "encoder"
                encoder_store(trained, plan, data, model)
                facts = training_figures(data.training, trained)
            compute = choose_compute(self._plan.device)
            encoder = load_encoder(model, compute)
            if member.way == STATIC:
                vectors = static_vectors(encoder, self._tested_sentences())
            else:
                if member.way:
                    pooling_set(encoder, member.way)
                vectors = sentence_vectors(encoder, self._tested_sentences(), compute, report=still)
            first, second = self._every_test.first.tolist(), self._every_test.second.tolist()
            array_write(beside / "cosines.npy", vectors.cosines(first, second))
            for suite, read in self._suites:
                for part, cosines in zip(("test", "dev"), suite_cosines(suite, read, vectors), strict=True):
                    if cosines is not None:
                        array_write(beside / f"{suite.name}-{part}.npy", cosines)
            facts["seconds"] = round(monotonic() - started, 1)
            (beside / "told.json").write_text(json.dumps(facts), encoding="utf-8")
        folder_remove(checkpoints)

    def _trained(
        self, member: _Member, plan: EncoderPlan, checkpoints: Path, report: Report
    ) -> TrainedEncoder:
        several = f"{member.source}, " if len(self._data) > 1 else ""
        note = curve_note(self._job.curve, series=f"{several}{plan.weighting}, seed {plan.seed}")
        rows = self._data[member.source].training.rows
        return encoder_train(
            self._base, rows, plan, checkpoints=checkpoints, now=monotonic, report=report, note=note
        )

    def outcome(self, paths: Sequence[Path]) -> Outcome:
        plan, first = self._plan, self._plan.dataset
        judges = self._test_judges
        suite = suite_words(
            plan.test_dataset or plan.dataset, plan.test_score_set, plan.test_split, judges=judges
        )
        table = SuiteTable(
            plan,
            self._every_test.values,
            suite,
            self._suites,
            own_unseen=self._unseen if self._seen.known else None,
            unseen={one.name: suite_unseen(read, self._seen) for one, read in self._suites},
        )
        weights: dict[str, dict[str, float]] = {name: {} for name in WEIGHT_FIGURES}  # of each first seed
        made: list[NewArtifact] = []
        evaluations: list[tuple[Evaluation, Path | None]] = []
        cosines: dict[str, list[Scores]] = {}  # on the test, of each seed of a row
        for path, member in zip(paths, self._members, strict=True):
            vector = array_read(path / "cosines.npy")
            by_suite = {
                one.name: (
                    array_read(path / f"{one.name}-test.npy"),
                    _array_perhaps(path / f"{one.name}-dev.npy"),
                )
                for one, _read in self._suites
            }
            folder = None
            if member.plan is not None:
                facts = json_from((path / "told.json").read_text("utf-8"))
                artifact = self._artifact(member, member.plan, path, facts)
                made.append(artifact)
                folder = artifact.path
                if member.source == first:
                    for figure_name, of_label in weights.items():
                        of_label.setdefault(member.label, facts[figure_name])
            model = member.model if folder is None else home_relative(folder)
            seed = None if member.plan is None else member.plan.seed
            about: dict[str, Any] = {"model": model[:LONGEST_NAME], "label": member.label[:40], "seed": seed}
            if member.source in ("", first):
                cosines.setdefault(member.label, []).append(vector[self._unseen])
            if member.source in ("", first) and member.label not in table.added:
                agreement = measure_agreement(
                    vector[self._unseen], self._tests.values, resamples=plan.bootstrap, seed=RESAMPLED_BY
                )
                rows = agreement_rows(agreement, suite=suite, **about)
                evaluations += [(row, folder) for row in rows]
            for figure in table.add(member.label, member.source, vector, by_suite):
                row = evaluation_of(figure, source=member.source or BASELINE, **about)
                evaluations.append((row, folder))
        found = table.results(_between)
        result = self._result(found, weights, cosines)
        words = {"encoders": len(paths), "pairs": intcomma(len(self._tests)), "suites": len(self._suites)}
        sentence = _("%(encoders)s encoders evaluated on %(pairs)s test pairs")
        if self._suites:
            sentence = _(
                "%(encoders)s encoders evaluated on %(pairs)s test pairs and %(suites)s published suites"
            )
        return Outcome(sentence % words, result, made, evaluations)

    def _artifact(
        self, member: _Member, plan: EncoderPlan, path: Path, facts: Mapping[str, Any]
    ) -> NewArtifact:
        """The member's encoder in the run's folder, with its card."""
        name = member.folder_name
        if member.source != self._plan.dataset:
            name = f"{member.source}-{name}"
        folder = self._job.folder / name
        folder_linked(path / "encoder", folder)
        kept = {name: facts[name] for name in ("training_pairs", "seconds", "validation_pairs")}
        several = {"source": member.source} if len(self._data) > 1 else {}
        card = {**encoder_card(plan, self._data[member.source]), **kept, **several}
        return NewArtifact("encoder", folder, card)

    def _result(
        self,
        found: Results,
        weights: Mapping[str, Mapping[str, float]],
        cosines: Mapping[str, list[Scores]],
    ) -> dict[str, Any]:
        """weights: figures of the weights by label. cosines: on the test pairs, of each seed of a label."""
        plan = self._plan
        data = self._data[plan.dataset]
        warnings = [*found.warnings, *self._disclosed.notes]
        for suite, read in self._suites:
            warnings += [f"{suite.label}: {note}" for note in read.notes]
            if seen := seen_before(read, self._seen):
                note = _(
                    "%(suite)s: %(seen)s test pairs hold a sentence that the baseline model was trained on."
                )
                warnings.append(note % {"suite": suite.label, "seen": intcomma(seen)})
        result = {
            **found.main,
            "pairs": len(self._tests),
            "training_pairs": len(data.training.rows),
            "seeds": list(plan.all_seeds),
            **weights,
            "snapshot": data.snapshot.number,
            "test_snapshot": self._test_snapshot.number,
            "test_left_out": self._tests_left_out,
            "training_data": seen_in_words(self._seen),
            **left_out_figures(data.training),
            **judges_results(self._test_judges),
            **ceiling_results(ceiling_in(self._test_snapshot.dataset, plan.test_score_set)),
            "furthest": {
                label: furthest_pairs(self._tests, np.mean(of_seeds, axis=0), self._scale)
                for label, of_seeds in cosines.items()
            },
            "warnings": warnings,
            **self._disclosed.result,
        }
        if found.table:
            result |= {
                "table": found.table,
                "sources": {
                    slug: {"snapshot": one.snapshot.number, "training_pairs": len(one.training.rows)}
                    for slug, one in self._data.items()
                },
                "files": suite_files(self._suites),
            }
        return result

    @cached_property
    def _disclosed(self) -> Disclosure:
        plan = self._plan
        tested = suite_names_of(suite for suite, _read in self._suites)
        own = suite_words(plan.test_dataset or plan.dataset, plan.test_score_set, plan.test_split, judges="")
        tested[own] = dataset_names(self._test_snapshot.dataset)
        # The benchmarks whose labellers chose what any of the rows was trained on.
        trained = [
            benchmark_of_data(
                plan.encoder(plan.chosen[0], plan.first_seed, source), self._data[source.dataset]
            )
            for source in plan.all_sources
        ]
        others = [
            benchmark_behind(folder_of_model(name, kind="encoder", report=self._job.report))
            for name in plan.baseline_names
            if name not in BASELINES
        ]
        return disclosure(benchmarks_joined(*trained, *others), tested)


def _array_perhaps(path: Path) -> Scores | None:
    return array_read(path) if path.is_file() else None


def _between(labels: Iterable[str]) -> list[tuple[str, str]]:
    """Everything from plain, and each weighting from its own shuffle, where they were trained."""
    known = list(labels)
    from_plain = [(label, str(REFERENCE)) for label in known if label != REFERENCE]
    controls = {str(each): str(each.control) for each in Weighting if each.control is not None}
    return from_plain + [(label, controls[label]) for label in known if controls.get(label) in known]
