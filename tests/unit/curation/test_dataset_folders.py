"""Folders of `datasets` and their zip files as one table: splits, classes, nested columns, damage and bombs."""

import json
import shutil
import stat
import zipfile
from pathlib import Path

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.files.dataset_folders import folder_as_table, is_dataset_folder
from curation.files.drafts import FileError
from curation.files.parsing import inspect_file
from tests.hostile_files import COLUMNS, stream_write

FEATURES = datasets.Features(
    {
        "sentence": datasets.Value("string"),
        "stance": datasets.ClassLabel(names=["for", "against"]),
        "words": datasets.List(datasets.Value("string")),
        "score": datasets.Value("float32"),
    }
)
TRAIN = {"sentence": ["A dog.", None], "stance": [0, 1], "words": [["A"], []], "score": [1.5, None]}
TEST = {"sentence": ["مرحبا 🙂"], "stance": [1], "words": [[]], "score": [0.0]}


@pytest.fixture
def saved(tmp_path: Path, monkeypatch) -> Path:
    """What save_to_disk writes, in two splits."""
    datasets.disable_progress_bars()
    splits = {
        name: datasets.Dataset.from_dict(rows, features=FEATURES)
        for name, rows in {"train": TRAIN, "test": TEST}.items()
    }
    datasets.DatasetDict(splits).save_to_disk(tmp_path / "tweets")
    return tmp_path / "tweets"


def rows_of(path: Path, *, label_names: bool = True, most: int = 1 << 30) -> list[dict]:
    with folder_as_table(path, most=most, label_names=label_names) as table:
        assert table.name == f"{path.name.removesuffix('.zip')}.parquet"
        return pq.read_table(table).to_pylist()


def parquet(path: Path, **columns: list) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path)


def test_saved_splits_are_one_table_with_the_names_of_classes(saved: Path) -> None:
    assert sorted(rows_of(saved), key=lambda row: row["split"]) == [
        {"sentence": "مرحبا 🙂", "stance": "against", "score": 0.0, "words": None, "split": "test"},
        {"sentence": "A dog.", "stance": "for", "score": 1.5, "words": None, "split": "train"},
        {"sentence": None, "stance": "against", "score": None, "words": None, "split": "train"},
    ]
    assert {row["stance"] for row in rows_of(saved, label_names=False)} == {0, 1}


def test_a_zip_file_of_a_folder_is_the_folder(saved: Path, tmp_path: Path) -> None:
    packed = Path(shutil.make_archive(str(tmp_path / "packed" / "tweets"), "zip", tmp_path, "tweets"))

    assert is_dataset_folder(packed)
    assert rows_of(packed) == rows_of(saved)


def test_one_split_alone_has_no_column_of_splits(saved: Path, tmp_path: Path) -> None:
    alone = shutil.copytree(saved / "train", tmp_path / "alone")

    assert [list(row) for row in rows_of(alone)] == [["sentence", "stance", "score", "words"]] * 2


def test_parquet_files_have_the_splits_of_their_names(tmp_path: Path) -> None:
    folder = tmp_path / "hub"
    parquet(folder / "data" / "train-00000-of-00002.parquet", text=["a"])
    parquet(folder / "data" / "train-00001-of-00002.parquet", text=["b"])
    parquet(folder / "data" / "validation-00000-of-00001.parquet", text=["c"])
    (folder / "loader.py").write_text("raise SystemExit('a script was run')")

    assert [(row["text"], row["split"]) for row in rows_of(folder)] == [
        ("a", "train"),
        ("b", "train"),
        ("c", "validation"),
    ]


README = """---
language: en
configs:
- config_name: scored
{default}  data_files:
  - split: dev
    path: scored/one*.parquet
- config_name: tuples
  data_files: tuples/*.parquet
---
# Words
"""


def test_the_metadata_of_a_readme_name_the_files_of_the_default_configuration(tmp_path: Path) -> None:
    parquet(tmp_path / "scored" / "one-1.parquet", text=["a"])
    parquet(tmp_path / "tuples" / "all.parquet", other=["x"])
    (tmp_path / "README.md").write_text(README.format(default="  default: true\n"))
    assert rows_of(tmp_path) == [{"text": "a", "split": "dev"}]

    (tmp_path / "README.md").write_text(README.format(default=""))
    with pytest.raises(FileError, match=r'has the configurations "?scored"?, "?tuples"?; give the folder'):
        rows_of(tmp_path)


def test_nested_columns_alone_are_refused_in_one_sentence(tmp_path: Path) -> None:
    parquet(tmp_path / "hub" / "train.parquet", sentences=[["A.", "B."]])

    with pytest.raises(
        FileError, match=r"hub holds lists or other nested values in .*write them into two columns"
    ):
        rows_of(tmp_path / "hub")


def test_a_reader_of_the_table_says_which_columns_are_not_read(tmp_path: Path) -> None:
    parquet(tmp_path / "hub" / "train.parquet", sentence1=["A."], sentence2=["B."], tokens=[["A", "."]])

    with folder_as_table(tmp_path / "hub", most=1 << 30, label_names=False) as table:
        layout = inspect_file(table)
    assert layout.nested == ("tokens",)
    assert layout.warnings[0].startswith('hub.parquet holds lists or other nested values in "tokens"')


def test_a_column_that_only_a_later_file_has_is_not_dropped_without_a_word(tmp_path: Path) -> None:
    parquet(tmp_path / "hub" / "a.parquet", text=["a"])
    parquet(tmp_path / "hub" / "b.parquet", text=["b"], score=[1.0])
    with pytest.raises(FileError, match=r'b.parquet of hub has a column "score", which others lack'):
        rows_of(tmp_path / "hub")

    parquet(tmp_path / "hub" / "b.parquet", text=[["b"]])
    with pytest.raises(FileError, match=r'b.parquet of hub holds other values in "text" than others do'):
        rows_of(tmp_path / "hub")


def test_files_with_other_columns_are_refused(tmp_path: Path) -> None:
    parquet(tmp_path / "hub" / "a.parquet", text=["a"])
    parquet(tmp_path / "hub" / "b.parquet", sentence=["b"])

    with pytest.raises(FileError, match=r"b.parquet of hub has no column .*text"):
        rows_of(tmp_path / "hub")


def arrow(path: Path, table: pa.Table, **options: object) -> None:
    path.mkdir(parents=True, exist_ok=True)
    chosen = pa.ipc.IpcWriteOptions(**options)
    with pa.ipc.new_stream(str(path / "data.arrow"), table.schema, options=chosen) as writer:
        writer.write_table(table)
    (path / "state.json").write_text(json.dumps({"_data_files": [{"filename": "data.arrow"}]}))


def test_what_could_unpack_to_more_than_its_file_is_refused(tmp_path: Path) -> None:
    arrow(tmp_path / "packed", pa.table({"text": ["a" * 10_000_000]}), compression="zstd")
    with pytest.raises(FileError, match=r"data.arrow is compressed; save it as Parquet"):
        rows_of(tmp_path / "packed")

    arrow(tmp_path / "classes", pa.table({"text": pa.array(["a", "b"]).dictionary_encode()}))
    with pytest.raises(FileError, match="categorical columns"):
        rows_of(tmp_path / "classes")

    arrow(tmp_path / "long", pa.table({"text": ["a" * 1_000_001]}))
    with pytest.raises(FileError, match="a value of more than 1,000,000 bytes"):
        rows_of(tmp_path / "long")

    bomb = tmp_path / "bomb.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data.parquet", bytes(3 << 20))
    with pytest.raises(FileError, match=r"bomb.zip unpacks to more than 2 MB"):
        rows_of(bomb, most=2 << 20)


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_of_which_few_bytes_are_many_values_is_refused(tmp_path: Path, name: str) -> None:
    """A stream of a megabyte took all memory of the machine."""
    (tmp_path / "saved").mkdir()
    stream_write(tmp_path / "saved" / "data.arrow", COLUMNS[name]())
    (tmp_path / "saved" / "state.json").write_text(json.dumps({"_data_files": [{"filename": "data.arrow"}]}))

    with pytest.raises(FileError, match=r"is not plain .*; save it as Parquet|hold"):
        rows_of(tmp_path / "saved")


def test_nothing_that_a_stream_calls_a_python_type_is_unpickled(tmp_path: Path) -> None:
    command = f"cos\nsystem\n(S'touch {tmp_path}/made'\ntR.".encode()
    named = {"ARROW:extension:name": "arrow.py_extension_type", "ARROW:extension:metadata": command}
    field = pa.field("text", pa.string(), metadata=named)
    arrow(tmp_path / "pickled", pa.table([pa.array(["a"])], schema=pa.schema([field])))

    assert rows_of(tmp_path / "pickled") == [{"text": "a"}]
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("kept", [0, 4, 100, 300, 700])
def test_a_stream_that_breaks_off_is_refused(tmp_path: Path, kept: int) -> None:
    arrow(tmp_path / "cut", pa.table({"text": ["a sentence of some length"] * 40}))
    path = tmp_path / "cut" / "data.arrow"
    path.write_bytes(path.read_bytes()[:kept])

    with pytest.raises(FileError, match=r"data.arrow is not a whole Arrow stream"):
        rows_of(tmp_path / "cut")


def test_a_zip_writes_nothing_outside_its_folder(tmp_path: Path) -> None:
    packed = tmp_path / "evil.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("../outside.parquet", b"x")
        archive.writestr("notes.txt", b"x")

    with pytest.raises(FileError, match=r"evil.zip is no dataset folder"):
        rows_of(packed)
    assert not (tmp_path / "outside.parquet").exists()


def test_a_link_in_a_zip_leads_nowhere(tmp_path: Path) -> None:
    secret = tmp_path / "secret.parquet"
    pq.write_table(pa.table({"text": ["a secret"]}), secret)
    packed = tmp_path / "links.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        link = zipfile.ZipInfo("data/train.parquet")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, str(secret))

    with pytest.raises(FileError):
        rows_of(packed)


def test_a_link_in_a_folder_is_not_followed(tmp_path: Path) -> None:
    secret, folder = tmp_path / "secret.parquet", tmp_path / "folder"
    pq.write_table(pa.table({"text": ["a secret"]}), secret)
    folder.mkdir()
    (folder / "train.parquet").symlink_to(secret)

    with pytest.raises(FileError, match=r"folder is no dataset folder"):
        rows_of(folder)


def test_a_missing_file_and_a_damaged_zip_are_said(saved: Path, tmp_path: Path) -> None:
    next((saved / "train").glob("*.arrow")).unlink()
    with pytest.raises(FileError, match=r"state.json of train lists is missing"):
        rows_of(saved)
    (tmp_path / "no.zip").write_bytes(b"PK\x03\x04 nothing")
    with pytest.raises(FileError, match=r"no.zip is damaged or encrypted"):
        rows_of(tmp_path / "no.zip")
