"""Lines of the log that say what happened: for people and programs that watch a site (LOG_LEVEL=INFO).

A line has the name of the event and its fields: `run_ended run=7 kind=train_encoder state=succeeded seconds=12.5`. With
LOG_FORMAT=json, each field is a field of the line's object. People are named by their number in the database. Names of
people, sentences, passwords and addresses of other sites are never among the fields: a log is kept longer, and read by
more people, than what is in the database.
"""

import json
import logging
from functools import partial

from django.db import transaction

logger = logging.getLogger("semblance.happened")


def log_line(event: str, **fields: object) -> None:
    """Write the line. Fields that are None or empty are left out; what has spaces or control characters is quoted."""
    given = {name: value for name, value in fields.items() if value is not None and value != ""}
    words = [event]
    for name, text in ((name, str(value)) for name, value in given.items()):
        is_word = text.isprintable() and not set(text) & set(' "=')
        words.append(f"{name}={text if is_word else json.dumps(text)}")
    logger.info("%s", " ".join(words), extra={"event": event, **given})


def log_line_at_commit(event: str, **fields: object) -> None:
    """Write the line once the transaction is committed: a change that is rolled back did not happen."""
    transaction.on_commit(partial(log_line, event, **fields))
