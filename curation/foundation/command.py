"""What every management command of Semblance shares: `--json`, one-line errors, exit status 2, and a quiet end
where nobody reads on, as behind `| head -n 1`.
"""

import json
import os
import select
import sys
from argparse import ArgumentParser, ArgumentTypeError, _ArgumentGroup
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from django.core.management.base import BaseCommand, CommandError, CommandParser

from curation.foundation.database import database_ready
from curation.foundation.errors import UserError

READER_LEFT = 141  # 128 + SIGPIPE, with which a shell reports what `head` ends


SHORT_NAME = "Short name of the dataset."
DELIMITERS = {"comma": ",", "tab": "\t", "\\t": "\t", "semicolon": ";", "bar": "|", "pipe": "|"}


def delimiter_given(text: str) -> str:
    """The value of `--delimiter`: one character, or its name. Raises ArgumentTypeError for anything else."""
    delimiter = DELIMITERS.get(text.lower(), text)
    if len(delimiter) != 1 or delimiter.isalnum() or delimiter in "\"'\r\n":
        names = ", ".join(name for name in DELIMITERS if name.isalpha())
        raise ArgumentTypeError(f"“{text}” is not a delimiter; give one character, or one of {names}")
    return delimiter


def encoding_argument(parser: ArgumentParser | _ArgumentGroup) -> None:
    """Add `--encoding`, the same for every command that reads files of text."""
    parser.add_argument(
        "--encoding",
        metavar="NAME",
        help="The encoding of the files, such as gbk, euc_jp or cp1251. Default: detected.",
    )


def reading_arguments(parser: ArgumentParser | _ArgumentGroup) -> None:
    """Add `--delimiter` and `--encoding`, the same for every command that reads a table."""
    parser.add_argument(
        "--delimiter",
        type=delimiter_given,
        metavar="C",
        help="What separates the columns: one character, or comma, tab, semicolon or bar. Default: recognised.",
    )
    encoding_argument(parser)


def no_header_argument(parser: ArgumentParser | _ArgumentGroup) -> None:
    parser.add_argument(
        "--no-header",
        action="store_true",
        help="The first row is not a row of column names; columns are given by number.",
    )


def text_arguments(parser: ArgumentParser | _ArgumentGroup) -> None:
    """Add the options of commands that read sentences from tables or from running text."""
    parser.add_argument(
        "--text", metavar="COL", help="The column of sentences. A file that ends in .txt has none."
    )
    parser.add_argument("--documents", action="store_true", help="The files are running text.")
    parser.add_argument(
        "--language", default="en", metavar="TAG", help="Language of the running text. Default: %(default)s."
    )


def spreadsheet_argument(parser: ArgumentParser | _ArgumentGroup, *names: str) -> None:
    """names: other names of the option; the first one names the value."""
    parser.add_argument(
        *names,
        "--spreadsheet",
        action="store_true",
        help="Put an apostrophe before text that a spreadsheet would run as a formula (CSV and TSV).",
    )


def seed_argument(parser: ArgumentParser | _ArgumentGroup, *, default: int = 1234) -> None:
    parser.add_argument(
        "--seed",
        type=int,
        default=default,
        metavar="N",
        help="Seed of everything that is drawn at random. Default: %(default)s.",
    )


def slug_argument(parser: ArgumentParser | _ArgumentGroup) -> None:
    parser.add_argument("dataset", metavar="SLUG", help=SHORT_NAME)


def target_arguments(parser: ArgumentParser | _ArgumentGroup) -> None:
    """Add the dataset to which a command adds the contents of files."""
    parser.add_argument("--dataset", required=True, metavar="SLUG", help=SHORT_NAME)
    parser.add_argument("--create", action="store_true", help="Create the dataset if it does not exist.")
    owner_argument(parser)


def owner_argument(parser: ArgumentParser | _ArgumentGroup) -> None:
    """Add who owns a dataset that the command creates."""
    parser.add_argument(
        "--owner",
        metavar="USERNAME",
        help="The account that owns the dataset that --create makes. Default: none; only administrators can change it.",
    )


def rejected_arguments(parser: ArgumentParser | _ArgumentGroup) -> None:
    """Add what happens to the rows of a file that cannot be imported."""
    parser.add_argument(
        "--errors",
        type=Path,
        metavar="FILE",
        help="Write the rejected rows to this CSV file.",
    )
    parser.add_argument(
        "--strict",
        action="store_true",
        help="Import nothing if a row is rejected. Default: import the others.",
    )


def reading_given(options: Mapping[str, Any]) -> dict[str, Any]:
    """How a table is to be read, as `--no-header` and the options of `reading_arguments` say."""
    return {
        "header": not options["no_header"],
        "delimiter": options["delimiter"],
        "encoding": options["encoding"],
    }


class Error(CommandError):
    """Printed by Django as `Error: …`, one line on standard error, exit status 2."""

    def __init__(self, message: object) -> None:
        super().__init__(" ".join(str(message).split()), returncode=2)


class Command(BaseCommand):
    """Prints human text, and with `--json` one JSON object as the last line of standard output."""

    # These commands must answer where no database is configured (a bare machine with the pure folders).
    requires_system_checks: list[str] = []
    needs_database = False

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        parser.add_argument(
            "--json", action="store_true", help="Print one JSON object as the last line of standard output."
        )
        if getattr(self, "_called_from_command_line", False):
            parser.error = self._wrong_usage  # type: ignore[method-assign]
        return parser

    def _wrong_usage(self, message: str) -> NoReturn:
        self.stderr.write(f"Error: {message}; add --help to see how the command is called.")
        sys.exit(2)

    def run_from_argv(self, argv: list[str]) -> None:
        with reader_may_leave():
            super().run_from_argv(argv)

    def execute(self, *args: Any, **options: Any) -> str | None:
        try:
            if self.needs_database:
                database_ready()
            return super().execute(*args, **options)
        except UserError as error:
            raise Error(error.for_command or error) from error

    def answer(self, figures: dict[str, Any], *lines: str, as_json: bool) -> None:
        """Print the lines people read and, where asked for, the object programs read."""
        for line in lines:
            self.stdout.write(line)
        if as_json:
            self.stdout.write(json.dumps(figures))

    def fail(self, message: object) -> NoReturn:
        raise Error(message)


@contextmanager
def reader_may_leave() -> Iterator[None]:
    """End the process silently where the program that read its output closed the pipe.

    The output is flushed here, because Python reports what it cannot flush at its own end on standard error.
    """
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        shut = []  # the pipes that nobody reads any more
        for stream in (sys.stdout, sys.stderr):
            looking = select.poll()
            looking.register(stream.fileno(), 0)  # errors are reported without asking
            if looking.poll(0):
                shut.append(stream)
        if not shut:  # the pipe was another one, to a database or a broker
            raise
        for stream in shut:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        sys.exit(READER_LEFT)
