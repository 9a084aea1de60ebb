#!/usr/bin/env python3
"""Write the pages of docs/guide/reference that the code knows: settings, commands, runs, formats, limits, the API.

usage: docs/reference.py        (`make reference`; a test compares the pages with the code)
"""

import ast
import json
import os
import re
import sys
from argparse import (
    SUPPRESS,
    Action,
    ArgumentParser,
    BooleanOptionalAction,
    _StoreTrueAction,
    _SubParsersAction,
)
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import timedelta
from importlib import import_module
from inspect import getdoc, getmodule, getsource
from pathlib import Path
from textwrap import dedent
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "guide" / "reference"
OUR_APPS = ("annotation", "curation", "mlworkers", "semblance")
Page = Callable[[], Iterator[str]]
MOST_OF_A_DEFAULT = 40  # characters
LIKE_ANOTHER = 8  # from so many settings more in common than not, a kind is described by another one
METHODS = ("get", "post", "put", "patch", "delete")


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Lines of a table in Markdown."""
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(cell(each) for each in row)} |"
    yield ""


def cell(value: object) -> str:
    return " ".join(str(value).split()).replace("|", "\\|")


def first_sentence(text: str) -> str:
    """Of the first paragraph; a status such as “404: …” is another sentence."""
    paragraph = text.partition("\n\n")[0]
    return re.split(r"(?<=[\w)\]”]\.)\s+(?=[A-Z“]|\d{3}: )", " ".join(paragraph.split()))[0]


def code(value: object) -> str:
    return f"`{value}`"


def codes(values: Iterable[object]) -> str:
    return ", ".join(map(code, values))


def as_typed(text: str) -> str:
    """Commands as somebody types them who installed the wheel."""
    return text.replace("manage.py ", "semblance ")


def default_of(value: object) -> str:
    """The default of a setting of a run, as it is typed; "" where there is none."""
    if value is None or value == "":
        return ""
    return str(value).lower() if isinstance(value, bool) else str(getattr(value, "value", value))


# Settings ------------------------------------------------------------------------------------------------------------


def settings() -> Iterator[str]:
    yield "# Settings\n"
    yield (
        "Semblance reads its settings from environment variables, and from the file `.env` in the folder in which it "
        "starts. Without any of them it runs on SQLite, on this machine alone.\n"
    )
    first = ""
    for comment, name, value in variables((ROOT / ".env.example").read_text()):
        if not name:
            yield f"{comment}\n"
            continue
        yield f"## {name}\n"
        first = name if comment else first
        described, default, value_without = comment.partition(" Default: ")
        yield f"{described}\n" if comment else f"See [{first}](#{first.lower()}).\n"
        yield f"Default: {value_without}\n" if default else ""
        yield f"    {name}={value}\n" if value else ""


def variables(text: str) -> Iterator[tuple[str, str, str]]:
    """Comment, name and example of each variable of .env.example; a paragraph without a variable has no name."""
    for block in text.split("\n\n")[1:]:
        words: list[str] = []
        for line in block.splitlines():
            found = re.fullmatch(r"#?\s*([A-Z][A-Z0-9_]+)=(.*)", line)
            if found:
                yield as_typed(" ".join(words)), found[1], found[2]
                words = []
            else:
                words.append(line.removeprefix("#").strip())
        if words:
            yield as_typed(" ".join(words)), "", ""


# Commands ------------------------------------------------------------------------------------------------------------


READING = "Options of judgement files"
DJANGO = "https://docs.djangoproject.com/en/stable/ref/django-admin/"


def commands() -> Iterator[str]:
    parsers, of_django = command_parsers()
    reading = reading_options()
    options = {name: {} if name in of_django else dict(options_of(each)) for name, each in parsers.items()}
    read = {name for name, given in options.items() if reading.items() <= given.items()}
    left = {
        name: {option for option in given.items() if option not in reading.items() or name not in read}
        for name, given in options.items()
    }
    used = Counter(option for given in left.values() for option in given)
    shared = {option for option, times in used.items() if times > 1}

    yield "# Commands\n"
    yield (
        "`semblance COMMAND --help` prints the same. A command that fails prints one line that begins with `Error:` "
        "and ends with status 2.\n"
    )
    yield "With `--json`, each command of Semblance prints one JSON object as the last line of standard output.\n"
    for name, parser in parsers.items():
        yield f"## {name}\n"
        yield f"{as_typed(' '.join((parser.description or '').split()))}\n"
        if name in of_django:
            yield f"Options: [Django's]({DJANGO}#{name}).\n"
        own = [option for option in options[name].items() if option in left[name] - shared]
        if own:
            yield from table(("option", "meaning"), own)
        also = sorted(f"{flag.split()[0].rstrip('`')}`" for flag, _help in left[name] & shared)
        also += (
            [f"and the [options of judgement files](#{READING.lower().replace(' ', '-')})"]
            if name in read
            else []
        )
        yield f"Also: {', '.join(also)}.\n" if also else ""
    yield f"## {READING}\n"
    yield from table(("option", "meaning"), sorted(reading.items()))
    yield "## Options of several commands\n"
    yield from table(("option", "meaning"), sorted(shared))


def command_parsers() -> tuple[dict[str, ArgumentParser], set[str]]:
    """The parser of each command and of each of its verbs, and the commands that only change one of Django's."""
    from django.core.management import get_commands, load_command_class

    parsers: dict[str, ArgumentParser] = {}
    of_django = set()
    for name, app in sorted(get_commands().items()):
        if (
            app.partition(".")[0] not in OUR_APPS or name == "makemessages"
        ):  # translators have a page of their own
            continue
        command = load_command_class(app, name)
        if type(command).__mro__[1].__module__.startswith("django."):
            of_django.add(name)
        main: ArgumentParser = command.create_parser("semblance", name)
        verbs = [each for each in main._actions if isinstance(each, _SubParsersAction)]
        of_verbs = {f"{name} {verb}": each for action in verbs for verb, each in action.choices.items()}
        parsers |= of_verbs or {name: main}
    for parser in parsers.values():  # a verb adds its options when it is asked
        if add := getattr(parser, "options_add", None):
            parser.options_add = None  # type: ignore[attr-defined]
            add()
    return parsers, of_django


def reading_options() -> dict[str, str]:
    """The options that say how a file of judgements is read, without the one whose name differs."""
    from annotation.management.bws.verb import add_reading

    parser = ArgumentParser()
    add_reading(parser, items="--items")
    return {option: text for option, text in options_of(parser) if not option.startswith("`--items ")}


# What every command has: the options of Django's commands, and ours.
OF_EVERY_COMMAND = {
    "--version", "--verbosity", "--settings", "--pythonpath", "--traceback", "--no-color", "--help", "--force-color",
    "--skip-checks", "--json",
}  # fmt: skip


def options_of(parser: ArgumentParser) -> Iterator[tuple[str, str]]:
    """What is typed, and what it means, of each option that not every command has."""
    for action in parser._actions:
        if action.help != SUPPRESS and not OF_EVERY_COMMAND & set(action.option_strings):
            yield typed(action), meaning(action)


def typed(action: Action) -> str:
    names = action.metavar or (action.choices and "|".join(map(str, action.choices))) or action.dest.upper()
    value = " ".join(names) if isinstance(names, tuple) else str(names)
    if action.nargs in ("*", "+"):
        value = f"{value} …"
    if not action.option_strings:
        return code(f"[{value}]" if action.nargs in ("?", "*") else value)
    flag = action.option_strings[0 if isinstance(action, BooleanOptionalAction) else -1]
    return code(flag if action.nargs == 0 or isinstance(action, _StoreTrueAction) else f"{flag} {value}")


def meaning(action: Action) -> str:
    text = as_typed(" ".join(str(action.help or "").split())) % vars(action)
    default = default_of(action.default) if isinstance(action.default, str | int | float) else ""
    said = "default" in text.lower() or default in ("", "false", SUPPRESS) or not action.option_strings
    if action.required and action.option_strings:
        return f"{text} Required."
    return text if said else f"{text} Default: {default}."


# Kinds of run --------------------------------------------------------------------------------------------------------


def runs() -> Iterator[str]:
    from mlworkers.plans.kinds import KINDS

    previews = {kind.preview for kind in KINDS.values()}
    kinds = sorted(KINDS.values(), key=lambda kind: kind.name in previews)  # after what they preview
    models = {kind.name: model_of(kind, kinds[:place]) for place, kind in enumerate(kinds)}
    left = {kind.name: settings_beyond(kind, models[kind.name]) for kind in kinds}
    shared = shared_meanings(left.values())
    usual = Counter((kind.queue, kind.staff_only) for kind in kinds).most_common(1)[0][0]
    without = [kind.name for kind in kinds if not kind.needs_dataset]
    listed: set[tuple[str, Sequence[str]]] = set()  # settings whose choices are on the page already

    yield "# Kinds of run\n"
    yield (
        "A worker carries out a run; its form, `semblance run KIND SETTING=VALUE` and `POST /api/v1/runs/` take the "
        "same settings. The form, and `semblance run --list`, say more about each of them.\n"
    )
    yield (
        "A setting in bold has no default. A model is named `packaged:NAME`, `run:ID`, by a folder or GGUF file, or by its "
        "id on the model hub.\n"
    )
    yield f"Runs wait in the queue `{usual[0]}` and only staff start them, unless their kind says otherwise.\n"
    yield "## Settings of several kinds\n"
    yield f"Every kind takes `dataset`, the short name of a dataset, except {codes(without)}.\n"
    yield from table(("setting", "meaning"), ((code(name), shared[name]) for name in sorted(shared)))
    for kind in kinds:
        yield f"## {kind.name}\n"
        yield f"*{kind.label}*: {first_sentence(str(kind.description))}\n"
        if (kind.queue, kind.staff_only) != usual:
            yield f"Queue: `{kind.queue}`{', only for staff' if kind.staff_only else ', not only for staff'}.\n"
        own = [each for each in left[kind.name] if shared.get(each.name) != explained(each)]
        also = [each for each in left[kind.name] if each not in own]
        if own:
            yield from table(
                ("setting", "meaning"), [(typed_setting(each), said_once(each, listed)) for each in own]
            )
        yield from also_takes(also, models[kind.name], kind, bool(own))


def said_once(setting: Any, listed: set[tuple[str, Sequence[str]]]) -> str:
    """What a setting means, without the choices that the page has listed; these choices are then listed."""
    choices = (setting.name, setting.choices)
    if choices in listed:
        return first_sentence(str(setting.help))
    if setting.choices:
        listed.add(choices)
    return explained(setting)


def model_of(kind: Any, earlier: Sequence[Any]) -> Any:
    """The earlier kind of which a kind has so many settings that they are described there; None: there is none."""

    def gain(other: Any) -> int:
        theirs = {facts_of(each) for each in other.settings}
        alike = theirs & {facts_of(each) for each in kind.settings}
        return 2 * len(alike) - len(theirs)

    best = max(earlier, key=gain, default=None)
    return best if best and gain(best) >= LIKE_ANOTHER else None


def facts_of(setting: Any) -> tuple[str, str, bool, str]:
    return setting.name, default_of(setting.default), setting.required, explained(setting)


def settings_beyond(kind: Any, model: Any) -> list[Any]:
    """The settings of a kind that its model does not have as they are, without the dataset."""
    known = {facts_of(each) for each in model.settings} if model else set()
    of_run = [each for each in kind.settings if not (each.refers_to == "dataset" and each.required)]
    return [each for each in of_run if facts_of(each) not in known]


def shared_meanings(of_kinds: Iterable[Sequence[Any]]) -> dict[str, str]:
    """What the name of a setting means in most kinds, for each name that means the same in several."""
    meanings: dict[str, Counter[str]] = defaultdict(Counter)
    for settings in of_kinds:
        for setting in settings:
            meanings[setting.name][explained(setting)] += 1
    usual = {name: counted.most_common(1)[0] for name, counted in meanings.items()}
    return {name: text for name, (text, times) in usual.items() if times > 1}


def also_takes(also: Sequence[Any], model: Any, kind: Any, has_own: bool) -> Iterator[str]:
    """The line of the settings that are described elsewhere on the page."""
    named = [", ".join(map(typed_setting, also))] if also else []
    if model:
        lacking = {each.name for each in model.settings} - {each.name for each in kind.settings}
        without = [each.name for each in model.settings if each.name in lacking]
        named.append(
            f"the settings of [{model.name}](#{model.name})"
            + (", each as it is there" if not (has_own or also or without) else "")
            + (f" without {codes(without)}" if without else "")
        )
    if named:
        yield f"Also: {', and '.join(named)}.\n"


def typed_setting(setting: Any) -> str:
    default = default_of(setting.default)
    if setting.required:
        return f"**{code(setting.name)}**"
    if len(default) > MOST_OF_A_DEFAULT:
        default = default[:MOST_OF_A_DEFAULT].rpartition(",")[0] + ", …"
    return code(f"{setting.name}={default}" if default else setting.name)


def explained(setting: Any) -> str:
    text = first_sentence(str(setting.help))
    if setting.rows:
        text = f"{text} {setting.rows.sentence}"
    said = all(is_said(each, text) for each in setting.choices)
    return text if said else f"{text} One of {codes(setting.choices)}."


def is_said(choice: str, text: str) -> bool:
    """Whether a text names a choice. "shuffle-" in it stands for all choices that begin so."""
    forms = (choice, choice.partition("-")[0] + "-")
    return any(re.search(rf"(?<![\w-]){re.escape(form)}(?![\w-])", text) for form in forms)


# Formats, limits, roles, keys ----------------------------------------------------------------------------------------


def formats() -> Iterator[str]:
    from annotation.bws.files import columns as judged
    from curation.files import columns, dialects, sentences, sniffing
    from curation.files.recognising import FACT_MAX_CHARACTERS
    from mlworkers.science.encoders.suites.catalogue import SUITES

    yield "# Files that Semblance reads\n"
    yield (
        "A name below is compared in small letters, without spaces, hyphens and underscores, so `Sentence_1` is "
        "`sentence1`. [Limits](limits.md) lists how large a file may be.\n"
    )
    yield "## Formats\n"
    by_format = defaultdict(list)
    for suffix, name in sniffing.TABLE_SUFFIXES.items():
        by_format[name].append(suffix)
    yield from table(("format", "names end in"), ((name, codes(ends)) for name, ends in by_format.items()))
    yield (
        f"Each may be packed as `.gz`. Semblance recognises the encoding and, for CSV, the delimiter "
        f"({', '.join(dialects.DELIMITER_NAMES[each] for each in dialects.DELIMITERS)}).\n"
    )
    yield "## Columns of pairs\n"
    both = ", ".join(f"`{a}` with `{b}`" for a, b in columns.SENTENCE_NAMES)
    yield from table(
        ("field", "names", "most characters"),
        [
            ("two sentences", both, ""),
            ("both sentences in one cell, with a line end between", codes(columns.PAIR_NAMES), ""),
            ("score", codes(columns.SCORE_NAMES), ""),
            ("score or class, by its values", codes(columns.CLASS_NAMES), ""),
            *(
                (n.replace("_", " "), codes(names), FACT_MAX_CHARACTERS[n])
                for n, names in columns.FACT_NAMES.items()
            ),
        ],
    )
    yield "## Columns of sentences\n"
    yield f"The column of sentences is {codes(sentences.TEXT_NAMES)}; a text file has one sentence a line.\n"
    yield "## Columns of judgements\n"
    yield (
        f"One judgement a row: numbered or lettered columns of the items ({codes(judged._STEMS)} with a number), and:\n"
    )
    yield from table(("field", "names"), ((name, codes(names)) for name, names in judged._RECOGNISED.items()))
    yield "One item a row, with 1 for the best, -1 for the worst and 0 for the others:\n"
    yield from table(
        ("field", "names"), ((name, codes(names)) for name, names in judged._RECOGNISED_LONG.items())
    )
    yield "## Published test suites\n"
    yield "Semblance reads a suite in the layout of its publisher, from one folder with these files:\n"
    yield from table(
        ("suite", "published as", "files", "test pairs"),
        (
            (code(one.name), one.label, one.looks_for, f"{one.expects:,}" if one.expects else "–")
            for one in SUITES.values()
        ),
    )


# Where a limit is: what it bounds, module, name, and the unit.
LIMITS = (
    ("One file that is uploaded (`UPLOAD_MAX_BYTES`)", "semblance.settings", "UPLOAD_MAX_BYTES", "bytes"),
    ("Uploads of one person in a day (`UPLOADS_PER_DAY_BYTES`)", "semblance.settings", "UPLOADS_PER_DAY_BYTES", "bytes"),
    ("A packed file, unpacked", "curation.files.unpacking", "UNPACKED_MOST", "bytes"),
    ("Rows of a file of pairs", "curation.files.records", "ROWS_MOST", "rows"),
    ("Rows of a file of judgements", "annotation.bws.files.rows", "MOST_ROWS", "rows"),
    ("Rows of a file of judgements on the page", "annotation.results.uploading", "MOST_ROWS", "rows"),
    ("A sentence", "curation.pairs.text", "SENTENCE_MAX_CHARACTERS", "characters"),
    ("Single sentences of a dataset", "curation.exchange.pool", "MOST_SENTENCES", "sentences"),
    ("Single sentences that a page samples from", "curation.datasets.composing", "MOST_ON_A_PAGE", "sentences"),
    ("Pairs that one sample adds", "curation.pairs.sampling.drawing", "MOST_PAIRS", "pairs"),
    ("Pairs that one sample adds on the page", "curation.forms.composing", "MOST_PAIRS_ON_A_PAGE", "pairs"),
    ("Pairs that a page splits", "curation.datasets.splits", "MOST_ON_A_PAGE", "pairs"),
    ("Splits of a dataset", "curation.datasets.splits", "MOST_SPLITS", "splits"),
    ("Pairs that one request of the API adds", "curation.exchange.bulk", "MOST_PAIRS", "pairs"),
    ("Datasets that a search for duplicates compares", "curation.exchange.duplicate_searches", "MOST_OTHERS", "datasets"),
    ("Machine sentences of a review sample", "curation.review.samples", "MOST_DRAWN", "sentences"),
    ("Pairs in a question", "annotation.models.campaigns", "MOST_PAIRS_IN_TUPLE", "pairs"),
    ("Places of a campaign (tuples × pairs in a question)", "annotation.campaigns.designing", "MOST_PLACES", "places"),
    ("Pairs that a campaign grows by at once", "annotation.campaigns.growing", "MOST_AT_ONCE", "pairs"),
    ("Worked examples of the guidelines", "annotation.campaigns.examples", "MOST_EXAMPLES", "examples"),
    ("Questions of the quiz", "annotation.campaigns.quiz", "MOST_QUESTIONS", "questions"),
    ("Tuples of a calibration session", "annotation.campaigns.norming", "MOST_TUPLES", "tuples"),
    ("People of a calibration session", "annotation.campaigns.norming", "MOST_PEOPLE", "people"),
    ("Tuples of a model annotator's run", "annotation.campaigns.machine_block", "MOST_TUPLES", "tuples"),
    ("Ratings of a pair", "annotation.campaigns.slider", "MOST_RATINGS", "ratings"),
    ("Pairs of a folder that the page publishes", "semblance.publishing.folder", "MOST_PAIRS", "pairs"),
    ("Judgements behind a folder that the page publishes", "semblance.publishing.folder", "MOST_JUDGEMENTS", "judgements"),
    ("Runs of one person that wait (`RUNS_WAITING_MOST`)", "semblance.settings", "RUNS_WAITING_MOST", "runs"),
    ("API tokens of one person", "curation.people.accounts.tokens", "MOST", "tokens"),
    ("Webhooks of a dataset", "curation.people.webhooks.services", "MOST", "webhooks"),
    ("Invitations that are sent by e-mail at once", "curation.people.mail.services", "MOST_AT_ONCE", "invitations"),
    ("Invitations that one person sends in a day", "curation.people.mail.services", "MOST_IN_A_DAY", "invitations"),
)  # fmt: skip


def limits() -> Iterator[str]:
    yield "# Limits\n"
    yield (
        "Semblance refuses what is larger, and says which limit it met. A name in parentheses is a "
        "[setting](settings.md), given here with its default.\n"
    )
    rows = []
    for what, module, name, unit in LIMITS:
        value = (
            default_setting(name) if module == "semblance.settings" else getattr(import_module(module), name)
        )
        said = (
            "" if unit in what.lower().replace("(", "").split() else f" {unit}"
        )  # "Rows of a file" is enough
        rows.append((what, size(value) if unit == "bytes" else f"{value:,}{said}"))
    yield from table(("what", "at most"), rows)


def default_setting(name: str) -> int:
    """The default in the code, whatever the environment says."""
    text = (ROOT / "semblance" / "settings.py").read_text()
    found = re.search(rf'^{name} = env\.int\("{name}", default=([\d *]+)\)', text, re.MULTILINE)
    assert found, name
    product = 1
    for factor in re.findall(r"(\d+)(?:\*\*(\d+))?", found[1]):
        product *= int(factor[0]) ** int(factor[1] or 1)
    return product


def size(number: int) -> str:
    unit, name = (1024**3, "GB") if number >= 1024**3 else (1024**2, "MB")
    return f"{number // unit:,} {name}"


# What each right of `curation.people.access` lets somebody do.
RIGHTS = {
    "annotate": "Answer the questions of open campaigns, and see one's own answers",
    "read": "Read pairs, scores, results of campaigns and runs; export",
    "oversee": "Read uploaded files and bundles of campaigns; publish a snapshot as a folder",
    "curate": "Import, sample, edit, split and review pairs; make and run campaigns; start runs that write",
    "archive": "Archive and restore the dataset",
    "own": "Change the settings, members and webhooks",
    "audit": "Read the audit log",
}
SCOPES = {
    "read": "`GET` only: what the person may read",
    "judge": "Claim, answer, undo and skip questions, and rate candidates",
    "write": "Everything that the person may do by the API",
}


def roles() -> Iterator[str]:
    from curation.foundation.roles import Role
    from curation.people.access import CHANGING, ROLES_THAT_MAY, STAFF_MAY

    yield "# Roles\n"
    yield (
        "A member of a dataset has one role; somebody without a role gets the answer that the dataset does not exist. "
        "Staff are accounts of the site that may also start runs on models.\n"
    )
    yield "## Members\n"
    columns = [*Role.values]
    rows = [
        (
            RIGHTS[right] + ("" if right not in CHANGING else " (not in an archived dataset)"),
            *("yes" if role in allowed else "" for role in columns),
            "yes" if right in STAFF_MAY else "",
        )
        for right, allowed in ROLES_THAT_MAY.items()
    ]
    yield from table(("may", *columns, "staff"), rows)
    yield "## Scopes of API tokens\n"
    from curation.models import ApiToken

    labels = dict(ApiToken.Scope.choices)
    yield from table(("scope", "a program may"), ((labels[name], what) for name, what in SCOPES.items()))


PLACES = "QWERTYUI"


def keys() -> Iterator[str]:
    usual = re.search(r"const USUAL = \{(.*?)\}", (ROOT / "static/js/judge.js").read_text())
    assert usual
    letters = dict(re.findall(r'(\w+): "(\w*)"', usual[1]))
    labels = re.findall(
        r'label=_\("([^"]+)"\) name="(\w+)"', (ROOT / "templates/annotation/judging/_help.html").read_text()
    )
    yield "# Keys\n"
    yield (
        "Annotators can change each key of a question on their device: the button *Keys* or `?` opens the list. A "
        "letter does nothing while somebody types.\n"
    )
    yield "## A question of a campaign\n"
    rows = [
        ("Choose the most, by its place", "`1` to `8`"),
        ("Choose the least, by its place", codes(PLACES)),
    ]
    rows += [(label, code(letters[name].upper())) for label, name in labels]
    yield from table(
        ("action", "key"), [*rows, ("Save, and show the next pairs", "`Enter`"), ("Show the keys", "`?`")]
    )
    yield "## The rating-scale condition\n"
    yield from table(
        ("action", "key"),
        [
            ("Write a value from 0 to 100", "digits, one after another"),
            ("Move the slider", "`←` `→`"),
            ("Save, and show the next pair", "`Enter`"),
            ("Undo", "`U` or `Backspace`"),
            ("Cannot say", "`S`"),
        ],
    )
    yield "## Review of sentences\n"
    yield from table(
        ("action", "key"),
        [
            ("Keep", "`K`"),
            ("Reject, then choose reasons", "`R`, then `1` to `5`"),
            ("Edit", "`E`"),
            ("Save what is open", "`Enter`"),
            ("Cancel what is open", "`Esc`"),
            ("Undo", "`U` or `Backspace`"),
            ("Hide or show where a sentence comes from", "`B`"),
        ],
    )


# Webhooks, published folder ------------------------------------------------------------------------------------------

SENDERS = (
    "annotation/campaigns/finishing.py", "annotation/campaigns/services.py", "annotation/judging/settling.py",
    "curation/review/verdicts.py", "mlworkers/runs/lifecycle.py",
)  # fmt: skip


def webhooks() -> Iterator[str]:
    from curation.models import Webhook
    from curation.people.webhooks.sending import PAUSES, SECONDS
    from curation.people.webhooks.waiting import KEPT_FOR

    data = dict(keys_of_data())
    yield "# Webhooks\n"
    yield (
        "A webhook is an address of another program to which Semblance sends a message when something happens in a "
        "dataset. Owners make webhooks under *Settings*, *Webhooks*.\n"
    )
    yield "## Events\n"
    events = ((code(each.value), each.label, codes(data[each.name])) for each in Webhook.Event)
    yield from table(("`type`", "sent when", "`data`, beside `dataset`"), events)
    yield "No sentence, judgement or name of a person is sent.\n"
    yield "## A message\n"
    message = {
        "type": "run.finished",
        "timestamp": "2026-11-26T12:00:00+00:00",
        "data": {"dataset": "news", "run": 7, "kind": "train_encoder", "state": "succeeded"},
    }
    head = "webhook-id: msg_6f1c2a…\nwebhook-timestamp: 1795694400"
    signed = "webhook-signature: v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4="
    yield f"```\nPOST /semblance HTTP/1.1\n{head}\n{signed}\n\n{json.dumps(message)}\n```\n"
    yield (
        f"An answer with a status from 200 to 299 within {SECONDS:.0f} seconds is success. After a failure Semblance sends "
        f"the message again after {', '.join(map(spoken, PAUSES))}, and keeps it for {KEPT_FOR.days} days.\n"
    )
    yield "## Check the signature\n"
    yield (
        "Messages are signed as [Standard Webhooks](https://www.standardwebhooks.com) says. A message that is sent "
        "again has the same `webhook-id`.\n"
    )
    yield f"```python\n{SIGNATURE_CHECK}```\n"


SIGNATURE_CHECK = dedent(
    """\
    import base64, hashlib, hmac, time


    def is_from_semblance(secret, headers, body):
        if abs(time.time() - int(headers["webhook-timestamp"])) > 300:
            return False  # somebody may send an old message again
        key = base64.b64decode(secret.removeprefix("whsec_"))
        signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
        right = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        return hmac.compare_digest(f"v1,{right}", headers["webhook-signature"])
    """
)


def spoken(pause: timedelta) -> str:
    hours, minutes = divmod(int(pause.total_seconds()) // 60, 60)
    return f"{hours} h" if hours else f"{minutes} min"


def keys_of_data() -> Iterator[tuple[str, list[str]]]:
    """The name of each event, and the keys of the dictionary that goes with it, from the calls in the code."""
    for path in SENDERS:
        tree = ast.parse((ROOT / path).read_text())
        assigned = {
            node.targets[0].id: node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "event_happened":
                given = {each.arg: each.value for each in node.keywords}
                data = given["data"]
                data = assigned[data.id] if isinstance(data, ast.Name) else data
                assert isinstance(data, ast.Dict)
                yield given["event"].attr, [key.value for key in data.keys]  # type: ignore[attr-defined,union-attr]


# The files beside the tables, as `curation.files.publishing` writes them.
PUBLISHED = {
    "README.md": "The dataset card: metadata for the Hugging Face hub, scores, reliability, leaks and annotators",
    "DATA_STATEMENT.md": "Where the data come from, and who annotated them",
    "METHODS.md": "A methods section about the data",
    "methods.tex": "The same for LaTeX",
    "references.bib": "The references of the methods section",
    "CITATION.cff": "How to cite the dataset",
    "croissant.json": "A description of the files for machines (Croissant)",
    "mteb_task.py": "A task for MTEB",
    "manifest.json": "The SHA-256 of each file",
}


def published_folder() -> Iterator[str]:
    text = (ROOT / "curation/files/publishing/templates/readme.md.jinja").read_text()
    tables = re.findall(r'^  "(\w+)": "(.+)",$', text, re.MULTILINE)
    yield "# The published folder\n"
    yield (
        "Publishing a snapshot writes a folder that the Hugging Face hub and `datasets` read. The same snapshot gives "
        "the same bytes.\n"
    )
    yield "## Tables\n"
    rows = ((code(f"data/{name}/SPLIT.parquet"), what[0].upper() + what[1:]) for name, what in tables)
    yield from table(("files", "hold"), rows)
    yield "## Other files\n"
    yield from table(("file", "holds"), ((code(name), what) for name, what in PUBLISHED.items()))


# The API and Python --------------------------------------------------------------------------------------------------


def api() -> Iterator[str]:
    paths = yaml.safe_load((ROOT / "docs" / "openapi.yaml").read_text())["paths"]
    groups: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
    for path, operations in paths.items():
        short = path.removeprefix("/api/v1/")
        texts = [operations[each].get("description", "") for each in METHODS if each in operations]
        texts = [text for text in texts if not text.startswith("A view of something")]  # of the base class
        first = first_sentence(next(filter(None, texts), ""))
        verbs = " ".join(each.upper() for each in METHODS if each in operations)
        rows = groups[short.split("/")[0]]
        rows.append((code(short), verbs, "One of these." if rows and rows[-1][2] == first else first))
    yield "# The API\n"
    yield (
        "Addresses are below `/api/v1/`. A running site describes each parameter and answer at `/api/v1/docs/`, and "
        "serves the schema at `/api/v1/schema/`.\n"
    )
    for group, rows in sorted(groups.items()):
        yield f"## {group}\n"
        yield from table(("address", "methods", "what it is"), rows)


# What a notebook uses: module, and names in it.
PUBLIC = (
    ("annotation.bws.files.judgement_files", ("read_judgements",)),
    ("annotation.bws.judgements", ("Judgements",)),
    ("annotation.bws.designs.design", ("design_tuples",)),
    ("annotation.bws.scores.scoring", ("Scores", "counting_scores", "maxdiff_scores")),
    ("annotation.bws.reliability.split_half", ("split_half_reliability",)),
    ("annotation.bws.annotators.agreement", ("leave_one_out_agreement",)),
    ("annotation.bws.studies.forecast", ("ForecastPlan", "forecast")),
    ("semblance.notebook", ("judgements_read", "encoders_compare")),
)


def python() -> Iterator[str]:
    yield "# Python\n"
    yield (
        "The package `annotation.bws` computes designs, scores and reliability without Django or a database.\n"
    )
    for module, names in PUBLIC:
        yield f"## {module}\n"
        for name in names:
            thing = getattr(import_module(module), name)
            assert getmodule(thing).__name__ == module, name  # type: ignore[union-attr]
            yield f"### {name}\n"
            yield f"```python\n{head_of(thing)}\n```\n"
            yield f"{documented(getdoc(thing) or '')}\n"


def head_of(thing: object) -> str:
    """The signature, as the source has it; of a dataclass its fields."""
    node = ast.parse(dedent(getsource(thing))).body[0]  # type: ignore[arg-type]
    if isinstance(node, ast.FunctionDef):
        returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
        parts = ast.unparse(node.args)
        return f"{node.name}({parts}){returns}"
    assert isinstance(node, ast.ClassDef)
    fields = [f"    {ast.unparse(each)}" for each in node.body if isinstance(each, ast.AnnAssign)]
    return "\n".join([f"class {node.name}:", *fields])


def documented(text: str) -> str:
    """A docstring as Markdown: no mark outside code, and below its first paragraph a list of the lines of names."""
    parts = re.split(r"(`[^`]*`)", text)
    parts[::2] = [re.sub(r"([*_<>\[\]|])", r"\\\1", prose) for prose in parts[::2]]
    first, _blank, rest = "".join(parts).partition("\n\n")
    listed = re.sub(r"^(?=[a-z][\w\\, ]*: )", "* ", rest, flags=re.MULTILINE)
    return f"{first}\n\n{listed}".strip()


PAGES: dict[str, Page] = {
    "api": api,
    "commands": commands,
    "formats": formats,
    "keys": keys,
    "limits": limits,
    "published-folder": published_folder,
    "python": python,
    "roles": roles,
    "runs": runs,
    "settings": settings,
    "webhooks": webhooks,
}


def page_text(name: str) -> str:
    prose_and_code = "\n".join(PAGES[name]()).split("```")
    prose_and_code[::2] = [re.sub(r"\n{3,}", "\n\n", prose) for prose in prose_and_code[::2]]
    return "```".join(prose_and_code).strip() + "\n"


def main() -> None:
    sys.path.insert(0, str(ROOT))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "semblance.settings")
    import django

    django.setup()
    FOLDER.mkdir(exist_ok=True)
    for name in PAGES:
        (FOLDER / f"{name}.md").write_text(page_text(name), encoding="utf-8")


if __name__ == "__main__":
    main()
