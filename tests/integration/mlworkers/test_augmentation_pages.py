"""The page of a comparison of paraphrases: who sees it, what it says, and what its file holds."""

import csv
import io

import pyarrow.parquet as pq
import pytest
from django.urls import reverse

from curation.pairs.judged_by import SIMULATED
from mlworkers.kinds.comparisons.augmentations import augmentations_of, unequal_examples
from mlworkers.models import Run
from tests.factories import RunFactory, client_of
from tests.markup import squeezed

pytestmark = pytest.mark.django_db
LABELS = ("base", "original", "BLEU20 ×2", "BLEU20 ×5", "round trip ×2", "round trip ×5")


def cell(mean: float, difference: float | None = None, p_holm: float = 0.5) -> dict[str, object]:
    told = {"mean": mean, "low": mean - 0.02, "high": mean + 0.02, "sd": 0.004, "by_seed": [mean, mean]}
    if difference is None:
        return told
    return told | {
        "difference": difference,
        "difference_low": difference - 0.01,
        "difference_high": difference + 0.01,
        "difference_sd": 0.003,
        "p": p_holm / 4,
        "p_holm": p_holm,
    }


def row(label: str, own: dict[str, object], mean: float, examples: int) -> dict[str, object]:
    variant, _times, size = label.partition(" ×")
    told = {"label": label, "variant": variant, "size": int(size or 1), "share": 1.0}
    if label != "base":
        told |= {"examples": examples, "copies": 0, "copies_missing": 3 if size == "5" else 0}
    return told | {"figures": [own, cell(mean + 0.01), cell(mean)]}


def comparison(dataset, *, judged: bool = True, seeds: int = 5, examples=(0, 100, 109, 109, 91, 91)) -> Run:
    """examples: of each row."""
    figures = [
        cell(0.6), cell(0.7), cell(0.74, 0.04, 0.01), cell(0.72, 0.02), cell(0.66, -0.04, 0.02), cell(0.69, -0.01)
    ]  # fmt: skip
    result = {
        "columns": [
            {"suite": "", "metric": "spearman", "pairs": 80},
            {"suite": "stsb", "metric": "spearman", "pairs": 1379},
            {"suite": "mean of suites", "metric": "spearman", "pairs": 4000},
        ],
        "rows": [
            row(*one)
            for one in zip(LABELS, figures, (0.61, 0.7, 0.75, 0.73, 0.69, 0.68), examples, strict=True)
        ],
        "seeds": list(range(42, 42 + seeds)),
        "judged": judged,
        "examples": 100,
        "examples_that_not_all_can_copy": 1,
        "loss_in_words": "cross-entropy of cosines / 0.05",
        "pooler_in_words": "cls and MLP",
        "warnings": ["Paraphrases were chosen by the similarity that a model gives."],
    }
    plan = {"model": "packaged:all-MiniLM-L6-v2", "keep_originals": True, "complete": True}
    return RunFactory(
        kind="compare_augmentations", dataset=dataset, state="succeeded", result=result, plan=plan
    )


def profiled(dataset) -> Run:
    """A profile of two corpora, with every figure and interval."""
    figures = {
        f"{name}{end}": value
        for name, value in (
            ("bleu", 31.25), ("vocabulary_at_equal_size", 5_120.0), ("perplexity_by_token", 184.5),
            ("perplexity_by_sentence", 12_345.6),
        )
        for end in ("", "_low", "_high")
    }  # fmt: skip
    group = {"pairs": 12_345, "sentences": 12_000, "vocabulary": 9_876, **figures, "without_perplexity": 12}
    names = ("SIM95 BLEU0_5 + SIM95 BLEU20", "round trip")
    first = {"group": "first sentences", **group, "pairs": None, "bleu": None}
    result = {
        "groups": [*({"group": name, **group} for name in names), first],
        "sentences_at_equal_size": 6_000,
        "bleu_signature": "nrefs:1|case:lc|eff:yes|tok:13a|smooth:exp|version:2.6.0",
    }
    return RunFactory(
        kind="profile_corpora", dataset=dataset, state="succeeded", result=result, plan={"model": "gpt2"}
    )


def page(user, run: Run, name: str = "augmentations"):
    return client_of(user).get(reverse(f"mlworkers:{name}", args=[run.pk]))


def test_a_stranger_gets_neither_the_page_nor_the_file(stranger, dataset) -> None:
    run = comparison(dataset)

    for name in ("augmentations", "augmentations_csv"):
        assert page(stranger, run, name).status_code == 404


def test_a_run_of_another_kind_has_no_such_page(staff, dataset) -> None:
    other = RunFactory(kind="compare_weightings", dataset=dataset)

    assert page(staff, other).status_code == 404


def test_the_page_says_which_rows_differ_from_the_original_examples(curator, dataset) -> None:
    shown = squeezed(page(curator, comparison(dataset)).content.decode())

    assert "BLEU20 ×2 is better than the original examples on the test." in shown
    assert "Round trip ×2 is worse than the original examples on the test." in shown
    assert "2 rows are not distinguishable from the original examples." in shown
    assert "The highest mean on the mean of suites is 0.750, with BLEU20 ×2." in shown
    assert "3 copies are missing" in shown
    assert "p is adjusted for the 4 differences on this page (Holm)." in shown


def test_a_difference_is_not_put_down_to_paraphrases_where_rows_have_other_numbers_of_examples(
    curator, dataset
) -> None:
    run = comparison(dataset, examples=(0, 945, 97, 946, 2_000, 945))

    shown = squeezed(page(curator, run).content.decode())

    assert (
        "from 97 training examples (BLEU20 ×2) to 2,000 (round trip ×2): a row with fewer takes fewer"
        in shown
    )
    assert "is better than" not in shown
    assert "is worse than" not in shown
    because = (
        "but has a number of examples that differs by more than a tenth, so the paraphrases need not be the"
    )
    assert f"BLEU20 ×2 scores higher than the original examples on the test, {because} reason." in shown
    assert f"Round trip ×2 scores lower than the original examples on the test, {because} reason." in shown


def test_rows_with_equal_numbers_of_examples_need_no_warning(curator, dataset) -> None:
    shown = page(curator, comparison(dataset, examples=(0, *[100] * 5))).content.decode()

    assert "a row with fewer takes fewer steps" not in shown


def test_shares_are_not_compared_with_each_other(dataset) -> None:
    run = comparison(dataset, examples=(0, 100, 100, 50, 50, 50))
    for one in run.result["rows"][3:]:
        one["share"] = 0.5

    assert unequal_examples(augmentations_of(run)) == ""


def test_with_few_seeds_nothing_is_judged(curator, dataset) -> None:
    shown = squeezed(page(curator, comparison(dataset, judged=False, seeds=2)).content.decode())

    assert "2 seeds cannot show well enough how much another seed would change the figures" in shown
    assert "is better than" not in shown


def test_the_file_has_every_row_on_every_test(curator, dataset) -> None:
    answer = page(curator, comparison(dataset), "augmentations_csv")

    rows = list(csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig"))))
    assert len(rows) == 6 * 3
    found = next(one for one in rows if one["row"] == "BLEU20 ×2" and one["test"] == "the test")
    assert (found["size"], found["mean"], found["difference_from_original"]) == ("2", "0.74", "0.04")
    assert all(one["difference_from_original"] == "" for one in rows if one["test"] == "the mean of suites")


def test_a_comparison_that_has_not_ended_says_so(curator, dataset) -> None:
    run = RunFactory(kind="compare_augmentations", dataset=dataset, state="running", result={})

    assert "The table appears when the run has ended." in page(curator, run).content.decode()


def test_it_is_listed_among_the_comparisons(curator, dataset) -> None:
    run = comparison(dataset)

    shown = client_of(curator).get(reverse("mlworkers:comparison_list")).content.decode()

    assert reverse("mlworkers:augmentations", args=[run.pk]) in shown
    assert "BLEU20 ×2 is better than" in squeezed(shown)


def test_figures_from_simulated_annotators_have_their_mark_among_the_comparisons(curator, dataset) -> None:
    run = comparison(dataset)
    run.result["judged_by"] = SIMULATED
    run.save(update_fields=["result"])

    shown = client_of(curator).get(reverse("mlworkers:comparison_list")).content.decode()

    assert f">{SIMULATED}</span>" in shown


def test_every_file_of_figures_from_simulated_annotators_has_their_mark(client, curator, dataset) -> None:
    run = comparison(dataset)
    run.result["judged_by"] = SIMULATED
    run.save(update_fields=["result"])
    client.force_login(curator)
    address = reverse("mlworkers:augmentations_csv", args=[run.pk])

    files = {
        form: client.get(address, {"as": form}).content for form in ("csv", "parquet", "markdown", "latex")
    }

    rows = pq.read_table(io.BytesIO(files["parquet"])).to_pylist()
    assert {row["judged_by"] for row in rows} == {SIMULATED}
    assert SIMULATED in files["csv"].decode().splitlines()[1]
    headings = [line for line in files["markdown"].decode().splitlines() if line.startswith("## ")]
    assert headings
    assert all(line.endswith(f"({SIMULATED})") for line in headings)
    written = files["latex"].decode()
    assert written.count(rf"\par\noindent ({SIMULATED})") == written.count(r"\begin{tabular}") > 0
