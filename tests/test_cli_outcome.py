"""Exit codes, and what is said when something goes wrong. In processes of their own, where that is the point."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest
from clirun import CHECKOUT, WORDS_ONLY, finished, memidx, process

from memidx.doors import cli


@pytest.fixture
def vault(repo):
    repo.write({f"{n:03}.md": f"# Page {n}\n\n{'lighthouse ' * 200}\n" for n in range(60)})
    memidx("build", cwd=repo.root)
    return repo


@pytest.mark.parametrize("form", [[], ["--json"], ["--jsonl"]])
def test_b9_a_reader_that_goes_away_is_no_error(vault, form):
    with process("query", "lighthouse", "-n", "60", *form, cwd=vault.root) as running:
        assert running.stdout.readline()
        running.stdout.close()
        err = running.stderr.read().decode()
        running.wait(timeout=60)
    assert (running.returncode, err) == (0, "")


def test_b9_a_reader_that_never_reads_is_no_error(vault):
    ours, theirs = os.pipe()
    os.close(ours)
    try:
        for args in (["query", "lighthouse"], ["status"], ["show", "001.md"], ["--help"], ["--version"]):
            done = finished(*args, cwd=vault.root, stdout=theirs)
            assert done.err == "", args
            assert done.code == 0
    finally:
        os.close(theirs)


def test_nothing_listens_to_stderr(repo):
    ours, theirs = os.pipe()
    os.close(ours)
    try:
        assert finished("query", "zxqv", cwd=repo.root, stderr=theirs).code == 1
    finally:
        os.close(theirs)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_an_error_without_a_traceback(vault):
    with Path("/dev/full").open("w") as full:
        done = finished("status", cwd=vault.root, stdout=full)
    assert done.code == 2
    assert "No space left" in done.err
    assert "Traceback" not in done.err


@pytest.mark.skipif(os.name == "nt", reason="POSIX shells")
def test_closed_streams_are_no_bug(vault):
    env = {**os.environ, **WORDS_ONLY, "PYTHONPATH": str(CHECKOUT)}
    for redirect in (">&-", "2>&-", ">&- 2>&-", "<&-"):
        run = ["/bin/sh", "-c", f'"$0" -m memidx query lighthouse {redirect}', sys.executable]
        done = subprocess.run(run, cwd=vault.root, env=env, capture_output=True, check=False)
        assert done.returncode == 0, (redirect, done.stderr)


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_an_interrupt_is_130_without_a_traceback(repo, tmp_path):
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text(f"#!/bin/sh\ntouch '{tmp_path}/started'\nexec sleep 20\n")
    slow.chmod(0o755)
    env = {"PATH": f"{slow.parent}:{os.environ['PATH']}"}

    def heed() -> None:  # a shell starts what runs in the background deaf to interrupts, and its children with it
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    with process("status", cwd=repo.root, env=env, preexec_fn=heed) as running:
        while not (tmp_path / "started").exists():
            time.sleep(0.02)
            assert running.poll() is None
        running.send_signal(signal.SIGINT)
        running.wait(timeout=10)
        # The slow git still holds the pipe of stderr open; what memidx wrote is there to read.
        os.set_blocking(running.stderr.fileno(), False)
        err = (running.stderr.read() or b"").decode()
    assert running.returncode == 130
    assert "Traceback" not in err


def test_a_bug_is_3_with_a_report_to_paste(monkeypatch):
    @click.command("status")
    def broken():
        raise ZeroDivisionError("division by \x1b[31m zero")

    monkeypatch.setattr(cli, "find_command", lambda name: broken)
    done = memidx("status")
    assert (done.code, done.out) == (3, "")
    assert "this is a bug in memidx" in done.err
    for part in ("memidx 0.", "Python 3.", "command: memidx status", "Traceback (most recent call last)"):
        assert part in done.err
    assert "ZeroDivisionError: division by \\x1b[31m zero" in done.err


def test_a_panic_of_a_library_is_a_bug_too(monkeypatch):
    class PanicException(BaseException):
        pass

    @click.command("status")
    def broken():
        raise PanicException("index out of bounds")

    monkeypatch.setattr(cli, "find_command", lambda name: broken)
    assert memidx("status").code == 3


def test_a_missing_permission_is_an_error_and_no_bug(monkeypatch):
    @click.command("status")
    def broken():
        raise PermissionError(13, "Permission denied", "/srv/vault/lock")

    monkeypatch.setattr(cli, "find_command", lambda name: broken)
    assert memidx("status") == (2, "", "memidx: error: /srv/vault/lock: Permission denied\n")


@pytest.mark.skipif(os.name == "nt", reason="a folder in use cannot be removed there")
def test_a_current_folder_that_is_gone_is_an_error(tmp_path):
    env = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    gone = tmp_path / "gone"
    gone.mkdir()
    run = ["/bin/sh", "-c", 'rmdir "$1" && exec "$0" -m memidx status', sys.executable, str(gone)]
    done = subprocess.run(run, cwd=gone, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "does not exist any more" in done.stderr


def test_the_module_and_the_script_are_the_same_program(repo):
    assert finished("--version", cwd=repo.root).out == memidx("--version").out
