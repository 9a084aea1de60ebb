"""Files with one rating in each row, imported by command, page and API: each pair once, and everything said."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.core.management.base import CommandError

from curation.exchange.exporting import snapshot_create
from curation.files.publishing.texts import methods_files
from curation.models import Dataset, ImportBatch, Pair, PairScore, ScoreSet
from semblance.publishing.collecting import publication_of
from tests.factories import client_of, program_of
from tests.markup import squeezed

pytestmark = pytest.mark.django_db

HEADER = "Input.sentence1,Input.sentence2,Answer.similarity,WorkerId,AssignmentStatus\n"
RATINGS = HEADER + "".join(
    f"A dog runs {n}.,A hound runs {n}.,{(n + k) % 6},w{k},{'Rejected' if k == 2 else 'Approved'}\n"
    for n in range(6)
    for k in range(3)
)


@pytest.fixture
def imported(tmp_path, capsys):
    def importing(text: str, *options: str) -> tuple[str, dict]:
        path = tmp_path / "ratings.csv"
        path.write_text(text)
        call_command("import_pairs", str(path), "--dataset", "rated", "--create", *options, "--json")
        *lines, last = capsys.readouterr().out.splitlines()
        return "\n".join(lines), json.loads(last)

    return importing


@pytest.mark.parametrize("options", [(), ("--ratings",), ("--ratings", "--worker", "WorkerId")])
def test_a_file_of_ratings_becomes_its_pairs_with_their_mean_ratings(imported, options) -> None:
    lines, figures = imported(RATINGS, *options)

    assert (figures["rows"], figures["added"], figures["scale"]) == (6, 6, [0, 5])
    assert (figures["ratings"]["ratings"], figures["ratings"]["rejected_assignments"]) == (12, 6)
    assert "12 ratings of 6 pairs by 2 raters" in lines
    assert "6 rows of rejected assignments are left out." in lines
    assert ("--no-ratings" in lines) == (not options)
    score = PairScore.objects.get(pair__a__text="A dog runs 5.")
    assert (score.value, score.judgements, score.standard_error) == (2.5, 2, pytest.approx(2.5))
    assert (ScoreSet.objects.get().kind, ScoreSet.objects.get().parameters["raters"]) == ("reference", 2)


def test_how_far_raters_agree_is_told_by_the_import_and_the_page_and_stated_in_a_methods_section(
    imported, staff
) -> None:
    lines, _figures = imported(RATINGS)
    page = squeezed(client_of(staff).get("/datasets/rated/").content.decode())
    snapshot = snapshot_create(dataset=Dataset.objects.get())
    methods = methods_files(publication_of(snapshot).publication)["METHODS.md"]

    # Means .5, 1.5, 2.5, 3.5, 4.5 and 2.5: MSB = 2 * 10 / 5 = 4. Within, five times .5 and once 12.5: MSW = 15 / 6.
    # ICC(1) = (4 - 2.5) / (4 + 2.5) and (4 - 2.5) / 4.
    for told in (lines, page):
        assert "on the 6 pairs with several ratings: ICC(1) 0.231 (" in told
        assert "and 0.375 (" in told
        assert "All raters rated all pairs: ICC(2) " in told
    assert "ICC(1) of one rating 0.231, 95 % interval " in methods
    assert "(Shrout and Fleiss, 1979)" in methods


def test_ratings_imported_again_add_nothing(imported) -> None:
    imported(RATINGS)

    _lines, figures = imported(RATINGS)

    assert (figures["added"], figures["updated"], figures["unchanged"]) == (0, 0, 6)


def test_every_row_is_a_pair_where_that_is_said(imported) -> None:
    _lines, figures = imported(RATINGS, "--no-ratings")

    assert (figures["added"], figures["ratings"]) == (18, None)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (
            RATINGS.replace("WorkerId", "Column"),
            "6 pairs have 18 scores, and 6 of them several different ones",
        ),
        (RATINGS.replace("Answer.similarity", "how"), "the column “WorkerId” says who rated them"),
    ],
    ids=["nobody is named", "the ratings are not known"],
)
def test_rows_that_may_be_ratings_are_pairs_and_this_is_said(imported, text, word) -> None:
    text = text.replace("Rejected", "Approved")

    lines, figures = imported(text)

    assert figures["added"] == 18
    assert word in lines


def test_ratings_without_a_column_of_ratings_are_refused(imported) -> None:
    with pytest.raises(CommandError, match="the column of the ratings is not known"):
        imported(RATINGS.replace("Answer.similarity", "how"), "--ratings")


CHOICES = {
    "header": "yes", "a": "Input.sentence1", "b": "Input.sentence2", "score": "Answer.similarity",
    "score_set": "gold", "worker": "WorkerId",
}  # fmt: skip


@pytest.mark.parametrize(("rows_are", "pairs"), [("", 6), ("ratings", 6), ("pairs", 18)])
def test_the_page_reads_ratings_and_says_what_became_of_them(
    dataset, curator, client_of, rows_are, pairs
) -> None:
    client, address = client_of(curator), f"/datasets/{dataset.slug}/import/"
    client.post(address, {"file": SimpleUploadedFile("ratings.csv", RATINGS.encode())})
    batch = ImportBatch.objects.get()

    looked = squeezed(client.get(f"{address}{batch.pk}/").content.decode())
    answer = client.post(f"{address}{batch.pk}/check/", CHOICES | {"rows_are": rows_are}, follow=True)

    batch.refresh_from_db()
    assert '<option value="WorkerId" selected>WorkerId</option>' in looked
    assert batch.added == pairs
    assert ("12 ratings of 6 pairs by 2 raters" in squeezed(answer.content.decode())) == (pairs == 6)


def test_a_program_gets_the_mean_ratings(dataset, curator) -> None:
    client = program_of(curator)
    address = f"/api/v1/datasets/{dataset.slug}/imports/"
    sent = client.generic("POST", f"{address}?filename=ratings.csv", RATINGS.encode(), "text/csv").json()

    client.post(f"{address}{sent['id']}/check/", {"rows_are": "ratings"}, content_type="application/json")
    done = client.post(f"{address}{sent['id']}/apply/", {}, content_type="application/json").json()

    assert (done["added"], done["report"]["ratings"]["ratings"]) == (6, 12)
    assert Pair.objects.count() == PairScore.objects.filter(judgements=2).count() == 6
