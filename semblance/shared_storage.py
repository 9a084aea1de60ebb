"""The store of files that web and workers share, where STORAGE_URL names one."""

import re
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")


def shared_storage_of(address: str) -> dict[str, Any]:
    """The storage of STORAGE_URL, as Django's STORAGES names one. Raises ImproperlyConfigured where it is none."""
    try:
        parts = urlsplit(address)
        has_more = bool(parts.query or parts.fragment or parts.username or parts.port)
    except ValueError:
        parts, has_more = urlsplit(""), True
    if parts.scheme != "s3" or has_more or not BUCKET.fullmatch(parts.netloc):
        raise ImproperlyConfigured(
            "STORAGE_URL is not a bucket of an S3-compatible store; give one such as s3://BUCKET or s3://BUCKET/PREFIX."
            " Its keys are AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and its server, where that is not Amazon's, "
            "AWS_ENDPOINT_URL_S3."
        )
    if not (find_spec("storages") and find_spec("boto3")):
        raise ImproperlyConfigured(
            "STORAGE_URL is set, but django-storages and boto3 are not installed; install Semblance with the extra s3."
        )
    options = {"bucket_name": parts.netloc, "location": parts.path.strip("/")}
    return {"BACKEND": "semblance.object_storage.ObjectStorage", "OPTIONS": options}
