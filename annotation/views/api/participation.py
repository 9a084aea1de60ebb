"""Who judges through the API."""

from typing import Any

from rest_framework.request import Request

from annotation.access import campaign_for
from annotation.judging.assignment import participation_join
from annotation.models import Participation


def participation_of(request: Request, campaign_pk: int) -> Participation:
    """The part that the person who asks has in the campaign; they join it with their first request."""
    user: Any = request.user
    return participation_join(campaign=campaign_for(user, campaign_pk, may="annotate"), user=user)
