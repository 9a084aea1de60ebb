"""The second factor of an account: codes of an app (TOTP, RFC 6238) and recovery codes, beside the password.

The app's secret is kept as it is, because codes are computed from it. Of recovery codes digests are kept: 120 random
bits need no slow hash. A code of the app works once: the step of time that it belongs to is kept.
"""

import base64
import hashlib
import re
import secrets
from datetime import datetime, timedelta

import pyotp
import segno
from django.db import transaction
from django.dispatch import Signal
from django.http import HttpRequest
from django.utils.translation import gettext as _

from curation.foundation.errors import UserError
from curation.models import SecondFactor, User

SITE = "Semblance"
RECOVERY_CODES = 10
RECOVERY_BYTES = 15
STEPS_OFF = (0, -1, 1)  # clocks of telephones are off by up to half a minute
PASSWORD_HOLDS_FOR = timedelta(minutes=10)  # between the right password and the code
AWAITED, SETTING_UP, ELSEWHERE = "second_factor_awaited", "second_factor_secret", "second_factor_elsewhere"

# With the person and what happened, for the log.
second_factor_event = Signal()


def has_second_factor(user: User) -> bool:
    return SecondFactor.objects.filter(user=user).exists()


def secret_new() -> str:
    return pyotp.random_base32()


def secret_address(user: User, secret: str) -> str:
    """The address `otpauth://` that an app reads from a QR code."""
    return pyotp.TOTP(secret).provisioning_uri(name=user.get_username(), issuer_name=SITE)


def qr_image(text: str) -> str:
    """A QR code as the address of an image, black on white in any colours of the page."""
    return str(segno.make(text, error="m").svg_data_uri(scale=4, border=4, light="white"))


@transaction.atomic
def second_factor_activate(*, user: User, secret: str, code: str, at: datetime) -> list[str]:
    """Ask for codes at the next login. Returns the recovery codes, which nobody can look up afterwards.

    Raises UserError where the code is not of this secret, or the account has a second factor.
    """
    User.objects.select_for_update().get(pk=user.pk)
    if has_second_factor(user):
        raise UserError(_("Your account has a second factor."))
    step = _step_of(secret, _plain(code), at=at)
    if step is None:
        raise UserError(
            _("The code is wrong. Type the code that the app shows now, and check the clock of its device.")
        )
    codes = _codes_new()
    SecondFactor.objects.create(
        user=user, secret=secret, last_step=step, recovery=list(map(_digest, codes)), created_at=at
    )
    second_factor_event.send(SecondFactor, event="second_factor_activated", user=user)
    return codes


@transaction.atomic
def recovery_codes_renew(*, user: User) -> list[str]:
    """Other recovery codes; those from before stop working."""
    codes = _codes_new()
    if not SecondFactor.objects.filter(user=user).update(recovery=list(map(_digest, codes))):
        raise UserError(_("Your account has no second factor."))
    second_factor_event.send(SecondFactor, event="recovery_codes_renewed", user=user)
    return codes


@transaction.atomic
def second_factor_deactivate(*, user: User) -> None:
    SecondFactor.objects.filter(user=user).delete()
    second_factor_event.send(SecondFactor, event="second_factor_deactivated", user=user)


@transaction.atomic
def code_use(*, user: User, code: str, at: datetime) -> bool:
    """Whether this is a code of the person's app, or a recovery code. Each works once."""
    factor = SecondFactor.objects.select_for_update().filter(user=user).first()
    if factor is None:
        return False
    given = _plain(code)
    step = _step_of(factor.secret, given, at=at)
    if step is not None and step > factor.last_step:
        factor.last_step = step
    elif (digest := _digest(given)) in factor.recovery:
        factor.recovery = [each for each in factor.recovery if each != digest]
        second_factor_event.send(SecondFactor, event="recovery_code_used", user=user)
    else:
        return False
    factor.save(update_fields=["last_step", "recovery"])
    return True


def code_await(*, request: HttpRequest, user: User, page: str, at: datetime) -> None:
    """Keep in the session that the password was right. It logs nobody in."""
    request.session[AWAITED] = {
        "user": user.pk,
        "password": user.password_digest(),
        "page": page,
        "at": at.isoformat(),
    }


def code_awaited(request: HttpRequest, *, at: datetime) -> tuple[User, str] | None:
    """Who gave the right password a few minutes ago, and the page to go to; None for nobody."""
    kept = request.session.get(AWAITED)
    if not kept or at - datetime.fromisoformat(kept["at"]) > PASSWORD_HOLDS_FOR:
        return None
    user = User.objects.filter(pk=kept["user"], is_active=True).first()
    return (user, kept["page"]) if user and user.password_digest() == kept["password"] else None


def _step_of(secret: str, code: str, *, at: datetime) -> int | None:
    """The step of time in which an app with this secret shows this code, near now."""
    app = pyotp.TOTP(secret)
    now = app.timecode(at)
    shown = {now + off: app.generate_otp(now + off) for off in STEPS_OFF}
    return next((step for step, each in shown.items() if secrets.compare_digest(each, code)), None)


def _plain(code: str) -> str:
    """Without the spaces and lines with which codes are shown; nothing that no code has."""
    text = re.sub(r"[\s-]", "", code).upper()
    return text if text.isascii() else ""


def _codes_new() -> list[str]:
    texts = [
        base64.b32encode(secrets.token_bytes(RECOVERY_BYTES)).decode() for _code in range(RECOVERY_CODES)
    ]
    return ["-".join(re.findall("....", text)) for text in texts]


def _digest(code: str) -> str:
    return hashlib.sha256(_plain(code).encode()).hexdigest()
