"""Looking into the tables. Judgements and leases change by their verbs alone, so they are read here."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from annotation.models import (
    Campaign,
    Flag,
    Guideline,
    Judgement,
    JudgementRevision,
    Lease,
    Participation,
    Tuple,
)


class ReadOnlyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # not subscriptable when run
    """Shown, and neither added, changed nor deleted: the counters of tuples would no longer be true."""

    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Campaign)
class CampaignAdmin(ReadOnlyAdmin):
    list_display = ("name", "dataset", "state", "created_at")
    list_filter = ("state",)
    search_fields = ("name", "dataset__name")


@admin.register(Tuple)
class TupleAdmin(ReadOnlyAdmin):
    list_display = (
        "campaign",
        "number",
        "is_gold",
        "repeats_id",
        "phase",
        "round",
        "required",
        "collected",
        "leased",
    )
    list_filter = ("is_gold", "phase")
    list_select_related = ("campaign",)


@admin.register(Participation)
class ParticipationAdmin(ReadOnlyAdmin):
    list_display = ("campaign", "user", "state", "excluded", "gold_right", "gold_trials")
    list_filter = ("state", "excluded")
    list_select_related = ("campaign", "user")


COLUMNS = {
    Guideline: ("campaign", "version", "created_at"),
    Lease: ("tuple_id", "participation_id", "state", "place", "expires_at"),
    Judgement: ("tuple_id", "participation_id", "best_slot", "worst_slot", "status", "submitted_at"),
    JudgementRevision: ("tuple_id", "participation_id", "revised_at"),
    Flag: ("tuple_id", "participation_id", "kind", "reason", "created_at", "resolved_at"),
}
FILTERS = {Lease: ("state",), Judgement: ("status",), Flag: ("kind", "reason")}
for model, columns in COLUMNS.items():
    admin.site.register(model, ReadOnlyAdmin, list_display=columns, list_filter=FILTERS.get(model, ()))
