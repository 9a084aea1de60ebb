"""Which encodings a text file that is not UTF-8 is probably in.

Most such files are Windows-1252, which can decode nearly everything: a Chinese file becomes letters with accents. So a
file is read as Windows-1252 only where its letters are those of languages of Western Europe. For other files
charset-normalizer names likely encodings, and the letters of languages that it often misses put them in order.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress

from charset_normalizer import from_bytes

# Letters beyond a to z of languages that Windows-1252 was made for. Files often mix the first ones.
_WIDESPREAD = {
    "English": "éèêëïîôöüçàâñ",
    "French": "àâæçéèêëîïôœùûüÿ",
    "German": "äöüß",
    "Spanish": "áéíóúüñ",
    "Portuguese": "áâãàçéêíóôõúü",
    "Italian": "àèéìíîòóùú",
    "Dutch": "éëèêïóöü",
    "Swedish": "åäöé",
    "Danish and Norwegian": "æøåéêóòôö",
}
_WESTERN = _WIDESPREAD | {
    "Finnish": "åäöšž",
    "Estonian": "äöõüšž",
    "Icelandic": "áéíóúýðþæö",
    "Faroese": "áíóúýæøð",
    "Catalan": "àçèéíïòóúü",
    "Irish": "áéíóú",
    "Welsh": "âêîôûáéíóúäëïöüàèìòù",
    "Albanian": "ëç",
    "Luxembourgish": "äéëöü",
    "Afrikaans": "áéèêëíîïóôöúû",
}
# The same of languages for which other encodings were made that differ from Windows-1252 in some letters alone.
_OTHERS: Mapping[str, Mapping[str, str]] = {
    "iso8859_9": {"Turkish": "çğıöşüâîûi̇"},
    "cp1250": {
        "Polish": "ąćęłńóśźż",
        "Czech": "áčďéěíňóřšťúůýž",
        "Slovak": "áäčďéíĺľňóôŕšťúýž",
        "Hungarian": "áéíóöőúüű",
        "Romanian": "ăâîşţ",
        "Croatian": "čćđšž",
        "Slovenian": "čšž",
    },
    "cp1257": {"Lithuanian": "ąčęėįšųūž", "Latvian": "āčēģīķļņšūž"},
}
# What charset-normalizer chooses among; of encodings that are nearly the same, the one that files are in.
_OFFERED = (
    "gb18030", "big5", "cp932", "euc_jp", "cp949", "cp1250", "iso8859_2", "cp1251", "koi8_r", "koi8_u", "cp866",
    "mac_cyrillic", "cp1252", "mac_roman", "cp850", "cp1253", "iso8859_9", "cp1255", "cp1256", "cp1257", "cp1258",
    "tis_620",
)  # fmt: skip
_MOST = 4  # encodings that are named
_FOREIGN_SHARE, _FOREIGN_LEAST = 0.1, 3
# A cell or a part of a sentence: people write one in one language.
_PIECE = re.compile(r'[^\t\r\n,;|"]+')
# Signs of Windows-1252 that stand for letters elsewhere, where they are inside a word; the last one is not a character.
_SIGNS = frozenset("¡¢£¤¥¦§¨©ª¬®¯°±²³´¶¸¹º»¼½¾¿×÷ˆ‰†‡ƒ\ufffd")
_SIGN_IN_WORD = re.compile(f"[^\\W\\d_][{''.join(_SIGNS)}]+[^\\W\\d_]|\ufffd")
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")
_RUN_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]{4,}")


class Letters:
    """Counts the pieces of a text that have letters beyond a to z, by the languages whose letters these are."""

    def __init__(self, languages: Mapping[str, str]) -> None:
        self._languages = {language: frozenset(letters) for language, letters in languages.items()}
        self._pieces: Counter[frozenset[str]] = Counter()  # by their letters and signs; few sets differ
        self._in_another_script = 0

    def read(self, text: str) -> None:
        if text.isascii():
            return
        for piece in _PIECE.findall(text.lower()):
            if piece.isascii():
                continue
            if any(map(_is_in_another_script, _RUN_BEYOND_ASCII.findall(piece))):
                self._in_another_script += 1
                continue
            found = frozenset(_BEYOND_ASCII.findall(piece))
            if _SIGNS.isdisjoint(found) or not _SIGN_IN_WORD.search(piece):
                found = frozenset(filter(str.isalpha, found))
            if found:
                self._pieces[found] += 1

    @property
    def pieces(self) -> int:
        return self._pieces.total() + self._in_another_script

    @property
    def fitting(self) -> int:
        """The pieces that are in the language that most are in."""
        return max(
            sum(count for letters, count in self._pieces.items() if letters <= known)
            for known in self._languages.values()
        )

    @property
    def are_foreign(self) -> bool:
        """Whether many pieces are not in the one language, or in none of the widespread ones, that most are in; or
        look like another script.
        """
        if self._in_another_script > _FOREIGN_SHARE * self.pieces:
            return True
        mixed = [known for language, known in self._languages.items() if language in _WIDESPREAD]
        in_mixture = sum(
            count for letters, count in self._pieces.items() if any(letters <= known for known in mixed)
        )
        foreign = self.pieces - max(self.fitting, in_mixture)
        return foreign >= _FOREIGN_LEAST and foreign > _FOREIGN_SHARE * self.pieces


def _is_in_another_script(run: str) -> bool:
    """Whether four or more characters beyond ASCII have three different letters, or two with two signs: words of Latin
    scripts have not, but for very few.
    """
    different = set(run)
    letters = sum(map(str.isalpha, different))
    return letters > 2 or (letters > 1 and len(different & _SIGNS) > 1)


def western(lines: Iterable[str], beginning: bytes) -> bool:
    """Whether a text that was decoded as Windows-1252 has the letters of languages of Western Europe.

    lines: of all of the file. beginning: as `likely_encodings` gets it. Some languages, such as Hungarian, have letters
    of which single sentences could be of several Western languages; the beginning then has another one that fits all.
    A text whose signs are not letters, such as dashes and pounds, is of Western Europe.
    """
    letters = Letters(_WESTERN)
    for line in lines:
        letters.read(line)
    if letters.are_foreign:
        return False
    here = _letters(beginning, "cp1252", _WESTERN)
    return not here.pieces or not any(
        here.pieces == others.pieces == others.fitting > here.fitting
        for others in (_letters(beginning, name, languages) for name, languages in _OTHERS.items())
    )


def likely_encodings(beginning: bytes) -> list[str]:
    """At most four encodings of a part of a file that is not UTF-8, the likeliest first, by Python's names of codecs.

    beginning: lines that are not ASCII.
    """
    ranked = [match.encoding for match in from_bytes(beginning, cp_isolation=list(_OFFERED))]
    if "gb18030" in ranked:
        # GBK is what files say that GB 18030 includes.
        with suppress(UnicodeDecodeError):
            beginning.decode("gbk")
            ranked = ["gbk" if name == "gb18030" else name for name in ranked]
    read = {name: _letters(beginning, name, languages) for name, languages in _OTHERS.items()}
    fitting = [name for name, letters in read.items() if letters.fitting > 0 and not letters.are_foreign]
    return list(dict.fromkeys([*fitting, *ranked]))[:_MOST]


def _letters(text: bytes, encoding: str, languages: Mapping[str, str]) -> Letters:
    letters = Letters(languages)
    letters.read(text.decode(encoding, "replace"))
    return letters
