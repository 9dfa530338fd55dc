"""A vault that means harm: nothing crashes, hangs, grows without bound, or is read or written outside of it.

`PYTHONPATH=. python tests/fuzz.py --seconds 60` changes these inputs at random and counts.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import pytest
from awkward import CONFIGS, PAGES, QUESTIONS, SIDECARS
from clirun import CHECKOUT, WORDS_ONLY, memidx

from memidx.ground.errors import ConfigError
from memidx.parsing.config import parse_config
from memidx.parsing.globs import glob_problem, glob_spec
from memidx.parsing.page import parse_page
from memidx.parsing.sidecar import parse_sidecar

MOST_SECONDS = 2.0  # of processor time, for what is the size of a page

WATCH = """
import json, os, sys
seen = []
def hook(event, args):
    if event == "open" and isinstance(args[0], (str, bytes)):
        flags = args[2] if isinstance(args[2], int) else 0
        seen.append((os.fsdecode(args[0]), bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))))
    elif event in ("os.remove", "os.rename", "os.mkdir", "os.link", "os.symlink", "os.chmod", "os.rmdir"):
        seen.extend((os.fsdecode(a), True) for a in args[:2] if isinstance(a, (str, bytes)))
    elif event in ("socket.connect", "socket.getaddrinfo", "os.system", "os.exec", "os.posix_spawn", "pty.spawn"):
        seen.append((event, True))
sys.addaudithook(hook)
sys.path[:0] = sys.argv[1:3]
from clirun import memidx
codes = [memidx(*command, cwd=sys.argv[3])[::2] for command in json.loads(sys.argv[4])]
print(json.dumps([codes, [(os.path.realpath(p), w) for p, w in seen if os.path.isabs(p)] + [s for s in seen if "." in s[0] and "/" not in s[0]]]))
"""


@pytest.mark.parametrize("name", PAGES)
def test_an_awkward_page_is_read_in_time(name):
    begun = time.process_time()
    page = parse_page("notes/p.md", PAGES[name])
    assert page.title and page.sections
    assert time.process_time() - begun < MOST_SECONDS


def test_awkward_settings_are_read_or_refused():
    for text in CONFIGS:
        begun = time.process_time()
        try:
            parse_config(text, "config.yaml")
        except ConfigError as error:
            told = error.message
            assert "config.yaml" in told
        assert time.process_time() - begun < MOST_SECONDS, text[:80]


def test_awkward_sidecars_are_read():
    for text in SIDECARS:
        begun = time.process_time()
        parse_sidecar(text)
        assert time.process_time() - begun < MOST_SECONDS, text[:80]


@pytest.mark.parametrize("glob", ["\\", "!", "a\\", "*a*a*a*a*a*a*a*b", "**/a/**/a/**/a/**/b", "a" * 2_000])
def test_a_glob_that_is_no_pattern_or_would_take_for_ever_matches_nothing(glob):
    begun = time.process_time()
    assert glob_problem(glob)
    assert not glob_spec([glob]).match_file("a" * 250)
    assert not glob_spec([glob]).match_file("a/" * 1_000)
    assert time.process_time() - begun < MOST_SECONDS
    with pytest.raises(ConfigError, match=r"config.yaml:1:\d+: pages.include"):
        parse_config(f"pages: {{include: [{json.dumps(glob)}]}}", "config.yaml")


@pytest.mark.parametrize(
    "glob", ["*.md", "**/*.md", "docs/**", "/notes/*/a*.md", "**/**/**/**/x.md", "[a-c]*.md", "***"]
)
def test_usual_globs_are_fine(glob):
    assert glob_problem(glob.replace("**/**/**/**/", "**/")) is None
    assert glob_spec([glob]).match_file(
        glob.replace("**/", "").replace("*", "b").replace("[a-c]", "a").lstrip("/") or "b"
    )


@pytest.fixture
def hostile(repo, tmp_path):
    """Every awkward page under an awkward name, links that lead out, settings that point out."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("# Secret\n\nzyzzyva\n")
    names = [
        "a b",
        "-rf",
        "'q\"",
        "new\nline",
        "tab\t",
        "笔记",
        "e\u0301",
        "\udcff\udcfe",
        "x" * 240,
        "%2e%2e",
        ":(top)x",
        "*",
        "[a]",
        "~",
        "con",
    ]
    for number, data in enumerate(data for data in PAGES.values() if len(data) < 30_000):
        repo.write({f"d{number}/{names[number % len(names)]}{number}.md": data})
    (repo.root / "link.md").symlink_to(outside / "secret.md")
    (repo.root / "folder").symlink_to(outside)
    (repo.root / "loop.md").symlink_to("loop.md")
    (repo.root / "d0" / "up").symlink_to("../outside")
    repo.write({".memidx/decay.jsonl": SIDECARS[8] + "\n" + SIDECARS[18] + "\n"})
    repo.write(
        {"out.md": f"[x](../outside/secret.md) [[../outside/secret]] [y]({outside}/secret.md) ![[{outside}/secret]]\n"}
    )
    (repo.root / "deep").mkdir()
    repo.write({"deep/" + "/".join("abcdefghij" * 3) + "/p.md": "# Deep\n"})
    repo.commit()
    return repo, outside


def watched(root, commands, home):
    args = [sys.executable, "-c", WATCH, str(CHECKOUT / "tests"), str(CHECKOUT), str(root), json.dumps(commands)]
    env = {**os.environ, **WORDS_ONLY, "TMPDIR": str(home), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(args, env=env, capture_output=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_nothing_outside_the_vault_is_read_or_written(hostile, tmp_path):
    repo, outside = hostile
    before = sorted((p.name, p.stat().st_mtime_ns) for p in tmp_path.iterdir() if p != repo.root)
    (tmp_path / "t").mkdir()
    commands = [
        ("build",), ("query", "--json", "zyzzyva", "secret"), ("query", "path:../outside/secret.md", "zyzzyva"), ("check",),
        ("show", "out.md"), ("show", "../outside/secret.md"), ("show", "link.md"), ("show", str(outside / "secret.md")),
        ("related", "out.md"), ("links", "out.md"), ("decay",), ("status", "--verify"), ("recent",), ("brief",), ("context", "secret"),
        ("feedback", "link.md", "helpful"), ("feedback", "../outside/secret.md", "wrong"), ("sweep",), ("gc",), ("doctor",), ("cite", "../outside/secret.md:1"),
    ]  # fmt: skip
    codes, seen = watched(repo.root, commands, tmp_path / "t")
    for command, (code, err) in zip(commands, codes, strict=True):
        assert code in (0, 1, 2), (command, code, err[-1500:])
        assert "Traceback" not in err
    assert not [p for p, _ in seen if p.startswith(str(outside))]
    assert not [p for p, writes in seen if p.startswith(("socket.", "os.", "pty."))]
    inside = (str(repo.root), str(tmp_path / "t"), "/dev/null")
    assert not [p for p, writes in seen if writes and not p.startswith(inside)]
    assert (
        sorted((p.name, p.stat().st_mtime_ns) for p in tmp_path.iterdir() if p not in (repo.root, tmp_path / "t"))
        == before
    )
    assert not memidx("query", "--json", "zyzzyva", cwd=repo.root).json["hits"]


def test_any_question_is_answered_in_time(repo):
    repo.write({f"p{n}.md": f"# Page {n}\n\ndeploy rollback {n}\n" for n in range(30)})
    memidx("build", cwd=repo.root)
    for question in QUESTIONS:
        begun = time.process_time()
        done = memidx("query", "--no-track", "--", question.replace("\0", "\x01"), cwd=repo.root)
        assert done.code in (0, 1) and "Traceback" not in done.err, (question[:80], done.err[-500:])
        assert time.process_time() - begun < MOST_SECONDS, question[:80]


def test_words_that_stand_nowhere_are_corrected_in_bounded_time(repo):
    repo.write({f"p{n}.md": f"# Page {n}\n\nlighthouse harbour {n}\n" for n in range(30)})
    memidx("build", cwd=repo.root)
    strange = " ".join("".join(chr(97 + (n * k) % 26) for k in range(3, 15)) for n in range(1, 250))
    for question in ("x" * 100_000, "y" * 5_000 + " lighthouse", strange, strange.replace("a", "é")):
        begun = time.process_time()
        assert memidx("query", "--no-track", question, cwd=repo.root).code in (0, 1)
        assert time.process_time() - begun < MOST_SECONDS, question[:40]


def test_half_a_character_in_a_filter_matches_nothing(repo):
    repo.write({"a.md": "# A\n\ndeploy\n"})
    for args in (
        ["kind:\udcf8 deploy"],
        ["tag:\ud800 deploy"],
        ["deploy", "--tag", "\udcf8"],
        ["deploy", "--where", "a=\udcf8"],
        ["\udcf8"],
    ):
        done = memidx("query", *args, cwd=repo.root)
        assert done.code in (1, 2) and "Traceback" not in done.err, (args, done.err[-800:])


def test_awkward_settings_in_a_vault_stop_no_command_with_a_traceback(repo):
    repo.write({"a.md": "# A\n\ndeploy\n"})
    for text in CONFIGS:
        repo.write({".memidx/config.yaml": text.encode("utf-8", "surrogatepass")})
        done = memidx("query", "deploy", cwd=repo.root)
        assert done.code in (0, 1, 2) and "Traceback" not in done.err, (text[:80], done.err[-500:])


def test_awkward_sidecars_in_a_vault_lose_nothing(repo):
    repo.write({"p0.md": "# A\n\ndeploy\n"})
    for text in SIDECARS:
        data = text.encode("utf-8", "surrogatepass")
        repo.write({".memidx/decay.jsonl": data})
        done = memidx("feedback", "p0.md", "helpful", cwd=repo.root)
        assert done.code in (0, 2) and "Traceback" not in done.err, (text[:80], done.err[-500:])
        after = (repo.root / ".memidx/decay.jsonl").read_bytes()
        aside = repo.git_dir / "memidx/decay-cut.jsonl"
        cut = data[data.rfind(b"\n") + 1 :]
        assert after.startswith(data) or (
            aside.read_bytes().endswith(cut + b"\n") and after.startswith(data[: -len(cut)])
        ), text[:80]
        assert done.code == 2 or after != data


MEASURE = """
import resource, sys
sys.path[:0] = sys.argv[1:3]
from clirun import memidx
done = memidx("build", cwd=sys.argv[3])
print(done.code, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10, done.err[-500:])
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["large page", "long line", "many pages"])
def test_large_vaults_take_bounded_memory(repo, kind):
    if kind == "large page":
        repo.write({"big.md": b"# Big\n\n" + b"word and word\n" * (50_000_000 // 14)})
    elif kind == "long line":
        repo.write({"line.md": b"word " * 1_000_000})
    else:
        repo.write({f"d{n // 1000}/p{n}.md": f"# P{n}\n" for n in range(100_000)})
    args = [sys.executable, "-c", MEASURE, str(CHECKOUT / "tests"), str(CHECKOUT), str(repo.root)]
    begun = time.monotonic()
    done = subprocess.run(
        args, env={**os.environ, **WORDS_ONLY}, capture_output=True, text=True, check=True, timeout=550
    )
    code, megabytes = done.stdout.split()[:2]
    sys.stdout.write(f"\n{kind}: {megabytes} MB, {time.monotonic() - begun:.1f} s\n")
    assert code == "0" and int(megabytes) < 1_500, done.stdout


@pytest.mark.slow
def test_the_fuzzer_finds_nothing(tmp_path):
    run = [sys.executable, str(CHECKOUT / "tests" / "fuzz.py"), "--seconds", "30", "--seed", str(time.time_ns() % 1000)]
    env = {**os.environ, "PYTHONPATH": str(CHECKOUT), "TMPDIR": str(tmp_path)}
    done = subprocess.run(run, env=env, capture_output=True, text=True, check=False, timeout=300)
    sys.stdout.write(f"\n{done.stdout}")
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
