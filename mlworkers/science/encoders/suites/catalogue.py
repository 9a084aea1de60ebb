"""The suites by name: which files each looks for, how those are laid out, and what is measured on them.

The files are not ours to give: each suite says where its publisher has them and under which names they are looked for.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from hashlib import sha256
from pathlib import Path

import numpy as np

from curation.files.parsing import FileError
from mlworkers.science.encoders.measuring import Metric
from mlworkers.science.encoders.scored_pairs import FEWEST_PAIRS, JudgedPairs
from mlworkers.science.encoders.suites.layouts import (
    Layout,
    Part,
    Values,
    judged_pairs,
    lines_of,
    part_read,
    score_read,
    sentence_read,
)

DRAWN_BY = 42  # the seed of the parts that a suite draws: RISE shuffles PAWS-QQP with it
QQP_DEV_SHARE = 0.05  # RISE, table 8: 18.1k dev pairs are a twentieth of GLUE's 363,846 training pairs


class Task(StrEnum):
    """What people gave the pairs of a suite: scores, one of two labels, or one of several classes."""

    SCORES = "scores"
    LABELS = "labels"
    CLASSES = "classes"

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """What a cosine is measured by; nothing where a cosine cannot decide between the classes."""
        if self is Task.SCORES:
            return Metric.SPEARMAN, Metric.PEARSON
        return (Metric.ACCURACY, Metric.F1) if self is Task.LABELS else ()


@dataclass(frozen=True)
class Read:
    """The files of a suite as they were read. dev: the pairs that thresholds are tuned on; train: those of a probe.

    without_gold: test and dev pairs that people agreed on no label for, which are left out, as everybody does.
    files: the SHA-256 of each, by its name. notes: sentences for people about how the parts were made.
    """

    test: JudgedPairs
    dev: JudgedPairs | None = None
    train: JudgedPairs | None = None
    without_gold: int = 0
    files: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Suite:
    """name: as it is typed. label: as people write it. read: from a folder or the test file to its pairs.

    looks_for: the names of its files, for people. probe: whether a classifier on frozen vectors is trained on its train
    part. expects: the number of test pairs of the published suite, 0 where it has none.
    """

    name: str
    label: str
    task: Task
    looks_for: str
    reads: Callable[[Path], Read]
    probe: bool = False
    expects: int = 0

    def read(self, path: Path) -> Read:
        """Raises FileError with one sentence that names the suite, the file and what is wrong."""
        try:
            read = self.reads(path)
            parts = [("test", read.test), *([("dev", read.dev)] if read.dev else [])]
            for what, pairs in parts:
                if len(pairs) < FEWEST_PAIRS:
                    raise FileError(
                        f"{pairs.name} holds too few {what} pairs, {len(pairs)}; {FEWEST_PAIRS} are needed."
                    )
                if len(set(pairs.values)) == 1:
                    kind = "score" if self.task is Task.SCORES else "label"
                    raise FileError(
                        f"Every {kind} of the {what} pairs in {pairs.name} is {pairs.values[0]:g}."
                    )
            notes = list(read.notes)
            for _what, pairs in parts:
                notes += [f"{pairs.name}: {warning}" for warning in pairs.warnings]
            if read.dev and (shared := read.test.shared_with(read.dev)):
                notes.append(
                    f"{shared} test pairs stand among the dev pairs too, so thresholds were tuned on them."
                )
            if read.without_gold:
                notes.append(f"{read.without_gold} test and dev pairs without a gold label were left out.")
            found = replace(read, notes=tuple(dict.fromkeys(notes)))
        except FileError as error:
            raise FileError(f"{self.label}: {error}") from error
        if self.expects and len(found.test) != self.expects:
            note = (
                f"The published test set has {self.expects:,} pairs and this one {len(found.test):,}: its figures "
                "cannot be compared with published ones."
            )
            found = replace(found, notes=(*found.notes, note))
        return found


def suite_named(name: str) -> Suite:
    """Raises ValueError with the suites there are."""
    if name not in SUITES:
        raise ValueError(f"There is no suite “{name}”; the suites are {', '.join(SUITES)}.")
    return SUITES[name]


# ---- finding files


def _found(folder: Path, names: Sequence[str], what: str) -> Path:
    path = _perhaps(folder, names)
    if path is None:
        if not folder.is_dir():
            raise FileError(f"{folder} is not a folder; give the folder with {' or '.join(names)}.")
        raise FileError(f"{folder} holds no {what} file; looked for {', '.join(names)}.")
    return path


def _perhaps(folder: Path, names: Sequence[str]) -> Path | None:
    return next((folder / name for name in names if (folder / name).is_file()), None)


def _digests(*paths: Path | None) -> tuple[tuple[str, str], ...]:
    unique = dict.fromkeys(path for path in paths if path is not None)
    return tuple((path.name, sha256(path.read_bytes()).hexdigest()) for path in unique)


def _of_files(
    layouts: Sequence[Layout],
    *,
    test: Sequence[str],
    dev: Sequence[str] = (),
    train: Sequence[str] = (),
    needs_dev: bool,
) -> Callable[[Path], Read]:
    """Read a suite with a file for each part, or one file with a column that says the part."""

    def read(path: Path) -> Read:
        folder, tested = (path.parent, path) if path.is_file() else (path, _found(path, test, "test"))
        tuned = _found(folder, dev, "dev") if needs_dev else _perhaps(folder, dev)
        learned = _perhaps(folder, train)
        parts = {
            part: part_read(file, layouts, part=part)
            for part, file in (("test", tested), ("dev", tuned), ("train", learned))
            if file is not None
        }
        return _read(parts, _digests(tested, tuned, learned))

    return read


def _read(parts: dict[str, Part], files: tuple[tuple[str, str], ...], *notes: str) -> Read:
    measured = [parts[name] for name in ("test", "dev") if name in parts]
    return Read(
        test=parts["test"].pairs,
        dev=parts["dev"].pairs if "dev" in parts else None,
        train=parts["train"].pairs if "train" in parts else None,
        without_gold=sum(part.without_gold for part in measured),
        files=files,
        notes=notes,
    )


# ---- STS benchmark, SICK, SNLI

_STS_SCALE = (0.0, 5.0)  # Spearman's and Pearson's correlations do not change with the scale
_STSB = (
    Layout("the STS benchmark's own layout", 5, 6, 4, _STS_SCALE, source=0, header=False, cells=7),
    Layout("GLUE's STS-B", "sentence1", "sentence2", "score", _STS_SCALE, source="genre"),
    Layout("a plain CSV", 0, 1, 2, _STS_SCALE, header=None, delimiter=",", cells=3),
)
_SICK_SPLIT = ("SemEval_set", {"train": "TRAIN", "dev": "TRIAL", "test": "TEST"})
_SICK_CLASSES = {"CONTRADICTION": 0.0, "NEUTRAL": 1.0, "ENTAILMENT": 2.0}
_SICK_FILES = {
    "test": ("SICK_test_annotated.txt", "SICK.txt"),
    "dev": ("SICK_trial.txt", "SICK.txt"),
    "train": ("SICK_train.txt", "SICK.txt"),
}


def _sick(column: str, semeval: str, values: Values) -> tuple[Layout, Layout]:
    return (
        Layout("SICK.txt", "sentence_A", "sentence_B", column, values, split=_SICK_SPLIT),
        Layout("SICK of SemEval 2014", "sentence_A", "sentence_B", semeval, values),
    )


# Two labels of three: entailment against the rest, because one threshold on a cosine makes two classes.
_SNLI_LABELS = {"entailment": 1.0, "neutral": 0.0, "contradiction": 0.0}
_SNLI_NUMBERS = {"0": 1.0, "1": 0.0, "2": 0.0}
# “-”: no label has three of the five annotators (Bowman et al. 2015).
_SNLI = (
    Layout("SNLI 1.0", "sentence1", "sentence2", "gold_label", _SNLI_LABELS, without_gold=frozenset("-")),
    Layout(
        "SNLI 1.0",
        "sentence1",
        "sentence2",
        "gold_label",
        _SNLI_LABELS,
        delimiter="json",
        without_gold=frozenset("-"),
    ),
    Layout(
        "SNLI with numbers (0 entailment, 1 neutral, 2 contradiction)",
        0,
        1,
        2,
        _SNLI_NUMBERS,
        header=None,
        cells=3,
        without_gold=frozenset(("-", "-1")),
    ),
)


# ---- MRPC, QQP, PAWS

_BINARY = {"0": 0.0, "1": 1.0}
_MRPC = (Layout("MRPC", "#1 String", "#2 String", "Quality", _BINARY),)
_QQP_GLUE = Layout("GLUE's QQP", "question1", "question2", "is_duplicate", _BINARY, broken_rows=True)
_QQP_WANG = Layout("Wang et al.'s QQP (2017)", 1, 2, 0, _BINARY, header=False, cells=4)
_PAWS = (Layout("PAWS", "sentence1", "sentence2", "label", _BINARY),)


def _mrpc(path: Path) -> Read:
    folder = path.parent if path.is_file() else path
    tested = path if path.is_file() else _found(folder, ("msr_paraphrase_test.txt", "test.tsv"), "test")
    learned = _found(folder, ("msr_paraphrase_train.txt", "train.tsv"), "train")
    tuned = _perhaps(folder, ("dev.tsv", "msr_paraphrase_dev.txt"))
    parts = {"test": part_read(tested, _MRPC), "train": part_read(learned, _MRPC)}
    parts["dev"] = parts["train"] if tuned is None else part_read(tuned, _MRPC)
    note = () if tuned else (f"Thresholds were tuned on {learned.name}, because there is no dev.tsv.",)
    return _read(parts, _digests(tested, tuned, learned), *note)


def _qqp(path: Path) -> Read:
    folder = path.parent if path.is_file() else path
    if (folder / "quora_duplicate_questions.tsv").is_file() and _perhaps(folder, ("dev.tsv",)) is None:
        raise FileError(
            "quora_duplicate_questions.tsv is not split; give GLUE's train.tsv and dev.tsv, or Wang et al.'s "
            "dev.tsv and test.tsv."
        )
    dev = _found(folder, ("dev.tsv",), "dev")
    with dev.open("rb") as file:
        is_glue = b"question1" in file.readline()
    if not is_glue:
        tested = path if path.is_file() else _found(folder, ("test.tsv",), "test")
        parts = {"test": part_read(tested, [_QQP_WANG]), "dev": part_read(dev, [_QQP_WANG])}
        return _read(parts, _digests(tested, dev))
    train = _found(folder, ("train.tsv",), "train")
    learned = part_read(train, [_QQP_GLUE])
    count = max(FEWEST_PAIRS, round(QQP_DEV_SHARE * len(learned.pairs)))
    # Without replacement.
    drawn = np.sort(np.random.default_rng(DRAWN_BY).permutation(len(learned.pairs))[:count])
    parts = {
        "test": part_read(dev, [_QQP_GLUE]),
        "dev": replace(learned, pairs=learned.pairs.taken(drawn.tolist())),
    }
    return _read(
        parts,
        _digests(dev, train),
        "GLUE publishes no labels of its test pairs, so its dev.tsv is the test here.",
        f"Thresholds were tuned on {count:,} pairs drawn from train.tsv (a twentieth, seed {DRAWN_BY}).",
    )


def _paws(path: Path) -> Read:
    """PAWS-QQP has one file for dev and test, which is halved within each label, as RISE does (appendix E)."""
    folder = path.parent if path.is_file() else path
    both = (
        path
        if path.is_file() and path.name == "dev_and_test.tsv"
        else _perhaps(folder, ("dev_and_test.tsv",))
    )
    if both is None:
        return _of_files(_PAWS, test=("test.tsv",), dev=("dev.tsv",), needs_dev=True)(path)
    whole = part_read(both, _PAWS)
    values = np.array(whole.pairs.values)
    generator = np.random.default_rng(DRAWN_BY)
    dev: list[int] = []
    for label in (0.0, 1.0):
        rows = generator.permutation(np.flatnonzero(values == label))
        dev += rows[: rows.size // 2].tolist()  # an odd row goes to the test
    chosen = set(dev)
    test = [row for row in range(values.size) if row not in chosen]
    parts = {
        "test": replace(whole, pairs=whole.pairs.taken(test)),
        "dev": replace(whole, pairs=whole.pairs.taken(sorted(dev)), without_gold=0),
    }
    return _read(
        parts,
        _digests(both),
        f"dev_and_test.tsv was halved within each label (seed {DRAWN_BY}): thresholds on one half, figures on the "
        "other. RISE halves it too, but which pairs are in which half is not published.",
    )


# ---- STS 2012 to 2016


def _sts_year(year: int, left_out: Sequence[str] = ()) -> Callable[[Path], Read]:
    """A year's subsets, each a file of pairs (STS.input.NAME.txt) and one of scores (STS.gs.NAME.txt)."""

    def read(folder: Path) -> Read:
        if not folder.is_dir():
            raise FileError(
                f"{folder} is not a folder; give the folder with STS.input.*.txt and STS.gs.*.txt."
            )
        inputs = sorted(
            path
            for pattern in ("STS.input.*.txt", f"STS{year}.input.*.txt")
            for path in folder.glob(pattern)
            if _subset(path) not in ("ALL", *left_out)  # ALL would count every pair twice
        )
        if not inputs:
            raise FileError(
                f"{folder} holds no STS.input.*.txt; give the folder of the test files of {year}."
            )
        rows: list[tuple[str, str, float, str]] = []
        warnings: list[str] = []
        golds: list[Path] = []
        without = 0
        for path in inputs:
            gold = path.with_name(path.name.replace(".input.", ".gs."))
            golds.append(gold)
            found, missing, said = _sts_subset(path, gold)
            rows += found  # one list: the “all” aggregation of STS12 to STS16
            without += missing
            warnings += said
        notes = (f"Subset {name} is left out of {year}, as usual." for name in left_out if _has(folder, name))
        pairs = judged_pairs(folder.name, rows, warnings)
        return Read(pairs, without_gold=without, files=_digests(*inputs, *golds), notes=tuple(notes))

    return read


def _subset(path: Path) -> str:
    return path.name.partition(".input.")[2].removesuffix(".txt")


def _has(folder: Path, subset: str) -> bool:
    return any(_subset(path) == subset for path in folder.glob("*.input.*.txt"))


def _sts_subset(path: Path, gold: Path) -> tuple[list[tuple[str, str, float, str]], int, list[str]]:
    if not gold.is_file():
        raise FileError(f"{path.parent} holds {path.name} but no {gold.name} with its scores.")
    (pairs, warnings), (scores, _same) = lines_of(path), lines_of(gold)
    # The scores of the last pairs may be missing, which are empty lines: an editor may have cut them off.
    if len(pairs) != len(scores):
        raise FileError(
            f"{path.name} has {len(pairs):,} lines and {gold.name} {len(scores):,}; they must match."
        )
    rows, without = [], 0
    for line, (pair, score) in enumerate(zip(pairs, scores, strict=True), 1):
        if not score.strip():
            without += 1
            continue
        cells = pair.split("\t")
        if len(cells) < 2:
            raise FileError(f"{path.name}, line {line}: no tab between two sentences.")
        try:
            first, second = sentence_read(cells[0]), sentence_read(cells[1])
        except ValueError as error:
            raise FileError(f"{path.name}, line {line}: {error}; mend or remove the row.") from error
        try:
            value = score_read(score.strip(), _STS_SCALE)
        except ValueError as error:
            raise FileError(f"{gold.name}, line {line}: {error}.") from error
        rows.append((first, second, value, _subset(path)))
    return rows, without, [f"{path.name}: {warning}" for warning in warnings]


_IN_FOLDER = "STS.input.NAME.txt and STS.gs.NAME.txt"
SUITES: dict[str, Suite] = {
    suite.name: suite
    for suite in (
        Suite(
            "stsb",
            "STS benchmark",
            Task.SCORES,
            "sts-test.csv, or test.tsv with scores, or stsb-en-test.csv",
            _of_files(
                _STSB,
                test=("sts-test.csv", "stsb-en-test.csv", "test.tsv", "test.csv"),
                needs_dev=False,
            ),
            expects=1379,
        ),
        # MSRpar 750, MSRvid 750, OnWN 750, SMTeuroparl 459, SMTnews 399.
        Suite("sts12", "STS12", Task.SCORES, _IN_FOLDER, _sts_year(2012), expects=3108),
        # FNWN 189, headlines 750, OnWN 561; without the 750 pairs of SMT.
        Suite("sts13", "STS13", Task.SCORES, _IN_FOLDER, _sts_year(2013, ["SMT"]), expects=1500),
        # deft-forum 450, deft-news 300, headlines 750, images 750, OnWN 750, tweet-news 750.
        Suite("sts14", "STS14", Task.SCORES, _IN_FOLDER, _sts_year(2014), expects=3750),
        # answers-forums 375, answers-students 750, belief 375, headlines 750, images 750.
        Suite("sts15", "STS15", Task.SCORES, _IN_FOLDER, _sts_year(2015), expects=3000),
        # answer-answer 254, headlines 249, plagiarism 230, postediting 244, question-question 209.
        Suite("sts16", "STS16", Task.SCORES, _IN_FOLDER, _sts_year(2016), expects=1186),
        Suite(
            "sick-r",
            "SICK-R",
            Task.SCORES,
            "SICK_test_annotated.txt, or SICK.txt",
            _of_files(
                _sick("relatedness_score", "relatedness_score", (1.0, 5.0)),  # SICK's scores begin at 1
                test=_SICK_FILES["test"],
                needs_dev=False,
            ),
            expects=4927,
        ),
        Suite(
            "sick-e",
            "SICK-E",
            Task.CLASSES,
            "SICK_train.txt, SICK_trial.txt and SICK_test_annotated.txt, or SICK.txt",
            _of_files(
                _sick("entailment_label", "entailment_judgment", _SICK_CLASSES), **_SICK_FILES, needs_dev=True
            ),
            probe=True,
            expects=4927,
        ),
        Suite(
            "mrpc",
            "MRPC",
            Task.LABELS,
            "msr_paraphrase_train.txt and msr_paraphrase_test.txt, and GLUE's dev.tsv for the thresholds",
            _mrpc,
            probe=True,
            expects=1725,
        ),
        Suite(
            "qqp",
            "QQP",
            Task.LABELS,
            "GLUE's train.tsv and dev.tsv, or Wang et al.'s dev.tsv and test.tsv",
            _qqp,
        ),
        Suite("paws", "PAWS", Task.LABELS, "dev_and_test.tsv (PAWS-QQP), or dev.tsv and test.tsv", _paws),
        Suite(
            "snli",
            "SNLI, entailment",
            Task.LABELS,
            "snli_1.0_dev.txt and snli_1.0_test.txt, or the same as .jsonl",
            _of_files(
                _SNLI,
                test=("snli_1.0_test.txt", "snli_1.0_test.jsonl", "snli-test.tsv", "test.tsv"),
                dev=("snli_1.0_dev.txt", "snli_1.0_dev.jsonl", "snli-dev.tsv", "dev.tsv"),
                needs_dev=True,
            ),
            expects=9824,
        ),
    )
}
