"""`memidx init`: the settings file and the merge rule, once and never over anything."""

from __future__ import annotations

import re

import pytest
from clirun import memidx

from memidx.engines.initialise import config_text
from memidx.ground.settings import Settings, as_plain
from memidx.parsing.config import parse_config

LINE = ".memidx/decay.jsonl merge=union\n"


def contents(repo):
    return {name: (repo.root / name).read_bytes() for name in (".memidx/config.yaml", ".gitattributes")}


def test_init_writes_two_files_says_so_and_changes_nothing_the_second_time(repo):
    repo.write({"a.md": "# Lighthouse\n"})
    memidx("build", cwd=repo.root)
    done = memidx("init", cwd=repo.root)
    assert done.code == 0
    assert done.out.splitlines()[0].startswith(f"written: {repo.root}/.memidx/config.yaml")
    assert done.out.splitlines()[1].startswith(f"added a line: {repo.root}/.gitattributes")
    before = contents(repo)
    assert before[".gitattributes"].decode() == LINE
    again = memidx("init", cwd=repo.root)
    assert again.code == 0
    assert [line.split(":")[0] for line in again.out.splitlines()] == ["kept", "kept"]
    assert contents(repo) == before
    assert memidx("status", cwd=repo.root).out.startswith("up to date\n")
    assert repo.git("check-attr", "merge", ".memidx/decay.jsonl").endswith("merge: union")


def test_the_file_as_written_changes_no_setting():
    assert parse_config(config_text(), "config.yaml") == Settings()


def test_with_its_first_signs_taken_away_it_says_the_defaults():
    text = re.sub(r"^#(?=\w|  )", "", config_text(), flags=re.MULTILINE)
    # Read over other values, so that a line that is missing would show.
    other = Settings()
    for part, values in as_plain(Settings()).items():
        section = getattr(other, part)
        changed = {n: v + 1 for n, v in values.items() if isinstance(v, int | float) and not isinstance(v, bool)}
        other = other._replace(**{part: section._replace(**changed)})
    assert other != Settings()
    assert parse_config(text, "config.yaml", other) == Settings()


def test_every_setting_is_explained():
    lines = config_text().splitlines()
    for part, values in as_plain(Settings()).items():
        assert f"#{part}:" in lines
        for name in values:
            at = next(i for i, line in enumerate(lines) if re.match(rf"#  {name}:", line))
            assert re.match(r"# \w", lines[at - 1]), name


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"*.md text\n", b"*.md text\n" + LINE.encode()),
        (b"*.md text", b"*.md text\n" + LINE.encode()),
        (b"*.md text\r\n*.png binary\r\n", b"*.md text\r\n*.png binary\r\n" + LINE.encode()[:-1] + b"\r\n"),
        (b"caf\xe9 text\n", b"caf\xe9 text\n" + LINE.encode()),
        (b"/.memidx/decay.jsonl  text merge=union\n", b"/.memidx/decay.jsonl  text merge=union\n"),
        (b".memidx/decay.jsonl merge=ours\n", b".memidx/decay.jsonl merge=ours\n"),
        (b"#.memidx/decay.jsonl merge=union\n", b"#.memidx/decay.jsonl merge=union\n" + LINE.encode()),
    ],
)
def test_gitattributes_keeps_what_it_says_and_its_line_ends(repo, old, new):
    repo.write({".gitattributes": old})
    done = memidx("init", cwd=repo.root)
    assert (repo.root / ".gitattributes").read_bytes() == new
    assert ("see that it is right" in done.out) == (b"ours" in old)
    memidx("init", cwd=repo.root)
    assert (repo.root / ".gitattributes").read_bytes() == new


def test_a_settings_file_of_ones_own_is_kept(repo):
    repo.write({".memidx/config.yaml": "query:\n  limit: 3\n"})
    assert memidx("init", cwd=repo.root).out.startswith("kept: ")
    assert (repo.root / ".memidx/config.yaml").read_text() == "query:\n  limit: 3\n"


def test_a_folder_can_become_a_vault_of_its_own(repo):
    repo.write({"a.md": "# Top lighthouse\n", "sub/b.md": "# Sub lighthouse\n"})
    assert memidx("init", cwd=repo.root / "sub").code == 0
    assert (repo.root / ".memidx/config.yaml").is_file()
    assert memidx("init", ".", cwd=repo.root / "sub").code == 0
    hits = memidx("query", "lighthouse", "--json", cwd=repo.root / "sub").json["hits"]
    assert [hit["path"] for hit in hits] == ["b.md"]
    assert memidx("init", "missing", cwd=repo.root).code == 2


def test_b13_a_link_in_the_way_is_not_followed(repo, tmp_path):
    target = tmp_path / "target"
    target.mkdir()
    (repo.root / ".memidx").symlink_to(target)
    assert memidx("init", cwd=repo.root).code == 2
    assert list(target.iterdir()) == []
    (repo.root / ".memidx").unlink()
    (repo.root / ".gitattributes").symlink_to(tmp_path / "attributes")
    assert memidx("init", cwd=repo.root).code == 2
    assert not (tmp_path / "attributes").exists()
    assert not (repo.root / ".memidx").exists()
