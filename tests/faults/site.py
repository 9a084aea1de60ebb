"""A site as `semblance serve` runs it, but each program can be killed alone and started again, as systemd does."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from semblance.serving.processes import Program
from semblance.serving.programs import beat, listening, web, workers
from tests.faults.servers import PATIENCE, PostgreSQL, RedisServer, wait_until
from tests.integration.mlworkers.installation import ROOT, Installation

# How much is judged, by how many. The campaign has no more to give, so that all are there at its end.
JUDGEMENTS = int(os.environ.get("FAULTS_JUDGEMENTS", "300"))
ANNOTATORS = int(os.environ.get("FAULTS_ANNOTATORS", "8"))
REQUIRED = 2  # judgements of each tuple
PAIRS = 400

# An owner, annotators who are logged in, and an open campaign.
PREPARE = (
    f"""
JUDGEMENTS, ANNOTATORS, REQUIRED, PAIRS = {JUDGEMENTS}, {ANNOTATORS}, {REQUIRED}, {PAIRS}
"""
    """
import json
from django.core.management import call_command
from django.test import Client
from annotation.models import Campaign, Tuple, TupleItem
from curation.models import Dataset, Membership, Pair, Sentence, User
from tests.factories import token_of
call_command("migrate", verbosity=0)
dataset = Dataset.objects.create(slug="scenes", name="Scenes")
sentences = Sentence.objects.bulk_create(
    Sentence(dataset=dataset, text=f"Sentence number {number}.", key=f"{number:064d}")
    for number in range(2 * PAIRS)
)
both = zip(sentences[::2], sentences[1::2], strict=True)
pairs = Pair.objects.bulk_create(
    Pair(dataset=dataset, external_id=str(number), a=a, b=b) for number, (a, b) in enumerate(both)
)
def person(name, role):
    user = User.objects.create(username=name)
    Membership.objects.create(dataset=dataset, user=user, role=role)
    return user
def session(user):
    client = Client()
    client.force_login(user)
    return client.cookies["sessionid"].value
def campaign_of(name, tuples):
    campaign = Campaign.objects.create(
        dataset=dataset, name=name, state=Campaign.State.OPEN, judgements_per_tuple=REQUIRED
    )
    rows = Tuple.objects.bulk_create(
        Tuple(campaign=campaign, number=number + 1, priority=number, required=REQUIRED) for number in range(tuples)
    )
    items = (
        TupleItem(tuple=row, slot=slot, pair=pairs[(row.number + slot * PAIRS // 4) % PAIRS])
        for row in rows
        for slot in range(4)
    )
    TupleItem.objects.bulk_create(items, batch_size=5000)
    return campaign.pk
owner = person("owner", "owner")
annotators = [person(f"annotator {number}", "annotator") for number in range(ANNOTATORS)]
campaigns = [campaign_of("Faults", JUDGEMENTS // REQUIRED), campaign_of("Others", 20)]
sessions = [session(user) for user in annotators]
print(json.dumps({"campaigns": campaigns, "token": token_of(owner), "sessions": sessions}))
"""
)


STALE = 5.0  # seconds until a worker counts as silent


class Site(Installation):
    """Programs, database, Redis and folder of one site. Its socket stays open while its web server is away."""

    def __init__(self, home: Path, cluster: PostgreSQL, redis: RedisServer, *, database: str) -> None:
        super().__init__(home, cluster.url(database))
        self.cluster, self.redis, self.database = cluster, redis, database
        self.environment |= {"REDIS_URL": redis.url, "HTTPS": "false", "RUN_STALE_SECONDS": str(STALE)}
        self._listener = listening("127.0.0.1", 0)
        self.port = self._listener.getsockname()[1]
        programs = [web(self._listener, 2), *workers("default"), beat()]
        self._programs: dict[str, Program] = {program.name: program for program in programs}
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self.log = home.with_name(f"{home.name}.log")
        self.campaign = self.other_campaign = 0
        self.token = ""  # of the owner
        self.sessions: list[str] = []  # of the annotators

    def prepare(self) -> None:
        made = json.loads(self.manage("shell", "-v", "0", given=PREPARE).splitlines()[-1])
        self.campaign, self.other_campaign = made["campaigns"]
        self.token, self.sessions = made["token"], made["sessions"]

    def start(self, name: str) -> None:
        program = self._programs[name]
        with self.log.open("ab") as log:
            self._running[name] = subprocess.Popen(
                [sys.executable, "-u", *program.arguments],
                env=self.environment,
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                process_group=0,
                pass_fds=program.descriptors,
            )

    def start_what_is_missing(self) -> None:
        for name in self._programs:
            if name not in self._running or not self.runs(name):
                self.start(name)

    def kill(self, name: str) -> None:
        """kill -9, the program and its children."""
        process = self._running.pop(name)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def kill_one_web_process(self) -> None:
        """One of those that answer requests; gunicorn starts another."""
        parent = self._running["web"].pid
        children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
        with suppress(ProcessLookupError):
            os.kill(int(children[0]), signal.SIGKILL)

    def stop(self) -> None:
        for name in list(self._running):
            self.kill(name)
        self._listener.close()

    def runs(self, name: str) -> bool:
        """Whether the program is still running."""
        return self._running[name].poll() is None

    def wait(self) -> None:
        """Until the site answers and its worker, not one that was killed, lives."""
        wait_until(self._answers, "the site answers")
        self.wait_for_worker()

    def wait_for_worker(self) -> None:
        name = f"%/{self._running['default'].pid}"
        living = f"SELECT count(*) FROM mlworkers_workerheartbeat WHERE name LIKE '{name}'"  # noqa: S608
        wait_until(lambda: bool(self.row(living)[0]), "the worker lives")

    def _answers(self) -> bool:
        with suppress(OSError), urlopen(f"http://127.0.0.1:{self.port}/livez", timeout=5) as answer:
            return bool(answer.status == 200)
        return False

    def worker_log(self) -> str:
        return self.log.read_text(errors="replace")[-6000:] if self.log.exists() else ""

    def run_log(self, run: int) -> str:
        path = self.home / "runs" / str(run) / "log.txt"
        return path.read_text()[-6000:] if path.exists() else ""

    def ask(
        self, path: str, body: Any = None, *, data: bytes | None = None, method: str = ""
    ) -> tuple[int, Any]:
        """The owner's program asks the API: the status, and what was answered."""
        headers = {"Authorization": f"Token {self.token}", "Content-Type": "application/json"}
        sent = json.dumps(body).encode() if body is not None else data
        request = Request(f"http://127.0.0.1:{self.port}/api/v1/{path}", sent, headers, method=method or None)
        try:
            with urlopen(request, timeout=PATIENCE) as answer:
                return answer.status, json.loads(answer.read() or "null")
        except HTTPError as error:
            text = error.read()
            with suppress(ValueError):
                return error.code, json.loads(text)
            return error.code, text.decode(errors="replace")

    def run_start(self, kind: str, **plan: Any) -> int:
        """The number of a run that is queued now. The site may be away for a moment."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            with suppress(OSError):
                status, answer = self.ask("runs/", {"kind": kind, "plan": plan})
                if status == 201:
                    number: int = answer["id"]
                    return number
                assert status >= 500, answer
            time.sleep(0.2)
        raise AssertionError("no run could be started")
