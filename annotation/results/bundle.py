"""A campaign as a folder of files that others can read, score again and cite; nothing in it names a person."""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

import numpy as np
from django.template.loader import render_to_string
from django.utils.text import slugify
from django.utils.translation import gettext as _

from annotation.bws.files.choices import TIE
from annotation.bws.files.item_files import ItemGroups, read_groups, write_scores, write_tuples
from annotation.bws.files.judgement_files import JudgementFile, read_judgements, write_judgements
from annotation.bws.files.settling import Spaces
from annotation.bws.judgements import Judgements
from annotation.bws.reliability.report import curve_report, scores_report, split_half_report
from annotation.bws.reliability.split_half import Split
from annotation.bws.scores.refitting import maxdiff_fit
from annotation.bws.scores.scoring import METHODS, Scale
from annotation.models import (
    Campaign,
    Flag,
    GoldAnswer,
    Judgement,
    NormingComment,
    NormingItem,
    NormingJudgement,
    Participation,
    QuizResult,
    SliderArm,
    TupleItem,
)
from annotation.results.annotators import repeat_agreement_by_person, repeated_judgements
from annotation.results.machines import block_of, machine_rows
from annotation.results.norming import agreement_of
from annotation.results.record import (
    CampaignJudgements,
    annotator_codes,
    annotators_named,
    campaign_judgements,
    judgement_rows,
    judgement_table,
    judgements_require,
    pair_names,
    rounds_of,
)
from annotation.results.slider import RATING_COLUMNS, rating_rows
from curation.files.drafts import FileError
from curation.files.manifest import MANIFEST, write_manifest
from curation.files.publishing.prose import markdown_text
from curation.files.tables import Column, neutralise_file, write_table
from curation.files.writing import folder_replacing, replacing
from curation.files.zipping import zip_folder
from curation.foundation.errors import UserError, errors_shown
from curation.models import Pair
from curation.pairs.text import normalise, unspaced
from curation.results.estimates import Estimate

SCHEMA_VERSION = 7
# Computes every figure again, without anything of Semblance.
CHECK = Path(__file__).with_name("check_figures.py")
SHORTEST_NAME_HIDDEN = 3
# Settings of a campaign that no file of judgements tells.
UNKNOWN_OF_IMPORTED = (
    *("best_label", "worst_label", "seed"),
    *("gold_every", "gold_minimum", "gold_threshold", "repeat_every", "allows_ties"),
)


@dataclass(frozen=True)
class Bundle:
    """What was written: judgements that count, and the SHA-256 of each file by its name."""

    path: Path | None
    judgements: int
    files: dict[str, str]


def bundle_write(*, campaign: Campaign, path: Path, spreadsheet: bool = False) -> Bundle:
    """Write the campaign's bundle: a zip where `path` ends so, else a folder.

    spreadsheet: no text in its CSV and TSV files is a formula to a spreadsheet.
    The same state of a campaign gives the same bytes. An earlier bundle gives way; anything else stays.
    Raises UserError where nothing counts yet, or the place is taken or cannot be written.
    """
    if path.suffix == ".zip":
        with errors_shown(FileError), replacing(path) as file:
            return bundle_zip(campaign=campaign, file=file, path=path, spreadsheet=spreadsheet)
    if path.exists() and not (path / MANIFEST).is_file():
        raise UserError(_("%(path)s is there already and is not a bundle; choose another place."), path=path)
    with errors_shown(FileError), folder_replacing(path) as folder:
        return _fill(campaign, folder, path, spreadsheet=spreadsheet)


def bundle_zip(
    *, campaign: Campaign, file: IO[bytes], path: Path | None = None, spreadsheet: bool = False
) -> Bundle:
    """Write the bundle as a zip into an open file; `path` is where it will be found, if anywhere."""
    with TemporaryDirectory(prefix="bundle-") as folder:
        bundle = _fill(campaign, Path(folder), path, spreadsheet=spreadsheet)
        zip_folder(Path(folder), file, name=bundle_name(campaign))
    return bundle


def bundle_name(campaign: Campaign) -> str:
    return f"{slugify(campaign.name)[:80] or f'campaign-{campaign.pk}'}-bundle"


@dataclass(frozen=True)
class _Facts:
    """What every file of a bundle is written from."""

    campaign: Campaign
    folder: Path
    judged: CampaignJudgements
    names: dict[int, str]  # of pairs, by primary key
    people: list[Participation]
    codes: dict[int, str]  # of participations, by primary key
    named: bool  # whether anybody knows who judged

    @property
    def item_columns(self) -> list[str]:
        """The columns of a tuple's items."""
        return [f"item{slot}" for slot in range(1, self.campaign.tuple_size + 1)]

    def table(
        self, name: str, columns: Iterable[str], rows: Iterable[Sequence[object]], **about: str
    ) -> None:
        """Write a table; a column with a colon says its kind."""
        kinds: Any = [column.split(":") for column in columns]
        path = self.folder / name
        write_table(path, path.suffix[1:], [Column(*kind) for kind in kinds], rows, about=about or None)


def _fill(campaign: Campaign, folder: Path, path: Path | None, *, spreadsheet: bool) -> Bundle:
    judged = campaign_judgements(campaign)
    judgements_require(campaign, judged, "counting")
    names = pair_names(campaign)
    if len({normalise(name) for name in names.values()}) < len(names):
        raise UserError(
            _(
                "Two pairs have ids that differ only in white space or Unicode form, so no file can tell them apart; "
                "give one of them another id."
            )
        )
    people = list(campaign.participations.select_related("user").order_by("pk"))
    codes, named = annotator_codes(campaign), annotators_named(campaign)
    facts = _Facts(campaign, folder, judged, names, people, codes, named)
    file = every = _judgements_csv(facts, "counting", folder / "judgements.csv")
    adaptive = int((judged.collected & ~judged.designed).sum())  # judgements of the adaptive phase that count
    ties = int((judged.collected & judged.ties).sum())
    if adaptive or ties:
        every = _judgements_csv(facts, "maxdiff", folder / "judgements-for-models.csv")
    for part in (
        *(
            _items,
            _tuples,
            _design,
            _all_judgements,
            _gold,
            _repeats,
            _annotators,
            _flags,
            _machines,
        ),
        *(_guidelines, _norming, _slider),
    ):
        part(facts)
    joined = _groups(facts, every)
    _scores(file, every, joined, folder)
    _reliability(file.judgements, campaign.seed, folder)
    (folder / CHECK.name).write_bytes(CHECK.read_bytes())
    counts = {"collected": len(file.judgements), "adaptive": adaptive, "ties": ties}
    _readme(facts, every, counts, groups=joined is not None, spreadsheet=spreadsheet)
    about = {
        "schema_version": SCHEMA_VERSION,
        "campaign": campaign.name,
        "dataset": campaign.dataset.slug,
        "language": campaign.dataset.language,
        "licence": campaign.dataset.licence,
        "pairs": len(names),
        "judgements": len(every.judgements),
        "annotators": sum(not person.rates for person in people) if named else None,
    }
    if spreadsheet:
        # At the end, because files above are computed from others, and all have the same apostrophes.
        for table in sorted((*folder.rglob("*.csv"), *folder.rglob("*.tsv"))):
            neutralise_file(table)
    return Bundle(path, len(every.judgements), write_manifest(folder, about))


def _guidelines(facts: _Facts) -> None:
    folder = facts.folder / "guidelines"
    folder.mkdir()
    for guideline in facts.campaign.guidelines.order_by("version"):
        text = guideline.text.replace("\r\n", "\n") + "\n"
        (folder / f"version-{guideline.version}.txt").write_text(text, encoding="utf-8")
        if guideline.examples:
            examples = {"examples": guideline.examples}
            _write_json(folder / f"version-{guideline.version}-examples.json", examples)
    questions = facts.campaign.quiz.values("number", "text", "options", "right", "why")
    if questions:
        _write_json(facts.folder / "quiz.json", {"questions": list(questions)})


def _readme(
    facts: _Facts, every: JudgementFile, counts: Mapping[str, int], *, groups: bool, spreadsheet: bool
) -> None:
    context = {
        "campaign": facts.campaign,
        "title": markdown_text(facts.campaign.name),
        **counts,
        "quiz": facts.campaign.has_quiz,
        "norming": (facts.folder / "norming.csv").is_file(),
        "slider": (facts.folder / "ratings.csv").is_file(),
        "every": len(every.judgements),
        "more": len(every.judgements) > counts["collected"],
        "judgements": len(facts.judged),
        "groups": groups,
        "machines": (facts.folder / "machines.csv").is_file(),
        "keep_spaces": len(set(map(unspaced, every.items))) < len(every.items),
        "schema_version": SCHEMA_VERSION,
        "spreadsheet": spreadsheet,
    }
    text = render_to_string("annotation/bundle/readme.md", context)
    (facts.folder / "README.md").write_text(text, encoding="utf-8")


def _judgements_csv(facts: _Facts, method: str, path: Path) -> JudgementFile:
    """Write what feeds the method, and read it again: scores are computed from what the file says."""
    items, judgements, people = judgement_table(
        facts.campaign, facts.judged.as_filed(facts.judged.feeding(method))
    )
    write_judgements(path, items, judgements, people)
    # The ids of two pairs may differ in spaces alone, and a later round may ask for the items of an earlier tuple.
    file = read_judgements(path, spaces=Spaces.KEEP, keep_repeats=True)
    if file.rejected or file.items != tuple(items):
        raise UserError(_("The ids of some pairs cannot be read from a file again; give them other ids."))
    return file


def _items(facts: _Facts) -> None:
    columns = ("pk", "a__text", "b__text", "source", "subset", "split", "origin")
    names = ("id", "sentence1", "sentence2", "source", "subset", "split", "origin")
    asked = TupleItem.objects.filter(tuple__campaign=facts.campaign).values("pair")
    rows = Pair.objects.filter(pk__in=asked).order_by("pk").values_list(*columns)
    named = ((facts.names[pk], *rest) for pk, *rest in rows.iterator(chunk_size=2000))
    facts.table("items.csv", names, named)


def _groups(facts: _Facts, every: JudgementFile) -> ItemGroups | None:
    """Write in which round each judged pair joined, and read it again for the items; None if it is one for all."""
    pairs = np.sort(facts.judged.as_filed(facts.judged.feeding("maxdiff")).pairs)
    rounds = rounds_of(facts.campaign, pairs)
    if rounds is None:
        return None
    order = np.argsort(rounds.numbers, kind="stable").tolist()
    named = ((facts.names[int(pairs[row])], rounds.names[rounds.numbers[row]]) for row in order)
    facts.table("groups.csv", ("item", "group"), named)
    return read_groups(facts.folder / "groups.csv", every.items)


def _tuples(facts: _Facts) -> None:
    members = TupleItem.objects.for_scores(facts.campaign).order_by("tuple__number", "slot")
    held = np.array(list(members.values_list("tuple__number", "pair")), dtype=np.int64).reshape(-1, 2)
    known, numbers = np.unique(held[:, 1], return_inverse=True)
    items = [facts.names[pair] for pair in known.tolist()]
    sizes = np.unique(held[:, 0], return_counts=True)[1]
    tuples = np.full((len(sizes), facts.campaign.tuple_size), -1, dtype=np.int64)  # (T, k)
    tuples[np.arange(tuples.shape[1]) < sizes[:, None]] = numbers
    write_tuples(facts.folder / "tuples.tsv", items, tuples)
    rows = facts.campaign.tuples.for_scores().order_by("number")
    phases = rows.values_list("number", "phase", "round", "required").iterator(chunk_size=2000)
    facts.table("phases.csv", ("tuple:integer", "phase", "round:integer", "required:integer"), phases)


def _design(facts: _Facts) -> None:
    names = (
        "question best_label worst_label tuple_size factor judgements_per_tuple seed pair_filter "
        "gold_every gold_minimum gold_threshold repeat_every allows_ties adaptive_budget certificate"
    )
    settings = {name: getattr(facts.campaign, name) for name in names.split()}
    if facts.campaign.is_imported:
        settings |= dict.fromkeys(UNKNOWN_OF_IMPORTED) | {"question": facts.campaign.question or None}
    _write_json(facts.folder / "design.json", settings)


def _all_judgements(facts: _Facts) -> None:
    before = ("judgement:integer", "tuple:integer", "phase", "annotator")
    after = ("best", "worst", "status", "guideline:integer", "seconds:number")
    facts.table(
        "judgements.parquet",
        (*before, *facts.item_columns, *after),
        judgement_rows(facts.judged, facts.names, facts.codes),
        schema_version=str(SCHEMA_VERSION),
        order="items stand in the order of the screen",
    )


def _gold(facts: _Facts) -> None:
    answers = GoldAnswer.objects.filter(tuple__campaign=facts.campaign).order_by("tuple__number")
    members = TupleItem.objects.filter(tuple__campaign=facts.campaign, tuple__is_gold=True).order_by("slot")
    slots: dict[int, list[str]] = {}
    for tuple_pk, pair in members.values_list("tuple", "pair"):
        slots.setdefault(tuple_pk, []).append(facts.names[pair])
    rows = (
        [
            answer.tuple.number,
            *pairs,
            pairs[answer.best_slot],
            pairs[answer.worst_slot],
            answer.why,
            int(answer.withdrawn),
        ]
        for answer in answers.select_related("tuple")
        for pairs in [slots[answer.tuple_id]]
    )
    facts.table("gold.csv", ["tuple", *facts.item_columns, "best", "worst", "reason", "removed"], rows)


def _repeats(facts: _Facts) -> None:
    """Each answer to a repeat beside the first answer, from which intra-annotator agreement can be counted."""
    slots: dict[int, list[str]] = {}
    members = TupleItem.objects.for_scores(facts.campaign).filter(tuple__repeat__isnull=False)
    for number, pair in members.order_by("tuple", "slot").values_list("tuple__number", "pair"):
        slots.setdefault(number, []).append(facts.names[pair])
    names = ["annotator", "tuple", *facts.item_columns, "first_best", "first_worst", "best", "worst"]
    repeated: Iterable[Any] = repeated_judgements(facts.campaign).select_related("tuple")
    rows = (
        [
            facts.codes[answer.participation_id] if facts.named else None,
            answer.tuple.number,
            *(pairs[slot] for slot in answer.order_shown),
            *(
                TIE if slot is None else pairs[slot]
                for slot in (answer.first_best, answer.first_worst, answer.best_slot, answer.worst_slot)
            ),
        ]
        for answer in repeated
        for pairs in [slots[answer.tuple.number]]
    )
    facts.table("repeats.csv", names, rows)


def _annotators(facts: _Facts) -> None:
    names = (
        "annotator simulated state excluded judgements collected gold_trials gold_right "
        "repeat_choices repeat_same ties quiz_right quiz_asked median_seconds"
    )
    results = QuizResult.objects.filter(participation__campaign=facts.campaign)
    quizzed = {
        pk: (right, asked) for pk, right, asked in results.values_list("participation", "right", "asked")
    }
    repeated, seconds = repeat_agreement_by_person(facts.campaign), facts.judged.median_seconds()
    rows = []
    for person in facts.people if facts.named else ():
        if person.rates:
            continue
        own = facts.judged.people == person.pk
        again = repeated.get(person.pk)
        row = [
            facts.codes[person.pk],
            int(person.user.simulated),
            person.state,
            int(person.excluded),
            int(own.sum()),
            int((own & facts.judged.collected).sum()),
            person.gold_trials,
            person.gold_right,
            again.choices if again else 0,
            again.same if again else 0,
            int((own & facts.judged.ties).sum()),
            *quizzed.get(person.pk, ("", "")),
            seconds.get(person.pk, ""),
        ]
        rows.append(row)
    facts.table("annotators.csv", names.split(), rows)

    excluded = facts.judged.people[facts.judged.status == Judgement.Status.EXCLUDED.value]
    hide = _hiding(facts)
    exclusions = (
        [facts.codes[person.pk], int((excluded == person.pk).sum()), hide(person.reason)]
        for person in facts.people
        if person.excluded
    )
    facts.table("exclusions.csv", ("annotator", "judgements", "reason"), exclusions)


def _slider(facts: _Facts) -> None:
    """What people rated in the slider arm, in files that no score and no reliability is computed from."""
    arm = SliderArm.objects.filter(campaign=facts.campaign).first()
    if arm is None:
        return
    facts.table("ratings.csv", RATING_COLUMNS, rating_rows(facts.campaign))
    names = ("question", "low_label", "high_label", "ratings_per_pair", "state")
    about = {name: getattr(arm, name) for name in names} | {"pairs": arm.pairs.count()}
    _write_json(facts.folder / "ratings.json", about)


def _norming(facts: _Facts) -> None:
    """What people judged and said in norming sessions, in files that no score and no reliability is computed from."""
    sessions = list(facts.campaign.norming.order_by("number"))
    if not sessions:
        return
    judged = NormingJudgement.objects.filter(tuple__session__in=sessions).order_by(
        "tuple__session__number", "round", "tuple__number", "pk"
    )
    items = NormingItem.objects.filter(tuple__session__in=sessions).order_by("tuple", "slot")
    slots: dict[int, list[str]] = defaultdict(list)
    for item in items:
        slots[item.tuple_id].append(facts.names[item.pair_id])
    rows = (
        [
            each.tuple.session.number,
            each.round,
            facts.codes[each.participation_id],
            each.tuple.number,
            *slots[each.tuple_id],
            *(
                TIE if slot is None else slots[each.tuple_id][slot]
                for slot in (each.best_slot, each.worst_slot)
            ),
        ]
        for each in judged.select_related("tuple__session")
    )
    columns = ("session", "round", "annotator", "tuple", *facts.item_columns, "best", "worst")
    facts.table("norming.csv", columns, rows)
    hide = _hiding(facts)
    said = NormingComment.objects.filter(tuple__session__in=sessions).order_by("pk")
    comments = (
        [each.tuple.session.number, facts.codes[each.participation_id], each.tuple.number, hide(each.text)]
        for each in said.select_related("tuple__session")
    )
    facts.table("norming-comments.csv", ("session", "annotator", "tuple", "comment"), comments)
    agreement = {
        session.number: {
            name: list(value) if isinstance(value, Estimate) else value
            for name, value in vars(agreement_of(session)).items()
        }
        for session in sessions
    }
    _write_json(facts.folder / "norming.json", {"agreement": agreement})


def _flags(facts: _Facts) -> None:
    """What people skipped, flagged and commented on, without their names."""
    hide = _hiding(facts)
    flags = Flag.objects.filter(tuple__campaign=facts.campaign).select_related("tuple").order_by("pk")
    slots: dict[int, dict[int, str]] = defaultdict(dict)
    meant = TupleItem.objects.filter(tuple__in=flags.values("tuple"))
    for tuple_pk, slot, pair in meant.values_list("tuple", "slot", "pair"):
        slots[tuple_pk][slot] = facts.names[pair]
    rows = (
        [
            facts.codes[flag.participation_id],
            "comment" if flag.is_comment else flag.kind,
            flag.tuple.number,
            int(flag.tuple.is_gold),
            "" if flag.slot is None else slots[flag.tuple_id][flag.slot],
            "" if flag.is_comment else flag.reason,
            hide(flag.note),
        ]
        for flag in flags
    )
    facts.table("flags.csv", ("annotator", "kind", "tuple", "gold", "item", "reason", "note"), rows)


def _machines(facts: _Facts) -> None:
    """What machines judged, in its own file that no figure of people is computed from."""
    block = block_of(facts.campaign)
    if block is None or not block.judges.exists():
        return
    columns = (
        "run:integer",
        "model",
        "tuple:integer",
        "reversed:integer",
        *facts.item_columns,
        "best",
        "worst",
    )
    facts.table("machines.csv", columns, machine_rows(block, facts.names))


def _hiding(facts: _Facts) -> Callable[[str], str]:
    """Puts codes for the names of the campaign's people: owners write reasons, and may write names into them."""
    codes: dict[str, str] = {}
    for person in facts.people:
        user = person.user
        for name in (user.username, user.email, user.get_full_name(), user.first_name, user.last_name):
            if len(name) >= SHORTEST_NAME_HIDDEN:
                codes.setdefault(name.casefold(), facts.codes[person.pk])
    if not codes:
        return str
    longest_first = sorted(codes, key=len, reverse=True)
    named = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)", re.IGNORECASE)
    return lambda text: named.sub(lambda name_in_text: codes[name_in_text[0].casefold()], text)


def _scores(designed: JudgementFile, every: JudgementFile, joined: ItemGroups | None, folder: Path) -> None:
    """Counting reads the designed tuples alone (`CampaignJudgements.feeding`). scores.json: what to state with each."""
    (folder / "scores").mkdir()
    facts: dict[str, Any] = {}
    for name, method in METHODS.items():
        file = designed if name == "counting" else every
        grouped = joined if name == "maxdiff" else None
        options: dict[str, Any] = {} if grouped is None else {"groups": grouped.numbers}
        with errors_shown():
            scores = method(file.judgements, scale=Scale.SIGNED, **options)
        write_scores(folder / "scores" / f"{name}.csv", file.items, scores)
        facts[name] = {"items": len(file.items), "judgements": len(file.judgements), **scores.facts()}
        if grouped is not None:
            facts[name] |= scores.means_of_groups(grouped.names)
    _write_json(folder / "scores" / "scores.json", facts)


def _reliability(judgements: Judgements, seed: int, folder: Path) -> None:
    """By each way to split, with a sentence where there is too little for a figure; and what no split says."""
    content: dict[str, Any] = {}
    for split in Split:
        try:
            content[split.value] = {"seed": seed, **split_half_report(judgements, seed=seed, split=split)}
        except ValueError as error:  # too few, or nobody knows by whom
            content[split.value] = {"split": split.value, "none": str(error)}
    fit = maxdiff_fit(judgements)
    content |= scores_report(judgements, fit=fit, seed=seed)
    content["curve"] = curve_report(judgements, fit=fit, seed=seed)
    _write_json(folder / "reliability.json", content)


def _write_json(path: Path, content: dict[str, Any]) -> None:
    # PostgreSQL and backups keep the keys of stored objects in orders of their own.
    text = json.dumps(content, indent=2, ensure_ascii=False, sort_keys=True)
    path.write_text(text + "\n", encoding="utf-8")
