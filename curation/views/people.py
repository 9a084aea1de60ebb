"""The members of a dataset, and the invitations by which people become members."""

from datetime import datetime

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from curation.forms.people import AccountForm, InvitationForm, RoleForm
from curation.foundation.errors import UserError
from curation.foundation.numbers import page_number
from curation.foundation.roles import Role
from curation.models import Dataset, Invitation, Membership, User
from curation.people.access import AuthedRequest, dataset_allow, dataset_for, dataset_may
from curation.people.mail.links import site_address
from curation.people.mail.services import invitation_mail_again, invitations_mail
from curation.people.members import (
    account_create,
    invitation_accept,
    invitation_by_token,
    invitation_create,
    invitation_refusal,
    invitation_revoke,
    invitations_shown,
    member_remove,
    member_restore,
    member_set_role,
    members_of,
    role_is_more,
)

MEMBERS_PER_PAGE = 50
BACKEND = "django.contrib.auth.backends.ModelBackend"
JUST_REMOVED = "removed_member"


@require_GET
def member_list(request: AuthedRequest, slug: str) -> HttpResponse:
    dataset = dataset_for(request.user, slug, may="read")
    removed = request.session.get(JUST_REMOVED)
    context = {
        "dataset": dataset,
        "page": Paginator(members_of(dataset), MEMBERS_PER_PAGE).get_page(page_number(request)),
        "roles": Role.choices,
        "owns": dataset_may(request.user, dataset, may="own"),
        "removed": (
            None
            if not removed or removed["dataset"] != dataset.pk
            else User.objects.filter(pk=removed["user"]).exclude(memberships__dataset=dataset).first()
        ),
    }
    return render(request, "curation/members.html", context)


@require_POST
def member_role(request: AuthedRequest, slug: str, member_pk: int) -> HttpResponse:
    dataset = dataset_for(request.user, slug, may="own")
    membership = get_object_or_404(dataset.memberships.select_related("user"), pk=member_pk)
    form = RoleForm(request.POST)
    if form.is_valid():
        member_set_role(membership=membership, role=form.cleaned_data["role"], at=now(), by=request.user)
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
    member_remove(membership=membership, at=at, by=request.user)
    about = {"dataset": dataset.pk, "user": membership.user_id, "role": membership.role}
    request.session[JUST_REMOVED] = {"at": at.isoformat(), **about}
    return _after_change(request, dataset)


@require_POST
def member_restore_view(request: AuthedRequest, slug: str) -> HttpResponse:
    """Undo of the removal this person made last, and of no other: nobody is put into a dataset unasked."""
    dataset = dataset_for(request.user, slug, may="own")
    removed = request.session.pop(JUST_REMOVED, None)
    if removed and removed["dataset"] == dataset.pk:
        user = get_object_or_404(User, pk=removed["user"])
        at = datetime.fromisoformat(removed["at"])
        facts = {"role": removed["role"], "removed_at": at}
        member_restore(dataset=dataset, user=user, by=request.user, **facts)
    return _after_change(request, dataset)


def _after_change(request: AuthedRequest, dataset: Dataset) -> HttpResponse:
    """Back to the members, unless the person has just given up the right to see them."""
    if dataset_may(request.user, dataset, may="read"):
        return redirect("curation:members", slug=dataset.slug)
    return redirect("home")


@never_cache
@require_http_methods(["GET", "POST"])
def invitation_list(request: AuthedRequest, slug: str) -> HttpResponse:
    """The link is part of the answer that makes it and of no other: afterwards nobody can look it up.

    To htmx, from a page that has a button for it, the answer is the link alone.
    """
    dataset = dataset_for(request.user, slug, may="own")
    form = InvitationForm(request.POST or None, mail=settings.MAIL_SERVER)
    link, made, told = "", None, []
    if form.is_valid():
        if form.mailed["addresses"]:
            site = site_address(request)
            try:
                told = invitations_mail(dataset=dataset, by=request.user, site=site, at=now(), **form.mailed)
            except UserError as error:
                form.add_error("addresses", str(error))
        else:
            made, token = invitation_create(dataset=dataset, by=request.user, at=now(), **form.asked)
            link = request.build_absolute_uri(reverse("curation:invitation", args=[token]))
        if request.htmx:
            return render(request, "curation/_invitation_link.html", {"link": link, "made": made})
        if form.is_valid():
            form = InvitationForm(mail=settings.MAIL_SERVER)
    invitations = invitations_shown(dataset, at=now())
    context = {"dataset": dataset, "form": form, "link": link, "made": made, "told": told}
    context |= {"invitations": invitations, "closed": [each.pk for each, refusal in invitations if refusal]}
    return render(request, "curation/invitations.html", context)


@require_POST
def invitation_mail_view(request: AuthedRequest, slug: str, invitation_pk: int) -> HttpResponse:
    """Try once more to send a mail that was given up."""
    dataset = dataset_for(request.user, slug, may="own")
    mailed = get_object_or_404(dataset.invitations, pk=invitation_pk)
    invitation_mail_again(invitation=mailed, at=now())
    messages.success(request, _("The e-mail is being sent again."))
    return redirect("curation:invitation_list", slug=slug)


@require_POST
def invitation_revoke_view(request: AuthedRequest, slug: str, invitation_pk: int) -> HttpResponse:
    dataset = dataset_for(request.user, slug, may="own")
    revoked = get_object_or_404(dataset.invitations, pk=invitation_pk)
    invitation_revoke(invitation=revoked, at=now(), by=request.user)
    messages.success(request, _("The invitation was revoked. Its link no longer admits anybody."))
    return redirect("curation:invitation_list", slug=slug)


@login_not_required
@never_cache
@sensitive_post_parameters("password1", "password2")
@require_http_methods(["GET", "POST"])
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """What the link opens: a button for who is logged in, a new account for who is not."""
    invited = invitation_by_token(token)
    if invited is None:
        unknown = _("This invitation does not exist. Check that the whole link was copied.")
        return _refused(request, unknown, status=404)
    if request.user.is_authenticated:
        return _join(request, invited)  # type: ignore[arg-type]
    if refusal := invitation_refusal(invited, at=now()):
        return _refused(request, refusal, status=410)
    form = AccountForm(request.POST or None, request=request)
    if settings.LOCAL_LOGIN and form.is_valid():
        name, password = form.cleaned_data["username"], form.cleaned_data["password1"]
        user = account_create(invitation=invited, username=name, password=password, at=now())
        login(request, user, backend=BACKEND)
        return _joined(request, Membership.objects.get(dataset=invited.dataset, user=user))
    return render(request, "curation/invitation.html", {"invitation": invited, "form": form})


def _join(request: AuthedRequest, invited: Invitation) -> HttpResponse:
    mine = Membership.objects.filter(dataset=invited.dataset, user=request.user).first()
    if mine and not role_is_more(invited.role, than=mine.role):
        context = {"invitation": invited, "membership": mine}
        return render(request, "curation/invitation_answered.html", context)
    if refusal := invitation_refusal(invited, at=now(), user=request.user):
        return _refused(request, refusal, status=410)
    if request.method == "POST":
        return _joined(request, invitation_accept(invitation=invited, user=request.user, at=now()))
    return render(request, "curation/invitation.html", {"invitation": invited})


def _joined(request: HttpRequest, membership: Membership) -> HttpResponse:
    names = {"dataset": membership.dataset.name, "role": membership.get_role_display()}
    messages.success(request, _("You are now a member of %(dataset)s, with the role %(role)s.") % names)
    if dataset_may(membership.user, membership.dataset, may="read"):
        return redirect("curation:dataset", slug=membership.dataset.slug)
    return redirect("home")


def _refused(request: HttpRequest, sentence: str, *, status: int) -> HttpResponse:
    return render(request, "curation/invitation_answered.html", {"refusal": sentence}, status=status)
