"""Scores in batches against one sentence and one context at a time, and what a killed run keeps."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch.nn.functional import log_softmax

from mlworkers.science.contexts.asking import Questioner, batches_of
from mlworkers.science.contexts.corpus import Context
from mlworkers.science.contexts.gaps import Form, Question, Row
from mlworkers.science.contexts.kept_values import KeptValues
from mlworkers.science.contexts.language_model import ContextModel, load_context_model
from mlworkers.science.pretrained.sources import ModelError
from tests.ml.contexts.models import COMPUTE, bart, gpt2, t5

SENTENCES = ("The dog slept.", "A cat likes the garden very much and came to the kitchen.", "Dog!")
CONTEXTS = (
    Context(("It was quiet.", "The cat came."), ("Then the dog left.", "It was night.")),
    Context(("One.",), ("The kitchen was very quiet and the garden too.",)),
    Context(("The quiet garden likes the quiet dog.", "A dog came to the cat."), ("Yes.",)),
)
QUESTIONS = [Question(sentence, context) for context in CONTEXTS for sentence in SENTENCES]


def mean_log(model: ContextModel, tokens: list[int], read: list[int], *, given: int) -> float:
    """Of the tokens after the first `given` ones, one at a time, by the model alone."""
    logs = []
    with torch.inference_mode():
        for place in range(max(given, 1), len(tokens)):
            before = torch.tensor([tokens[:place]])
            if read:
                logits = model.model(input_ids=torch.tensor([read]), decoder_input_ids=before).logits
            else:
                logits = model.model(input_ids=before).logits
            logs.append(float(log_softmax(logits[0, -1].double(), -1)[tokens[place]]))
    return float(np.mean(logs))


def by_bart(model: ContextModel, left: list[int], s: list[int], right: list[int]) -> list[float]:
    gap, ends, start = [3], [2], [2]  # <mask>, </s>, and </s> again before what the decoder writes
    return [
        mean_log(model, start + s, [0, *left, *gap, *right, *ends], given=1),
        mean_log(model, start + left, [0, *gap, *s, *right, *ends], given=1),
        mean_log(model, start + right, [0, *left, *s, *gap, *ends], given=1),
    ]


def by_whole_bart(model: ContextModel, left: list[int], s: list[int], right: list[int]) -> list[float]:
    gap, start = [3], [2, 0]
    return [
        mean_log(model, [*start, *left, *s], [0, *left, *gap, *right, 2], given=2 + len(left)),
        mean_log(model, [*start, *left], [0, *gap, *s, *right, 2], given=2),
        mean_log(model, [*start, *left, *s, *right], [0, *left, *s, *gap, 2], given=2 + len(left + s)),
    ]


def by_t5(model: ContextModel, left: list[int], s: list[int], right: list[int]) -> list[float]:
    gap = [model.tokenizer.convert_tokens_to_ids("<extra_id_0>")]
    start = [0, *gap]
    return [
        mean_log(model, start + s, [*left, *gap, *right, 1], given=2),
        mean_log(model, start + left, [*gap, *s, *right, 1], given=2),
        mean_log(model, start + right, [*left, *s, *gap, 1], given=2),
    ]


def by_gpt2(model: ContextModel, left: list[int], s: list[int], right: list[int]) -> list[float]:
    return [
        mean_log(model, [0, *left, *s], [], given=1 + len(left)),
        np.nan,
        mean_log(model, [0, *left, *s, *right], [], given=1 + len(left + s)),
    ]


def by_bare_gpt2(model: ContextModel, left: list[int], s: list[int], right: list[int]) -> list[float]:
    return [
        mean_log(model, left + s, [], given=len(left)),
        np.nan,
        mean_log(model, left + s + right, [], given=len(left + s)),
    ]


Plain = Callable[[ContextModel, list[int], list[int], list[int]], list[float]]


def plainly(model: ContextModel, plain: Plain, questions: Sequence[Question]) -> NDArray[np.float64]:
    rows = []
    for sentence, context in questions:
        left, right = (model.tokens(" ".join(side)) for side in context)
        rows.append(plain(model, left[-model.room :], model.tokens(sentence), right[: model.room]))
    return np.array(rows)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("model", "plain"),
    [
        (bart(Form.GAP), by_bart),
        (bart(Form.WHOLE), by_whole_bart),
        (t5(), by_t5),
        (gpt2(), by_gpt2),
        (gpt2(begins=False), by_bare_gpt2),
    ],
    ids=["trained here", "BART", "T5", "causal", "causal without a first token"],
)
def test_scores_in_batches_equal_those_of_one_sentence_in_one_context(
    model: ContextModel, plain: Plain
) -> None:
    expected = plainly(model, plain, QUESTIONS)

    found = Questioner(model).terms(QUESTIONS)

    assert found[:, 1:] == pytest.approx(expected, abs=1e-5, nan_ok=True)
    assert np.isnan(found[:, 0]).all()
    assert expected[0, 0] != pytest.approx(expected[1, 0], abs=0.01)


def test_a_first_token_that_nothing_predicts_is_unknown_and_no_text_is_zero() -> None:
    nothing_before = Context((), ("Then the dog left.",))
    alone = Context((), ())

    one, two = Questioner(gpt2(begins=False)).terms([Question("dog", nothing_before), Question("dog", alone)])

    assert np.isnan(one[1])
    assert one[3] < 0
    assert np.isnan(two[1])
    assert two[3] == 0


def test_contexts_are_cut_at_their_far_ends_and_a_sentence_never() -> None:
    model = bart(Form.GAP, part_tokens=6)
    long = Context(("far away " * 30, "The cat came."), ("The dog left.", "far away " * 30))
    near = Context((" ".join([*long.left])[-80:],), (" ".join(long.right)[:80],))

    [rows] = model.rows([Question("Dog!", long)])

    assert rows == model.rows([Question("Dog!", near)])[0]
    assert len(rows[1].writes[0]) == len(rows[2].writes[0]) == 6
    assert model.fits("Dog!")
    assert not model.fits(SENTENCES[1])


def test_what_was_answered_is_not_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    questioner = Questioner(bart(Form.GAP))
    first = questioner.terms(QUESTIONS)
    seen: list[int] = []

    second = questioner.terms(QUESTIONS[::-1], report=lambda done, total, message: seen.append(done))

    assert not seen
    assert np.array_equal(second[::-1], first, equal_nan=True)


class StoppedError(Exception):
    pass


def test_a_killed_run_keeps_what_it_knew_and_its_successor_gives_the_same_to_the_last_bit(
    tmp_path: Path,
) -> None:
    def run(path: Path, *, stop_after: int = 10**9) -> tuple[NDArray[np.float64], int]:
        """Two calls, as selection and comparison make them; the passes that were computed in the last."""
        computed = 0

        def report(done: int, total: int, message: str) -> None:
            nonlocal computed
            computed += 1
            if computed == stop_after:
                raise StoppedError

        questioner = Questioner(bart(Form.GAP), KeptValues(path))
        first = questioner.terms(QUESTIONS[:4], report=report)
        return np.concatenate([first, questioner.terms(QUESTIONS, report=report)]), computed

    whole, batches = run(tmp_path / "whole")
    with pytest.raises(StoppedError):
        run(tmp_path / "killed", stop_after=batches - 2)
    with (tmp_path / "killed").open("ab") as file:
        file.write(b"half a record")

    resumed, rest = run(tmp_path / "killed")

    assert rest == 2
    assert np.array_equal(resumed, whole, equal_nan=True)
    assert (tmp_path / "killed").stat().st_size == (tmp_path / "whole").stat().st_size


def test_batches_keep_to_their_budget_and_what_reads_the_same_stays_together() -> None:
    rng = np.random.default_rng(1)
    reads = [tuple(range(length)) for length in (5, 9, 20)]
    rows = [
        Row(reads[rng.integers(3)], (0,), (tuple(range(rng.integers(1, 12))),), ("sentence",))
        for _ in range(60)
    ]
    keyed = [(number.to_bytes(16, "big"), row) for number, row in enumerate(rows)]

    batches = batches_of(keyed, tokens_per_batch=64)

    assert sorted(key for batch in batches for key, _row in batch) == [key for key, _row in keyed]
    for batch in batches:
        distinct = {row.read for _key, row in batch}
        cost = len(distinct) * max(map(len, distinct)) + len(batch) * max(row.decoded for _key, row in batch)
        assert cost <= 64
    order = [row.read for batch in batches for _key, row in batch]
    assert sum(one != other for one, other in pairwise(order)) == 2
    assert batches_of([], tokens_per_batch=64) == []


def test_a_model_without_a_mask_token_is_refused_in_one_sentence(tmp_path: Path) -> None:
    made = bart(Form.GAP)
    made.model.save_pretrained(tmp_path)
    made.tokenizer.mask_token = None
    made.tokenizer.save_pretrained(tmp_path)

    with pytest.raises(ModelError, match=r"has no mask token, so it cannot be asked .*\.$"):
        load_context_model(tmp_path, COMPUTE, part_tokens=20)
