"""The network of p(y = 1 | s, c): sentence vectors, and a head that compares a sentence with its context.

The paper's Eq. 1 (Sun et al. 2022, section 3.2.1) is p = σ(hᵀ[h_<, h_i, h_>]), which is a sum of a term of the context
and a term of the sentence. It orders contexts alike for every sentence, and so it cannot rank them. `Interaction` is
our repair; `Literal` stays as an ablation.
"""

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence

from mlworkers.science.contexts.discriminative_plan import Head, Sides


class BiLstm(nn.Module):
    """Sentence vectors: the last state of each direction of one layer, side by side."""

    def __init__(self, vocabulary: int, embedding: int, hidden: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, embedding)
        self.lstm = nn.LSTM(embedding, hidden, batch_first=True, bidirectional=True)
        self.size = 2 * hidden  # the paper: 1 layer, hidden 300, so 600

    def forward(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        """tokens (n, t), padded at the end; lengths (n,), at least 1. Returns (n, 2 · hidden)."""
        packed = pack_padded_sequence(
            self.embedding(tokens), lengths.cpu(), batch_first=True, enforce_sorted=False
        )
        # The packed form stops each direction at the true end of a sentence: last is (2, n, hidden) and free
        # of padding.
        _states, (last, _cells) = self.lstm(packed)
        return torch.cat([last[0], last[1]], dim=1)


class Interaction(nn.Module):
    """σ of a hidden layer over the sentence, each slot of the context, their product, and their distance."""

    def __init__(self, size: int, slots: int, hidden: int) -> None:
        super().__init__()
        self.hidden = nn.Linear((1 + 3 * slots) * size, hidden)
        self.out = nn.Linear(hidden, 1)

    def forward(self, sentences: Tensor, contexts: Tensor) -> Tensor:
        """sentences (b, d), contexts (b, k, d). Returns logits (b,)."""
        each = sentences[:, None]
        # The product and the distance join sentence and context before the nonlinearity, so that the order of
        # contexts can differ from sentence to sentence. Each part is (b, k, d).
        parts = [contexts, contexts * each, (contexts - each).abs()]
        features = torch.cat([sentences, *(part.flatten(1) for part in parts)], dim=1)  # (b, (1 + 3k) · d)
        logits: Tensor = self.out(torch.tanh(self.hidden(features))).squeeze(1)
        return logits


class Literal(nn.Module):
    """Eq. 1 as it is printed: one vector h over the concatenated vectors."""

    def __init__(self, size: int, slots: int) -> None:
        super().__init__()
        self.out = nn.Linear((1 + slots) * size, 1, bias=False)  # h of Eq. 1

    def forward(self, sentences: Tensor, contexts: Tensor) -> Tensor:
        """sentences (b, d), contexts (b, k, d). Returns logits (b,)."""
        logits: Tensor = self.out(torch.cat([sentences, contexts.flatten(1)], dim=1)).squeeze(1)
        return logits


class ContextFit(nn.Module):
    """The head over sentence vectors, and the LSTM that makes them; without one, they come from elsewhere.

    size: length of a sentence vector. left, right: sentences of a context on each side.
    """

    def __init__(
        self,
        reader: BiLstm | None,
        *,
        size: int,
        hidden: int,
        head: Head,
        sides: Sides,
        left: int,
        right: int,
    ) -> None:
        super().__init__()
        self.reader, self.sides, self.left, self.right = reader, sides, left, right
        slots = 2 if sides is Sides.MEAN else left + right
        self.head: nn.Module = (
            Literal(size, slots) if head is Head.LITERAL else Interaction(size, slots, hidden)
        )

    def contexts(self, vectors: Tensor, places: Tensor) -> Tensor:
        """The slots of b contexts, (b, k, d), from vectors (n, d) and the places of their sentences among these,
        (b, left + right); -1 where a document has none there.
        """
        # Row 0 is a zero vector for missing sentences; the place -1 + 1 = 0 selects it.
        known = torch.cat([vectors.new_zeros(1, vectors.shape[1]), vectors])
        chosen = known[places + 1]  # (b, left + right, d)
        if self.sides is not Sides.MEAN:
            return chosen
        # The mean is over the sentences that exist: zero vectors add nothing to the sum and do not count
        # below. A side without any sentence is 0 / 1, the zero vector.
        there = (places >= 0).to(vectors.dtype)
        sides = [slice(None, self.left), slice(self.left, None)]
        means = [
            chosen[:, side].sum(1) / there[:, side].sum(1, keepdim=True).clamp(min=1.0) for side in sides
        ]
        return torch.stack(means, dim=1)

    def logits(self, vectors: Tensor, sentences: Tensor, places: Tensor) -> Tensor:
        """Of b sentences (b,) in b contexts (b, left + right), all by their places among n vectors (n, d)."""
        logits: Tensor = self.head(vectors[sentences], self.contexts(vectors, places))
        return logits
