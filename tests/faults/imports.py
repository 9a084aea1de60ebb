"""An import of many rows, begun by a program of the owner's."""

from tests.faults.site import Site

IMPORTED = """
SELECT count(*), count(DISTINCT external_id) FROM curation_pair pair
JOIN curation_dataset dataset ON dataset.id = pair.dataset_id WHERE dataset.slug = '{}'
"""


def imported(site: Site, slug: str) -> tuple[int, int]:
    """How many pairs the dataset has, and how many different ones."""
    pairs, different = site.row(IMPORTED.format(slug))
    return pairs, different


def import_begun(site: Site, slug: str, *, rows: int) -> int:
    """The number of a run that has written some of so many pairs of a new dataset."""
    lines = [f"A dog runs past house {n}.,A cat sleeps on roof {n}.,{n % 6}" for n in range(rows)]
    data = "\n".join(["sentence1,sentence2,score", *lines]).encode()
    status, answer = site.ask("datasets/", {"slug": slug, "name": slug})
    assert status == 201, answer
    status, batch = site.ask(f"datasets/{slug}/imports/?filename=pairs.csv", data=data)
    assert status == 201, batch
    status, answer = site.ask(f"datasets/{slug}/imports/{batch['id']}/check/", {"low": 0, "high": 5})
    assert status == 200, answer
    run = site.run_start("import_pairs", dataset=slug, batch=batch["id"])
    site.eventually(IMPORTED.format(slug), lambda found: found[0][0] > 0)
    return run
