"""croissant.json: what machines read of a dataset, in the Croissant format 1.0 with responsible-AI fields 1.0."""

import json
from collections.abc import Mapping
from typing import Any

from curation.files.publishing.citation import authors, cited_as
from curation.files.publishing.facts import Configuration, Contents, Publication
from curation.files.publishing.licences import licence_known
from curation.files.publishing.readme import annotators_stated, reliability_stated

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
            f"{each.name}: {each.tuples_per_item:.3g} tuples per pair, {each.judgements_per_tuple} judgements per tuple"
            for each in campaigns
        ),
        "rai:annotatorDemographics": [f"{each.name}: {annotators_stated(each)}" for each in campaigns],
        "rai:machineAnnotationTools": tools,
        "rai:dataLimitations": limits,
        "rai:personalSensitiveInformation": ["Annotators have codes instead of names."] if campaigns else [],
    }
    return {name: value for name, value in fields.items() if value}
