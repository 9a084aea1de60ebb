"""The pairs table and the page of a pair of a large dataset: ours against the page that Django makes of a query.

The baseline is what one writes first: the pairs found with their sentences and scores in one query, sorted, counted
exactly, and cut by the paginator. Both answer every question below as a list; ours also draws the pages, through the
views, and the page of one pair with its neighbours. With a PostgreSQL DATABASE_URL on PostgreSQL, else on SQLite.
"""

import argparse
from pathlib import Path
from time import perf_counter
from urllib.parse import urlencode

import _database
import numpy as np
from _compare import Comparison, print_comparison, rates_compared
from _pairs import varied_pairs_file
from django.core.paginator import Paginator
from django.db import connection
from django.db.models import F
from django.test import Client
from django.test.utils import CaptureQueriesContext, override_settings

from curation.datasets.selectors import PairFilter, pairs_matching, with_values
from curation.exchange.importing import pairs_import
from curation.models import Dataset, Pair, ScoreSet, User

ROUNDS = 3
QUESTIONS: list[dict[str, str | float]] = [
    {},
    {"page": 500},
    {"source": "news"},
    {"split": "test"},
    {"split": "dev", "source": "forum"},
    {"origin": "generated"},
    {"status": "retired"},
    {"status": "active", "source": "novels"},
    {"low": 1, "high": 2},
    {"low": 4.9},
    {"low": 2.3, "high": 2.3, "split": "dev"},
    {"search": "bafe"},
    {"search": "bafe cobi"},
    {"search": "mudokafe"},
    {"search": "nothing has this"},
    {"search": "bafe", "split": "test"},
    *(
        {"order": order}
        for order in ("score", "-score", "external_id", "-external_id", "source", "-source", "-pk")
    ),
    {"order": "score", "split": "test", "low": 2},
    {"order": "-score", "page": 100},
    {"order": "score", "source": "web", "status": "active"},
    {"order": "-score", "search": "mudokafe"},
]


def dataset_made(count: int) -> Dataset:
    dataset = Dataset.objects.create(slug="large", name="Large")
    pairs_import(dataset=dataset, path=varied_pairs_file(Path(_database.HOME) / "pairs.csv", count, seed=1))
    Pair.objects.filter(pk__in=Pair.objects.order_by("pk").values("pk")[: count // 50]).update(
        status="retired"
    )
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE" if connection.vendor == "postgresql" else "ANALYZE")
    return dataset


def asked_of_the_views(client: Client, dataset: Dataset) -> tuple[list[float], set[int]]:
    """Seconds of each page, the median of ROUNDS, and how many queries the pages took."""
    middle = dataset.pairs.order_by("pk")[dataset.pairs.count() // 2]
    table, page = f"/datasets/{dataset.slug}/", f"/datasets/{dataset.slug}/pairs/{middle.pk}/"
    seconds, queries = [], set()
    for question in QUESTIONS:
        for path, headers in ((table, {"HX-Request": "true"}), (page, {})):
            address = f"{path}?{urlencode(question)}"
            with CaptureQueriesContext(connection) as caught:
                assert client.get(address, headers=headers).status_code == 200
            queries.add(len(caught))
            seconds.append(float(np.median([_seconds(client, address, headers) for _round in range(ROUNDS)])))
            print(f"{seconds[-1] * 1000:7.0f} ms  {address}", flush=True)
    return seconds, queries


def _seconds(client: Client, address: str, headers: dict[str, str]) -> float:
    started = perf_counter()
    client.get(address, headers=headers)
    return perf_counter() - started


def asked_in_one_query(dataset: Dataset) -> list[float]:
    score_set = ScoreSet.objects.get(dataset=dataset)
    seconds = []
    for question in QUESTIONS:
        asked = {name: value for name, value in question.items() if name not in {"page", "order"}}
        wanted = PairFilter(score_set=score_set.pk, **asked)
        name = str(question.get("order", "pk"))
        field = F("value" if name.endswith("score") else name.removeprefix("-"))
        order = field.desc(nulls_last=True) if name.startswith("-") else field.asc(nulls_last=True)
        pairs = with_values(pairs_matching(dataset, wanted), score_set.pk).select_related("a", "b")
        found = pairs.order_by(order, "-pk" if name.startswith("-") else "pk")
        started = perf_counter()
        page = Paginator(found, 50).get_page(question.get("page", 1))
        _shown = list(page), page.paginator.count
        seconds.append(perf_counter() - started)
    return seconds


@override_settings(ALLOWED_HOSTS=["testserver"])
def measured(count: int) -> Comparison:
    dataset = dataset_made(count)
    client = Client()
    client.force_login(User.objects.create_superuser("curator"))
    seconds, queries = asked_of_the_views(client, dataset)
    baseline = asked_in_one_query(dataset)
    p95, baseline_p95 = (float(np.percentile(those, 95)) for those in (seconds, baseline))
    return rates_compared(
        "pairs_table",
        work=1,
        unit="pages/s at the 95th percentile",
        seconds=p95,
        baseline="one query with joins, an exact count and the paginator, the list alone",
        baseline_seconds=baseline_p95,
        notes=f"{count} pairs on {connection.vendor}; {len(seconds)} pages: median {np.median(seconds) * 1000:.0f} ms, "
        f"95th percentile {p95 * 1000:.0f} ms, slowest {max(seconds) * 1000:.0f} ms; "
        f"{min(queries)} to {max(queries)} queries a page; baseline: median {np.median(baseline) * 1000:.0f} ms, "
        f"slowest {max(baseline) * 1000:.0f} ms",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a smaller size, in seconds instead of minutes")
    parser.add_argument("--rows", type=int, default=1_000_000)
    options = parser.parse_args()
    print_comparison(measured(20_000 if options.quick else options.rows))


if __name__ == "__main__":
    main()
