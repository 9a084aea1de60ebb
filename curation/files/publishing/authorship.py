"""Who wrote the sentences of a file: what every card says of generated pairs."""

from curation.pairs.inclusion import EXPLAINED


def authorship(*, chosen: str, people: int, kept: int, unreviewed: int) -> str:
    """Markdown. chosen: which generated pairs are included; kept: by a curator, who may have edited the sentence."""
    return f"""## Who wrote the sentences

Generated pairs included: {chosen}. {EXPLAINED}

* pairs that people made: {people:,}
* generated pairs that a curator kept or edited: {kept:,}
* generated pairs without a verdict: {unreviewed:,}
"""
