"""Four raw files of the field become pairs by four strategies."""

import csv
import json

import pytest
from django.core.management import call_command

pytestmark = pytest.mark.real_data


@pytest.mark.parametrize(
    ("files", "options", "pairs"),
    [
        (["wikisplit/tune.tsv"], "--no-header --text 1 --strategy overlap --count 300", 300),
        (
            ["novels/ENG18900_Doyle.txt", "novels/ENG18952_Wells.txt"],
            "--documents --strategy percentiles --idf --growth 1.1 --count 200",
            200,
        ),
        (
            ["stsb/stsb-en-train.csv"],
            "--pairs --no-header --strategy score --bins 0,1,2,3,4,5 --count 250",
            250,
        ),
        (
            ["snli/snli-dev.tsv"],
            "--no-header --text 1 --strategy labels --shared-label 3 --label 3 --combinations 0-0,2-2 --count 60",
            60,
        ),
    ],
)
def test_raw_files_become_pairs(real_data, tmp_path, capsys, files, options, pairs) -> None:
    out = tmp_path / "pairs.csv"

    call_command(
        "sample_pairs",
        *(str(real_data / file) for file in files),
        *options.split(),
        "--out",
        str(out),
        "--json",
    )

    figures = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert figures["pairs"] == pairs
    assert figures["rejected"] == 0
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    texts = [text for row in rows for text in (row["sentence1"], row["sentence2"])]
    assert len(rows) == pairs
    assert len(set(texts)) == len(texts)
    if "--documents" in options:  # a paragraph was divided: nearly every sentence ends as one
        ends = [
            text.rstrip("'’”\" )").endswith((".", "!", "?", ";", ":", "--", "…", "-", ",")) for text in texts
        ]
        assert sum(ends) > 0.97 * len(ends)
