"""Documents become a corpus: segments, places, duplicates, and what is left out."""

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from curation.files.documents import Document, DocumentForm, read_documents
from curation.files.drafts import FileError
from curation.pairs.text import earlier_near_copy_key, near_copy_key
from mlworkers.science.contexts.corpus import Context, Corpus, CorpusError, corpus_write, near_duplicates

NOVEL = """Mr. Hale sat down. He read a letter!
It was long.

“Who wrote it?” she asked.
"""


def corpus_of(
    folder: Path, text: str, *, form: DocumentForm = DocumentForm.TEXT, name: str = "a.txt"
) -> Corpus:
    source = folder / name
    source.write_text(text, "utf-8")
    made = folder / "corpus"
    made.mkdir()
    corpus_write(read_documents(source, form=form), made)
    return Corpus(made)


def test_bytes_that_are_no_text_leave_out_only_their_sentence(tmp_path: Path) -> None:
    source = tmp_path / "a.txt"
    source.write_bytes(b"\xef\xbb\xbfA dog ran. A d\x81g sat. A cat came.")

    (document,) = read_documents(source)

    assert document.segments == [["A dog ran."], ["A cat came."]]
    assert [row.line for row in document.left_out] == [1]


def test_running_text_is_divided_into_sentences_across_line_ends_but_not_across_paragraphs(
    tmp_path: Path,
) -> None:
    corpus = corpus_of(tmp_path, NOVEL)

    sentences = [corpus.text(number) for number in range(len(corpus))]

    assert sentences == [
        "Mr. Hale sat down.",
        "He read a letter!",
        "It was long.",
        "“Who wrote it?” she asked.",
    ]
    assert corpus.context(2, 1, 2) == Context(("He read a letter!",), ("“Who wrote it?” she asked.",))


def test_a_context_ends_where_its_document_ends(tmp_path: Path) -> None:
    corpus = corpus_of(
        tmp_path, "One one.\nTwo two.\nThree three.\n\nFour four.\nFive five.\n", form=DocumentForm.SENTENCES
    )

    contexts = [corpus.context(number, 2, 2) for number in range(len(corpus))]

    assert contexts[2] == Context(("One one.", "Two two."), ())
    assert contexts[3] == Context((), ("Five five.",))
    assert [corpus.document_of(number) for number in (2, 3)] == ["a:1", "a:5"]
    assert corpus.facts.places == 1


def test_a_sentence_that_is_left_out_interrupts_its_document(tmp_path: Path) -> None:
    lines = ["First one.", "Second one.", "x" * 2001, "Third one.", "Fourth one.", "Fifth one."]

    corpus = corpus_of(tmp_path, "\n".join(lines), form=DocumentForm.SENTENCES)

    assert corpus.context(2, 2, 2) == Context((), ("Fourth one.", "Fifth one."))
    assert corpus.facts.left_out == 1
    assert "line 3: the sentence has 2,001 characters" in corpus.facts.left_out_because[0]


def test_a_document_with_the_words_of_an_earlier_one_is_left_out_and_named(tmp_path: Path) -> None:
    rows = [
        '{"id": "first", "text": "One one. Two two. Three three."}',
        '{"id": "copy", "text": ["one one", "TWO two!", "three three"]}',
        '{"id": "other", "text": "Three three. Two two. One one."}',
    ]

    corpus = corpus_of(tmp_path, "\n".join(rows), name="a.jsonl")

    assert corpus.facts.duplicates == 1
    assert corpus.facts.duplicate_names == ["copy = first"]
    assert corpus.facts.documents == 2


@pytest.mark.parametrize(
    ("text", "form", "says"),
    [
        (
            "One one.\n\nTwo two.\n\nThree three.\n",
            "paragraphs",
            "None of the 3 documents has three sentences in a row",
        ),
        ("\n\n", "text", "The corpus has no sentence"),
    ],
)
def test_a_corpus_without_contexts_is_refused_in_one_sentence(
    tmp_path: Path, text: str, form: str, says: str
) -> None:
    with pytest.raises(CorpusError, match=says):
        corpus_of(tmp_path, text, form=DocumentForm(form))


def test_text_without_paragraphs_is_refused_with_the_line_at_which_it_begins(tmp_path: Path) -> None:
    text = "Short one.\n\n" + "Some words without an end of the paragraph here.\n" * 21_000

    with pytest.raises(
        FileError, match=r"The paragraph at line 3 of a\.txt has more than 1,000,000 characters"
    ):
        corpus_of(tmp_path, text)


def test_a_line_of_100000_characters_is_divided_like_any_other(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path, "The cat sat on the mat. " * 4_200)

    assert len(corpus) == 4_200
    assert corpus.text(4_199) == "The cat sat on the mat."


@pytest.mark.parametrize(
    ("line", "says"),
    [('{"id": 1}', 'Line 1 of a.jsonl has no "text"'), ("nonsense", "Line 1 of a.jsonl is not JSON")],
)
def test_a_wrong_line_of_jsonl_is_refused_by_its_number(tmp_path: Path, line: str, says: str) -> None:
    with pytest.raises(FileError, match=says):
        corpus_of(tmp_path, line, name="a.jsonl")


def test_documents_that_share_most_sentences_are_reported_and_stay(tmp_path: Path) -> None:
    own = [f"Sentence number {number} is here." for number in range(10)]
    other = [*own[:9], "The end is another one."]
    third = [f"A third text has line {number}." for number in range(10)]
    documents = [Document(name, [texts], []) for name, texts in (("a", own), ("b", third), ("c", other))]

    facts = corpus_write(documents, tmp_path)

    assert facts.documents == 3
    assert (facts.duplicates, facts.near_duplicates) == (0, 1)
    assert facts.near_duplicate_names == ["a ~ c (82 %)"]  # 9 of the 11 sentences of both


def test_near_duplicates_are_those_of_plain_sets() -> None:
    rng = np.random.default_rng(4)
    sets = [set(rng.choice(40, size=20, replace=False).tolist()) for _document in range(12)]
    sets += [(sets[0] - {next(iter(sets[0]))}) | {99}, set(sets[3])]
    keys = np.array([key for one in sets for key in sorted(one)] + [7], dtype=np.uint64)
    documents = np.array([number for number, one in enumerate(sets) for _key in one] + [13], dtype=np.int32)
    sets[13] |= {7}

    found = near_duplicates(keys, documents)

    plain = [
        (one, other, len(sets[one] & sets[other]) / len(sets[one] | sets[other]))
        for one, other in combinations(range(14), 2)
    ]
    assert found == [each for each in plain if each[2] >= 0.8]
    assert [each[:2] for each in found] == [(0, 12), (3, 13)]


def test_keys_of_a_corpus_of_an_earlier_version_are_those_of_this_one(tmp_path: Path) -> None:
    texts = ["वह घर जाता है।", "वह घर जाती है।", "“It” rained.", "今天下雨。"]
    corpus_write([Document("a", [texts], [])], tmp_path)
    facts = json.loads((tmp_path / "corpus.json").read_text())
    del facts["words_rule"]
    (tmp_path / "corpus.json").write_text(json.dumps(facts))
    np.save(tmp_path / "near_keys.npy", [np.uint64(int(earlier_near_copy_key(text), 16)) for text in texts])

    earlier = Corpus(tmp_path)

    assert earlier.facts.words_rule == ""
    assert earlier.near_keys.tolist() == [int(near_copy_key(text), 16) for text in texts]
