"""CITATION.cff, from which GitHub, Zenodo and reference managers take how a dataset is cited."""

from typing import Any

import yaml

from curation.files.publishing.facts import Publication
from curation.files.publishing.licences import licence_known


def citation(publication: Publication) -> str:
    """Citation File Format 1.2.0 (Druskat et al. 2021). Without authors, those who made the dataset are one entity."""
    licence = licence_known(publication.licence).spdx
    authors = publication.authors or [f"Contributors to {publication.name}"]
    content: dict[str, Any] = {
        "cff-version": "1.2.0",
        "message": "If you use this dataset, please cite it as below.",
        "type": "dataset",
        "title": publication.name,
        "authors": [{"name": author} for author in authors],
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
