"""Builds the site of a run: `python docs/make_site.py build build/site`."""

import os
import sys
import time
from pathlib import Path

from sphinx.cmd.build import main as sphinx

DOCS = Path(__file__).parent
sys.path[:0] = [str(DOCS), str(DOCS.parent / "src")]


def main(run: str, target: str) -> int:
    """Build the site of a run into a folder; the run `.` is what is committed."""
    os.environ["SITE_RUN"] = run
    import conf
    import pages_of

    from helpers.data.tables import PlainError

    sources = Path(target).with_name(f"{Path(target).name}-sources")
    try:
        pages_of.write(conf.record, sources, conf.repository_url)
    except PlainError as error:
        print(error, file=sys.stderr)
        return 1
    all_pages_anew = ["-E", "-a"]
    places = ["-c", str(DOCS), "-d", f"{sources}-trees", str(sources), target]
    return sphinx(["-q", *all_pages_anew, *places])


if __name__ == "__main__":
    started = time.perf_counter()
    code = main(*sys.argv[1:3])
    print(f"{sys.argv[2]}/index.html, {time.perf_counter() - started:.0f} s")
    sys.exit(code)
