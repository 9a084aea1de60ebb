"""What people typed stays text in the Markdown of published folders and of the cards of files and models."""

from collections.abc import Callable
from datetime import date

import pytest

from curation.files.publishing.facts import Collection, Configuration, Contents, Publication, Scores
from curation.files.publishing.prose import (
    markdown_address,
    markdown_paragraphs,
    markdown_text,
    markdown_written,
)
from curation.files.publishing.texts import data_statement, readme
from curation.pairs.leaks import Leak
from tests.integration.semblance.hostile_texts import alive_in
from tests.markup import HOSTILE, elements_in, html_of


def scores(text: str) -> Scores:
    figures = {"trials": 9, "split": text, "judgements": 9, "tuples": 9}
    figures |= dict.fromkeys(("spearman_mean", "spearman_sd", "spearman_brown", "pearson_mean"), 0.5)
    return Scores(text, text, "human", 0, 1, 9, method=text, simulated=1, reliability=figures)


def collection(text: str) -> Collection:
    return Collection(
        name=text, question=text, guidelines="Choose.", imported=False, tuple_size=4, pairs=9, tuples=18,
        tuples_per_item=8, judgements_per_tuple=2, judgements=36, extra=0, excluded=0, annotators=2, simulated=0,
        excluded_annotators=1, exclusions={text: 1}, gold_tuples=1, gold_threshold=0.7, began=date(2026, 3, 1),
        ended=date(2026, 3, 2),
    )  # fmt: skip


def publication(text: str, address: str) -> Publication:
    return Publication(
        slug="rel", name=text, description=text, language=text, licence=text, address=address, authors=[text],
        snapshot=2, sha256="0", taken=date(2026, 3, 2), chosen="human", software="Semblance", main=scores(text),
        others=[scores(text)], collections=[collection(text)],
    )  # fmt: skip


def contents(text: str) -> Contents:
    files = {"train": ("data/train", 6), "test": ("data/test", 3)}
    return Contents([Configuration("scored", (), files)], {"imported": 9}, leaks=[Leak(text, text, 1, 9)])


@pytest.mark.parametrize("written", [readme, data_statement])
def test_no_text_of_a_published_folder_is_markup(written: Callable[[Publication, Contents], str]) -> None:
    plain = html_of(written(publication("A name", ""), contents("one")))
    hostile = html_of(written(publication(HOSTILE, "javascript:attack()"), contents(HOSTILE)))

    assert alive_in(hostile) == []
    assert set(elements_in(hostile)) == set(elements_in(plain))
    assert hostile.count("<h") == plain.count("<h")
    assert hostile.count("<td") == plain.count("<td")
    assert not {"\x1b", "\u202e"} & set(hostile)


@pytest.mark.parametrize("write", [markdown_text, markdown_paragraphs])
def test_a_text_in_markdown_is_one_or_several_paragraphs_and_nothing_else(
    write: Callable[[str], str],
) -> None:
    assert set(elements_in(html_of(f"A line\n\n{write(HOSTILE)}"))) == {"p"}


def test_the_lines_of_a_description_stay_apart() -> None:
    assert markdown_paragraphs(" One_a\n- two\n\n3. three ") == "One\\_a\n\\- two\n\n3\\. three"


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://example.org/a_b?c=d&e", "<https://example.org/a_b?c=d&e>"),
        ("javascript:attack()", "javascript:attack()"),
        ("https://a.b> <script>", "https://a.b\\> \\<script\\>"),
    ],
)
def test_the_address_of_a_page_is_a_link_and_anything_else_is_text(address: str, shown: str) -> None:
    assert markdown_address(address) == shown


def test_guidelines_keep_their_markdown_without_html_pictures_and_other_links() -> None:
    kept = "**Choose** by [meaning](https://example.org).\n\n* one\n* two < three\n"

    assert markdown_written(kept) == kept
    for backslashes in ("", "\\", "\\\\"):
        for hostile in (
            "<attack onload=attack()>",
            "[x](javascript:attack)",
            "![x](https://e.org/p)",
            "[x](<data:,>)",
        ):
            shown = html_of(markdown_written(f"{kept}\n{hostile.replace('](', f'{backslashes}](')}"))
            assert alive_in(shown) == []
            assert "<img" not in shown
