"""People from a platform: links, consent, answers, submissions."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.about import LABELS, Age, Gender


class Crowd(models.Model):
    """How people whom a platform sends enter a campaign, and with which code each of them leaves it.

    The names of the parameters, the address and the codes are settings: every platform that sends people by a link and
    takes them back by a link is the same to the code.
    """

    campaign = models.OneToOneField("annotation.Campaign", models.CASCADE, related_name="crowd")
    token = models.CharField(max_length=43, unique=True, help_text="the part of the entry link that is drawn")
    is_open = models.BooleanField(_("people may enter"), default=False)
    external_id_parameter = models.CharField(_("parameter with the person's id"), max_length=50)
    study_parameter = models.CharField(_("parameter with the study"), max_length=50, blank=True)
    submission_parameter = models.CharField(_("parameter with the submission"), max_length=50, blank=True)
    completion_address = models.CharField(_("completion address"), max_length=500, blank=True)
    code_completed = models.CharField(_("code: completed"), max_length=60)
    code_stopped = models.CharField(_("code: stopped by the exclusion rule"), max_length=60)
    code_left = models.CharField(_("code: left early, or no tuples left"), max_length=60)
    screens = models.PositiveIntegerField(_("tuples per person"), default=40)
    places = models.PositiveIntegerField(_("people at most"), default=50)
    hours = models.PositiveSmallIntegerField(_("hours without an answer"), default=24)
    leavers_judged_again = models.BooleanField(
        _("ask others to annotate the tuples of people who left early"), default=True
    )
    asks_about_person = models.BooleanField(_("ask about the person"), default=False)

    def __str__(self) -> str:
        return f"crowd of {self.campaign_id}"


class CrowdConsent(models.Model):
    """A version of what people agree to. Each person keeps the version that they agreed to."""

    crowd = models.ForeignKey(Crowd, models.CASCADE, db_index=False, related_name="consents")
    version = models.PositiveIntegerField()
    text = models.TextField(_("consent text"))
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-version"]
        constraints = [
            models.UniqueConstraint(fields=["crowd", "version"], name="one_consent_per_version_and_crowd")
        ]

    def __str__(self) -> str:
        return f"{self.crowd} v{self.version}"


class CrowdPerson(models.Model):
    """Somebody whom a platform sent: the link between the platform's id and the account that judges.

    The account has no password, belongs to no dataset and judges in this campaign alone. `external_id` is personal
    data: nothing but the crowd's own pages reads it, and it is empty once it was erased.
    """

    crowd = models.ForeignKey(Crowd, models.CASCADE, db_index=False, related_name="people")
    participation = models.OneToOneField(
        "annotation.Participation", models.CASCADE, related_name="crowd_person"
    )
    external_id = models.CharField(max_length=200, blank=True)
    consent = models.ForeignKey(CrowdConsent, models.PROTECT, related_name="+")
    consented_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["crowd", "external_id"],
                condition=~Q(external_id=""),
                name="one_person_per_external_id_and_crowd",
            )
        ]
        indexes = [models.Index(fields=["crowd"], name="person_by_crowd")]

    def __str__(self) -> str:
        return f"{self.participation_id} of {self.crowd}"


class CrowdAnswers(models.Model):
    """What a person said about themself, if they wished. No file has it, and they can delete it."""

    person = models.OneToOneField(CrowdPerson, models.CASCADE, related_name="answers")
    age = models.CharField(LABELS["age"], max_length=10, choices=Age.choices, blank=True)
    gender = models.CharField(LABELS["gender"], max_length=10, choices=Gender.choices, blank=True)
    first_language = models.CharField(LABELS["first_language"], max_length=60, blank=True)
    country = models.CharField(LABELS["country"], max_length=60, blank=True)

    def __str__(self) -> str:
        return f"answers of {self.person_id}"


class CrowdSubmission(models.Model):
    """One time that the platform sent the person; the last one is the one underway."""

    class Outcome(models.TextChoices):
        COMPLETED = "completed", _("completed")
        STOPPED = "stopped", _("stopped")
        LEFT = "left", _("left early, or no tuples left")

    person = models.ForeignKey(CrowdPerson, models.CASCADE, db_index=False, related_name="submissions")
    study = models.CharField(max_length=200, blank=True)
    submission = models.CharField(max_length=200, blank=True)
    entered_at = models.DateTimeField()
    outcome = models.CharField(max_length=10, choices=Outcome.choices, blank=True)
    code = models.CharField(max_length=60, blank=True, help_text="that the person was shown")
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["person", "submission"],
                condition=~Q(submission=""),
                name="one_row_per_person_and_submission",
            ),
            models.CheckConstraint(
                condition=Q(outcome="", ended_at=None) | (~Q(outcome="") & Q(ended_at__isnull=False)),
                name="ended_submissions_have_an_outcome",
            ),
        ]
        indexes = [models.Index(fields=["person", "-id"], name="submission_by_person")]

    def __str__(self) -> str:
        return f"{self.person_id} from {self.entered_at:%Y-%m-%d %H:%M}"
