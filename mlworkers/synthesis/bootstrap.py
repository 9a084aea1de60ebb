"""A small GPT-2 trained on the spot on a dataset's own pairs, for where no large model can be had."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

from mlworkers.compute import Compute
from mlworkers.progress import Report, silent
from mlworkers.synthesis.byte_pairs import tokenizer_learnt
from mlworkers.synthesis.checkpoint import checkpoint_read, checkpoint_write
from mlworkers.synthesis.examples import Example
from mlworkers.synthesis.generator import quiet_library
from mlworkers.synthesis.plan import BootstrapPlan

HEAD_WIDTH = 32
PARTS = 2  # of a batch; a constant, because the sum of their gradients depends on how it was parted
BATCHES_IN_POOL = 8
CHECKPOINT_STEPS = 50
CLIP = 1.0
IGNORED = -100


class TooFewPairsError(ValueError):
    """There is nothing to learn from."""


class TokenLists(NamedTuple):
    """An example in tokens, and how many of its first ones stand in every prompt and teach nothing."""

    tokens: list[int]
    given: int


@dataclass(frozen=True)
class Trained:
    """What came of a training. too_long: examples that did not fit the context. losses: (step, nats per token)."""

    steps: int
    examples: int
    too_long: int
    parameters: int
    tokens: int
    loss: float
    finished: bool


def generator_trained(
    examples: Sequence[Example],
    plan: BootstrapPlan,
    compute: Compute,
    *,
    folder: Path,
    checkpoint: Path | None = None,
    report: Report = silent,
    curve: Callable[[int, float], None] = lambda step, loss: None,
    expired: Callable[[], bool] = lambda: False,
) -> Trained:
    """Train and save a generator as safetensors with its tokenizer into `folder`.

    On a processor the weights follow from examples and plan alone, however many cores there are and whether or not
    it was stopped in between: `checkpoint` is where a training that was killed is taken up again. expired: asked
    before each step whether the time is over. curve: told of (step, loss in nats per token).
    Raises TooFewPairsError, CheckpointError.
    """
    tokenizer = tokenizer_learnt(
        (text for example in examples for text in example), vocabulary=plan.vocabulary, longest=plan.context
    )
    listed = [_tokens(tokenizer, example) for example in examples]
    fitting = [each for each in listed if len(each.tokens) <= plan.context]
    if not fitting:
        raise TooFewPairsError(
            f"None of the {len(listed)} examples fits into {plan.context} tokens; give pairs with scores, or a longer "
            "context."
        )
    model = _model(plan, tokenizer, compute.device)
    with _side_by_side(compute.workers) as pool:
        training = _Training(model, fitting, plan, compute, pool)
        done, loss = training.run(checkpoint, report, curve, expired)
    _save(model, tokenizer, folder)
    return Trained(
        steps=done,
        examples=len(fitting),
        too_long=len(listed) - len(fitting),
        parameters=sum(weight.numel() for weight in model.parameters()),
        tokens=sum(len(each.tokens) for each in fitting),
        loss=loss,
        finished=done == plan.steps,
    )


def _tokens(tokenizer: PreTrainedTokenizerFast, example: Example) -> TokenLists:
    """Prompt and answer are cut into tokens apart, as they will be when the model is to answer."""
    prompt, answer = (tokenizer(text, add_special_tokens=False)["input_ids"] for text in example)
    given = tokenizer(example.prompt.split("\n")[0], add_special_tokens=False)["input_ids"]
    return TokenLists([*prompt, *answer, tokenizer.eos_token_id], len(given))


def _model(plan: BootstrapPlan, tokenizer: PreTrainedTokenizerFast, device: torch.device) -> GPT2LMHeadModel:
    config = GPT2Config(
        vocab_size=len(tokenizer),
        n_positions=plan.context,
        n_embd=plan.width,
        n_layer=plan.layers,
        n_head=plan.width // HEAD_WIDTH,
        activation_function="gelu_pytorch_tanh",  # GPT-2's own function, in one kernel: a quarter less time
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    with torch.random.fork_rng():
        torch.manual_seed(plan.seed)
        model: Any = GPT2LMHeadModel(config)
    made: GPT2LMHeadModel = model.to(device)
    return made


class _Training:
    """The loop: batches of like length, each computed in parts side by side, one AdamW step a batch."""

    def __init__(
        self,
        model: GPT2LMHeadModel,
        examples: list[TokenLists],
        plan: BootstrapPlan,
        compute: Compute,
        pool: Executor,
    ) -> None:
        self._model, self._examples, self._plan, self._compute = model, examples, plan, compute
        self._pool = pool
        self._weights = list(model.parameters())
        self._optimizer = torch.optim.AdamW(
            [
                {
                    "params": [weight for weight in self._weights if weight.dim() > 1],
                    "weight_decay": plan.weight_decay,
                },
                {"params": [weight for weight in self._weights if weight.dim() < 2], "weight_decay": 0.0},
            ],
            lr=plan.learning_rate,
            betas=(0.9, 0.95),
            fused=True,
        )
        self._order: dict[int, list[list[int]]] = {}

    def run(
        self,
        checkpoint: Path | None,
        report: Report,
        curve: Callable[[int, float], None],
        expired: Callable[[], bool],
    ) -> tuple[int, float]:
        """Returns the steps made and the loss of the last one."""
        step = checkpoint_read(checkpoint, self._model, self._optimizer) if checkpoint else 0
        loss = float("nan")
        while step < self._plan.steps and not expired():
            loss = self._step(step)
            step += 1
            curve(step, loss)
            report(step, self._plan.steps, "Training the generator")
            # Not after the last step: whoever went on from there would have no loss to tell.
            if checkpoint and step % CHECKPOINT_STEPS == 0 and step < self._plan.steps:
                checkpoint_write(checkpoint, self._model, self._optimizer, step)
        return step, loss

    def _step(self, step: int) -> float:
        batch = [self._examples[place] for place in self._batch(step)]
        parts = [batch[part::PARTS] for part in range(PARTS) if batch[part::PARTS]]
        count = sum(len(each.tokens) - each.given for each in batch)
        losses, gradients = zip(*self._pool.map(self._gradients, parts), strict=True)
        for weight, *of_parts in zip(self._weights, *gradients, strict=True):
            weight.grad = torch.stack(of_parts).sum(0).div_(count)
        torch.nn.utils.clip_grad_norm_(self._weights, CLIP)
        for group in self._optimizer.param_groups:
            group["lr"] = self._plan.learning_rate * rate_at(step, self._plan.steps, self._plan.warmup)
        self._optimizer.step()
        return float(sum(losses) / count)

    def _batch(self, step: int) -> list[int]:
        """The places of the examples of a step: that follows from the step alone, so that any step can be the first."""
        in_epoch = -(-len(self._examples) // self._plan.batch)
        epoch, place = divmod(step, in_epoch)
        if epoch not in self._order:
            lengths = np.array([len(each.tokens) for each in self._examples])
            self._order = {epoch: epoch_batches(lengths, self._plan.batch, seed=(self._plan.seed, epoch))}
        return self._order[epoch][place]

    def _gradients(self, part: list[TokenLists]) -> tuple[float, tuple[Tensor, ...]]:
        """The summed loss of some examples in nats, and its gradients."""
        tokens, targets = (tensor.to(self._compute.device) for tensor in padded(part))
        hidden = self._model.transformer(tokens, use_cache=False).last_hidden_state  # (B, T, D)
        learnt = targets != IGNORED
        logits = self._model.lm_head(hidden[learnt])  # (tokens that teach, V)
        loss = cross_entropy(logits, targets[learnt], reduction="sum")
        return float(loss.detach()), torch.autograd.grad(loss, self._weights)


@contextmanager
def _side_by_side(workers: int) -> Iterator[Executor]:
    """Threads that compute on one core each. This one keeps to one as well: cores that wait for each other after
    every small multiplication of an update would be taken from the threads that do the work.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with ThreadPoolExecutor(workers, initializer=torch.set_num_threads, initargs=(1,)) as pool:
            yield pool
    finally:
        torch.set_num_threads(threads)


def padded(examples: Sequence[TokenLists]) -> tuple[Tensor, Tensor]:
    """Tokens (B, T) and targets (B, T), each the token that follows; what teaches nothing is IGNORED.

    Padding stands at the end, where no earlier token attends to it.
    """
    width = max(len(each.tokens) for each in examples) - 1
    tokens = torch.zeros(len(examples), width, dtype=torch.long)
    targets = torch.full((len(examples), width), IGNORED)
    for row, each in enumerate(examples):
        end = len(each.tokens) - 1
        tokens[row, :end] = torch.tensor(each.tokens[:-1])
        targets[row, each.given : end] = torch.tensor(each.tokens[each.given + 1 :])
    return tokens, targets


def epoch_batches(lengths: np.ndarray, size: int, *, seed: tuple[int, int]) -> list[list[int]]:
    """Every example once, in batches of like length and random order: little of a batch is padding.

    lengths: tokens of each example, (n,). Examples are shuffled, sorted within pools of some batches, cut and shuffled.
    """
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(lengths))
    pool = size * BATCHES_IN_POOL
    batches = []
    for start in range(0, len(order), pool):
        drawn = order[start : start + pool]
        alike = drawn[np.argsort(lengths[drawn], kind="stable")]
        batches += [alike[first : first + size].tolist() for first in range(0, len(alike), size)]
    return [batches[place] for place in rng.permutation(len(batches))]


def rate_at(step: int, steps: int, warmup: float) -> float:
    """The share of the highest learning rate: a linear rise over the warm-up, a linear fall to 0 at the end."""
    rising = max(1.0, warmup * steps)
    return min((step + 1) / rising, (steps - step) / max(1.0, steps - rising))


def _save(model: GPT2LMHeadModel, tokenizer: PreTrainedTokenizerFast, folder: Path) -> None:
    with quiet_library():
        model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
