"""Count how many small faults, planted one at a time in the package, the tests notice.

Run it as `python benchmarks/mutants.py [--count 120] [--seed 2026] [FILE ...]`. Files,
operators and seed say which faults are planted before anything has run: each mutant
changes one operator or constant in one line of `src/helpers` (the core by default: all
rooms but `simulate`). It is killed if the tests of its module fail,
or else any other test. Survivors are printed with their change, so that each can get a
test, or be named as equivalent to the original.
"""

import argparse
import ast
import compileall
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NOT_CORE = {"simulate"}
COMPARISONS = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}
ARITHMETIC = {
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "/",
    ast.Div: "*",
    ast.FloorDiv: "/",
    ast.Pow: "*",
    ast.Mod: "*",
    ast.BitAnd: "|",
    ast.BitOr: "&",
    ast.MatMult: "*",
}
SECONDS = 900


def core_files() -> list[Path]:
    """Modules of the core, in the order of their names."""
    package = ROOT / "src" / "helpers"
    files = sorted(package.rglob("*.py"))
    return [
        file for file in files if not NOT_CORE & set(file.relative_to(package).parts)
    ]


def mutations(node: ast.AST) -> list[tuple[ast.AST, str]]:
    """Give what can be changed at a node, and the text that replaces it."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        left, right = ast.unparse(node.left), ast.unparse(node.comparators[0])
        return [(node, f"({left} {COMPARISONS[type(node.ops[0])]} {right})")]
    if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
        left, right = ast.unparse(node.left), ast.unparse(node.right)
        return [(node, f"(({left}) {ARITHMETIC[type(node.op)]} ({right}))")]
    if isinstance(node, ast.BoolOp):
        word = " or " if isinstance(node.op, ast.And) else " and "
        return [
            (node, f"({word.join(f'({ast.unparse(value)})' for value in node.values)})")
        ]
    if isinstance(node, ast.UnaryOp) and isinstance(
        node.op, ast.Not | ast.USub | ast.Invert
    ):
        return [(node, f"({ast.unparse(node.operand)})")]
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        return [(node, str(not node.value))]
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return [(node, repr(node.value + 1))]
    return []


def annotations(tree: ast.AST) -> set[ast.AST]:
    """Nodes of type annotations, which do nothing when the code runs."""
    found = set()
    for node in ast.walk(tree):
        for part in (getattr(node, "annotation", None), getattr(node, "returns", None)):
            if part is not None:
                found |= set(ast.walk(part))
    return found


def mutants_of(file: Path) -> list[tuple[Path, int, str, str]]:
    """List mutants of a file: file, line number, the new line, the new file."""
    source = file.read_text(encoding="utf-8")
    lines = source.splitlines(keepends=True)
    tree = ast.parse(source)
    idle, found = annotations(tree), []
    for node in ast.walk(tree):
        if node in idle:
            continue
        for old, text in mutations(node):
            if old.lineno != old.end_lineno:
                continue
            line = lines[old.lineno - 1].encode()
            changed = (
                line[: old.col_offset] + text.encode() + line[old.end_col_offset :]
            )
            new = "".join(
                [*lines[: old.lineno - 1], changed.decode(), *lines[old.lineno :]]
            )
            try:
                ast.parse(new)
            except SyntaxError:  # inside an f-string the quotes may clash
                continue
            found.append((file, old.lineno, changed.decode().strip(), new))
    return found


def survives(folder: Path, mutant: tuple[Path, int, str, str], own_only: bool) -> bool:
    """Run the tests of the module, then all others, on a copy with the fault."""
    file, _, _, new = mutant
    inside = file.relative_to(ROOT)
    target = folder / inside
    original = target.read_text(encoding="utf-8")
    own = "test_" + "_".join(inside.with_suffix("").parts[2:]) + ".py"
    first = [
        str(inside),
        *([f"tests/{own}"] if (folder / "tests" / own).exists() else []),
    ]
    try:
        target.write_text(new, encoding="utf-8")
        return passes(folder, first) and (
            own_only or passes(folder, ["tests", "src/helpers"])
        )
    finally:
        target.write_text(original, encoding="utf-8")


def passes(folder: Path, tests: list[str]) -> bool:
    """Tell whether the tests pass; a run that does not end counts as a failure."""
    command = [sys.executable, "-B", "-m", "pytest", "-q", "-x", "--no-header", *tests]
    setting = os.environ | {"PYTHONPATH": str(folder / "src"), "OMP_NUM_THREADS": "1"}
    try:
        run = subprocess.run(
            command,
            cwd=folder,
            env=setting,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False
    return run.returncode == 0


def main() -> None:
    """Plant the mutants one by one and print which ones survive."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, help="default: the core")
    parser.add_argument("--count", type=int, default=120)
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument(
        "--own", action="store_true", help="only the tests of the module itself"
    )
    parser.add_argument(
        "--part", default="1/1", help="run only every n-th mutant, as 1/2 or 2/2"
    )
    given = parser.parse_args()
    files = [file.resolve() for file in given.files] or core_files()
    every = [mutant for file in files for mutant in mutants_of(file)]
    chosen = random.Random(given.seed).sample(every, min(given.count, len(every)))
    part, parts = map(int, given.part.split("/"))
    chosen = chosen[part - 1 :: parts]
    left = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "project"
        ignored = shutil.ignore_patterns(".venv", ".git", "build", "raw", "__pycache__")
        shutil.copytree(ROOT, folder, ignore=ignored)
        compileall.compile_dir(folder / "src", quiet=1)  # -B below writes nothing
        os.environ.setdefault("DATA_MIRROR", str(ROOT.parent / "shared" / "data"))
        for number, mutant in enumerate(chosen, 1):
            lived = survives(folder, mutant, given.own)
            left += lived
            state = "SURVIVED" if lived else "killed"
            where = mutant[0].relative_to(ROOT / "src")
            print(
                f"{number}/{len(chosen)} {state} {where}:{mutant[1]}  {mutant[2]}",
                flush=True,
            )
    print(
        f"{len(chosen) - left} of {len(chosen)} mutants were noticed, "
        f"of {len(every)} there are"
    )


if __name__ == "__main__":
    main()
