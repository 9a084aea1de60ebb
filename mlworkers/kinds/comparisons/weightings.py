"""A comparison of weightings: trains an encoder for each source dataset, weighting and seed, and evaluates them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _

from curation.files.progress import Report
from curation.models import Snapshot
from curation.pairs.leaks import Leaks
from curation.statistics.correlation import Scores
from mlworkers.kinds.comparisons.measured_table import BASELINE, Results, SuiteTable
from mlworkers.models import Evaluation
from mlworkers.pipelines.disclosure import Disclosure
from mlworkers.pipelines.encoder_data import (
    LONGEST_NAME,
    EncoderData,
    agreement_rows,
    benchmark_of_data,
    curve_note,
    encoder_card,
    encoder_store,
    folder_linked,
    judges_results,
    left_out_figures,
    training_figures,
    training_rows_of,
)
from mlworkers.pipelines.experiment import (
    COSINES,
    ENCODER,
    NO_TRAINING,
    RESAMPLED_BY,
    Stage,
    Tests,
    told_of,
)
from mlworkers.pipelines.models import folder_of_model
from mlworkers.pipelines.seen import seen_behind, seen_by_model
from mlworkers.pipelines.snapshots import dataset_read, snapshot_of_plan, snapshot_taken
from mlworkers.pipelines.suites import ceiling_in, ceiling_results, evaluation_of, suite_files, suites_of_run
from mlworkers.runs.jobs import Job, NewArtifact, Outcome
from mlworkers.runs.storage import home_relative
from mlworkers.science.encoders.arrays import array_read
from mlworkers.science.encoders.encoding import sentence_vectors
from mlworkers.science.encoders.evaluation import measure_agreement
from mlworkers.science.encoders.plan import BASELINES, ComparisonPlan, EncoderPlan, Source, Weighting
from mlworkers.science.encoders.saving import seen_by
from mlworkers.science.encoders.static import static_vectors
from mlworkers.science.encoders.suites.evaluating import suite_unseen
from mlworkers.science.encoders.training import TrainedEncoder, encoder_train, steps_planned
from mlworkers.science.paraphrasing.disclosure import benchmark_behind, benchmarks_joined
from mlworkers.science.pretrained.compute import choose_compute
from mlworkers.science.pretrained.encoder import load_encoder, pooling_set

BASE = "base"
REFERENCE = Weighting.PLAIN
WEIGHT_FIGURES = ("effective_pairs", "mean_weight")
STATIC = "static"


def compare_weightings(plan: ComparisonPlan, job: Job) -> Outcome:
    """The base, and an encoder of each weighting and seed, each a shard of the run."""
    comparison = _Comparison(plan, job)
    stage = Stage("encoders", comparison.members, comparison.sizes, comparison.train, comparison.store)
    return comparison.outcome(stage.carry_out(job, _("Training and evaluating encoders")))


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
        self.members = [
            _Member(BASE, model=plan.model),
            *[
                _Member(f"{BASE}, {name}", model=plan.model, way=name)
                if name in BASELINES
                else _Member(name, model=name)
                for name in plan.baseline_names
            ],
        ]
        self.members += [
            _Member(str(weighting), source.dataset, plan.encoder(weighting, seed, source))
            for source in plan.all_sources
            for weighting in plan.chosen
            for seed in plan.all_seeds
        ]
        self._base = folder_of_model(plan.model, kind="encoder", report=job.report)
        suites = suites_of_run(job, plan.suite_names)
        snapshot = tested = snapshot_of_plan(plan, job)
        if plan.test_dataset not in ("", plan.dataset):
            tested = self._snapshot_of(plan.test_dataset)
        # What any of the rows had seen before this run, so that all of them are measured on the same pairs.
        seen = seen_by(self._base, plan.model) | seen_behind(job)
        for name in plan.baseline_names:
            if name not in BASELINES:
                folder = folder_of_model(name, kind="encoder", report=job.report)
                seen |= seen_by_model(name, folder)
        self._tests = Tests(tested, plan.test_score_set, plan.test_split, seen, suites)
        if plan.leaks == Leaks.REFUSE:
            self._tests.leaks_refuse(dataset=plan.dataset, trained=plan.split)
        self._human = self._tests.rows.values  # which says at once where too few are unseen
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
            tests=self._tests.sentences(self._tests.every),
        )
        return EncoderData(snapshot, training, self._base)

    @property
    def sizes(self) -> list[int]:
        """Of each shard, in steps."""
        return [
            NO_TRAINING
            if member.plan is None
            else steps_planned(self._data[member.source].training.rows, member.plan)
            for member in self.members
        ]

    def train(self, member: _Member, checkpoints: Path, report: Report) -> TrainedEncoder | None:
        """None for an encoder that is evaluated as it is."""
        if member.plan is None:
            return None
        several = f"{member.source}, " if len(self._data) > 1 else ""
        note = curve_note(
            self._job.curve, series=f"{several}{member.plan.weighting}, seed {member.plan.seed}"
        )
        rows = self._data[member.source].training.rows
        return encoder_train(
            self._base, rows, member.plan, checkpoints=checkpoints, now=monotonic, report=report, note=note
        )

    def store(
        self, member: _Member, trained: TrainedEncoder | None, folder: Path, report: Report
    ) -> dict[str, Any]:
        """The encoder, if it was trained, and its cosines of the tests."""
        told = dict[str, Any]()
        if member.plan is None or trained is None:
            model = folder_of_model(member.model, kind="encoder", report=report)
        else:
            data, model = self._data[member.source], folder / ENCODER
            encoder_store(trained, member.plan, data, model)
            told = training_figures(data.training, trained)
        compute, tests = choose_compute(self._plan.device), self._tests
        encoder = load_encoder(model, compute)
        if member.way == STATIC:
            vectors = static_vectors(encoder, tests.sentences(tests.every))
        else:
            if member.way:
                pooling_set(encoder, member.way)
            vectors = sentence_vectors(encoder, tests.sentences(tests.every), compute, report=report)
        tests.cosines_store(vectors, tests.every, folder)
        return told

    def outcome(self, paths: Sequence[Path]) -> Outcome:
        plan, first, tests = self._plan, self._plan.dataset, self._tests
        table = SuiteTable(
            plan,
            tests.every.values,
            tests.name,
            tests.suites,
            own_unseen=tests.unseen if tests.seen.known else None,
            unseen={one.name: suite_unseen(read, tests.seen) for one, read in tests.suites},
        )
        weights: dict[str, dict[str, float]] = {name: {} for name in WEIGHT_FIGURES}  # of each first seed
        made: list[NewArtifact] = []
        evaluations: list[tuple[Evaluation, Path | None]] = []
        cosines: dict[str, list[Scores]] = {}  # on the test, of each seed of a row
        for path, member in zip(paths, self.members, strict=True):
            vector = array_read(path / COSINES)
            by_suite = {one.name: tests.suite_cosines(path, one) for one, _read in tests.suites}
            folder = None
            if member.plan is not None:
                facts = told_of(path)
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
                cosines.setdefault(member.label, []).append(vector[tests.unseen])
            if member.source in ("", first) and member.label not in table.added:
                agreement = measure_agreement(
                    vector[tests.unseen], self._human, resamples=plan.bootstrap, seed=RESAMPLED_BY
                )
                rows = agreement_rows(agreement, suite=tests.name, **about)
                evaluations += [(row, folder) for row in rows]
            for figure in table.add(member.label, member.source, vector, by_suite):
                row = evaluation_of(figure, source=member.source or BASELINE, **about)
                evaluations.append((row, folder))
        found = table.results(_between)
        result = self._result(found, weights, cosines)
        words = {"encoders": len(paths), "pairs": intcomma(len(tests.rows)), "suites": len(tests.suites)}
        sentence = _("%(encoders)s encoders evaluated on %(pairs)s test pairs")
        if tests.suites:
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
        folder_linked(path / ENCODER, folder)
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
        plan, tests = self._plan, self._tests
        data, disclosed = self._data[plan.dataset], self._disclosed()
        result = {
            **found.main,
            "pairs": len(tests.rows),
            "training_pairs": len(data.training.rows),
            "seeds": list(plan.all_seeds),
            **weights,
            "snapshot": data.snapshot.number,
            **tests.result,
            **left_out_figures(data.training),
            **judges_results(tests.judges),
            **ceiling_results(ceiling_in(tests.snapshot.dataset, plan.test_score_set)),
            "furthest": {label: tests.furthest(of_seeds) for label, of_seeds in cosines.items()},
            "warnings": [*found.warnings, *disclosed.notes, *tests.suite_notes()],
            **disclosed.result,
        }
        if found.table:
            result |= {
                "table": found.table,
                "sources": {
                    slug: {"snapshot": one.snapshot.number, "training_pairs": len(one.training.rows)}
                    for slug, one in self._data.items()
                },
                "files": suite_files(tests.suites),
            }
        return result

    def _disclosed(self) -> Disclosure:
        plan = self._plan
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
        return self._tests.disclosed(benchmarks_joined(*trained, *others))


def _between(labels: Iterable[str]) -> list[tuple[str, str]]:
    """Everything from plain, and each weighting from its own shuffle, where they were trained."""
    known = list(labels)
    from_plain = [(label, str(REFERENCE)) for label in known if label != REFERENCE]
    controls = {str(each): str(each.control) for each in Weighting if each.control is not None}
    return from_plain + [(label, controls[label]) for label in known if controls.get(label) in known]
