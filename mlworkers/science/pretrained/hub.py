"""Models from a hub: downloaded once into its cache, and found there when the hub is out of reach."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from urllib.request import getproxies

from httpx2 import Client, HTTPError
from huggingface_hub import HfApi, constants, set_client_factory, snapshot_download
from huggingface_hub.errors import (
    GatedRepoError,
    HFValidationError,
    LocalEntryNotFoundError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.utils._http import default_client_factory
from huggingface_hub.utils.tqdm import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars

from curation.files.progress import Report, silent
from curation.foundation.connections import BoundedTransport
from mlworkers.science.pretrained.loading import quiet
from mlworkers.science.pretrained.sources import Kind, unavailable

# All that a model is loaded from. Code and pickled weights are not so much as downloaded.
_WANTED = ["*.safetensors", "*.json", "*.txt", "*.model", "*.spm"]
_UNWANTED = ["onnx/*", "openvino/*", "original/*"]


def hub_folder(
    name: str,
    revision: str | None = None,
    *,
    report: Report = silent,
    endpoint: str | None = None,
    cache: Path | None = None,
    timeout: float = 5.0,
    private: bool = False,
) -> Path:
    """The folder of a hub's model at a revision (None: its main one), downloaded where the cache lacks it.

    endpoint, cache: the hub's address and the folder of its files; None: what huggingface_hub is set to.
    timeout: seconds to wait for the hub's first answer; a hub that gives none is not asked again.
    private: whether the hub and what it leads to may be addresses inside a network.
    Raises ModelError where there is no such model, or the hub is out of reach and the cache lacks it.
    """
    with _quiet_hub(), _connections(private=private):
        try:
            obstacle = _obstacle(name, revision, HfApi(endpoint=endpoint), timeout)
            report(0, 1, f"Fetching {name}")
            folder = snapshot_download(
                name,
                revision=revision,
                endpoint=endpoint,
                cache_dir=cache,
                allow_patterns=_WANTED,
                ignore_patterns=_UNWANTED,
                local_files_only=bool(obstacle),
            )
        except LocalEntryNotFoundError as error:
            raise unavailable(f"{name!r} is not in the hub's cache here, and {obstacle}", Kind.HUB) from error
        except (HTTPError, HFValidationError, OSError) as error:
            match error:
                case RevisionNotFoundError():
                    problem = f"{name} has no revision {revision!r} on the hub"
                case GatedRepoError():
                    problem = f"{name} is gated; ask for access on the hub and log in with `hf auth login`"
                case RepositoryNotFoundError():
                    problem = f"The hub has no model {name!r}, or it is private"
                case HFValidationError():
                    problem = f"{name!r} cannot be the name of a hub's model"
                case _:
                    problem = f"{name} could not be downloaded ({_brief(error)})"
            raise unavailable(problem, Kind.HUB) from error
    report(1, 1, f"Fetched {name}")
    return Path(folder)


def _obstacle(name: str, revision: str | None, api: HfApi, timeout: float) -> str:
    """Ask the hub for the model, once. Returns "" where it answered, and otherwise what was in the way."""
    try:
        model = api.model_info(name, revision=revision, timeout=timeout)
    except OfflineModeIsEnabled:
        return "HF_HUB_OFFLINE is set"
    except (RepositoryNotFoundError, RevisionNotFoundError):
        raise
    except HTTPError as error:
        return f"{api.endpoint} cannot be reached ({_brief(error)})"
    if not any(file.rfilename.endswith(".safetensors") for file in model.siblings or ()):
        raise unavailable(
            f"{name} has no safetensors weights on the hub, and no other kind is loaded", Kind.HUB
        )
    return ""


def _brief(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


@contextmanager
def _connections(*, private: bool) -> Iterator[None]:
    """What the hub's library connects to in the meantime.

    Where the environment names a proxy, that is who connects, and who decides. The library's second way to fetch files
    (xet) connects by itself to addresses that the hub names, which are neither checked nor bounded, so it is not used.
    """
    if getproxies():
        yield
        return
    before = constants.HF_HUB_DISABLE_XET
    constants.HF_HUB_DISABLE_XET = True
    set_client_factory(partial(_bounded_client, private))
    try:
        yield
    finally:
        constants.HF_HUB_DISABLE_XET = before
        set_client_factory(default_client_factory)


def _bounded_client(private: bool) -> Client:
    given = default_client_factory()
    transport = BoundedTransport(private=private)
    return Client(transport=transport, event_hooks=given.event_hooks, follow_redirects=True, timeout=None)


@contextmanager
def _quiet_hub() -> Iterator[None]:
    """No bars and no log lines of the hub's library: what it has to say comes out as one error."""
    silenced = are_progress_bars_disabled()
    disable_progress_bars()
    try:
        with quiet("huggingface_hub", "httpx2", "httpcore2"):
            yield
    finally:
        if not silenced:
            enable_progress_bars()
