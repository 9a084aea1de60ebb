"""Sentences of both classes in one dress, so that a classifier learns how they are written and not how they are typed.

Machine text ends at a token limit or a quotation mark, human text comes tokenised, capitalised and with the quotation
marks of its publisher. Each of these would give a class away (shortcuts). What is unified here, for both classes:
case, Unicode's compatibility forms, quotation marks (double ones go: a generated sentence ends at the first),
dashes, the spaces and brackets of tokenised text, and full stops, commas, colons and dashes at either end.
"""

import re
import unicodedata

_CHARACTERS = str.maketrans(
    dict.fromkeys('“”„‟«»″"', " ")
    | dict.fromkeys("‘’‚‛′`´", "'")
    | dict.fromkeys("‐‑‒–−", "-")
    | dict.fromkeys("—―", " - ")
)
_TREEBANK = {"-lrb-": "(", "-rrb-": ")", "-lsb-": "[", "-rsb-": "]", "-lcb-": "{", "-rcb-": "}", "@-@": "-"}
_TREEBANK_MARK = re.compile("|".join(map(re.escape, _TREEBANK)))
_SUBSTITUTIONS = tuple(
    (re.compile(pattern), by)
    for pattern, by in (
        (r"'{2,}", " "),
        (r"-{2,}", " - "),
        (r"(\w) (n't|'(?:s|m|re|ve|ll|d))\b", r"\1\2"),  # do n't -> don't
        (r"(?<!\w)'|'(?!\w)", " "),  # what is left of single ones is apostrophes
        (r"\s+([,;:!?.)\]}%](?!\w))", r"\1"),
        (r"([(\[{$£€])\s+", r"\1"),
        (r" ?/ ?", "/"),
        (r"\s+", " "),
    )
)
_AT_THE_ENDS = " .,;:-"


def alike(text: str) -> str:
    """The sentence as a classifier sees it; one without a letter or digit keeps its characters. Never empty."""
    plain = text
    # Again, until nothing changes: what one substitution uncovers, another may be meant for.
    before = None
    while plain != before:
        before = plain
        # Compatibility forms first: full-width letters and ligatures become those that the patterns name.
        plain = unicodedata.normalize("NFKC", plain).lower().translate(_CHARACTERS)
        plain = _TREEBANK_MARK.sub(lambda mark: _TREEBANK[mark[0]], plain)
        for pattern, by in _SUBSTITUTIONS:
            plain = pattern.sub(by, plain)
        plain = plain.strip(_AT_THE_ENDS)  # a final full stop tells whether a limit cut the text
    return plain or " ".join(text.split()) or text
