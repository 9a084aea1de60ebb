"""A thousand hostile files for every place that takes one, the same for the same seed.

Each begins as a good file of its kind, whose sentences no other file has, and is then spoiled in one of many ways.
Some stay good, or good in part: what is wrong is what a site makes of them.
"""

import gzip
import io
import json
import random
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq

from tests.hostile_files import HOSTILE

BIG = 24_000_000
AT_ONCE_ROWS = 20_000  # more are imported by a worker


@dataclass(frozen=True)
class Hostile:
    """place: which form or address takes it. what: how it was spoiled. name: as the client says it is called."""

    number: int
    place: str
    what: str
    name: str
    content: bytes
    strict: bool


def hostile_files(number: int, drawn: int) -> Iterator[Hostile]:
    """So many, by turns for each place. drawn: the seed."""
    chance = random.Random(drawn)
    ways = {place: sorted(WAYS[place]) for place in WAYS}
    turns = [place for place in PLACES for _turn in range(PLACES[place])]
    made = dict.fromkeys(WAYS, 0)
    for each in range(number):
        place = turns[each % len(turns)]
        what = ways[place][made[place] % len(ways[place])]
        made[place] += 1
        draw = random.Random(chance.randrange(2**63))
        name, content = WAYS[place][what](Draft(each, place, draw))
        yield Hostile(each, place, what, name, content, strict=draw.random() < 0.5)


@dataclass(frozen=True)
class Draft:
    """What a file is made from. number: its own, which its sentences name."""

    number: int
    place: str
    draw: random.Random

    def sentence(self, row: int, side: str = "a") -> str:
        return f"A dog number {self.number} {side} passes house {row} on its way to the river."

    def rows(self, most: int = 60) -> list[list[str]]:
        """The header, and rows."""
        count = self.draw.randint(8, most)
        if self.place == "judgements":
            return self._judged(count)
        if self.place in {"sentences", "text"}:
            return [["text"], *([self.sentence(row)] for row in range(count))]
        header = ["sentence1", "sentence2", "score", "split"]
        return [
            header,
            *(
                [self.sentence(row), self.sentence(row, "b"), str(row % 6), ("train", "dev", "test")[row % 3]]
                for row in range(count)
            ),
        ]

    def _judged(self, count: int) -> list[list[str]]:
        items = [f"{self.sentence(row)}\n{self.sentence(row, 'b')}" for row in range(max(8, count // 2))]
        rows = [["Item1", "Item2", "Item3", "Item4", "BestItem", "WorstItem", "annotator"]]
        for row in range(count):
            four = self.draw.sample(items, 4)
            rows.append([*four, four[0], four[-1], f"person {row % 5}"])
        return rows

    def csv(self, most: int = 60, delimiter: str = ",", end: str = "\n") -> str:
        return "".join(delimiter.join(map(quoted, row)) + end for row in self.rows(most))

    def text(self) -> str:
        """As the place takes it most often."""
        if self.place in {"sentences", "text"}:
            return "".join(f"{row[0]}\n" for row in self.rows()[1:])
        return self.csv()

    @property
    def suffix(self) -> str:
        return ".txt" if self.place in {"sentences", "text"} else ".csv"

    def named(self, suffix: str = "") -> str:
        return f"file{self.number}{suffix or self.suffix}"

    def jsonl(self) -> list[str]:
        header, *rows = self.rows()
        return [json.dumps(dict(zip(header, row, strict=True))) for row in rows]

    def table(self) -> pa.Table:
        header, *rows = self.rows()
        return pa.table({name: [row[place] for row in rows] for place, name in enumerate(header)})

    def parquet(self, compression: str = "zstd") -> bytes:
        made = io.BytesIO()
        pq.write_table(self.table(), made, compression=compression)
        return made.getvalue()


Made = tuple[str, bytes]
Way = Callable[[Draft], Made]
WAYS: dict[str, dict[str, Way]] = {"pairs": {}, "sentences": {}, "text": {}, "judgements": {}}
# How many of 20 files go where.
PLACES = {"pairs": 9, "sentences": 4, "judgements": 4, "text": 3}
TEXTS = ("pairs", "sentences", "text", "judgements")
TABLES = ("pairs", "sentences", "judgements")
LINES = ("pairs", "sentences", "text")
PACKED = ("pairs", "sentences")


def quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if any(sign in cell for sign in ',"\n\t;') else cell


def way(*places: str) -> Callable[[Way], Way]:
    def kept(make: Way) -> Way:
        for place in places:
            WAYS[place][make.__name__] = make
        return make

    return kept


def spoiled(name: str, spoil: Callable[[bytes, random.Random], bytes], *places: str) -> None:
    """A way that spoils the bytes of a good file."""

    def make(draft: Draft) -> Made:
        return draft.named(), spoil(draft.text().encode(), draft.draw)

    for place in places:
        WAYS[place][name] = make


def cut(content: bytes, draw: random.Random) -> bytes:
    return content[: draw.randrange(1, len(content))]


def put(content: bytes, piece: bytes, draw: random.Random) -> bytes:
    place = draw.randrange(len(content))
    return content[:place] + piece + content[place:]


def flipped(content: bytes, draw: random.Random, times: int = 12) -> bytes:
    changed = bytearray(content)
    for _time in range(times):
        changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
    return bytes(changed)


def garbage(draw: random.Random, size: int = 5_000) -> bytes:
    return draw.randbytes(size)


def mixed_ends(content: bytes, draw: random.Random) -> bytes:
    ends = [b"\r", b"\n", b"\r\n", b"\x0b", b"\x0c", b"\x85", "\u2028".encode(), b"\n\r"]
    return b"".join(line + draw.choice(ends) for line in content.split(b"\n"))


spoiled("good", lambda content, draw: content, *TEXTS)
spoiled("cut", cut, *TEXTS)
spoiled("bits flipped", flipped, *TEXTS)
spoiled("a NUL", lambda content, draw: put(content, b"\0", draw), *TEXTS)
spoiled("many NULs", lambda content, draw: content.replace(b" ", b"\0"), *TEXTS)
spoiled("NULs behind", lambda content, draw: content + b"\0" * 70_000, *TEXTS)
spoiled("all NULs", lambda content, draw: b"\0" * 4096, *TEXTS)
spoiled("mixed ends of lines", mixed_ends, *TEXTS)
spoiled("garbage behind", lambda content, draw: content + garbage(draw), *TEXTS)
spoiled("garbage in the middle", lambda content, draw: put(content, garbage(draw, 300), draw), *TEXTS)
spoiled("garbage in front", lambda content, draw: garbage(draw, 40) + content, *TEXTS)
spoiled("garbage alone", lambda content, draw: garbage(draw), *TEXTS)
spoiled("an open quote", lambda content, draw: put(content, b'\n"', draw), *TEXTS)
spoiled("quotes everywhere", lambda content, draw: content.replace(b" ", b'"'), *TEXTS)
spoiled("half a quote pair", lambda content, draw: put(content, b'"x"y",', draw), *TEXTS)
spoiled("a huge cell", lambda content, draw: put(content, b"x" * 3_000_000, draw), *TEXTS)
spoiled(
    "a cell of 24 MB", lambda content, draw: put(content, b"x" * BIG, draw), "pairs", "text", "judgements"
)
spoiled("a line of 24 MB of commas", lambda content, draw: content + b"," * BIG, "pairs", "judgements")
spoiled("a million empty lines", lambda content, draw: content + b"\n" * 1_000_000, *TEXTS)
spoiled("only delimiters", lambda content, draw: b",,,;;;\t\t\n" * 50, *TEXTS)
spoiled("only spaces", lambda content, draw: b" \t\r\n" * 500, *TEXTS)
spoiled("one byte", lambda content, draw: draw.randbytes(1), *TEXTS)
spoiled("a mark of order alone", lambda content, draw: b"\xef\xbb\xbf", *TEXTS)
spoiled("the first line alone", lambda content, draw: content.split(b"\n")[0], *TEXTS)
spoiled("UTF-16 without a mark", lambda content, draw: content.decode().encode("utf-16-le"), *TEXTS)
spoiled("UTF-16", lambda content, draw: content.decode().encode("utf-16"), *TEXTS)
spoiled("UTF-16 cut", lambda content, draw: cut(content.decode().encode("utf-16"), draw), *TEXTS)
spoiled("UTF-32", lambda content, draw: content.decode().encode("utf-32"), *TEXTS)
spoiled("UTF-7", lambda content, draw: content.decode().replace("dog", "däg").encode("utf-7"), *TEXTS)
spoiled("EBCDIC", lambda content, draw: content.decode().encode("cp500"), *TEXTS)
spoiled("Latin-1", lambda content, draw: content.decode().replace("dog", "dög").encode("latin-1"), *TEXTS)
spoiled(
    "a mark, then Latin-1", lambda content, draw: b"\xef\xbb\xbf" + content.replace(b"dog", b"d\xf6g"), *TEXTS
)
spoiled("two encodings", lambda content, draw: content + content.replace(b"dog", b"d\xf6g"), *TEXTS)
spoiled("overlong UTF-8", lambda content, draw: content.replace(b"dog", b"\xc0\xaf\xe0\x80\xaf"), *TEXTS)
spoiled("halves of characters", lambda content, draw: content.replace(b"dog", b"\xed\xa0\x80"), *TEXTS)
spoiled("beyond Unicode", lambda content, draw: content.replace(b"dog", b"\xf5\x90\x80\x80"), *TEXTS)
for label, piece in {
    "turned direction": "\u202edog\u202c",
    "invisible": "\u200b\ufeff\u2060do\u00adg",
    "no characters": "\ufffe\uffff\ufdd0",
    "many accents": "d" + "\u0301" * 20_000,
    "composed in two ways": "caf\u00e9 cafe\u0301 \u212b \ufb01",
    "very long words": "\u0e01" * 30_000,
    "controls": "\x01\x07\x1b[31m\x7f\x85",
    "tags": "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "templates": "{{7*7}}{% debug %}${7*7}%s%(x)s{0.__class__}",
    "statements": "'; DROP TABLE curation_pair; --",
}.items():
    spoiled(label, lambda content, draw, piece=piece: content.replace(b"dog", piece.encode(), 9), *TEXTS)
for label, piece in {
    "a command": "=cmd|'/C calc'!A0",
    "a sum": "@SUM(1+1)*cmd",
    "a link": '=HYPERLINK("http://127.0.0.1/","x")',
    "a minus": "-2+3",
}.items():
    spoiled(
        f"formula, {label}",
        lambda content, draw, piece=piece: content.replace(b"A dog", piece.encode()),
        *TEXTS,
    )
for label, head in {
    "PDF": b"%PDF-1.7\n",
    "GIF": b"GIF89a;",
    "PNG": b"\x89PNG\r\n\x1a\n",
    "ELF": b"\x7fELF\x02\x01",
    "zip": b"PK\x03\x04",
    "gzip": b"\x1f\x8b\x08\0",
    "Parquet": b"PAR1",
    "Arrow": b"ARROW1\0\0",
    "pickle": b"\x80\x04\x95",
    "HTML": b"<!doctype html>\n",
    "XML": b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>\n',
    "shell": b"#!/bin/sh\n",
    "SQLite": b"SQLite format 3\0",
    "Excel": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
    "zstd": b"\x28\xb5\x2f\xfd",
    "bzip2": b"BZh91AY&SY",
}.items():
    spoiled(f"begins as {label}", lambda content, draw, head=head: head + content, *TEXTS)
for label, name in {
    "path up": "../../../../etc/passwd",
    "other path up": "..\\..\\windows\\x",
    "absolute": "/etc/cron.d/x",
    "hidden": ".",
    "a device": "con",
    "long": "x" * 240,
    "a NUL": "a\0b",
    "a line": "a\nSet-Cookie: x=1",
    "a quote": 'a";filename="b',
    "turned": "a\u202e",
    "a part": ".file.part",
    "errors": "errors",
    "emoji": "\U0001f415" * 50,
    "percent": "%2e%2e%2fa",
    "spaces": "   ",
    "nothing": "",
}.items():

    def with_name(draft: Draft, name: str = name) -> Made:
        return name + draft.suffix, draft.text().encode()

    for taker in TEXTS:
        WAYS[taker][f"named {label}"] = with_name
for given_suffix in (
    ".parquet",
    ".jsonl",
    ".zip",
    ".gz",
    ".csv.gz",
    ".xlsx",
    ".exe",
    ".html",
    ".svg",
    ".tsv",
    ".json",
    ".",
):

    def with_suffix(draft: Draft, given_suffix: str = given_suffix) -> Made:
        return draft.named(given_suffix), draft.text().encode()

    for taker in TEXTS:
        WAYS[taker][f"a text called {given_suffix}"] = with_suffix


# Tables


@way(*TABLES)
def same_column_twice(draft: Draft) -> Made:
    header, *rows = draft.rows()
    return csv_of(draft, [[*header, *header], *([*row, *row] for row in rows)])


@way(*TABLES)
def columns_without_names(draft: Draft) -> Made:
    header, *rows = draft.rows()
    return csv_of(draft, [[""] * len(header), *rows])


@way(*TABLES)
def very_many_columns(draft: Draft) -> Made:
    header, *rows = draft.rows(20)
    more = draft.draw.choice([300, 5_000, 50_000])
    named = [*header, *(f"c{n}" for n in range(more))]
    return csv_of(draft, [named, *([*row, *["x"] * more] for row in rows)])


@way(*TABLES)
def rows_of_all_lengths(draft: Draft) -> Made:
    return csv_of(
        draft,
        [row[: draft.draw.randint(0, len(row))] + ["x"] * draft.draw.randint(0, 3) for row in draft.rows()],
    )


@way(*TABLES)
def one_row_many_times(draft: Draft) -> Made:
    header, row, *_more = draft.rows()
    return csv_of(draft, [header, *[row] * 3_000])


@way(*TABLES)
def two_delimiters(draft: Draft) -> Made:
    text = draft.csv(delimiter=",") + draft.csv(delimiter=";")
    return draft.named(".csv"), text.encode()


@way(*TABLES)
def odd_delimiter(draft: Draft) -> Made:
    return draft.named(".csv"), draft.csv(
        delimiter=draft.draw.choice(["\x1f", "|", ":", "^", "\u2063"])
    ).encode()


@way("pairs")
def scores_that_are_none(draft: Draft) -> Made:
    odd = [
        "1e400",
        "NaN",
        "Infinity",
        "-inf",
        "1,5",
        "٣",
        "9" * 5000,
        "0x10",
        "1_000",
        "",
        "True",
        "5e-324",
        "--1",
        "1e309",
    ]
    header, *rows = draft.rows()
    return csv_of(draft, [header, *([a, b, draft.draw.choice(odd), split] for a, b, _score, split in rows)])


@way("pairs")
def one_score_that_is_none(draft: Draft) -> Made:
    rows = draft.rows()
    rows[-1][2] = draft.draw.choice(["1e400", "nan", "x"])
    return csv_of(draft, rows)


@way("pairs")
def splits_that_are_none(draft: Draft) -> Made:
    header, *rows = draft.rows()
    odd = ["x" * 300, "tr\0ain", "\u202etrain", "../test", "TRAIN ", "<b>"]
    return csv_of(draft, [header, *([*row[:3], draft.draw.choice(odd)] for row in rows)])


@way("pairs")
def ids_twice(draft: Draft) -> Made:
    header, *rows = draft.rows()
    return csv_of(draft, [[*header, "id"], *([*row, str(n // 3)] for n, row in enumerate(rows))])


@way("pairs")
def a_pair_with_two_scores(draft: Draft) -> Made:
    header, first, *rows = draft.rows()
    return csv_of(draft, [header, first, [*first[:2], "5", "train"], [first[1], first[0], "0", "dev"], *rows])


@way("pairs", "sentences", "judgements")
def many_rows_then_garbage(draft: Draft) -> Made:
    """More rows than a request imports, so that a worker does, and what it cannot read at the end."""
    count = AT_ONCE_ROWS + 5_000
    if draft.place == "judgements":
        text = draft.csv(60) + draft.csv(3_000).split("\n", 1)[1]
    elif draft.place == "sentences":
        text = "".join(f"{draft.sentence(row)}\n" for row in range(60_000))
    else:
        text = "sentence1,sentence2,score\n" + "".join(
            f"{draft.sentence(row)},{draft.sentence(row, 'b')},{row % 6}\n" for row in range(count)
        )
    end = draft.draw.choice(
        [garbage(draft.draw, 900), b'"open', b"\0" * 900, b"\xff\xfe", b"", b"x" * 2_000_000]
    )
    return draft.named(), text.encode() + end


@way("pairs")
def some_chunks_then_garbage(draft: Draft) -> Made:
    """As many rows as several transactions of a request write, and garbage behind."""
    rows = "".join(f"{draft.sentence(n)},{draft.sentence(n, 'b')},{n % 6}\n" for n in range(6_000))
    end = draft.draw.choice([garbage(draft.draw, 900), b'"open', b"\xff\xfe\0", b"A.,B.,nan\n"])
    return draft.named(), b"sentence1,sentence2,score\n" + rows.encode() + end


@way("judgements")
def answers_that_are_none(draft: Draft) -> Made:
    header, *rows = draft.rows()
    for row in rows[:: draft.draw.randint(1, 9)]:
        row[4] = draft.draw.choice(["", "none of them", row[5], "0", "\u202e"])
    return csv_of(draft, [header, *rows])


@way("judgements")
def the_same_item_twice(draft: Draft) -> Made:
    header, *rows = draft.rows()
    return csv_of(draft, [header, *([row[0], row[0], *row[2:]] for row in rows)])


@way("judgements")
def items_alone(draft: Draft) -> Made:
    return csv_of(draft, [row[:4] for row in draft.rows()])


@way("judgements")
def many_positions(draft: Draft) -> Made:
    header = [*(f"Item{n + 1}" for n in range(60)), "BestItem", "WorstItem"]
    items = [draft.sentence(n) for n in range(60)]
    return csv_of(draft, [header, *([*items, items[n % 60], items[(n + 7) % 60]] for n in range(30))])


def csv_of(draft: Draft, rows: list[list[str]]) -> Made:
    return draft.named(".csv"), "".join(",".join(map(quoted, row)) + "\n" for row in rows).encode(
        errors="surrogatepass"
    )


# JSON


@way(*LINES)
def good_lines(draft: Draft) -> Made:
    return draft.named(".jsonl"), "\n".join(draft.jsonl()).encode()


@way(*LINES)
def cut_lines(draft: Draft) -> Made:
    return draft.named(".jsonl"), cut("\n".join(draft.jsonl()).encode(), draft.draw)


def with_line(label: str, line: Callable[[Draft], str]) -> None:
    def make(draft: Draft) -> Made:
        lines = draft.jsonl()
        lines.insert(draft.draw.randrange(len(lines) + 1), line(draft))
        return draft.named(".jsonl"), "\n".join(lines).encode(errors="surrogatepass")

    for place in LINES:
        WAYS[place][f"a line of JSON, {label}"] = make


def value_in(draft: Draft, value: str) -> str:
    key = "sentence1" if draft.place == "pairs" else "text"
    return f'{{"{key}": {value}, "sentence2": "B."}}'


with_line("very deep", lambda draft: "[" * 200_000)
with_line("very deep and closed", lambda draft: "[" * 50_000 + "]" * 50_000)
with_line("very deep objects", lambda draft: '{"a":' * 50_000)
with_line("deep in a field", lambda draft: value_in(draft, "[" * 900 + "]" * 900))
with_line("a list in a field", lambda draft: value_in(draft, '["A.", {"b": null}]'))
with_line("a number in a field", lambda draft: value_in(draft, "9" * 6_000))
with_line("a float in a field", lambda draft: value_in(draft, "1e999"))
with_line("NaN", lambda draft: value_in(draft, "NaN"))
with_line("half a character", lambda draft: value_in(draft, '"A \\ud800 dog."'))
with_line("a NUL", lambda draft: value_in(draft, '"A \\u0000 dog."'))
with_line(
    "the same key twice",
    lambda draft: '{"text": "A.", "text": "B.", "sentence1": "C.", "sentence1": "D.", "sentence2": "E."}',
)
with_line("a list", lambda draft: '["A.", "B.", 3]')
with_line("a text", lambda draft: '"A."')
with_line("nothing", lambda draft: "null")
with_line("empty", lambda draft: "{}")
with_line(
    "keys that are names of Python",
    lambda draft: '{"__class__": "x", "__proto__": {"a": 1}, "constructor": 2}',
)
with_line("100,000 keys", lambda draft: "{" + ",".join(f'"k{n}": {n}' for n in range(100_000)) + "}")
with_line("300,000 objects", lambda draft: '{"text": "A.", "more": [' + ",".join(["{}"] * 300_000) + "]}")
with_line("no JSON", lambda draft: "{'text': 'A.'}")
with_line("a mark of order", lambda draft: '\ufeff{"text": "A."}')


@way(*LINES)
def one_document_of_json(draft: Draft) -> Made:
    return draft.named(".json"), json.dumps([json.loads(line) for line in draft.jsonl()], indent=1).encode()


# Parquet and folders of datasets


@way(*PACKED)
def good_parquet(draft: Draft) -> Made:
    return draft.named(".parquet"), draft.parquet(
        draft.draw.choice(["zstd", "snappy", "gzip", "none", "brotli", "lz4"])
    )


@way(*PACKED)
def cut_parquet(draft: Draft) -> Made:
    return draft.named(".parquet"), cut(draft.parquet(), draft.draw)


@way(*PACKED)
def parquet_without_its_middle(draft: Draft) -> Made:
    content = draft.parquet()
    return draft.named(".parquet"), content[:8] + content[len(content) // 2 :]


@way(*PACKED)
def bits_of_parquet(draft: Draft) -> Made:
    content = draft.parquet("none")
    half = len(content) // 2
    return draft.named(".parquet"), flipped(content[:half], draft.draw) + content[half:]


@way(*PACKED)
def tables_of_parquet(draft: Draft) -> Made:
    """What the file says of itself, changed."""
    content = draft.parquet()
    size = struct.unpack("<I", content[-8:-4])[0]
    begin = len(content) - 8 - size
    return draft.named(".parquet"), content[:begin] + flipped(content[begin:-8], draft.draw, 3) + content[-8:]


@way(*PACKED)
def parquet_of_a_huge_size(draft: Draft) -> Made:
    content = draft.parquet()
    return draft.named(".parquet"), content[:-8] + struct.pack(
        "<I", draft.draw.choice([0, 2**31, 2**32 - 1])
    ) + b"PAR1"


@way(*PACKED)
def parquet_of_odd_types(draft: Draft) -> Made:
    odd = {
        "sentence1": pa.array([b"\xff\xfe", b"A.", None] * 5),
        "sentence2": pa.array(["B.", None, "C\0."] * 5),
        "score": pa.array([float("nan"), float("inf"), -1e308] * 5),
        "text": pa.array([{"a": [1]}, None, {"a": None}] * 5),
        "more": pa.array([[None, 1], [], None] * 5),
    }
    made = io.BytesIO()
    pq.write_table(pa.table(odd), made)
    return draft.named(".parquet"), made.getvalue()


@way(*PACKED)
def parquet_that_unpacks_to_much(draft: Draft) -> Made:
    name = draft.draw.choice(sorted(HOSTILE))
    return draft.named(".parquet"), bomb_of_parquet(name)


@cache
def bomb_of_parquet(name: str) -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "bomb.parquet"
        HOSTILE[name](path)
        return path.read_bytes()


def zipped(files: dict[str, bytes], kind: int = zipfile.ZIP_DEFLATED) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", kind) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return made.getvalue()


def folder_of(draft: Draft) -> dict[str, bytes]:
    return {"data/train-00000-of-00001.parquet": draft.parquet()}


@way(*PACKED)
def good_folder(draft: Draft) -> Made:
    return draft.named(".zip"), zipped(folder_of(draft))


@way(*PACKED)
def cut_folder(draft: Draft) -> Made:
    return draft.named(".zip"), cut(zipped(folder_of(draft)), draft.draw)


@way(*PACKED)
def bits_of_a_folder(draft: Draft) -> Made:
    return draft.named(".zip"), b"PK\x03\x04" + flipped(zipped(folder_of(draft))[4:], draft.draw)


@way(*PACKED)
def folder_with_paths(draft: Draft) -> Made:
    bad = draft.draw.choice(
        [
            "../../../evil.parquet",
            "/var/evil.parquet",
            "..\\evil.parquet",
            "a/../../evil.parquet",
            "C:\\evil.parquet",
        ]
    )
    return draft.named(".zip"), zipped({bad: draft.parquet(), **folder_of(draft)})


@way(*PACKED)
def folder_with_a_link(draft: Draft) -> Made:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        link = zipfile.ZipInfo("data/test.parquet")
        link.create_system, link.external_attr = 3, 0o120777 << 16
        archive.writestr(link, draft.draw.choice(["/etc/passwd", "../../../semblance.sqlite3", "."]))
        for name, content in folder_of(draft).items():
            archive.writestr(name, content)
    return draft.named(".zip"), made.getvalue()


@way(*PACKED)
def folder_with_a_device(draft: Draft) -> Made:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        pipe = zipfile.ZipInfo("data/train.parquet")
        pipe.create_system, pipe.external_attr = 3, draft.draw.choice([0o010666, 0o020666, 0o140666]) << 16
        archive.writestr(pipe, draft.parquet())
    return draft.named(".zip"), made.getvalue()


@way(*PACKED)
def folder_of_many_files(draft: Draft) -> Made:
    count = draft.draw.choice([1_500, 12_000])
    return draft.named(".zip"), many_files(count)


@cache
def many_files(count: int) -> bytes:
    return zipped({f"data/{n}.parquet": b"" for n in range(count)}, zipfile.ZIP_STORED)


@way(*PACKED)
def folder_that_unpacks_to_much(draft: Draft) -> Made:
    return draft.named(".zip"), zip_bomb(draft.draw.choice([400, 1_500]))


@cache
def zip_bomb(megabytes: int) -> bytes:
    made = io.BytesIO()
    with (
        zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("data/train.parquet", "w", force_zip64=True) as file,
    ):
        for _block in range(megabytes):
            file.write(b"\0" * 1_000_000)
    return made.getvalue()


@way(*PACKED)
def folder_that_lies_about_sizes(draft: Draft) -> Made:
    content = bytearray(zipped({"data/train.parquet": b"\0" * 3_000_000}))
    for mark, offset in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):
        place = content.index(mark) + offset
        content[place : place + 4] = struct.pack("<I", 100)
    return draft.named(".zip"), bytes(content)


@way(*PACKED)
def folder_that_is_locked(draft: Draft) -> Made:
    content = bytearray(zipped(folder_of(draft)))
    content[content.index(b"PK\x01\x02") + 8] |= 1
    content[6] |= 1
    return draft.named(".zip"), bytes(content)


@way(*PACKED)
def folder_in_an_unknown_packing(draft: Draft) -> Made:
    content = bytearray(zipped(folder_of(draft)))
    place = content.index(b"PK\x01\x02") + 10
    content[place : place + 2] = content[8:10] = struct.pack("<H", draft.draw.choice([1, 9, 97, 98, 255]))
    return draft.named(".zip"), bytes(content)


@way(*PACKED)
def folder_in_a_folder(draft: Draft) -> Made:
    content = zipped(folder_of(draft))
    for _level in range(20):
        content = zipped({"data.zip": content})
    return draft.named(".zip"), content


@way(*PACKED)
def folder_of_other_things(draft: Draft) -> Made:
    bad = draft.draw.choice(
        [
            {"train.py": b"import os", "dataset_infos.json": b"[" * 100_000},
            {"state.json": b"[" * 100_000, "dataset_info.json": b"{}"},
            {"state.json": b'{"_data_files": [{"filename": "../../x.arrow"}]}', "dataset_info.json": b"{}"},
            {
                "state.json": b'{"_data_files": 7}',
                "dataset_info.json": b"null",
                "data-00000-of-00001.arrow": b"x",
            },
            {"README.md": b"---\nconfigs: &a [*a]\n---\n", **folder_of(draft)},
            {
                "README.md": b"---\n" + b"a: &a [x,x]\n" + b"b: [*a,*a,*a,*a]\n" * 900 + b"---\n",
                **folder_of(draft),
            },
            {"README.md": b"---\nconfigs:\n- data_files: /etc/*\n---\n", **folder_of(draft)},
            {"README.md": b"---\n!!python/object/apply:os.system [id]\n---\n", **folder_of(draft)},
            {"xl/workbook.xml": b"<a/>", "[Content_Types].xml": b"<a/>"},
            {"data/train.parquet": b"PAR1", "data/test.parquet": draft.parquet()},
            {"data/train.parquet": draft.parquet(), "data/test.parquet": bomb_of_parquet("many_columns")},
            {"data/train.parquet/": b"", "data/train.parquet": draft.parquet()},
            {"x" * 300 + ".parquet": draft.parquet()},
            {"/".join(["d"] * 400) + "/a.parquet": draft.parquet()},
            {"data/a.parquet/b.parquet": draft.parquet(), "data/a.parquet": draft.parquet()},
            {},
        ]
    )
    return draft.named(".zip"), zipped(bad)


@way(*PACKED)
def two_files_of_one_name(draft: Draft) -> Made:
    made = zipped({"data/train.parquet": draft.parquet(), "data/trbin.parquet": garbage(draft.draw)})
    return draft.named(".zip"), made.replace(b"trbin", b"train")


@way(*PACKED)
def zip_behind_text(draft: Draft) -> Made:
    return draft.named(".csv"), draft.text().encode() + zipped(folder_of(draft))


# gzip


@way("sentences", "text", "pairs")
def good_gzip(draft: Draft) -> Made:
    return draft.named(f"{draft.suffix}.gz"), gzip.compress(draft.text().encode())


@way("sentences", "text", "pairs")
def cut_gzip(draft: Draft) -> Made:
    return draft.named(f"{draft.suffix}.gz"), cut(gzip.compress(draft.text().encode()), draft.draw)


@way("sentences", "text", "pairs")
def bits_of_gzip(draft: Draft) -> Made:
    content = gzip.compress(draft.text().encode())
    return draft.named(f"{draft.suffix}.gz"), content[:4] + flipped(content[4:], draft.draw)


@way("sentences", "text")
def gzip_that_unpacks_to_much(draft: Draft) -> Made:
    return draft.named(f"{draft.suffix}.gz"), gzip_bomb(draft.draw.choice([b"\0", b"\n", b"A dog runs. "]))


@cache
def gzip_bomb(piece: bytes) -> bytes:
    packer = zlib.compressobj(1, zlib.DEFLATED, 31)
    block = piece * (1_000_000 // len(piece))
    return b"".join(packer.compress(block) for _block in range(300)) + packer.flush()


@way("sentences", "text")
def gzip_with_more_behind(draft: Draft) -> Made:
    return draft.named(f"{draft.suffix}.gz"), gzip.compress(draft.text().encode()) + garbage(draft.draw)


@way("sentences", "text")
def gzip_in_gzip(draft: Draft) -> Made:
    content = draft.text().encode()
    for _level in range(5):
        content = gzip.compress(content)
    return draft.named(f"{draft.suffix}.gz"), content


@way("sentences", "text")
def many_gzips(draft: Draft) -> Made:
    return draft.named(f"{draft.suffix}.gz"), b"".join(
        gzip.compress(f"{draft.sentence(n)}\n".encode()) for n in range(500)
    )


# Running text


@way("text")
def one_endless_sentence(draft: Draft) -> Made:
    return draft.named(), b"and then the dog ran on " * 60_000


@way("text")
def only_marks(draft: Draft) -> Made:
    return draft.named(), ("." * 100_000 + "!?" * 50_000 + "\u3002" * 10_000).encode()


@way("text")
def many_tiny_documents(draft: Draft) -> Made:
    return draft.named(), b"".join(b"A dog %d.\n\n" % n for n in range(20_000))
