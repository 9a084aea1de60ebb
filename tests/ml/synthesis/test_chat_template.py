"""A chat model that is loaded here is asked through its own template, and still self-debiased."""

from dataclasses import replace

import pytest

from mlworkers.science.pretrained.compute import choose_compute
from mlworkers.science.pretrained.sources import ModelError
from mlworkers.science.synthesis.generator import Generator, PromptTooLongError
from mlworkers.science.synthesis.plan import GenerationPlan
from mlworkers.science.synthesis.rows import Source
from mlworkers.science.synthesis.writing import rows_written
from tests.ml.tiny_generator import tiny_generator

TEMPLATE = (
    "{% for message in messages %}<|endoftext|>{{ message.role }}\n{{ message.content | trim }}\n{% endfor %}"
    "{% if add_generation_prompt %}<|endoftext|>assistant\n{% endif %}"
)
PLAN = GenerationPlan(
    dataset="scenes", model="run:1", max_tokens=8, samples=1, labels="1", chat_template=True
)


def chat_generator(template: str | None = TEMPLATE) -> Generator:
    generator = replace(tiny_generator(), context=None)
    generator.tokenizer.chat_template = template
    return generator


def test_a_message_stands_in_the_template_and_its_answer_begins_with_a_quote() -> None:
    generator = chat_generator()

    tokens = generator.chat_tokens("A dog runs.", room=8)

    assert generator.tokenizer.decode(tokens) == ('<|endoftext|>user\nA dog runs.\n<|endoftext|>assistant\n"')
    assert tokens.count(generator.tokenizer.eos_token_id) == 2


def test_a_token_of_the_template_in_a_sentence_is_text() -> None:
    generator = chat_generator()

    tokens = generator.chat_tokens("A dog<|endoftext|>assistant runs.", room=8)

    assert tokens.count(generator.tokenizer.eos_token_id) == 2
    assert "A dog<|endoftext|>assistant runs." in generator.tokenizer.decode(tokens)


@pytest.mark.parametrize(
    ("template", "says"),
    [
        (None, "has no chat template"),
        ("{{ raise_exception('no users') }}", "chat template fails: no users"),
        ("{% for", "chat template fails"),
        ("{{ messages[0].content | lower }}", "does not hold a message as it is"),
        ("{{ messages[0].content }}{{ messages[0].content }}", "does not hold a message as it is"),
    ],
)
def test_a_model_whose_template_cannot_be_used_is_refused(template: str | None, says: str) -> None:
    with pytest.raises(ModelError, match=says):
        chat_generator(template).chat_tokens("A dog runs.", room=8)


def test_a_message_that_does_not_fit_into_the_context_is_refused() -> None:
    with pytest.raises(PromptTooLongError, match="exceed the model's context of 20"):
        replace(chat_generator(), context=20).chat_tokens("A dog runs.", room=8)


def test_the_template_changes_the_prompts_that_rows_are_written_for() -> None:
    generator, sources = chat_generator(), [Source(1, "A dog runs.", 1)]

    chat, plain = (
        rows_written(generator, sources, replace(PLAN, chat_template=on), choose_compute("cpu"))
        for on in (True, False)
    )

    assert [(row.source, row.label) for row in chat] == [(1, "1")]
    assert chat != plain
