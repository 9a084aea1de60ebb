"""Encoder runs as the methods section of a published folder tells them: trainings, evaluations, cross-validations."""

from collections.abc import Mapping
from typing import Any

from mlworkers.kinds.encoders.cross_validation import cross_validation_stored
from mlworkers.kinds.published import Told, interval_in_words
from mlworkers.models import Run


def trained(run: Run) -> Told:
    pairs, effective = run.result.get("training_pairs"), run.result.get("effective_pairs")
    told = [] if pairs is None else [f"It was trained on {pairs:,} pairs."]
    if effective is not None:
        told.append(f"The weights make these worth {effective:,.1f} pairs.")
    if devices := run.result.get("devices"):
        told.append(f"{devices} devices shared each batch, whose loss is that of the whole batch.")
    return Told("a training", notes=told)


def evaluated(run: Run) -> Told:
    result = run.result
    parts: Mapping[str, Mapping[str, Any]] = result.get("all_and_unseen") or {}
    if not parts and result.get("spearman") is not None:
        parts = {"pairs of the test": result}
    rows = [
        [
            name,
            f"{of['pairs']:,}",
            *(
                interval_in_words(*(of.get(f"{which}{end}") for end in ("", "_low", "_high")))
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
    return Told(
        "an evaluation", ["Test", "Pairs", "Spearman (95 %)", "Pearson (95 %)"], rows, notes, trained=False
    )


def cross_validated(run: Run) -> Told:
    found = cross_validation_stored(run.result)
    if found is None:
        return Told("a cross-validation")
    header = ["Method", *(f"{column.label} (95 %)" for column in found.columns)]
    rows = [
        [str(label), *(interval_in_words(mean.value, mean.low, mean.high) for _column, mean in means)]
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
    return Told("a cross-validation", header, rows, notes)
