"""all-MiniLM-L6-v2 on the STS benchmark's test split, whose Spearman is published as 82.03."""

import json

import pytest
from django.core.management import call_command

from curation.files.parsing import Columns, read_pairs

pytestmark = [pytest.mark.real_data, pytest.mark.minilm]
MODEL = "packaged:all-MiniLM-L6-v2"
PUBLISHED_SPEARMAN = 0.8203


def evaluated(capsys, *options: object) -> dict[str, float]:
    call_command("evaluate", MODEL, *map(str, options), "--json")
    return json.loads(capsys.readouterr().out.splitlines()[-1])


@pytest.mark.exhaustive
def test_the_published_correlation_is_reached(real_data, capsys) -> None:
    file = real_data / "stsb" / "stsb-en-test.csv"

    found = evaluated(capsys, "--pairs", file, "--no-header", "--a", 1, "--b", 2, "--score", 3)

    assert found["pairs"] == 1379
    assert found["spearman"] == pytest.approx(PUBLISHED_SPEARMAN, abs=0.0005)
    assert found["spearman_low"] < PUBLISHED_SPEARMAN < found["spearman_high"]
    assert found["spearman_high"] - found["spearman_low"] == pytest.approx(0.042, abs=0.006)


@pytest.mark.exhaustive
def test_thresholds_tuned_on_dev_tell_equivalent_pairs_of_test(real_data, tmp_path, capsys) -> None:
    # Four of five points and more is "equivalent but for details", below two "not equivalent"; the rest is left out.
    files = [labelled(real_data, split, tmp_path / f"{split}.csv") for split in ("test", "dev")]

    found = evaluated(capsys, "--pairs", files[0], "--dev", files[1], "--label", "same", "--bootstrap", 0)

    assert found["accuracy"] > 0.9
    assert found["f1"] > 0.9
    assert 0.3 < found["accuracy_threshold"] < 0.8


def labelled(real_data, split, target):
    _, pairs, _ = read_pairs(real_data / "stsb" / f"stsb-en-{split}.csv", Columns(), header=False)
    rows = [{"a": p.a, "b": p.b, "same": int(p.score >= 4)} for p in pairs if p.score >= 4 or p.score < 2][
        :300
    ]
    target = target.with_suffix(".jsonl")
    target.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return target
