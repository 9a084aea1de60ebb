"""Who may do what with a dataset: the only way a view gets one. An archived dataset is read-only."""

from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from django_htmx.middleware import HtmxDetails

from curation.foundation.errors import UserError
from curation.foundation.roles import Role
from curation.models import Dataset, DuplicateSearch, Membership, User


class AuthedRequest(HttpRequest):
    """A request behind the login that every address needs unless it says otherwise."""

    user: User
    htmx: HtmxDetails


# An annotator who saw scores would no longer judge blindly: reading needs the curator's role.
ROLES_THAT_MAY: dict[str, set[str]] = {
    "annotate": {Role.ANNOTATOR, Role.CURATOR, Role.OWNER},
    "read": {Role.CURATOR, Role.OWNER},
    "oversee": {Role.CURATOR, Role.OWNER},  # uploads and bundles: read, and more than staff need
    "curate": {Role.CURATOR, Role.OWNER},
    "archive": {Role.OWNER},
    "own": {Role.OWNER},
    "audit": {Role.OWNER},  # who changed what: read, also where a dataset is archived
}
# What changes a dataset: nobody may change an archived one. Annotators read so where they would get a tuple,
# and what they judged before is still kept.
CHANGING = {"curate", "own"}
# Staff start runs on every dataset, so they read every dataset and its log; they change none that is not theirs.
STAFF_MAY = {"read", "audit"}


class RoleRefusedError(PermissionDenied):
    """The person may know of the dataset, and their role does not allow what they asked for."""

    def __init__(self, dataset: Dataset) -> None:
        super().__init__()
        self.dataset = dataset


def dataset_for(user: User, slug: str, *, may: str) -> Dataset:
    """The dataset, if `user` may do that with it. A stranger gets 404, a member who may not gets 403."""
    try:
        dataset = Dataset.objects.get(slug=slug)
    except Dataset.DoesNotExist:
        raise Http404 from None
    dataset_allow(user, dataset, may=may)
    return dataset


def datasets_beside(user: User, dataset: Dataset) -> QuerySet[Dataset]:
    """The other datasets that the person may read, to compare this one with."""
    return datasets_readable(user).exclude(pk=dataset.pk).distinct()


def duplicate_search_for(user: User, dataset: Dataset, number: int) -> DuplicateSearch:
    """A search of a dataset that the person may read, if they may read all datasets that it compares. Else 404."""
    search = get_object_or_404(DuplicateSearch, dataset=dataset, pk=number)
    others = set(search.numbers_against)
    if others - set(datasets_readable(user).filter(pk__in=others).values_list("pk", flat=True)):
        raise Http404
    return search


def dataset_allow(user: User, dataset: Dataset, *, may: str, role: str | None = None) -> None:
    """Raise Http404 for a stranger, RoleRefusedError for a member whose role is too small, and ArchivedError for
    a change of an archived dataset.

    role: the person's, where the caller has read it with the dataset (`role_in`); otherwise it is read here.
    """
    rights = _rights_by_role(user, dataset, role)
    if not rights:
        raise Http404
    if may not in rights:
        raise RoleRefusedError(dataset)
    if may in CHANGING:
        dataset_require_active(dataset)


def dataset_may(user: User, dataset: Dataset, *, may: str) -> bool:
    """Whether to offer a button; the view behind it asks `dataset_for` again."""
    return may in dataset_rights(user, dataset)


def dataset_rights(user: User, dataset: Dataset) -> set[str]:
    """Everything the person may do with the dataset now; nothing for a stranger."""
    rights = _rights_by_role(user, dataset, None)
    return rights - CHANGING if dataset.archived else rights


def role_in(user: int, dataset: OuterRef) -> Subquery:
    """The role that the person of this number has in the dataset of an outer statement; NULL for a stranger."""
    return Subquery(Membership.objects.filter(dataset=dataset, user=user).values("role")[:1])


def _rights_by_role(user: User, dataset: Dataset, role: str | None) -> set[str]:
    if user.is_superuser:
        return set(ROLES_THAT_MAY)
    if role is None:
        role = Membership.objects.filter(dataset=dataset, user=user).values_list("role", flat=True).first()
    rights = {right for right, roles in ROLES_THAT_MAY.items() if role in roles}
    return rights | STAFF_MAY if user.is_staff else rights


def audit_all_allow(user: User | AnonymousUser) -> None:
    """Raise PermissionDenied for who may not read the logs of all datasets."""
    if not audit_all_may(user):
        raise PermissionDenied


def audit_all_may(user: User | AnonymousUser) -> bool:
    return user.is_staff or user.is_superuser


def roles_of(user: User) -> set[str]:
    """Every role the person has in any dataset."""
    return set(Membership.objects.filter(user=user).values_list("role", flat=True))


def datasets_readable(user: User) -> QuerySet[Dataset]:
    """The datasets whose pairs and scores the person may read."""
    if user.is_staff or user.is_superuser:
        return Dataset.objects.all()
    return Dataset.objects.filter(memberships__user=user, memberships__role__in=ROLES_THAT_MAY["read"])


def datasets_curated(user: User) -> QuerySet[Dataset]:
    """The datasets that the person may change, and whose machine-written sentences they may review."""
    active = Dataset.objects.filter(archived=False)
    if user.is_superuser:
        return active
    return active.filter(memberships__user=user, memberships__role__in=ROLES_THAT_MAY["curate"])


def datasets_may_create(user: User) -> bool:
    """Staff, and people who curate or own a dataset already: who is trusted with one may create another.

    An annotator may not, so that an invitation to judge does not open the site to everybody's files.
    """
    return user.is_staff or user.is_superuser or bool(roles_of(user) & ROLES_THAT_MAY["curate"])


class ArchivedError(UserError):
    """The dataset is archived. A page answers 403, so that what waits in a browser waits until it is brought back."""

    status = 403


def dataset_require_active(dataset: Dataset) -> None:
    """Raise ArchivedError for an archived dataset; `dataset` is as fresh as the caller has it."""
    if dataset.archived:
        sentence = _(
            "“%(dataset)s” is archived, so nothing in it can be changed. An owner can restore it in its settings."
        )
        raise ArchivedError(sentence, dataset=dataset)


def dataset_lock(dataset: Dataset) -> None:
    """Wait until no other transaction adds to the dataset, and keep others waiting until this one ends.

    Rows that only refer to the dataset's pairs, such as judgements, are written in the meantime.
    Raises ArchivedError for a dataset that was archived.
    """
    dataset_require_active(Dataset.objects.select_for_update(no_key=True).get(pk=dataset.pk))
