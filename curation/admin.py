"""Curation in Django's administration: people are changed here, data is mostly looked at."""

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.db import models
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from curation.forms.people import AdminLoginForm
from curation.models import (
    Dataset,
    ImportBatch,
    Invitation,
    Membership,
    Pair,
    PairScore,
    ReviewDecision,
    ScoreSet,
    Sentence,
    SentenceScore,
    Snapshot,
    User,
)

admin.site.site_header = admin.site.site_title = "Semblance"
admin.site.login_form = AdminLoginForm


class ReadOnly(admin.ModelAdmin):  # type: ignore[type-arg]
    """What services write, and what is cited: to look at. A wrong import is retired, not deleted here."""

    list_per_page = 50
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(User)
class PeopleAdmin(UserAdmin):  # type: ignore[type-arg]
    list_display = ["username", "first_name", "last_name", "is_staff", "simulated", "last_login"]
    list_filter = ["is_staff", "is_superuser", "is_active", "simulated"]
    fieldsets = [*(UserAdmin.fieldsets or ()), (_("Semblance"), {"fields": ["simulated"]})]


class MembershipInline(admin.TabularInline):  # type: ignore[type-arg]
    """The way in for a dataset whose owners are gone: an administrator names a new one.

    Roles are lowered and people removed on the page of members alone, which ends their invitations too.
    """

    model = Membership
    autocomplete_fields = ["user"]
    extra = 0
    can_delete = False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Dataset)
class DatasetAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    list_display = ["name", "slug", "language", "archived", "created_by", "created_at"]
    list_filter = ["archived", "language"]
    list_select_related = ["created_by"]
    search_fields = ["name", "slug"]
    readonly_fields = ["slug", "created_by", "created_at"]
    formfield_overrides = {models.URLField: {"assume_scheme": "https"}}
    inlines = [MembershipInline]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Invitation)
class InvitationAdmin(ReadOnly):
    list_display = [
        "dataset", "role", "note", "uses_left", "admitted", "expires_at", "revoked_at", "created_by",
    ]  # fmt: skip
    list_filter = ["role"]
    list_select_related = ["dataset", "created_by"]
    search_fields = ["dataset__slug", "note"]
    exclude = ["token_digest"]


@admin.register(Sentence)
class SentenceAdmin(ReadOnly):
    list_display = ["text", "dataset", "origin", "run_ref"]
    list_filter = ["origin"]
    list_select_related = ["dataset"]
    search_fields = ["text"]


@admin.register(Pair)
class PairAdmin(ReadOnly):
    list_display = ["external_id", "dataset", "a", "b", "source", "split", "origin", "status"]
    list_filter = ["status", "origin"]
    list_select_related = ["dataset", "a", "b"]
    search_fields = ["=external_id", "a__text", "b__text"]


@admin.register(ScoreSet)
class ScoreSetAdmin(ReadOnly):
    list_display = ["name", "dataset", "kind", "low", "high", "method", "created_at"]
    list_filter = ["kind"]
    list_select_related = ["dataset"]
    search_fields = ["name", "dataset__slug"]


@admin.register(PairScore)
class PairScoreAdmin(ReadOnly):
    list_display = ["pair_id", "score_set", "value", "standard_error", "judgements"]
    list_select_related = ["score_set"]
    search_fields = ["=pair__external_id", "score_set__name"]


@admin.register(SentenceScore)
class SentenceScoreAdmin(ReadOnly):
    list_display = ["sentence", "score_set", "value", "logit_machine", "logit_human", "fold"]
    list_select_related = ["sentence", "score_set"]
    search_fields = ["sentence__text", "score_set__name"]


@admin.register(ReviewDecision)
class ReviewDecisionAdmin(ReadOnly):
    list_display = [
        "sentence", "verdict", "reasons", "reviewer", "value_shown", "blind", "decided_at", "undone_at",
    ]  # fmt: skip
    list_filter = ["verdict", "blind"]
    list_select_related = ["sentence", "reviewer"]
    search_fields = ["sentence__text", "=pair__external_id"]


@admin.register(Snapshot)
class SnapshotAdmin(ReadOnly):
    list_display = ["dataset", "number", "rows", "sha256", "created_by", "created_at"]
    list_select_related = ["dataset", "created_by"]
    search_fields = ["dataset__slug", "sha256"]


@admin.register(ImportBatch)
class ImportBatchAdmin(ReadOnly):
    list_display = [
        "file_name", "dataset", "state", "rows", "added", "unchanged", "rejected", "created_by",
        "created_at",
    ]  # fmt: skip
    list_filter = ["state"]
    list_select_related = ["dataset", "created_by"]
    search_fields = ["file_name", "dataset__slug"]
