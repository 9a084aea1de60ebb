"""The guide in the site: its pages in reading order, one of them, and its pictures."""

from functools import cache

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_GET

from semblance.guide.rendering import IMAGES, Page, image_path, page_names, page_read


@require_GET
def guide(request: HttpRequest) -> HttpResponse:
    return render(request, "guide/index.html", {"pages": [_page(name) for name in page_names()]})


@require_GET
def guide_page(request: HttpRequest, name: str) -> HttpResponse:
    names = page_names()
    if name not in names:
        raise Http404
    following = names[names.index(name) + 1 :][:1]
    context = {
        "page": _page(name),
        "body": mark_safe(_page(name).body),  # noqa: S308 - made of our own files by a renderer that escapes HTML
        "following": _page(following[0]) if following else None,
    }
    return render(request, "guide/page.html", context)


@require_GET
def guide_image(request: HttpRequest, name: str) -> HttpResponse:
    path = image_path(name)
    if path is None:
        raise Http404
    return HttpResponse(path.read_bytes(), content_type=IMAGES[path.suffix])


@cache
def _page(name: str) -> Page:
    """The files of a running site do not change."""
    return page_read(
        name,
        page_address=lambda other: reverse("guide_page", args=[other]),
        image_address=lambda image: reverse("guide_image", args=[image]),
    )
