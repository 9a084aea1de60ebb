"""The wheel, built and installed into another environment, imports, judges and scores without the checkout."""

import csv
import hashlib
import os
import re
import subprocess
import sys
import sysconfig
import time
import uuid
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx2 as httpx
import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from curation.files.json_text import json_from
from curation.version import VERSION

ROOT = Path(__file__).resolve().parents[2]
PASSWORD = "a-long-enough-secret"
PATIENCE = 90.0  # seconds; a machine may be busy
HERE = "Semblance is at "
Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    return wheel_built(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def environment(wheel, tmp_path_factory) -> Path:
    """A virtual environment with the wheel alone. Its libraries are those of this one, which saves downloading them."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    python = str(folder / "bin" / "python")
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*pip, str(wheel)], check=True)
    packages = next(folder.glob("lib/python*/site-packages"))
    # A folder that is added this way adds no further ones, such as the checkout, which is installed there for editing.
    (packages / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder


@pytest.fixture
def user_folder(tmp_path) -> Path:
    """A person's folder in which they work, with a `.env`: nothing else says what the site is."""
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / ".env").write_text("SITE_PATH=/a/b/\nLOG_LEVEL=ERROR\n")
    return folder


@pytest.fixture
def variables(tmp_path) -> dict[str, str]:
    """What a new account's shell has."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return kept | {
        "HOME": str(tmp_path / "home"),
        "OMP_NUM_THREADS": "1",
        "DJANGO_SUPERUSER_PASSWORD": PASSWORD,
    }


@pytest.fixture
def semblance(environment, user_folder, variables) -> Command:
    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(environment / "bin" / "semblance"), *map(str, arguments)],
            cwd=user_folder,
            env=variables,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


@pytest.fixture
def person() -> Iterator[Callable[[str, str], "Person"]]:
    with ExitStack() as opened:

        def log_in(address: str, name: str) -> Person:
            person = Person(address, name)
            opened.callback(person.close)
            return person

        yield log_in


@pytest.fixture
def site(environment, user_folder, variables) -> Iterator[Callable[[], str]]:
    """Starts `semblance serve` and says where the site is."""
    started: list[subprocess.Popen[bytes]] = []
    output = user_folder / "serve.txt"

    def serve() -> str:
        command = [str(environment / "bin" / "semblance"), "serve", "--port", "0", "--web-workers", "1"]
        with output.open("wb") as file:
            started.append(
                subprocess.Popen(
                    [*command, "--workers", "default"],
                    cwd=user_folder,
                    env=variables,
                    stdout=file,
                    stderr=subprocess.STDOUT,
                )
            )
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until and started[0].poll() is None:
            if HERE in output.read_text():
                return output.read_text().split(HERE)[1].split(" ")[0]
            time.sleep(0.05)
        pytest.fail(output.read_text())

    yield serve
    for process in started:
        process.terminate()
        process.wait(PATIENCE)


class Person(httpx.Client):
    """Somebody with a browser, logged in."""

    def __init__(self, address: str, name: str) -> None:
        super().__init__(base_url=address, follow_redirects=True, timeout=PATIENCE)
        self.send_form("accounts/login/", username=name, password=PASSWORD)

    def send_form(self, page: str, **fields: object) -> httpx.Response:
        self.get("accounts/password/" if "sessionid" in self.cookies else page)
        fields |= {"csrfmiddlewaretoken": self.cookies["csrftoken"]}
        answer = self.post(page, data={name: str(value) for name, value in fields.items()})
        return answer.raise_for_status()

    def call(self, address: str, **fields: object) -> dict:
        headers = {"X-CSRFToken": self.cookies["csrftoken"]}
        return self.post(f"api/v1/{address}", json=fields, headers=headers).raise_for_status().json()


def test_the_wheel_has_every_page_file_translation_and_guide_and_nothing_else(wheel) -> None:
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}

    expected = set()
    for folder, inside, pattern in (
        ("templates", "semblance/templates", "**/*"),
        ("static", "semblance/static", "**/*"),
        ("locale", "semblance/translations", "**/*.mo"),
        ("docs/guide", "semblance/guide/pages", "**/*"),
        ("semblance/requirements", "semblance/requirements", "*.txt"),
        ("curation/files/publishing/templates", "curation/files/publishing/templates", "*.jinja"),
    ):
        there = [path for path in (ROOT / folder).glob(pattern) if path.is_file()]
        assert there
        expected |= {f"{inside}/{path.relative_to(ROOT / folder)}" for path in there}
    assert expected <= names
    others = {name for name in names - expected if not name.endswith(".py")}
    assert others == set()
    assert {name.split("/")[0] for name in names} == {"semblance", "curation", "annotation", "mlworkers"}


@pytest.mark.exhaustive
def test_two_builds_are_equal_to_the_byte(wheel, tmp_path) -> None:
    again = wheel_built(tmp_path, umask=0o077, TZ="Asia/Tokyo", PYTHONHASHSEED="13")

    assert again.name == wheel.name
    assert again.read_bytes() == wheel.read_bytes()


@pytest.mark.exhaustive
def test_the_list_of_parts_names_every_file_of_the_wheel_and_every_package_that_it_pins(
    wheel, tmp_path
) -> None:
    out = tmp_path / "parts.json"

    succeeded(script_run("sbom.py", wheel, out))

    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(out.read_text()) is None
    parts = json_from(out.read_text())["components"]
    with zipfile.ZipFile(wheel) as held:
        files = {name: hashlib.sha256(held.read(name)).hexdigest() for name in held.namelist()}
    assert {part["name"]: part["hashes"][0]["content"] for part in parts if part["type"] == "file"} == files
    pins = "".join(path.read_text() for path in (ROOT / "semblance" / "requirements").glob("*.txt"))
    packages = {f"{part['name']}=={part['version']}" for part in parts if part["type"] == "library"}
    assert packages == set(re.findall(r"^[\w.-]+==[\w.]+", pins, re.MULTILINE))


@pytest.mark.exhaustive
def test_the_list_of_parts_of_an_environment_names_every_file_of_its_packages(environment, tmp_path) -> None:
    out = tmp_path / "parts.json"

    succeeded(script_run("sbom.py", "--environment", environment, out))

    [ours] = json_from(out.read_text())["components"]
    packages = next(environment.glob("lib/python*/site-packages"))
    there = {str(path.relative_to(packages)) for path in files_of(packages) if path.is_file()}
    assert ours["purl"] == f"pkg:pypi/semblance-pairs@{VERSION}"
    assert there - {"libraries.pth"} <= {part["name"] for part in ours["components"]}


@pytest.mark.exhaustive
def test_an_installed_wheel_imports_judges_and_scores(
    semblance, site, person, environment, user_folder, variables, tmp_path
) -> None:
    packages = next(environment.glob("lib/python*/site-packages"))
    before = files_of(packages)
    pairs = user_folder / "pairs.csv"
    pairs.write_text("sentence1,sentence2\n" + "".join(f"Dog {n} runs.,Cat {n} sleeps.\n" for n in range(8)))

    succeeded(semblance("migrate", "--verbosity", "0"))
    succeeded(semblance("createsuperuser", "--noinput", "--username", "olga", "--email", "o@example.org"))
    imported = (
        "import_pairs",
        pairs,
        "--dataset",
        "mine",
        "--create",
        "--a",
        "sentence1",
        "--b",
        "sentence2",
    )
    succeeded(semblance(*imported))
    address = site()
    olga = person(address, "olga")
    campaign_is_open(olga)
    claim = olga.call("campaigns/1/claim/")
    judged = 0
    while claim["lease"]:
        sent = {"lease": claim["lease"], "best": 0, "worst": 3, "client_id": str(uuid.uuid4())}
        olga.call("campaigns/1/judgements/", **sent)
        judged += 1
        claim = olga.call("campaigns/1/claim/")
    olga.send_form("campaigns/1/publish/", method="counting", name="first")
    written = semblance("export_dataset", "mine", "--format", "csv", "--out", user_folder / "scored.csv")
    succeeded(written)

    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/a/b/", address)  # as .env of the folder says
    with (user_folder / "scored.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert judged == 16
    assert len([row for row in rows if row["first"]]) == 8
    page = olga.get("datasets/mine/").text
    style, script = (re.search(rf'"(/a/b/static/[^"]*\.{kind})"', page)[1] for kind in ("css", "js"))
    assert {olga.get(httpx.URL(address).join(file)).status_code for file in (style, script)} == {200}
    assert "Run a site" in olga.get("guide/").text
    german = httpx.get(f"{address}accounts/login/", headers={"Accept-Language": "de"}, timeout=PATIENCE).text
    assert 'lang="de"' in german
    assert "Anmelden" in german
    # What people made is in a folder of theirs, and nothing is where the programs are.
    assert (tmp_path / "home" / ".local" / "share" / "semblance" / "semblance.sqlite3").is_file()
    assert files_of(packages) == before


def test_files_of_judgements_are_scored_by_the_command(semblance, user_folder) -> None:
    judgements = ROOT / "docs" / "examples" / "judgements.csv"

    succeeded(semblance("bws", "score", judgements, "--out", "scores.csv"))

    assert len((user_folder / "scores.csv").read_text().splitlines()) == 61


def campaign_is_open(person: Person) -> None:
    design = {"tuple_size": 4, "factor": 2, "judgements_per_tuple": 1, "seed": 13}
    words = {"name": "Pilot", "question": "Which?", "best_label": "Most", "worst_label": "Least"}
    gold = {"gold_every": 15, "gold_minimum": 10, "gold_threshold": 0.7, "repeat_every": 0}
    person.send_form("campaigns/new/?dataset=mine", **words, **design, **gold)
    person.send_form("campaigns/1/move/", move="open")


def wheel_built(out: Path, umask: int = 0o022, **variables: str) -> Path:
    succeeded(script_run("build_wheel.py", out, umask=umask, env=os.environ | variables))
    return next(out.glob("*.whl"))


def script_run(name: str, *arguments: object, **how: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "deployment" / name), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **how)


def succeeded(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, done.stdout + done.stderr


def files_of(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.suffix != ".pyc" and path.name != "__pycache__"}
