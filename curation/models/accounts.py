"""Accounts, and what belongs to one: API tokens, browsers, the second factor, tries of a password."""

import hashlib

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from curation.foundation.roles import TokenScope


class User(AbstractUser):
    """A person, or an annotator or curator that a program simulates, which every page marks as such."""

    simulated = models.BooleanField(_("simulated"), default=False)

    token_used = ""  # the beginning of the API token with which this request came; no column

    def __str__(self) -> str:
        return self.get_full_name() or self.username

    def password_digest(self) -> str:
        """Changes with every password, however it was set. What belongs to a password is kept beside this."""
        return hashlib.sha256(self.password.encode()).hexdigest()

    def check_password(self, raw_password: str | None) -> bool:
        """Django's, which may hash the right password again, more slowly: that is not a new password."""
        before = self.password_digest()
        is_right = super().check_password(raw_password)
        if is_right and self.password_digest() != before:
            tokens = ApiToken.objects.filter(user=self, password_digest=before)
            tokens.update(password_digest=self.password_digest())
        return is_right


class PasswordTries(models.Model):
    """How often a password was tried in a quarter of an hour: for a name, from an address, or both. No name is kept."""

    key = models.CharField(max_length=64, unique=True)
    tries = models.PositiveIntegerField(default=0)
    ends_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"{self.tries} until {self.ends_at:%Y-%m-%d %H:%M}"


class ApiToken(models.Model):
    """A person's token for a program. Only a digest of it is kept; another password ends it, and so does its time."""

    Scope = TokenScope

    user = models.ForeignKey(User, models.CASCADE, related_name="api_tokens")
    name = models.CharField(_("name"), max_length=60)
    scope = models.CharField(_("scope"), max_length=5, choices=TokenScope.choices)
    digest = models.CharField(max_length=64, unique=True)
    beginning = models.CharField(max_length=8, help_text="by which its owner recognises it")
    password_digest = models.CharField(max_length=64, help_text="of the password's hash when it was made")
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.UniqueConstraint(fields=["user", "name"], name="one_token_per_person_and_name"),
            models.CheckConstraint(condition=Q(scope__in=TokenScope.values), name="token_scope_is_known"),
        ]

    def __str__(self) -> str:
        return f"{self.user} · {self.name} · {self.beginning}…"


class BrowserSession(models.Model):
    """A browser in which a person is logged in. It goes with its session.

    browser, system: names from short lists, "" for others. password_digest: of the password's hash at the login.
    """

    session = models.OneToOneField("sessions.Session", models.CASCADE, related_name="+")
    user = models.ForeignKey(User, models.CASCADE, related_name="browser_sessions")
    browser = models.CharField(max_length=20, blank=True)
    system = models.CharField(max_length=20, blank=True)
    password_digest = models.CharField(max_length=64)
    started_at = models.DateTimeField()
    last_used_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.user} · {self.browser} · {self.system}"


class SecondFactor(models.Model):
    """What an account asks for after the password.

    secret: of the app, base32. last_step: the step of 30 seconds whose code was used last. recovery: SHA-256 of each
    unused recovery code, in hexadecimal.
    """

    user = models.OneToOneField(User, models.CASCADE, related_name="second_factor")
    secret = models.CharField(max_length=64)
    last_step = models.BigIntegerField()
    recovery = models.JSONField(default=list)
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return str(self.user)
