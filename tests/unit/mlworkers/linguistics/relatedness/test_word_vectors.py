"""Word vectors from files that people have, and what becomes of files that are none."""

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import StaticEmbedding
from tokenizers import Tokenizer, models, pre_tokenizers

from mlworkers.linguistics.relatedness.plan import RelatednessError
from mlworkers.linguistics.relatedness.word_vectors import (
    LONGEST_LINE,
    cosines_of,
    mean_vectors,
    word_vectors_read,
)

WORDS = ["cat", "dog", "paris"]


def written(tmp_path, text: str | bytes):
    path = tmp_path / "vectors.txt"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.mark.parametrize("header", ["", "4 2\n"])
def test_a_file_of_glove_or_word2vec_gives_the_vectors_of_the_words_asked_for(tmp_path, header) -> None:
    path = written(tmp_path, f"{header}cat 1 0\ndog 0 1\nParis 3 4\nnever 9 9\n")

    vectors = word_vectors_read(path, WORDS)

    assert vectors.of_word("Cat").tolist() == [[1, 0]]
    assert vectors.of_word("paris").tolist() == [[3, 4]], "capitalised where only that form is known"
    assert vectors.of_word("never").shape == (0, 2), "nobody asked for it"


def test_a_word_with_spaces_is_one_word(tmp_path) -> None:
    path = written(tmp_path, "cat 1 0 2\n. . . 5 5 5\ndog 0 1 1\n")

    assert word_vectors_read(path, ["dog", ". . ."]).of_word(". . .").tolist() == [[5, 5, 5]]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("cat 1 0\ndog 1\n", "Line 2 of vectors.txt"),
        ("cat 1 0\ndog 1 nan\n", "Line 2 of vectors.txt"),
        ("sentence1,sentence2,score\na b,c d,1\n", "Line 1 of vectors.txt"),
        (b"3 300\ncat \x00\x01\x02\x03", "Line 2 of vectors.txt"),
        ("cat " + "1 " * LONGEST_LINE, "Line 1 of vectors.txt"),
        ("fr 1 0\nde 0 1\n", "a vector for no word of these pairs"),
        ("", "a vector for no word of these pairs"),
    ],
)
def test_a_file_that_holds_no_such_vectors_is_refused_with_its_line(tmp_path, text, says) -> None:
    with pytest.raises(RelatednessError, match=says):
        word_vectors_read(written(tmp_path, text), WORDS)


def test_a_path_without_a_file_says_what_to_give(tmp_path) -> None:
    with pytest.raises(RelatednessError, match="give the path of a text file"):
        word_vectors_read(tmp_path / "none.txt", WORDS)


@pytest.fixture
def static_embedding(tmp_path):
    """A StaticEmbedding model as sentence-transformers saves it."""
    vocabulary = {word: number for number, word in enumerate(["[UNK]", "cat", "dog", "runs", "sits"])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    weights = np.random.default_rng(1).normal(size=(5, 8)).astype(np.float32)
    model = SentenceTransformer(modules=[StaticEmbedding(tokenizer, embedding_weights=weights)], device="cpu")
    model.save(str(tmp_path / "static"))
    return model, tmp_path / "static"


def test_a_static_embedding_folder_gives_what_the_library_encodes(static_embedding) -> None:
    model, folder = static_embedding

    means = mean_vectors(word_vectors_read(folder, []), [["cat", "runs"], ["dog", "sits", "sits"]])

    np.testing.assert_allclose(means, model.encode(["cat runs", "dog sits sits"]), rtol=1e-6)


def test_a_folder_of_another_model_is_refused(static_embedding) -> None:
    _model, folder = static_embedding
    modules = (folder / "modules.json").read_text().replace("StaticEmbedding", "Transformer")
    (folder / "modules.json").write_text(modules)

    with pytest.raises(RelatednessError, match="its modules are Transformer"):
        word_vectors_read(folder, [])


def test_modules_do_not_lead_out_of_their_folder(static_embedding) -> None:
    _model, folder = static_embedding
    modules = (folder / "modules.json").read_text().replace('"path": ""', '"path": "../.."')
    (folder / "modules.json").write_text(modules.replace('"path": "0_StaticEmbedding"', '"path": "../.."'))

    with pytest.raises(RelatednessError, match="names a folder outside it"):
        word_vectors_read(folder, [])


def test_a_sentence_without_a_known_word_has_no_cosine(tmp_path) -> None:
    vectors = word_vectors_read(written(tmp_path, "cat 3 4\ndog 4 3\n"), ["cat", "dog"])

    means = mean_vectors(vectors, [["cat"], ["dog"], ["zebra"], []])
    cosines = cosines_of(means, np.array([0, 0, 2]), np.array([1, 2, 3]))

    assert cosines[0] == pytest.approx(24 / 25)
    assert np.isnan(cosines[1:]).all()
