"""How many transactions a second one idle worker costs PostgreSQL, beside those of PostgreSQL itself (autovacuum).

Run with DATABASE_URL set to a migrated, empty database that nothing else uses: python docs/experiments/idle_worker.py
"""

import os
import subprocess
import sys
import time

import psycopg

SECONDS = 90.0
COUNTED = "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = %s"


def rate(connection: psycopg.Connection, name: str) -> float:
    """Transactions a second, asked from another database so that the question does not count."""

    def count() -> int:
        connection.execute("SELECT pg_stat_clear_snapshot()")
        return connection.execute(COUNTED, [name]).fetchone()[0]

    began, before = time.monotonic(), count()
    time.sleep(SECONDS)
    return (count() - before) / (time.monotonic() - began)


def main() -> None:
    server, _slash, name = os.environ["DATABASE_URL"].rpartition("/")
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        alone = rate(connection, name)
        worker = subprocess.Popen([sys.executable, "manage.py", "worker", "--queues", "default"])
        try:
            time.sleep(30)  # until it has started
            with_worker = rate(connection, name)
        finally:
            worker.terminate()
            worker.wait()
    print(f"alone {alone:.3f}, with a worker {with_worker:.3f} transactions a second")


main()
