"""What the groups of a provider mean on this site."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from curation.foundation.roles import Role

STAFF = "staff"


class GroupRule(NamedTuple):
    """Whoever is in the group has the role in the dataset, or is staff where `dataset` is empty."""

    group: str
    dataset: str
    role: str


@dataclass(frozen=True)
class Rights:
    """roles: by the short names of datasets."""

    staff: bool = False
    roles: dict[str, str] = field(default_factory=dict)


def rules_from(texts: Sequence[str]) -> list[GroupRule]:
    """Rules from `GROUP=staff` or `GROUP=DATASET:ROLE`; a group may hold = and spaces.

    Raises ValueError with a sentence for what is neither.
    """
    rules = []
    for text in filter(None, map(str.strip, texts)):
        group, equals, meaning = text.rpartition("=")
        dataset, _colon, role = meaning.strip().rpartition(":")
        if not equals or not group.strip() or (role not in Role.values if dataset else role != STAFF):
            raise ValueError(
                f"“{text}” says nothing about a group; write GROUP=staff, or GROUP=DATASET:ROLE with the short name of "
                f"a dataset and a role of {', '.join(Role.values)}."
            )
        rules.append(GroupRule(group.strip(), dataset, role if dataset else STAFF))
    return rules


def rights_of(groups: Iterable[str], rules: Sequence[GroupRule]) -> Rights:
    """What these groups give: in each dataset the greatest role."""
    mine = [rule for rule in rules if rule.group in set(groups)]
    roles: dict[str, str] = {}
    for rule in mine:
        before = roles.get(rule.dataset)
        if rule.dataset and (before is None or Role.values.index(rule.role) > Role.values.index(before)):
            roles[rule.dataset] = rule.role
    return Rights(staff=any(not rule.dataset for rule in mine), roles=roles)
