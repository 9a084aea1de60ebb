"""The guide in the site: its pages in reading order, one of them, and its pictures."""

from functools import cache

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_GET

from semblance.guide.contents import MOVED
from semblance.guide.rendering import IMAGES, Page, image_path, page_files, page_group, page_groups, page_read
from semblance.guide.search import Section, search, sections_of


@login_not_required
@require_GET
def guide(request: HttpRequest) -> HttpResponse:
    query = request.GET.get("q", "").strip()
    context = {
        "query": query,
        "found": search(_sections(), query) if query else None,
        "groups": [(group, [_page(name) for name in pages]) for group, pages in page_groups()],
    }
    return render(request, "guide/index.html", context)


@login_not_required
@require_GET
def guide_page(request: HttpRequest, name: str) -> HttpResponse:
    names = list(page_files())
    if name not in names:
        if name in MOVED:
            return redirect("guide_page", MOVED[name], permanent=True)
        raise Http404
    place = names.index(name)
    context = {
        "page": _page(name),
        "group": page_group(name),
        "body": mark_safe(_page(name).body),  # noqa: S308 - made of our own files by a renderer that escapes HTML
        "previous": _page(names[place - 1]) if place else None,
        "following": _page(names[place + 1]) if place + 1 < len(names) else None,
    }
    return render(request, "guide/page.html", context)


@login_not_required
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


@cache
def _sections() -> list[Section]:
    return sections_of(_page(name) for name in page_files())
