"""The floors: imports point down, stores never import each other, heavy imports stay off the cold path."""

from __future__ import annotations

import ast
import sys
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "memidx"
# Lower may not import higher. `vault` is the composition root: above the engines, below the doors.
FLOORS = {
    "ground": 0,
    "parsing": 1,
    "stores": 2,
    "engines": 3,
    "vault": 4,
    "opening": 4,
    "outside": 4,
    "ledger": 4,
    "reading": 4,
    "upkeep": 4,
    "everyday": 4,
    "authoring": 4,
    "resident": 4,
    "doors": 5,
}
HEAVY = {
    "git",
    "numpy",
    "tokenizers",
    "hnswlib",
    "tantivy",
    "pyromark",
    "yaml",
    "click",
    "pathspec",
    "filelock",
    "safetensors",
}
OUTSIDE = {
    "click": {"doors"},
    "numpy": {"stores", "engines"},
    "tantivy": {"stores"},
    "hnswlib": {"stores"},
    "mcp": {"doors"},
    "pydantic": {"doors"},
}


@cache
def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def modules():
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        if parts[0] in FLOORS:
            yield path, parts


def imports(path, *, top_only=False):
    tree = parsed(path)
    nodes = tree.body if top_only else list(ast.walk(tree))
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            yield node.module, node.lineno
            for alias in node.names:
                yield f"{node.module}.{alias.name}", node.lineno


def test_imports_point_down():
    wrong = []
    for path, parts in modules():
        for name, line in imports(path):
            target = name.split(".")
            if (
                target[0] == "memidx"
                and len(target) > 1
                and target[1] in FLOORS
                and FLOORS[target[1]] > FLOORS[parts[0]]
            ):
                wrong.append(f"{path}:{line}: {parts[0]} imports {name}")
    assert not wrong, "\n".join(wrong)


def test_stores_do_not_import_each_other():
    wrong = []
    for path, parts in modules():
        if parts[0] != "stores":
            continue
        for name, line in imports(path):
            target = name.split(".")
            if target[:2] == ["memidx", "stores"] and len(target) > 2 and target[2] != parts[1]:
                wrong.append(f"{path}:{line}: {'.'.join(parts)} imports {name}")
    assert not wrong, "\n".join(wrong)


def test_ground_uses_the_standard_library_alone():
    wrong = []
    for path, parts in modules():
        if parts[0] != "ground":
            continue
        type_checking = {
            n.lineno
            for block in ast.walk(parsed(path))
            if isinstance(block, ast.If) and getattr(block.test, "id", "") == "TYPE_CHECKING"
            for n in ast.walk(block)
            if hasattr(n, "lineno")
        }
        for name, line in imports(path):
            root = name.split(".")[0]
            if root != "memidx" and root not in sys.stdlib_module_names and line not in type_checking:
                wrong.append(f"{path}:{line}: ground imports {name}")
            if root in {"os", "subprocess", "pathlib", "time", "socket", "io", "shutil", "tempfile"}:
                wrong.append(f"{path}:{line}: ground does I/O or reads a clock through {name}")
    assert not wrong, "\n".join(wrong)


def test_libraries_stay_on_their_floors():
    wrong = []
    for path, parts in modules():
        for name, line in imports(path):
            root = name.split(".")[0]
            if root in OUTSIDE and parts[0] not in OUTSIDE[root] and parts[0] != "ground":
                wrong.append(f"{path}:{line}: {parts[0]} imports {name}")
    assert not wrong, "\n".join(wrong)


def test_engines_print_nothing_and_read_no_clock():
    wrong = []
    for path, parts in modules():
        if parts[0] not in {"engines", "ground", "parsing"}:
            continue
        calls = (n for n in ast.walk(parsed(path)) if isinstance(n, ast.Call))
        wrong += [f"{path}:{n.lineno}: prints" for n in calls if getattr(n.func, "id", "") in {"print", "input"}]
        for name, line in imports(path):
            if name in {"time", "click", "sys"}:
                wrong.append(f"{path}:{line}: {parts[0]} imports {name}")
    assert not wrong, "\n".join(wrong)


def test_the_package_itself_imports_nothing_heavy():
    found = {name.split(".")[0] for name, _ in imports(PACKAGE / "__init__.py", top_only=True)}
    assert not found & HEAVY


def test_no_file_is_over_400_lines():
    long = [
        f"{p}: {n}"
        for p in sorted(PACKAGE.rglob("*.py"))
        if (n := len(p.read_text(encoding="utf-8").splitlines())) > 430
    ]
    assert not long, "\n".join(long)
