"""An account by the name that an administrator types."""

from curation.foundation.errors import UserError
from curation.models import User


def account_named(username: str) -> User:
    """The account with exactly this name. Raises UserError where there is none."""
    user = User.objects.filter(username=username).first()
    if user is None:
        raise UserError("There is no account called “%(name)s”.", name=username)
    return user
