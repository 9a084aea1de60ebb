"""E-mails."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from curation.models.outgoing import Outgoing


class Mail(Outgoing):
    """One e-mail, and what became of it. Its text is written when it is sent: no secret is kept here.

    address: of the site, with its path, for the link. nonce: with SECRET_KEY, the secret of an invitation's link; empty
    once that is not needed. user: whose address it becomes, or who is told of a change; a new password is for whoever
    has the address then.
    """

    class Kind(models.TextChoices):
        INVITATION = "invitation", _("invitation")
        PASSWORD = "password", _("new password")
        ADDRESS = "address", _("confirmation of an address")
        CHANGED = "changed", _("notice of a new password")
        MOVED = "moved", _("notice of another address")

    kind = models.CharField(max_length=10, choices=Kind.choices)
    to = models.EmailField()
    language = models.CharField(max_length=15)
    address = models.CharField(max_length=500)
    invitation = models.OneToOneField("curation.Invitation", models.CASCADE, null=True, related_name="mail")
    user = models.ForeignKey("curation.User", models.CASCADE, null=True, related_name="+")
    nonce = models.CharField(max_length=64, blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(kind="invitation", invitation__isnull=False)
                | Q(kind="password", invitation__isnull=True)
                | Q(kind__in=["address", "changed", "moved"], user__isnull=False),
                name="mail_has_what_it_is_about",
            )
        ]
        indexes = [
            models.Index(fields=["state", "next_at"], name="mails_due"),
            models.Index(fields=["to", "kind", "made_at"], name="mails_by_address"),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} · {self.to}"
