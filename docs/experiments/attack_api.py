"""Start a site in an empty folder, and call its API as schemathesis makes calls up; `make attack` does.

    python docs/experiments/attack_api.py [--port 8150] [--calls 10000] [--seed 13]

The status is 1 if the server answered with an error of its own (status 500), if an answer is not as docs/openapi.yaml
describes it, if the server's programs took a gigabyte together, or if the site does not answer afterwards.
"""

import argparse
import json
import sys
import time

from own_site import ROOT, Memory, own_site
from requests import Session
from schemathesis import Case, Response

sys.path.insert(0, str(ROOT))
from tests.generated_calls import World, played

MOST_MB = 1024
SHOWN = 12
WORLDS = 16
MAKE = "from tests.objects_for_calls import print_worlds; print_worlds({worlds})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--port", type=int, default=8150)
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=13)
    options = parser.parse_args()
    with own_site(options.port) as site, Session() as session:
        made = site.manage("shell", "-v", "0", "-c", MAKE.format(worlds=WORLDS))
        worlds = [World(**each) for each in json.loads(made)]

        def send(case: Case, headers: dict[str, str]) -> Response:
            answer = case.call(base_url=site.address, session=session, headers=headers, timeout=120)
            if answer.status_code >= 500:
                print(answer.status_code, case.operation.label, flush=True)
            return answer

        began = time.monotonic()
        with Memory(site.process.pid) as memory:
            report = played(worlds, send, calls=options.calls, drawn=options.seed)
        for line in report.lines():
            print(line, flush=True)
        lives, errors = site.answers(), site.errors()
    print(f"{time.monotonic() - began:.0f} s; errors in the log: {len(errors)}")
    for error in errors[:SHOWN]:
        print(error[:300], error[-1500:], sep="\n...\n")
    print(
        f"memory at most {memory.together:.0f} MB in all programs of the site, {memory.alone:.0f} MB in one"
    )
    print(f"The site answers afterwards: {lives}.")
    if report.errors or report.faults or errors or memory.together >= MOST_MB or not lives:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
