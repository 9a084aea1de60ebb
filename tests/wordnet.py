"""A WordNet of some words, in Princeton's format."""

from pathlib import Path

# lemma, part of speech, pointers' symbols, senses that were met in texts, and the synsets of its senses.
INDEX = {
    "noun": """  1 This line is the licence.
bark n 2 1 @ 2 1 00000010 00000011
dog n 2 2 @ ~ 2 1 00000020 00000021
domestic_dog n 1 1 @ 1 0 00000020
he n 1 1 @ 1 0 00000030
helium n 1 0 1 0 00000030
hound n 1 1 @ 1 0 00000022
left n 1 0 1 1 00000040
man n 1 0 1 1 00000050
adult n 2 0 2 0 00000051 00000050
""",
    "verb": """bark v 1 1 @ 1 1 00000010
begin v 1 1 @ 1 1 00000012
commence v 1 1 @ 1 1 00000012
leave v 2 1 @ 2 2 00000013 00000014
start v 2 1 @ 2 2 00000015 00000012
""",
    "adj": """big a 2 1 & 2 2 00000010 00000011
large a 1 1 & 1 1 00000010
left a 1 0 1 0 00000012
""",
    "adv": "",
}
COUNTS = """bark%1:11:00:: 1 2
bark%2:32:00:: 1 5
begin%2:30:00:: 1 70
big%3:00:01:: 1 80
commence%2:30:00:: 1 4
large%5:00:01:x:00 1 90
leave%2:38:01:: 1 60
left%1:15:00:: 1 20
start%2:30:02:: 1 50
start%2:30:00:: 2 30
"""
EXCEPTIONS = {"verb": "began begin\nleft leave\n"}


def wordnet_made(folder: Path) -> Path:
    """The folder of it, within the one given."""
    made = folder / "dict"
    made.mkdir()
    for part, lines in INDEX.items():
        (made / f"index.{part}").write_text(lines)
        (made / f"{part}.exc").write_text(EXCEPTIONS.get(part, ""))
    (made / "cntlist.rev").write_text(COUNTS)
    return made
