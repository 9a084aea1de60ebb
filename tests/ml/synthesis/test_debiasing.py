"""The algebra of self-debiasing by hand, and the choice of tokens against another library's."""

import pytest
import torch
from torch.testing import assert_close
from transformers import TopKLogitsWarper, TopPLogitsWarper

from mlworkers.science.synthesis.debiasing import debiased, drawn, nucleus

DECAY, FLOOR = 100.0, 0.01
P = torch.tensor(
    [[0.5, 0.25, 0.125, 0.125]], dtype=torch.float64
)  # of four tokens, under the label's own prompt
NO_COUNTER = torch.empty(0, 1, 4, dtype=torch.float64)


def counter(*rows: list[float]) -> torch.Tensor:
    """Logits of counter prompts, (C, 1, 4). What is added to logits changes no probability."""
    return torch.tensor(rows, dtype=torch.float64)[:, None, :].log() + 3.0


def test_without_a_counter_nothing_changes() -> None:
    assert_close(debiased(P.log(), NO_COUNTER, decay=DECAY, floor=FLOOR).exp(), P)


def test_a_token_that_a_counter_prompt_prefers_keeps_the_floor() -> None:
    # Δ = (0, 0.25, 0, 0), exp(-25) < 0.01; 0.5, 0.0025, 0.125 and 0.125 sum to 0.7525
    kept = debiased(P.log(), counter([0.25, 0.5, 0.125, 0.125]), decay=DECAY, floor=FLOOR).exp()

    expected = [0.66445182724, 0.00332225914, 0.16611295681, 0.16611295681]
    assert_close(kept, torch.tensor([expected], dtype=torch.float64), atol=1e-10, rtol=0)


def test_a_small_preference_costs_a_share_that_decays() -> None:
    # Δ = (0, 0.01, 0, 0) keeps exp(-1) = 0.36787944 of 0.25; the sum is 0.75 + 0.09196986
    kept = debiased(P.log(), counter([0.49, 0.26, 0.125, 0.125]), decay=DECAY, floor=FLOOR).exp()

    expected = [0.593845485, 0.109231773, 0.148461371, 0.148461371]
    assert_close(kept, torch.tensor([expected], dtype=torch.float64), atol=1e-9, rtol=0)


def test_of_several_counters_the_strongest_preference_counts() -> None:
    # Δ = (0, 0.25, 0, 0.05): both reach the floor, since 0.05 > ln(100) / 100
    counters = counter([0.25, 0.5, 0.125, 0.125], [0.45, 0.25, 0.125, 0.175])

    kept = debiased(P.log(), counters, decay=DECAY, floor=FLOOR).exp()

    assert_close(kept, torch.tensor([[0.5, 0.0025, 0.125, 0.00125]], dtype=torch.float64) / 0.62875)


def test_the_floor_is_reached_where_the_difference_is_ln_100_over_100() -> None:
    below, above = (
        debiased(P.log(), counter([0.5 - d, 0.25 + d, 0.125, 0.125]), decay=DECAY, floor=FLOOR).exp()
        for d in (0.0459, 0.0463)
    )
    ratio = [(kept[0, 1] / kept[0, 0] / 0.5).item() for kept in (below, above)]

    assert ratio[0] == pytest.approx(0.010153, abs=1e-5)
    assert ratio[1] == pytest.approx(0.01, abs=1e-12)


def test_a_token_that_is_barred_everywhere_stays_impossible() -> None:
    target, other = P.log().clone(), counter([0.25, 0.5, 0.125, 0.125])
    target[..., 3] = other[..., 3] = -torch.inf

    kept = debiased(target, other, decay=DECAY, floor=FLOOR).exp()

    assert kept[0, 3] == 0
    assert kept.sum() == pytest.approx(1)


@pytest.mark.parametrize("top_k", [1, 5, 50, 0])
@pytest.mark.parametrize("top_p", [0.01, 0.5, 0.9, 1.0])
def test_tokens_are_chosen_as_transformers_chooses_them(top_k: int, top_p: float) -> None:
    logits = 2 * torch.randn(40, 50, generator=torch.Generator().manual_seed(5), dtype=torch.float64)
    theirs = TopKLogitsWarper(top_k)(None, logits) if top_k else logits
    theirs = TopPLogitsWarper(top_p)(None, theirs) if top_p < 1 else theirs

    tokens, p = nucleus(logits.log_softmax(-1), top_k=top_k, top_p=top_p)

    ours = torch.zeros_like(logits).scatter(-1, tokens, p / p.sum(-1, keepdim=True))
    assert_close(ours, theirs.softmax(-1))


def test_a_token_is_drawn_where_the_noise_falls() -> None:
    tokens = torch.tensor([[7, 3, 9]]).expand(6, 3)
    p = torch.tensor([[0.5, 0.25, 0.0]]).expand(6, 3)  # two thirds and one third

    token = drawn(
        tokens, p, torch.tensor([0.0, 0.3, 0.66, 0.67, 0.9, 0.9999999999999999], dtype=torch.float64)
    )

    assert token.tolist() == [7, 7, 7, 3, 3, 3]


def test_tokens_are_drawn_as_often_as_they_are_likely() -> None:
    draws = 20_000
    noise = torch.rand(draws, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    tokens, p = nucleus(P.log(), top_k=2, top_p=1.0)

    token = drawn(tokens.expand(draws, -1), p.expand(draws, -1), noise)

    shares = token.bincount(minlength=4) / draws
    assert_close(shares, torch.tensor([2 / 3, 1 / 3, 0, 0]), atol=0.012, rtol=0)
