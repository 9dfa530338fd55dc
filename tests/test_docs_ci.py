"""docs/ci.md: the snippets are YAML of the right shape, and the commands in them do what the page says."""

from __future__ import annotations

import re
import shutil

import pytest
import yaml
from clirun import CHECKOUT, memidx
from hookrepo import program
from repo import run_git

TEXT = (CHECKOUT / "docs" / "ci.md").read_text(encoding="utf-8")
SNIPPETS = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)]


def commands():
    """The shell commands of every job, but for the installation."""
    for snippet in SNIPPETS:
        jobs = snippet.get("jobs") or {
            name: job for name, job in snippet.items() if isinstance(job, dict) and "script" in job
        }
        for job in jobs.values():
            lines = job["script"] if "script" in job else [step["run"] for step in job["steps"] if "run" in step]
            yield [line for line in lines if not line.startswith("pip install")]


def test_the_snippets_have_the_shape_their_service_reads():
    github, scanning, gitlab = SNIPPETS
    for workflow in (github, scanning):
        assert {"name", "jobs"} <= set(workflow)
        assert True in workflow  # YAML 1.1 reads the key `on` so, and GitHub knows
        for job in workflow["jobs"].values():
            assert job["runs-on"]
            assert all(("uses" in step) != ("run" in step) for step in job["steps"])
    for job in (gitlab["check"], gitlab["index"]):
        assert job["stage"] in gitlab["stages"]
    assert len(list(commands())) == 5


@pytest.mark.skipif(not shutil.which("sh"), reason="needs a POSIX shell")
@pytest.mark.parametrize("lines", list(commands()), ids=" && ".join)
def test_the_commands_pass_on_good_pages_and_the_check_fails_on_bad_ones(repo, tmp_path, lines):
    env, _ = program(tmp_path / "p")
    script = "set -e\n" + "\n".join(lines)
    repo.write({"a.md": "# Lighthouse\n"})
    repo.commit()
    assert run_git(repo.root, "-c", f"alias.run=!{{ {script}\n}}", "run", env=env, check=False).returncode == 0
    if "export" in script:
        done = memidx("query", "--index", "memory-index", "lighthouse", cwd=repo.root)
        assert (done.code, "a.md" in done.out) == (0, True)
        return
    repo.write({"bad.md": "---\ntitle: *x*\n---\n"})
    done = run_git(repo.root, "-c", f"alias.run=!{{ {script}\n}}", "run", env=env, check=False)
    if "sarif" in script:
        assert done.returncode == 0
        assert "front-matter-yaml" in (repo.root / "memidx.sarif").read_text()
    else:
        assert done.returncode == 1
        assert b"bad.md" in done.stdout
