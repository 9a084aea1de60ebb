"""The choice of a causal language model: of all answers in the form that is asked for, the one most probable to it."""

from collections.abc import Sequence
from itertools import permutations

import torch
from transformers import DynamicCache

from mlworkers.science.judges.asking import Choice, answer_of
from mlworkers.science.synthesis.generator import Generator


@torch.inference_mode()
def choice_by_probability(generator: Generator, question: str, size: int) -> Choice:
    """The answer a of all A = size · (size - 1) choices for which log p(a | question) is the highest.

    question: what a chat model is asked; in the model's chat template where it has one, else as plain text with the
    answer below. Every choice is asked for, so that none is lost to an answer in another form. Raises ModelError where
    the template fails, PromptTooLongError where the question does not fit into the model's context.
    """
    choices = [Choice(*places) for places in permutations(range(size), 2)]
    answers = [generator.plain_tokens(answer_of(choice)) for choice in choices]
    room = max(map(len, answers))
    if generator.tokenizer.chat_template:
        prompt = generator.chat_tokens(question, room=room, opening="")
    else:
        prompt = generator.prompt_tokens(f"{question}\n", room=room)
    sums = log_probabilities(generator, prompt, answers)
    return choices[int(sums.argmax())]


def log_probabilities(
    generator: Generator, prompt: Sequence[int], answers: Sequence[Sequence[int]]
) -> torch.Tensor:
    """log p(answer | prompt) of each of A answers, (A,): the sum over its tokens, of which there is at least one.

    The prompt is read once, and its keys and values are copied for every answer: A answers of t tokens after a prompt of
    n cost n + A · t tokens, not A · (n + t).
    """
    device, cache = generator.device, DynamicCache()
    read = generator.model(
        input_ids=torch.tensor([list(prompt)], device=device), past_key_values=cache, use_cache=True
    )
    first = read.logits[:, -1:].float()  # (1, 1, V), of the first token of every answer
    cache.batch_repeat_interleave(len(answers))
    longest = max(map(len, answers))
    tokens = torch.zeros(len(answers), longest, dtype=torch.long, device=device)  # (A, t), padded behind
    real = torch.zeros(len(answers), longest, dtype=torch.bool, device=device)
    for row, answer in enumerate(answers):
        tokens[row, : len(answer)] = torch.tensor(list(answer))
        real[row, : len(answer)] = True
    logits = first.expand(len(answers), 1, -1)
    if longest > 1:
        # What is padded stands behind the answer, and no token before it attends to it.
        after = generator.model(input_ids=tokens[:, :-1], past_key_values=cache, use_cache=True).logits
        logits = torch.cat([logits, after.float()], dim=1)  # (A, t, V)
    each = logits.log_softmax(-1).gather(-1, tokens[..., None])[..., 0]  # (A, t)
    return each.masked_fill(~real, 0).sum(-1)
