"""A comparison of paraphrases as training data: trains an encoder for each row and seed, and evaluates them."""

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from time import monotonic
from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _

from curation.files.json_text import json_from
from curation.files.progress import Report
from curation.files.writing import folder_remove, folder_replacing
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
from mlworkers.models import Evaluation, Run
from mlworkers.pipelines.disclosure import (
    Disclosure,
    dataset_names,
    disclosure,
    suite_names_of,
)
from mlworkers.pipelines.encoder_data import (
    LONGEST_NAME,
    curve_note,
    folder_linked,
    judges_results,
    suite_words,
)
from mlworkers.pipelines.models import folder_of_model
from mlworkers.pipelines.seen import seen_by_model, seen_in_words, seen_upstream
from mlworkers.pipelines.snapshots import dataset_read, snapshot_taken, table_of
from mlworkers.pipelines.suite_tables import RESAMPLED_BY, compared_cell
from mlworkers.pipelines.suites import seen_before, suite_files, suites_of_run
from mlworkers.runs.jobs import Job, NewArtifact, Outcome
from mlworkers.runs.storage import home_relative
from mlworkers.science.encoders.arrays import array_read, array_write
from mlworkers.science.encoders.comparison import adjusted, compare, differences_of
from mlworkers.science.encoders.contrastive.plan import (
    Arm,
    AugmentationPlan,
    ContrastPlan,
)
from mlworkers.science.encoders.contrastive.training import contrast_train, schedule_of
from mlworkers.science.encoders.contrastive.variants import ORIGINAL
from mlworkers.science.encoders.encoding import sentence_vectors
from mlworkers.science.encoders.measuring import Measured, Metric, correlation_measured, mean_measured
from mlworkers.science.encoders.plan import SEEDS_TO_JUDGE
from mlworkers.science.encoders.rows import unseen_rows
from mlworkers.science.encoders.saving import seen_by
from mlworkers.science.encoders.seen import NOTHING_KNOWN
from mlworkers.science.encoders.suites.evaluating import suite_cosines
from mlworkers.science.encoders.suites.figures import WHOLE, suite_figures
from mlworkers.science.paraphrasing.disclosure import benchmark_save
from mlworkers.science.pretrained.compute import choose_compute
from mlworkers.science.pretrained.encoder import load_encoder
from mlworkers.science.pretrained.sources import ModelError

BASE = "base"
OWN_TEST = ""
MEAN_OF_SUITES = "mean of suites"
_EVALUATING = 1  # what measuring the base counts for, beside the steps of trainings
_LONGEST_LABEL = 40  # of an evaluation's row


def compare_augmentations(plan: AugmentationPlan, job: Job) -> Outcome:
    """The base, and an encoder of each row and seed, each a shard of the run."""
    comparison = _Augmentations(plan, job)
    paths = job.shards.all(
        "encoders", comparison.sizes, comparison.shard, message=_("Training and evaluating encoders")
    )
    return comparison.outcome(paths)


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
        self._suites = suites_of_run(job, plan.suite_names)
        snapshot = snapshot_taken(
            job, job.dataset_of(plan.dataset), plan.snapshot, generated_pairs=plan.generated_pairs
        )
        self._test_snapshot = snapshot
        if plan.test_dataset not in ("", plan.dataset):
            self._test_snapshot = snapshot_taken(job, dataset_read(job, plan.test_dataset), 0)
        tests = table_of(self._test_snapshot)
        self._test_judges = tests.judges(plan.test_score_set)
        every = tests.rows(plan.test_score_set, split=plan.test_split or None)
        run = Run.objects.select_related("dataset").get(pk=job.run_id)
        self._seen = seen_by(self._base, plan.model) | seen_upstream(run)
        self._tests, self._tests_left_out = unseen_rows(every, self._seen)
        tested = list(self._tested_sentences())
        self._dev = dev_pairs_of(plan, job, snapshot, tested)
        held = [*tested, *(self._dev.sentences if self._dev is not None else ())]
        corpus = corpus_of(plan, job, snapshot, plan.all_variants, tested=held)
        self._before = len(corpus.examples)
        most = max(plan.copies_of(arm) for arm in plan.arms)
        self._corpus = corpus.complete(copies=most) if plan.complete else corpus
        self._members = [_Member()] + [
            _Member(arm, plan.training(arm, seed)) for arm in plan.arms for seed in plan.all_seeds
        ]

    def _tested_sentences(self) -> Iterator[str]:
        yield from self._tests.sentences
        for _suite, read in self._suites:
            for part in (read.test, *([read.dev] if read.dev else [])):
                yield from (*part.first, *part.second)

    @cached_property
    def sizes(self) -> list[int]:
        """Of each shard, in steps."""
        steps = {
            one.arm: schedule_of(self._made_of(one.plan).examples, one.plan).steps
            for one in self._members
            if one.plan is not None and one.plan.seed == self._plan.first_seed
        }
        return [_EVALUATING if one.arm is None else steps[one.arm] for one in self._members]

    def _made_of(self, plan: ContrastPlan) -> Made:
        return examples_made(self._corpus, plan)

    def shard(self, number: int, path: Path, report: Report) -> None:
        """Train an encoder and measure it: a folder with its cosines, what there is to tell and, if asked, itself."""
        started = monotonic()
        checkpoints = self._job.kept / "checkpoints" / path.name
        member, told = self._members[number], dict[str, Any]()
        made = trained = None
        if member.plan is not None:
            made = self._made_of(member.plan)
            note = curve_note(self._job.curve, series=f"{member.label}, seed {member.plan.seed}")
            trained = contrast_train(
                self._base,
                made.examples,
                member.plan,
                dev=self._dev,
                checkpoints=checkpoints,
                now=monotonic,
                report=report,
                note=note,
            )

        def still(done: int, total: int, message: str) -> None:
            """Measuring comes after all steps: it counts no further, but can still be stopped."""
            report(self.sizes[number], self.sizes[number], message)

        with folder_replacing(path, once=True) as beside:
            if member.plan is None or made is None or trained is None:
                encoder = load_encoder(self._base, choose_compute(self._plan.device))
            else:
                encoder, told = trained.encoder, contrast_figures(made, trained)
                told["loss_in_words"] = loss_in_words(member.plan, made, trained)
                if self._plan.keep_encoders:
                    folder = beside / "encoder"
                    folder.mkdir()
                    contrast_save(
                        trained, member.plan, self._corpus, base=self._base, made=made, folder=folder
                    )
                    copied = member.plan.variant is not None
                    benchmark_save(folder, benchmark_of_labels(member.plan, self._base, copied=copied))
            compute = choose_compute(self._plan.device)
            vectors = sentence_vectors(encoder, self._tested_sentences(), compute, report=still)
            first, second = self._tests.first.tolist(), self._tests.second.tolist()
            array_write(beside / "cosines.npy", vectors.cosines(first, second))
            for suite, read in self._suites:
                for part, cosines in zip(("test", "dev"), suite_cosines(suite, read, vectors), strict=True):
                    if cosines is not None:
                        array_write(beside / f"{suite.name}-{part}.npy", cosines)
            told["seconds"] = round(monotonic() - started, 1)
            (beside / "told.json").write_text(json.dumps(told), encoding="utf-8")
        folder_remove(checkpoints)

    def outcome(self, paths: Sequence[Path]) -> Outcome:
        plan = self._plan
        measured: dict[
            str, dict[str, list[Measured]]
        ] = {}  # of each column and label, a figure for each seed
        told: dict[str, dict[str, Any]] = {}
        made, evaluations = list[NewArtifact](), list[tuple[Evaluation, Path | None]]()
        for path, member in zip(paths, self._members, strict=True):
            facts = json_from((path / "told.json").read_text("utf-8"))
            told.setdefault(member.label, facts)
            folder = self._kept_encoder(path, member, facts)
            if folder is not None:
                made.append(folder)
            seed = member.plan.seed if member.plan else None
            model = plan.model if folder is None else home_relative(folder.path)
            for column, one in self._measured(path):
                measured.setdefault(column, {}).setdefault(member.label, []).append(one)
                row = self._evaluation(column, one, member.label, seed, model)
                evaluations.append((row, folder.path if folder else None))
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
            **judges_results(self._test_judges),
            "snapshot": self._corpus.snapshot.number,
            "test_snapshot": self._test_snapshot.number,
            "test_left_out": self._tests_left_out,
            "training_data": seen_in_words(self._seen),
            "files": suite_files(self._suites),
            "warnings": list(self._notes()),
            **self._disclosed.result,
        }
        if self._dev is not None:
            result["dev_pairs"] = len(self._dev)
        words = {"encoders": len(paths), "pairs": intcomma(len(self._tests))}
        message = _("%(encoders)s encoders evaluated on %(pairs)s test pairs") % words
        return Outcome(message, result, made, evaluations)

    def _kept_encoder(self, path: Path, member: _Member, facts: dict[str, Any]) -> NewArtifact | None:
        if member.plan is None or member.arm is None or not self._plan.keep_encoders:
            return None
        place = self._plan.arms.index(member.arm)
        folder = self._job.folder / f"row-{place + 1}-{member.plan.seed}"
        folder_linked(path / "encoder", folder)
        card = contrast_card(member.plan, self._corpus, self._base, self._made_of(member.plan))
        return NewArtifact("encoder", folder, {**card, "label": member.label, "seconds": facts["seconds"]})

    def _measured(self, path: Path) -> Iterator[tuple[str, Measured]]:
        """Spearman's correlation on the own test, on each suite of scores, and the mean of these."""
        plan = self._plan
        yield (
            OWN_TEST,
            correlation_measured(
                Metric.SPEARMAN,
                array_read(path / "cosines.npy"),
                self._tests.values,
                resamples=plan.bootstrap,
                seed=RESAMPLED_BY,
            ),
        )
        of_suites = []
        for suite, read in self._suites:
            dev = path / f"{suite.name}-dev.npy"
            figures = suite_figures(
                suite,
                read,
                array_read(path / f"{suite.name}-test.npy"),
                array_read(dev) if dev.is_file() else None,
                resamples=plan.bootstrap,
                seed=RESAMPLED_BY,
            )
            whole = next(one.measured for one in figures if one.part == WHOLE)
            if whole.metric is Metric.SPEARMAN:
                of_suites.append(whole)
            yield suite.name, whole
        if len(of_suites) > 1:
            yield MEAN_OF_SUITES, mean_measured(of_suites)

    def _evaluation(self, column: str, one: Measured, label: str, seed: int | None, model: str) -> Evaluation:
        plan, interval = self._plan, one.interval
        dataset, judges = plan.test_dataset or plan.dataset, self._test_judges
        own = suite_words(dataset, plan.test_score_set, plan.test_split, judges=judges)
        return Evaluation(
            suite=own if column == OWN_TEST else column,
            metric=one.metric.value,
            value=one.value,
            low=interval.low if interval else None,
            high=interval.high if interval else None,
            n=one.pairs,
            label=label[:_LONGEST_LABEL],
            seed=seed,
            model=model[:LONGEST_NAME],
        )

    def _rows(
        self, measured: dict[str, dict[str, list[Measured]]], told: dict[str, dict[str, Any]]
    ) -> list[dict[str, Any]]:
        """The base, then every arm: its figures by column, and its difference from the original examples."""
        arms: list[Arm | None] = [None, *self._plan.arms]
        # Of the mean of suites there are no pseudo-values, and so no differences.
        tables = {column: found for column, found in measured.items() if column != MEAN_OF_SUITES}
        between = [
            (arm.label if arm else BASE, Arm(arm.share if arm else 1.0, ORIGINAL, 1).label)
            for arm in arms
            if (arm is None and 1.0 in self._plan.all_shares) or (arm and arm.variant != ORIGINAL)
        ]
        found = {
            (column, pair[0]): one
            for column, labelled in tables.items()
            for pair, one in differences_of(labelled, between).items()
        }
        differences = adjusted(found)
        compared = {column: compare(labelled) for column, labelled in measured.items()}
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
                "figures": [
                    compared_cell(of_label[label], differences.get((column, label)))
                    for column, of_label in compared.items()
                ],
            }
            for arm in arms
            for label in [arm.label if arm else BASE]
        ]

    def _notes(self) -> Iterator[str]:
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
                unseen = known.pairs_unseen(self._tests.first.tolist(), self._tests.second.tolist())
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
        yield from self._disclosed.notes
        for suite, read in self._suites:
            yield from (f"{suite.label}: {note}" for note in read.notes)
            if seen := seen_before(read, self._seen):
                yield _(
                    "%(suite)s: %(seen)s test pairs hold a sentence that the baseline model was trained on."
                ) % {"suite": suite.label, "seen": intcomma(seen)}

    @cached_property
    def _disclosed(self) -> Disclosure:
        plan = self._plan
        tested = suite_names_of(suite for suite, _read in self._suites)
        own = suite_words(plan.test_dataset or plan.dataset, plan.test_score_set, plan.test_split, judges="")
        tested[own] = dataset_names(self._test_snapshot.dataset)
        return disclosure(benchmark_of_labels(plan, self._base, copied=True), tested)
