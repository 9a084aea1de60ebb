"""Webhooks of a dataset: their list, and the page of one with its log. Owners alone see them."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from curation.forms.webhooks import WebhookChangeForm, WebhookForm
from curation.foundation.errors import UserError
from curation.foundation.numbers import page_number
from curation.models import Webhook
from curation.people.access import AuthedRequest, dataset_for
from curation.people.webhooks.services import (
    delivery_again,
    webhook_change,
    webhook_create,
    webhook_remove,
    webhook_secret_renew,
    webhook_try,
    webhooks_of,
)

DELIVERIES_PER_PAGE = 25
SHOWN_ONCE = "webhook_shown"  # in the session: the webhook whose secret is shown, once


def webhook_for(request: AuthedRequest, slug: str, pk: int) -> Webhook:
    """The webhook of that dataset, to its owners."""
    dataset = dataset_for(request.user, slug, may="own")
    return get_object_or_404(dataset.webhooks.select_related("dataset"), pk=pk)


@require_http_methods(["GET", "POST"])
def webhook_list(request: AuthedRequest, slug: str) -> HttpResponse:
    dataset = dataset_for(request.user, slug, may="own")
    form = WebhookForm(request.POST or None)
    if form.is_valid():
        try:
            made = webhook_create(dataset=dataset, by=request.user, **form.cleaned_data)
        except UserError as error:
            form.add_error(None, str(error))
        else:
            request.session[SHOWN_ONCE] = made.pk
            return redirect("curation:webhook", slug=slug, webhook_pk=made.pk)
    context = {"dataset": dataset, "form": form, "webhooks": webhooks_of(dataset)}
    return render(request, "curation/webhooks.html", context)


@never_cache
@require_http_methods(["GET", "POST"])
def webhook(request: AuthedRequest, slug: str, webhook_pk: int) -> HttpResponse:
    """The secret is part of the answer after it was made, and of no other."""
    hook = webhook_for(request, slug, webhook_pk)
    form = WebhookChangeForm.of(hook, request.POST or None)
    if form.is_valid():
        webhook_change(webhook=hook, by=request.user, **form.cleaned_data)
        messages.success(request, _("The webhook is saved."))
        return redirect("curation:webhook", slug=slug, webhook_pk=hook.pk)
    context = {
        "dataset": hook.dataset,
        "webhook": hook,
        "form": form,
        "secret": hook.secret if request.session.pop(SHOWN_ONCE, None) == hook.pk else "",
        "page": Paginator(hook.deliveries.all(), DELIVERIES_PER_PAGE).get_page(page_number(request)),
    }
    return render(request, "curation/webhook.html", context)


@require_POST
def webhook_secret(request: AuthedRequest, slug: str, webhook_pk: int) -> HttpResponse:
    hook = webhook_for(request, slug, webhook_pk)
    webhook_secret_renew(webhook=hook, by=request.user)
    request.session[SHOWN_ONCE] = hook.pk
    return redirect("curation:webhook", slug=slug, webhook_pk=hook.pk)


@require_POST
def webhook_test(request: AuthedRequest, slug: str, webhook_pk: int) -> HttpResponse:
    hook = webhook_for(request, slug, webhook_pk)
    webhook_try(webhook=hook, at=now())
    messages.success(
        request, _("A test message is on its way. Load the page again to see what became of it.")
    )
    return redirect("curation:webhook", slug=slug, webhook_pk=hook.pk)


@require_POST
def webhook_remove_view(request: AuthedRequest, slug: str, webhook_pk: int) -> HttpResponse:
    hook = webhook_for(request, slug, webhook_pk)
    webhook_remove(webhook=hook, by=request.user)
    messages.success(request, _("The webhook was removed."))
    return redirect("curation:webhooks", slug=slug)


@require_POST
def delivery_again_view(request: AuthedRequest, slug: str, webhook_pk: int, delivery_pk: int) -> HttpResponse:
    hook = webhook_for(request, slug, webhook_pk)
    delivery_again(delivery=get_object_or_404(hook.deliveries, pk=delivery_pk), at=now())
    messages.success(request, _("The message is on its way again."))
    return redirect("curation:webhook", slug=slug, webhook_pk=hook.pk)
