"""Where synonyms come from: a list that a person gives, or a WordNet that is installed."""

from functools import lru_cache
from pathlib import Path

from django.conf import settings
from django.utils.translation import gettext as _

from curation.foundation.errors import UserError, errors_shown
from curation.pairs.sampling.synonyms import SynonymError, Synonyms, synonyms_listed
from curation.pairs.sampling.wordnet import USUAL_PLACES, wordnet_found, wordnet_read


def synonyms_of_wordnet(folder: str = "") -> Synonyms:
    """folder: "" for the one of the settings, or of the usual places. Raises UserError with how to get a WordNet."""
    named = folder or settings.WORDNET_FOLDER
    with errors_shown(SynonymError):
        return _wordnet(wordnet_found([named] if named else USUAL_PLACES))


def synonyms_of_file(path: Path) -> Synonyms:
    """Of lines `word<TAB>synonym`. Raises UserError."""
    try:
        with path.open(encoding="utf-8") as lines:
            return synonyms_listed(path.name, lines)
    except OSError as error:
        sentence = _("%(file)s cannot be read: %(reason)s; check the path.")
        raise UserError(sentence, file=path.name, reason=error.strerror) from error
    except (SynonymError, UnicodeDecodeError) as error:
        sentence = _("%(file)s cannot be read as synonyms: %(reason)s.")
        raise UserError(sentence, file=path.name, reason=error) from error


def synonyms_of_text(text: str) -> Synonyms:
    """Of lines that somebody typed. Raises UserError, also where there is none."""
    try:
        found = synonyms_listed(_("a list"), text.splitlines())
    except SynonymError as error:
        raise UserError(_("The list of synonyms cannot be read: %(reason)s."), reason=error) from error
    if not found.words:
        raise UserError(_("The list of synonyms is empty. Write a word and its synonym on each line."))
    return found


@lru_cache(maxsize=1)
def _wordnet(place: Path) -> Synonyms:
    return wordnet_read(place)
