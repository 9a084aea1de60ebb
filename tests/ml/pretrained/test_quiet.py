"""Keeping libraries quiet."""

import logging

from mlworkers.science.pretrained.loading import quiet


def test_a_library_is_quiet_below_errors_and_only_meanwhile(caplog) -> None:
    library = logging.getLogger("some_library.inner")

    with quiet("some_library"):
        library.warning("held back")
        library.error("let through")
    library.warning("heard again")

    assert [record.message for record in caplog.records] == ["let through", "heard again"]


def test_a_library_s_level_is_restored_after_an_error() -> None:
    logger = logging.getLogger("another_library")
    logger.setLevel(logging.INFO)

    try:
        with quiet("another_library"):
            raise RuntimeError
    except RuntimeError:
        level = logger.level

    assert level == logging.INFO
