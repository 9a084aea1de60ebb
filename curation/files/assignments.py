"""Answers that people gave on a platform: whose they are, which were rejected, and what the platform calls columns."""

import re

# Names of columns in small letters and digits alone.
PEOPLE_NAMES = (
    *("annotator", "annotatorid", "annotatorname", "worker", "workerid", "user", "username", "userid"),
    *("rater", "raterid", "judge", "participant", "participantid", "respondent", "prolificpid", "completedby"),
)  # fmt: skip
ASSIGNMENT_STATUS_NAMES = ("assignmentstatus",)
_OF_TURK = re.compile(r"^\s*(input|answer)\.(?=.)", re.IGNORECASE)


def without_turk(name: str) -> str:
    """The name of a column without what Mechanical Turk puts before it: Input.sentence1, Answer.best."""
    return _OF_TURK.sub("", name)


def is_rejected(status: object) -> bool:
    """Whether the status of an assignment says that its answers were rejected."""
    return str(status).strip().casefold() == "rejected"
