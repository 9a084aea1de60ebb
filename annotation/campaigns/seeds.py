"""Chance in a campaign: every use of its seed draws from its own stream, so none follows another."""

from enum import IntEnum

import numpy as np

from annotation.models import Campaign


class Stream(IntEnum):
    SAMPLE = 1
    GOLD_SLOTS = 2
    GOLD_SUGGESTION = 3
    CURSOR = 4
    ORDER = 5
    GOLD_PLACE = 6
    GOLD_CHOICE = 7
    BRIDGES = 8
    ADAPTIVE = 9
    REPEAT_PLACE = 10
    REPEAT_CHOICE = 11
    REPEAT_ORDER = 12
    PRACTICE = 13
    MACHINE_BLOCK = 14
    NORMING_TUPLES = 15
    NORMING_ORDER = 16
    NORMING_NAMES = 17
    SLIDER_PAIRS = 18
    SLIDER_PEOPLE = 19
    SLIDER_ORDER = 20


def campaign_rng(campaign: Campaign, stream: Stream, *numbers: int) -> np.random.Generator:
    """The generator for one purpose and one thing in it, as a person and a tuple."""
    return np.random.default_rng([campaign.seed, stream, *numbers])


def turn_is_drawn(campaign: Campaign, stream: Stream, user_pk: int, *, turn: int, every: int) -> bool:
    """Whether a person's turn, from 0, is the one of its block of `every`, which is drawn for each block."""
    block, turn_in_block = divmod(turn, every)
    return turn_in_block == int(campaign_rng(campaign, stream, user_pk, block).integers(every))
