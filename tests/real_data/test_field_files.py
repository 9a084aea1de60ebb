"""Files with the habits of the field's, read as their README says: by the command, the page and the API."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client

from curation.models import PairScore
from tests.factories import token_of

pytestmark = [pytest.mark.real_data, pytest.mark.django_db]

# Of each file: its pairs, their scores, the rejected rows, and words that are said of it.
FIELD = {
    "late_merge_only.tsv": (2111, 2111, 0, "Quotation marks are part of the text"),
    "late_score.csv": (2150, 50, 0, '"score" is read as the score'),
    "nli_int.csv": (30, 0, 0, "name it as the score"),
    "hf_classlabel.parquet": (12, 0, 0, "the file itself says that its numbers are classes"),
    "qualtrics_noscore.csv": (20, 0, 2, "the row is a second header row"),
    "ids_repeat.tsv": (30, 30, 0, '"id" is not read as the id'),
    "semi_dec_header.csv": (30, 30, 0, "have a comma before their decimals"),
}


@pytest.fixture
def by_command(dataset, capsys) -> Callable[[Path], str]:
    def said(path: Path) -> str:
        call_command("import_pairs", str(path), dataset=dataset.slug)
        return capsys.readouterr().out

    return said


@pytest.fixture
def by_api(dataset, curator) -> Callable[[Path], str]:
    program = Client(headers={"authorization": f"Token {token_of(curator)}"})

    def said(path: Path) -> str:
        address, content = f"/api/v1/datasets/{dataset.slug}/imports/", path.read_bytes()
        sent = program.generic(
            "POST", f"{address}?filename={path.name}", content, CONTENT_LENGTH=str(len(content))
        )
        below = f"{address}{sent.json()['id']}/"
        steps = [
            program.post(f"{below}{step}/", {}, content_type="application/json")
            for step in ("check", "apply")
        ]
        report = steps[-1].json()["report"]
        return "\n".join(
            [*(one["reason"] for one in report["guesses"]), *(one["reason"] for one in report["errors"])]
        )

    return said


@pytest.fixture
def by_page(dataset, curator, client) -> Callable[[Path], str]:
    client.force_login(curator)
    address = f"/datasets/{dataset.slug}/import/"

    def said(path: Path) -> str:
        page = client.post(address, {"file": SimpleUploadedFile(path.name, path.read_bytes())})["Location"]
        shown = client.get(page)
        form = shown.context["form"]
        fields = {name: form.get_initial_for_field(field, name) for name, field in form.fields.items()}
        chosen = {name: value for name, value in fields.items() if value is not None}
        client.post(f"{page}check/", chosen | {"header": "yes", "delimiter": ""})
        client.post(f"{page}apply/")
        return shown.content.decode().replace("&quot;", '"') + client.get(page).content.decode()

    return said


@pytest.mark.parametrize("way", ["by_command", "by_api", "by_page"])
@pytest.mark.parametrize("name", FIELD)
def test_a_file_of_the_field_is_read_as_its_readme_says(
    real_data: Path, dataset, request, name: str, way: str
) -> None:
    pairs, scores, rejected, words = FIELD[name]

    said = request.getfixturevalue(way)(real_data / "field" / name)

    batch = dataset.imports.get()
    assert (dataset.pairs.count(), batch.rejected) == (pairs, rejected)
    assert PairScore.objects.filter(pair__dataset=dataset).count() == scores
    assert words in said


def test_classes_of_the_field_are_kept_by_name_and_marks_and_decimals_as_they_stand(
    real_data: Path, dataset
) -> None:
    for name in ("hf_classlabel.parquet", "late_merge_only.tsv", "semi_dec_header.csv"):
        call_command("import_pairs", str(real_data / "field" / name), dataset=dataset.slug, score_set=name)

    subsets = set(dataset.pairs.filter(source="hf_classlabel").values_list("subset", flat=True))
    assert subsets == {"entailment", "neutral", "contradiction"}
    assert dataset.pairs.filter(a__text='"We open a mark and go on').exists()
    decimals = PairScore.objects.filter(score_set__name="semi_dec_header.csv").values_list("value", flat=True)
    assert {0.1, 1.2, 2.3} <= set(decimals)
