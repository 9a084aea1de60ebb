"""What runs measured of encoders on a dataset, as a methods section tells it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from curation.files.publishing.making import EncoderRun
from curation.models import Snapshot
from mlworkers.kinds.comparisons.comparison import Cell, comparison_of
from mlworkers.kinds.encoders.cross_validation import cross_validation_stored
from mlworkers.models import Run

_MOST_RUNS = 20
_WHAT = {
    "train_encoder": "a training",
    "compare_weightings": "a comparison of weightings",
    "evaluate_encoder": "an evaluation",
    "cross_validate_encoder": "a cross-validation",
}
_SETTINGS = {
    "model": "base", "scores": "trained on the scores", "weighting": "weighting", "realism": "p_D",
    "test_score_set": "tested on the scores", "score_set": "scores", "split": "split", "test_split": "test split",
    "loss": "loss", "epochs": "epochs", "batch_size": "batch size", "learning_rate": "learning rate", "seed": "seed",
}  # fmt: skip
Told = tuple[Sequence[str], Sequence[Sequence[str]], Sequence[str]]  # header, rows, notes


def encoder_runs(snapshot: Snapshot) -> tuple[list[EncoderRun], int]:
    """The newest runs that read this snapshot or an earlier one, the oldest first; and how many there are."""
    done = Run.objects.filter(dataset=snapshot.dataset, kind__in=_WHAT, state=Run.State.SUCCEEDED)
    read = done.filter(result__snapshot__lte=snapshot.number)
    newest = read.order_by("-pk").prefetch_related("evaluations")[:_MOST_RUNS]
    # What was left out lest a test sentence be trained on.
    told = {
        "held_out_left_out": "{:,} pairs were not trained on because they hold a sentence of another split.",
        "left_out": "{:,} pairs were not tested on because the encoder had seen one of their sentences.",
        "test_left_out": "{:,} test pairs were left out because the base had seen one of their sentences.",
    }
    runs = []
    for run in reversed(newest):
        header, rows, notes = _TELLING[run.kind](run)
        left_out = [
            sentence.format(run.result[name])
            for name, sentence in told.items()
            if isinstance(run.result.get(name), int) and run.result[name]
        ]
        encoder_run = EncoderRun(
            number=run.pk,
            what=_WHAT[run.kind],
            snapshot=run.result.get("snapshot"),
            settings={
                shown: str(run.plan[name])
                for name, shown in _SETTINGS.items()
                if run.plan.get(name) not in (None, "")
            },
            notes=[*notes, *left_out],
            header=header,
            rows=rows,
            trained=run.kind != "evaluate_encoder",
            realism=str(run.plan.get("weighting", "")) == "realism" or run.kind == "compare_weightings",
        )
        runs.append(encoder_run)
    return runs, read.count()


def _trained(run: Run) -> Told:
    pairs, effective = run.result.get("training_pairs"), run.result.get("effective_pairs")
    told = [] if pairs is None else [f"It was trained on {pairs:,} pairs."]
    if effective is not None:
        told.append(f"The weights make these worth {effective:,.1f} pairs.")
    if devices := run.result.get("devices"):
        told.append(f"{devices} devices shared each batch, whose loss is that of the whole batch.")
    return (), (), told


def _compared(run: Run) -> Told:
    found = comparison_of(run.result, run.evaluations.all())
    rows = []
    for row in found.rows:
        cell = row.cells[0] if row.cells else Cell()
        beside = cell.beside
        spread = "" if cell.sd is None else f" ± {cell.sd:.3f}"
        rows.append(
            [
                row.label,
                "–" if cell.mean is None else f"{cell.mean:.3f}{spread}",
                _interval(cell.mean, cell.low, cell.high),
                _interval(cell.difference, cell.difference_low, cell.difference_high, signed=True),
                "–" if cell.p_holm is None else f"{cell.p_holm:.3f}",
                "–" if beside is None else _interval(beside.mean, beside.low, beside.high),
            ]
        )
    notes = [
        (
            f"Each row is the mean over {len(found.seeds)} seeds ({', '.join(map(str, found.seeds))}) on "
            f"{found.pairs:,} test pairs; {found.training_pairs:,} pairs were trained on. P-values "
            f"are adjusted by Holm's method for {found.tests} differences."
        )
    ]
    if not found.judged:
        notes.append("There are too few seeds to judge a difference.")
    header = [
        "Weighting",
        "Mean ± sd",
        "Mean (95 %)",
        "Difference from plain (95 %)",
        "p (Holm)",
        "All pairs (95 %)",
    ]
    return header, rows, notes


def _evaluated(run: Run) -> Told:
    result = run.result
    parts: Mapping[str, Mapping[str, Any]] = result.get("all_and_unseen") or {}
    if not parts and result.get("spearman") is not None:
        parts = {"pairs of the test": result}
    rows = [
        [
            name,
            f"{of['pairs']:,}",
            *(
                _interval(*(of.get(f"{which}{end}") for end in ("", "_low", "_high")))
                for which in ("spearman", "pearson")
            ),
        ]
        for name, of in parts.items()
    ]
    ceiling = result.get("ceiling")
    notes = (
        []
        if ceiling is None
        else [f"The reliability of the human scores limits the correlation to {ceiling:.3f}."]
    )
    return ["Test", "Pairs", "Spearman (95 %)", "Pearson (95 %)"], rows, notes


def _cross_validated(run: Run) -> Told:
    found = cross_validation_stored(run.result)
    if found is None:
        return (), (), ()
    header = ["Method", *(f"{column.label} (95 %)" for column in found.columns)]
    rows = [
        [str(label), *(_interval(mean.value, mean.low, mean.high) for _column, mean in means)]
        for label, means in found.labelled_rows
    ]
    leakage = "; ".join(f"{table.label} {table.leakage:.1%}" for table in found.protocols)
    notes = [
        (
            f"Figures are means over the folds of {found.pairs:,} pairs. Leakage, the share of test pairs with "
            f"a sentence that is in the training folds: {leakage}."
        )
    ]
    if found.some_seen:
        unseen = "; ".join(
            f"{column.label} {column.pairs:,}" for column in found.columns if not column.all_pairs
        )
        notes.append(f"Unseen pairs, which hold no sentence that the model was trained on: {unseen}.")
    if found.seen_before:
        notes.append(
            f"{found.seen_before:,} pairs hold a sentence that the model was trained on before the cross-validation."
        )
    if found.several_seeds:
        notes.append(
            f"Figures of what was trained are means over {len(found.seeds)} seeds, with intervals over pairs and seeds."
        )
    elif found.trainings:
        notes.append("Each fold was trained with one seed; the intervals are over pairs alone.")
    return header, rows, notes


_TELLING: Mapping[str, Callable[[Run], Told]] = {
    "train_encoder": _trained,
    "compare_weightings": _compared,
    "evaluate_encoder": _evaluated,
    "cross_validate_encoder": _cross_validated,
}


def _interval(value: float | None, low: float | None, high: float | None, *, signed: bool = False) -> str:
    if value is None:
        return "–"
    sign = "+" if signed else ""
    shown = f"{value:{sign}.3f}"
    return shown if low is None or high is None else f"{shown} ({low:{sign}.3f} to {high:{sign}.3f})"
