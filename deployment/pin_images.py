#!/usr/bin/env python3
"""Write the digest of every image behind its tag in compose.yaml and the Dockerfile: a tag can move, a digest cannot.

usage: pin_images.py        (with docker, where the images can be reached)
"""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# An image of others with its tag, and the digest that it may have already. Our own are built.
IMAGE = re.compile(
    r"^( +image: |FROM )(?!semblance-)([\w./-]+:[\w.-]+)(@sha256:[0-9a-f]{64})?(?=$| AS )", re.MULTILINE
)


def digest_of(image: str) -> str:
    asked = ["docker", "buildx", "imagetools", "inspect", image, "--format", "{{.Manifest.Digest}}"]
    digest = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()
    if not re.fullmatch(r"sha256:[0-9a-f]{64}", digest):
        raise SystemExit(f"docker did not answer with the digest of {image}: {digest}")
    return digest


def main() -> None:
    texts = {path: path.read_text() for path in (ROOT / "compose.yaml", ROOT / "Dockerfile")}
    digests = {image: digest_of(image) for text in texts.values() for _, image, _ in IMAGE.findall(text)}
    for path, text in texts.items():
        path.write_text(IMAGE.sub(lambda found: f"{found[1]}{found[2]}@{digests[found[2]]}", text))
    for image, digest in sorted(digests.items()):
        print(f"{image}@{digest}")


if __name__ == "__main__":
    main()
