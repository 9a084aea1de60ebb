"""How well encoders do on a dataset, by cross-validation (STR paper, tables 5 and 6)."""

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from numpy.typing import NDArray

from curation.datasets.agreement import Difference
from curation.files.progress import Report
from curation.files.tables import csv_lines
from curation.files.writing import as_text, replacing
from curation.foundation.errors import UserError
from curation.models import Snapshot
from curation.pairs.judged_by import with_mark
from curation.pairs.leaks import Leaks
from curation.pairs.overlap import dice
from curation.pairs.segmenting import segmented_words, words_rule
from curation.results.estimates import as_stored
from curation.statistics.correlation import Scores, spearman
from mlworkers.kinds.encoders.cross_validation import cross_validation_stored, what_is_best
from mlworkers.pipelines.disclosure import Disclosure, benchmark_of_training
from mlworkers.pipelines.encoder_data import curve_note, furthest_pairs, judges_results
from mlworkers.pipelines.experiment import NO_TRAINING, Stage, Tests, told_of
from mlworkers.pipelines.models import folder_of_model
from mlworkers.pipelines.seen import seen_by_model, seen_in_words
from mlworkers.pipelines.snapshots import snapshot_of_plan, table_of
from mlworkers.pipelines.suites import ceiling_in, ceiling_results
from mlworkers.runs.jobs import Job, NewArtifact, Outcome
from mlworkers.science.encoders.arrays import array_read, array_write
from mlworkers.science.encoders.cross_validation import (
    MethodFigures,
    method_figures,
    sources_described,
)
from mlworkers.science.encoders.cross_validation_plan import UNTRAINED, CrossValidationPlan, Method
from mlworkers.science.encoders.encoding import pair_cosines, sentence_vectors
from mlworkers.science.encoders.folds import (
    FEWEST_IN_FOLD,
    Folds,
    FoldsError,
    Protocol,
    folds_drawn,
    part_to_cite,
    sentence_numbers,
)
from mlworkers.science.encoders.rows import Column, Rows, unseen_rows, validation_split
from mlworkers.science.encoders.seen import NOTHING_KNOWN, UNSEEN, seen_pairs_refuse
from mlworkers.science.encoders.static import static_vectors
from mlworkers.science.encoders.training import encoder_train, steps_planned
from mlworkers.science.linguistics.relatedness.word_vectors import cosines_of, mean_vectors, word_vectors_read
from mlworkers.science.pretrained.compute import choose_compute
from mlworkers.science.pretrained.encoder import load_encoder, pooling_set

SCORES = "scores.npy"


def cross_validate_encoder(plan: CrossValidationPlan, job: Job) -> Outcome:
    """Every method on every fold. Methods without training, and every training, are shards of the run."""
    validation = _CrossValidation(plan, job)
    stage = Stage("folds", validation.parts, validation.sizes, validation.train, _scores_store)
    return validation.outcome(stage.carry_out(job, _("Scoring and training, fold by fold")))


@dataclass(frozen=True)
class _Part:
    """A shard: a method without training on every pair, or a training with one seed that is tested on one fold."""

    method: Method
    folds: Folds | None = None
    number: int = 0
    seed: int = 0


# Scores of every pair (seeds, n) by a protocol and a method.
_Predicted = dict[tuple[Protocol, Method], NDArray[np.float64]]


class _CrossValidation:
    """What the shards share. Cheap to make, and the same in every worker that does one of them."""

    def __init__(self, plan: CrossValidationPlan, job: Job) -> None:
        self._plan, self._job = plan, job
        # The model first: a name that leads nowhere leaves no snapshot behind.
        self._base = folder_of_model(plan.model, kind="encoder", report=job.report) if plan.model else None
        self._snapshot = snapshot_of_plan(plan, job)
        self._seen = seen_by_model(plan.model, self._base) if self._base else NOTHING_KNOWN
        self._rows, self._sources, self._ids = self._read(self._snapshot)
        # The sentences that the model was trained on before this run, and those of its training folds, count as seen.
        self._unseen_before = self._seen.pairs_unseen(*_sides(self._rows))
        if plan.leaks == Leaks.REFUSE:
            pairs = int((~self._unseen_before).sum())
            seen_pairs_refuse(
                self._seen, dataset=plan.dataset, split=plan.split, pairs=pairs, of=len(self._rows)
            )
        self._warnings: list[str] = []
        # The folds of each protocol; sources are left out with a note where there is only one.
        a, b = sentence_numbers(self._rows.first.tolist(), self._rows.second.tolist())
        found = []
        for protocol in self._plan.protocols_chosen:
            try:
                folds = folds_drawn(
                    protocol, a, b, self._sources, count=self._plan.folds, seed=self._plan.seed
                )
            except FoldsError as error:
                if protocol is not Protocol.SOURCES or self._plan.protocols_chosen == (Protocol.SOURCES,):
                    sentence = _("%(problem)s Choose fewer folds, another protocol, or more pairs.")
                    raise UserError(sentence, problem=str(error)) from error
                self._warnings.append(_("The protocol sources was left out. %s") % error)
            else:
                found.append(folds)
                self._warnings += [_untested_in_words(*one) for one in folds.untested]
        self._folds = found
        self.parts = [_Part(method) for method in plan.chosen if method in UNTRAINED]
        if Method.FINE_TUNED in plan.chosen:
            self.parts += [
                _Part(Method.FINE_TUNED, folds, number, seed)
                for folds in self._folds
                for number in range(len(folds))
                for seed in plan.all_seeds
            ]

    def _read(self, snapshot: Snapshot) -> tuple[Rows, list[str], list[str]]:
        """The pairs with a score, their sources and ids."""
        table = table_of(snapshot)
        self._judges = table.judges(self._plan.score_set)
        every = table.rows(self._plan.score_set, split=self._plan.split or None)
        self._scale = table.scale(self._plan.score_set)
        rows, _none = unseen_rows(every, NOTHING_KNOWN)
        pairs = table.column("pair").tolist()
        sources = dict(zip(pairs, table.column("source").tolist(), strict=True))
        ids = dict(zip(pairs, table.column("id").tolist(), strict=True))
        numbers = rows.numbers.tolist()
        return rows, [sources[one] or "" for one in numbers], [str(ids[one]) for one in numbers]

    @property
    def sizes(self) -> list[int]:
        """Of each shard, in steps."""
        return [
            NO_TRAINING if part.folds is None else sum(self._steps(part.folds, part.number))
            for part in self.parts
        ]

    def _steps(self, folds: Folds, number: int) -> list[int]:
        """Of the trainings that choose the epochs, and of the last one, which may take as many as the longest."""
        training, _tested = self._divided(folds, number)
        tried = self._plan.epochs_tried
        last = steps_planned(training, self._plan.training(max(tried), self._plan.seed))
        if len(tried) == 1:  # nothing is to be chosen
            return [last]
        inner, _validation = self._inner_split(training)
        plans = (self._plan.training(epochs, self._plan.seed) for epochs in tried)
        return [*(steps_planned(inner, one) for one in plans), last]

    def _divided(self, folds: Folds, number: int) -> tuple[Rows, Rows]:
        """The training pairs and the test pairs of a fold."""
        tested = folds.fold == number
        return self._rows.taken(~tested), self._rows.taken(tested)

    def _inner_split(self, training: Rows) -> tuple[Rows, Rows]:
        """Of training folds, the pairs to train on and those to choose the epochs by, the same for every seed; they
        share no sentence.
        """
        plan = self._plan
        inner, validation, _tied = validation_split(
            training, plan.inner_share, seed=plan.seed, setting="inner_share"
        )
        return inner, validation

    def train(self, part: _Part, checkpoints: Path, report: Report) -> tuple[Scores, dict[str, Any]]:
        """The scores that the method gives, and the facts of its training."""
        if part.folds is None:
            return self._untrained(part.method, report), {}
        return self._trained(part, part.folds, checkpoints, report)

    def _untrained(self, method: Method, report: Report) -> Scores:
        """Of every pair, (n,)."""
        first, second = self._rows.first.tolist(), self._rows.second.tolist()
        if method is Method.DICE:
            return np.array([dice(one, other) for one, other in zip(first, second, strict=True)])

        def still(done: int, total: int, message: str) -> None:
            """The shard counts for one, however long it takes; it can still be stopped."""
            report(0, NO_TRAINING, message)

        if method is Method.STATIC and self._plan.vectors:
            # A pair without a known word on one side gets the mean cosine, so that every method has the same pairs.
            sentences = self._rows.sentences
            place = {sentence: number for number, sentence in enumerate(sentences)}
            spoken = [segmented_words(sentence) for sentence in sentences]
            path = Path(os.path.expanduser(self._plan.vectors))
            vectors = word_vectors_read(path, {word for each in spoken for word in each}, report=still)
            left, right = (
                np.array([place[text] for text in side], dtype=np.int64) for side in (first, second)
            )
            cosines = cosines_of(mean_vectors(vectors, spoken), left, right)
            return np.where(np.isnan(cosines), np.nanmean(cosines), cosines)
        compute = choose_compute(self._plan.device)
        encoder = load_encoder(self._model, compute)
        if method is Method.STATIC:
            return static_vectors(encoder, (*first, *second)).cosines(first, second)
        pooling_set(encoder, method.value)
        return sentence_vectors(encoder, (*first, *second), compute, report=still).cosines(first, second)

    @property
    def _model(self) -> Path:
        if self._base is None:
            raise UserError(_("A method of this run needs a model; choose one and start the run again."))
        return self._base

    def _trained(
        self, part: _Part, folds: Folds, checkpoints: Path, report: Report
    ) -> tuple[Scores, dict[str, Any]]:
        """Of the fold's pairs, by a model that was trained on the others with the epochs that its inner split chose."""
        training, tested = self._divided(folds, part.number)
        plan, steps = self._plan, self._steps(folds, part.number)
        series = f"{folds.protocol}, {folds.names[part.number]}"
        if plan.seeds > 1:
            series += f", seed {part.seed}"
        compute = choose_compute(plan.device, plan.precision)
        before, dev = 0, dict[int, float | None]()

        def further(done: int, total: int, message: str) -> None:
            report(before + done, sum(steps), message)

        def model_of(rows: Rows, epochs: int, name: str) -> Any:
            trained = encoder_train(
                self._model,
                rows,
                plan.training(epochs, part.seed),
                checkpoints=checkpoints / name,
                now=monotonic,
                report=further,
                note=curve_note(self._job.curve, series=f"{series}, {name}"),
            )
            return trained.encoder

        if len(plan.epochs_tried) > 1:
            inner, validation = self._inner_split(training)
            for epochs, size in zip(plan.epochs_tried, steps, strict=False):
                model = model_of(inner, epochs, f"{epochs} epochs")
                cosines = pair_cosines(model, *_sides(validation), compute).values
                dev[epochs] = spearman(cosines, validation.values)
                before += size
        # Of equally good ones the fewest.
        chosen = max(plan.epochs_tried, key=lambda epochs: (dev.get(epochs) or -2.0, -epochs))
        model = model_of(training, chosen, "all training folds")
        values = pair_cosines(model, *_sides(tested), compute).values
        facts = {
            "epochs": chosen,
            "dev": [{"epochs": epochs, "spearman": value} for epochs, value in dev.items()],
            "training_pairs": len(training),
        }
        return values, facts

    def outcome(self, paths: Sequence[Path]) -> Outcome:
        plan, rows = self._plan, self._rows
        predicted, trainings = self._predicted(paths)
        # Pairs without a sentence that was trained on: before this run, or in the training folds; (n,).
        unseen = {
            folds.protocol: (
                self._unseen_before & ~folds.leaking
                if Method.FINE_TUNED in self._plan.chosen
                else self._unseen_before
            )
            for folds in self._folds
        }
        protocol, part_cited = part_to_cite(
            {folds.protocol: not unseen[folds.protocol][folds.tested].all() for folds in self._folds}
        )
        figures = [
            (folds, self._method_figures(folds, predicted, unseen[folds.protocol])) for folds in self._folds
        ]
        disclosed = self._disclosed()
        result = {
            "pairs": len(rows),
            "words_rule": words_rule(),
            "seeds": list(plan.all_seeds) if Method.FINE_TUNED in plan.chosen else [],
            "snapshot": self._snapshot.number,
            "protocols": [
                _stored(folds, int((unseen[folds.protocol] & folds.tested).sum()), of_methods)
                for folds, of_methods in figures
            ],
            "cite": {"protocol": protocol.value, "part": part_cited},
            "furthest": self._furthest(protocol, part_cited, unseen[protocol], predicted),
            "sources": [asdict(one) for one in sources_described(self._sources, rows.values)],
            "trainings": trainings,
            **judges_results(self._judges),
            **ceiling_results(ceiling_in(self._snapshot.dataset, plan.score_set)),
            **({"training_data": seen_in_words(self._seen)} if self._base else {}),
            **({"seen_before": int((~self._unseen_before).sum())} if self._seen.known else {}),
            "warnings": [*self._warnings, *disclosed.notes],
            **disclosed.result,
        }
        card = {
            "snapshot": self._snapshot.number,
            "snapshot_sha256": self._snapshot.sha256,
            "seed": plan.seed,
        }
        made = [NewArtifact("folds", self._folds_file(predicted), card)]
        words_ = {
            "methods": len(plan.chosen),
            "pairs": intcomma(len(rows)),
            "protocols": ", ".join(folds.protocol for folds in self._folds),
        }
        message = _("%(methods)s methods on %(pairs)s pairs (%(protocols)s).") % words_
        found = cross_validation_stored(result)
        if found is not None:
            message = f"{message} {what_is_best(found)}"
        return Outcome(message, result, made)

    def _predicted(self, paths: Sequence[Path]) -> tuple[_Predicted, list[dict[str, Any]]]:
        """Each method's scores (seeds, n), NaN where no fold tests a pair; and the facts of each training."""
        plan, rows = self._plan, self._rows
        predicted: _Predicted = {
            (folds.protocol, method): np.full((1 if method in UNTRAINED else plan.seeds, len(rows)), np.nan)
            for folds in self._folds
            for method in plan.chosen
        }
        trainings = []
        for part, path in zip(self.parts, paths, strict=True):
            values = array_read(path / SCORES)
            if part.folds is None:
                for folds in self._folds:
                    predicted[folds.protocol, part.method][0] = values
                continue
            row = plan.all_seeds.index(part.seed)
            predicted[part.folds.protocol, part.method][row, part.folds.fold == part.number] = values
            of_fold = {"protocol": part.folds.protocol.value, "fold": part.folds.names[part.number]}
            trainings.append({**of_fold, "seed": part.seed, **told_of(path)})
        return predicted, trainings

    def _method_figures(
        self, folds: Folds, predicted: _Predicted, unseen: NDArray[np.bool_]
    ) -> list[MethodFigures]:
        return [
            method_figures(
                method.value,
                predicted[folds.protocol, method],
                self._rows.values,
                folds,
                self._sources,
                unseen=unseen,
                resamples=self._plan.bootstrap,
                seed=self._plan.seed,
            )
            for method in self._plan.chosen
        ]

    def _disclosed(self) -> Disclosure:
        """That a labeller of this dataset's own scores chose what the encoder was trained on, before or here."""
        if self._base is None:
            return Disclosure("", [])
        plan = self._plan
        benchmark = benchmark_of_training(self._snapshot.dataset, [plan.score_set], base=self._base)
        return Tests(self._snapshot, plan.score_set, plan.split, self._seen).disclosed(benchmark)

    def _furthest(
        self,
        protocol: Protocol,
        part: str,
        unseen: NDArray[np.bool_],
        predicted: _Predicted,
    ) -> dict[str, list[Difference]]:
        """Of each method, where it is furthest from people on the pairs to cite, by its mean over the seeds."""
        folds = next(one for one in self._folds if one.protocol is protocol)
        chosen = folds.tested & unseen if part == UNSEEN else folds.tested
        tested = self._rows.taken(chosen)
        return {
            method.value: furthest_pairs(
                tested, predicted[protocol, method].mean(axis=0)[chosen], self._scale
            )
            for method in self._plan.chosen
        }

    def _folds_file(self, predicted: dict[tuple[Protocol, Method], NDArray[np.float64]]) -> Path:
        """A row for each pair: its fold under each protocol, whether it leaks, whether the model saw it before, and
        what each method gave it with each seed.
        """
        path = self._job.folder / "folds.csv"
        with replacing(path) as file, as_text(file) as text:
            kept: list[tuple[str, Column]] = []
            for folds in self._folds:
                kept.append(
                    (f"fold_{folds.protocol}", np.array([*folds.names, ""], dtype=object)[folds.fold])
                )
                kept.append((f"shares_a_sentence_{folds.protocol}", folds.leaking.astype(int)))
            if self._seen.known:
                kept.append(("seen_before", (~self._unseen_before).astype(int)))
            for (protocol, method), of_seeds in predicted.items():
                name = method.value if method in UNTRAINED else f"{method}_{protocol}"
                names = [f"{name}_{seed}" for seed in self._plan.all_seeds] if len(of_seeds) > 1 else [name]
                known = dict(kept)
                tested = next(one.tested for one in self._folds if one.protocol is protocol)
                cells = [
                    values if method in UNTRAINED else np.where(tested, values.astype(object), "")
                    for values in of_seeds
                ]
                kept += [each for each in zip(names, cells, strict=True) if each[0] not in known]
            columns = (self._rows.numbers, self._ids, self._sources, self._rows.values)
            header, rows = with_mark(
                ["pair", "id", "source", "score", *(name for name, _values in kept)],
                zip(*columns, *(values for _name, values in kept), strict=True),
                self._judges,
            )
            text.writelines(csv_lines(chain([header], rows)))
        return path


def _scores_store(
    _part: _Part, found: tuple[Scores, dict[str, Any]], folder: Path, _report: Report
) -> dict[str, Any]:
    values, facts = found
    array_write(folder / SCORES, values)
    return facts


def _untested_in_words(source: str, pairs: int) -> str:
    sentence = ngettext(
        "The source “%(source)s” has %(pairs)s pair, and a fold needs %(fewest)s: its pair trains every fold of the "
        "protocol sources and is tested in none.",
        "The source “%(source)s” has %(pairs)s pairs, and a fold needs %(fewest)s: they train every fold of the "
        "protocol sources and are tested in none.",
        pairs,
    )
    return sentence % {"source": source, "pairs": pairs, "fewest": FEWEST_IN_FOLD}


def _sides(rows: Rows) -> tuple[list[str], list[str]]:
    return rows.first.tolist(), rows.second.tolist()


def _stored(folds: Folds, unseen: int, methods: Sequence[MethodFigures]) -> dict[str, Any]:
    """unseen: how many pairs hold no sentence that was trained on."""
    return {
        "protocol": folds.protocol.value,
        "folds": [
            {"fold": name, "pairs": int((folds.fold == number).sum()), "leakage": leakage}
            for number, (name, leakage) in enumerate(zip(folds.names, folds.leakage, strict=True))
        ],
        "pairs": int(folds.tested.sum()),
        "leakage": float(folds.leaking[folds.tested].mean()),
        "unseen_pairs": unseen,
        "methods": [as_stored(one, n="pairs", sd="sd") for one in methods],
    }
