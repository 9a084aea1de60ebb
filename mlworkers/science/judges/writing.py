"""The choice of a causal language model: the answer in the form that is asked for that the pairs make most probable.

A small model prefers the same answer whatever it is asked, such as the one that the question shows as an example. So an
answer counts by how much more probable the pairs make it than a question without content does (contextual calibration:
Zhao et al. 2021, arXiv 2102.09690, with “N/A” as the content).
"""

from collections.abc import Sequence
from functools import cache, partial
from itertools import permutations
from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache

from mlworkers.science.judges.asking import Asking, Choice, answer_of, tuple_question
from mlworkers.science.pretrained.compute import Fitting
from mlworkers.science.synthesis.generator import Generator

_NOTHING = ("N/A", "N/A")


class WritingJudge:
    """A causal model that is asked what the annotators of a campaign are asked."""

    def __init__(self, generator: Generator, asking: Asking) -> None:
        self._generator, self._asking, self._fitting = generator, asking, Fitting()
        self._without_content = cache(lambda size: self._log_probabilities([_NOTHING] * size))
        self._answers = cache(
            lambda size: [generator.plain_tokens(answer_of(choice)) for choice in _choices(size)]
        )

    def choice(self, pairs: Sequence[tuple[str, str]]) -> Choice:
        """Of all A = k · (k - 1) answers a about k pairs that with the highest log p(a | pairs) - log p(a | N/A).

        Every answer is asked for, so that none is lost in another form. Raises ModelError where the model's chat
        template fails, PromptTooLongError where the question does not fit into its context.
        """
        gained = self._log_probabilities(pairs) - self._without_content(len(pairs))  # (A,)
        return _choices(len(pairs))[int(gained.argmax())]

    def _log_probabilities(self, pairs: Sequence[tuple[str, str]]) -> Tensor:
        """In the model's chat template where it has one, else as plain text with the answer below. (A,)."""
        generator, question = self._generator, tuple_question(self._asking, pairs)
        answers = self._answers(len(pairs))
        room = max(map(len, answers))
        if generator.tokenizer.chat_template:
            prompt = generator.chat_tokens(question, room=room, opening="")
        else:
            prompt = generator.prompt_tokens(f"{question}\n", room=room)
        return torch.cat(self._fitting.parts(partial(log_probabilities, generator, prompt), answers))


def _choices(size: int) -> list[Choice]:
    return [Choice(*places) for places in permutations(range(size), 2)]


@torch.inference_mode()
def log_probabilities(
    generator: Generator, prompt: Sequence[int], answers: Sequence[Sequence[int]]
) -> Tensor:
    """log p(answer | prompt) of each of A answers, (A,): the sum over its tokens, of which there is at least one.

    The prompt is read once, and its keys and values are copied for every answer: A answers of t tokens after a prompt
    of n cost n + A · t tokens, not A · (n + t).
    """
    device, kept = generator.device, DynamicCache()
    model: Any = generator.model  # each architecture types its forward pass on its own
    read = model(input_ids=torch.tensor([list(prompt)], device=device), past_key_values=kept, use_cache=True)
    logits = (
        read.logits[:, -1:].float().expand(len(answers), 1, -1)
    )  # (A, 1, V), of the first token of each answer
    longest = max(map(len, answers))
    tokens = torch.zeros(len(answers), longest, dtype=torch.long)  # (A, t), padded behind
    real = torch.zeros(len(answers), longest, dtype=torch.bool)
    for row, answer in enumerate(answers):
        tokens[row, : len(answer)] = torch.tensor(list(answer))
        real[row, : len(answer)] = True
    tokens = tokens.to(device)
    if longest > 1:
        kept.batch_repeat_interleave(len(answers))
        # What is padded stands behind the answer, and no token before it attends to it.
        after = model(input_ids=tokens[:, :-1], past_key_values=kept, use_cache=True).logits
        logits = torch.cat([logits, after.float()], dim=1)  # (A, t, V)
    each: Tensor = logits.log_softmax(-1).gather(-1, tokens[..., None])[..., 0].cpu()  # (A, t)
    return each.masked_fill(~real, 0).sum(-1)
