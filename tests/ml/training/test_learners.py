"""The training loop knows nothing of the model: a sequence-to-sequence model, a contrastive encoder and a BiLSTM go
through it, killed in the middle and resumed.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy, normalize

from mlworkers.science.training.checkpoints import Checkpoints
from mlworkers.science.training.loop import TrainingResult, train
from mlworkers.science.training.plan import LoopPlan
from mlworkers.science.training.schedule import BatchesOfLikeLength, Places, Schedule, ShuffledEpochs

WORDS, WIDTH, ROWS = 12, 8, 24
PLAN = LoopPlan(learning_rate=1e-2, weight_decay=0.01, clip=1.0, seed=7)


class SequenceToSequence:
    """A transformer that writes a sequence of tokens backwards: the loss is a mean over tokens, not over rows."""

    def __init__(self) -> None:
        self.module = nn.ModuleDict(
            {
                "embed": nn.Embedding(WORDS, WIDTH),
                "body": nn.Transformer(WIDTH, 2, 1, 1, 16, dropout=0.1, batch_first=True),
                "write": nn.Linear(WIDTH, WORDS),
            }
        )
        rng = np.random.default_rng(1)
        self.lengths = rng.integers(2, 9, size=ROWS)
        self.rows = [torch.from_numpy(rng.integers(1, WORDS, size=length)) for length in self.lengths]

    def schedule(self) -> Schedule:
        return BatchesOfLikeLength(self.lengths, batch_size=6, steps=8, warmup=0.1, seed=3)

    def shares(self, batch: Places) -> Tensor:
        tokens = sum(int(self.lengths[place]) for place in batch)
        return torch.full((len(batch),), 1 / tokens)

    def backward(self, batch: Places, shares: Tensor) -> Tensor:
        read = nn.utils.rnn.pad_sequence([self.rows[place] for place in batch], True)  # (b, t)
        wanted = nn.utils.rnn.pad_sequence([self.rows[place].flip(0) for place in batch], True)  # (b, t)
        before = torch.cat([torch.zeros(len(batch), 1, dtype=torch.long), wanted[:, :-1]], 1)
        mask = nn.Transformer.generate_square_subsequent_mask(read.shape[1])
        hidden = self.module["body"](
            self.module["embed"](read), self.module["embed"](before), tgt_mask=mask, tgt_is_causal=True
        )  # (b, t, d)
        logits = self.module["write"](hidden).transpose(1, 2)  # (b, words, t)
        of_rows = cross_entropy(logits, wanted, ignore_index=0, reduction="none").sum(1)  # (b,)
        loss = of_rows @ shares
        loss.backward()
        return loss.detach()


class Contrastive:
    """SimCSE's kind: each row goes through twice with its own dropout; the rows of a batch are each other's negatives,
    so that a batch is not cut into parts.
    """

    def __init__(self) -> None:
        self.module = nn.Sequential(nn.Linear(WIDTH, 16), nn.Dropout(0.2), nn.Tanh(), nn.Linear(16, WIDTH))
        self.rows = torch.from_numpy(np.random.default_rng(2).normal(size=(ROWS, WIDTH)).astype(np.float32))

    def schedule(self) -> Schedule:
        return ShuffledEpochs(ROWS, batch_size=6, epochs=2, warmup=0.0, seed=3)

    def shares(self, batch: Places) -> Tensor:
        return torch.full((len(batch),), 1 / len(batch))

    def backward(self, batch: Places, shares: Tensor) -> Tensor:
        rows = self.rows[torch.from_numpy(batch)]
        one, other = (normalize(self.module(rows)) for _ in range(2))  # (b, d), (b, d)
        of_rows = cross_entropy(one @ other.T / 0.05, torch.arange(len(batch)), reduction="none")
        loss = of_rows @ shares
        loss.backward()
        return loss.detach()


class BiLstm:
    """A binary classifier of sequences; its recurrent weights have names that no other learner's have."""

    def __init__(self) -> None:
        self.module = nn.ModuleDict(
            {
                "embed": nn.Embedding(WORDS, WIDTH),
                "read": nn.LSTM(WIDTH, WIDTH, bidirectional=True, batch_first=True),
                "judge": nn.Linear(2 * WIDTH, 1),
            }
        )
        rng = np.random.default_rng(4)
        self.rows = torch.from_numpy(rng.integers(0, WORDS, size=(ROWS, 5)))
        self.labels = torch.from_numpy(rng.integers(0, 2, size=ROWS).astype(np.float32))

    def schedule(self) -> Schedule:
        return ShuffledEpochs(ROWS, batch_size=6, epochs=2, warmup=0.25, seed=3)

    def shares(self, batch: Places) -> Tensor:
        return torch.full((len(batch),), 1 / len(batch))

    def backward(self, batch: Places, shares: Tensor) -> Tensor:
        places = torch.from_numpy(batch)
        _, (last, _) = self.module["read"](self.module["embed"](self.rows[places]))  # last: (2, b, d)
        logits = self.module["judge"](torch.cat([last[0], last[1]], 1)).squeeze(1)  # (b,)
        of_rows = binary_cross_entropy_with_logits(logits, self.labels[places], reduction="none")
        loss = of_rows @ shares
        loss.backward()
        return loss.detach()


class KilledError(Exception):
    pass


def killed_at(step: int) -> Callable[[int, int, str], None]:
    def report(done: int, total: int, message: str) -> None:
        if done == step:
            raise KilledError

    return report


def through(kind: type, folder: Path, **about) -> tuple[TrainingResult, dict[str, Tensor]]:
    torch.manual_seed(5)
    learner = kind()
    checkpoints = Checkpoints(folder, about={"kind": kind.__name__}, every_steps=3)
    result = train(learner, learner.schedule(), PLAN, checkpoints=checkpoints, **about)
    return result, {name: weight.detach() for name, weight in learner.module.named_parameters()}


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", [SequenceToSequence, Contrastive, BiLstm])
def test_every_kind_of_learner_goes_on_after_a_kill_to_the_same_weights(kind, tmp_path) -> None:
    whole, weights = through(kind, tmp_path / "whole")
    with pytest.raises(KilledError):
        through(kind, tmp_path / "killed", report=killed_at(5))

    resumed, others = through(kind, tmp_path / "killed")

    assert resumed == whole
    assert all(torch.equal(weights[name], others[name]) for name in weights)


@pytest.mark.parametrize("kind", [SequenceToSequence, Contrastive, BiLstm])
def test_every_kind_of_learner_learns(kind, tmp_path) -> None:
    result, _ = through(kind, tmp_path)

    assert result.points[-1].loss < result.points[0].loss


def test_a_training_whose_time_is_over_has_a_last_point(tmp_path) -> None:
    answers = iter([True, False, False, True])

    result, _ = through(Contrastive, tmp_path, expired=lambda: next(answers))

    assert (result.steps, result.kept.step) == (3, 3)
