"""The cost model of a campaign: how many answers its judgements take, and how much of people's time."""

from dataclasses import dataclass

SECONDS_PER_JUDGEMENT = 25.0  # of four pairs of everyday sentences; a rough figure for planning
ITEMS_TIMED = 4  # items in a tuple that takes so long
PAUSE_MINUTES = 30  # a longer pause ends the sitting and does not count as work


@dataclass(frozen=True)
class CampaignCosts:
    """judgements: those that count. gold, repeats: answers in addition. answers: all of them, before rounding.

    hours: of all people together.
    """

    judgements: int
    gold: int
    repeats: int
    answers: float
    hours: float


def campaign_costs(
    judgements: int,
    *,
    seconds_per_judgement: float = SECONDS_PER_JUDGEMENT,
    gold_every: int | None = None,
    repeat_every: int | None = None,
) -> CampaignCosts:
    """The answers and hours that so many judgements take.

    gold_every, repeat_every: of so many tuples that a person gets, one is gold and one is a repeat; None or 0: none.
    """
    gold_share = 1 / gold_every if gold_every else 0.0
    repeat_share = 1 / repeat_every if repeat_every else 0.0
    # judgements = answers (1 - gold share - repeat share), since the shares are of all answers.
    answers = judgements / (1 - gold_share - repeat_share)
    gold, repeats = round(gold_share * answers), round(repeat_share * answers)
    hours = (judgements + gold + repeats) * seconds_per_judgement / 3600  # seconds to hours
    return CampaignCosts(judgements, gold, repeats, answers, hours)


def seconds_at_size(size: int) -> float:
    """Seconds per judgement of `size` items: in proportion to them, because everybody reads each item once.

    A figure for planning, as that of four items is; nobody has measured it here.
    """
    return SECONDS_PER_JUDGEMENT * size / ITEMS_TIMED
