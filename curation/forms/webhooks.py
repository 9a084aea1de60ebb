"""Where events are sent, and which."""

from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy as _

from curation.foundation.addresses import is_inside
from curation.models import Webhook


class WebhookForm(forms.Form):
    url = forms.URLField(
        label=_("Address"),
        max_length=Webhook._meta.get_field("url").max_length,
        assume_scheme="https",
        help_text=_("What receives the messages, for example https://example.org/semblance."),
    )
    events = forms.MultipleChoiceField(
        label=_("Events"),
        choices=Webhook.Event.choices,
        initial=Webhook.Event.values,
        widget=forms.CheckboxSelectMultiple,
    )

    def clean_url(self) -> str:
        url: str = self.cleaned_data["url"]
        if not url.lower().startswith(("http://", "https://")):
            raise forms.ValidationError(_("The address must begin with https:// or http://."))
        if not settings.PRIVATE_ADDRESSES and is_inside(urlsplit(url).hostname or ""):
            raise forms.ValidationError(
                _(
                    "This address is inside a network, and messages go to public addresses alone. For a receiver in "
                    "your network, ask the administrator of this site to set PRIVATE_ADDRESSES."
                )
            )
        return url


class WebhookChangeForm(WebhookForm):
    active = forms.BooleanField(
        label=_("Turned on"),
        required=False,
        help_text=_("Messages to a webhook that is turned off wait until it is turned on."),
    )

    @classmethod
    def of(cls, webhook: Webhook, data: Any = None) -> "WebhookChangeForm":
        shown = {"url": webhook.url, "events": webhook.events, "active": webhook.active}
        return cls(data, initial=shown)
