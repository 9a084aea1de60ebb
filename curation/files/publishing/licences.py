"""The identifiers of licences that hubs and citation files know, found from what an owner typed."""

import re
from typing import NamedTuple

# What cards and published folders say of a dataset without one.
LICENCE_NOT_STATED = "not stated; ask whoever holds the data"

_CREATIVE_COMMONS = ("by", "by-sa", "by-nc", "by-nd", "by-nc-sa", "by-nc-nd")
_SPDX = {
    **{
        f"cc-{kind}-{version}": f"CC-{kind.upper()}-{version}"
        for kind in _CREATIVE_COMMONS
        for version in ("3.0", "4.0")
    },
    "cc0-1.0": "CC0-1.0",
    "apache-2.0": "Apache-2.0",
    "mit": "MIT",
    "bsd-3-clause": "BSD-3-Clause",
    "gpl-3.0": "GPL-3.0-only",
    "odbl": "ODbL-1.0",
    "odc-by": "ODC-By-1.0",
    "pddl": "PDDL-1.0",
}


_NOT_ON_THE_HUB = {"cc-by-nd-3.0"}


class Licence(NamedTuple):
    """hub: its identifier on the Hugging Face hub, "other" where that has none, "unknown" where none is stated.

    spdx: its SPDX identifier, or "".
    """

    hub: str
    spdx: str


def licence_known(stated: str) -> Licence:
    """The licence that a text such as "CC BY-SA 4.0" names."""
    words = re.sub(r"[\s_-]+", "-", stated.strip().casefold().removesuffix("."))
    name = {"cc0": "cc0-1.0", "apache": "apache-2.0"}.get(words, words)
    if name not in _SPDX:
        return Licence("other" if name else "unknown", "")
    return Licence("other" if name in _NOT_ON_THE_HUB else name, _SPDX[name])


def licence_identifier(stated: str) -> str:
    """An identifier for a licence that the hub does not know: lower-case letters, digits, dots and hyphens."""
    return re.sub(r"[^a-z0-9.]+", "-", stated.casefold()).strip("-.") or "custom"
