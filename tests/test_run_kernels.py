"""Kernels from the server: like ordinary ones, each for itself, and none outlives its client."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.manager import KernelManager, start_new_kernel

from helpers.run import kernels

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="kernels are forked on Linux only")
DIFFERING = "JPY_PARENT_PID", "JPY_SESSION_NAME", "JUPYTER_PATH", "KERNEL_SERVER"
DIFFERING += ("PYDEVD_USE_FRAME_EVAL",)  # which the debugger sets when it is imported
LOOK = f"""import os, sys
import matplotlib.pyplot as plt, numpy as np, pandas as pd
from helpers import paths
print(__name__, os.getcwd(), paths.ROOT, sys.path, sys.flags)
print(sorted(item for item in os.environ.items() if item[0] not in {DIFFERING}))
os.system("echo from a subprocess")
print(np.random.default_rng(1).normal(), pd.DataFrame([range(30)]))
plt.plot([1, 2])
plt.show()
1 / 0"""
STATE = """import random, uuid
import numpy as np
from helpers import paths
[hasattr(np, "mark") or hasattr(paths, "mark"), np.random.rand(), random.random(), uuid.uuid4()]"""


@pytest.fixture
def server(monkeypatch) -> None:
    """Start the server, which all later tests may use."""
    monkeypatch.delenv("MPLBACKEND", raising=False)
    kernels.start()


@contextmanager
def kernel(folder: Path) -> Iterator[tuple[KernelManager, BlockingKernelClient]]:
    """Start a kernel in a folder, and end it."""
    manager, client = start_new_kernel(cwd=str(folder))
    try:
        yield manager, client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def outputs(client: BlockingKernelClient, code: str) -> list:
    """What a piece of code gives."""
    found = []
    client.execute_interactive(code, output_hook=found.append, timeout=60)
    kept = ("stream", "display_data", "execute_result", "error")
    return [message["content"] for message in found if message["msg_type"] in kept]


def is_forked(client: BlockingKernelClient) -> bool:
    """Whether a kernel comes from the server."""
    (found,) = outputs(client, "import sys; print(any('kernels.py' in a for a in sys.orig_argv))")
    return found["text"] == "True\n"


def test_outputs_are_those_of_an_ordinary_kernel(server, tmp_path, monkeypatch):
    monkeypatch.setenv("GIVEN", "late")
    with kernel(tmp_path) as (_, client):
        forked = outputs(client, LOOK)
        assert is_forked(client)
    for name in ("KERNEL_SERVER", "JUPYTER_PATH"):
        monkeypatch.delenv(name)
    with kernel(tmp_path) as (_, client):
        ordinary = outputs(client, LOOK)
        assert not is_forked(client)
    for found in (forked, ordinary):
        assert [content for content in found if "image/png" in content.get("data", ())]
        assert found[-1]["ename"] == "ZeroDivisionError"
    assert forked == ordinary


def test_kernels_share_no_state_and_draw_other_numbers(server, tmp_path):
    seen = []
    for _ in range(2):
        with kernel(tmp_path) as (_, client):
            (result,) = outputs(client, STATE)
            marked, *drawn = result["data"]["text/plain"].strip("[]").split(",")
            assert marked == "False"
            seen += drawn
            assert outputs(client, "np.mark = paths.mark = 1") == []
            assert "True" in outputs(client, STATE)[0]["data"]["text/plain"]
    assert len(set(seen)) == len(seen) == 6


@pytest.mark.parametrize("changed", ["KERNEL_SERVER", "PYTHONPATH"])
def test_without_its_server_or_its_imports_a_kernel_is_an_ordinary_one(
    server, tmp_path, monkeypatch, changed
):
    monkeypatch.setenv(changed, str(tmp_path / "other"))
    with kernel(tmp_path) as (manager, client):
        assert any("kernels.py" in word for word in manager.kernel_spec.argv)
        assert not is_forked(client)


def test_an_interrupt_reaches_the_kernel_and_a_killed_client_ends_it(server, tmp_path):
    with kernel(tmp_path) as (manager, client):
        (found,) = outputs(client, "import os, time; print(os.getpid())")
        asked = client.execute("time.sleep(60)")
        time.sleep(1)
        manager.interrupt_kernel()
        reply = client.get_shell_msg(timeout=30)
        while reply["parent_header"]["msg_id"] != asked:
            reply = client.get_shell_msg(timeout=30)
        assert reply["content"]["ename"] == "KeyboardInterrupt"
        number = int(found["text"])
        assert manager.provisioner.pid != number
        os.kill(manager.provisioner.pid, signal.SIGKILL)
        assert ended(number)


def ended(number: int) -> bool:
    """Whether a process ends within ten seconds."""
    for _ in range(100):
        status = Path(f"/proc/{number}/status")
        if not status.exists() or "(zombie)" in status.read_text():
            return True
        time.sleep(0.1)
    return False


def test_the_server_and_its_kernels_end_with_the_starter(tmp_path):
    package = tmp_path / "helpers"  # a small one, whose server has little to import
    folder = Path(kernels.__file__).parent
    shutil.copytree(folder / "jupyter", package / "run" / "jupyter")
    shutil.copy(kernels.__file__, package / "run")
    (package / "__init__.py").touch()
    (package / "beyond").mkdir()
    (package / "beyond" / "one.py").write_text("import matplotlib, numpy, pandas")
    code = """import os
from jupyter_client.manager import start_new_kernel
from helpers.run import kernels
kernels.start()
print(os.environ["KERNEL_SERVER"], flush=True)
server = open(f"/proc/self/task/{os.getpid()}/children").read().split()[0]
assert os.getsid(int(server)) == int(server)  # Ctrl-C in a terminal does not reach it
manager, client = start_new_kernel()
client.execute_interactive("import os; print(os.getpid())", output_hook=lambda message: print(
    message["content"].get("text", "").strip(), end=" ", flush=True))
os.kill(os.getpid(), 9)"""
    environment = {name: os.environ[name] for name in os.environ if name != "KERNEL_SERVER"}
    environment["PYTHONPATH"] = str(tmp_path)
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=tmp_path)
    address, number = done.stdout.split()
    assert ended(int(number))
    for _ in range(100):
        if not Path(address).parent.exists():
            return
        time.sleep(0.1)
    pytest.fail("the server did not end")
