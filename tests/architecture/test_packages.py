"""Names, versions and packages: one version everywhere, every dependency pinned with its hash, private parts capped."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

from curation.version import VERSION

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
REQUIREMENTS = {path.name: path.read_text() for path in (ROOT / "semblance" / "requirements").glob("*.txt")}
PIN = re.compile(r"^([\w.-]+)==([\w.!+]+)", re.MULTILINE)
# Subclassed or entered below their public names, with the file that does so.
PRIVATE = {
    "botocore": "semblance/object_storage.py",
    "django": "curation/foundation/statements.py",
    "djangorestframework": "curation/views/api/imports.py",
    "gunicorn": "semblance/serving/web_server.py",
    "httpx2": "curation/foundation/connections.py",
    "huggingface-hub": "mlworkers/science/pretrained/hub.py",
    "kombu": "semblance/broker.py",
}
# Packages that are imported under another name.
IMPORTED_AS = {"djangorestframework": "rest_framework"}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(*texts: str) -> dict[str, str]:
    return {normal(name): version for text in texts for name, version in PIN.findall(text)}


def declared(*extras: str) -> list[Requirement]:
    optional = PROJECT["optional-dependencies"]
    return [
        Requirement(line) for line in [*PROJECT["dependencies"], *(e for x in extras for e in optional[x])]
    ]


def test_the_version_is_the_same_wherever_it_is_written() -> None:
    guide = (ROOT / "docs" / "guide" / "run-a-site" / "install.md").read_text()

    assert PROJECT["dynamic"] == ["version"]
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"] == VERSION
    wheels = re.findall(r"semblance_pairs-(\S+)-py3-none-any\.whl", guide)
    assert set(wheels) == {VERSION}


@pytest.mark.parametrize(
    ("files", "extras"),
    [
        (["web.txt"], ["s3", "segmentation", "sentry"]),
        (
            ["web.txt", "worker.txt", "torch-cuda.txt"],
            ["s3", "segmentation", "sentry", "ml", "minilm", "linguistics", "translation"],
        ),
    ],
)
def test_every_dependency_is_pinned_to_a_version_that_its_bounds_allow(
    files: list[str], extras: list[str]
) -> None:
    pinned = pins(*(REQUIREMENTS[name] for name in files))

    outside = [
        str(each) for each in declared(*extras) if pinned.get(normal(each.name), "none") not in each.specifier
    ]
    assert outside == []


def test_what_is_installed_is_what_the_tests_ran_with() -> None:
    tested = pins((ROOT / "constraints.txt").read_text())

    others = {
        name: (version, tested[name])
        for name, version in pins(*REQUIREMENTS.values()).items()
        if tested.get(name, version) != version
    }
    assert others == {}


def test_every_pin_has_hashes_but_the_build_of_torch_for_processors() -> None:
    unhashed = [
        block.split()[0]
        for text in REQUIREMENTS.values()
        for block in re.findall(r"^\w.*(?:\n\s+.*)*", text, re.MULTILINE)
        if "--hash=sha256:" not in block
    ]

    assert unhashed == [f"torch=={pins(REQUIREMENTS['torch-cuda.txt'])['torch']}"]


def test_the_web_gets_no_torch_and_no_file_names_an_index() -> None:
    assert not {"torch", "transformers", "scikit-learn"} & pins(REQUIREMENTS["web.txt"]).keys()
    assert [name for name, text in REQUIREMENTS.items() if "://" in text or "--index" in text] == []


@pytest.mark.parametrize("name", PRIVATE)
def test_a_package_of_which_a_private_part_is_used_has_an_upper_bound(name: str) -> None:
    [bounds] = [each.specifier for each in declared("ml", "s3") if normal(each.name) == name]

    imported = IMPORTED_AS.get(name, name.replace("-", "_"))
    assert imported in (ROOT / PRIVATE[name]).read_text()  # otherwise the bound can go
    assert [each for each in bounds if each.operator in {"<", "<=", "~=", "=="}]
