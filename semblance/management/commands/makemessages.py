"""Django's, for the sentences of the pages that annotators see."""

from django.core.management.commands import makemessages

from semblance.languages import SOURCES


class Command(makemessages.Command):
    help = "Writes the sentences of the pages that annotators see into the catalogues of all languages or some (-l fr)."
    # A guess of another sentence's translation would be one more thing to look for.
    msgmerge_options = [*makemessages.Command.msgmerge_options, "--no-fuzzy-matching"]

    def find_files(self, root: str) -> list[makemessages.TranslatableFile]:
        return [file for file in super().find_files(root) if file.path.removeprefix("./").startswith(SOURCES)]
