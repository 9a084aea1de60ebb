"""The members of a dataset: who they are, what they may do, and how one takes them out and puts them back."""

from datetime import datetime

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from curation.access import AuthedRequest, dataset_allow, dataset_for, dataset_may
from curation.datasets.people import member_remove, member_restore, member_set_role, members_of
from curation.forms.people import RoleForm
from curation.models import Dataset, Membership, Role, User
from curation.numbers import page_number

MEMBERS_PER_PAGE = 50
JUST_REMOVED = "removed_member"


@require_GET
def member_list(request: AuthedRequest, slug: str) -> HttpResponse:
    dataset = dataset_for(request.user, slug, may="read")
    context = {
        "dataset": dataset,
        "page": Paginator(members_of(dataset), MEMBERS_PER_PAGE).get_page(page_number(request)),
        "roles": Role.choices,
        "owns": dataset_may(request.user, dataset, may="own"),
        "removed": _just_removed(request, dataset),
    }
    return render(request, "curation/members.html", context)


@require_POST
def member_role(request: AuthedRequest, slug: str, member_pk: int) -> HttpResponse:
    dataset = dataset_for(request.user, slug, may="own")
    membership = get_object_or_404(dataset.memberships.select_related("user"), pk=member_pk)
    form = RoleForm(request.POST)
    if form.is_valid():
        member_set_role(membership=membership, role=form.cleaned_data["role"], at=now())
        names = {"person": membership.user, "role": membership.get_role_display()}
        messages.success(request, _("%(person)s is now %(role)s.") % names)
    return _after_change(request, dataset)


@require_POST
def member_remove_view(request: AuthedRequest, slug: str, member_pk: int) -> HttpResponse:
    dataset = dataset_for(request.user, slug, may="read")
    membership = get_object_or_404(dataset.memberships.select_related("user"), pk=member_pk)
    if membership.user_id != request.user.pk:
        dataset_allow(request.user, dataset, may="own")
    at = now()
    member_remove(membership=membership, at=at)
    request.session[JUST_REMOVED] = {
        "at": at.isoformat(),
        "dataset": dataset.pk,
        "user": membership.user_id,
        "role": membership.role,
    }
    return _after_change(request, dataset)


@require_POST
def member_restore_view(request: AuthedRequest, slug: str) -> HttpResponse:
    """Undo of the removal this person made last, and of no other: nobody is put into a dataset unasked."""
    dataset = dataset_for(request.user, slug, may="own")
    removed = request.session.pop(JUST_REMOVED, None)
    if removed and removed["dataset"] == dataset.pk:
        user = get_object_or_404(User, pk=removed["user"])
        at = datetime.fromisoformat(removed["at"])
        member_restore(dataset=dataset, user=user, role=removed["role"], removed_at=at)
    return _after_change(request, dataset)


def _after_change(request: AuthedRequest, dataset: Dataset) -> HttpResponse:
    """Back to the members, unless the person has just given up the right to see them."""
    if dataset_may(request.user, dataset, may="read"):
        return redirect("curation:members", slug=dataset.slug)
    return redirect("home")


def _just_removed(request: AuthedRequest, dataset: Dataset) -> User | None:
    removed = request.session.get(JUST_REMOVED)
    if not removed or removed["dataset"] != dataset.pk:
        return None
    if Membership.objects.filter(dataset=dataset, user=removed["user"]).exists():
        return None
    return User.objects.filter(pk=removed["user"]).first()
