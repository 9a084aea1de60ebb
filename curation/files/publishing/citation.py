"""CITATION.cff, from which GitHub, Zenodo and reference managers take how a dataset is cited."""

from typing import Any

import yaml

from curation.files.publishing.facts import Publication
from curation.files.publishing.licences import licence_known
from curation.files.publishing.prose import LATEX, plain


def authors(publication: Publication) -> list[str]:
    """Who is cited, each once: without names, those who made the dataset, together."""
    return list(dict.fromkeys(publication.authors)) or [f"Contributors to {publication.name}"]


def cited_as(publication: Publication) -> str:
    """A BibTeX entry. Braces around a name or a title keep it as it is."""
    names = " and ".join(f"{{{_plain(author)}}}" for author in authors(publication))
    return (
        f"@misc{{{publication.slug}, author={{{names}}}, title={{{{{_plain(publication.name)}}}}}, "
        f"year={{{publication.taken.year}}}, note={{Version {publication.snapshot}}}}}"
    )


def _plain(text: str) -> str:
    """Text without what BibTeX and LaTeX would read as their own."""
    bare = plain(text).translate(str.maketrans("", "", "{}\\"))
    return "".join(
        LATEX.get(character, character) if character in "&%$#_~^" else character for character in bare
    )


def citation(publication: Publication) -> str:
    """Citation File Format 1.2.0 (Druskat et al. 2021). Without authors, those who made the dataset are one entity."""
    licence = licence_known(publication.licence).spdx
    content: dict[str, Any] = {
        "cff-version": "1.2.0",
        "message": "If you use this dataset, please cite it as below.",
        "type": "dataset",
        "title": publication.name,
        "authors": [{"name": author} for author in authors(publication)],
        "version": str(publication.snapshot),
        "date-released": publication.taken.isoformat(),
        **({"license": licence} if licence else {}),
        **({"url": publication.address} if publication.address else {}),
        "identifiers": [
            {
                "type": "other",
                "value": f"sha256:{publication.sha256}",
                "description": "The snapshot that it was made from",
            }
        ],
    }
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=110)
