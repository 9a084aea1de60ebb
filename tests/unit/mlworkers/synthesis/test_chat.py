"""Instructions as chat messages, and strict reading of the answers."""

import pytest

from mlworkers.science.synthesis.chat import AnswerForm, question_of, sentence_in
from mlworkers.science.synthesis.estimates import Requests, estimate_of
from mlworkers.science.synthesis.plan import GenerationPlan
from mlworkers.science.synthesis.postprocessing import Reason, postprocessed
from mlworkers.science.synthesis.prompts import TASKS
from mlworkers.science.synthesis.rows import Source, WrittenRow

PLAN = GenerationPlan(dataset="scenes", model="openai:tiny", sampled=0, labels="1", samples=2, max_tokens=40)


def test_a_question_is_the_instruction_without_the_quote_that_a_chat_model_would_not_close() -> None:
    prompt = TASKS["sentences"].instructions["1"].prompt("A dog runs.")

    question = question_of(prompt, AnswerForm.QUOTED)

    assert question == (
        'Task: Write two sentences that mean the same thing.\nSentence 1: "A dog runs."\nSentence 2:\n\n'
        "Write only the missing sentence, in double quotes, and nothing before or after it."
    )


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ('{"sentence": "A hound runs."}', "A hound runs."),
        (' {"sentence": "He said \\"run\\"."}\n', 'He said "run".'),
        ('```json\n{"sentence": "A hound runs."}\n```', "A hound runs."),
        ('{"sentence": ""}', ""),
        ('Sure! {"sentence": "A hound runs."}', None),
        ('{"sentence": "A hound runs.", "note": "x"}', None),
        ('{"text": "A hound runs."}', None),
        ('{"sentence": ["A hound runs."]}', None),
        ('{"sentence": "A hound', None),
        ('"A hound runs."', None),
        ("A hound runs.", None),
        ("", None),
    ],
)
def test_a_json_answer_has_the_sentence_and_nothing_else(answer: str, sentence: str | None) -> None:
    assert sentence_in(answer, AnswerForm.JSON) == sentence


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ('"A hound runs."', "A hound runs."),
        ("“A hound runs.”\n", "A hound runs."),
        ('"He said “run”."', "He said “run”."),
        ('""', ""),
        ('"A hound runs." or "A dog sprints."', None),
        ("“A hound runs.” or “A dog sprints.”", None),
        ('Sentence 2: "A hound runs."', None),
        ('"A hound runs.', None),
        ("A hound runs.", None),
    ],
)
def test_a_quoted_answer_has_the_sentence_and_nothing_else(answer: str, sentence: str | None) -> None:
    assert sentence_in(answer, AnswerForm.QUOTED) == sentence


@pytest.mark.parametrize(
    ("answer", "finish", "reason"),
    [
        ('{"sentence": "A hound runs."}', "stop", None),
        ('{"sentence": "A hound ru', "length", Reason.CUT),
        ("", "content_filter", Reason.WITHHELD),
        ("I cannot do that.", "stop", Reason.OTHER_FORM),
        ('{"sentence": "A hound\\nruns."}', "stop", Reason.LINE_BREAK),
        ('{"sentence": " "}', "stop", Reason.EMPTY),
        ('{"sentence": "a dog runs"}', "stop", Reason.SOURCE),
    ],
)
def test_an_answer_that_cannot_be_used_is_dropped_with_its_reason(
    answer: str, finish: str, reason: Reason | None
) -> None:
    rows = [WrittenRow(1, "1", 0, answer, 9, 30, finish)]

    processed = postprocessed(rows, [Source(1, "A dog runs.", 1)], PLAN)

    assert [row.dropped for row in processed.rows] == [reason]


def test_an_estimate_counts_requests_tokens_and_cost() -> None:
    plan = GenerationPlan(
        dataset="scenes",
        model="openai:tiny",
        labels="1",
        samples=2,
        max_tokens=40,
        price_in=2.0,
        price_out=8.0,
        answer_form=AnswerForm.QUOTED,
    )

    estimate = estimate_of(["A dog runs.", "x"], plan)

    # The questions have 173 and 163 characters: 44 and 41 tokens, with 8 of the template each, twice.
    read, written = 2 * (44 + 8 + 41 + 8), 4 * (40 + 24)
    assert estimate == Requests(4, read, written, pytest.approx((read * 2 + written * 8) / 1e6))


def test_an_estimate_without_prices_has_no_cost() -> None:
    assert estimate_of(["A dog runs."], PLAN).most_cost is None
