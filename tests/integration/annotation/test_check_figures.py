"""The program in a bundle that computes its figures again, without anything of Semblance."""

import ast
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from annotation.campaigns.adapting import adaptive_spend
from annotation.campaigns.growing import campaign_grow
from annotation.models import Judgement
from annotation.results.bundle import CHECK, bundle_write
from tests.factories import PairFactory
from tests.integration.annotation.test_figures import judge_all


@pytest.fixture
def bundle_of(tmp_path):
    def write(campaign) -> Path:
        return bundle_write(campaign=campaign, path=tmp_path / "bundle").path

    return write


def checked(bundle: Path) -> tuple[int, list[str]]:
    """The exit status, and the lines that are not as stated."""
    command = [sys.executable, "-I", "-W", "error", str(bundle / CHECK.name), str(bundle)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.stderr == ""
    return ended.returncode, [
        line for line in ended.stdout.splitlines()[1:-2] if not line.endswith("as stated")
    ]


def test_the_program_is_in_the_bundle_and_imports_nothing_of_semblance(judged, bundle_of) -> None:
    text = (bundle_of(judged) / CHECK.name).read_text(encoding="utf-8")

    nodes = list(ast.walk(ast.parse(text)))
    modules = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    modules |= {str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)}
    names = {module.split(".")[0] for module in modules}
    assert names - sys.stdlib_module_names == {"numpy", "scipy"}
    assert len(text.splitlines()) <= 600


@pytest.mark.exhaustive
def test_the_figures_of_a_campaign_are_found_again(judged, bundle_of) -> None:
    assert checked(bundle_of(judged)) == (0, [])


@pytest.mark.exhaustive
def test_so_are_those_of_a_campaign_with_ties(judged, bundle_of) -> None:
    every = Judgement.objects.order_by("pk").values_list("pk", flat=True)
    Judgement.objects.filter(pk__in=list(every)[::5]).update(best_slot=None, worst_slot=None)

    bundle = bundle_of(judged)

    assert (bundle / "judgements-for-models.csv").is_file()
    assert checked(bundle) == (0, [])


@pytest.mark.exhaustive
def test_so_are_those_of_a_campaign_with_an_adaptive_phase(judged, bundle_of, at, answer) -> None:
    adaptive_spend(campaign=judged, judgements=12)
    judge_all(judged.participations.first(), at, answer)

    bundle = bundle_of(judged)

    assert (bundle / "judgements-for-models.csv").is_file()
    assert checked(bundle) == (0, [])


@pytest.mark.exhaustive
def test_so_are_those_of_a_campaign_that_pairs_joined(judged, bundle_of, at, answer) -> None:
    PairFactory.create_batch(8, dataset=judged.dataset)
    campaign_grow(campaign=judged)
    for person in judged.participations.order_by("pk")[:2]:
        judge_all(person, at, answer, reverse=True)
    judged.refresh_from_db()

    status, others = checked(bundle_of(judged))

    assert status == 0
    assert [line.split("  ")[0] for line in others] == ["scores/maxdiff.csv: standard errors"]


def changed_in_csv(path: Path, column: int, by: float) -> None:
    """Another number in the third row."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    cells = lines[2].split(",")
    cells[column] = str(float(cells[column]) + by)
    lines[2] = ",".join(cells)
    path.write_text("".join(lines), encoding="utf-8")


def changed_in_json(path: Path, keys: list[str], by: float) -> None:
    content = json.loads(path.read_text(encoding="utf-8"))
    place = content
    for key in keys[:-1]:
        place = place[key]
    place[keys[-1]] += by
    path.write_text(json.dumps(content), encoding="utf-8")


@pytest.mark.exhaustive
def test_a_number_that_was_changed_is_named(judged, bundle_of, tmp_path) -> None:
    bundle = bundle_of(judged)
    changes = {
        "scores/counting.csv: scores": lambda: changed_in_csv(bundle / "scores/counting.csv", 1, 1e-7),
        "scores/counting.csv: standard errors": lambda: changed_in_csv(
            bundle / "scores/counting.csv", 2, 1e-7
        ),
        "scores/bradley-terry.csv: scores": lambda: changed_in_csv(
            bundle / "scores/bradley-terry.csv", 1, 1e-5
        ),
        "scores/maxdiff.csv: scores": lambda: changed_in_csv(bundle / "scores/maxdiff.csv", 1, 0.01),
        "scores/scores.json: counting": lambda: changed_in_json(
            bundle / "scores/scores.json", ["counting", "distinguishable_fdr"], 0.01
        ),
        "reliability.json: judgements": lambda: changed_in_json(
            bundle / "reliability.json", ["judgements", "spearman_mean"], 0.02
        ),
        "reliability.json: components": lambda: changed_in_json(
            bundle / "reliability.json", ["components", "tuple"], 0.001
        ),
        "reliability.json: marginal": lambda: changed_in_json(
            bundle / "reliability.json", ["marginal_reliability"], 0.01
        ),
    }
    whole = tmp_path / "whole"
    shutil.copytree(bundle, whole)

    for change in changes.values():
        change()
    status, others = checked(bundle)

    differ = [line.split("  ")[0] for line in others if "DIFFERS" in line]
    assert status == 1
    assert set(changes) <= set(differ)
    assert "manifest.json: SHA-256 of the files" in differ
