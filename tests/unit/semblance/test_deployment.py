"""The files for containers, systemd and proxies agree with the programs: queues, times to stop, sizes, users."""

import re
from pathlib import Path

import yaml
from django.conf import settings

from mlworkers.plans.kinds import QUEUES
from mlworkers.runs.presence import worker_arguments
from semblance.serving.processes import GRACE

ROOT = Path(__file__).resolve().parents[3]
SERVICES = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
UNITS = {path.name: path.read_text() for path in (ROOT / "deployment").glob("*.service")}


def test_every_queue_has_a_worker_that_is_called_as_serve_calls_it() -> None:
    commands = {
        name.removeprefix("worker-"): service["command"]
        for name, service in SERVICES.items()
        if name.startswith("worker-")
    }

    assert commands.keys() == set(QUEUES)
    for queue, command in commands.items():
        given = [str(argument) for argument in worker_arguments(queue)]
        assert command[1 : 1 + len(given)] == given, queue


def test_our_programs_start_after_the_migration_and_the_migration_after_the_database() -> None:
    ours = [name for name, service in SERVICES.items() if service.get("build")]

    waits = {name: SERVICES[name]["depends_on"] for name in ours}
    assert waits.pop("migrate") == {
        "database": {"condition": "service_healthy"},
        "redis": {"condition": "service_healthy"},
    }
    assert all(
        wait == {"migrate": {"condition": "service_completed_successfully"}} for wait in waits.values()
    )
    assert all("healthcheck" in SERVICES[name] for name in ("web", "database", "redis"))


def test_programs_have_longer_to_stop_than_they_take() -> None:
    given = [
        float(SERVICES[name]["stop_grace_period"].removesuffix("s")) for name in ("web", "worker-gpu", "beat")
    ]
    given += [
        float(re.search(r"TimeoutStopSec=(\d+)", UNITS[name])[1]) for name in UNITS if "beat" not in name
    ]

    assert min(given) > GRACE
    assert min(given) > 30  # gunicorn's own patience with requests that are underway


def test_nothing_runs_as_root_or_writes_beside_its_data() -> None:
    image = (ROOT / "Dockerfile").read_text()
    ours = [service for service in SERVICES.values() if service.get("build")]

    assert image.rindex("USER semblance") > image.rindex("FROM ")
    assert all(service["read_only"] and service["cap_drop"] == ["ALL"] for service in ours)
    assert all(service["volumes"] == ["data:/data"] for service in ours)
    assert all("User=semblance" in unit and "ProtectSystem=strict" in unit for unit in UNITS.values())


def test_the_proxy_lets_through_what_the_site_accepts() -> None:
    nginx = (ROOT / "deployment" / "nginx.conf").read_text()
    caddy = (ROOT / "deployment" / "Caddyfile").read_text()

    most = [re.search(r"client_max_body_size (\d+)m", nginx)[1], re.search(r"max_size (\d+)MB", caddy)[1]]
    assert all(int(megabytes) * 10**6 > 300 * 10**6 for megabytes in most)
    assert int(most[0]) * 1024**2 > settings.UPLOAD_MAX_BYTES


def test_the_example_needs_no_variable_that_settings_do_not_read() -> None:
    read = (ROOT / ".env.example").read_text()
    given = {name for service in SERVICES.values() if service.get("build") for name in service["environment"]}

    assert {name for name in given if f"{name}=" not in read} == set()
