"""A run's result in words: figures with their intervals, counts and tables, whatever kind of run left them."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import dropwhile
from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

LIST_MOST = 20  # rows of a list that are shown


@dataclass(frozen=True)
class Figure:
    """A value in words, and its interval where it has one."""

    name: str
    value: str
    interval: str = ""


@dataclass(frozen=True)
class Table:
    """A part of a result that is a table: each row a name and its figures, in the order of the columns."""

    name: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Figure]]]


@dataclass(frozen=True)
class Parts:
    figures: Sequence[Figure]
    tables: Sequence[Table]


def parts_of(result: Mapping[str, Any]) -> Parts:
    """Figures by themselves; counts by name, such as the reasons for dropping rows, and figures by name, such as those
    of each encoder, as tables. A short list of rows that have a name is a table too: of “bands”, one of
    “band”; a database keeps no order of their keys. Other lists are left to the files.
    """
    named = {name: _by_name(name, value) or value for name, value in result.items()}
    tables = {name: _table(name, value) for name, value in named.items() if _is_table(value)}
    rest = {name: value for name, value in result.items() if name not in tables}
    return Parts(list(_figures(rest)), list(tables.values()))


def _by_name(name: str, rows: object) -> dict[str, dict[str, Any]]:
    """The rows of a list by their names, without them; none where it is long, or no list of such rows."""
    first = name.removesuffix("s")
    if not isinstance(rows, list) or len(rows) > LIST_MOST:
        return {}
    if not all(isinstance(row, Mapping) and first in row for row in rows):
        return {}
    if not all(_is_number(value) for row in rows for key, value in row.items() if key != first):
        return {}
    return {shown(row[first]): {key: value for key, value in row.items() if key != first} for row in rows}


def _is_table(value: object) -> bool:
    if not isinstance(value, Mapping) or not value or _is_estimate(value):
        return False
    parts = value.values()
    return all(map(_is_number, parts)) or all(isinstance(part, Mapping) for part in parts)


def _is_estimate(value: Mapping[str, Any]) -> bool:
    """A figure with its interval, and perhaps the number of what it is a figure of."""
    return {"value", "low", "high"} <= set(value) <= {"value", "low", "high", "n"}


def _is_number(value: object) -> bool:
    return type(value) in (int, float)


def _table(name: str, parts: Mapping[str, Any]) -> Table:
    if all(map(_is_number, parts.values())):
        largest_first = sorted(parts.items(), key=lambda item: -item[1])
        rows = [
            (key if ":" in key or "-" in key else capfirst(key.replace("_", " ")), [Figure("", shown(value))])
            for key, value in largest_first
        ]
        return Table(_words(name), [_("Number")], rows)
    figures = {key: {one.name: one for one in _figures(part)} for key, part in parts.items()}
    columns = list(dict.fromkeys(column for row in figures.values() for column in row))
    rows = [(key, [row.get(each, Figure(each, "–")) for each in columns]) for key, row in figures.items()]
    return Table(_words(name), columns, rows)


def _figures(values: Mapping[str, Any], before: str = "") -> Iterator[Figure]:
    """`x_low` and `x_high` are the interval of `x`; plain `low` and `high` that of the first figure."""
    bounds = {
        name: (f"{name}_low", f"{name}_high")
        for name in values
        if f"{name}_low" in values and f"{name}_high" in values
    }
    first = next(iter(values), "")
    if {"low", "high"} <= set(values) and first not in ("low", "high"):
        bounds[first] = ("low", "high")

    for name, value in values.items():
        if name in {bound for pair in bounds.values() for bound in pair}:
            continue
        if isinstance(value, Mapping) and _is_estimate(value):
            parts = [_interval(value, ("low", "high")), f"n = {shown(value['n'])}" if "n" in value else ""]
            yield Figure(_words(f"{before}{name}"), _even(value["value"]), ", ".join(filter(None, parts)))
        elif isinstance(value, Mapping):
            yield from _figures(value, f"{before}{name}: ")
        elif not isinstance(value, list) or (
            value and all(isinstance(part, str | int | float) for part in value)
        ):
            interval = _interval(values, bounds.get(name))
            yield Figure(_words(f"{before}{name}"), _even(value) if interval else shown(value), interval)


def _interval(values: Mapping[str, Any], bounds: tuple[str, str] | None) -> str:
    if bounds is None or not all(_is_number(values[bound]) for bound in bounds):
        return ""
    low, high = (_even(values[bound]) for bound in bounds)
    return _("%(low)s to %(high)s") % {"low": low, "high": high}


def _even(value: Any) -> str:
    """A figure and its bounds with as many digits as one another."""
    small = isinstance(value, float) and abs(value) < 10
    return f"{value:.3f}".replace("-", "−") if small else shown(value)


def _words(name: str) -> str:
    """A figure's name for people: its own, or the field's term where it has one."""
    return str(TERMS.get(name) or capfirst(name.replace("_", " ")))


TERMS: Mapping[str, Any] = {
    "auc": gettext_lazy("AUC on held-out sentences"),
    "verdicts_kept": gettext_lazy("Kept sentences learned from"),
    "verdicts_rejected": gettext_lazy("Rejected sentences learned from"),
    "verdict_auc_before": gettext_lazy("AUC for kept sentences, without decisions"),
    "verdict_auc_after": gettext_lazy("AUC for kept sentences, with decisions"),
    "verdict_auc_change": gettext_lazy("Change of the AUC for kept sentences"),
    "auc_in_sample": gettext_lazy("AUC on the training sentences"),
    "characters_auc": gettext_lazy("AUC of characters alone"),
    "words_auc": gettext_lazy("AUC of words alone"),
    "characters_auc_raw": gettext_lazy("AUC of characters, before normalising"),
    "median_p_human": gettext_lazy("Median p_D, human"),
    "median_p_machine": gettext_lazy("Median p_D, machine"),
    "ece_before": gettext_lazy("Calibration error before"),
    "ece_after": gettext_lazy("Calibration error after"),
    "brier_before": gettext_lazy("Brier score before"),
    "brier_after": gettext_lazy("Brier score after"),
    "spearman_p_target": gettext_lazy("Spearman of p_D and target"),
    "planted_auc": gettext_lazy("AUC of planted errors"),
    "planted_errors": gettext_lazy("Planted errors"),
    "mean_p_y": gettext_lazy("Mean p_y"),
    "agreeing": gettext_lazy("Share of pairs whose target is the likeliest label"),
    "suspected_errors": gettext_lazy("Suspected wrong targets (confident learning)"),
    "spearman_p_y_target": gettext_lazy("Spearman of p_y and target"),
    "circular": gettext_lazy("Circular: learned from the targets themselves"),
    "answers": gettext_lazy("Answers of the endpoint"),
    "earlier_answers": gettext_lazy("Answers taken from earlier runs"),
    "draws": gettext_lazy("The endpoint draws at random"),
    "generated_pairs": gettext_lazy("Generated pairs included"),
    "unreviewed": gettext_lazy("Generated pairs without a decision"),
    "unscored_left_out": gettext_lazy("Pairs without p_D, left out"),
    "unscored_as_human": gettext_lazy("Pairs without p_D, counted as human (p_D = 1)"),
    "work": gettext_lazy("Amount of work, for estimates of later runs"),
    "sd": gettext_lazy("sd over seeds"),
    "difference": gettext_lazy("Difference"),
    "difference_sd": gettext_lazy("sd over seeds"),
    "scorers": gettext_lazy("Scorers"),
    "timed_encoders": gettext_lazy("Encoders"),
    "compared_with": gettext_lazy("Differences of Spearman's correlation are from"),
    "mean_squared_distance": gettext_lazy("Mean squared distance to the scores"),
    "batches_of_like_length": gettext_lazy("Sentences per second, batches of like length"),
    "batches_in_order": gettext_lazy("Sentences per second, batches in order"),
    "accuracy_before": gettext_lazy("Accuracy on test triplets before the training"),
    "accuracy_after": gettext_lazy("Accuracy on test triplets after the training"),
    "gain": gettext_lazy("Gain of the training"),
    "held_out": gettext_lazy("Held out"),
    "tested": gettext_lazy("Documents, or sections of one document, that were tested"),
    "informs": gettext_lazy("Its scores carry information"),
    "too_long": gettext_lazy("Places left out because a sentence is too long"),
    "directions": gettext_lazy("Nats per token on held-out text; fewer are better"),
    "unigram": gettext_lazy("Frequencies of tokens"),
    "right_sentence": gettext_lazy("Right sentence of two found, as a share of held-out places"),
    "right_sentence_of_document": gettext_lazy("Where the other sentence is of the same document"),
    "right_sentence_of_corpus": gettext_lazy("Where the other sentence is of the whole corpus"),
    "right_context": gettext_lazy("Right contexts of two sentences found, which is what ranking needs"),
    "by_way": gettext_lazy("Pairs by how they were put together"),
    "by_split": gettext_lazy("Pairs of each split"),
    "p": "p",
    "p_holm": gettext_lazy("p, Holm"),
    "effective_pairs": gettext_lazy("Effective pairs (Σw)²/Σw²"),
    "devices": gettext_lazy("Devices that shared each batch"),
    "examples": gettext_lazy("Training examples"),
    "original_examples": gettext_lazy("Original examples among them"),
    "copies": gettext_lazy("Paraphrased copies among them"),
    "copies_missing": gettext_lazy("Copies that lack a paraphrase"),
    "fewest_in_a_batch": gettext_lazy("Examples of the smallest batch"),
    "most_in_a_batch": gettext_lazy("Examples of the largest batch"),
    "fewest_negatives": gettext_lazy("Negatives of an anchor in the smallest batch"),
    "most_negatives": gettext_lazy("Negatives of an anchor in the largest batch"),
    "loss_in_words": gettext_lazy("Shape of the loss"),
    "pooler_in_words": gettext_lazy("Pooler"),
    "dev_pairs": gettext_lazy("Dev pairs"),
    "sentences_at_equal_size": gettext_lazy("Sentences of the vocabularies that can be compared"),
    "examples_that_not_all_can_copy": gettext_lazy("Examples left out, because a variant cannot copy them"),
    "pre_seeds": gettext_lazy("Seeds of pre-fine-tuning"),
    "hit_rate": gettext_lazy("Share in the cell that was requested"),
    "near_rate": gettext_lazy("Share in that cell or one beside it"),
    "chance": gettext_lazy("Chance: one cell of all"),
    "gain_of_reranking": gettext_lazy("Gain of reranking, in the share in the requested cell"),
    "times_by_reranking": gettext_lazy("Times as many in the requested cell by reranking"),
    "error_of_similarity": gettext_lazy("Mean distance to the middle of the similarity tag"),
    "error_of_bleu": gettext_lazy("Mean distance to the middle of the BLEU tag"),
    "spearman_similarity": gettext_lazy("Spearman of requested and measured similarity"),
    "spearman_bleu": gettext_lazy("Spearman of requested and measured BLEU"),
    "ceiling": gettext_lazy("Human ceiling √reliability"),
    "ceiling_source": gettext_lazy("Reliability of the scores"),
    "training_data": gettext_lazy("Sentences that the encoder was trained on"),
    "all_and_unseen": gettext_lazy("All test pairs, and those without a sentence that was trained on"),
    "all_pairs": gettext_lazy("On all test pairs"),
    "dev_set": gettext_lazy("Dev set that chose the checkpoint"),
    "dev_left_out": gettext_lazy("Dev pairs left out: trained on before, or shared with the test"),
    "test_left_out": gettext_lazy("Test pairs left out, because a sentence of them was trained on before"),
    "dev_spearman": gettext_lazy("Spearman on dev pairs, by which it was chosen"),
    "test_spearman": gettext_lazy("Spearman on test pairs"),
    "chosen_by": gettext_lazy("Dev pairs are"),
    "chosen": gettext_lazy("Chosen settings"),
    "suites": gettext_lazy("Published test suites"),
    "thresholds": gettext_lazy("Thresholds from dev pairs"),
    "answered": gettext_lazy("Questions that were answered"),
    "unanswered": gettext_lazy("Questions without an answer"),
    "pairs_with_training_sentences": gettext_lazy("Pairs with a sentence that the model was trained on"),
    "asked": gettext_lazy("Asked for"),
    "missing": gettext_lazy("Pairs that were not found"),
    "mean_dice": gettext_lazy("Mean word overlap (Dice)"),
    "words_rule": gettext_lazy("Words"),
    "sha256": "SHA-256",
    "model_sha256": gettext_lazy("SHA-256 of the model"),
    "pairs_without_contexts": gettext_lazy("Pairs with fewer than three contexts"),
    "discriminator": gettext_lazy("Discriminative model"),
    "discriminator_sha256": gettext_lazy("SHA-256 of the discriminative model"),
    "base_sha256": gettext_lazy("SHA-256 of the base"),
    "snapshot_sha256": gettext_lazy("SHA-256 of the snapshot"),
}


def shown(value: Any) -> str:
    """A value of a plan or a result as text."""
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, list):
        texts = [shown(part) for part in value]
        return " ".join(texts) if all(text.endswith(".") for text in texts) else ", ".join(texts)
    if isinstance(value, int):
        return str(intcomma(value))
    if isinstance(value, float):
        return f"{value:.4g}"
    return "–" if value in (None, "") else str(value)


def duration_in_words(seconds: float | None) -> str:
    """A length of time in its two largest units: "850 ms", "42 s", "3 min 20 s", "2 h 5 min", "3 d 4 h"."""
    if seconds is None:
        return ""
    if seconds < 1:
        return _("%(number)s ms") % {"number": round(seconds * 1000)}
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    units = [_("%(number)s d"), _("%(number)s h"), _("%(number)s min"), _("%(number)s s")]
    parts = list(
        dropwhile(lambda part: not part[0], zip((*divmod(hours, 24), minutes, rest), units, strict=True))
    )
    return " ".join(unit % {"number": number} for number, unit in parts[:2] if number)


# Up to so many seconds, what remains is said in steps of so many: an estimate that changes all the time says nothing.
_STEPS = ((60, 10), (600, 60), (3600, 300), (6 * 3600, 900), (math.inf, 3600))


def remaining_in_words(seconds: float | None) -> str:
    """An estimate of the time left, rounded so that small changes of the speed do not show."""
    if seconds is None:
        return ""
    step = next(step for most, step in _STEPS if seconds <= most)
    return duration_in_words(max(step, step * round(seconds / step)))
