"""Who judges through the API."""

from typing import Any

from rest_framework.request import Request

from annotation.judging import assignment
from annotation.models import Participation


def participation_of(request: Request, campaign_pk: int) -> Participation:
    """The part that the person who asks has in the campaign; they join it with their first request."""
    user: Any = request.user
    return assignment.participation_of(user=user, campaign_pk=campaign_pk)
