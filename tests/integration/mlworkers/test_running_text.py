"""Running text beside a dataset: who uploads it, the run that indexes it, what its page lists."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.urls import reverse

from curation.exchange.uploads import import_files
from curation.models import Dataset, ImportBatch
from mlworkers.management import waiting
from mlworkers.models import Run
from mlworkers.runs.storage import home_path
from mlworkers.science.contexts.bigram_index import BigramIndex
from mlworkers.science.contexts.corpus import Corpus
from tests.factories import RunFactory, client_of
from tests.markup import squeezed
from tests.runs import run_execute

pytestmark = pytest.mark.django_db(transaction=True)
TEXT = "The dog runs. It barks loudly. A cat sits there. The bird sings."


def upload(client, user, dataset, *texts: str, **more: str):
    client.force_login(user)
    files = [SimpleUploadedFile(f"t{number}.txt", text.encode()) for number, text in enumerate(texts)]
    values = {"file": files, "form": "text", "language": "en", **more}
    return client.post(reverse("mlworkers:running_text", args=[dataset.slug]), values)


def page(client, user, dataset):
    client.force_login(user)
    return client.get(reverse("mlworkers:running_text", args=[dataset.slug]))


def test_an_upload_starts_a_run_whose_corpus_is_an_artefact_with_its_checksum(
    client, curator, dataset
) -> None:
    answer = upload(client, curator, dataset, TEXT, "Another dog runs. It sleeps now. Then it eats.")

    run = Run.objects.get(kind="index_corpus")
    assert answer.url == reverse("mlworkers:run_detail", args=[run.pk])
    assert run_execute(run).state == "succeeded", run.message
    made = run.artifacts.get(kind="corpus")
    folder = home_path(made.path)
    assert len(made.sha256) == 64
    assert len(Corpus(folder)) == 7
    assert BigramIndex(folder).retrieve("a dog runs", most=9).chunks.tolist() == [1, 0]


def test_a_duplicate_document_is_reported(client, curator, dataset) -> None:
    upload(client, curator, dataset, TEXT, TEXT.upper())

    run = run_execute(Run.objects.get(kind="index_corpus"))

    assert "1 duplicate document was left out" in run.message
    assert run.result["duplicate_names"] == ["t1 = t0"]
    assert "1 duplicate left out" in squeezed(page(client, curator, dataset).content.decode())


@pytest.mark.parametrize(
    ("text", "form", "says"),
    [
        ("One line.\n\nAnother one.\n", "paragraphs", "has three sentences in a row"),
        ("word\n" * 220_000, "text", "put an empty line between paragraphs"),
    ],
)
def test_text_without_contexts_ends_the_run_in_one_sentence_and_leaves_no_corpus(
    client, curator, dataset, text, form, says
) -> None:
    upload(client, curator, dataset, text, form=form)

    run = run_execute(Run.objects.get(kind="index_corpus"))

    assert run.state == "failed"
    assert says in run.message
    assert not run.artifacts.exists()


def test_an_upload_is_removed_once_its_corpus_is_there_and_cannot_be_indexed_again(
    client, curator, dataset
) -> None:
    upload(client, curator, dataset, TEXT)
    run = run_execute(Run.objects.get(kind="index_corpus"))
    batch = ImportBatch.objects.get(kind="corpus")

    assert batch.state == ImportBatch.State.DONE
    for path in import_files(batch):
        path.unlink()
    again = RunFactory(kind="index_corpus", dataset=dataset, plan=run.plan)
    assert "its files are gone; upload it again" in run_execute(again).message


def test_a_file_that_holds_no_text_is_refused_beside_the_form_and_not_kept(client, curator, dataset) -> None:
    answer = upload(client, curator, dataset, "%PDF-1.7\n1 0 obj")

    assert "is a PDF document; save its text as plain text or CSV first." in answer.content.decode()
    assert not ImportBatch.objects.exists()
    assert not Run.objects.exists()


def test_a_stranger_gets_404_and_a_reader_sees_the_page_but_uploads_nothing(
    client, stranger, annotator, dataset
) -> None:
    assert page(client, stranger, dataset).status_code == 404
    assert upload(client, stranger, dataset, TEXT).status_code == 404
    assert upload(client, annotator, dataset, TEXT).status_code in {403, 404}
    assert not ImportBatch.objects.exists()


@pytest.mark.parametrize(
    ("given", "says"),
    [({"language": "no tag!"}, "Give the tag of a language"), ({"form": "x"}, "valid choice")],
)
def test_what_is_wrong_is_said_beside_its_field(client, curator, dataset, given, says) -> None:
    answer = upload(client, curator, dataset, TEXT, **given)

    assert says in answer.content.decode()
    assert not Run.objects.exists()


def test_without_a_corpus_the_page_says_so_and_offers_the_upload(client, curator, dataset) -> None:
    shown = page(client, curator, dataset).content.decode()

    assert "This dataset has no corpus yet." in shown
    assert "Upload and index" in shown


def test_a_command_copies_files_of_the_server_and_starts_the_run(dataset, tmp_path: Path) -> None:
    path = tmp_path / "novel.txt"
    path.write_text(TEXT)
    out = StringIO()

    call_command("import_corpus", str(path), dataset=dataset.slug, json=True, stdout=out)

    answer = json.loads(out.getvalue().splitlines()[-1])
    run = run_execute(Run.objects.get(pk=answer["run"]))
    assert run.state == "succeeded", run.message
    assert run.result["sentences"] == 4
    assert path.exists()
    assert (Path(settings.SEMBLANCE_HOME) / "imports").is_dir()


RUSSIAN = "Собака бежит по улице. Она громко лает на людей. Кошка сидит у окна. Птица поёт на дереве."


def test_a_command_reads_files_in_the_encoding_that_is_named(dataset, tmp_path: Path) -> None:
    path = tmp_path / "novel.txt"
    path.write_text(RUSSIAN, encoding="cp1251")

    call_command("import_corpus", str(path), dataset=dataset.slug, language="ru", stdout=StringIO())
    call_command(
        "import_corpus",
        str(path),
        dataset=dataset.slug,
        language="ru",
        encoding="windows-1251",
        stdout=StringIO(),
    )

    refused, read = map(run_execute, Run.objects.order_by("pk"))
    assert "it is probably Windows-1251" in refused.message
    assert "Choose its encoding under “Encoding”, or save" in refused.message
    assert read.state == "succeeded", read.message
    corpus = Corpus(home_path(read.artifacts.get(kind="corpus").path))
    assert corpus.text(1) == "Она громко лает на людей."
    with pytest.raises(CommandError, match="“nothing” is not an encoding of text files"):
        call_command("import_corpus", str(path), dataset=dataset.slug, encoding="nothing")


def test_the_page_reads_files_in_the_encoding_that_is_chosen(curator, dataset) -> None:
    file = SimpleUploadedFile("t.txt", RUSSIAN.encode("koi8_r"))
    values = {"file": [file], "form": "text", "language": "ru", "encoding": "koi8_r"}

    client_of(curator).post(reverse("mlworkers:running_text", args=[dataset.slug]), values)

    assert run_execute(Run.objects.get()).result["sentences"] == 4


def test_a_command_that_waits_ends_when_the_text_is_indexed(dataset, tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "novel.txt"
    path.write_text(TEXT)
    out, err = StringIO(), StringIO()
    monkeypatch.setattr(waiting.time, "sleep", lambda seconds: run_execute(Run.objects.get()))

    call_command("import_corpus", str(path), dataset=dataset.slug, wait=True, stdout=out, stderr=err)

    first, second = out.getvalue().splitlines()
    assert first.startswith("1 file copied; run ")
    assert second.endswith("succeeded. 4 sentences of one document indexed")
    assert "No worker serves the queue “default”" in err.getvalue()


def test_a_command_that_waits_fails_in_one_sentence_where_the_run_does(
    dataset, tmp_path: Path, monkeypatch
) -> None:
    path = tmp_path / "one.txt"
    path.write_text("Only one sentence.")
    monkeypatch.setattr(waiting.time, "sleep", lambda seconds: run_execute(Run.objects.get()))

    with pytest.raises(CommandError, match="has three sentences in a row"):
        call_command("import_corpus", str(path), dataset=dataset.slug, wait=True, stderr=StringIO())


def test_a_command_creates_the_dataset_of_somebody_who_has_text_alone(tmp_path: Path) -> None:
    path = tmp_path / "novel.txt"
    path.write_text(TEXT)
    with pytest.raises(CommandError, match="Add --create"):
        call_command("import_corpus", str(path), dataset="novels")
    with pytest.raises(CommandError, match="There is no file"):
        call_command("import_corpus", str(tmp_path / "none.txt"), dataset="novels", create=True)
    assert not Dataset.objects.exists()

    call_command("import_corpus", str(path), dataset="novels", create=True, language="de", stdout=StringIO())

    [run] = Run.objects.all()
    assert run.dataset == Dataset.objects.get(slug="novels", language="de")
    assert run.plan["language"] == "de"


@pytest.fixture
def indexed(client, curator, dataset) -> Run:
    upload(client, curator, dataset, TEXT)
    return run_execute(Run.objects.get(kind="index_corpus"))


def contexts(user, run: Run, **asked: str):
    return client_of(user).get(reverse("mlworkers:corpus", args=[run.pk]), asked)


def test_the_contexts_of_a_typed_sentence_are_found_and_none_contains_it(curator, indexed) -> None:
    shown = squeezed(contexts(curator, indexed, sentence="It barks quietly.").content.decode())
    leaking = squeezed(contexts(curator, indexed, sentence="it barks LOUDLY").content.decode())

    assert "The dog runs." in shown
    assert "A cat sits there. The bird sings." in shown
    assert "The dog runs." not in leaking
    assert "or those that have already contain the sentence" in leaking


def test_the_contexts_of_a_corpus_are_for_those_who_may_read_its_dataset(
    stranger, curator, dataset, indexed
) -> None:
    other = RunFactory(kind="export_dataset", dataset=dataset)

    assert contexts(stranger, indexed, sentence="It barks.").status_code == 404
    assert contexts(curator, other).status_code == 404


def test_a_corpus_whose_files_were_removed_is_said_to_be_gone(curator, indexed) -> None:
    indexed.artifacts.update(removed_at=indexed.finished_at)

    assert "its files were removed" in contexts(curator, indexed, sentence="x").content.decode()


def test_a_program_sends_text_lists_corpora_and_asks_for_contexts(client, curator, dataset) -> None:
    client.force_login(curator)
    address = reverse("api_running_text", args=[dataset.slug])

    sent = client.post(
        f"{address}?filename=story.txt&language=en", TEXT.encode(), content_type="application/octet-stream"
    )

    assert sent.status_code == 202, sent.content
    run = run_execute(Run.objects.get(pk=sent.json()["id"]))
    assert run.state == "succeeded", run.message
    [row] = client.get(address).json()
    assert (row["run"], row["state"], row["facts"]["sentences"]) == (run.pk, "succeeded", 4)
    found = client.get(
        reverse("api_corpus_contexts", args=[run.pk]), {"sentence": "It barks quietly."}
    ).json()
    assert found[0]["before"] == ["The dog runs."]
    assert found[0]["after"] == ["A cat sits there.", "The bird sings."]
    assert 0 < found[0]["similarity"] <= 1


def test_what_a_program_sends_wrongly_is_refused_and_a_stranger_gets_404(
    client, stranger, curator, dataset, indexed
) -> None:
    address = reverse("api_running_text", args=[dataset.slug])
    asks = reverse("api_corpus_contexts", args=[indexed.pk])

    def status(user, query: str) -> int:
        client.force_login(user)
        kind = "application/octet-stream"
        return client.post(f"{address}{query}", TEXT.encode(), content_type=kind).status_code

    assert status(stranger, "?filename=a.txt") == 404
    assert [status(curator, query) for query in ("", "?filename=a.txt&form=novel")] == [400, 400]
    assert client.get(asks).status_code == 400
    client.force_login(stranger)
    assert client.get(asks, {"sentence": "It barks."}).status_code == 404
    assert client.get(address).status_code == 404
    assert Run.objects.filter(kind="index_corpus").count() == 1


def test_an_index_of_an_earlier_version_is_refused_beside_the_field(curator, indexed) -> None:
    (home_path(indexed.artifacts.get(kind="corpus").path) / "word_ends.npy").unlink()

    shown = contexts(curator, indexed, sentence="It barks quietly.").content.decode()

    assert "index the corpus again" in shown
