"""The pure parts of a published folder."""

import json
import re
from datetime import date

import pytest
import yaml

from curation.files.drafts import FileError
from curation.files.manifest import write_manifest
from curation.files.publishing.cards import licence_known
from curation.files.publishing.facts import Configuration, Contents, Making, PairsFrom, Publication, Scores
from curation.files.publishing.folder import require_replaceable, split_names
from curation.files.publishing.metadata import citation, cited_as, croissant, size_class
from curation.files.publishing.texts import methods_files, mteb_language, mteb_task, readme
from curation.pairs.naming import file_ids


@pytest.mark.parametrize(
    ("stated", "hub", "spdx"),
    [
        ("CC BY 4.0", "cc-by-4.0", "CC-BY-4.0"),
        ("cc-by-nc-sa-3.0", "cc-by-nc-sa-3.0", "CC-BY-NC-SA-3.0"),
        ("CC0", "cc0-1.0", "CC0-1.0"),
        ("Apache-2.0", "apache-2.0", "Apache-2.0"),
        ("GPL-3.0-only", "gpl-3.0", "GPL-3.0-only"),
        ("ODC-By-1.0", "odc-by", "ODC-By-1.0"),
        ("for research only", "other", ""),
        ("", "unknown", ""),
    ],
)
def test_a_licence_is_known_by_the_ways_in_which_people_write_it(stated, hub, spdx) -> None:
    assert licence_known(stated) == (hub, spdx)


@pytest.mark.parametrize(
    ("splits", "names"),
    [
        ([""], {"": "train"}),
        (["", "train"], {"": "unassigned", "train": "train"}),
        (["fold 1", "fold-1"], {"fold 1": "fold_1", "fold-1": "fold_1_"}),
        (["all", "dev"], {"all": "all_", "dev": "dev"}),
    ],
)
def test_every_split_gets_a_name_of_its_own_that_datasets_takes(splits, names) -> None:
    assert split_names(splits) == names


def test_an_id_that_two_pairs_have_stands_behind_source_and_split() -> None:
    pairs = [("news", "train", "1"), ("forums", "", "1"), ("news", "train", "2")]

    assert file_ids(pairs) == ["news/train/1", "forums/1", "2"]


@pytest.mark.parametrize(("pairs", "name"), [(999, "n<1K"), (1_000, "1K<n<10K"), (10**8, "10M<n<100M")])
def test_the_class_of_size_is_that_of_the_hub(pairs, name) -> None:
    assert size_class(pairs) == name


@pytest.mark.parametrize(
    ("simulated", "annotators", "judged_by"),
    [
        (0, 4, "people"),
        (4, 4, "simulated annotators"),
        (1, 4, "people and simulated annotators"),
        (2, None, "people and simulated annotators"),
    ],
)
def test_scores_say_who_judged(simulated, annotators, judged_by) -> None:
    scores = Scores("h", "h", "human", 0, 1, 9, annotators=annotators, simulated=simulated)

    assert scores.judged_by == judged_by


def test_scores_of_a_model_were_judged_by_nobody() -> None:
    assert Scores("m", "m", "model", 0, 1, 9).judged_by == ""


def test_only_a_folder_whose_manifest_lists_every_file_is_replaced(tmp_path) -> None:
    (tmp_path / "README.md").write_text("ours")
    write_manifest(tmp_path, {})
    require_replaceable(tmp_path)
    (tmp_path / "notes.txt").write_text("theirs")

    with pytest.raises(FileError, match=r"holds notes\.txt"):
        require_replaceable(tmp_path)


def test_an_empty_folder_is_filled_and_a_file_stays(tmp_path) -> None:
    require_replaceable(tmp_path)
    (tmp_path / "file").write_text("mine")

    with pytest.raises(FileError, match="is a file"):
        require_replaceable(tmp_path / "file")


@pytest.mark.parametrize(
    ("tag", "language"),
    [
        ("en", "eng-Latn"),
        ("pt-BR", "por-Latn"),
        ("zh-Hant-TW", "zho-Hant"),
        ("arq", "arq-Zyyy"),
        ("xx", "und-Zyyy"),
    ],
)
def test_a_language_has_the_name_that_mteb_gives_it(tag, language) -> None:
    assert mteb_language(tag) == language


def test_a_name_cannot_break_the_entry_that_cites_it_or_the_task() -> None:
    publication = Publication(
        slug="rel", name='A {"""} B\\n', description="It's \"so\"", language="en", licence="", address="",
        authors=["O{"], snapshot=2, sha256="", taken=date(2026, 3, 2), chosen="", software="",
        main=Scores("h", "h", "human", 0, 1, 9),
    )  # fmt: skip

    assert (
        cited_as(publication) == '@misc{rel, author={{O}}, title={{A """ Bn}}, year={2026}, note={Version 2}}'
    )
    compile(mteb_task(publication, Configuration("scored", (), {"train": ("x", 9)})), "task", "exec")


@pytest.mark.parametrize("name", ["50% & $x_1$ #2 ~ ^", "A\x1b[31m \u202e name"])
def test_a_name_in_an_entry_of_bibtex_is_text_in_latex(name: str) -> None:
    entry = cited_as(published(name=name))

    assert not re.search(r"(?<!\\)[&%$#_~^]", entry.replace("{}", "").replace(r"\textasciicircum", ""))
    assert entry.isprintable()


def published(**facts: object) -> Publication:
    usual = {
        "slug": "rel", "name": "Rel", "description": "", "language": "en", "licence": "", "address": "",
        "authors": [], "snapshot": 2, "sha256": "", "taken": date(2026, 3, 2), "chosen": "human", "software": "",
        "main": Scores("h", "h", "human", 0, 1, 9),
    }  # fmt: skip
    return Publication(**{**usual, **facts})


def front_matter(publication: Publication) -> dict:
    contents = Contents([Configuration("scored", (), {"train": ("x", 9)})], {"imported": 9})
    return yaml.safe_load(readme(publication, contents).split("---\n")[1])


@pytest.mark.parametrize(
    ("stated", "hub", "named", "spdx"),
    [
        ("CC BY-SA 4.0", "cc-by-sa-4.0", None, "CC-BY-SA-4.0"),
        ("", "unknown", None, None),
        ("Ask us: © 2026 Lab", "other", "ask-us-2026-lab", None),
        ("CC-BY-ND-3.0", "other", "cc-by-nd-3.0", "CC-BY-ND-3.0"),
    ],
)
def test_licences_are_named_as_the_hub_and_the_citation_format_know_them(stated, hub, named, spdx) -> None:
    publication = published(licence=stated)

    front, cited = front_matter(publication), yaml.safe_load(citation(publication))

    assert (front["license"], front.get("license_name"), cited.get("license")) == (hub, named, spdx)


@pytest.mark.parametrize(
    ("tag", "language", "tagged"),
    [("en", ["en"], None), ("pt-BR", ["pt"], ["pt-BR"]), ("ZH-Hant", ["zh"], ["ZH-Hant"])],
)
def test_a_language_with_a_region_has_the_code_that_the_hub_knows_beside_its_tag(
    tag, language, tagged
) -> None:
    front = front_matter(published(language=tag))

    assert (front["language"], front.get("language_bcp47")) == (language, tagged)


@pytest.mark.parametrize(
    ("simulated", "creators"), [(0, None), (4, ["machine-generated"]), (1, ["machine-generated", "other"])]
)
def test_the_hub_is_told_that_programs_are_among_the_annotators(simulated, creators) -> None:
    scores = Scores("h", "h", "human", 0, 1, 9, annotators=4, simulated=simulated)

    assert front_matter(published(main=scores)).get("annotations_creators") == creators


def test_an_author_who_is_named_twice_is_cited_once() -> None:
    cited = yaml.safe_load(citation(published(authors=["Ada Lovelace", "Grace Hopper", "Ada Lovelace"])))

    assert cited["authors"] == [{"name": "Ada Lovelace"}, {"name": "Grace Hopper"}]


def test_without_authors_the_creator_is_no_person() -> None:
    contents = Contents([Configuration("scored", (), {})], {})

    creators = [
        json.loads(croissant(published(authors=authors), contents, {}))["creator"]
        for authors in ([], ["Ada Lovelace"])
    ]

    assert creators == [
        [{"@type": "sc:Organization", "name": "Contributors to Rel"}],
        [{"@type": "sc:Person", "name": "Ada Lovelace"}],
    ]


def test_what_people_typed_is_neither_a_citation_nor_the_end_of_a_cell() -> None:
    making = Making(pairs=1, selection=[PairsFrom("\x02kim2022\x02 a\x03b\x04", "imported", "{{ 1 }}", 1)])

    written = methods_files(published(name="Rel \x02kim2022\x02", making=making))

    assert written["references.bib"].strip() == ""
    assert "# Methods: Rel kim2022\n" in written["METHODS.md"]
    assert "| kim2022 ab | imported | {{ 1 }} | 1 |" in written["METHODS.md"]
