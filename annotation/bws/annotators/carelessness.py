"""Signs that somebody answers without reading, beside the gold gate. Each asks for a look and stops nobody.

Every sign compares a person with a rule that careful people hardly ever break by chance, also if somebody looks again
after each answer; `docs/guide/how-to/careless-annotators.md` has the rates, which a test simulates.
"""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from annotation.bws.annotators.gold_gate import share_bounds
from annotation.bws.annotators.position_bias import position_bias
from annotation.bws.judgements import FloatArray, IntArray

# People read 238 words of English a minute on average (Brysbaert 2019, Journal of Memory and Language 109), and
# hardly anybody reads three times as fast. A word takes 6 characters with the space after it.
WORDS_A_MINUTE, TIMES_AS_FAST, LETTERS_A_WORD = 238, 3, 6
LETTERS_PER_SECOND = WORDS_A_MINUTE * TIMES_AS_FAST * LETTERS_A_WORD / 60  # 71.4 letters a second
LETTERS_OF_A_WIDE_CHARACTER = 3  # of Chinese, Japanese and Korean: about two such characters make a word
RECENT = 50  # answers: speed and regularity are of the latest, so that who grows careless is seen
FEWEST = 10  # answers, for what needs no test of chance against even positions
FEWEST_POSITIONS = 16  # answers: with fewer, the distribution of chi-square is a bad approximation
TOO_FAST_SHARE = 0.25  # of answers: careful people meet some pairs that decide themselves
CONFIDENCE = 0.999
SMALL_P = 0.0002  # of one test of positions; a person takes two tests for each sign
LARGER_SHARE = 0.15  # above chance: with many answers a slight habit is certain, and harmless
STEADY_LOG_SECONDS = 0.1  # standard deviation; people's response times have about .4
# One odd person hardly moves the median of three.
FEWEST_PEOPLE = 3  # others to be compared with
LEAST_COMMON_AGREEMENT = (
    0.6  # of everybody: below, the task is hard and low agreement says nothing about one person
)
SURE_ERRORS = 3.0  # standard errors


class SignKind(StrEnum):
    """What asks for a look: too fast, one position too often, a regular order, even times, low agreement."""

    SPEED = "speed"
    POSITION = "position"
    ORDER = "order"
    RHYTHM = "rhythm"
    AGREEMENT = "agreement"


@dataclass(frozen=True)
class Sign:
    """value: what was found. expected: what it is held against, in the same unit. count: answers behind it.

    SPEED: median seconds, and the seconds that reading at three times the usual speed takes; `share` of answers were
    faster than that. POSITION: the share of one screen position and that of chance; `role` and `position`, from 1, name
    it. ORDER: the share of the most common step from one answer's position to the next, and chance; `role` names it.
    RHYTHM: standard deviation of the logarithm of seconds, and the least that people have; `share` is not used.
    AGREEMENT: leave-one-out agreement, and half-way between guessing and the median of everybody.
    """

    kind: SignKind
    value: float
    expected: float
    count: int
    share: float = 0.0
    role: str = ""
    position: int = 0


@dataclass(frozen=True, eq=False)
class Answers:
    """One person's n answers in order of arrival.

    best, worst: (n,) screen positions from 0, -1 for a tie.
    sizes: (n,) items of the tuple.
    seconds: (n,) NaN where nobody measured.
    letters: (n,) of the tuple's texts, by `reading_letters`.
    """

    best: IntArray
    worst: IntArray
    sizes: IntArray
    seconds: FloatArray
    letters: IntArray

    def latest(self, number: int) -> "Answers":
        """The last `number` of them."""
        return Answers(
            best=self.best[-number:],
            worst=self.worst[-number:],
            sizes=self.sizes[-number:],
            seconds=self.seconds[-number:],
            letters=self.letters[-number:],
        )


def reading_letters(text: str) -> int:
    """How many letters of an alphabet take as long to read: wide characters (Chinese, Japanese, Korean) are three."""
    wide = sum(unicodedata.east_asian_width(character) in {"W", "F"} for character in text)
    return len(text) + (LETTERS_OF_A_WIDE_CHARACTER - 1) * wide


def carelessness_signs(answers: Answers) -> list[Sign]:
    """The signs in one person's own answers. `agreement_signs` compares people.

    The order is speed, position or else order, rhythm. Speed, order and rhythm look at the latest answers
    only. An empty list means that nothing was found, or that there are too few answers.
    """
    signs: list[Sign | None] = []
    recent = answers.latest(RECENT)
    timed = ~np.isnan(recent.seconds)
    # `least`: the seconds that reading takes at three times the usual speed (n,).
    seconds, least = recent.seconds[timed], recent.letters[timed] / LETTERS_PER_SECOND
    count, fast = len(seconds), int((seconds < least).sum())
    # A sign needs the lower bound of the share of fast answers above TOO_FAST_SHARE, at 99.9 % confidence.
    if count >= FEWEST and share_bounds(fast, count, CONFIDENCE)[0] > TOO_FAST_SHARE:
        usual, expected = float(np.median(seconds)), float(np.median(least))
        signs.append(Sign(SignKind.SPEED, usual, expected, count, share=fast / count))

    habit = _uneven(SignKind.POSITION, _roles(answers), answers.sizes)
    signs.append(habit)
    # Who always takes one position also has one order; one sign says it.
    if habit is None:
        # Where cards are in random order, the step from one chosen position to the next is even among all k.
        alike = recent.sizes[1:] == recent.sizes[:-1]
        sizes = recent.sizes[1:][alike]
        steps = {}
        for role, positions in _roles(recent).items():
            # Step j of k is the position j places on, around the end; a tie on either side gives no step.
            before, after = positions[:-1][alike], positions[1:][alike]
            tied = (before < 0) | (after < 0)
            steps[role] = np.where(tied, -1, (after - before) % np.maximum(sizes, 1))
        signs.append(_uneven(SignKind.ORDER, steps, sizes))

    seconds = seconds[seconds > 0]
    if len(seconds) >= FEWEST:
        # Sd of log seconds: .1 means that times differ by about 10 %.
        spread = float(np.std(np.log(seconds), ddof=1))
        if spread < STEADY_LOG_SECONDS:
            signs.append(Sign(SignKind.RHYTHM, spread, STEADY_LOG_SECONDS, len(seconds)))
    return [sign for sign in signs if sign is not None]


def _roles(answers: Answers) -> dict[str, IntArray]:
    return {"best": answers.best, "worst": answers.worst}


def _uneven(kind: SignKind, by_role: Mapping[str, IntArray], sizes: IntArray) -> Sign | None:
    """The sign of the role whose positions are least even, if they are uneven by chance hardly ever, and by much."""
    biases = {role: position_bias(positions, sizes) for role, positions in by_role.items()}
    # The smaller p of two tests; SMALL_P is of one test.
    role, bias = min(biases.items(), key=lambda item: item[1].p)
    count = sum(bias.counts)
    if count < FEWEST_POSITIONS or bias.p >= SMALL_P:
        return None
    share, chance = max(bias.counts) / count, float(np.mean(1 / sizes))  # mean of 1 / k over the tuples
    if share < chance + LARGER_SHARE:
        return None
    return Sign(kind, share, chance, count, role=role, position=int(np.argmax(bias.counts)) + 1)


def agreement_signs(shares: Mapping[int, tuple[float, float, int]]) -> dict[int, Sign]:
    """Who agrees so little with the others that they are nearer to guessing than to the median of everybody.

    shares: of each person the leave-one-out agreement, its standard error and how many judgements are behind it. A
    person is signed if the upper end of three standard errors is below half-way between 1/2, which is guessing, and the
    median of the others. Nobody is if fewer than three others judged enough, or if people hardly agree at all.
    """
    known = {person: row for person, row in shares.items() if row[2] >= FEWEST}
    signs = {}
    for person, (share, error, count) in known.items():
        others = [row[0] for other, row in known.items() if other != person]
        if len(others) < FEWEST_PEOPLE:
            continue
        common = float(np.median(others))
        # Half-way between guessing (1/2) and the median of the others.
        half_way = (0.5 + common) / 2
        # Somebody who is exactly half-way falls 3 SE below it once in 740 times (normal, one side).
        if common >= LEAST_COMMON_AGREEMENT and share + SURE_ERRORS * error < half_way:
            signs[person] = Sign(SignKind.AGREEMENT, share, half_way, count)
    return signs
