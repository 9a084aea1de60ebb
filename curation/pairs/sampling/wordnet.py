"""WordNet as synonyms, read from a folder in Princeton's format (wndb(5WN), https://wordnet.princeton.edu).

Two words are synonyms here if their most frequent senses are the same synset. The word that stands for all of them is
the one that is most frequent in that sense. So a word that stands for others stands for itself too, and a word of
several senses is never two things. An inflected word has the sense of its base form, by WordNet's lists of exceptions
and its rules (morphy(7WN)). Frequencies are those of WordNet's tagged texts.
"""

import zipfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from curation.pairs.sampling.synonyms import SynonymError, Synonyms

# In the order in which a word's readings of equal frequency are preferred, with the number that a sense's key has.
PARTS = {"noun": (1,), "verb": (2,), "adj": (3, 5), "adv": (4,)}
# What an inflected word ends with, and its base form instead of that.
ENDINGS = {
    "noun": (
        ("s", ""), ("ses", "s"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"), ("men", "man"),
        ("ies", "y"),
    ),
    "verb": (("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")),
    "adj": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "adv": (),
}  # fmt: skip
# What WordNet has under pronouns, prepositions and articles are symbols (he is helium), which its texts never show.
SHORT = 3
USUAL_PLACES = (
    "/usr/share/wordnet",
    "~/nltk_data/corpora/wordnet",
    "~/nltk_data/corpora/wordnet.zip",
    "/usr/share/nltk_data/corpora/wordnet",
    "/usr/local/share/nltk_data/corpora/wordnet",
    "/usr/local/WordNet-3.0/dict",
)
HOW_TO_GET_IT = (
    "install the Debian package wordnet-base, or unpack WordNet from https://wordnet.princeton.edu or nltk's corpus "
    "wordnet, and name its folder (the one with index.noun) with --wordnet or the setting WORDNET_FOLDER"
)
_Folder = Path | zipfile.Path


class _Sense(NamedTuple):
    """The most frequent sense of a word in one part of speech. often: how many times it was met in tagged texts."""

    often: int
    part: str
    synset: str


def wordnet_found(places: Iterable[str | Path]) -> Path:
    """The first of the folders, or of nltk's zip files of one, that holds a WordNet.

    Raises SynonymError with how to get one.
    """
    tried = [Path(place).expanduser() for place in places]
    for place in tried:
        if _index(place, "noun") is not None:
            return place
    where = f"at {tried[0]}" if len(tried) == 1 else "in the usual places"
    raise SynonymError(f"There is no WordNet {where}: {HOW_TO_GET_IT}.")


def wordnet_read(place: Path) -> Synonyms:
    """The synonyms of a WordNet: of about 150,000 words, in a second.

    place: a folder that has index.noun, or nltk's zip file of one, as `wordnet_found` returns it.
    Raises SynonymError if one of its files cannot be read or is not in Princeton's format.
    """
    senses: dict[str, list[_Sense]] = {}
    try:
        # How often a word's first sense in a part of speech was met in tagged texts; a WordNet may come without.
        part_of = {str(number): part for part, numbers in PARTS.items() for number in numbers}
        often: dict[tuple[str, str], int] = {}
        counts = _folder(place) / "cntlist.rev"
        for line in _lines(counts) if counts.is_file() else ():
            key, number, times = line.split()
            if number == "1":  # sense 1 is the most frequent one
                # lemma%ss_type:lex_filenum:lex_id:head_word:head_id; ss_type is the digit of PARTS.
                lemma, _percent, rest = key.partition("%")
                often[lemma, part_of[rest[:1]]] = int(times)
        # The synset of the first sense, which is the most frequent one, of each word in each part of speech.
        for part in PARTS:
            index = _index(place, part)
            for line in _lines(index) if index is not None else ():
                if line.startswith("  "):  # the licence
                    continue
                # lemma pos synset_cnt p_cnt [ptr_symbol…] sense_cnt tagsense_cnt synset_offset [synset_offset…]
                cells = line.split()
                lemma = cells[0].casefold()
                # Words of several parts have an underscore.
                if lemma.isalnum():
                    # Offsets are the last synset_cnt cells, by frequency.
                    sense = _Sense(often.get((lemma, part), 0), part, cells[-int(cells[2])])
                    senses.setdefault(lemma, []).append(sense)
        irregular = list(_irregular(place))
    except (OSError, UnicodeDecodeError, zipfile.BadZipFile, ValueError, IndexError) as error:
        raise SynonymError(f"The WordNet at {place} cannot be read ({error}); install it again.") from error
    return Synonyms(f"WordNet of {place}", _Words(senses, irregular))


class _Words(dict[str, str]):
    """Which word stands for a word. What is asked for is kept: a vocabulary is much smaller than its texts."""

    def __init__(self, senses: dict[str, list[_Sense]], irregular: Sequence[tuple[str, str, str]]) -> None:
        super().__init__()
        self._senses = senses
        self._irregular: dict[str, list[tuple[str, str]]] = {}
        for inflected, part, base in irregular:
            self._irregular.setdefault(inflected, []).append((base, part))
        self._members: dict[tuple[str, str], list[tuple[int, str]]] = {}
        for lemma, found in senses.items():
            for sense in found:
                # The most frequent first, and of words that are equally frequent the first of the alphabet.
                self._members.setdefault((sense.part, sense.synset), []).append((-sense.often, lemma))

    def get(self, word: str, default: str | None = None) -> str | None:  # type: ignore[override]
        if word not in self:
            sense, stands = self._sense(word), word
            if sense is not None:
                own = sense.part, sense.synset
                lemmas = (lemma for _often, lemma in sorted(self._members[own]))
                # The most frequent member whose own most frequent sense is this synset: others stand for another word.
                of = ((lemma, self._sense(lemma)) for lemma in lemmas)
                stands = next((lemma for lemma, its in of if its and (its.part, its.synset) == own), word)
            self[word] = stands
        return self[word]

    def _sense(self, word: str) -> _Sense | None:
        """The most frequent sense of all that the word may be a form of; None where WordNet has none."""
        # What the word may be a form of, and its part of speech; the word itself first.
        readings = [(word, part) for part in PARTS] + self._irregular.get(word, [])
        readings += [
            (word.removesuffix(ending) + base, part)
            for part, endings in ENDINGS.items()
            for ending, base in endings
            if word.endswith(ending) and len(word) > len(ending)
        ]
        found = [
            sense for base, part in readings for sense in self._senses.get(base, ()) if sense.part == part
        ]
        # Of equal frequencies the first reading: the word as it is before inflections, nouns before verbs.
        # A short word counts only if tagged texts show it in this sense.
        best = max(found, key=lambda sense: sense.often, default=None)
        return None if best is None or (len(word) < SHORT and not best.often) else best


def _irregular(place: Path) -> Iterator[tuple[str, str, str]]:
    """An inflected word, its part of speech and its base form, as `geese noun goose`."""
    for part in PARTS:
        exceptions = _folder(place) / f"{part}.exc"
        for line in _lines(exceptions) if exceptions.is_file() else ():
            inflected, *bases = line.split()
            yield from ((inflected, part, base) for base in bases)


def _folder(place: Path) -> _Folder:
    """nltk keeps the folder in a zip file of its name."""
    return zipfile.Path(place, "wordnet/") if place.suffix == ".zip" else place


def _index(place: Path, part: str) -> _Folder | None:
    try:
        index = _folder(place) / f"index.{part}"
        return index if index.is_file() else None
    except (OSError, zipfile.BadZipFile):
        return None


def _lines(file: _Folder) -> Iterator[str]:
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield line.rstrip("\n")
