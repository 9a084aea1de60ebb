"""What the demonstration prints of its comparisons."""

import pytest

from semblance.demo.results import comparison_rows

ENCODERS = {"base": {"spearman": 0.5, "low": 0.4, "high": 0.6}}
PLAIN = {"of": "plain", "from": "base", "difference": 0.12}


def compared(*differences, seeds=5):
    return {"seeds": seeds, "encoders": ENCODERS, "differences": differences, "tests": 5}


@pytest.mark.parametrize(
    ("low", "high", "differs", "said"),
    [
        (0.08, 0.16, True, "+0.120 (+0.080 to +0.160), excludes 0"),
        (-0.01, 0.25, False, "+0.120 (−0.010 to +0.250), includes 0"),
        (0.01, 0.23, False, "+0.120 (+0.010 to +0.230), excludes 0, but not as one of 5 differences"),
    ],
)
def test_it_says_of_each_difference_whether_its_interval_excludes_0(low, high, differs, said) -> None:
    rows = comparison_rows("Small encoder", compared({**PLAIN, "low": low, "high": high, "differs": differs}))

    assert rows == [
        ("Small encoder, “base”: Spearman correlation on held-out pairs", "0.500 (0.400–0.600)"),
        ("Small encoder: plain − base", said),
    ]


def test_with_too_few_seeds_it_says_why_there_are_no_differences() -> None:
    rows = comparison_rows("MiniLM", compared(seeds=1))

    assert rows[1] == (
        "MiniLM: differences",
        "not tested: 1 seed cannot show how much training varies",
    )
