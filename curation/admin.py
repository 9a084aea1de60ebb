"""Curation in Django's administration: people are changed here, data is mostly looked at."""

from typing import Any

from django.contrib import admin
from django.contrib.admin.options import BaseModelAdmin
from django.contrib.admin.utils import unquote
from django.contrib.auth.admin import UserAdmin
from django.db import models
from django.http import HttpRequest, HttpResponse
from django.utils.timezone import now
from django.utils.translation import gettext_lazy as _

from curation.forms.people import AdminLoginForm
from curation.models import (
    AuditEntry,
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
from curation.people.audit import Action, audit_record
from curation.people.mail.links import site_address
from curation.people.mail.services import address_tell, password_tell

admin.site.site_header = admin.site.site_title = "Semblance"
admin.site.login_form = AdminLoginForm
# Settings name the provider of single sign-on; allauth's tables of others would be looked at by nobody.
of_allauth = [
    model for model in admin.site._registry if model._meta.app_label in {"account", "socialaccount"}
]
admin.site.unregister(of_allauth)


class Unchangeable(BaseModelAdmin):  # type: ignore[type-arg]  # not subscriptable when run
    """What services and workers write: neither added nor changed here."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class ReadOnly(Unchangeable, admin.ModelAdmin):  # type: ignore[type-arg]
    """What services write, and what is cited: to look at. A wrong import is retired, not deleted here."""

    list_per_page = 50
    show_full_result_count = False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(User)
class PeopleAdmin(UserAdmin):  # type: ignore[type-arg]
    list_display = ["username", "first_name", "last_name", "is_staff", "simulated", "last_login"]
    list_filter = ["is_staff", "is_superuser", "is_active", "simulated"]
    fieldsets = [*(UserAdmin.fieldsets or ()), (_("Semblance"), {"fields": ["simulated"]})]

    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> HttpResponse:  # noqa: A002
        """Send an e-mail to the person whose password changes, as when they change it themselves."""
        before = self.get_object(request, unquote(id))
        answer = super().user_change_password(request, id, form_url)
        if before is not None:
            user = User.objects.get(pk=before.pk)
            if user.password != before.password:
                password_tell(user=user, site=site_address(request), at=now())
        return answer

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: Any) -> None:
        super().save_model(request, obj, form, change)
        if change and "email" in form.changed_data:
            address_tell(user=obj, before=form.initial["email"], site=site_address(request), at=now())


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

    def save_model(self, request: Any, obj: Dataset, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if form.changed_data:
            changed = {name: [form.initial.get(name), form.cleaned_data[name]] for name in form.changed_data}
            audit_record(
                dataset=obj, action=Action.DATASET_CHANGED, by=request.user, details={"settings": changed}
            )

    def save_formset(self, request: Any, form: Any, formset: Any, change: bool) -> None:
        super().save_formset(request, form, formset, change)
        for joined in formset.new_objects:
            audit_record(
                dataset=form.instance,
                action=Action.MEMBER_CHANGED,
                by=request.user,
                subject=joined.user.username,
                details={"role": ["", joined.role]},
            )


def looked_at(
    model: type[models.Model], columns: str, filters: str = "", search: str = "", **more: Any
) -> None:
    """Show a model's rows, read along with the rows that their columns refer to. Names are separated by spaces."""
    fields = {name: model._meta.get_field(name) for name in columns.split()}
    related = [name for name, field in fields.items() if field.many_to_one and field.name == name]
    options = {
        "list_filter": filters.split(),
        "search_fields": search.split(),
        "list_select_related": related,
    }
    admin.site.register(model, ReadOnly, list_display=list(fields), **options, **more)


looked_at(
    Invitation,
    "dataset role note uses_left admitted expires_at revoked_at created_by",
    filters="role",
    search="dataset__slug note",
    exclude=["token_digest"],
)
looked_at(Sentence, "text dataset origin run_ref", filters="origin", search="text")
looked_at(
    Pair,
    "external_id dataset a b source split origin status",
    filters="status origin",
    search="=external_id a__text b__text",
)
looked_at(
    ScoreSet, "name dataset kind low high method created_at", filters="kind", search="name dataset__slug"
)
looked_at(
    PairScore,
    "pair_id score_set value standard_error judgements",
    search="=pair__external_id score_set__name",
)
looked_at(
    SentenceScore,
    "sentence score_set value logit_machine logit_human fold",
    search="sentence__text score_set__name",
)
looked_at(
    ReviewDecision,
    "sentence verdict reasons reviewer value_shown frame stratum blind binding second decided_at undone_at",
    filters="verdict frame blind binding second",
    search="sentence__text =pair__external_id",
)
looked_at(Snapshot, "dataset number rows sha256 created_by created_at", search="dataset__slug sha256")
looked_at(
    ImportBatch,
    "file_name dataset kind state rows added unchanged rejected created_by created_at",
    filters="kind state",
    search="file_name dataset__slug",
)
looked_at(
    AuditEntry,
    "dataset at by via action subject pairs",
    filters="action via",
    search="dataset__slug subject",
    raw_id_fields=["pair", "batch", "undoes"],
)
