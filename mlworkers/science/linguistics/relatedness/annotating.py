"""Words of sentences by part of speech, and subjects and objects, as a spaCy pipeline finds them.

Subjects and objects go by dependency labels, those of spaCy's English pipelines and those of Universal Dependencies.
The STR paper used a package for triples of subject, verb and object, whose label lists these are.
"""

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from curation.files.progress import Report, silent
from curation.pairs.segmenting import segmented_words
from mlworkers.science.linguistics.relatedness.names import ALL, GROUPS, OBJECTS, SUBJECTS
from mlworkers.science.linguistics.relatedness.plan import RelatednessError
from mlworkers.science.linguistics.relatedness.word_vectors import LookedUp, WordVectors

NOT_WORDS = frozenset({"PUNCT", "SPACE", "SYM", "X", ""})
_SUBJECT = frozenset(
    {"nsubj", "nsubjpass", "csubj", "csubjpass", "agent", "expl", "nsubj:pass", "csubj:pass"}
)
_OBJECT = frozenset({"dobj", "dative", "attr", "oprd", "obj", "iobj"})
_SENTENCES_BETWEEN_REPORTS = 200
_BATCH = 128


@dataclass(frozen=True)
class Annotation:
    """Of n distinct sentences, the words of each feature: `ALL`, a part of speech, a group, `SUBJECTS`, `OBJECTS`.

    A feature that the pipeline cannot find is missing, and `warnings` says so.
    """

    words: Mapping[str, Sequence[Sequence[str]]]
    warnings: Sequence[str] = ()
    vocabulary: frozenset[str] = field(default_factory=frozenset)


def annotated_simply(sentences: Sequence[str]) -> Annotation:
    """Without a pipeline: the words alone, lower-cased."""
    found = [segmented_words(sentence) for sentence in sentences]
    return Annotation({ALL: found}, vocabulary=frozenset(word for each in found for word in each))


def pipeline_load(name: str) -> Any:
    """An installed pipeline, or one in a folder. Raises RelatednessError."""
    try:
        spacy = importlib.import_module("spacy")
    except ImportError as error:
        raise RelatednessError(
            "spaCy is not installed on this worker; install Semblance with the extra linguistics, or leave the "
            "pipeline empty."
        ) from error
    installed = sorted(spacy.util.get_installed_models())
    path = Path(name).expanduser()
    # The path of a folder holds a slash, and the name of a package holds none.
    is_folder = "/" in name and (path / "config.cfg").is_file()
    if name not in installed and not is_folder:
        raise RelatednessError(
            "There is no spaCy pipeline “%(name)s” on this worker; installed: %(installed)s. Install one with "
            "python -m spacy download en_core_web_md, or give the path of the folder that has its config.cfg, "
            "such as ./en_core_web_md.",
            name=name,
            installed=", ".join(installed) or "none",
        )
    try:
        return spacy.load(name if name in installed else path, exclude=["ner", "lemmatizer"])
    except (OSError, ValueError, TypeError, KeyError, ImportError, AttributeError) as error:
        first_line = str(error).strip().partition("\n")[0]
        raise RelatednessError(
            "The spaCy pipeline “%(name)s” cannot be loaded: %(why)s. Install a version for spaCy %(version)s.",
            name=name,
            why=first_line[:200].rstrip("."),
            version=spacy.__version__,
        ) from error


def vectors_of_pipeline(pipeline: Any, name: str) -> WordVectors:
    """The pipeline's own word vectors. Raises RelatednessError where it has none."""
    width = int(pipeline.vocab.vectors_length)
    if not width or not len(pipeline.vocab.vectors):
        raise RelatednessError(
            "The spaCy pipeline “%(name)s” has no word vectors; choose one that has, such as en_core_web_md, or give a "
            "file of word vectors.",
            name=name,
        )
    vocab = pipeline.vocab
    return LookedUp(width, lambda word: vocab.get_vector(word) if vocab.has_vector(word) else None)


def annotated(pipeline: Any, sentences: Sequence[str], *, report: Report = silent) -> Annotation:
    """The words of n distinct sentences by feature, in the order of the sentences."""
    found: dict[str, list[list[str]]] = {ALL: [[] for _each in sentences]}
    has_tags = has_dependencies = False
    for number, document in enumerate(pipeline.pipe(sentences, batch_size=_BATCH)):
        has_tags |= document.has_annotation("POS")
        has_dependencies |= document.has_annotation("DEP")
        subjects, objects = _marked(document)
        for place, token in enumerate(document):
            if token.is_punct or token.is_space:
                continue
            names = [ALL, *_classes(token.pos_)]
            names += [SUBJECTS] if place in subjects else []
            names += [OBJECTS] if place in objects else []
            for name in names:
                if name not in found:
                    found[name] = [[] for _each in sentences]
                found[name][number].append(token.text)
        if number % _SENTENCES_BETWEEN_REPORTS == 0:
            report(number, len(sentences), "Finding parts of speech, subjects and objects")
    vocabulary = frozenset(word for each in found[ALL] for word in each)
    lacking = []
    if not has_tags:
        lacking.append(
            "The spaCy pipeline gives no parts of speech, so features by part of speech were left out."
        )
    if not has_dependencies:
        lacking.append("The spaCy pipeline gives no dependencies, so subjects and objects were left out.")
    return Annotation(found, tuple(lacking), vocabulary)


def _classes(tag: str) -> list[str]:
    if tag in NOT_WORDS:
        return []
    return [tag, *(group for group, tags in GROUPS.items() if tag in tags)]


def _marked(document: Any) -> tuple[set[int], set[int]]:
    """The places of subjects and of objects; words that are joined to one by “and” are one too."""
    subjects, objects = set[int](), set[int]()
    for token in document:
        if token.dep_ in _SUBJECT:
            subjects |= {token.i, *(other.i for other in token.conjuncts)}
        elif token.dep_ in _OBJECT or (token.dep_ == "pobj" and token.head.dep_ == "agent"):
            objects |= {token.i, *(other.i for other in token.conjuncts)}
    return subjects, objects
