"""Reports of errors to a Sentry that the administrator names, without what people wrote."""

from django.core.exceptions import ImproperlyConfigured


def errors_report(dsn: str) -> None:
    """Send every error that is logged to that address. Raises ImproperlyConfigured where that cannot be.

    Left out: bodies of requests, cookies, names, and the values of variables, which are sentences and judgements.
    """
    try:
        import sentry_sdk  # noqa: PLC0415 - an extra, which few installations have
        from sentry_sdk.utils import BadDsn  # noqa: PLC0415
    except ImportError as error:
        raise ImproperlyConfigured(
            "SENTRY_DSN is set, but sentry-sdk is not installed; install Semblance with the extra sentry."
        ) from error
    try:
        sentry_sdk.init(
            dsn=dsn, send_default_pii=False, include_local_variables=False, max_request_body_size="never"
        )
    except BadDsn as error:
        raise ImproperlyConfigured(f"SENTRY_DSN is not the address of a project ({error}).") from error
