"""Calls of the API that schemathesis makes up from docs/openapi.yaml, with the numbers of real objects among them.

What is made up is the same for the same seed, on the same versions. A call that follows the description (positive) and
one that breaks it (negative) are made for every operation, by turns as each of the roles.
"""

import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import Case, GenerationMode, Response
from schemathesis.checks import load_all_checks
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

SCHEMA = Path(__file__).resolve().parents[1] / "docs" / "openapi.yaml"
ROLES = ("annotator", "curator", "owner", "superuser", "anonymous")
# In so many calls a part of the address, a field or the whole body is that of a real object.
PART_KNOWN, FIELD_KNOWN, BODY_KNOWN = 0.85, 0.5, 0.3
SHOWN = 12


@dataclass(frozen=True)
class World:
    """The objects of one dataset.

    parts: by address, with {} for its parts, what stands there. fields: by the name of a field, values that it may
    have. bodies: by the end of an address, what it does something with. tokens: of each role.
    """

    parts: dict[str, list[Any]]
    fields: dict[str, list[Any]]
    bodies: dict[str, dict[str, Any]]
    tokens: dict[str, str]


@dataclass
class Report:
    calls: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    beyond: Counter[str] = field(default_factory=Counter)  # operations that answered with success
    errors: list[str] = field(default_factory=list)  # statuses from 500
    faults: dict[str, list[str]] = field(
        default_factory=lambda: defaultdict(list)
    )  # answers that are not as described
    operations: set[str] = field(default_factory=set)

    def lines(self) -> Iterator[str]:
        yield f"{self.calls} calls of {len(self.operations)} operations, {len(self.beyond)} of them with success"
        yield "statuses: " + ", ".join(f"{status}: {n}" for status, n in sorted(self.statuses.items()))
        yield f"errors of the server: {len(self.errors)}"
        yield from self.errors[:SHOWN]
        yield f"answers that are not as described: {sum(map(len, self.faults.values()))}, {len(self.faults)} kinds"
        for what, examples in sorted(self.faults.items()):
            yield f"  {len(examples)} × {what}; such as {examples[0]}"
        yield "never with success: " + ", ".join(sorted(self.operations - self.beyond.keys()))


def operations() -> list[Any]:
    config = schemathesis.Config.from_dict({"generation": {"with-security-parameters": False}})
    schema = schemathesis.openapi.from_path(SCHEMA, config=config)
    return [found.ok() for found in schema.get_all_operations()]


def played(
    worlds: list[World], send: Callable[[Case, dict[str, str]], Response], *, calls: int, drawn: int
) -> Report:
    """Make at least so many calls. drawn: the seed. send: makes one, with these headers.

    Of few calls, those of one operation follow the description, and those of the next one break it.
    """
    load_all_checks()
    report, chance, found = Report(), random.Random(drawn), operations()
    asked = [(operation, mode) for operation in found for mode in GenerationMode]
    if calls < len(asked):
        asked = [each for place, each in enumerate(asked) if place % 4 in {0, 3}]
    while report.calls < calls:
        each = max(1, -(-(calls - report.calls) // len(asked)))
        for operation, mode in asked:
            for case in cases(operation, mode, most=each, drawn=chance.randrange(2**32)):
                world, role = worlds[report.calls % len(worlds)], ROLES[report.calls % len(ROLES)]
                made_known(case, world, chance, also_body=mode is GenerationMode.POSITIVE)
                headers = {"Authorization": f"Token {world.tokens[role]}"} if role in world.tokens else {}
                note(report, case, role, send(case, headers))
    return report


def cases(operation: Any, mode: GenerationMode, *, most: int, drawn: int) -> list[Case]:
    """Some calls; none where an operation has nothing to be wrong about."""
    made: list[Case] = []

    @seed(drawn)
    @settings(
        max_examples=most,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(operation.as_strategy(generation_mode=mode))
    def draw(case: Case) -> None:
        made.append(case)

    with suppress(Unsatisfiable):
        draw()
    return made


def made_known(case: Case, world: World, chance: random.Random, *, also_body: bool) -> None:
    """Put real objects where the call names made-up ones; not everywhere."""
    names = re.findall(r"{(\w+)}", case.operation.path)
    known = world.parts.get(re.sub(r"{\w+}", "{}", case.operation.path).strip("/"), [])
    parts = case.path_parameters or {}
    for name, value in zip(names, known, strict=False):
        if chance.random() < PART_KNOWN:
            parts[name] = value
    case.path_parameters = parts
    if isinstance(case.query, dict):
        case.query = {**case.query, **chosen(case.query, world, chance)}
    if isinstance(case.body, dict):
        ends = [end for end in world.bodies if case.operation.path.endswith(f"/{end}")]
        whole = (
            world.bodies[max(ends, key=len)] if ends and also_body and chance.random() < BODY_KNOWN else {}
        )
        case.body = {**case.body, **chosen(case.body, world, chance), **deepcopy(whole)}


def chosen(given_fields: dict[str, Any], world: World, chance: random.Random) -> dict[str, Any]:
    return {
        name: chance.choice(world.fields[name])
        for name in sorted(given_fields.keys() & world.fields.keys())
        if chance.random() < FIELD_KNOWN
    }


def note(report: Report, case: Case, role: str, answer: Response) -> None:
    report.calls += 1
    report.statuses[answer.status_code] += 1
    label = case.operation.label
    report.operations.add(label)
    if answer.status_code < 400:
        report.beyond[label] += 1
    if answer.status_code >= 500:
        report.errors.append(f"{answer.status_code} for {role}: {case.as_curl_command()}")
        return
    if answer.status_code == 414:  # the web server's, before the site has the call
        return
    checks = [content_type_conformance, response_schema_conformance, status_code_conformance]
    try:
        case.validate_response(answer, checks=checks)
    except FailureGroup as group:
        for failure in group.exceptions:
            message = " ".join(str(failure).split())[:300]
            report.faults[f"{label}: {message}"].append(f"{role}: {case.as_curl_command()}"[:600])
