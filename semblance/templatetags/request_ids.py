"""The id of a request, for the page that says that something went wrong."""

from django import template

from semblance import request_ids

register = template.Library()


@register.simple_tag
def request_id() -> str:
    return request_ids.request_id()
