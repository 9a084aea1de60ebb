"""Assignments of crowdsourcing platforms: which were rejected, so that their answers are not used."""

# The names of the column in small letters and digits alone.
ASSIGNMENT_STATUS_NAMES = ("assignmentstatus",)


def is_rejected(status: object) -> bool:
    """Whether the status of an assignment says that its answers were rejected."""
    return str(status).strip().casefold() == "rejected"
