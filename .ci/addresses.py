"""Where the PostgreSQL and the Redis of the checks are."""

import os

SERVICES = {
    "DATABASE_URL": os.environ.get("CI_DATABASE_URL", "postgres://root@127.0.0.1:5432/test"),
    "REDIS_URL": os.environ.get("CI_REDIS_URL", "redis://127.0.0.1:6379/9"),
}
