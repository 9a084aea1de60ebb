"""A text with users' words in it as Markdown and as LaTeX."""

import re

import pytest

from curation.files.publishing.prose import (
    Cited,
    Grid,
    Heading,
    Paragraph,
    ToWrite,
    as_bibtex,
    as_latex,
    as_markdown,
    latex_text,
    plain,
)
from curation.files.publishing.references import BEST_WORST, OF_METHODS, RELATEDNESS, RELIABILITY, RISE

NASTY = '50 & 5% $x_1$ #2 {a}~b^c \\input{/etc/passwd} <b> "q" | `code` [l](u) *s*'
ALL = [BEST_WORST, RELIABILITY, *OF_METHODS.values()]


def without_escapes(latex: str) -> str:
    """What LaTeX would print: commands of escaped characters replaced by what they stand for."""
    named = {
        "textbackslash": "\\", "textasciitilde": "~", "textasciicircum": "^", "textless": "<", "textgreater": ">",
        "textbar": "|", "textquotedbl": '"',
    }  # fmt: skip
    printed, rest = "", latex
    while rest:
        if command := re.match(r"\\([a-z]+)\{\}", rest):
            printed += named[command[1]]
            rest = rest[command.end() :]
        elif rest[0] == "\\":
            assert rest[1] in "&%$#_{}", rest
            printed, rest = printed + rest[1], rest[2:]
        else:
            assert rest[0] not in "&%$#_{}~^", rest
            printed, rest = printed + rest[0], rest[1:]
    return printed


def test_every_character_that_latex_would_read_as_its_own_is_printed() -> None:
    assert without_escapes(latex_text(NASTY)) == NASTY


def test_text_from_right_to_left_is_in_a_command_of_its_own_with_its_spaces() -> None:
    assert latex_text("corpus שלום עולם, 5%") == r"corpus \semblancertl{שלום עולם}, 5\%"
    assert latex_text("سلام A سلام") == r"\semblancertl{سلام} A \semblancertl{سلام}"


def test_characters_that_turn_or_hide_text_are_left_out_and_those_that_join_letters_stay() -> None:
    assert plain("a\u202eb\x00c\u200bd\ne  f") == "abcd e f"
    assert plain("می\u200cخواهم") == "می\u200cخواهم"


@pytest.fixture
def blocks():
    return [
        Heading(NASTY, 1),
        Paragraph(["Judged by", Cited((BEST_WORST, RELIABILITY)), f". Named {NASTY}."]),
        Grid("t", NASTY, ["Name", "n"], [[NASTY, "1,000"], ["x | y\nz", "5"]]),
        ToWrite("who judged, and why."),
    ]


def test_latex_environments_and_braces_are_balanced_and_tables_have_their_columns(blocks) -> None:
    latex = as_latex(blocks)

    body = re.sub(r"(?m)^%.*$", "", latex)
    assert re.findall(r"\\begin\{(\w+)\}", body) == ["table", "tabular"]
    assert re.findall(r"\\end\{(\w+)\}", body) == ["tabular", "table"]
    unescaped = re.sub(r"\\\\|\\[{}&]", "", body)
    assert unescaped.count("{") == unescaped.count("}")
    rows = re.search(r"\\toprule\n(.*)\\bottomrule", latex, re.DOTALL)
    assert rows is not None
    lines = [line for line in rows[1].splitlines() if line != r"\midrule"]
    assert [len(re.findall(r"(?<!\\)&", line)) for line in lines] == [1, 1, 1]
    assert all(line.endswith(r" \\") for line in lines)
    assert r"\citep{louviere1991,kiritchenko2017}." in latex
    assert r"\textbf{To be written:} who judged" in latex


def test_markdown_keeps_cells_in_their_columns_and_shows_markup_as_text(blocks) -> None:
    markdown = as_markdown(blocks)

    rows = [line for line in markdown.splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {3}
    assert "<b>" not in markdown.replace(r"\<b\>", "")
    assert "(Louviere and Woodworth, 1991; Kiritchenko and Mohammad, 2017)." in markdown
    assert "> **To be written:** who judged, and why." in markdown
    assert markdown.count("## References") == 1


def test_the_references_are_those_that_are_cited(blocks) -> None:
    assert re.findall(r"^@\w+\{(\w+),", as_bibtex(blocks), re.MULTILINE) == [
        "kiritchenko2017",
        "louviere1991",
    ]


@pytest.mark.parametrize("reference", ALL, ids=lambda each: each.key)
def test_an_entry_of_bibtex_has_balanced_braces_and_its_own_key(reference) -> None:
    assert reference.bibtex.count("{") == reference.bibtex.count("}")
    assert re.match(rf"@\w+\{{{reference.key}, ", reference.bibtex)


def test_a_checksum_may_be_broken_between_lines_of_latex() -> None:
    checksum = "0123456789abcdef" * 4

    broken = latex_text(f"Its SHA-256 is {checksum}.")

    assert broken.replace(r"\allowbreak{}", "") == f"Its SHA-256 is {checksum}."
    assert max(map(len, broken.split(r"\allowbreak{}")[1:-1])) == 8
    assert latex_text("incomprehensibilities") == "incomprehensibilities"


def test_a_paper_that_is_part_of_a_sentence_has_its_year_alone_in_brackets() -> None:
    told = [Paragraph(["Chosen as by", Cited((RELATEDNESS, RISE), in_text=True), "."])]

    assert as_markdown(told).startswith("Chosen as by Abdalla et al. (2023) and Kim et al. (2022).")
    assert r"Chosen as by \citet{abdalla2023,kim2022}." in as_latex(told)
