"""A small GPT-2 trained on the spot on a dataset's own pairs, for where no large model can be had."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pad_sequence
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

from curation.files.progress import Report, silent
from mlworkers.plans.fields import HEAD_WIDTH
from mlworkers.science.pretrained.compute import Compute
from mlworkers.science.pretrained.learned_tokenizer import tokenizer_learned
from mlworkers.science.pretrained.loading import quiet_transformers
from mlworkers.science.synthesis.plan import BootstrapPlan
from mlworkers.science.synthesis.prompts import Example
from mlworkers.science.training.checkpoints import checkpoints_of
from mlworkers.science.training.loop import CurvePoint, train
from mlworkers.science.training.plan import LoopPlan
from mlworkers.science.training.schedule import BatchesOfLikeLength, Places

PARTS = 2  # of a batch; a constant, because the sum of their gradients depends on how it was parted
CHECKPOINT_STEPS = 50
CLIP = 1.0
BETAS = (0.9, 0.95)
IGNORED = -100


class TooFewPairsError(ValueError):
    """There is nothing to learn from."""


class TokenLists(NamedTuple):
    """An example in tokens, and how many of its first ones stand in every prompt and teach nothing, at least 1."""

    tokens: list[int]
    given: int


@dataclass(frozen=True)
class BootstrapResult:
    """too_long: examples that did not fit the context. loss: nats per token, the mean since the curve's last point but
    one.
    """

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
    checkpoints: Path | None = None,
    report: Report = silent,
    note: Callable[[CurvePoint], object] = lambda point: None,
    expired: Callable[[], bool] = lambda: False,
) -> BootstrapResult:
    """Train and save a generator as safetensors with its tokenizer into `folder`.

    On a processor the weights follow from examples and plan alone, however many cores there are and whether or not
    it was stopped in between: `checkpoints` is the folder from which a training that was killed goes on. expired:
    asked before each step whether the time is over. note: gets every point of the curve, its loss in nats per token.
    Raises TooFewPairsError, TrainingError, CheckpointError.
    """
    texts = (text for example in examples for text in example)
    tokenizer = tokenizer_learned(texts, vocabulary=plan.vocabulary, longest=plan.context)
    listed = [_tokens(tokenizer, example) for example in examples]  # two for each pair, one in either order
    fitting = [each for each in listed if len(each.tokens) <= plan.context]
    if not fitting:
        raise TooFewPairsError(
            f"None of the {len(listed)} examples fits into {plan.context} tokens; give pairs with scores, or a longer "
            "context."
        )
    kept = checkpoints_of(checkpoints, plan, fitting, every_steps=CHECKPOINT_STEPS)
    model = _model(plan, tokenizer, compute.device)  # weights follow from plan.seed
    with _side_by_side(compute.workers) as pool:
        trained = train(
            ExampleLearner(model, fitting, compute, pool),
            BatchesOfLikeLength(
                np.array([len(each.tokens) for each in fitting]),
                batch_size=plan.batch,
                steps=plan.steps,
                warmup=plan.warmup,
                seed=plan.seed,
            ),
            LoopPlan(plan.learning_rate, plan.seed, weight_decay=plan.weight_decay, clip=CLIP, betas=BETAS),
            checkpoints=kept,
            report=report,
            note=note,
            expired=expired,
            message="Training the generator",
        )
    with quiet_transformers():
        model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return BootstrapResult(
        steps=trained.steps,
        examples=len(fitting),
        too_long=len(listed) - len(fitting),
        parameters=sum(weight.numel() for weight in model.parameters()),
        tokens=sum(len(each.tokens) for each in fitting),
        loss=trained.kept.loss,
        finished=trained.steps == plan.steps,
    )


def _tokens(tokenizer: PreTrainedTokenizerFast, example: Example) -> TokenLists:
    """Prompt and answer are cut into tokens apart, as they will be when the model is to answer."""
    prompt, answer = (tokenizer(text, add_special_tokens=False)["input_ids"] for text in example)
    # With DINO's instructions this line is “Task: Write two sentences that …”.
    given = tokenizer(example.prompt.split("\n")[0], add_special_tokens=False)["input_ids"]
    # Given are the tokens of the prompt's first line; the lines after it are learned as the answer is.
    # Nothing stands before the first token, so it is never a target.
    return TokenLists([*prompt, *answer, tokenizer.eos_token_id], max(1, len(given)))


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


class ExampleLearner:
    """A generator and the examples it learns, as `training.loop` takes them. See `training.loop.Learner`.

    A batch is computed in parts side by side, one core each; pool runs them.
    """

    def __init__(
        self, model: GPT2LMHeadModel, examples: Sequence[TokenLists], compute: Compute, pool: Executor
    ) -> None:
        self.module: nn.Module = model
        self._model, self._examples, self._compute, self._pool = model, examples, compute, pool
        self._weights = list(model.parameters())

    def shares(self, batch: Places) -> Tensor:
        """How many tokens of the batch teach, (b,): the loss is their mean."""
        count = sum(len(each.tokens) - each.given for each in self._of(batch))
        return torch.full((len(batch),), count)

    def backward(self, batch: Places, shares: Tensor) -> Tensor:
        """Add the gradients of some examples of a batch; returns their part of its mean loss per token, in nats."""
        examples, count = self._of(batch), int(shares[0])
        # A batch's examples are of like length, so its parts take about as long.
        parts = [examples[part::PARTS] for part in range(PARTS) if examples[part::PARTS]]
        # Nats, summed over tokens.
        losses, gradients = zip(*self._pool.map(self._gradients, parts), strict=True)
        for weight, *of_parts in zip(self._weights, *gradients, strict=True):
            # L = (1 / count) Σ_parts Σ_tokens -log p, so the gradient of L is the sum of the parts' gradients
            # over count. Parts have different numbers of tokens: a mean of their means would weight the
            # tokens of short parts more.
            gradient = torch.stack(of_parts).sum(0).div_(count)
            weight.grad = gradient if weight.grad is None else weight.grad + gradient
        return torch.tensor(sum(losses) / count, device=self._compute.device)

    def _of(self, batch: Places) -> list[TokenLists]:
        return [self._examples[index] for index in batch]

    def _gradients(self, part: list[TokenLists]) -> tuple[float, tuple[Tensor, ...]]:
        """The summed loss of some examples in nats, and its gradients."""
        tokens, targets = (tensor.to(self._compute.device) for tensor in padded(part))  # (b, t), (b, t)
        hidden = self._model.transformer(tokens, use_cache=False).last_hidden_state  # (b, t, d)
        # The output layer runs over the places with a target alone: (targets, V) logits instead of (b, t, V).
        learned = targets != IGNORED
        logits = self._model.lm_head(hidden[learned])  # (tokens that teach, vocabulary)
        loss = cross_entropy(logits, targets[learned], reduction="sum")
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

    Padding is at the end, where no earlier token attends to it.
    """
    # Place t predicts token t + 1, so an example of n tokens has n - 1 places. With tokens numbered from 0, the
    # ignored targets are the tokens 1 … given - 1, the others are the tokens given … n - 1.
    tokens = [torch.tensor(each.tokens[:-1]) for each in examples]
    targets = [torch.tensor([IGNORED] * (each.given - 1) + each.tokens[each.given :]) for each in examples]
    return pad_sequence(tokens, batch_first=True), pad_sequence(targets, True, IGNORED)
