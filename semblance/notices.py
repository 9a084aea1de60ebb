"""The notices that the next page shows, in a cookie of the site's own name."""

from django.conf import settings
from django.contrib.messages.storage.cookie import CookieStorage
from django.contrib.messages.storage.fallback import FallbackStorage
from django.contrib.messages.storage.session import SessionStorage


class NoticesInCookie(CookieStorage):
    """Django's setting has no name for this cookie."""

    cookie_name = f"{settings.COOKIE_PREFIX}messages"


class Notices(FallbackStorage):
    storage_classes = (NoticesInCookie, SessionStorage)
