"""Members of a dataset, and invitations to become one."""

from django.db import models
from django.db.models import Q
from django.utils.timezone import now
from django.utils.translation import gettext_lazy as _

from curation.foundation.roles import Role


class Membership(models.Model):
    dataset = models.ForeignKey("curation.Dataset", models.CASCADE, related_name="memberships")
    user = models.ForeignKey("curation.User", models.CASCADE, related_name="memberships")
    role = models.CharField(_("role"), max_length=10, choices=Role.choices)
    joined_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["dataset", "user"], name="one_membership_per_person_and_dataset"),
            models.CheckConstraint(condition=Q(role__in=Role.values), name="membership_role_is_known"),
        ]

    def __str__(self) -> str:
        return f"{self.user} · {self.get_role_display()}"


class Invitation(models.Model):
    """A link that makes the person who opens it a member. Only a digest of its token is kept."""

    dataset = models.ForeignKey("curation.Dataset", models.CASCADE, related_name="invitations")
    role = models.CharField(_("role"), max_length=10, choices=Role.choices)
    token_digest = models.CharField(max_length=64, unique=True)
    note = models.CharField(_("for whom"), max_length=100, blank=True)
    uses_left = models.PositiveIntegerField(_("people it admits"), default=1)
    admitted = models.PositiveIntegerField(default=0, help_text="people who came by it")
    created_by = models.ForeignKey("curation.User", models.CASCADE, related_name="+")
    created_at = models.DateTimeField(default=now)
    expires_at = models.DateTimeField(_("expires"))
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.CheckConstraint(condition=Q(role__in=Role.values), name="invitation_role_is_known")
        ]

    def __str__(self) -> str:
        return f"{self.dataset} · {self.get_role_display()}"


class InvitationBar(models.Model):
    """Somebody was removed from a dataset or lost rights in it: invitations made until then admit this person no more.

    One row for each removal or demotion, so that an undo takes back its own bar and leaves an earlier one.
    """

    dataset = models.ForeignKey("curation.Dataset", models.CASCADE, related_name="+")
    user = models.ForeignKey("curation.User", models.CASCADE, related_name="+")
    until = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["dataset", "user", "until"], name="invitation_bar_by_person")]

    def __str__(self) -> str:
        return f"{self.dataset} · {self.user} · {self.until:%Y-%m-%d %H:%M}"
