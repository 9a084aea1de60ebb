"""Many people judge and undo while the parts of the site are killed at random moments: nothing is lost, nothing double.

FAULTS_JUDGEMENTS, FAULTS_ANNOTATORS, FAULTS_KILLS and FAULTS_SEED make it longer (`make faults`).
"""

import os
import random
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.faults.annotators import Annotator, Ledger
from tests.faults.site import ANNOTATORS, JUDGEMENTS, Site

KILLS = int(os.environ.get("FAULTS_KILLS", "4"))
SEED = os.environ.get("FAULTS_SEED", "13")
THOUGHT = 0.05  # seconds
DOWN = 2.0  # seconds, at most, until what was killed is started again
PATIENCE = 180.0 + JUDGEMENTS / 5  # seconds for all of it

pytestmark = [pytest.mark.postgres_server, pytest.mark.redis_server]


def killed(name: str) -> Callable[[Site], tuple[Callable[[], None], Callable[[], None]]]:
    return lambda site: (lambda: site.kill(name), lambda: site.start(name))


# What can be killed: what is done, and what brings it back. The first four are those of a short test.
FAULTS: dict[str, Callable[[Site], tuple[Callable[[], None], Callable[[], None]]]] = {
    "web": killed("web"),
    "worker": killed("default"),
    "Redis": lambda site: (site.redis.kill, site.redis.start),
    "connections": lambda site: (lambda: site.cluster.drop_connections(site.database), lambda: None),
    "one web process": lambda site: (site.kill_one_web_process, lambda: None),
    "PostgreSQL": lambda site: (site.cluster.crash, site.cluster.start),
    "beat": killed("beat"),
}

STORED = """
SELECT judgement.client_id::text, lease.id, judgement.order_shown, judgement.best_slot, judgement.worst_slot, status
FROM annotation_judgement judgement
LEFT JOIN annotation_lease lease USING (tuple_id, participation_id)
JOIN annotation_tuple tuple ON tuple.id = judgement.tuple_id WHERE tuple.campaign_id = {}
"""
OVER_ASSIGNED = """
SELECT tuple.id, tuple.required, tuple.collected, tuple.leased, count(judgement.id),
  count(judgement.id) FILTER (WHERE judgement.status = 'collected'),
  (SELECT count(*) FROM annotation_lease lease WHERE lease.tuple_id = tuple.id AND lease.state = 'live') AS live
FROM annotation_tuple tuple LEFT JOIN annotation_judgement judgement ON judgement.tuple_id = tuple.id
WHERE tuple.campaign_id = {}
GROUP BY tuple.id
HAVING count(judgement.id) != tuple.required OR tuple.collected != tuple.required OR tuple.leased != 0
  OR count(judgement.id) FILTER (WHERE judgement.status = 'collected') != tuple.required
"""
TAKEN_BACK = """
SELECT revision.client_id::text FROM annotation_judgementrevision revision
JOIN annotation_tuple tuple ON tuple.id = revision.tuple_id WHERE tuple.campaign_id = {}
"""
RUNS = "SELECT state, message FROM mlworkers_run WHERE id IN ({})"


def disturb(site: Site, ledger: Ledger, rng: random.Random) -> tuple[list[str], list[int]]:
    """Kill one thing after another, each after a number of judgements drawn by chance; what, and the runs meanwhile."""
    moments = sorted(rng.sample(range(ledger.target // 20, ledger.target * 9 // 10), KILLS))
    names = list(FAULTS)[: max(4, min(KILLS, len(FAULTS)))]
    drawn = [name for _ in range(KILLS) for name in rng.sample(names, len(names))][:KILLS]
    runs = []
    for moment, name in zip(moments, drawn, strict=True):
        while len(ledger.kept) - len(ledger.undone) < moment and not ledger.over.is_set():
            time.sleep(0.01)
        runs.append(site.run_start("export_dataset", dataset="scenes"))
        kill, restart = FAULTS[name](site)
        kill()
        time.sleep(rng.uniform(0, DOWN))
        restart()
    return drawn, runs


def test_no_judgement_is_lost_or_double_while_everything_is_killed(site: Site) -> None:
    ledger, rng = Ledger(JUDGEMENTS), random.Random(SEED)
    people = [
        Annotator(site.port, site.campaign, session, ledger, seed=f"{SEED} {number}", thought=THOUGHT)
        for number, session in enumerate(site.sessions)
    ]
    began = time.monotonic()

    for person in people:
        person.start()
    drawn, runs = disturb(site, ledger, rng)
    ended = ledger.over.wait(PATIENCE)
    seconds = time.monotonic() - began
    for person in people:
        person.join()

    assert ended, (
        len(ledger.kept),
        ledger.outcomes,
        site.rows(OVER_ASSIGNED.format(site.campaign))[:5],
        site.worker_log(),
    )
    stored = {row[0]: row[1:] for row in site.rows(STORED.format(site.campaign))}
    said = ledger.sent
    assert stored.keys() <= said.keys()
    lost = ledger.kept - ledger.undone - stored.keys()
    taken_back = sorted(row[0] for row in site.rows(TAKEN_BACK.format(site.campaign)))
    changed = [
        (said[client_id], row)
        for client_id, row in stored.items()
        if (row[0], row[2], row[3]) != (said[client_id].lease, *placed(said[client_id], row[1]))
    ]
    print(f"\n{JUDGEMENTS} judgements, {ANNOTATORS} annotators, {seconds:.0f} s; killed: {', '.join(drawn)}")
    print(f"{ledger.requests} requests; answers of the site: {dict(ledger.outcomes)}")
    assert (ledger.refused, lost, changed) == ([], set(), [])
    # Each undo took away its own answer, once, and nothing else was taken away.
    assert ledger.undone
    assert taken_back == sorted(ledger.undone)
    assert ledger.undone.isdisjoint(stored)
    assert len(site.rows(STORED.format(site.campaign))) == len(stored) == JUDGEMENTS
    assert site.rows(OVER_ASSIGNED.format(site.campaign)) == []
    runs_of_it = RUNS.format(", ".join(map(str, runs)))
    site.eventually(runs_of_it, lambda found: {row[0] for row in found} == {"succeeded"})


def placed(answer: Any, order: list[int]) -> tuple[int, int]:
    return order[answer.best], order[answer.worst]
