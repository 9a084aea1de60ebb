"""Statistics of PostgreSQL that know only earlier datasets must not make a large import slower with each part."""

import pytest
from django.db import connection

from curation.exchange import importing
from curation.exchange.importing import ImportOptions, pairs_import
from tests.factories import DatasetFactory, SentenceFactory

pytestmark = [pytest.mark.postgres, pytest.mark.django_db]
PLAN = """
EXPLAIN SELECT found.* FROM json_array_elements_text('["a"]') AS asked(value)
CROSS JOIN LATERAL (SELECT id FROM curation_sentence WHERE dataset_id = %s AND key = asked.value OFFSET 0) AS found
"""


def test_sentences_of_a_new_dataset_are_sought_by_their_keys_while_it_is_imported(
    tmp_path, monkeypatch
) -> None:
    SentenceFactory.create_batch(300, dataset=DatasetFactory())
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE curation_sentence")
    monkeypatch.setattr(importing, "ONE_TRANSACTION_ROWS", 500)
    monkeypatch.setattr(importing, "CHUNK_ROWS", 500)
    path = tmp_path / "pairs.csv"
    lines = [f"A dog runs past house {n}.,A cat sleeps on roof {n}.,{n % 6}" for n in range(1500)]
    path.write_text("\n".join(["sentence1,sentence2,score", *lines]))
    dataset, plans = DatasetFactory(), []

    def planned(done: int, total: int, message: str) -> None:
        if message == "Importing pairs":
            with connection.cursor() as cursor:
                cursor.execute(PLAN, [dataset.pk])
                plans.append("\n".join(row for (row,) in cursor.fetchall()))

    pairs_import(dataset=dataset, path=path, options=ImportOptions(scale=(0, 5)), report=planned)

    assert len(plans) == 3
    assert "Filter: ((key)" in plans[0]
    assert "Filter: ((key)" not in plans[1]
