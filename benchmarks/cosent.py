"""The CoSENT loss of a large batch, with its gradient, from given cosines, against the sum over pairs of pairs.

The baseline is the published definition in as few calls of torch as it needs: a matrix of all differences, of which
those with a higher target on the left count. sentence-transformers 6.2 itself sorts, as we do, but weighs nothing; the
notes say how long it takes.
"""

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import torch
from _compare import alternate, is_quick, print_comparison, rates_compared
from sentence_transformers.sentence_transformer.losses import CoSENTLoss
from torch import Tensor

from mlworkers.science.encoders.ranking import ranking_loss

SCALE = 20.0
SHORT_ROUNDS = 20


def all_pairs_of_pairs(cosines: Tensor, targets: Tensor, weights: Tensor) -> Tensor:
    exponents = SCALE * (cosines[None, :] - cosines[:, None])  # (B, B): of i and j, s_j - s_i
    exponents = exponents + weights.log()[:, None] + weights.log()[None, :]
    kept = exponents[targets[:, None] > targets[None, :]]
    return torch.logsumexp(torch.cat([kept.new_zeros(1), kept]), dim=0)


def librarys(cosines: Tensor, targets: Tensor, _weights: Tensor) -> Tensor:
    """The library takes vectors; here the similarity of a cosine and anything is the cosine."""
    stand_in: Any = SimpleNamespace(similarity_fct=lambda left, right: left, scale=SCALE)
    return CoSENTLoss.compute_loss_from_embeddings(stand_in, [cosines, cosines], targets)


def main() -> None:
    pairs, rounds = (512, 2) if is_quick(__doc__) else (4096, 7)
    random = torch.Generator().manual_seed(1)
    cosines = (torch.rand(pairs, generator=random) * 2 - 1).requires_grad_()
    # Scores as those of the STS benchmark: few values, many equal.
    targets = torch.randint(26, (pairs,), generator=random) / 25
    weights = torch.rand(pairs, generator=random) + 0.01

    def ours(cosines: Tensor, targets: Tensor, weights: Tensor) -> Tensor:
        return ranking_loss(cosines, targets, weights, scale=SCALE)

    def both_ways(loss_of: Callable[[Tensor, Tensor, Tensor], Tensor]) -> Callable[[], object]:
        return lambda: torch.autograd.grad(loss_of(cosines, targets, weights), cosines)

    losses = [loss_of(cosines, targets, weights) for loss_of in (ours, all_pairs_of_pairs)]
    assert torch.allclose(*losses, rtol=1e-4), "the two disagree; no speed makes up for that"
    seconds, baseline_seconds = alternate(both_ways(ours), both_ways(all_pairs_of_pairs), rounds=rounds)
    # A pass is so short that other work on the machine falls into most of them.
    again, library_seconds = alternate(both_ways(ours), both_ways(librarys), rounds=SHORT_ROUNDS * rounds)
    milliseconds, baseline_milliseconds = 1000 * min(seconds, again), 1000 * baseline_seconds
    compared = rates_compared(
        "cosent",
        work=1,
        unit="ms",
        seconds=milliseconds,
        baseline="CoSENT as a sum over all pairs of pairs, in torch",
        baseline_seconds=baseline_milliseconds,
        notes=f"loss and gradient of {pairs} pairs with weights, best of {rounds} rounds; sentence-transformers' "
        f"CoSENTLoss without weights takes {1000 * library_seconds:.2f} ms",
    )
    print_comparison(replace(compared, figure=milliseconds, baseline_figure=baseline_milliseconds))


if __name__ == "__main__":
    main()
