"""Pages speak by the field's terms: what they say instead of a term is listed here, and nowhere else."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PRODUCT = ("annotation", "curation", "mlworkers", "semblance")
# What a text must not say (a pattern), and the term for it. Names in code, addresses and options keep their words.
AVOIDED = {
    r"gold (?:tuple|answer|trial|item)s?": "attention check",
    r"gold (?:gate|rule)": "exclusion rule",
    r"norming": "calibration session",
    r"sittings?": "session",
    r"hidden repeats?": "repeated question",
    r"slider arms?": "rating-scale condition",
    r"bridge tuples?": "linking items",
    r"(?<!as a )judge|judge[sd]|judging": "annotate (people), review (curators), test (a difference)",
    r"compos(?:e|ed|ing) pairs|(?:of|from|in) the pool": "sample pairs, single sentences",
    r"labellers?": "scorer",
    r"(?<!lone )surrogates?": "student encoder",
    # The weighting of that name, in lists of weightings.
    r"(?<!weighting )(?<!rank, )(?<!similarity; )verdicts?": "decision",
    r"set aside|t(?:ake|ook|aken) back|put back": "exclude, undo, restore",
    r"access for programs": "API tokens",
    r"furthest from people": "largest errors",
    r"how human|score realism": "human-likeness",
}
FOUND = re.compile("|".join(rf"(?<![\w-])(?:{avoided})(?![\w-])" for avoided in AVOIDED), re.IGNORECASE)
GETTEXT = {
    "_",
    "gettext",
    "gettext_lazy",
    "ngettext",
    "ngettext_lazy",
    "pgettext",
    "pgettext_lazy",
    "setting",
}
HELP = {"help", "help_text", "label", "description"}
# In a template: what Django reads, except the texts in it; then elements, except the attributes that people read.
DJANGO = re.compile(
    r"{%\s*block \w*class\w* %}.*?{% endblock %}|{%\s*comment.*?endcomment\s*%}|{#.*?#}|{{.*?}}|{%.*?%}",
    re.DOTALL,
)
TEXT_IN_TAG = re.compile(r"""(?:\b_\(|translate )("[^"]*"|'[^']*')""")
ATTRIBUTE = re.compile(r'\b(?:aria-label|title|placeholder|alt|data-label)="([^"]*)"')


def _without_names(text: str) -> str:
    """A text without the names of its values, on one line."""
    return re.sub(r"%\(\w+\)", "%", text.replace('"\n"', ""))


def _template_text(source: str) -> str:
    shown = DJANGO.sub(lambda found: " ".join(TEXT_IN_TAG.findall(found[0])), source)
    return re.sub(r"<[^>]*>", lambda element: " ".join(ATTRIBUTE.findall(element[0])), shown)


def _python_texts(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            called = getattr(node.func, "id", getattr(node.func, "attr", ""))
            given = list(node.args) if called in GETTEXT else []
            given += [keyword.value for keyword in node.keywords if keyword.arg in HELP]
            yield from (
                one.value for one in given if isinstance(one, ast.Constant) and isinstance(one.value, str)
            )


def test_templates_say_the_terms_of_the_field() -> None:
    said = {
        f"{path.relative_to(ROOT)}: {found[0]}"
        for kind in ("html", "txt")
        for path in sorted((ROOT / "templates").rglob(f"*.{kind}"))
        for found in FOUND.finditer(_template_text(path.read_text()))
    }

    assert said == set()


def test_texts_in_code_say_the_terms_of_the_field() -> None:
    said = {
        f"{path.relative_to(ROOT)}: {text}"
        for folder in PRODUCT
        for path in sorted((ROOT / folder).rglob("*.py"))
        if "migrations" not in path.parts
        for text in _python_texts(path.read_text())
        if FOUND.search(_without_names(text)) and " " in text
    }

    assert said == set()


@pytest.mark.parametrize(
    "catalogue", sorted(ROOT.glob("locale/*/LC_MESSAGES/django.po")), ids=lambda path: path.parts[-3]
)
def test_translators_get_the_terms_of_the_field_and_know_them_in_their_language(catalogue: Path) -> None:
    originals = re.findall(r'^msgid(?:_plural)? ((?:"[^\n]*"\n)+)', catalogue.read_text(), re.MULTILINE)
    language = catalogue.parts[-3]

    assert [text for text in originals if FOUND.search(_without_names(text))] == []
    assert f"| {language} |" in (ROOT / "locale" / "TERMS.md").read_text().split("\n\n")[-1].split("\n")[0]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ('<a title="Norming">{% url "norming" %}{{ sitting }}</a>', "Norming"),
        ('{% translate "Judge" %}{% comment %}judge{% endcomment %}<p class="judge">it</p>', "Judge"),
        (
            "{% blocktranslate with judged=row.judged %}{{ judged }} verdicts{% endblocktranslate %}",
            "verdicts",
        ),
    ],
)
def test_of_a_template_only_what_people_read_is_searched(source: str, text: str) -> None:
    assert [found[0] for found in FOUND.finditer(_template_text(source))] == [text]
