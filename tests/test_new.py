"""`memidx new`: pages that are valid, where they belong, and never over anything."""

from __future__ import annotations

import pytest
from clirun import memidx
from hypothesis import given, settings
from hypothesis import strategies as st

from memidx.engines.new import HEAD, draft, file_slug, superseded
from memidx.ground.errors import UsageError
from memidx.ground.page import PageRules
from memidx.parsing.page import parse_page
from memidx.stores.pages import PageFiles

RULES = PageRules()


@pytest.fixture
def vault(repo):
    repo.write(
        {
            "docs/adr/0001-use-git.md": "# Use git\n",
            "docs/adr/0002-use-kafka.md": "---\ntags: [x]\n---\n# Use Kafka\n\nYes.\n",
            "notes/a.md": "# A\n",
        }
    )
    repo.commit()
    return repo


def test_a_page_goes_where_its_kind_is_with_the_next_number(vault):
    done = memidx("new", "decision", "Use", "Postgres: v1.2", cwd=vault.root)
    assert (done.code, done.out) == (0, "docs/adr/0003-use-postgres-v1-2.md\n")
    page = parse_page(done.out.strip(), (vault.root / done.out.strip()).read_bytes())
    assert (page.title, page.kind, page.diagnostics) == ("Use Postgres: v1.2", "decision", ())
    assert memidx("new", "procedure", "Roll back", cwd=vault.root).out == "_procedures/roll-back.md\n"
    assert memidx("new", "note", "Häuser 笔记", cwd=vault.root).out == "notes/häuser-笔记.md\n"
    assert vault.git("diff", "--cached", "--name-only") == ""


def test_nothing_is_written_over(vault):
    assert memidx("new", "note", "B", cwd=vault.root).code == 0
    again = memidx("new", "note", "B", cwd=vault.root)
    assert again.code == 2
    assert "is there already" in again.err
    assert "did you mean 'decision'" in memidx("new", "decison", "x", cwd=vault.root).err
    assert memidx("new", "note", "C", "--dry-run", cwd=vault.root).code == 0
    assert not (vault.root / "notes/c.md").exists()


def test_superseding_links_both_ways_and_touches_one_line(vault):
    before = (vault.root / "docs/adr/0002-use-kafka.md").read_text()
    done = memidx("new", "decision", "Use NATS", "--supersedes", "docs/adr/0002-use-kafka.md", cwd=vault.root)
    new = (vault.root / done.out.strip()).read_text()
    assert "supersedes: docs/adr/0002-use-kafka.md\n" in new
    assert "This replaces [Use Kafka](0002-use-kafka.md)." in new
    after = (vault.root / "docs/adr/0002-use-kafka.md").read_text()
    assert after == before.replace("tags: [x]\n", "tags: [x]\nsuperseded_by: docs/adr/0003-use-nats.md\n")
    assert memidx("check", cwd=vault.root).code == 0
    hits = memidx("related", done.out.strip(), "--json", cwd=vault.root).json["related"]
    assert hits[0]["relations"][0]["how"] == "supersedes"
    refused = memidx("new", "decision", "Use Redis", "--supersedes", "docs/adr/0002-use-kafka.md", cwd=vault.root)
    assert refused.code == 2
    assert "superseded by docs/adr/0003-use-nats.md already" in refused.err
    assert not (vault.root / "docs/adr/0004-use-redis.md").exists()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"# T\r\n\r\nx\r\n", b"---\r\nsuperseded_by: n.md\r\n---\r\n# T\r\n\r\nx\r\n"),
        (b"---\r\na: 1\r\n---\r\nx\r\n", b"---\r\na: 1\r\nsuperseded_by: n.md\r\n---\r\nx\r\n"),
        (b"\xef\xbb\xbf---\na: 1\n---\n", b"\xef\xbb\xbf---\na: 1\nsuperseded_by: n.md\n---\n"),
        (b"---\nsuperseded_by:\na: 1\n...\nx", b"---\nsuperseded_by: n.md\na: 1\n...\nx"),
        (b"---\n---\n\xff\n", b"---\nsuperseded_by: n.md\n---\n\xff\n"),
        (b"", b"---\nsuperseded_by: n.md\n---\n"),
    ],
)
def test_the_old_page_keeps_every_other_byte(old, new):
    assert superseded("o.md", old, "n.md", RULES) == new


@pytest.mark.parametrize(
    "old", [b"---\na: 1\nx", b"---\n{a: 1}\n---\n", b"---\nsuperseded_by: b\n---\n", b"---\n- a\n---\n"]
)
def test_front_matter_that_cannot_be_changed_safely_is_left_alone(old):
    with pytest.raises(UsageError):
        superseded("o.md", old, "n.md", RULES)


def test_a_template_of_the_vault_goes_before_the_built_in_one(vault):
    vault.write(
        {
            ".memidx/templates/decision.md": "---\ntitle: {{title}}\nowner: ada\nday: {{date}}\n---\n# {{title}}\n\n{{x}}\n"
        }
    )
    done = memidx("new", "decision", "It's: [odd] #1", "--dry-run", cwd=vault.root)
    assert 'title: "It\'s: [odd] #1"\nowner: ada\n' in done.out
    assert "# It's: [odd] #1\n\n{{x}}\n" in done.out
    vault.write({".memidx/templates/decision.md": "---\ntitle: [\n---\n"})
    broken = memidx("new", "decision", "x", cwd=vault.root)
    assert broken.code == 2
    assert "made from the template: line" in broken.err
    assert len(list((vault.root / "docs/adr").iterdir())) == 2


def test_a_template_that_is_a_link_is_not_followed(vault, tmp_path):
    (tmp_path / "secret").write_text("secret")
    (vault.root / ".memidx/templates").mkdir(parents=True)
    (vault.root / ".memidx/templates/note.md").symlink_to(tmp_path / "secret")
    assert "secret" not in memidx("new", "note", "x", "--dry-run", cwd=vault.root).out


@given(st.text(min_size=1, max_size=200))
@settings(deadline=None, max_examples=200)
def test_any_title_gives_a_valid_page_or_a_refusal(title):
    name = file_slug(title)
    assert name
    assert len(name.encode()) <= 240
    assert not set(name) & set("/\\:\0\n.")
    try:
        made = draft(f"notes/{name}.md", "note", title, "2026-01-01", RULES)
    except UsageError:
        assert not title.strip() or any(not c.isprintable() for c in " ".join(title.split()))
        return
    page = parse_page(made.path, made.text.encode("utf-8", "surrogatepass"))
    assert page.title == " ".join(title.split())
    assert made.text.startswith(HEAD[:11])
    assert not [d for d in page.diagnostics if d.severity == "error"]


@pytest.mark.parametrize(
    "path",
    [
        "../x.md",
        "/x.md",
        "a/../../x.md",
        ".git/x.md",
        ".GIT/x.md",
        ".memidx/x.md",
        "a//x.md",
        "a\\x.md",
        "a\nb.md",
        "con.md",
        "",
        ".",
    ],
)
def test_a_path_outside_the_vault_is_refused(tmp_path, path):
    with pytest.raises(UsageError):
        PageFiles(tmp_path).create(path, b"x")
    assert list(tmp_path.rglob("*")) == []


def test_no_link_is_followed_when_writing(tmp_path):
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (outside / "f.md").write_text("old")
    (root / "dir").symlink_to(outside)
    (root / "f.md").symlink_to(outside / "f.md")
    (root / "sub/.git").mkdir(parents=True)
    files = PageFiles(root)
    for path in ("dir/f.md", "dir/g.md", "f.md", "sub/x.md"):
        with pytest.raises(UsageError):
            files.create(path, b"new")
        with pytest.raises(UsageError):
            files.replace(path, b"old", b"new")
    assert [p.name for p in outside.iterdir()] == ["f.md"]
    assert (outside / "f.md").read_text() == "old"


def test_a_page_is_replaced_only_as_it_was_read_and_keeps_its_mode(tmp_path):
    page = tmp_path / "a.md"
    page.write_text("one")
    page.chmod(0o640)
    files = PageFiles(tmp_path)
    with pytest.raises(UsageError):
        files.replace("a.md", b"other", b"two")
    assert page.read_text() == "one"
    files.replace("a.md", b"one", b"two")
    assert page.read_text() == "two"
    assert page.stat().st_mode & 0o777 == 0o640
    assert [path.name for path in tmp_path.iterdir()] == ["a.md"]
