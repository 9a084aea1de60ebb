"""Files with the habits of the field's, read as their README says: by the command, the page and the API."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command

from curation.datasets.duplicates import duplicates_found
from curation.datasets.splits import leaks_now
from curation.files.parsing import read_pairs
from curation.models import PairScore
from tests.factories import DatasetFactory, program_of

pytestmark = [pytest.mark.real_data, pytest.mark.django_db]

# Of each file of pairs: its pairs, their scores, the rejected rows, and words that are said of it.
FIELD = {
    "late_merge_only.tsv": (2111, 2111, 0, "Quotation marks are part of the text"),
    "late_score.csv": (2150, 50, 0, '"score" is read as the score'),
    "nli_int.csv": (30, 0, 0, "name it as the score"),
    "hf_classlabel.parquet": (12, 0, 0, "the file itself says that its numbers are classes"),
    "qualtrics_noscore.csv": (20, 0, 2, "the row is a second header row"),
    "ids_repeat.tsv": (30, 30, 0, '"id" is not read as the id'),
    "semi_dec_header.csv": (30, 30, 0, "have a comma before their decimals"),
    "mturk_pairs.csv": (10, 10, 0, "Each row is one rating"),
    "hindi_split.csv": (6, 6, 0, '"split" is read as the split'),
    "hindi2.csv": (4, 4, 0, '"score" is read as the score'),
}
# Files in other encodings: how many pairs they have, and what they are probably in.
ENCODED = {"zh_gbk.csv": (40, "gbk", "GBK"), "ru_cp1251.csv": (40, "cp1251", "Windows-1251")}
WAYS = ["by_command", "by_api", "by_page"]


@pytest.fixture
def by_command(dataset, capsys) -> Callable[..., str]:
    def said(path: Path, encoding: str = "") -> str:
        try:
            call_command("import_pairs", str(path), dataset=dataset.slug, encoding=encoding or None)
        except CommandError as error:
            return str(error)
        return capsys.readouterr().out

    return said


@pytest.fixture
def by_api(dataset, curator) -> Callable[..., str]:
    program = program_of(curator)

    def said(path: Path, encoding: str = "") -> str:
        address, content = f"/api/v1/datasets/{dataset.slug}/imports/", path.read_bytes()
        sent = program.generic(
            "POST", f"{address}?filename={path.name}", content, CONTENT_LENGTH=str(len(content))
        )
        below = f"{address}{sent.json()['id']}/"
        asked = {"encoding": encoding} if encoding else {}
        checked = program.post(f"{below}check/", asked, content_type="application/json")
        if checked.status_code != 200:
            return checked.content.decode()
        report = program.post(f"{below}apply/", {}, content_type="application/json").json()["report"]
        return "\n".join(
            [*(one["reason"] for one in report["guesses"]), *(one["reason"] for one in report["errors"])]
        )

    return said


@pytest.fixture
def by_page(dataset, curator, client) -> Callable[..., str]:
    client.force_login(curator)
    address = f"/datasets/{dataset.slug}/import/"

    def said(path: Path, encoding: str = "") -> str:
        page = client.post(address, {"file": SimpleUploadedFile(path.name, path.read_bytes())})["Location"]
        shown = client.get(page, {"encoding": encoding} if encoding else {})
        if "form" not in shown.context:
            return shown.content.decode()
        form = shown.context["form"]
        fields = {name: form.get_initial_for_field(field, name) for name, field in form.fields.items()}
        chosen = {name: value for name, value in fields.items() if value is not None}
        client.post(f"{page}check/", chosen | {"header": "yes", "delimiter": "", "encoding": encoding})
        client.post(f"{page}apply/")
        return shown.content.decode().replace("&quot;", '"') + client.get(page).content.decode()

    return said


def test_every_file_of_the_field_is_read_here(real_data: Path) -> None:
    of_judgements = {"bws_twice.csv", "bws_long_indiv.csv"}  # in test_field_judgements.py

    files = {path.name for path in (real_data / "field").iterdir() if path.name != "README.md"}

    assert files == {*FIELD, *ENCODED, *of_judgements}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ENCODED)
def test_a_file_in_another_encoding_is_refused_by_its_name_and_read_if_it_is_named(
    real_data: Path, dataset, request, name: str, way: str
) -> None:
    pairs, encoding, label = ENCODED[name]
    read, path = request.getfixturevalue(way), real_data / "field" / name

    refused = read(path)
    nothing = dataset.pairs.count()
    read(path, encoding)

    assert f"it is probably {label}" in refused
    assert (nothing, dataset.pairs.count()) == (0, pairs)
    first = read_pairs(path, encoding=encoding)[1][0]
    assert dataset.pairs.filter(a__text=first.a, b__text=first.b).exists()


@pytest.mark.parametrize("way", WAYS)
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


def test_vowel_signs_of_hindi_make_neither_leaks_nor_near_duplicates(real_data: Path, dataset) -> None:
    other = DatasetFactory(slug="near")
    call_command("import_pairs", str(real_data / "field" / "hindi_split.csv"), dataset=dataset.slug)
    call_command("import_pairs", str(real_data / "field" / "hindi2.csv"), dataset="near")

    assert leaks_now(dataset) == []
    assert duplicates_found(other, threshold=1) == []


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
