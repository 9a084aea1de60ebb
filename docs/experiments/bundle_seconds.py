"""What does the bundle of a campaign cost, and which of its parts?

A campaign in a database of its own: items in twice as many tuples, judged by 30 simulated annotators who differ. The
bundle is made three times: the first also loads libraries. With `--profile` it is made once, under cProfile.

    OPENBLAS_NUM_THREADS=1 python docs/experiments/bundle_seconds.py --items 100
    OPENBLAS_NUM_THREADS=1 python docs/experiments/bundle_seconds.py --items 3000 --profile
"""

import argparse
import cProfile
import pstats
import resource
import sys
import time
from pathlib import Path
from tempfile import TemporaryFile

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks"), str(ROOT / "docs" / "experiments")]

import _database  # noqa: E402  (importing it makes the installation)
from request_seconds import judged_campaign  # noqa: E402

from annotation.models import Campaign  # noqa: E402
from annotation.results.bundle import bundle_zip  # noqa: E402
from annotation.results.kept_bundles import bundle_state  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--items", type=int, default=100)
    parser.add_argument("--each", type=int, default=2, help="judgements of a tuple")
    parser.add_argument("--profile", action="store_true", help="once, and say where the time goes")
    asked = parser.parse_args()
    asked.file = None
    judged_campaign(Path(_database.HOME), asked)
    campaign = Campaign.objects.get()
    if asked.profile:
        profile = cProfile.Profile()
        profile.runcall(_made, campaign, "profiled")
        pstats.Stats(profile).sort_stats("cumulative").print_stats("annotation/(bws|results)", 45)
        return
    for name in ("first", "again", "again"):
        _made(campaign, name)
    worked = time.process_time()
    bundle_state(campaign)
    print(f"whether anything changed: {time.process_time() - worked:.3f} s of the processor")


def _made(campaign: Campaign, name: str) -> None:
    began, worked = time.monotonic(), time.process_time()
    with TemporaryFile() as file:
        made = bundle_zip(campaign=campaign, file=file)
        size = file.tell()
    seconds, processor = time.monotonic() - began, time.process_time() - worked
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{made.judgements:7,} judgements, {name:8} {seconds:7.2f} s, of the processor {processor:6.2f} s; "
        f"{size / 1024:,.0f} KB; largest memory {memory:,.0f} MB",
        flush=True,
    )


if __name__ == "__main__":
    main()
