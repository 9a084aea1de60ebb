"""Why somebody skips or flags a tuple: what annotators choose from. And why the gold rule stops somebody."""

from django.db import models
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _


class FlagReason(models.TextChoices):
    LANGUAGE = "language", _("not my language")
    BROKEN = "broken", _("broken text")
    OFFENSIVE = "offensive", _("offensive")
    CANNOT_TELL = "cannot_tell", _("cannot tell")
    OTHER = "other", _("other")
    COMMENT = "comment", _("nothing is wrong, only a comment")


def gold_reason(trials: int, right: int, threshold: float) -> str:
    """Why the gold rule stops a person, as the person reads it. right: of so many choices; threshold: 0 to 1."""
    return gettext(
        "Of %(trials)d choices with a known answer, %(right)d were right. "
        "This campaign requires %(threshold).0f %%."
    ) % {"trials": trials, "right": right, "threshold": 100 * threshold}
