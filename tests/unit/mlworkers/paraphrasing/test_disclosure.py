"""Which benchmark labels come from."""

import pytest

from mlworkers.science.paraphrasing.disclosure import benchmark_behind, benchmark_of, benchmark_save


@pytest.mark.parametrize(
    "name", ["STS-B", "stsb", "sts_b", "STSbenchmark", "main-news, STS Benchmark", "sts-bench"]
)
def test_the_sts_benchmark_is_found_by_its_names(name) -> None:
    assert benchmark_of("", ["scenes", name]) == "STS-B"


@pytest.mark.parametrize("name", ["wikisplit", "bests", "sts-books", "homesick", "sts120"])
def test_other_names_are_not_taken_for_it(name) -> None:
    assert benchmark_of("", [name]) == ""


def test_every_benchmark_that_a_source_is_called_by_is_named_once() -> None:
    names = ["all scores", "sts-2014", "SICK_train", "stsb_en_train", "sick-r", "STS14"]

    assert benchmark_of("", names) == "STS14, SICK, STS-B"


def test_benchmarks_that_were_given_come_first() -> None:
    assert benchmark_of(" SICK ", ["stsb"]) == "SICK"
    assert benchmark_of("sts benchmark, STR-2022", []) == "STS-B, STR-2022"


def test_a_folder_says_what_was_saved_and_nothing_otherwise(tmp_path) -> None:
    before = benchmark_behind(tmp_path)
    benchmark_save(tmp_path, "STS-B")

    assert (before, benchmark_behind(tmp_path)) == ("", "STS-B")
