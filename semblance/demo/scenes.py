"""A small grammar of scenes: who does what, where and when. Because a sentence is written from its scene, how
related two sentences are is known before anyone judges them.

The latent relatedness of two scenes is the weighted share of their parts that agree; a part of the same group
counts half. The weights are a choice of this demonstration, not a finding.
"""

import re
from collections.abc import Container
from functools import cache
from typing import NamedTuple

import numpy as np

from semblance.demo.vocabulary import AGENTS, EVENTS, PLACES, TIMES

WEIGHTS = {"event": 0.45, "agent": 0.25, "place": 0.2, "time": 0.1}
FILLERS = dict(zip(WEIGHTS, (EVENTS, AGENTS, PLACES, TIMES), strict=True))
AKIN = 0.5
TEMPLATES = (
    "{agent} {event} {place} {time}.",
    "{time}, {agent} {event} {place}.",
    "{place}, {agent} {event} {time}.",
)


class Part(NamedTuple):
    """One meaning: its group and its place within the group."""

    group: str
    meaning: int


class Scene(NamedTuple):
    event: Part
    agent: Part
    place: Part
    time: Part


class ScenePair(NamedTuple):
    a: str
    b: str
    latent: float


def latent_relatedness(left: Scene, right: Scene) -> float:
    """0 (nothing in common) to 1 (the same scene)."""
    return sum(
        weight * (1.0 if one == other else AKIN if one.group == other.group else 0.0)
        for weight, one, other in zip(WEIGHTS.values(), left, right, strict=True)
    )


def scene_pairs(count: int, *, seed: int, without: Container[str] = ()) -> list[ScenePair]:
    """`count` pairs of different sentences, spread over the whole range of relatedness; no pair occurs twice.

    How much the second scene keeps of the first is drawn afresh for each pair, so that every degree occurs.
    without: sentences that stand in no pair.
    """
    rng = np.random.default_rng(seed)
    seen: set[frozenset[str]] = set()
    pairs: list[ScenePair] = []
    while len(pairs) < count:
        left = Scene(**{slot: _any_part(slot, rng) for slot in FILLERS})
        closeness = rng.uniform() ** 1.8  # pairs that share little are as many as pairs that share much
        right = Scene(*(_varied(slot, part, closeness, rng) for slot, part in left._asdict().items()))
        pair = ScenePair(_sentence(left, rng), _sentence(right, rng), latent_relatedness(left, right))
        texts = frozenset((pair.a, pair.b))
        if len(texts) == 2 and texts not in seen and not any(text in without for text in texts):
            seen.add(texts)
            pairs.append(pair)
    return pairs


def scene_of(text: str) -> Scene | None:
    """The scene that a sentence tells of; None where the grammar has no such sentence."""
    plain = text[:1].lower() + text[1:]
    for pattern in _patterns():
        match = pattern.fullmatch(plain)
        if match is None:
            continue
        words = match.groupdict()
        if _is_plural(words["agent"]) == words["event"].startswith("are "):
            words["event"] = words["event"].replace("are ", "is ", 1)
            return Scene(**{slot: _meanings(slot)[words[slot]] for slot in FILLERS})
    return None


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    """A pattern for each order of the parts; the longest variant first, as one may begin like another."""
    slots = {}
    for slot in FILLERS:
        variants = sorted(_meanings(slot), key=len, reverse=True)
        if slot == "event":
            variants += [variant.replace("is ", "are ", 1) for variant in variants]
        slots[slot] = f"(?P<{slot}>{'|'.join(map(re.escape, variants))})"
    return tuple(
        re.compile(re.escape(template).replace(r"\{", "{").replace(r"\}", "}").format(**slots))
        for template in TEMPLATES
    )


@cache
def _meanings(slot: str) -> dict[str, Part]:
    return {
        variant: Part(group, meaning)
        for group, meanings in FILLERS[slot].items()
        for meaning, variants in enumerate(meanings)
        for variant in variants
    }


def _any_part(slot: str, rng: np.random.Generator) -> Part:
    group = rng.choice(sorted(FILLERS[slot]))
    return Part(str(group), int(rng.integers(len(FILLERS[slot][group]))))


def _varied(slot: str, part: Part, closeness: float, rng: np.random.Generator) -> Part:
    """The same part, a kindred one or any other: the closer the pair is to be, the more often the same."""
    draw = rng.uniform()
    if draw < closeness:
        return part
    if draw < closeness + (1 - closeness) / 3:
        return Part(part.group, int(rng.integers(len(FILLERS[slot][part.group]))))
    return _any_part(slot, rng)


def _sentence(scene: Scene, rng: np.random.Generator) -> str:
    words = {
        slot: str(rng.choice(FILLERS[slot][part.group][part.meaning]))
        for slot, part in scene._asdict().items()
    }
    if _is_plural(words["agent"]):
        words["event"] = words["event"].replace("is ", "are ", 1)
    text = str(rng.choice(TEMPLATES)).format(**words)
    return text[0].upper() + text[1:]


def _is_plural(agent: str) -> bool:
    return agent.split(maxsplit=1)[0] in {"two", "several", "many", "parents"}
