"""Word vectors from files that people have, and what becomes of files that are none."""

import gzip
import struct
import tracemalloc

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import StaticEmbedding
from tokenizers import Tokenizer, models, pre_tokenizers

from mlworkers.science.linguistics.relatedness import vector_files
from mlworkers.science.linguistics.relatedness.plan import RelatednessError
from mlworkers.science.linguistics.relatedness.vector_files import LONGEST_LINE, LONGEST_WORD
from mlworkers.science.linguistics.relatedness.word_vectors import cosines_of, mean_vectors, word_vectors_read

WORDS = ["cat", "dog", "paris"]


def written(tmp_path, text: str | bytes, name: str = "vectors.txt"):
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def binary(*words, between: bytes = b"") -> bytes:
    """Words with their numbers as word2vec.c writes them. between: what stands after each vector."""
    rows = [word.encode() + b" " + struct.pack(f"<{len(numbers)}f", *numbers) for word, *numbers in words]
    return f"{len(words)} {len(words[0]) - 1}\n".encode() + b"".join(row + between for row in rows)


@pytest.mark.parametrize("header", ["", "4 2\n"])
def test_a_file_of_glove_or_word2vec_gives_the_vectors_of_the_words_asked_for(tmp_path, header) -> None:
    path = written(tmp_path, f"{header}cat 1 0\ndog 0 1\nParis 3 4\nnever 9 9\n")

    vectors = word_vectors_read(path, WORDS)

    assert vectors.of_word("Cat").tolist() == [[1, 0]]
    assert vectors.of_word("paris").tolist() == [[3, 4]], "capitalised where only that form is known"
    assert vectors.of_word("never").shape == (0, 2), "nobody asked for it"


@pytest.mark.parametrize("between", [b"", b"\n"], ids=["Google News", "word2vec.c"])
@pytest.mark.parametrize("name", ["vectors.bin", "vectors.bin.gz", "vectors"])
def test_binary_word2vec_gives_the_vectors_of_the_words_asked_for(tmp_path, name, between) -> None:
    data = binary(
        ("</s>", 9, 9, 9), ("Paris", 0.5, -2, 1e-3), ("New_York", 1, 2, 3), ("cat", 1, 0, 0), ("cat", 7, 7, 7),
        between=between,
    )  # fmt: skip
    path = written(tmp_path, gzip.compress(data) if name.endswith(".gz") else data, name)

    vectors = word_vectors_read(path, WORDS)

    assert vectors.width == 3
    assert vectors.of_word("Paris").tolist() == [[0.5, -2, np.float32(1e-3)]]
    assert vectors.of_word("cat").tolist() == [[1, 0, 0]], "the first of two"
    assert vectors.of_word("New_York").shape == (0, 3), "nobody asked for it"


def test_vectors_whose_bytes_are_spaces_and_line_ends_are_read_whole(tmp_path) -> None:
    """0x20 and 0x0a are bytes of numbers too: only the length says where a vector ends."""
    odd = struct.unpack("<4f", b"    \n\n\n\n \n \n\x00\x01 \n")

    vectors = word_vectors_read(written(tmp_path, binary(("cat", *odd), ("dog", *odd))), WORDS)

    assert vectors.of_word("dog")[0].tobytes() == b"    \n\n\n\n \n \n\x00\x01 \n"


def test_text_packed_with_gzip_is_read_as_it_is(tmp_path) -> None:
    path = written(tmp_path, gzip.compress(b"2 2\ncat 1 0\ndog 0 1\n"), "glove.txt.gz")

    assert word_vectors_read(path, WORDS).of_word("dog").tolist() == [[0, 1]]


def test_text_whose_name_ends_in_bin_is_read_as_text(tmp_path) -> None:
    path = written(tmp_path, b"2 2\ncat 1 0\ndog 0 1\n", "vectors.bin")

    assert word_vectors_read(path, WORDS).of_word("dog").tolist() == [[0, 1]]


def test_many_vectors_take_the_memory_of_those_asked_for(tmp_path) -> None:
    width, count = 256, 20_000
    with gzip.open(tmp_path / "many.bin.gz", "wb", compresslevel=1) as file:
        file.write(f"{count} {width}\n".encode())
        for number in range(count):
            file.write(f"word{number} ".encode() + struct.pack("<f", number) * width)
    tracemalloc.start()

    vectors = word_vectors_read(tmp_path / "many.bin.gz", ["word19999"])

    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert vectors.of_word("word19999")[0].tolist() == [19_999] * width
    assert most < 8 << 20, "of 20 MB"


def test_what_gzip_packed_is_read_up_to_a_bound(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(vector_files, "UNPACKED_MOST", 1 << 20)
    path = written(tmp_path, gzip.compress(b"cat 1 0\n" + b"dog 0 1\n" * (1 << 18)), "bomb.txt.gz")

    with pytest.raises(RelatednessError, match=r"bomb.txt.gz unpacks to more than 1 MB"):
        word_vectors_read(path, WORDS)


def test_a_word_with_spaces_is_one_word(tmp_path) -> None:
    path = written(tmp_path, "cat 1 0 2\n. . . 5 5 5\ndog 0 1 1\n")

    assert word_vectors_read(path, ["dog", ". . ."]).of_word(". . .").tolist() == [[5, 5, 5]]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("cat 1 0\ndog 1\n", "Line 2 of vectors.txt"),
        ("cat 1 0\ndog 1 nan\n", "Line 2 of vectors.txt"),
        ("sentence1,sentence2,score\na b,c d,1\n", "Line 1 of vectors.txt"),
        ("4 2\ncat 1 x\n", "Line 2 of vectors.txt"),
        (b"3 300\ncat \x00\x01\x02\x03", "binary word2vec and breaks off after 0 of 3 words"),
        (binary(("cat", 1, 0), ("dog", 0, 1))[:-3], "breaks off after 1 of 2 words"),
        (b"2 1\ncat \x00\x00\x00\x00", "Line 1 of vectors.txt"),
        (b"2 2\n" + b"\x00" * (LONGEST_WORD + 1) + b" " + b"\x00" * 9, "Word 1 of vectors.txt has more than"),
        (
            binary(("cat", float("inf"), 0)),
            "The vector of “cat” in vectors.txt has numbers that are not finite",
        ),
        (gzip.compress(b"cat 1 0\ndog 0 1\n" * 99, mtime=0)[:-9], "vectors.txt breaks off or is damaged"),
        (b"\x1f\x8b and no more", "vectors.txt breaks off or is damaged"),
        (b"PK\x03\x04...", "a zip file; unpack it"),
        (b"\x80\x04\x95", "a pickled file, such as gensim saves, which is never loaded"),
        (b"\xba\x16\x4f\x2f\x0c", "a model of fastText; give the text file"),
        ("cat " + "1 " * LONGEST_LINE, "Line 1 of vectors.txt"),
        ("fr 1 0\nde 0 1\n", "a vector for no word of these pairs"),
        ("", "a vector for no word of these pairs"),
    ],
)
def test_a_file_that_holds_no_such_vectors_is_refused_with_its_line(tmp_path, text, says) -> None:
    with pytest.raises(RelatednessError, match=says):
        word_vectors_read(written(tmp_path, text), WORDS)


def test_a_path_without_a_file_says_what_to_give(tmp_path) -> None:
    with pytest.raises(RelatednessError, match="give the path of a file of word2vec"):
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
