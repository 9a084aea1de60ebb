"""Parts that recur on pages, as tags that every template knows; the templates of `components` have their HTML.

Where a part is one line, its text is an argument; where it is more, a tag that ends in `block` goes around it:
`{% fact _("Pairs") facts.pairs|intcomma %}`, or `{% factblock _("Pairs") %}` to `{% endfactblock %}`.
"""

from typing import Any, NamedTuple

from django import template
from django.template.base import FilterExpression, NodeList, Parser, Token, token_kwargs
from django.template.context import Context
from django.urls import reverse
from django.utils.safestring import SafeString

register = template.Library()


def _drawn(context: Context, name: str, facts: dict[str, Any]) -> SafeString:
    """A template of `components`, which sees these facts alone."""
    return context.template.engine.get_template(f"components/_{name}.html").render(context.new(facts))  # type: ignore[union-attr]


class Head(NamedTuple):
    """The heading of a column: of numbers, or one that only screen readers say."""

    label: Any  # an expression, or its value
    number: bool
    hidden: bool


def _heads(parser: Parser, bits: list[str]) -> list[Head]:
    """Of `_("Name") num=_("Pairs") hidden=_("Actions")`."""
    parts = [bit.rpartition("=") if bit.startswith(("num=", "hidden=")) else ("", "", bit) for bit in bits]
    return [Head(parser.compile_filter(label), kind == "num", kind == "hidden") for kind, _, label in parts]


class HeadsNode(template.Node):
    def __init__(self, heads: list[Head]) -> None:
        self.heads = heads

    def render(self, context: Context) -> SafeString:
        heads = [head._replace(label=head.label.resolve(context)) for head in self.heads]
        return _drawn(context, "heads", {"heads": heads})


@register.tag
def heads(parser: Parser, token: Token) -> HeadsNode:
    """Headings of further columns, between `{% table %}` and `{% rows %}`."""
    return HeadsNode(_heads(parser, token.split_contents()[1:]))


class TableNode(template.Node):
    child_nodelists = ("further", "rows")

    def __init__(self, options: dict[str, FilterExpression], further: NodeList, rows: NodeList) -> None:
        self.options, self.further, self.rows = options, further, rows

    def render(self, context: Context) -> SafeString:
        facts = {"look": "as-list"} | {name: value.resolve(context) for name, value in self.options.items()}
        facts |= {"heads": self.further.render(context), "rows": self.rows.render(context)}
        return _drawn(context, "table", facts)


@register.tag
def table(parser: Parser, token: Token) -> TableNode:
    """`{% table _("Name") num=_("Pairs") %}`, the rows, and `{% endtable %}`; headings with HTML end with `{% rows %}`.

    Before the headings, look: other classes than "as-list"; caption: of the table; named: the id of its heading.
    """
    bits = token.split_contents()[1:]
    count = sum(bit.startswith(("look=", "caption=", "caption_look=", "named=")) for bit in bits)
    options = token_kwargs(bits[:count], parser)
    further, rows = NodeList(), parser.parse(("rows", "endtable"))
    if parser.next_token().contents == "rows":
        further, rows = rows, parser.parse(("endtable",))
        parser.delete_first_token()
    further.insert(0, HeadsNode(_heads(parser, bits[count:])))
    return TableNode(options, further, rows)


@register.inclusion_tag("components/_fact.html")
def fact(label: object, value: object, look: str = "") -> dict[str, Any]:
    """A value under its label, in a list of them."""
    return {"label": label, "value": value, "look": look}


@register.simple_block_tag(takes_context=True)
def factblock(context: Context, content: str, label: object, look: str = "") -> SafeString:
    return _drawn(context, "fact", fact(label, content, look))


@register.inclusion_tag("components/_note.html")
def note(look: str, text: object, role: str = "") -> dict[str, Any]:
    """A sentence in a box: `look` is "empty" where a page has nothing to show, or "notice" with its tone."""
    return {"look": look, "text": text, "role": role}


@register.simple_block_tag(takes_context=True)
def noteblock(context: Context, content: str, look: str, role: str = "") -> SafeString:
    return _drawn(context, "note", note(look, content, role))


@register.inclusion_tag("components/_post.html")
def post(view: str, *arguments: object, label: object, **facts: object) -> dict[str, Any]:
    """A button that does something. look: its classes; name, value: sent by it; of: its object, for screen readers."""
    return {"address": reverse(view, args=arguments), "label": label, **facts}


@register.simple_block_tag(takes_context=True)
def confirmblock(
    context: Context, content: str, view: str, *arguments: object, **facts: object
) -> SafeString:
    """A button, `label`, that shows what it would do, and one, `yes`, that does it. look, button: their classes."""
    facts |= {"content": content, "csrf_token": context.get("csrf_token")}
    return _drawn(context, "confirm", {"address": reverse(view, args=arguments), **facts})


@register.inclusion_tag("components/_csv.html")
def csv(view: str, *arguments: object, query: str = "", look: str = "button") -> dict[str, str]:
    """Links to a file of figures."""
    return {"address": reverse(view, args=arguments), "query": query, "look": look}


@register.inclusion_tag("components/_form.html")
def form(form: object, label: object, view: str = "", *arguments: object, **facts: object) -> dict[str, Any]:
    """A form with its button. look: further classes; button: other classes than "primary"; cancel: an address."""
    address = reverse(view, args=arguments) if view else ""
    return {"form": form, "label": label, "address": address, "button": "primary", **facts}


@register.simple_block_tag(takes_context=True)
def section(context: Context, content: str, look: str, name: str, heading: object) -> SafeString:
    """A part of a page under its heading, which names it to screen readers."""
    return _drawn(context, "section", {"look": look, "name": name, "heading": heading, "content": content})


@register.simple_block_tag(takes_context=True)
def underway(context: Context, content: str, name: str, address: str, **facts: object) -> SafeString:
    """What a worker does, until it has ended: the page asks `address` again.

    work: it has a state; button: as HTML; done, total, label: of its progress.
    """
    facts |= {"name": name, "address": address, "content": content}
    return _drawn(context, "underway", facts)


@register.inclusion_tag("components/_figurebox.html")
def figurebox(value: object, label: object, *, wrong: object = False) -> dict[str, Any]:
    """A figure that stands out, in a row of them."""
    return {"value": value, "label": label, "wrong": wrong}


@register.inclusion_tag("components/_fieldrow.html")
def fieldrow(field: object) -> dict[str, Any]:
    """A field of a filter, without its help and its errors."""
    return {"field": field}


@register.inclusion_tag("components/_filters.html")
def filters(form: object, label: object) -> dict[str, Any]:
    """A form that asks for the page again. label: of its button."""
    return {"form": form, "label": label}


@register.simple_block_tag
def capture(content: str) -> str:
    """What is inside, `as` a variable."""
    return SafeString(content.strip())


@register.simple_tag
def either(condition: object, yes: object, no: object) -> object:
    """One of two texts."""
    return yes if condition else no
