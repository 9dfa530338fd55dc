"""docs/ten-minutes.md, followed by a shell in an empty folder: what it says is printed is printed."""

from __future__ import annotations

import os
import re
import subprocess
import sys

from clirun import CHECKOUT, WORDS_ONLY

GUIDE = CHECKOUT / "docs" / "ten-minutes.md"
BLOCK = re.compile(r"(?ms)^```sh\n(.*?)^```$")
PRINTS = re.compile(r"(?m)^# prints: (.*)$")


def test_a_team_gets_from_nothing_to_hooks_ci_and_feedback(tmp_path, home):
    folder = home / "bin"
    folder.mkdir()
    program = folder / "memidx"
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{CHECKOUT}" exec "{sys.executable}" -m memidx "$@"\n')
    program.chmod(0o755)
    blocks = BLOCK.findall(GUIDE.read_text(encoding="utf-8"))
    script = "set -e\n" + "\n".join(f"echo '=== block {n}'\n{block}" for n, block in enumerate(blocks))
    env = {**os.environ, **WORDS_ONLY, "PATH": f"{folder}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    out = done.stdout.decode()
    assert done.returncode == 0, out
    said = out.split("=== block ")[1:]
    assert len(said) == len(blocks) >= 8
    missing = [
        (text, printed)
        for block, printed in zip(blocks, said, strict=True)
        for text in PRINTS.findall(block)
        if text not in printed
    ]
    assert missing == []
    status = subprocess.run(["git", "status", "--short"], cwd=tmp_path / "team-memory", capture_output=True, check=True)
    assert status.stdout == b""
