"""A search over settings: encoders of one weighting, chosen by dev pairs; the test pairs are read once, afterwards."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cached_property
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import torch
from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _

from curation.files.json_text import json_from
from curation.files.progress import Report
from curation.files.writing import folder_remove, folder_replacing
from curation.foundation.errors import UserError
from curation.models import ScoreSet, Snapshot
from curation.pairs.holding_out import HeldOut
from curation.pairs.judged_by import judged_by_all
from curation.pairs.leaks import Leaks
from curation.statistics.correlation import Scores
from mlworkers.models import Evaluation, Run
from mlworkers.pipelines.disclosure import dataset_names, disclosure
from mlworkers.pipelines.encoder_data import (
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
    published_temperature,
    rows_at_temperature,
    suite_words,
    training_figures,
    training_rows_of,
)
from mlworkers.pipelines.models import folder_of_model
from mlworkers.pipelines.seen import (
    leaking_splits_refuse,
    leaks_refuse,
    seen_by_model,
    seen_in_words,
    seen_upstream,
)
from mlworkers.pipelines.snapshots import dataset_read, snapshot_taken, table_of
from mlworkers.pipelines.suite_tables import RESAMPLED_BY
from mlworkers.runs.jobs import Job, NewArtifact, Outcome
from mlworkers.runs.storage import home_relative
from mlworkers.science.encoders.arrays import array_read, array_write
from mlworkers.science.encoders.comparison import ComparedEncoder, compare
from mlworkers.science.encoders.encoding import pair_cosines
from mlworkers.science.encoders.evaluation import measure_agreement
from mlworkers.science.encoders.measuring import Metric, correlation_measured
from mlworkers.science.encoders.plan import EncoderPlan
from mlworkers.science.encoders.rows import Rows, unseen_rows, validation_split
from mlworkers.science.encoders.search_plan import SearchPlan
from mlworkers.science.encoders.searching import best_of
from mlworkers.science.encoders.seen import ALL, UNSEEN, Seen
from mlworkers.science.encoders.training import TrainedEncoder, encoder_train, steps_planned
from mlworkers.science.pretrained.compute import choose_compute
from mlworkers.science.training.loop import CurvePoint

TOLD, COSINES, ENCODER = "told.json", "cosines.npy", "encoder"


def search_settings(plan: SearchPlan, job: Job) -> Outcome:
    """A shard for each trial and seed; then, for each seed, the chosen settings once more.

    So that not every trial's encoder need be kept until one is chosen, the chosen settings are trained again: on a
    processor with the same result.
    """
    search = _Search(plan, job)
    trials = search.trials(
        job.shards.all("trials", search.sizes, search.trial, message=_("Training with each combination"))
    )
    # The place of the chosen trial. Raises UserError with the first reason where all failed.
    if all(trial["spearman"] is None for trial in trials):
        raise UserError(
            _("No trial has a dev figure. The first failed with: %(reason)s"), reason=trials[0]["failed"]
        )
    best = best_of([trial["spearman"] for trial in trials])
    chosen = job.shards.all(
        "chosen",
        search.sizes_of(best),
        lambda number, path, report: search.chosen(best, number, path, report),
        message=_("Training with the chosen settings and evaluating on the test pairs"),
    )
    return search.outcome(trials, best, chosen)


class _Search:
    """What the shards of a search share. Cheap to make, and the same in every worker that does a shard of it."""

    def __init__(self, plan: SearchPlan, job: Job) -> None:
        self._plan, self._job = plan, job
        self._trials = plan.tried
        self._base = folder_of_model(plan.model, kind="encoder", report=job.report)
        dataset = job.dataset_of(plan.dataset)
        snapshot = snapshot_taken(job, dataset, plan.snapshot, generated_pairs=plan.generated_pairs)
        self._snapshots = {plan.dataset: snapshot}
        run = Run.objects.select_related("dataset").get(pk=job.run_id)
        self._seen = seen_by_model(plan.model, self._base) | seen_upstream(run)
        if plan.leaks == Leaks.REFUSE:
            self._refuse_leaks()
        # The sentences alone: the scores of the test are read when the settings are chosen.
        self._test_pairs()  # which says at once where too few are unseen
        tested = self._every_test_pair().sentences
        dev: Rows | None = None
        self._dev_left_out = 0
        if plan.dev_scores:  # without a sentence that was trained on or that is tested
            known = self._seen | Seen((HeldOut.of(tested),))
            dev, self._dev_left_out = unseen_rows(self._every_dev_pair(), known)
        training = training_rows_of(
            plan.encoder(replace(self._trials[0], temperature=0.0), plan.first_seed),
            snapshot,
            weightings=[plan.weighting],
            tests=[*tested, *(dev.sentences if dev else ())],
        )
        if dev is None:
            # The same for every trial and seed, so that their figures are of the same pairs.
            kept, drawn, _tied = validation_split(
                training.rows, plan.dev_share, seed=plan.first_seed, setting="dev_share"
            )
            training, dev = replace(training, rows=kept), unseen_rows(drawn, HeldOut.of([]))[0]
        self._dev, self._data = dev, EncoderData(snapshot, training, self._base)
        self._published = 1.0
        if any(trial.temperature for trial in self._trials) and plan.weighting.uses_size_of_realism:
            self._published = published_temperature(dataset, plan.realism)

    def _refuse_leaks(self) -> None:
        """Of the test as a comparison does. Dev pairs that were seen before choose nothing, so that of them only the
        splits can be wrong.
        """
        plan = self._plan
        tests, of_tests = self._every_test_pair(), self._snapshot_of(plan.test_dataset)
        leaks_refuse(
            self._seen, tests, of_tests, tested=plan.test_split, dataset=plan.dataset, trained=plan.split
        )
        if plan.dev_scores and (plan.dev_dataset or plan.dataset) == plan.dataset:
            snapshot = self._snapshot_of(plan.dataset)
            leaking_splits_refuse(snapshot, self._every_dev_pair(), trained=plan.split, tested=plan.dev_split)

    def _snapshot_of(self, slug: str) -> Snapshot:
        slug = slug or self._plan.dataset
        if slug not in self._snapshots:
            other, generated = dataset_read(self._job, slug), self._plan.generated_pairs
            self._snapshots[slug] = snapshot_taken(self._job, other, 0, generated_pairs=generated)
        return self._snapshots[slug]

    def _every_test_pair(self) -> Rows:
        table = table_of(self._snapshot_of(self._plan.test_dataset))
        return table.rows(self._plan.test_score_set, split=self._plan.test_split or None)

    def _test_pairs(self) -> tuple[Rows, int]:
        """The unseen ones, and how many were left out, because a model behind this search saw a sentence of them."""
        return unseen_rows(self._every_test_pair(), self._seen)

    def _every_dev_pair(self) -> Rows:
        table = table_of(self._snapshot_of(self._plan.dev_dataset))
        return table.rows(self._plan.dev_scores, split=self._plan.dev_split or None)

    def _encoder_plan(self, trial: int, seed: int) -> EncoderPlan:
        return self._plan.encoder(self._trials[trial], seed)

    def _rows(self, trial: int) -> Rows:
        return rows_at_temperature(self._data.training.rows, self._published, self._trials[trial].temperature)

    def sizes_of(self, trial: int) -> list[int]:
        """Of each seed of a trial, in steps; 1 where the trial will fail."""
        try:
            steps = steps_planned(self._rows(trial), self._encoder_plan(trial, self._plan.first_seed))
        except ValueError:
            steps = 1
        return [steps] * self._plan.seeds

    @cached_property
    def sizes(self) -> list[int]:
        return [size for trial in range(len(self._trials)) for size in self.sizes_of(trial)]

    def trial(self, number: int, path: Path, report: Report) -> None:
        """One combination with one seed: its cosines of the dev pairs, or why it failed."""
        trial, seed = divmod(number, self._plan.seeds)
        started = monotonic()
        checkpoints = self._job.kept / "checkpoints" / f"trial-{path.name}"
        told: dict[str, Any] = {"failed": ""}
        cosines = None
        try:
            trained = self._trained(trial, self._plan.all_seeds[seed], checkpoints, report)
            cosines = self._cosines(trained, self._dev)
        except torch.OutOfMemoryError:
            told["failed"] = _("The device has too little memory for this batch size.")
        except ValueError as error:
            told["failed"] = str(error)
        told["seconds"] = round(monotonic() - started, 1)
        with folder_replacing(path, once=True) as beside:
            if cosines is not None:
                array_write(beside / COSINES, cosines)
            (beside / TOLD).write_text(json.dumps(told), encoding="utf-8")
        folder_remove(checkpoints)

    def chosen(self, trial: int, number: int, path: Path, report: Report) -> None:
        """The chosen settings with one seed: the encoder and its cosines of the test pairs."""
        seed = self._plan.all_seeds[number]
        checkpoints = self._job.kept / "checkpoints" / f"chosen-{path.name}"
        note = curve_note(self._job.curve, series=_("seed %(seed)s") % {"seed": seed})
        trained = self._trained(trial, seed, checkpoints, report, note)
        with folder_replacing(path, once=True) as beside:
            encoder_store(trained, self._encoder_plan(trial, seed), self._data, beside / ENCODER)
            array_write(beside / COSINES, self._cosines(trained, self._every_test_pair()))
            told = training_figures(self._data.training, trained)
            (beside / TOLD).write_text(json.dumps(told), encoding="utf-8")
        folder_remove(checkpoints)

    def _trained(
        self,
        trial: int,
        seed: int,
        checkpoints: Path,
        report: Report,
        note: Callable[[CurvePoint], object] = lambda point: None,
    ) -> TrainedEncoder:
        return encoder_train(
            self._base,
            self._rows(trial),
            self._encoder_plan(trial, seed),
            checkpoints=checkpoints,
            now=monotonic,
            report=report,
            note=note,
        )

    def _cosines(self, trained: TrainedEncoder, pairs: Rows) -> Scores:
        compute = choose_compute(self._plan.device)
        return pair_cosines(trained.encoder, pairs.first.tolist(), pairs.second.tolist(), compute).values

    def trials(self, paths: Sequence[Path]) -> list[dict[str, Any]]:
        """Every trial: its settings, its dev figure with its interval or why it has none, and its seconds."""
        seeds = self._plan.seeds
        parts = [paths[start : start + seeds] for start in range(0, len(paths), seeds)]
        told: list[dict[str, Any]] = []
        for trial, part in enumerate(parts):
            each = [json_from((path / TOLD).read_text("utf-8")) for path in part]
            failed = next((one["failed"] for one in each if one["failed"]), "")
            about = {
                "trial": trial + 1,
                **asdict(self._trials[trial]),
                "seconds": round(sum(one["seconds"] for one in each), 1),
            }
            figures: dict[str, Any] = {"spearman": None, "low": None, "high": None, "by_seed": [], "sd": None}
            if not failed:
                found = self._measured([array_read(path / COSINES) for path in part], self._dev)
                if found.mean.value is None:
                    failed = _("All dev pairs have the same cosine.")
                else:
                    figures = _figures(found)
            told.append({**about, **figures, "failed": failed})
        return told

    def _measured(self, cosines: Sequence[Scores], pairs: Rows) -> ComparedEncoder:
        """Spearman's correlation, averaged over the seeds."""
        resamples = {"resamples": self._plan.bootstrap, "seed": RESAMPLED_BY}
        of_seeds = [correlation_measured(Metric.SPEARMAN, one, pairs.values, **resamples) for one in cosines]
        return compare({"": of_seeds})[""]

    def outcome(self, trials: Sequence[dict[str, Any]], best: int, paths: Sequence[Path]) -> Outcome:
        plan, chosen = self._plan, trials[best]
        every, (tests, left_out) = self._every_test_pair(), self._test_pairs()
        unseen = self._seen.pairs_unseen(every.first.tolist(), every.second.tolist())
        of_all = [array_read(path / COSINES) for path in paths]
        cosines = [one[unseen] for one in of_all]
        tested = _figures(self._measured(cosines, tests))
        made, evaluations = self._made(best, paths, cosines, tests)
        names = ("temperature", "learning_rate", "epochs", "batch_size")
        # What makes the test figure look better than the encoder is.
        slug, judges = plan.test_dataset or plan.dataset, self._judges(plan.test_dataset, plan.test_score_set)
        suite = suite_words(slug, plan.test_score_set, plan.test_split, judges=judges)
        names_of_test = {suite: dataset_names(self._snapshot_of(slug).dataset)}
        benchmark = benchmark_of_data(self._encoder_plan(best, plan.first_seed), self._data)
        disclosed = disclosure(benchmark, names_of_test)
        scale = table_of(self._snapshot_of(plan.test_dataset)).scale(plan.test_score_set)
        result = {
            "dev_spearman": chosen["spearman"],
            "dev_spearman_low": chosen["low"],
            "dev_spearman_high": chosen["high"],
            "test_spearman": tested["spearman"],
            "test_spearman_low": tested["low"],
            "test_spearman_high": tested["high"],
            "combinations": len(plan.grid),
            "tried": len(trials),
            "failed": sum(trial["spearman"] is None for trial in trials),
            "chosen_trial": best + 1,
            "chosen": [f"{name}: {chosen[name]}" for name in names],
            "seeds": list(plan.all_seeds),
            "chosen_by": self._dev_in_words(),
            **judges_results(judged_by_all(self._judges_of_figures())),
            "dev_pairs": len(self._dev),
            "dev_left_out": self._dev_left_out,
            "pairs": len(tests),
            "test_left_out": left_out,
            "training_data": seen_in_words(self._seen),
            **self._all_and_unseen(of_all, every, tested, len(tests)),
            "training_pairs": len(self._data.training.rows),
            "published_temperature": self._published,
            "snapshot": self._data.snapshot.number,
            "test_snapshot": self._snapshot_of(plan.test_dataset).number,
            **left_out_figures(self._data.training),
            "furthest": furthest_pairs(tests, np.mean(cosines, axis=0), scale),
            "trials": list(trials),
            "warnings": disclosed.notes,
            **disclosed.result,
        }
        words = {
            "tried": intcomma(len(trials)),
            "dev": _figure(chosen["spearman"]),
            "test": _figure(tested["spearman"]),
        }
        message = _("Best of %(tried)s trials: Spearman %(dev)s on dev pairs, %(test)s on test pairs")
        return Outcome(message % words, result, made, evaluations)

    def _all_and_unseen(
        self, cosines: Sequence[Scores], every: Rows, unseen: Mapping[str, Any], pairs: int
    ) -> dict[str, Any]:
        """The figure of the test on all its pairs beside the one on the unseen pairs; nothing where nobody knows."""
        if not self._seen.known:
            return {}
        names = ("spearman", "low", "high")
        figures = {ALL: (len(every), _figures(self._measured(cosines, every))), UNSEEN: (pairs, unseen)}
        return {
            "all_and_unseen": {
                part: {"pairs": n, **{name: found[name] for name in names}}
                for part, (n, found) in figures.items()
            }
        }

    def _made(
        self, best: int, paths: Sequence[Path], cosines: Sequence[Scores], tests: Rows
    ) -> tuple[list[NewArtifact], list[tuple[Evaluation, Path | None]]]:
        """The encoder of each seed, and its figures."""
        plan = self._plan
        dataset, judges = (
            plan.test_dataset or plan.dataset,
            self._judges(plan.test_dataset, plan.test_score_set),
        )
        suite = suite_words(dataset, plan.test_score_set, plan.test_split, judges=judges)
        made: list[NewArtifact] = []
        evaluations: list[tuple[Evaluation, Path | None]] = []
        for seed, path, vector in zip(plan.all_seeds, paths, cosines, strict=True):
            folder = self._job.folder / f"{plan.weighting}-{seed}"
            folder_linked(path / ENCODER, folder)
            told = json_from((path / TOLD).read_text("utf-8"))
            card = encoder_card(self._encoder_plan(best, seed), self._data)
            made.append(NewArtifact("encoder", folder, {**card, "training_pairs": told["training_pairs"]}))
            agreement = measure_agreement(vector, tests.values, resamples=plan.bootstrap, seed=RESAMPLED_BY)
            model, label = home_relative(folder), str(plan.weighting)
            rows = agreement_rows(agreement, model=model, suite=suite, label=label, seed=seed)
            evaluations += [(row, folder) for row in rows]
        return made, evaluations

    def _judges(self, dataset: str, scores: str) -> str:
        return table_of(self._snapshot_of(dataset)).judges(scores)

    def _judges_of_figures(self) -> list[str]:
        """Who judged the scores of the test pairs, and those by which the settings were chosen."""
        plan = self._plan
        dev = (
            self._judges(plan.dev_dataset, plan.dev_scores) if plan.dev_scores else self._data.training.judges
        )
        return [self._judges(plan.test_dataset, plan.test_score_set), dev]

    def _dev_in_words(self) -> str:
        plan = self._plan
        if plan.dev_scores:
            dataset, judges = (
                plan.dev_dataset or plan.dataset,
                self._judges(plan.dev_dataset, plan.dev_scores),
            )
            return suite_words(dataset, plan.dev_scores, plan.dev_split, judges=judges)
        kind = self._data.snapshot.dataset.score_sets.filter(name=plan.scores).first()
        if kind is not None and kind.kind == ScoreSet.Kind.TARGET:
            return _("synthetic: generated pairs with their target similarities, not trained on")
        return _("human scores of training pairs that were not trained on")


def _figures(found: ComparedEncoder) -> dict[str, Any]:
    return {
        "spearman": found.mean.value,
        "low": found.mean.low,
        "high": found.mean.high,
        "by_seed": list(found.seeds),
        "sd": found.sd,
    }


def _figure(value: float | None) -> str:
    return _("undefined") if value is None else f"{value:.4f}"
