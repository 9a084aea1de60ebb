"""What programs read of a published folder: the metadata of README.md, CITATION.cff and croissant.json."""

import json
from collections.abc import Mapping
from typing import Any

import yaml

from curation.files.publishing.cards import (
    annotators_stated,
    licence_identifier,
    licence_known,
    reliability_stated,
)
from curation.files.publishing.facts import Configuration, Contents, Publication
from curation.files.publishing.prose import LATEX, plain
from curation.pairs.judged_by import BOTH, SIMULATED

# The hub's classes of size: each holds fewer pairs than its number.
_SIZES = (
    (1_000, "n<1K"),
    (10_000, "1K<n<10K"),
    (100_000, "10K<n<100K"),
    (1_000_000, "100K<n<1M"),
    (10_000_000, "1M<n<10M"),
)
_LARGEST = "10M<n<100M"
_HUB_TYPES = {"text": "string", "number": "float64", "integer": "int64"}
_CONFORMS_TO = ["http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0"]
_TYPES = {"text": "sc:Text", "number": "sc:Float", "integer": "sc:Integer"}
# The context of the specification's own examples, with the terms of the responsible-AI extension.
_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}


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


def size_class(pairs: int) -> str:
    """The hub's class for a number of pairs."""
    return next((name for most, name in _SIZES if pairs < most), _LARGEST)


def readme_metadata(publication: Publication, contents: Contents) -> str:
    licence = licence_known(publication.licence).hub
    # The hub has names for crowds and experts, and nothing here says which of them the people were.
    creators = {SIMULATED: ["machine-generated"], BOTH: ["machine-generated", "other"]}
    made = creators.get(publication.main.judged_by)
    base, _hyphen, region = publication.language.partition("-")
    metadata: dict[str, Any] = {
        "pretty_name": publication.name,
        "language": [base.lower()],
        **({"language_bcp47": [publication.language]} if region else {}),
        "license": licence,
        **({"license_name": licence_identifier(publication.licence)} if licence == "other" else {}),
        **({"annotations_creators": made} if made else {}),
        "language_creators": ["found", *(["machine-generated"] if contents.machine else [])],
        "multilinguality": ["monolingual"],
        "size_categories": [size_class(contents.pairs)],
        "source_datasets": ["original"],
        "task_categories": ["sentence-similarity"],
        "task_ids": ["semantic-similarity-scoring"],
        "tags": ["simulated-annotators"] if publication.simulated else [],
        "configs": [
            {
                "config_name": each.name,
                **({"default": True} if each.name == "scored" else {}),
                "data_files": [{"split": split, "path": path} for split, (path, _) in each.files.items()],
            }
            for each in contents.configurations
        ],
        "dataset_info": [
            {
                "config_name": each.name,
                "features": [
                    {"name": column.name, "dtype": _HUB_TYPES[column.kind]} for column in each.columns
                ],
            }
            for each in contents.configurations
        ],
    }
    return yaml.safe_dump(metadata, sort_keys=False, allow_unicode=True, width=110)


def croissant(publication: Publication, contents: Contents, checksums: Mapping[str, str]) -> str:
    """JSON-LD. checksums: the SHA-256 of each table by its path in the folder.

    Each file is its own record set, `<configuration>/<split>`. Of the responsible-AI fields those are filled that
    follow from the data; the data statement asks for the others.
    """
    files = [
        (each, split, path) for each in contents.configurations for split, (path, _rows) in each.files.items()
    ]
    described = publication.description.strip() or publication.name
    licence = licence_known(publication.licence).spdx
    content = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": _CONFORMS_TO,
        "name": publication.slug,
        "alternateName": publication.name,
        "description": described,
        "license": f"https://spdx.org/licenses/{licence}" if licence else publication.licence or "not stated",
        **({"url": publication.address} if publication.address else {}),
        "version": f"{publication.snapshot}.0.0",
        "datePublished": publication.taken.isoformat(),
        "inLanguage": publication.language,
        "creator": [
            {"@type": "sc:Person" if publication.authors else "sc:Organization", "name": author}
            for author in authors(publication)
        ],
        "citeAs": cited_as(publication),
        **_responsible(publication, contents),
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": path,
                "name": path,
                "contentUrl": path,
                "encodingFormat": "application/x-parquet",
                "sha256": checksums[path],
            }
            for _each, _split, path in files
        ],
        "recordSet": [_records(each, split, path) for each, split, path in files],
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _records(configuration: Configuration, split: str, path: str) -> dict[str, Any]:
    name = f"{configuration.name}/{split}"
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{name}/{column.name}",
                "name": column.name,
                "dataType": _TYPES[column.kind],
                "source": {"fileObject": {"@id": path}, "extract": {"column": column.name}},
            }
            for column in configuration.columns
        ],
    }


def _responsible(publication: Publication, contents: Contents) -> dict[str, Any]:
    """The fields of the responsible-AI vocabulary that the data can fill."""
    campaigns = publication.collections
    dated = [each for each in campaigns if each.began is not None and each.ended is not None]
    collected = ["Human judgements" if campaigns else "Existing scores"]
    if contents.machine:
        collected.append("Synthetic: sentences of a language model")
    tools, limits = [publication.software], []
    if publication.simulated:
        tools.append("a program that simulates annotators; column judged_by")
        limits.append("Some scores come from simulated annotators, not from people.")
    if contents.unreviewed == 1:
        limits.append("1 generated pair was not reviewed by a person.")
    elif contents.unreviewed:
        limits.append(f"{contents.unreviewed:,} generated pairs were not reviewed by a person.")
    limits += [
        f"{leak} An encoder that is trained on one of the splits has seen it." for leak in contents.leaks
    ]
    fields: dict[str, Any] = {
        "rai:dataCollectionType": collected,
        "rai:dataCollectionTimeFrame": [
            moment for each in dated for moment in (f"{each.began}T00:00:00Z", f"{each.ended}T00:00:00Z")
        ],
        "rai:dataAnnotationProtocol": [
            f"{each.name}: Best-Worst Scaling, {each.tuples:,} tuples of {each.tuple_size} pairs, "
            f"{each.judgements_per_tuple} judgements per tuple. {each.question}"
            for each in campaigns
        ],
        "rai:dataAnnotationPlatform": [publication.software] if campaigns else [],
        "rai:dataAnnotationAnalysis": [
            text for each in publication.scores if (text := reliability_stated(each))
        ],
        "rai:annotationsPerItem": "; ".join(
            f"{each.name}: each pair in {each.tuples_per_item:.3g} tuples, "
            f"{each.judgements_per_tuple} judgements per tuple"
            for each in campaigns
        ),
        "rai:annotatorDemographics": [f"{each.name}: {annotators_stated(each)}" for each in campaigns],
        "rai:machineAnnotationTools": tools,
        "rai:dataLimitations": limits,
        "rai:personalSensitiveInformation": ["Annotators have codes instead of names."] if campaigns else [],
    }
    return {name: value for name, value in fields.items() if value}
