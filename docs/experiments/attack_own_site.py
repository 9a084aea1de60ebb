"""Start a site in an empty folder, and attack it with attack_site.py and guess_passwords.py; `make attack` does.

    python docs/experiments/attack_own_site.py [--port 8150] [--only hostile_files]

Afterwards the site must still answer. The status is 1 if it does not, or if it answered an attack with an error of its
own (status 500).
"""

import argparse
import re
import subprocess
import sys

from own_site import ROOT, own_site


def attacked(*arguments: str) -> str:
    command = [sys.executable, *arguments]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)  # noqa: S603
    output = ""
    for line in process.stdout or ():
        print(line, end="", flush=True)
        output += line
    if process.wait():
        raise SystemExit(f"{arguments[0]} ended with status {process.returncode}.")
    return output


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--port", type=int, default=8150)
    parser.add_argument("--only", default="", help="the part of attack_site.py with this in its name")
    options = parser.parse_args()
    only = ["--only", options.only] if options.only else []
    with own_site(options.port) as site:
        who = ["--user", "owner", "--password", site.password]
        web = ["--web", str(site.web())]
        said = attacked("docs/experiments/attack_site.py", f"{site.address}/", *who, *web, *only)
        said += attacked("docs/experiments/guess_passwords.py", site.address, *who)
        lives = site.answers()
    failed = re.findall(r'"(?:upload|check|status|apply|campaign_saved)": 5\d\d|status 5\d\d', said)
    print(f"The site answers afterwards: {lives}. Errors of the server: {len(failed)}.")
    if failed or not lives:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
