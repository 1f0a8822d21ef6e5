"""Kernels that are forked from one process, which has imported what notebooks import.

An ordinary kernel takes seconds to import these libraries, a forked one a fraction of one. `start`
has this file run in two ways: as the server, and in place of each kernel as a client, which asks
the server for a fork and lives as long as that does. Whatever goes wrong, and on other systems than
Linux, the kernel is an ordinary one.
"""

import atexit
import gc
import importlib
import json
import os
import pkgutil
import select
import shutil
import signal
import socket
import sys
import tempfile
from pathlib import Path
from subprocess import PIPE, Popen
from threading import Lock, Thread

STARTING = Lock()
# What libraries import only when they first need it.
LATE = "formulaic", "ipykernel.debugger", "pandera.backends.pandas.builtin_checks"


def start() -> None:
    """Have kernels of this process, and those that it starts, forked until this process ends."""
    with STARTING:
        if sys.platform != "linux" or "KERNEL_SERVER" in os.environ:
            return
        address = str(Path(tempfile.mkdtemp(prefix="kernels-"), "socket"))
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
            listener.bind(address)
            listener.listen(64)
            # Ordinary kernels have the option too, without which the debugger gives a warning.
            argv = [sys.executable, "-Xfrozen_modules=off", __file__, "server", address]
            # It writes nothing, so that its output can be the listener.
            running = Popen(argv, stdin=PIPE, stdout=listener, start_new_session=True)
        atexit.register(running.communicate)  # closes its input, at which it ends
        os.environ |= {"KERNEL_SERVER": address, "JUPYTER_PATH": f"{Path(__file__).parent}/jupyter"}


def client(*arguments: str) -> None:
    """Stand in for a forked kernel until it ends; if there is none, become an ordinary kernel."""
    starter = int(os.environ["JPY_PARENT_PID"])
    try:
        kernel = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        kernel.settimeout(30)
        kernel.connect(os.environ["KERNEL_SERVER"])
        request = json.dumps([str(Path.cwd()), dict(os.environ), arguments]).encode()
        socket.send_fds(kernel, [request], [0, 1, 2])
        number = int(kernel.recv(32))
    except (KeyError, OSError, ValueError):
        if os.getppid() == starter:
            os.execv(sys.executable, [sys.executable, "-m", "ipykernel_launcher", *arguments])
        return
    signal.signal(signal.SIGINT, lambda received, _: os.killpg(number, received))
    while os.getppid() == starter and not select.select([kernel], [], [], 1)[0]:
        continue


def server(address: str) -> None:
    """Import what notebooks import, then fork a kernel for each client until the starter ends."""
    del sys.path[0]  # the folder of this file
    highest = pkgutil.iter_modules([Path(__file__).parents[1] / "beyond"], "helpers.beyond.")
    for name in ("ipykernel.kernelapp", *LATE, *(module.name for module in highest)):
        importlib.import_module(name)  # the highest room needs all libraries
    for name in [name for name in sys.modules if name.partition(".")[0] == "helpers"]:
        del sys.modules[name]  # each kernel loads its own
    sys.modules["pandas"].options.display.max_columns = 20  # as pandas has it in a notebook
    gc.freeze()  # no kernel looks for garbage among what has been imported here
    listener = socket.socket(fileno=1)
    while 0 not in select.select([0, listener], [], [])[0]:
        with listener.accept()[0] as client:
            if os.fork() == 0:
                return become_kernel(client)
    return shutil.rmtree(Path(address).parent)


def become_kernel(client: socket.socket) -> None:
    """Take over from the client all that a new process has of its own, then run the kernel."""
    os.setsid()
    request, files, *_ = socket.recv_fds(client, 2**20, 3)
    for number, file in enumerate(files):
        os.dup2(file, number)
    folder, environment, arguments = json.loads(request)
    if environment.get("PYTHONPATH") != os.environ.get("PYTHONPATH"):
        return  # what has been imported may be another version: the client takes an ordinary kernel
    os.chdir(folder)
    os.environ.clear()
    os.environ |= environment
    sys.modules["numpy"].random.seed()
    sys.modules["matplotlib"].rcParams["backend"] = environment.get("MPLBACKEND", "inline")
    client.send(str(os.getpid()).encode())
    # Nothing comes from the client but its end, which ends all that was started here.
    Thread(target=lambda: client.recv(1) or os.killpg(0, signal.SIGKILL), daemon=True).start()
    sys.modules["ipykernel.kernelapp"].launch_new_instance(arguments, parent_handle=os.getppid())


if __name__ == "__main__":
    {"client": client, "server": server}[sys.argv[1]](*sys.argv[2:])
