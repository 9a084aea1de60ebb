"""Every suite on files written here in its published layout, and what is said where a file is not."""

import gzip
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.stats import spearmanr
from sklearn.metrics import f1_score

from curation.files.parsing import FileError
from mlworkers.science.encoders.measuring import Metric
from mlworkers.science.encoders.suites.catalogue import SUITES, suite_named
from mlworkers.science.encoders.suites.figures import MEAN_OF_SOURCES, suite_figures, years_figures
from tests.hostile_files import stream_write

STSB = "main-news\tMSRpar\t2012test\t{n:04d}\t{score}\tA {n}.\tB {n}.\n"
SNLI_HEADER = (
    "gold_label\tsentence1_binary_parse\tsentence2_binary_parse\tsentence1\tsentence2\tcaptionID\tl1\n"
)
SNLI_ROWS = ["entailment", "neutral", "contradiction", "-", "entailment"]
MRPC_HEADER = "\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String\n"
GLUE_QQP = "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate\n"
SICK = "pair_ID\tsentence_A\tsentence_B\tentailment_label\trelatedness_score\tentailment_AB\tSemEval_set\n"


def written(path, text, newline="\n") -> None:
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_bytes(text.replace("\n", newline).encode("utf-8"))


def read(name, folder):
    return suite_named(name).read(folder)


def stsb(folder, rows, newline="\n"):
    written(folder / "sts-test.csv", "".join(rows), newline)
    return read("stsb", folder)


def test_the_sts_benchmark_s_own_files_have_genres_no_header_and_extra_columns(tmp_path) -> None:
    rows = [STSB.format(n=n, score=n) for n in range(4)]
    rows.append('main-forums\tanswer\t2015\t0005\t2.5\tHe said "no".\tHe said "yes".\tlicence\turl\n')

    found = stsb(tmp_path, rows)

    assert found.test.first[0] == "A 0."
    assert found.test.values == (0, 1, 2, 3, 2.5)
    assert found.test.sources == ("main-news",) * 4 + ("main-forums",)
    assert found.test.first[-1] == 'He said "no".'


def test_windows_line_ends_change_nothing(tmp_path) -> None:
    rows = [STSB.format(n=n, score=n) for n in range(4)]

    assert stsb(tmp_path / "unix", rows).test == stsb(tmp_path / "windows", rows, "\r\n").test


@pytest.mark.parametrize("header", ["", "sentence1,sentence2,score\n"])
def test_a_plain_csv_of_the_sts_benchmark_has_a_header_or_none(tmp_path, header) -> None:
    written(tmp_path / "stsb-en-test.csv", header + '"A, b",c,1\nd,e,2\nf,g,3\n')

    found = read("stsb", tmp_path)

    assert (found.test.first, found.test.values) == (("A, b", "d", "f"), (1, 2, 3))


def test_glue_s_sts_b_is_read_by_its_header(tmp_path) -> None:
    header = "index\tgenre\tfilename\tyear\told_index\tsource1\tsource2\tsentence1\tsentence2\tscore\n"
    rows = "".join(f"{n}\tmain-news\tf\t2012\t{n}\tx\ty\ta {n}\tb {n}\t{n}.5\n" for n in range(3))
    written(tmp_path / "test.tsv", header + rows)

    assert read("stsb", tmp_path).test.values == (0.5, 1.5, 2.5)


def test_a_test_set_of_another_size_is_said_not_to_be_comparable(tmp_path) -> None:
    found = stsb(tmp_path, [STSB.format(n=n, score=n) for n in range(4)])

    assert any("published test set has 1,379 pairs and this one 4" in note for note in found.notes)


def test_pairs_that_stand_twice_are_counted_and_kept(tmp_path) -> None:
    found = stsb(tmp_path, [STSB.format(n=n, score=s) for n, s in ((1, 1), (2, 2), (1, 3), (3, 4))])

    assert len(found.test) == 4
    assert any("1 pairs stand in the file more than once" in note for note in found.notes)


def test_sentences_between_quotation_marks_are_kept_and_counted(tmp_path) -> None:
    rows = [STSB.format(n=n, score=n) for n in range(3)]
    rows.append('main-news\tMSRpar\t2012\t4\t4\t"Quoted."\tNot.\n')

    found = stsb(tmp_path, rows)

    assert found.test.first[-1] == '"Quoted."'
    assert any("1 sentences are between quotation marks" in note for note in found.notes)


def sts_year(folder, subsets, prefix="STS"):
    for name, rows in subsets.items():
        written(folder / f"{prefix}.input.{name}.txt", "".join(f"{a}\t{b}\n" for a, b, _score in rows))
        written(folder / f"{prefix}.gs.{name}.txt", "".join(f"{score}\n" for _a, _b, score in rows))


SUBSETS = {
    "headlines": [(f"a {n}", f"b {n}", n / 2) for n in range(5)],
    "OnWN": [(f"c {n}", f"d {n}", 4 - n) for n in range(4)],
}


def test_a_year_of_sts_is_its_subsets_one_after_the_other(tmp_path) -> None:
    sts_year(tmp_path, SUBSETS)

    found = read("sts14", tmp_path)

    assert sorted(set(found.test.sources)) == ["OnWN", "headlines"]
    assert len(found.test) == 9


def test_pairs_without_a_score_are_left_out_of_a_year_and_counted(tmp_path) -> None:
    sts_year(
        tmp_path,
        {**SUBSETS, "belief": [("a", "b", 1), ("c", "d", ""), ("e", "f", 2), ("g", "h", "")]},
        "STS2015",
    )

    found = read("sts15", tmp_path)

    assert (len(found.test), found.without_gold) == (11, 2)
    assert any("2 test and dev pairs without a gold label" in note for note in found.notes)


def test_smt_is_left_out_of_2013_with_a_word(tmp_path) -> None:
    sts_year(tmp_path, {**SUBSETS, "SMT": SUBSETS["OnWN"]})

    found = read("sts13", tmp_path)

    assert "SMT" not in found.test.sources
    assert any("Subset SMT is left out" in note for note in found.notes)


def sick_rows(extra=""):
    classes = ("NEUTRAL", "ENTAILMENT", "CONTRADICTION")
    sets = ["TRAIN"] * 9 + ["TRIAL"] * 6 + ["TEST"] * 6
    return SICK + "".join(
        f"{n}\ta {n}\tb {n}\t{classes[n % 3]}\t{1 + n % 5}\tA_neutral_B\t{part}\n"
        for n, part in enumerate(sets)
    )


def test_sick_in_one_file_is_divided_by_its_column(tmp_path) -> None:
    written(tmp_path / "SICK.txt", sick_rows())

    related, entailed = read("sick-r", tmp_path), read("sick-e", tmp_path)

    assert (len(related.test), related.test.values[:2]) == (6, (1, 2))
    assert [len(part) for part in (entailed.train, entailed.dev, entailed.test)] == [9, 6, 6]
    assert set(entailed.test.values) == {0, 1, 2}


def test_sick_of_semeval_has_a_file_for_each_part(tmp_path) -> None:
    header = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
    for name in ("SICK_train.txt", "SICK_trial.txt", "SICK_test_annotated.txt"):
        rows = "".join(f"{n}\ta {n}\tb {n}\t{1 + n}\t{('NEUTRAL', 'ENTAILMENT')[n % 2]}\n" for n in range(4))
        written(tmp_path / name, header + rows, "\r\n")

    assert read("sick-r", tmp_path).test.values == (1, 2, 3, 4)
    assert read("sick-e", tmp_path).test.values == (1, 2, 1, 2)


def mrpc(count, start=0):
    return MRPC_HEADER + "".join(
        f"{n % 2}\t{n}\t{n}\tfirst {n}\tsecond {n}\n" for n in range(start, start + count)
    )


def test_mrpc_takes_glue_s_dev_pairs_for_thresholds(tmp_path) -> None:
    written(tmp_path / "msr_paraphrase_train.txt", mrpc(8))
    written(tmp_path / "dev.tsv", mrpc(4, 4))
    written(tmp_path / "msr_paraphrase_test.txt", mrpc(4, 20))

    found = read("mrpc", tmp_path)

    assert (len(found.train), len(found.dev), found.test.first[0]) == (8, 4, "first 20")


def test_mrpc_without_dev_pairs_tunes_on_the_training_pairs_and_says_so(tmp_path) -> None:
    written(tmp_path / "msr_paraphrase_train.txt", mrpc(8))
    written(tmp_path / "msr_paraphrase_test.txt", mrpc(4, 20))

    found = read("mrpc", tmp_path)

    assert len(found.dev) == 8
    assert any("tuned on msr_paraphrase_train.txt" in note for note in found.notes)


def qqp(count, start=0):
    return GLUE_QQP + "".join(f"{n}\t1\t2\tq {n}?\tr {n}?\t{n % 2}\n" for n in range(start, start + count))


def test_glue_s_qqp_is_tested_on_its_dev_pairs_and_rows_with_missing_cells_are_counted(tmp_path) -> None:
    written(tmp_path / "train.tsv", qqp(200) + "300\t1\t2\tbroken\n")
    written(tmp_path / "dev.tsv", qqp(6, 1000))

    found = read("qqp", tmp_path)

    assert (found.test.first[0], len(found.dev)) == ("q 1000?", 10)
    assert any(
        "1 rows with too few or too many cells were left out, the first on line 202" in n for n in found.notes
    )
    assert read("qqp", tmp_path).dev == found.dev


def test_wang_et_al_s_qqp_has_no_header(tmp_path) -> None:
    for name, start in (("dev.tsv", 0), ("test.tsv", 50)):
        rows = (f"{n % 2}\tq {n} ?\tr {n} ?\t{n}\n" for n in range(start, start + 4))
        written(tmp_path / name, "".join(rows))

    found = read("qqp", tmp_path)

    assert (found.test.first[0], found.dev.values) == ("q 50 ?", (0, 1, 0, 1))


def test_quora_s_own_file_is_refused_because_it_has_no_split(tmp_path) -> None:
    written(tmp_path / "quora_duplicate_questions.tsv", qqp(5))

    with pytest.raises(FileError, match=r"QQP: quora_duplicate_questions.tsv is not split; give GLUE's"):
        read("qqp", tmp_path)


def test_paws_qqp_is_halved_within_each_label_and_its_marks_of_bytes_are_removed(tmp_path) -> None:
    rows = "".join(f"{n}\tb'one {n}'\tb\"two {n}\"\t{int(n % 3 == 0)}\n" for n in range(12))
    written(tmp_path / "dev_and_test.tsv", "id\tsentence1\tsentence2\tlabel\n" + rows)

    found = read("paws", tmp_path)

    assert (sum(found.test.values), sum(found.dev.values)) == (2, 2)
    assert (len(found.test), len(found.dev), found.test.shared_with(found.dev)) == (6, 6, 0)
    assert all(not text.startswith("b") for text in found.test.first)
    assert any("as Python writes bytes" in note for note in found.notes)


def test_paws_wiki_has_a_file_for_each_part(tmp_path) -> None:
    for name in ("dev.tsv", "test.tsv"):
        rows = "".join(f"{n}\t{name} {n}\tother {n}\t{n % 2}\n" for n in range(4))
        written(tmp_path / name, "id\tsentence1\tsentence2\tlabel\n" + rows)

    assert read("paws", tmp_path).test.first[0] == "test.tsv 0"


def snli_row(n, label):
    return f"{label}\t( x )\t( y )\tpremise {n}\thypothesis {n}\tc\t{label}\n"


@pytest.mark.parametrize("form", ["txt", "jsonl"])
def test_snli_is_entailment_against_the_rest_without_pairs_of_no_gold_label(tmp_path, form) -> None:
    for part in ("dev", "test"):
        if form == "txt":
            text = SNLI_HEADER + "".join(snli_row(n, label) for n, label in enumerate(SNLI_ROWS))
        else:
            objects = (
                {
                    "gold_label": label,
                    "sentence1": f"premise {n}",
                    "sentence2": f"hypothesis {n}",
                    "pairID": n,
                }
                for n, label in enumerate(SNLI_ROWS)
            )
            text = "".join(json.dumps(each) + "\n" for each in objects)
        written(tmp_path / f"snli_1.0_{part}.{form}", text)

    found = read("snli", tmp_path)

    assert found.test.values == (1, 0, 0, 1)
    assert found.without_gold == 2
    assert any("4 test pairs stand among the dev pairs too" in note for note in found.notes)


def test_snli_with_numbers_has_0_for_entailment(tmp_path) -> None:
    for part in ("dev", "test"):
        written(
            tmp_path / f"snli-{part}.tsv",
            f"{part} a\tb\t1\n{part} c\td\t0\n{part} e\tf\t2\n{part} g\th\t-1\n",
        )

    found = read("snli", tmp_path)

    assert (found.test.values, found.without_gold) == ((0, 1, 0), 2)


@pytest.mark.parametrize(
    ("name", "files", "reason"),
    [
        ("stsb", {}, r"STS benchmark: .* holds no test file; looked for sts-test.csv"),
        ("stsb", {"sts-test.csv": "one\ttwo\n"}, "STS benchmark: sts-test.csv is not laid out as expected"),
        (
            "stsb",
            {"sts-test.csv": STSB.format(n=1, score=1) + STSB.format(n=2, score=7)},
            "sts-test.csv, line 2: the score 7 is outside 0 to 5",
        ),
        (
            "stsb",
            {"sts-test.csv": STSB.format(n=1, score=1) + "main\tx\t2012\t1\t3\tonly one\n"},
            "sts-test.csv, line 2: 6 cells, which does not fit the STS benchmark's own layout",
        ),
        (
            "stsb",
            {"sts-test.csv": STSB.format(n=1, score=1) + "main\tx\t2012\t1\t3\t \tb\n"},
            "sts-test.csv, line 2: a sentence is empty",
        ),
        (
            "stsb",
            {"stsb-en-test.csv": 'a,b,1\nc,"d,2\n'},
            "stsb-en-test.csv, line 2: .*mend the quotation marks",
        ),
        (
            "stsb",
            {"sts-test.csv": "".join(STSB.format(n=n, score=2) for n in range(4))},
            "Every score of the test pairs in sts-test.csv is 2",
        ),
        (
            "stsb",
            {"sts-test.csv": STSB.format(n=1, score=2)},
            "sts-test.csv holds too few test pairs, 1; 3 are needed",
        ),
        ("sts12", {}, r"STS12: .* holds no STS.input.\*.txt; give the folder of the test files of 2012"),
        ("sts12", {"STS.input.MSRpar.txt": "a\tb\n"}, "holds STS.input.MSRpar.txt but no STS.gs.MSRpar.txt"),
        (
            "sts12",
            {"STS.input.MSRpar.txt": "a\tb\nc\td\n", "STS.gs.MSRpar.txt": "1\n"},
            "STS.input.MSRpar.txt has 2 lines and STS.gs.MSRpar.txt 1; they must match",
        ),
        (
            "sts12",
            {"STS.input.MSRpar.txt": "a b\n", "STS.gs.MSRpar.txt": "1\n"},
            "STS.input.MSRpar.txt, line 1: no tab between two sentences",
        ),
        (
            "sick-r",
            {"SICK.txt": SICK + "1\ta\tb\tNEUTRAL\t0.5\tx\tTEST\n"},
            "SICK.txt, line 2: the score 0.5 is outside 1 to 5",
        ),
        (
            "sick-r",
            {"SICK.txt": SICK + "1\ta\tb\tNEUTRAL\t2\tx\tTRAIN\n"},
            "SICK.txt has no row with “TEST” in its column SemEval_set",
        ),
        (
            "mrpc",
            {"msr_paraphrase_test.txt": mrpc(4)},
            "holds no train file; looked for msr_paraphrase_train.txt",
        ),
        (
            "mrpc",
            {
                "msr_paraphrase_train.txt": mrpc(4),
                "msr_paraphrase_test.txt": "index\t#1 ID\t#2 ID\t#1 String\t#2 String\n",
            },
            "MRPC: msr_paraphrase_test.txt is not laid out as expected: MRPC .columns #1 String, #2 String, Quality",
        ),
        ("paws", {"test.tsv": "id\tsentence1\tsentence2\tlabel\n"}, "holds no dev file; looked for dev.tsv"),
        (
            "snli",
            {"snli-dev.tsv": "a\tb\t0\nc\td\t3\n", "snli-test.tsv": "a\tb\t0\nc\td\t1\ne\tf\t1\n"},
            "snli-dev.tsv, line 2: the label “3” is none of 0, 1, 2",
        ),
    ],
)
def test_a_missing_or_wrongly_laid_out_file_is_one_sentence_that_says_what_and_where(
    tmp_path, name, files, reason
) -> None:
    for file, text in files.items():
        written(tmp_path / file, text)

    with pytest.raises(FileError, match=reason) as refused:
        read(name, tmp_path)
    assert "\n" not in str(refused.value)


def _larger_than_any_suite(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(501 << 20)


@pytest.mark.parametrize(
    "make",
    [
        lambda path: pq.write_table(
            pa.table({"score": [1.0], "sentence1": ["A."], "sentence2": ["B."]}), path
        ),
        lambda path: stream_write(path, pa.array(["A."])),
        lambda path: path.write_bytes(gzip.compress(b"1\tA.\tB.\n")),
        lambda path: path.write_bytes(bytes(1000)),
        lambda path: path.write_text("[" * 100_000),
        lambda path: path.write_text("score,sentence1,sentence2\n1,A.," + "x" * 200_000 + "\n"),
        lambda path: path.write_text("score,sentence1,sentence2\n" + "9" * 5000 + ",A.,B.\n"),
        _larger_than_any_suite,
    ],
    ids=["Parquet", "Arrow", "compressed", "NUL", "deep", "a long cell", "a long number", "large"],
)
@pytest.mark.parametrize("name", SUITES)
def test_a_hostile_file_is_one_sentence(tmp_path, name, make) -> None:
    path = tmp_path / "test.tsv"
    make(path)

    with pytest.raises(FileError, match=r"\.$"):
        suite_named(name).read(path)


def test_an_unknown_suite_is_refused_with_those_there_are() -> None:
    with pytest.raises(ValueError, match="There is no suite “sst”; the suites are stsb, sts12"):
        suite_named("sst")


def test_a_year_has_a_figure_for_all_pairs_for_each_subset_and_for_their_mean(tmp_path) -> None:
    sts_year(tmp_path, SUBSETS)
    suite, found = SUITES["sts14"], read("sts14", tmp_path)
    cosines = np.random.default_rng(3).random(9)

    figures = suite_figures(suite, found, cosines, None, resamples=100, seed=1)

    spearman = {one.part: one.measured for one in figures if one.measured.metric is Metric.SPEARMAN}
    values, rows = np.array(found.test.values), np.array(found.test.sources) == "headlines"
    assert spearman[""].value == pytest.approx(spearmanr(cosines, values).statistic)
    assert spearman["headlines"].value == pytest.approx(spearmanr(cosines[rows], values[rows]).statistic)
    assert (spearman["headlines"].pairs, spearman["headlines"].interval is not None) == (5, True)
    both = [spearman["headlines"].value, spearman["OnWN"].value]
    assert spearman[MEAN_OF_SOURCES].value == pytest.approx(np.mean(both))


def test_the_mean_of_years_needs_all_five(tmp_path) -> None:
    cosines = np.random.default_rng(3).random(9)
    figures = []
    for year in (12, 13, 14, 15, 16):
        assert years_figures(figures) == []
        sts_year(tmp_path / str(year), SUBSETS)
        suite = SUITES[f"sts{year}"]
        figures += suite_figures(suite, suite.read(tmp_path / str(year)), cosines, None, resamples=0, seed=1)

    of_years = years_figures(figures)

    assert of_years[0].measured.value == pytest.approx(figures[0].measured.value)
    assert [one.measured.metric for one in of_years] == [Metric.SPEARMAN, Metric.PEARSON]


def test_the_chance_of_years_with_one_seed_averages_out(tmp_path) -> None:
    cosines = np.random.default_rng(3).random(9)
    figures = []
    for year in (12, 13, 14, 15, 16):
        sts_year(tmp_path / str(year), SUBSETS)
        suite = SUITES[f"sts{year}"]
        read_year = suite.read(tmp_path / str(year))
        figures += suite_figures(suite, read_year, cosines, None, resamples=1000, seed=1)

    of_years = years_figures(figures)[0].measured

    # Five equal years that draw independently: the standard deviation of their mean is that of one by sqrt(5).
    assert of_years.drawn.std() == pytest.approx(figures[0].measured.drawn.std() / np.sqrt(5), rel=0.1)


def test_the_mean_of_years_on_unseen_pairs_needs_them_of_all_five(tmp_path) -> None:
    cosines, unseen = np.random.default_rng(3).random(9), np.arange(9) != 4
    figures = []
    for year in (12, 13, 14, 15, 16):
        assert years_figures(figures) == []
        sts_year(tmp_path / str(year), SUBSETS)
        suite, shared = SUITES[f"sts{year}"], {"resamples": 0, "seed": 1}
        known = None if year == 12 else unseen
        found = suite_figures(suite, suite.read(tmp_path / str(year)), cosines, None, unseen=known, **shared)
        figures += found
    of_sts12 = suite_figures(
        SUITES["sts12"], SUITES["sts12"].read(tmp_path / "12"), cosines, None, unseen=unseen, **shared
    )

    assert [one.part for one in years_figures(figures)] == ["STS12–16, mean of years"] * 2
    both = years_figures([*of_sts12, *(one for one in figures if one.suite != "sts12")])
    (mean,) = (one for one in both if one.part == "unseen pairs" and one.measured.metric is Metric.SPEARMAN)
    values = np.array(SUITES["sts12"].read(tmp_path / "12").test.values)
    assert mean.measured.value == pytest.approx(spearmanr(cosines[unseen], values[unseen]).statistic)


def test_thresholds_come_from_the_dev_pairs_and_are_used_on_the_test_pairs(tmp_path) -> None:
    for part in ("dev", "test"):
        rows = "".join(f"{part} {n}\tb {n}\t{n % 3}\n" for n in range(9))
        written(tmp_path / f"snli-{part}.tsv", rows)
    found = read("snli", tmp_path)
    dev, test = np.random.default_rng(5).random((2, 9))

    figures = suite_figures(SUITES["snli"], found, test, dev, resamples=0, seed=1)

    f1 = next(one.measured for one in figures if one.measured.metric is Metric.F1)
    best = max(f1_score(found.dev.values, dev > cut) for cut in np.append(dev, -1))
    assert f1_score(found.dev.values, dev > f1.threshold) == pytest.approx(best)
    assert f1.value == pytest.approx(f1_score(found.test.values, test > f1.threshold))
