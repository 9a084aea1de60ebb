"""The page of a comparison of pre-fine-tunings: who sees it, what it says, and what its file holds."""

import csv
import io

import pytest
from django.urls import reverse

from mlworkers.models import Run
from tests.factories import RunFactory, client_of
from tests.markup import squeezed

pytestmark = pytest.mark.django_db
TAGS = tuple((f"SIM{sim}", f"BLEU{bleu}") for sim in (70, 95) for bleu in ("0_5", 20))


def cell(mean: float, difference: float | None, p_holm: float, seeds: int) -> dict[str, object]:
    told = {
        "mean": mean, "low": mean - 0.02, "high": mean + 0.02, "sd": 0.004, "median": mean + 0.001,
        "by_seed": [mean] * seeds,
    }  # fmt: skip
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


def comparison(dataset, *, seeds: int = 5, differences=(0.03, -0.04, 0.002, 0.001), chosen: int = 0) -> Run:
    """Two tasks: of one the fine-tuning is skipped. The p of a difference above .01 is small."""
    names = [" ".join(tags) for tags in TAGS]

    def rows(metrics: int, *, direct: bool) -> list[dict[str, object]]:
        found = [("no pre-fine-tuning", -0.02), ("original", None), *zip(names, differences, strict=True)]
        return [
            {
                "row": name,
                "dev": 0.8 + (name == names[chosen]) * 0.01,
                "median_seed": 43,
                "figures": [
                    cell(
                        0.7 + (difference or 0),
                        difference,
                        0.01 if abs(difference or 0) > 0.01 else 0.6,
                        seeds,
                    )
                    for _metric in range(metrics)
                ],
            }
            for name, difference in found
            if direct or name != "no pre-fine-tuning"
        ]

    facts = {
        "classes": 0,
        "dev_rows": 300,
        "test_rows": 1379,
        "left_out": 12,
        "seen_left_out": 2,
        "notes": [],
    }
    result = {
        "tasks": [
            {
                **facts, "label": "sts, gold", "metrics": ["pearson", "spearman"], "training_rows": 5700, "epochs": 10,
                "skipped": False, "chosen": names[chosen], "rows": rows(2, direct=True),
            },
            {
                **facts, "label": "nli, subset", "metrics": ["accuracy"], "training_rows": 0, "epochs": 0,
                "skipped": True, "chosen": names[chosen], "rows": rows(1, direct=False),
            },
        ],
        "rows": [
            {"row": "no pre-fine-tuning"},
            {"row": "original", "examples": 900, "copies": 0, "copies_missing": 0},
            *(
                {
                    "row": " ".join(tags), "examples": 1790, "copies": 890, "copies_missing": 10,
                    "similarity": tags[0], "bleu": tags[1],
                }
                for tags in TAGS
            ),
        ],
        "seeds": list(range(42, 42 + seeds)),
        "pre_seeds": [42],
        "examples": 900,
        "examples_that_not_all_can_copy": 7,
        "warnings": ["The dev rows of sts, gold were drawn from its training rows."],
    }  # fmt: skip
    plan = {"model": "packaged:all-MiniLM-L6-v2", "complete": True}
    return RunFactory(
        kind="compare_pre_fine_tuning", dataset=dataset, state="succeeded", result=result, plan=plan
    )


def page(user, run: Run, name: str = "pre_fine_tuning"):
    return client_of(user).get(reverse(f"mlworkers:{name}", args=[run.pk]))


def test_a_stranger_gets_neither_the_page_nor_the_file(stranger, dataset) -> None:
    run = comparison(dataset)

    for name in ("pre_fine_tuning", "pre_fine_tuning_csv"):
        assert page(stranger, run, name).status_code == 404


def test_a_run_of_another_kind_has_no_such_page(staff, dataset) -> None:
    other = RunFactory(kind="compare_augmentations", dataset=dataset)

    assert page(staff, other).status_code == 404


def test_the_page_says_which_tags_dev_chose_and_what_they_are_on_the_test(curator, dataset) -> None:
    shown = squeezed(page(curator, comparison(dataset)).content.decode())

    assert "sts, gold: the dev rows choose SIM70 BLEU0_5." in shown
    assert "On the test its pearson is higher than without paraphrases: +0.030 (+0.020 to +0.040)." in shown
    assert "of 4 pairs of tags, better: 1; worse: 1; the others are not distinguishable" in shown
    assert "the test had no part in the choice" in shown
    assert "p is adjusted for the 14 differences on this page (Holm)." in shown
    assert "fine-tuning is skipped" in shown
    assert "the intervals do not cover another pre-fine-tuning" in shown


def test_copies_make_more_steps_which_may_be_the_reason_of_a_difference(curator, dataset) -> None:
    run = comparison(dataset)

    shown = squeezed(page(curator, run).content.decode())

    assert (
        "from 900 training examples (inference, no paraphrases) to 1,790 (SIM70 BLEU0_5): a row with" in shown
    )
    assert "+0.030 (+0.020 to +0.040). Its number of inference examples differs by more than a tenth" in shown


def test_rows_with_about_as_many_examples_differ_by_their_paraphrases(curator, dataset) -> None:
    run = comparison(dataset)
    for one in run.result["rows"][2:]:
        one["examples"] = 900
    run.save()

    shown = page(curator, run).content.decode()

    assert "is higher than without paraphrases" in squeezed(shown)
    assert "need not be the reason" not in shown
    assert "a row with fewer takes" not in shown


def test_the_page_has_a_next_step_that_one_may_take(curator, staff, dataset) -> None:
    run = comparison(dataset)
    starts = reverse("mlworkers:run_start", args=[run.kind])
    guide = reverse("guide_page", args=["pre-fine-tune"])

    by_staff = page(staff, run).text
    by_curator = page(curator, run).text

    assert f"{starts}?dataset={dataset.slug}&amp;again={run.pk}" in by_staff
    assert f"{reverse('mlworkers:run_start', args=['compare_augmentations'])}?dataset=" in by_staff
    assert "No model of this comparison was kept." in squeezed(by_staff)
    assert starts not in by_curator
    assert guide in by_curator


def test_what_the_interval_does_not_allow_is_not_concluded(curator, dataset) -> None:
    run = comparison(dataset, chosen=2, differences=(0.001, 0.002, 0.003, -0.001))

    shown = squeezed(page(curator, run).content.decode())

    assert "is not distinguishable from that without paraphrases: +0.003 (−0.007 to +0.013)." in shown
    assert "none of the 4 pairs of tags is distinguishable" in shown
    assert "is higher than without" not in shown


def test_with_few_seeds_nothing_is_judged(curator, dataset) -> None:
    shown = squeezed(page(curator, comparison(dataset, seeds=2)).content.decode())

    assert "2 seeds cannot test a difference; that takes 5." in shown
    assert "Fewer than 5 seeds cannot test them." in shown
    assert "is higher than without" not in shown


def test_the_heatmaps_have_a_file_and_a_table(curator, dataset) -> None:
    shown = page(curator, comparison(dataset)).content.decode()

    for name in ("task-1-pearson", "task-1-spearman", "task-2-accuracy"):
        assert f'download="{name}.svg"' in shown
        assert f'download="{name}.csv"' in shown


def test_the_file_has_every_task_metric_and_row(curator, dataset) -> None:
    answer = page(curator, comparison(dataset), "pre_fine_tuning_csv")

    rows = list(csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig"))))
    assert len(rows) == 2 * 6 + 5
    found = next(one for one in rows if one["row"] == "SIM95 BLEU20" and one["metric"] == "spearman")
    assert (found["similarity"], found["bleu"], found["chosen_on_dev"]) == ("SIM95", "BLEU20", "no")
    assert (found["difference_from_no_paraphrases"], found["median_seed"], found["test_rows"]) == (
        "0.001", "43", "1379",
    )  # fmt: skip


def test_a_comparison_that_has_not_ended_says_so(curator, dataset) -> None:
    run = RunFactory(kind="compare_pre_fine_tuning", dataset=dataset, state="running", result={})

    assert "The table appears when the run has ended." in page(curator, run).content.decode()


def test_it_is_listed_among_the_comparisons(curator, dataset) -> None:
    run = comparison(dataset)

    shown = client_of(curator).get(reverse("mlworkers:comparison_list")).content.decode()

    assert reverse("mlworkers:pre_fine_tuning", args=[run.pk]) in shown
    assert "the dev rows choose SIM70 BLEU0_5" in squeezed(shown)
