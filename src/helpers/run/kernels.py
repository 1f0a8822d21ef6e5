"""Kernels that are forked from one process, which has imported what notebooks import.

An ordinary kernel takes seconds to import these libraries, a forked one a fraction of one. `start`
has this file run in two ways: as the server, and in place of each kernel as a client, which asks
the server for a fork and lives as long as that does. Whatever goes wrong, and on other systems than
Linux, the kernel is an ordinary one.
"""

import atexit
import builtins
import gc
import importlib.util
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

ORDINARY = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
SPEC = {"display_name": "Python 3 (ipykernel)", "language": "python"}
INLINE = "module://matplotlib_inline.backend_inline"
PATIENCE = 60  # seconds until a client takes an ordinary kernel
LARGEST = 2**20  # bytes of a request
STARTING = threading.Lock()


def start() -> None:
    """Have kernels of this process, and those that it starts, forked until this process ends."""
    with STARTING:
        if sys.platform != "linux" or "KERNEL_SERVER" in os.environ:
            return
        folder = Path(tempfile.mkdtemp(prefix="kernels-"))
        argv = [sys.executable, "-IS", __file__, "client", str(folder / "socket"), *ORDINARY]
        spec = folder / "kernels" / "python3" / "kernel.json"
        spec.parent.mkdir(parents=True)
        spec.write_text(json.dumps({"argv": argv, **SPEC}))
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
            listener.bind(str(folder / "socket"))
            listener.listen(64)
            command = [sys.executable, __file__, "server", str(folder), str(listener.fileno())]
            unheard = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            own = {"pass_fds": [listener.fileno()], "start_new_session": True, **unheard}
            running = subprocess.Popen(command, stdin=subprocess.PIPE, **own)
        atexit.register(running.communicate)  # closes its input, at which it ends
        paths = [str(folder), *filter(None, [os.environ.get("JUPYTER_PATH")])]
        os.environ |= {"KERNEL_SERVER": str(folder), "JUPYTER_PATH": os.pathsep.join(paths)}


def client(address: str, *ordinary: str) -> None:
    """Stand in for a forked kernel until it ends; if there is none, become an ordinary kernel."""
    starter = os.getppid()
    try:
        kernel = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        kernel.settimeout(PATIENCE)
        kernel.connect(address)
        request = json.dumps([str(Path.cwd()), dict(os.environ), ordinary[2:]])
        socket.send_fds(kernel, [request.encode()], [0, 1, 2])
        number = int(kernel.recv(LARGEST))
    except (OSError, ValueError):
        if os.getppid() == starter:
            os.execv(ordinary[0], ordinary)
        return

    def pass_on(received: int, frame: object) -> None:
        with suppress(ProcessLookupError):
            os.killpg(number, received)

    signal.signal(signal.SIGINT, pass_on)
    signal.signal(signal.SIGTERM, pass_on)
    kernel.settimeout(1)
    while os.getppid() == starter:
        with suppress(TimeoutError):
            kernel.recv(1)  # comes back when the kernel has ended
            break


def server(folder: str, listening: str) -> None:
    """Import what notebooks import, then fork a kernel for each client until the starter ends."""
    given = search_path(os.environ)
    fixed = [path for path in sys.path[1:] if path not in given]  # without the folder of this file
    os.environ.pop("JPY_PARENT_PID", None)  # ipykernel would keep it, and end with that process
    sys.path[:] = given + fixed
    import_libraries()
    listener = socket.socket(fileno=int(listening))
    while 0 not in select.select([0, listener], [], [])[0]:
        client, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            become_kernel(client, fixed)
            return
        client.close()
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                continue
    shutil.rmtree(folder)


def search_path(environment: dict) -> list[str]:
    """Folders that the environment adds to those of modules."""
    folders = environment.get("PYTHONPATH", "").split(os.pathsep)
    return [str(Path(folder).absolute()) for folder in folders if folder]


def import_libraries() -> None:
    """Import what the package does, which is then forgotten: each kernel loads its own."""
    package = Path(__file__).parents[1]
    files = [file.relative_to(package) for file in package.rglob("[!_]*.py")]
    names = [".".join(["helpers", *file.with_suffix("").parts]) for file in files]
    # pandas asks while it is imported whether it is in a notebook.
    builtins.get_ipython = lambda: SimpleNamespace(kernel=None)
    names = [name for name in names if not name.startswith("helpers.run.")]
    for name in sorted(["ipykernel.kernelapp", *names]):
        with suppress(Exception):
            importlib.import_module(name)
    del builtins.get_ipython
    for name in [name for name in sys.modules if name.partition(".")[0] == "helpers"]:
        del sys.modules[name]
    gc.freeze()


def become_kernel(client: socket.socket, fixed: list[str]) -> None:
    """Take over from the client all that a new process has of its own, then run the kernel."""
    os.setsid()
    request, files, *_ = socket.recv_fds(client, LARGEST, 3)
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    folder, environment, [module, *arguments] = json.loads(request)
    sys.argv[:] = [importlib.util.find_spec(module).origin, *arguments]
    os.chdir(folder)
    os.environ.clear()
    os.environ |= environment
    sys.path[:] = search_path(environment) + fixed
    os.environ.setdefault("MPLBACKEND", INLINE)
    importlib.invalidate_caches()
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed()
    if "matplotlib" in sys.modules:
        sys.modules["matplotlib"].rcParams["backend"] = os.environ["MPLBACKEND"]
    try:
        client.send(str(os.getpid()).encode())
    except OSError:
        return  # the client has become an ordinary kernel
    threading.Thread(target=end_with, args=[client], daemon=True).start()
    sys.modules["ipykernel.kernelapp"].launch_new_instance(parent_handle=os.getppid())


def end_with(client: socket.socket) -> None:
    """End this process, and those that it started, when the client has ended."""
    client.recv(1)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    {"client": client, "server": server}[sys.argv[1]](*sys.argv[2:])
