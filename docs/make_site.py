"""Builds the site of a run: `python docs/make_site.py build build/site`."""

import os
import sys
import time
from pathlib import Path

from sphinx.cmd.build import main as sphinx

DOCS = Path(__file__).parent
sys.path[:0] = [str(DOCS), str(DOCS.parent / "src")]


def main(run: str, target: str) -> int:
    """Build the site of a run (a folder, or `.` for what is committed) into a folder."""
    os.environ["SITE_RUN"] = run
    import conf
    import pages_of

    sources = Path(target).with_name(f"{Path(target).name}-sources")
    pages_of.write(conf.record, sources, conf.repository_url)
    return sphinx(
        [
            "-q",
            "-E",
            "-a",
            "-c",
            str(DOCS),
            "-d",
            f"{sources}-trees",
            str(sources),
            target,
        ]
    )


if __name__ == "__main__":
    started = time.perf_counter()
    code = main(*sys.argv[1:3])
    print(f"{sys.argv[2]}/index.html, {time.perf_counter() - started:.0f} s")
    sys.exit(code)
