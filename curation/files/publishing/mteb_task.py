"""mteb_task.py: the dataset as a task of MTEB, the Massive Text Embedding Benchmark (Muennighoff et al. 2023)."""

import re

from curation.files.publishing.citation import cited_as
from curation.files.publishing.facts import Configuration, Publication
from curation.files.publishing.licences import licence_known
from curation.files.publishing.prose import plain
from curation.files.publishing.templates import template_text
from curation.pairs.judged_by import PEOPLE

# MTEB names languages by ISO 639-3 and script.
_LANGUAGES = {
    "af": "afr-Latn", "am": "amh-Ethi", "ar": "ara-Arab", "bn": "ben-Beng", "ca": "cat-Latn", "cs": "ces-Latn",
    "da": "dan-Latn", "de": "deu-Latn", "el": "ell-Grek", "en": "eng-Latn", "es": "spa-Latn", "et": "est-Latn",
    "eu": "eus-Latn", "fa": "fas-Arab", "fi": "fin-Latn", "fr": "fra-Latn", "gl": "glg-Latn", "ha": "hau-Latn",
    "he": "heb-Hebr", "hi": "hin-Deva", "hu": "hun-Latn", "id": "ind-Latn", "it": "ita-Latn", "ja": "jpn-Jpan",
    "ko": "kor-Hang", "lt": "lit-Latn", "lv": "lav-Latn", "mr": "mar-Deva", "nl": "nld-Latn", "no": "nor-Latn",
    "pa": "pan-Guru", "pl": "pol-Latn", "pt": "por-Latn", "ro": "ron-Latn", "ru": "rus-Cyrl", "rw": "kin-Latn",
    "sk": "slk-Latn", "sl": "slv-Latn", "sv": "swe-Latn", "sw": "swa-Latn", "ta": "tam-Taml", "te": "tel-Telu",
    "th": "tha-Thai", "tr": "tur-Latn", "uk": "ukr-Cyrl", "ur": "urd-Arab", "vi": "vie-Latn", "zh": "zho-Hans",
}  # fmt: skip
_UNKNOWN = "und-Zyyy"


def mteb_task(publication: Publication, scored: Configuration) -> str:
    """Python that defines a task with the pairs of the test split, or of every split where none is called test.

    The scores are those of `scored` with the bounds of their scale, as `sentence1`, `sentence2` and `score`. The text
    is `templates/mteb_task.py.jinja`.
    """
    class_name = "".join(word.capitalize() for word in re.findall(r"[a-zA-Z0-9]+", publication.slug))
    licence = licence_known(publication.licence).hub
    return template_text(
        "mteb_task.py.jinja",
        publication=publication,
        # The title must not end the docstring that it is in.
        title=" ".join(plain(publication.name).replace("\\", " ").replace('"', "'").split()),
        class_name=class_name if class_name[:1].isalpha() else f"Dataset{class_name}",
        splits=["test"] if "test" in scored.files else list(scored.files),
        language=mteb_language(publication.language),
        licence="not specified" if licence in ("other", "unknown") else licence,
        citation=cited_as(publication),
        PEOPLE=PEOPLE,
    )


def mteb_language(tag: str) -> str:
    """How MTEB names the language of a BCP-47 tag, "und-Zyyy" if this does not know it."""
    language, *rest = tag.split("-")
    known = _LANGUAGES.get(language.lower(), _UNKNOWN)
    script = next((part.title() for part in rest if len(part) == 4 and part.isalpha()), "")
    name, usual = known.split("-")
    return f"{language.lower() if len(language) == 3 and known == _UNKNOWN else name}-{script or usual}"
