"""Runs in Django's administration: to look at, to start, and to remove. Their rows are moved by workers alone."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from curation.admin import Unchangeable
from mlworkers.models import Artifact, Evaluation, Instructions, Run, RunShard, WorkerHeartbeat


class ArtifactInline(Unchangeable, admin.TabularInline):  # type: ignore[type-arg]
    model = Artifact
    can_delete, extra = False, 0
    fields = ["kind", "path", "sha256", "size"]


class EvaluationInline(Unchangeable, admin.TabularInline):  # type: ignore[type-arg]
    model = Evaluation
    can_delete, extra = False, 0
    fields = ["label", "seed", "suite", "metric", "value", "low", "high", "n"]


@admin.register(Run)
class RunAdmin(Unchangeable, admin.ModelAdmin):  # type: ignore[type-arg]
    list_display = [
        "pk",
        "kind",
        "dataset",
        "state",
        "attempt",
        "queue",
        "started_by",
        "created_at",
        "finished_at",
    ]
    list_filter = ["state", "kind", "queue"]
    list_select_related = ["dataset", "started_by"]
    search_fields = ["dataset__slug", "message"]
    inlines = [ArtifactInline, EvaluationInline]

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_add_permission(request)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Staff start runs; whether for that dataset, the form and its service ask."""
        return bool(request.user.is_active and request.user.is_staff)

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """A run is started by the form of its kind's plan and nothing else: there is no row to fill in by hand."""
        return redirect("mlworkers:run_kinds")


@admin.register(RunShard)
class RunShardAdmin(Unchangeable, admin.ModelAdmin):  # type: ignore[type-arg]
    list_display = ["run", "stage", "number", "state", "size", "done", "attempt", "worker", "heartbeat_at"]
    list_filter = ["state", "stage"]
    list_select_related = ["run"]


@admin.register(Evaluation)
class EvaluationAdmin(Unchangeable, admin.ModelAdmin):  # type: ignore[type-arg]
    list_display = ["run", "model", "label", "seed", "suite", "metric", "value", "low", "high", "n"]
    list_filter = ["metric", "label"]
    list_select_related = ["run"]
    search_fields = ["model", "suite"]


@admin.register(WorkerHeartbeat)
class WorkerHeartbeatAdmin(Unchangeable, admin.ModelAdmin):  # type: ignore[type-arg]
    list_display = ["name", "queues", "device", "seen_at"]


@admin.register(Instructions)
class InstructionsAdmin(Unchangeable, admin.ModelAdmin):  # type: ignore[type-arg]
    list_display = ["name", "version", "dataset", "note", "created_by", "created_at"]
    list_select_related = ["dataset", "created_by"]
    search_fields = ["name", "dataset__slug"]
