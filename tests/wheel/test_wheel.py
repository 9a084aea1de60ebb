"""The wheel, built and installed into another environment, imports, judges and scores without the checkout."""

import csv
import os
import re
import shutil
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

ROOT = Path(__file__).resolve().parents[2]
SOURCE = (
    *("semblance", "curation", "annotation", "mlworkers", "templates", "static", "locale", "docs/guide"),
    *("pyproject.toml", "README.md", "LICENSE"),
)
LEFT = shutil.ignore_patterns("__pycache__")
PASSWORD = "a-long-enough-secret"
PATIENCE = 90.0  # seconds; a machine may be busy
HERE = "Semblance is at "
Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """Built from a copy: what an earlier build left in the checkout would go into the wheel."""
    copy, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in SOURCE:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, symlinks=True, ignore=LEFT)
        else:
            shutil.copy(ROOT / name, copy / name)
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--wheel-dir", str(out), str(copy)], check=True, cwd=out)
    return next(out.glob("*.whl"))


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
        ("docs/guide", "semblance/guide/pages", "*"),
    ):
        there = [path for path in (ROOT / folder).glob(pattern) if path.is_file()]
        assert there
        expected |= {f"{inside}/{path.relative_to(ROOT / folder)}" for path in there}
    assert expected <= names
    others = {name for name in names - expected if not name.endswith(".py")}
    assert others == set()
    assert {name.split("/")[0] for name in names} == {"semblance", "curation", "annotation", "mlworkers"}


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
    assert "Deployment" in olga.get("guide/").text
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


def succeeded(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, done.stdout + done.stderr


def files_of(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.suffix != ".pyc" and path.name != "__pycache__"}
