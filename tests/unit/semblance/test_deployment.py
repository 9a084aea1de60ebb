"""The files for containers, systemd and proxies agree with the programs: queues, times to stop, sizes, users."""

import json
import re
import shlex
from importlib.metadata import entry_points
from pathlib import Path

import pytest
import yaml
from celery.bin.base import CLIContext
from celery.bin.celery import celery
from django.conf import settings
from django.core.management import get_commands, load_command_class
from gunicorn.config import Config

from curation.foundation.errors import UserError
from deployment import image_steps, pin_images, sbom
from mlworkers.plans.kinds import QUEUES
from semblance.celery import app
from semblance.serving.processes import GRACE
from semblance.serving.programs import worker_of, workers

ROOT = Path(__file__).resolve().parents[3]
SERVICES = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
STAGES, _ = image_steps.stages_read((ROOT / "Dockerfile").read_text())
REQUIREMENTS = ROOT / "semblance" / "requirements"
SERVERS = {"database": {"condition": "service_healthy"}, "redis": {"condition": "service_healthy"}}
UNITS = {path.name: path.read_text() for path in (ROOT / "deployment").glob("*.service")}
# A unit's name, the program and its arguments; of the template, for the queue `gpu`.
CALLS = [
    (name, Path(program).name, arguments)
    for name, unit in sorted(UNITS.items())
    for line in re.findall(r"^Exec\w+=(.+)$", unit.replace("%i", "gpu"), re.MULTILINE)
    for program, *arguments in [shlex.split(line)]
]


def test_every_queue_has_a_worker() -> None:
    commands = {
        name.removeprefix("worker-"): service["command"]
        for name, service in SERVICES.items()
        if name.startswith("worker-")
    }

    assert commands == {queue: ["semblance", "worker", "--queues", queue] for queue in QUEUES}


def test_one_worker_of_a_queue_is_called_as_serve_calls_it_and_one_of_several_does_one_thing_at_a_time() -> (
    None
):
    [served] = workers("default")
    several = worker_of("gpu, default", name="all")

    assert "semblance worker --queues %i\n" in UNITS["semblance-worker@.service"]
    assert worker_of("default") == list(served.arguments)
    assert several[several.index("--queues") + 1] == "gpu,default"
    assert several[several.index("--pool") + 1] == "solo"
    assert several[several.index("--hostname") + 1] == "all@%h"
    for wrong in ("", "nope"):
        with pytest.raises(UserError):
            worker_of(wrong)


def test_our_programs_start_after_the_migration_and_the_migration_after_the_database() -> None:
    ours = [name for name, service in SERVICES.items() if service.get("build")]

    waits = {name: SERVICES[name]["depends_on"] for name in ours}
    assert waits.pop("bucket") == {"storage": {"condition": "service_healthy"}}
    assert waits.pop("migrate") == SERVERS
    # Those who name the servers themselves are stopped before them: the migration is over by then and keeps nobody up.
    assert all(
        wait == {"migrate": {"condition": "service_completed_successfully"}, **SERVERS}
        for wait in waits.values()
    )
    assert all("healthcheck" in SERVICES[name] for name in ("web", "database", "redis", "storage"))


def test_programs_have_longer_to_stop_than_they_take() -> None:
    given = [
        float(SERVICES[name]["stop_grace_period"].removesuffix("s")) for name in ("web", "worker-gpu", "beat")
    ]
    given += [
        float(re.search(r"TimeoutStopSec=(\d+)", UNITS[name])[1]) for name in UNITS if "beat" not in name
    ]

    assert min(given) > GRACE
    assert min(given) > 30  # gunicorn's own patience with requests that are underway


def test_a_store_is_started_by_choice_alone_and_nothing_waits_for_it() -> None:
    by_choice = {name for name, service in SERVICES.items() if service.get("profiles") == ["storage"]}
    waiting = {name for name, service in SERVICES.items() if "storage" in service.get("depends_on", ())}

    assert by_choice == {"storage", "bucket"}
    assert waiting == {"bucket"}
    # What speaks to it is in the packages of the web, which are a part of those of a worker.
    assert re.search(r"^boto3==", (REQUIREMENTS / "web.txt").read_text(), re.MULTILINE)


@pytest.mark.parametrize("kind", ["web", "worker"])
def test_a_change_of_code_does_not_install_what_the_site_needs_again(kind: str) -> None:
    steps = STAGES[f"{kind}-packages"].steps
    needs, code, whole = (
        next(n for n, (_, rest) in enumerate(steps) if rest.endswith(part))
        for part in (" semblance/requirements", "--from=wheel /wheel /wheel", " /wheel/*.whl")
    )

    assert needs < code < whole


def test_each_image_gets_the_packages_of_its_kind_and_starts_its_program() -> None:
    installer = (ROOT / "deployment" / "install.sh").read_text()
    kinds = re.search(r"^case \$kind in ([\w|-]+)\) ;;", installer, re.MULTILINE)[1].split("|")
    arguments = dict(
        rest.partition("=")[::2] for name, rest in STAGES["worker-packages"].steps if name == "ARG"
    )

    assert arguments["DEVICE"] in {"cpu", "cuda"}
    assert {"web", "worker-cpu", "worker-cuda"} == set(kinds)
    for stage, kind in (("web-packages", "web"), ("worker-packages", "worker-${DEVICE}")):
        runs = [rest.split() for name, rest in STAGES[stage].steps if name == "RUN"]
        parts = runs.pop()
        assert parts[:3] == ["python", "deployment/sbom.py", "--environment"]
        assert parts[3:] == ["/opt/semblance", "/opt/semblance/parts.cdx.json"]
        assert {tuple(run[:4]) for run in runs} == {("sh", "deployment/install.sh", "/opt/semblance", kind)}
    commands = {kind: json.loads(dict(STAGES[kind].steps)["CMD"]) for kind in ("web", "worker")}
    assert {STAGES[kind].base for kind in commands} == {"program"}
    assert commands["worker"] == ["semblance", "worker"]
    given = Config().parser().parse_args(commands["web"][1:])
    assert (commands["web"][0], given.args) == ("gunicorn", ["semblance.wsgi:application"])
    assert given.bind == ["0.0.0.0:8000"]


def test_workers_have_the_workers_image_and_all_others_the_one_without_torch() -> None:
    ours = {name: service for name, service in SERVICES.items() if service.get("build")}

    images = {name: (service["build"]["target"], service["image"]) for name, service in ours.items()}
    assert images == {
        name: ("worker", "semblance-worker") if name.startswith("worker-") else ("web", "semblance-web")
        for name in ours
    }
    assert set(ours["worker-gpu"]["build"]["args"]) == {"DEVICE", "TORCH_INDEX"}
    assert not re.search(r"^torch==", (REQUIREMENTS / "web.txt").read_text(), re.MULTILINE)


def test_everything_that_an_image_copies_is_in_the_project() -> None:
    ignored = (ROOT / ".dockerignore").read_text().split()
    copied = [
        name
        for stage in STAGES.values()
        for step, rest in stage.steps
        if step == "COPY" and not rest.startswith("--from=")
        for name in rest.split()[:-1]
    ]

    assert copied
    assert all((ROOT / name).exists() and name not in ignored for name in copied)
    assert [stage.name for stage in image_steps.order(STAGES, "web")] == [
        *("program", "packages", "wheel", "web-packages", "web")
    ]


def test_every_image_of_others_has_a_version_and_a_digest_can_be_written_behind_it(
    tmp_path, monkeypatch
) -> None:
    images = [service["image"] for service in SERVICES.values() if not service.get("build")]
    images += [stage.base for stage in STAGES.values() if stage.base not in STAGES]
    assert all(re.fullmatch(r"[\w./-]+:\d+\.\d+[\w.-]*(@sha256:[0-9a-f]{64})?", image) for image in images)

    for name in ("compose.yaml", "Dockerfile"):
        (tmp_path / name).write_text((ROOT / name).read_text())
    docker = tmp_path / "docker"
    docker.write_text(f"#!/bin/sh\necho sha256:{'ab' * 32}\n")
    docker.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr(pin_images, "ROOT", tmp_path)
    pin_images.main()
    pin_images.main()  # digests that are there already are replaced

    pinned = yaml.safe_load((tmp_path / "compose.yaml").read_text())["services"]
    written = [service["image"] for service in pinned.values() if not service.get("build")]
    written += [
        stage.base for stage in image_steps.stages_read((tmp_path / "Dockerfile").read_text())[0].values()
        if ":" in stage.base
    ]  # fmt: skip
    assert written == [f"{image.partition('@')[0]}@sha256:{'ab' * 32}" for image in images]
    assert [service["image"] for service in pinned.values() if service.get("build")] == [
        service["image"] for service in SERVICES.values() if service.get("build")
    ]


def test_nothing_runs_as_root_or_writes_beside_its_data() -> None:
    ours = [service for service in SERVICES.values() if service.get("build")]

    # Both images come from the stage that says who runs it, and change nothing about that.
    assert ("USER", "semblance") in STAGES["program"].steps
    assert not any(step in {"USER", "RUN"} for kind in ("web", "worker") for step, _ in STAGES[kind].steps)
    assert all(service["read_only"] and service["cap_drop"] == ["ALL"] for service in ours)
    assert all(service["volumes"] == ["data:/data"] for service in ours)
    assert all("User=semblance" in unit and "ProtectSystem=strict" in unit for unit in UNITS.values())


def test_the_proxy_lets_through_what_the_site_accepts() -> None:
    nginx = (ROOT / "deployment" / "nginx.conf").read_text()
    caddy = (ROOT / "deployment" / "Caddyfile").read_text()

    # nginx's m is 1024 times 1024 bytes, as is Caddy's MiB; its MB is a million.
    most = [re.search(r"client_max_body_size (\d+)m", nginx)[1], re.search(r"max_size (\d+)MiB", caddy)[1]]
    assert all(int(mebibytes) * 1024**2 > settings.UPLOAD_MAX_BYTES for mebibytes in most)


def test_programs_get_every_setting_of_the_file_and_those_of_the_containers_before_it() -> None:
    read = (ROOT / ".env.example").read_text()
    ours = [service for service in SERVICES.values() if service.get("build")]
    given = {name for service in ours for name in service["environment"]}

    assert {service["env_file"] for service in ours} == {".env"}
    assert {name for name in given if f"{name}=" not in read} == set()
    assert {service["environment"]["SEMBLANCE_HOME"] for service in ours} == {"/data"}


@pytest.mark.parametrize(("unit", "program", "arguments"), CALLS)
def test_each_line_of_a_unit_calls_a_program_of_the_wheel_with_arguments_that_it_takes(
    unit: str, program: str, arguments: list[str]
) -> None:
    assert entry_points(group="console_scripts", name=program)
    if program == "gunicorn":
        given = Config().parser().parse_args(arguments)
        assert (given.args, given.bind) == (["semblance.wsgi:application"], ["127.0.0.1:8000"])
    elif program == "celery":
        celery_takes(arguments)
    else:
        name, *rest = arguments
        command = load_command_class(get_commands()[name], name)
        given = command.create_parser("semblance", name).parse_args(rest)
        if name == "worker":
            celery_takes(worker_of(given.queues, name=given.name)[2:])


def test_units_wait_for_the_database_as_long_as_it_takes_and_are_started_as_the_guide_says() -> None:
    guide = (ROOT / "docs" / "guide" / "run-a-site" / "install.md").read_text()
    web = UNITS["semblance-web.service"]
    others = {name: unit for name, unit in UNITS.items() if unit is not web}

    assert all("StartLimitIntervalSec=0\n" in unit and "RestartSec=5\n" in unit for unit in UNITS.values())
    assert "TimeoutStartSec=infinity\n" in web  # a migration may be long
    assert all(re.search(r"^After=.* semblance-web.service$", unit, re.MULTILINE) for unit in others.values())
    [started] = re.findall(r"^systemctl enable --now (.+)$", guide, re.MULTILINE)
    workers = {f"semblance-worker@{queue}" for queue in QUEUES}
    assert set(started.split()) == {"semblance-web", "semblance-beat", *workers}


def celery_takes(arguments: list[str]) -> None:
    """Raises click.UsageError where it does not."""
    whole = celery.make_context("celery", list(arguments), obj=CLIContext(app, no_color=True, workdir=None))
    at = next(number for number, argument in enumerate(arguments) if argument in celery.commands)
    name, *rest = arguments[at:]
    celery.commands[name].make_context(name, rest, parent=whole)


def test_a_stage_goes_on_in_the_folder_of_the_one_below_and_copies_links_as_links(tmp_path) -> None:
    below = image_steps.Stage("packages", "an image", here="src")
    copies = [("COPY", "deployment/install.sh deployment/"), ("COPY", "semblance/guide guide")]
    above = image_steps.Stage("web-packages", "packages", copies)
    (tmp_path / "packages").mkdir()

    image_steps.stage_make(above, {"packages": below}, tmp_path, {})

    assert (tmp_path / "web-packages/src/deployment/install.sh").is_file()
    assert (tmp_path / "web-packages/src/guide/pages").is_symlink()


def test_the_list_of_parts_of_an_image_has_every_installed_package_or_the_steps_fail(tmp_path) -> None:
    def install(name: str) -> None:
        info = tmp_path / f"lib/python3.14/site-packages/{name}-1.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
        (info / "RECORD").write_text(f"{name}.py,,\n")

    install("One.Package")
    install("two")
    sbom.main(["--environment", str(tmp_path), str(tmp_path / "parts.cdx.json")])
    assert image_steps.parts_check(tmp_path) == 2

    install("three")
    with pytest.raises(SystemExit, match=r"lacks three 1\."):
        image_steps.parts_check(tmp_path)
