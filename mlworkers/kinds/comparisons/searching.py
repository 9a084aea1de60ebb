"""A search over settings: encoders of one weighting, chosen by dev pairs; the test pairs are read once, afterwards."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

import torch
from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _

from curation.files.progress import Report
from curation.foundation.errors import UserError
from curation.models import ScoreSet, Snapshot
from curation.pairs.holding_out import HeldOut
from curation.pairs.judged_by import judged_by_all
from curation.pairs.leaks import Leaks
from curation.statistics.correlation import Scores
from mlworkers.models import Evaluation
from mlworkers.pipelines.encoder_data import (
    EncoderData,
    agreement_rows,
    benchmark_of_data,
    curve_note,
    encoder_card,
    encoder_store,
    folder_linked,
    judges_results,
    left_out_figures,
    published_temperature,
    rows_at_temperature,
    training_figures,
    training_rows_of,
)
from mlworkers.pipelines.experiment import (
    COSINES,
    ENCODER,
    RESAMPLED_BY,
    Stage,
    Tests,
    spearman_measured,
    told_of,
)
from mlworkers.pipelines.models import folder_of_model
from mlworkers.pipelines.seen import leaking_splits_refuse, seen_behind, seen_by_model, seen_in_words
from mlworkers.pipelines.snapshots import dataset_read, snapshot_of_plan, snapshot_taken, table_of
from mlworkers.runs.jobs import Job, NewArtifact, Outcome
from mlworkers.runs.storage import home_relative
from mlworkers.science.encoders.arrays import array_read, array_write
from mlworkers.science.encoders.comparison import ComparedEncoder, compare
from mlworkers.science.encoders.encoding import pair_cosines
from mlworkers.science.encoders.evaluation import measure_agreement
from mlworkers.science.encoders.plan import EncoderPlan
from mlworkers.science.encoders.rows import Rows, unseen_rows, validation_split
from mlworkers.science.encoders.search_plan import SearchPlan
from mlworkers.science.encoders.searching import best_of
from mlworkers.science.encoders.seen import ALL, UNSEEN, Seen
from mlworkers.science.encoders.training import TrainedEncoder, encoder_train, steps_planned
from mlworkers.science.pretrained.compute import choose_compute
from mlworkers.science.training.loop import CurvePoint


class _Trial(NamedTuple):
    """A combination of settings, by its place, with one seed."""

    number: int
    seed: int


def search_settings(plan: SearchPlan, job: Job) -> Outcome:
    """A shard for each trial and seed; then, for each seed, the chosen settings once more.

    So that not every trial's encoder need be kept until one is chosen, the chosen settings are trained again: on a
    processor with the same result.
    """
    search = _Search(plan, job)
    numbers = range(len(plan.tried))
    members = [one for number in numbers for one in search.members(number)]
    sizes = [size for number in numbers for size in search.sizes(number)]
    stage = Stage("trials", members, sizes, search.train, search.store, "trial-")
    trials = search.trials(stage.carry_out(job, _("Training with each combination")))
    # The place of the chosen trial. Raises UserError with the first reason where all failed.
    if all(trial["spearman"] is None for trial in trials):
        raise UserError(
            _("No trial has a dev figure. The first failed with: %(reason)s"), reason=trials[0]["failed"]
        )
    best = best_of([trial["spearman"] for trial in trials])
    members, sizes = search.members(best), search.sizes(best)
    last = Stage("chosen", members, sizes, search.chosen_train, search.chosen_store, "chosen-", timed=False)
    message = _("Training with the chosen settings and evaluating on the test pairs")
    return search.outcome(trials, best, last.carry_out(job, message))


class _Search:
    """What the shards of a search share. Cheap to make, and the same in every worker that does a shard of it."""

    def __init__(self, plan: SearchPlan, job: Job) -> None:
        self._plan, self._job = plan, job
        self._trials = plan.tried
        self._base = folder_of_model(plan.model, kind="encoder", report=job.report)
        snapshot = snapshot_of_plan(plan, job)
        self._snapshots = {plan.dataset: snapshot}
        seen = seen_by_model(plan.model, self._base) | seen_behind(job)
        of_tests = self._snapshot_of(plan.test_dataset)
        self._tests = Tests(of_tests, plan.test_score_set, plan.test_split, seen)
        if plan.leaks == Leaks.REFUSE:
            self._tests.leaks_refuse(dataset=plan.dataset, trained=plan.split)
            # Dev pairs that were seen before choose nothing, so that of them only the splits can be wrong.
            if plan.dev_scores and (plan.dev_dataset or plan.dataset) == plan.dataset:
                every = table_of(snapshot).rows(plan.dev_scores, split=plan.dev_split or None)
                leaking_splits_refuse(snapshot, every, trained=plan.split, tested=plan.dev_split)
        # The sentences alone: the scores of the test have no part in the choice of the settings.
        tested = self._tests.every.sentences
        self._human = self._tests.rows.values  # which says at once where too few are unseen
        self._scored_dev: Tests | None = None
        if plan.dev_scores:  # without a sentence that was trained on or that is tested
            of_dev, known = self._snapshot_of(plan.dev_dataset), seen | Seen((HeldOut.of(tested),))
            self._scored_dev = Tests(of_dev, plan.dev_scores, plan.dev_split, known)
        dev = self._scored_dev.rows if self._scored_dev else None
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
            self._published = published_temperature(snapshot.dataset, plan.realism)

    def _snapshot_of(self, slug: str) -> Snapshot:
        slug = slug or self._plan.dataset
        if slug not in self._snapshots:
            other, generated = dataset_read(self._job, slug), self._plan.generated_pairs
            self._snapshots[slug] = snapshot_taken(self._job, other, 0, generated_pairs=generated)
        return self._snapshots[slug]

    def members(self, number: int) -> list[_Trial]:
        """Of one combination."""
        return [_Trial(number, seed) for seed in self._plan.all_seeds]

    def sizes(self, number: int) -> list[int]:
        """Of these, in steps; 1 where the trial will fail."""
        first = _Trial(number, self._plan.first_seed)
        try:
            steps = steps_planned(self._rows(first), self._encoder_plan(first))
        except ValueError:
            steps = 1
        return [steps] * self._plan.seeds

    def _encoder_plan(self, one: _Trial) -> EncoderPlan:
        return self._plan.encoder(self._trials[one.number], one.seed)

    def _rows(self, one: _Trial) -> Rows:
        temperature = self._trials[one.number].temperature
        return rows_at_temperature(self._data.training.rows, self._published, temperature)

    def train(self, one: _Trial, checkpoints: Path, report: Report) -> tuple[Scores | None, str]:
        """The cosines of the dev pairs, or why the trial failed."""
        try:
            trained = self._trained(one, checkpoints, report)
            return self._cosines(trained, self._dev), ""
        except torch.OutOfMemoryError:
            return None, _("The device has too little memory for this batch size.")
        except ValueError as error:
            return None, str(error)

    @staticmethod
    def store(
        _one: _Trial, found: tuple[Scores | None, str], folder: Path, _report: Report
    ) -> dict[str, Any]:
        cosines, failed = found
        if cosines is not None:
            array_write(folder / COSINES, cosines)
        return {"failed": failed}

    def chosen_train(self, one: _Trial, checkpoints: Path, report: Report) -> TrainedEncoder:
        note = curve_note(self._job.curve, series=_("seed %(seed)s") % {"seed": one.seed})
        return self._trained(one, checkpoints, report, note)

    def chosen_store(
        self, one: _Trial, trained: TrainedEncoder, folder: Path, _report: Report
    ) -> dict[str, Any]:
        """The encoder and its cosines of the test pairs."""
        encoder_store(trained, self._encoder_plan(one), self._data, folder / ENCODER)
        array_write(folder / COSINES, self._cosines(trained, self._tests.every))
        return training_figures(self._data.training, trained)

    def _trained(
        self,
        one: _Trial,
        checkpoints: Path,
        report: Report,
        note: Callable[[CurvePoint], object] = lambda point: None,
    ) -> TrainedEncoder:
        return encoder_train(
            self._base,
            self._rows(one),
            self._encoder_plan(one),
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
            each = [told_of(path) for path in part]
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
        resamples = self._plan.bootstrap
        return compare({"": [spearman_measured(one, pairs, resamples=resamples) for one in cosines]})[""]

    def outcome(self, trials: Sequence[dict[str, Any]], best: int, paths: Sequence[Path]) -> Outcome:
        plan, chosen, tests, dev = self._plan, trials[best], self._tests, self._scored_dev
        of_all = [array_read(path / COSINES) for path in paths]
        cosines = [one[tests.unseen] for one in of_all]
        tested = _figures(self._measured(cosines, tests.rows))
        made, evaluations = self._made(best, paths, cosines)
        names = ("temperature", "learning_rate", "epochs", "batch_size")
        # What makes the test figure look better than the encoder is.
        benchmark = benchmark_of_data(self._encoder_plan(_Trial(best, plan.first_seed)), self._data)
        disclosed = tests.disclosed(benchmark, marked=True)
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
            # Who judged the scores of the test pairs, and those by which the settings were chosen.
            **judges_results(
                judged_by_all([tests.judges, dev.judges if dev else self._data.training.judges])
            ),
            "dev_pairs": len(self._dev),
            "dev_left_out": dev.left_out if dev else 0,
            "pairs": len(tests.rows),
            "test_left_out": tests.left_out,
            "training_data": seen_in_words(tests.seen),
            **self._all_and_unseen(of_all, tested),
            "training_pairs": len(self._data.training.rows),
            "published_temperature": self._published,
            "snapshot": self._data.snapshot.number,
            "test_snapshot": tests.snapshot.number,
            **left_out_figures(self._data.training),
            "furthest": tests.furthest(cosines),
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

    def _all_and_unseen(self, cosines: Sequence[Scores], unseen: Mapping[str, Any]) -> dict[str, Any]:
        """The figure of the test on all its pairs beside the one on the unseen pairs; nothing where nobody knows."""
        if not self._tests.seen.known:
            return {}
        names, every = ("spearman", "low", "high"), self._tests.every
        of_all = _figures(self._measured(cosines, every))
        figures = {ALL: (len(every), of_all), UNSEEN: (len(self._tests.rows), unseen)}
        return {
            "all_and_unseen": {
                part: {"pairs": n, **{name: found[name] for name in names}}
                for part, (n, found) in figures.items()
            }
        }

    def _made(
        self, best: int, paths: Sequence[Path], cosines: Sequence[Scores]
    ) -> tuple[list[NewArtifact], list[tuple[Evaluation, Path | None]]]:
        """The encoder of each seed, and its figures."""
        plan, tests = self._plan, self._tests
        made: list[NewArtifact] = []
        evaluations: list[tuple[Evaluation, Path | None]] = []
        for seed, path, vector in zip(plan.all_seeds, paths, cosines, strict=True):
            folder = self._job.folder / f"{plan.weighting}-{seed}"
            folder_linked(path / ENCODER, folder)
            card = encoder_card(self._encoder_plan(_Trial(best, seed)), self._data)
            card["training_pairs"] = told_of(path)["training_pairs"]
            made.append(NewArtifact("encoder", folder, card))
            agreement = measure_agreement(vector, self._human, resamples=plan.bootstrap, seed=RESAMPLED_BY)
            model, label = home_relative(folder), str(plan.weighting)
            rows = agreement_rows(agreement, model=model, suite=tests.name, label=label, seed=seed)
            evaluations += [(row, folder) for row in rows]
        return made, evaluations

    def _dev_in_words(self) -> str:
        if self._scored_dev:
            return self._scored_dev.name
        kind = self._data.snapshot.dataset.score_sets.filter(name=self._plan.scores).first()
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
