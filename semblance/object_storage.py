"""An S3-compatible store for `curation.foundation.shared_files`. Imported only where STORAGE_URL names one.

A transfer may take as long as it brings a least number of bytes a minute, in either direction
(`curation.foundation.connections`).

Keys and the address of the server come from the ordinary variables of the environment, which boto3 reads.
"""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import cached_property
from typing import IO, Any

from boto3.exceptions import Boto3Error
from botocore.awsrequest import (
    AWSHTTPConnection,
    AWSHTTPConnectionPool,
    AWSHTTPSConnection,
    AWSHTTPSConnectionPool,
)
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    NoCredentialsError,
    PartialCredentialsError,
)
from django.utils.translation import gettext as _
from s3transfer.exceptions import RetriesExceededError
from storages.backends.s3 import S3Storage

from curation.foundation.connections import BoundedSocket, Deadline, LeastRate
from curation.foundation.shared_files import StorageAway, StorageError, StoredObject

CONNECT_SECONDS, READ_SECONDS, ATTEMPTS = 5, 60, 3
HURRIED_SECONDS = 2
REFUSED = frozenset({"403", "AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken"})
BUSY = frozenset({"RequestTimeout", "SlowDown", "ServiceUnavailable", "InternalError", "Throttling"})


class ObjectStorage(S3Storage):  # type: ignore[misc]
    """The objects below one prefix of a bucket."""

    def __init__(self, **options: Any) -> None:
        config = Config(
            connect_timeout=CONNECT_SECONDS,
            read_timeout=READ_SECONDS,
            retries={"total_max_attempts": ATTEMPTS, "mode": "standard"},
            # one's own server rarely has a host name for each bucket, and Amazon knows this form too.
            s3={"addressing_style": "path"},
            # Not every store knows these sums. Ours are compared whenever a file is fetched.
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
        )
        super().__init__(**{"client_config": config, "file_overwrite": True, "gzip": False, **options})
        # Processes that were forked would share the connections, and read each other's answers.
        os.register_at_fork(after_in_child=self._connections_forget)

    def _connections_forget(self) -> None:
        self._connections = threading.local()
        self.__dict__.pop("_hurried", None)

    @property
    def bucket(self) -> Any:
        """Of this thread's own connection."""
        return self.connection.Bucket(self.bucket_name)

    @property
    def connection(self) -> Any:
        """The resource of this thread."""
        is_new = getattr(self._connections, "connection", None) is None
        connection = super().connection
        if is_new:
            _transfers_bound(connection.meta.client, LeastRate)
        return connection

    @property
    def url(self) -> str:
        return f"s3://{self.bucket_name}/{self.location}".rstrip("/")

    def fetch(self, name: str, into: IO[bytes]) -> None:
        """Write an object into a file. Raises FileNotFoundError where there is none."""
        with self.talking():
            try:
                self.bucket.Object(self._normalize_name(name)).download_fileobj(into)
            except ClientError as error:
                if _code(error) in {"404", "NoSuchKey"}:
                    raise FileNotFoundError(name) from error
                raise

    def objects(self, folder: str) -> Iterator[StoredObject]:
        """Every object below a folder, with its name as the other methods take it."""
        prefix = f"{self._normalize_name(folder)}/"
        cut = len(f"{self.location}/") if self.location else 0
        with self.talking():
            for one in self.bucket.objects.filter(Prefix=prefix):
                changed: datetime = one.last_modified
                yield StoredObject(one.key[cut:], one.size, changed)

    def bucket_require(self, *, hurried: bool = False) -> None:
        """Raises StorageError where the bucket is missing. hurried: asks once, and waits HURRIED_SECONDS at most."""
        with self.talking():
            client = self._hurried if hurried else self.connection.meta.client
            client.head_bucket(Bucket=self.bucket_name)

    @cached_property
    def _hurried(self) -> Any:
        """A client for a check of health. Unlike the others, threads may share it."""
        seconds = {"connect_timeout": HURRIED_SECONDS, "read_timeout": HURRIED_SECONDS}
        config = self.client_config.merge(Config(**seconds, retries={"total_max_attempts": 1}))
        options = {"region_name": self.region_name, "endpoint_url": self.endpoint_url, "verify": self.verify}
        client = self._create_session().client("s3", use_ssl=self.use_ssl, config=config, **options)
        _transfers_bound(client, lambda: Deadline(HURRIED_SECONDS))
        return client

    def bucket_make(self) -> bool:
        """Make the bucket if it is missing. Returns whether it was. Raises StorageError where that does not work."""
        client = self.connection.meta.client
        with self.talking():
            try:
                client.head_bucket(Bucket=self.bucket_name)
            except ClientError as error:
                if _code(error) not in {"404", "NoSuchBucket"}:
                    raise
            else:
                return False
            # Amazon wants to be told the region, except its first, whose name it refuses here.
            region = client.meta.region_name
            named = {"CreateBucketConfiguration": {"LocationConstraint": region}}
            client.create_bucket(Bucket=self.bucket_name, **({} if region in {None, "us-east-1"} else named))
        return True

    @contextmanager
    def talking(self) -> Iterator[None]:
        """Turn what goes wrong with the store into one sentence.

        Raises StorageError, and StorageAway where the same may go well later.
        """
        try:
            yield
        except (NoCredentialsError, PartialCredentialsError) as error:
            raise StorageError(
                _(
                    "There is no key for the file storage %(url)s. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."
                ),
                url=self.url,
            ) from error
        except ClientError as error:
            code = _code(error)
            status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
            shown = StorageError
            if code in REFUSED or status in {401, 403}:
                sentence = _(
                    "The file storage %(url)s refused the key (%(code)s). Check AWS_ACCESS_KEY_ID, "
                    "AWS_SECRET_ACCESS_KEY and what the key may do."
                )
            elif code in {"NoSuchBucket", "404"}:
                sentence = _(
                    "The file storage %(url)s does not exist. Create the bucket, or correct STORAGE_URL."
                )
            elif code in BUSY or status >= 500:
                shown = StorageAway
                sentence = _("The file storage %(url)s does not work now (%(code)s). Try again later.")
            else:
                sentence = _("The file storage %(url)s answered with an error (%(code)s).")
            raise shown(sentence, url=self.url, code=code) from error
        except (BotoCoreError, Boto3Error, RetriesExceededError) as error:
            raise StorageAway(
                _("The file storage %(url)s cannot be reached (%(kind)s). Try again when it answers."),
                url=self.url,
                kind=type(error).__name__,
            ) from error


def _code(error: ClientError) -> str:
    return str(error.response.get("Error", {}).get("Code", ""))


def _transfers_bound(client: Any, deadline: Callable[[], Deadline]) -> None:
    """Give each request of the client its own deadline; botocore's limits are those of each read alone."""

    class Bounded:
        sock: Any

        def connect(self) -> None:
            super().connect()  # type: ignore[misc]
            self.sock = BoundedSocket(self.sock, deadline)

        def request(self, *arguments: Any, **more: Any) -> Any:
            if self.sock is not None:
                self.sock.begin()
            return super().request(*arguments, **more)  # type: ignore[misc]

    class Plain(Bounded, AWSHTTPConnection):  # type: ignore[misc]
        pass

    class Encrypted(Bounded, AWSHTTPSConnection):  # type: ignore[misc]
        pass

    class PlainPool(AWSHTTPConnectionPool):  # type: ignore[misc]
        ConnectionCls = Plain

    class EncryptedPool(AWSHTTPSConnectionPool):  # type: ignore[misc]
        ConnectionCls = Encrypted

    pools = {"http": PlainPool, "https": EncryptedPool}
    client._endpoint.http_session._pool_classes_by_scheme.update(pools)
