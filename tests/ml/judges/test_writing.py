"""What a language model of this machine answers about a tuple."""

import numpy as np
import pytest
import torch

from mlworkers.science.judges.asking import Asking, Choice, answer_of, tuple_question
from mlworkers.science.judges.writing import WritingJudge, log_probabilities
from mlworkers.science.pretrained.compute import choose_compute
from mlworkers.science.pretrained.gguf import gguf_folder
from mlworkers.science.synthesis.generator import Generator, PromptTooLongError, load_generator
from tests.ml.gguf_model import gguf_write, llama

ASKING = Asking("Which are most related?", "most", "least")
PAIRS = [("the cat", "a cat"), ("a dog", "the stock"), ("rain", "it rains")]


@pytest.fixture(scope="module")
def generator(tmp_path_factory) -> Generator:
    folder = tmp_path_factory.mktemp("judge")
    file = gguf_write(folder / "small.gguf", llama())
    return load_generator(gguf_folder(file, folder / "converted"), choose_compute("cpu"))


def by_itself(generator: Generator, prompt: list[int], answer: list[int]) -> float:
    """log p(answer | prompt), one whole text at a time and token by token."""
    with torch.inference_mode():
        logits = generator.model(torch.tensor([[*prompt, *answer]])).logits[0].double()
    log_p = logits.log_softmax(-1)
    return sum(float(log_p[len(prompt) + place - 1, token]) for place, token in enumerate(answer))


def test_the_log_probabilities_are_those_of_each_whole_text(generator) -> None:
    prompt = generator.plain_tokens("the question")
    answers = [generator.plain_tokens(text) for text in ("yes", "no way", "x")]  # of different lengths

    found = log_probabilities(generator, prompt, answers)

    assert np.allclose(found, [by_itself(generator, prompt, answer) for answer in answers], atol=1e-4)


def test_one_token_is_answered_from_the_prompt_alone(generator) -> None:
    prompt = generator.plain_tokens("the question")

    found = log_probabilities(generator, prompt, [[7], [9]])

    assert np.allclose(found, [by_itself(generator, prompt, [token]) for token in (7, 9)], atol=1e-4)


def test_the_choice_is_the_answer_that_the_pairs_make_more_probable_than_no_content(generator) -> None:
    def asked(pairs) -> list[int]:
        return generator.chat_tokens(tuple_question(ASKING, pairs), room=20, opening="")

    choices = [Choice(best, worst) for best in range(3) for worst in range(3) if best != worst]
    gained = [
        by_itself(generator, asked(PAIRS), answer) - by_itself(generator, asked([("N/A", "N/A")] * 3), answer)
        for answer in (generator.plain_tokens(answer_of(choice)) for choice in choices)
    ]

    assert WritingJudge(generator, ASKING).choice(PAIRS) == choices[int(np.argmax(gained))]


def test_a_model_without_a_chat_template_reads_the_question_as_text(generator, tmp_path) -> None:
    file = gguf_write(tmp_path / "plain.gguf", llama(), chat="")
    plain = load_generator(gguf_folder(file, tmp_path / "converted"), choose_compute("cpu"))
    assert not plain.tokenizer.chat_template

    choice = WritingJudge(plain, ASKING).choice(PAIRS)

    assert choice.best != choice.worst


def test_a_question_that_does_not_fit_into_the_context_is_refused_with_its_length(generator) -> None:
    with pytest.raises(PromptTooLongError, match=r"exceed the model's context of 1024"):
        WritingJudge(generator, ASKING).choice([("long " * 400, "b"), ("c", "d")])
