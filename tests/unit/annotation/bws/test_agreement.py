"""Agreement with the others and with oneself: by hand, step by step, and in simulation."""

import numpy as np
import pytest

from annotation.bws.annotators.agreement import intra_annotator_agreement, leave_one_out_agreement
from annotation.bws.designs.design import design_tuples
from annotation.bws.judgements import Judgements
from annotation.bws.scores.scoring import Scale, counting_scores
from annotation.bws.studies.simulation import SimulatedAnnotator, simulated_judgements


def campaign(annotators: list[SimulatedAnnotator], seed: int = 0) -> Judgements:
    latent = np.random.default_rng(seed).standard_normal(40)
    return simulated_judgements(
        design_tuples(40).tuples, latent, annotators=annotators, judgements_per_tuple=4, seed=seed
    )


def step_by_step(judgements: Judgements, person: int) -> tuple[int, float]:
    """Comparisons and confirmed ones of one annotator, by scoring everybody else anew."""
    others = counting_scores(judgements.only(judgements.annotators != person), scale=Scale.SIGNED).values
    compared, confirmed = 0, 0.0
    for row in np.flatnonzero(judgements.annotators == person):
        items, best, worst = judgements.items[row].tolist(), judgements.best[row], judgements.worst[row]
        pairs = [(best, item) for item in items if item != best]
        pairs += [(item, worst) for item in items if item not in {best, worst}]
        for over, under in pairs:
            if not np.isnan(others[over]) and not np.isnan(others[under]):
                compared += 1
                confirmed += (np.sign(others[over] - others[under]) + 1) / 2
    return compared, confirmed


def test_agreement_is_what_scoring_everybody_else_anew_gives() -> None:
    judgements = campaign([SimulatedAnnotator(noise=0.8)] * 6)

    agreement = leave_one_out_agreement(judgements)

    for person, compared, share in zip(
        agreement.annotators, agreement.compared, agreement.shares, strict=True
    ):
        expected = step_by_step(judgements, person)
        assert (compared, share * compared) == (expected[0], pytest.approx(expected[1]))


def test_two_people_who_choose_alike_agree_fully() -> None:
    judgements = Judgements(
        np.array([[0, 1, 2, 3], [3, 2, 1, 0]]), np.array([0, 0]), np.array([3, 3]), 4, np.array([5, 9])
    )

    agreement = leave_one_out_agreement(judgements)

    # Best over three and two over worst; the middle two score alike with the other person, but are not compared.
    assert agreement.annotators.tolist() == [5, 9]
    assert agreement.compared.tolist() == [5, 5]
    assert agreement.shares.tolist() == [1.0, 1.0]


def test_the_standard_error_is_that_of_a_ratio_over_judgements() -> None:
    judgements = campaign([SimulatedAnnotator(noise=0.8)] * 6)

    agreement = leave_one_out_agreement(judgements)

    # By hand for one person: m comparisons and c confirmed ones in each of their n judgements, s = sum c / sum m, and
    # the variance is n / (n - 1) sum (c - s m)^2 / (sum m)^2.
    person = 2
    rows = np.flatnonzero(judgements.annotators == person)
    others = judgements.annotators != person
    each = []
    for row in rows.tolist():
        chosen = np.append(np.flatnonzero(others), row)
        each.append(step_by_step(judgements.only(np.sort(chosen)), person))
    compared, confirmed = np.array(each).T
    share = confirmed.sum() / compared.sum()
    expected = (
        np.sqrt(len(rows) / (len(rows) - 1) * ((confirmed - share * compared) ** 2).sum()) / compared.sum()
    )
    assert agreement.shares[person] == pytest.approx(share)
    assert agreement.errors[person] == pytest.approx(expected)
    assert agreement.judgements[person] == len(rows)


def test_the_standard_error_of_pairs_worked_by_hand() -> None:
    # Four tuples of two items, so one comparison in each. Person 1 agrees with person 0 in three of them: R = 3/4, and
    # c - R is 1/4 three times and -3/4 once, whose squares sum to 3/4. SE = sqrt(4/3 3/4) / 4.
    items = np.tile(np.arange(8).reshape(4, 2), (2, 1))
    best = np.array([0, 2, 4, 6, 0, 2, 4, 7])
    worst = items.sum(axis=1) - best

    agreement = leave_one_out_agreement(Judgements(items, best, worst, 8, np.repeat([0, 1], 4)))

    assert agreement.shares.tolist() == [0.75, 0.75]
    assert agreement.errors == pytest.approx([1 / 4, 1 / 4])


def test_somebody_alone_with_their_items_is_compared_with_nobody() -> None:
    judgements = Judgements(
        np.array([[0, 1], [2, 3]]), np.array([0, 2]), np.array([1, 3]), 4, np.array([0, 1])
    )

    agreement = leave_one_out_agreement(judgements)

    assert agreement.compared.tolist() == [0, 0]
    assert np.isnan(agreement.shares).all()


@pytest.mark.exhaustive
def test_somebody_who_guesses_agrees_by_half_and_stands_out() -> None:
    people = [SimulatedAnnotator(noise=0.5)] * 7 + [SimulatedAnnotator(careless=1.0)]

    shares = np.mean([leave_one_out_agreement(campaign(people, seed)).shares for seed in range(6)], axis=0)

    assert shares[7] == pytest.approx(0.5, abs=0.05)
    assert shares[:7].min() > 0.65


def test_agreement_needs_to_know_who_judged() -> None:
    with pytest.raises(ValueError, match="do not say who made them"):
        leave_one_out_agreement(Judgements(np.array([[0, 1]]), np.array([0]), np.array([1]), 2))


def test_intra_annotator_agreement_by_hand() -> None:
    # Person 0 judges 0 1 2 twice (same best, other worst) and 3 4 5 once; person 1 never sees a tuple again.
    judgements = Judgements(
        np.array([[0, 1, 2], [3, 4, 5], [2, 1, 0], [0, 1, 2]]),
        np.array([0, 3, 0, 1]),
        np.array([2, 4, 1, 0]),
        6,
        np.array([0, 0, 0, 1]),
    )

    consistency = intra_annotator_agreement(judgements)

    assert consistency.compared.tolist() == [2, 0]
    assert consistency.shares[0] == 0.5
    assert np.isnan(consistency.shares[1])
