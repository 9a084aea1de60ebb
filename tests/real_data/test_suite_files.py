"""The suites on the public files that are here."""

import pytest

from mlworkers.science.encoders.suites.catalogue import suite_named

pytestmark = pytest.mark.real_data


def test_the_sts_benchmark_is_read_whole(real_data) -> None:
    found = suite_named("stsb").read(real_data / "stsb")

    assert (len(found.test), found.test.values[:3]) == (1379, (2.5, 3.6, 5.0))
    assert found.test.sources == ()  # these files have no genres


def test_snli_sets_thresholds_on_dev_pairs_and_is_tested_on_test_pairs(real_data) -> None:
    found = suite_named("snli").read(real_data / "snli")

    assert (len(found.test), len(found.dev), found.without_gold) == (9824, 9842, 0)
    assert (sum(found.test.values), sum(found.dev.values)) == (3368, 3329)
