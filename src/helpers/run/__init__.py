"""Check parameters, execute notebooks, publish results, start a new notebook."""

import signal
import sys

from helpers.run.parameters import check

__all__ = ["check", "say_stopped"]


def say_stopped(words: str) -> None:
    """Let a program that somebody stops end with one line, whatever it is doing."""

    def stop(kind: type, error: BaseException, traceback: object) -> None:
        if issubclass(kind, KeyboardInterrupt):
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            print(f"\n{words}", file=sys.stderr)
        else:
            sys.__excepthook__(kind, error, traceback)

    sys.excepthook = stop
