"""Where the files of an artefact are, for people who download them."""

from pathlib import Path

from mlworkers.models import Artifact
from mlworkers.runs.storage import home_path, run_folder


def artifact_path(artifact: Artifact) -> Path:
    """The file or folder of an artefact. Raises ValueError for one that leads out of its run's own folder, and
    FileNotFoundError where it is gone.
    """
    path = home_path(artifact.path)
    folder = run_folder(artifact.run_id).resolve()
    if path == folder or not path.is_relative_to(folder):
        raise ValueError(f"{artifact.path} lies outside the folder of run {artifact.run_id}.")
    if not path.exists():
        raise FileNotFoundError(artifact.path)
    return path
