"""What the links of e-mails hold. None of it is kept: it is computed when a mail is sent, with SECRET_KEY."""

import base64

from django.contrib.auth.tokens import default_token_generator
from django.http import HttpRequest
from django.urls import get_script_prefix, reverse
from django.utils.crypto import salted_hmac
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from curation.models import Mail, User
from curation.people.accounts.addresses import address_claim


def invitation_token(nonce: str) -> str:
    """256 bits that who knows the nonce alone cannot find: a copy of the database opens no invitation."""
    digest = salted_hmac("curation.mail.invitation", nonce, algorithm="sha256").digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def invitation_link(mail: Mail) -> str:
    return link(mail, "curation:invitation", invitation_token(mail.nonce))


def password_link(mail: Mail, user: User) -> str:
    number = urlsafe_base64_encode(force_bytes(user.pk))
    return link(mail, "password_reset_confirm", number, default_token_generator.make_token(user))


def address_link(mail: Mail, user: User) -> str:
    return link(mail, "email_confirm", address_claim(user, to=mail.to))


def site_address(request: HttpRequest) -> str:
    """The site's, with its path, as the person who asks calls it."""
    return request.build_absolute_uri(reverse("home"))


def link(mail: Mail, name: str, *parts: str) -> str:
    """The address of a page on the site as the person who asked for the mail called it."""
    return mail.address + reverse(name, args=parts).removeprefix(get_script_prefix())
