"""Re-analysis of how people judge language models: data, statistics, figures and verdicts."""

import signal
import sys

# Building the URI grammar of this module takes two seconds, and no notebook holds a URI to check.
sys.modules.setdefault("rfc3987_syntax", None)


def say_stopped(words: str) -> None:
    """Let a program that somebody stops end with one line, whatever it is doing."""

    def stop(kind: type, error: BaseException, traceback: object) -> None:
        if not issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error, traceback)
            return
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        print(f"\n{words}", file=sys.stderr)

    sys.excepthook = stop
