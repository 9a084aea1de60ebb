"""A comparison of paraphrases as training data: trains an encoder for each row and seed, and evaluates them."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _

from curation.files.progress import Report
from curation.models import ScoreSet
from mlworkers.kinds.encoders.contrast_data import Made, corpus_of, dev_pairs_of
from mlworkers.kinds.encoders.contrasting import (
    benchmark_of_labels,
    contrast_card,
    contrast_figures,
    contrast_save,
    examples_made,
    loss_in_words,
    pooler_in_words,
)
from mlworkers.models import Evaluation
from mlworkers.pipelines.encoder_data import LONGEST_NAME, curve_note, folder_linked, judges_results
from mlworkers.pipelines.experiment import (
    COSINES,
    ENCODER,
    NO_TRAINING,
    RESAMPLED_BY,
    Stage,
    Tests,
    arms_compare,
    spearman_measured,
    told_of,
)
from mlworkers.pipelines.models import folder_of_model
from mlworkers.pipelines.seen import seen_behind, seen_by_model
from mlworkers.pipelines.snapshots import dataset_read, snapshot_of_plan, snapshot_taken
from mlworkers.pipelines.suites import evaluation_of, suite_files, suites_of_run
from mlworkers.runs.jobs import Job, NewArtifact, Outcome
from mlworkers.runs.storage import home_relative
from mlworkers.science.encoders.arrays import array_read
from mlworkers.science.encoders.comparison import Between
from mlworkers.science.encoders.contrastive.plan import Arm, AugmentationPlan, ContrastPlan
from mlworkers.science.encoders.contrastive.training import TrainedByContrast, contrast_train, schedule_of
from mlworkers.science.encoders.contrastive.variants import ORIGINAL
from mlworkers.science.encoders.encoding import sentence_vectors
from mlworkers.science.encoders.measuring import Measured, Metric, mean_measured
from mlworkers.science.encoders.plan import SEEDS_TO_JUDGE
from mlworkers.science.encoders.saving import seen_by
from mlworkers.science.encoders.seen import NOTHING_KNOWN
from mlworkers.science.encoders.suites.figures import WHOLE, Figure, resampled_apart, suite_figures
from mlworkers.science.paraphrasing.disclosure import benchmark_save
from mlworkers.science.pretrained.compute import choose_compute
from mlworkers.science.pretrained.encoder import load_encoder
from mlworkers.science.pretrained.sources import ModelError

BASE = "base"
OWN_TEST = ""
MEAN_OF_SUITES = "mean of suites"
_LONGEST_LABEL = 40  # of an evaluation's row


def compare_augmentations(plan: AugmentationPlan, job: Job) -> Outcome:
    """The base, and an encoder of each row and seed, each a shard of the run."""
    comparison = _Augmentations(plan, job)
    stage = Stage("encoders", comparison.members, comparison.sizes, comparison.train, comparison.store)
    return comparison.outcome(stage.carry_out(job, _("Training and evaluating encoders")))


@dataclass(frozen=True)
class _Member:
    """An encoder of a comparison; the base model where it has no arm."""

    arm: Arm | None = None
    plan: ContrastPlan | None = None

    @property
    def label(self) -> str:
        return self.arm.label if self.arm else BASE


class _Augmentations:
    """What the shards of a comparison share. Cheap to make, and the same in every worker that does a shard of it."""

    def __init__(self, plan: AugmentationPlan, job: Job) -> None:
        self._plan, self._job = plan, job
        self._base = folder_of_model(plan.model, kind="encoder", report=job.report)
        suites = suites_of_run(job, plan.suite_names)
        snapshot = of_tests = snapshot_of_plan(plan, job)
        if plan.test_dataset not in ("", plan.dataset):
            of_tests = snapshot_taken(job, dataset_read(job, plan.test_dataset), 0)
        seen = seen_by(self._base, plan.model) | seen_behind(job)
        self._tests = Tests(of_tests, plan.test_score_set, plan.test_split, seen, suites)
        tested = list(self._tests.sentences(self._tests.rows))
        dev = dev_pairs_of(plan, job, snapshot, tested)
        self._dev = dev.rows if dev else None
        held = [*tested, *(self._dev.sentences if self._dev is not None else ())]
        corpus = corpus_of(plan, job, snapshot, plan.all_variants, tested=held)
        self._before = len(corpus.examples)
        most = max(plan.copies_of(arm) for arm in plan.arms)
        self._corpus = corpus.complete(copies=most) if plan.complete else corpus
        self.members = [_Member()] + [
            _Member(arm, plan.training(arm, seed)) for arm in plan.arms for seed in plan.all_seeds
        ]

    @property
    def sizes(self) -> list[int]:
        """Of each shard, in steps."""
        steps = {
            one.arm: schedule_of(self._made_of(one.plan).examples, one.plan).steps
            for one in self.members
            if one.plan is not None and one.plan.seed == self._plan.first_seed
        }
        return [NO_TRAINING if one.arm is None else steps[one.arm] for one in self.members]

    def _made_of(self, plan: ContrastPlan) -> Made:
        return examples_made(self._corpus, plan)

    def train(
        self, member: _Member, checkpoints: Path, report: Report
    ) -> tuple[ContrastPlan, Made, TrainedByContrast] | None:
        """None for the base model, which is evaluated as it is."""
        if member.plan is None:
            return None
        made = self._made_of(member.plan)
        trained = contrast_train(
            self._base,
            made.examples,
            member.plan,
            dev=self._dev,
            checkpoints=checkpoints,
            now=monotonic,
            report=report,
            note=curve_note(self._job.curve, series=f"{member.label}, seed {member.plan.seed}"),
        )
        return member.plan, made, trained

    def store(
        self,
        _member: _Member,
        found: tuple[ContrastPlan, Made, TrainedByContrast] | None,
        folder: Path,
        report: Report,
    ) -> dict[str, Any]:
        """The encoder, if it is kept, and its cosines of the tests."""
        compute, tests, told = choose_compute(self._plan.device), self._tests, dict[str, Any]()
        if found is None:
            encoder = load_encoder(self._base, compute)
        else:
            plan, made, trained = found
            encoder, told = trained.encoder, contrast_figures(made, trained)
            told["loss_in_words"] = loss_in_words(plan, made, trained)
            if self._plan.keep_encoders:
                (folder / ENCODER).mkdir()
                contrast_save(
                    trained, plan, self._corpus, base=self._base, made=made, folder=folder / ENCODER
                )
                copied = plan.variant is not None
                benchmark_save(folder / ENCODER, benchmark_of_labels(plan, self._base, copied=copied))
        vectors = sentence_vectors(encoder, tests.sentences(tests.rows), compute, report=report)
        tests.cosines_store(vectors, tests.rows, folder)
        return told

    def outcome(self, paths: Sequence[Path]) -> Outcome:
        plan, tests = self._plan, self._tests
        # Of each column and label, a figure for each seed.
        measured: dict[str, dict[str, list[Measured]]] = {}
        told: dict[str, dict[str, Any]] = {}
        made, evaluations = list[NewArtifact](), list[tuple[Evaluation, Path | None]]()
        for path, member in zip(paths, self.members, strict=True):
            facts = told_of(path)
            told.setdefault(member.label, facts)
            folder = self._kept_encoder(path, member, facts)
            if folder is not None:
                made.append(folder)
            model = plan.model if folder is None else home_relative(folder.path)
            seed = member.plan.seed if member.plan else None
            about = {"model": model[:LONGEST_NAME], "label": member.label[:_LONGEST_LABEL], "seed": seed}
            for column, one in self._measured(path):
                measured.setdefault(column, {}).setdefault(member.label, []).append(one)
                figure = Figure(tests.name if column == OWN_TEST else column, WHOLE, one)
                evaluations.append((evaluation_of(figure, **about), folder.path if folder else None))
        disclosed = tests.disclosed(benchmark_of_labels(plan, self._base, copied=True))
        result = {
            "columns": [
                {"suite": column, "metric": first.metric.value, "pairs": first.pairs}
                for column, found in measured.items()
                for first in [next(iter(found.values()))[0]]
            ],
            "rows": self._rows(measured, told),
            "seeds": list(plan.all_seeds),
            "judged": plan.seeds >= SEEDS_TO_JUDGE,
            "examples": len(self._corpus.examples),
            "examples_that_not_all_can_copy": self._before - len(self._corpus.examples),
            "held_out_left_out": self._corpus.held_out,
            "pooler_in_words": pooler_in_words(plan),
            "loss_in_words": told[plan.arms[0].label]["loss_in_words"],
            **judges_results(tests.judges),
            "snapshot": self._corpus.snapshot.number,
            **tests.result,
            "files": suite_files(tests.suites),
            "warnings": [*self._similarity_notes(), *disclosed.notes, *tests.suite_notes()],
            **disclosed.result,
        }
        if self._dev is not None:
            result["dev_pairs"] = len(self._dev)
        words = {"encoders": len(paths), "pairs": intcomma(len(tests.rows))}
        message = _("%(encoders)s encoders evaluated on %(pairs)s test pairs") % words
        return Outcome(message, result, made, evaluations)

    def _kept_encoder(self, path: Path, member: _Member, facts: dict[str, Any]) -> NewArtifact | None:
        if member.plan is None or member.arm is None or not self._plan.keep_encoders:
            return None
        place = self._plan.arms.index(member.arm)
        folder = self._job.folder / f"row-{place + 1}-{member.plan.seed}"
        folder_linked(path / ENCODER, folder)
        card = contrast_card(member.plan, self._corpus, self._base, self._made_of(member.plan))
        return NewArtifact("encoder", folder, {**card, "label": member.label, "seconds": facts["seconds"]})

    def _measured(self, path: Path) -> Iterator[tuple[str, Measured]]:
        """Spearman's correlation on the own test, on each suite of scores, and the mean of these."""
        tests, resamples = self._tests, self._plan.bootstrap
        yield OWN_TEST, spearman_measured(array_read(path / COSINES), tests.rows, resamples=resamples)
        of_suites = []
        for suite, read in tests.suites:
            cosines = tests.suite_cosines(path, suite)
            figures = suite_figures(suite, read, *cosines, resamples=resamples, seed=RESAMPLED_BY)
            whole = next(one.measured for one in figures if one.part == WHOLE)
            if whole.metric is Metric.SPEARMAN:
                of_suites.append(whole)
            yield suite.name, whole
        if len(of_suites) > 1:
            yield MEAN_OF_SUITES, mean_measured(resampled_apart(of_suites))

    def _rows(
        self, measured: dict[str, dict[str, list[Measured]]], told: dict[str, dict[str, Any]]
    ) -> list[dict[str, Any]]:
        """The base, then every arm: its figures by column, and its difference from the original examples."""
        arms: list[Arm | None] = [None, *self._plan.arms]
        between = [
            (arm.label if arm else BASE, Arm(arm.share if arm else 1.0, ORIGINAL, 1).label)
            for arm in arms
            if (arm is None and 1.0 in self._plan.all_shares) or (arm and arm.variant != ORIGINAL)
        ]

        def between_on(column: str, _labels: Iterable[str]) -> list[Between]:
            """Of the mean of suites there are no pseudo-values, and so no differences."""
            return [] if column == MEAN_OF_SUITES else between

        compared = arms_compare(measured, between_on)
        return [
            {
                "label": arm.label if arm else BASE,
                "variant": arm.variant if arm else BASE,
                "size": arm.size if arm else 0,
                "share": arm.share if arm else 0.0,
                **{
                    name: told[label][name]
                    for name in ("examples", "copies", "copies_missing", "most_negatives")
                    if arm is not None
                },
                "figures": [of_column.cell(label) for of_column in compared.values()],
            }
            for arm in arms
            for label in [arm.label if arm else BASE]
        ]

    def _similarity_notes(self) -> Iterator[str]:
        if self._plan.similarity:
            # The model that chose the paraphrases by their similarity has perhaps learned from the test, as in ConPGS.
            slug = self._plan.paraphrase_dataset or self._plan.dataset
            labels = ScoreSet.objects.filter(dataset__slug=slug, name=self._plan.similarity).first()
            model = str(labels.parameters.get("model", "")) if labels else ""
            known = NOTHING_KNOWN
            if model:
                with suppress(ModelError):
                    known = seen_by_model(model, folder_of_model(model, kind="encoder"))
            words = {"model": model or _("a model that is not known")}
            if known.known:
                tests = self._tests.rows
                unseen = known.pairs_unseen(tests.first.tolist(), tests.second.tolist())
                yield _(
                    "Paraphrases were chosen by the similarity that %(model)s gives, which was trained on a sentence "
                    "of %(seen)s of the %(pairs)s test pairs."
                ) % {**words, "seen": intcomma(int((~unseen).sum())), "pairs": intcomma(unseen.size)}
            else:
                yield (
                    _(
                        "Paraphrases were chosen by the similarity that %(model)s gives, and nobody knows what it was "
                        "trained on. If that was a test of this page, its figures favour the paraphrases."
                    )
                    % words
                )
