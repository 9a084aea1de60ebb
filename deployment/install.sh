#!/bin/sh
# Installs Semblance with exactly the versions that its tests passed with, each compared with its hash.
# usage: install.sh FOLDER web|worker-cpu|worker-cuda SOURCE
# FOLDER becomes a virtual environment. SOURCE is a wheel, or a folder with the files of semblance/requirements: then
# the packages are installed and Semblance itself is not. PYTHON names another python3. A worker on a processor gets
# torch from the index that TORCH_INDEX names (PyTorch's own, for processors), and this one package without a hash.
set -eu
folder=$1 kind=$2 source=$3
files=$source
case $kind in web|worker-cpu|worker-cuda) ;; *) echo "There is no $kind: choose web, worker-cpu or worker-cuda."; exit 2;; esac
if [ "$kind $(uname -sm)" = "worker-cpu Linux x86_64" ] && [ -z "${TORCH_INDEX:-}${PIP_FIND_LINKS:-}" ]; then
  echo "Set TORCH_INDEX to the address of PyTorch's index for processors, or choose worker-cuda."; exit 2
fi
[ -x "$folder/bin/python" ] || "${PYTHON:-python3}" -m venv "$folder"
if [ -f "$source" ]; then
  files=$(mktemp -d)
  trap 'rm -rf "$files"' EXIT
  "$folder/bin/python" - "$source" "$files" <<'END'
import sys, zipfile, pathlib
wheel, folder = zipfile.ZipFile(sys.argv[1]), pathlib.Path(sys.argv[2])
for name in wheel.namelist():
    if name.startswith("semblance/requirements/"):
        (folder / pathlib.PurePath(name).name).write_bytes(wheel.read(name))
END
fi
pip="$folder/bin/python -m pip install --quiet --no-deps --no-cache-dir --disable-pip-version-check"
case $kind in
  web) set -- ;;
  worker-cpu) set -- --requirement "$files/worker.txt" ;;
  worker-cuda) set -- --requirement "$files/worker.txt" --requirement "$files/torch-cuda.txt" ;;
esac
$pip --require-hashes --only-binary :all: --requirement "$files/web.txt" "$@"
if [ "$kind" = worker-cpu ]; then
  $pip ${TORCH_INDEX:+--index-url "$TORCH_INDEX"} --requirement "$files/torch-cpu.txt"
fi
if [ -f "$source" ]; then
  $pip --force-reinstall "$source"
  "$folder/bin/python" -m pip check
fi
