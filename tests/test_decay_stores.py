"""The sidecar's file and the access log: nothing is lost, nothing waits, nothing grows without end."""

import json
import multiprocessing
import os
import threading
import time

import pytest
from clirun import finished, memidx, process

from memidx.ground.accesses import accesses
from memidx.ground.errors import LockedError, SidecarError
from memidx.ground.events import Page
from memidx.parsing.sidecar import parse_sidecar
from memidx.stores import access as access_module
from memidx.stores.access import AccessLog
from memidx.stores.sidecar import SidecarFile

SIDECAR = ".memidx/decay.jsonl"
MINUTE = 60


@pytest.fixture
def file(tmp_path):
    (tmp_path / "vault").mkdir()
    return SidecarFile(tmp_path / "vault", tmp_path / "state", 10.0)


def test_appending_makes_the_file_and_keeps_what_is_there(file):
    assert file.read() == ""
    file.append(lambda text: ["one"])
    file.path.write_bytes(file.path.read_bytes() + b"cut off \xff")  # an editor left no line end, and a bad byte
    assert file.append(lambda text: ["two"] if "one" in text else []) == "one\ncut off \udcff\ntwo\n"
    assert file.path.read_bytes() == b"one\ncut off \xff\ntwo\n"
    assert file.append(lambda text: []) == file.read()


@pytest.mark.parametrize("what", ["file", "folder", "dangling"])
def test_a_symbolic_link_is_not_followed(file, tmp_path, what):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "decay.jsonl").write_text("secret\n")
    if what == "folder":
        file.path.parent.symlink_to(outside)
    else:
        file.path.parent.mkdir()
        file.path.symlink_to(outside / ("decay.jsonl" if what == "file" else "new.jsonl"))
    with pytest.raises(SidecarError, match="symbolic link"):
        file.append(lambda text: ["x"])
    with pytest.raises(SidecarError, match="symbolic link"):
        file.read()
    assert {p.name: p.read_text() for p in outside.iterdir()} == {"decay.jsonl": "secret\n"}


def test_what_is_no_plain_file_is_refused(file):
    file.path.mkdir(parents=True)
    with pytest.raises(SidecarError, match="not a plain file"):
        file.read()


def test_a_full_disk_leaves_the_file_as_it_was(file, monkeypatch):
    file.append(lambda text: ["one"])
    real, calls = os.write, []

    def write(handle, data):
        calls.append(len(data))
        if len(calls) > 1:
            raise OSError(28, "No space left on device")
        return real(handle, data[:3])

    monkeypatch.setattr(os, "write", write)
    with pytest.raises(SidecarError, match="No space left"):
        file.append(lambda text: ["a longer line"])
    monkeypatch.undo()
    assert file.read() == "one\n"


def test_a_lock_that_another_holds_is_waited_for_and_then_told(file):
    with file._lock():
        other = SidecarFile(file.path.parent.parent, file._state, 0.05)
        failed = []

        def run():
            try:
                other.append(lambda text: ["x"])
            except LockedError as error:
                failed.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    assert "another memidx has held the lock" in failed[0].message


def test_two_processes_that_give_feedback_at_once_lose_nothing(repo):
    repo.write({"a.md": "# A\n", "b.md": "# B\n"})
    repo.commit()
    running = [
        process("feedback", page, "helpful", "--by", f"{n}", cwd=repo.root)
        for n in range(2)
        for page in ("a.md", "b.md")
    ]
    for one in running:
        _, err = one.communicate(timeout=60)
        assert one.returncode == 0, err
    found = parse_sidecar((repo.root / SIDECAR).read_text(encoding="utf-8"))
    assert not found.unreadable
    assert sorted((e.path, e.seq, e.by == "") for e in found.events) == [
        (page, n, False) for page in ("a.md", "b.md") for n in (1, 2)
    ]


# -- accesses ---------------------------------------------------------------------------------------------------------


def total(log, page="a.md", now=1e12):
    found = accesses(log.read(), [Page(page, "X")], now)
    return found[page].times if page in found else 0


def test_b12_a_thousand_queries_for_one_page_count_once_a_minute(tmp_path):
    log = AccessLog(tmp_path)
    start = 1_700_000_000 // 86_400 * 86_400
    for n in range(1000):
        log.count([("a.md", "X")], start + n * 0.05)  # within 50 seconds
    assert total(log) == 1
    for n in range(1000):
        log.count([("a.md", "X")], start + n * 6)  # within 100 minutes
    assert total(log) == 100


def test_a_log_that_has_grown_is_added_up_and_says_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(access_module, "FULL_BYTES", 4000)
    log, start = AccessLog(tmp_path), 1_700_000_000
    sizes = []
    for n in range(2000):
        log.count([("a.md", "X"), (f"p{n % 7}.md", "Y")], start + n * 20)  # three a minute
        sizes.append((tmp_path / "access.jsonl").stat().st_size)
    assert total(log) == 2000 // 3 + 1
    assert max(sizes) < 5000
    assert [p.name for p in tmp_path.iterdir() if p.suffix == ".old"] == []


def test_the_oldest_days_go_first_when_there_are_too_many(tmp_path, monkeypatch):
    monkeypatch.setattr(access_module, "FULL_BYTES", 2000)
    monkeypatch.setattr(access_module, "MOST_DAYS", 10)
    log = AccessLog(tmp_path)
    for day in range(400):
        log.count([("a.md", "X")], day * 86_400)
    days = [day for row in log.read() for day, _ in row.days]
    assert len(days) < 60
    assert max(days) == 399
    assert (tmp_path / "access.jsonl").stat().st_size < 4500


def test_a_compaction_that_was_killed_counts_nothing_twice(tmp_path):
    log = AccessLog(tmp_path)
    for minute in range(5):
        log.count([("a.md", "X")], minute * MINUTE)
    # Killed after the file was taken away ...
    (tmp_path / "access.jsonl").rename(tmp_path / "access-1.old")
    assert total(log) == 5
    # ... and after the sums were written, before the old file was removed.
    (tmp_path / "access.jsonl").write_text('{"sum":["access-1.old"],"rows":{"a.md":["X",240,{"0":5}]}}\n')
    assert total(log) == 5
    log.count([("a.md", "X")], 4 * MINUTE + 30)  # the minute that was counted last
    log.count([("a.md", "X")], 5 * MINUTE)
    assert total(log) == 6


def count_many(folder, number, minutes):
    access_module.FULL_BYTES = 3000
    log = AccessLog(folder)
    for n in range(minutes):
        log.count([(f"{number}.md", f"{number}")], n * MINUTE)


def test_processes_that_count_and_compact_at_once_lose_nothing(tmp_path):
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=count_many, args=(tmp_path, n, 400)) for n in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    log = AccessLog(tmp_path)
    found = accesses(log.read(), [Page(f"{n}.md", f"{n}") for n in range(4)], 1e12)
    assert [found[f"{n}.md"].times for n in range(4)] == [400] * 4
    assert not list(tmp_path.glob("*.old"))


@pytest.mark.parametrize("broken", ["{\n[]\n\x00\n", '{"t": "x", "p": 3}\n{"rows": [1]}\n{"t":1,"p":[["a.md"]]}\n'])
def test_a_damaged_log_is_read_as_far_as_it_goes(tmp_path, broken):
    (tmp_path / "access.jsonl").write_text(broken)
    log = AccessLog(tmp_path)
    log.count([("a.md", "X")], 60)
    assert total(log) == 1


def test_a_log_that_cannot_be_written_stops_nobody(tmp_path):
    (tmp_path / "file").write_text("")
    AccessLog(tmp_path / "file" / "state").count([("a.md", "X")], 60)
    (tmp_path / "access.jsonl").mkdir()
    log = AccessLog(tmp_path)
    log.count([("a.md", "X")], 60)
    assert log.read() == []


def test_counting_takes_less_than_two_milliseconds(tmp_path):
    log = AccessLog(tmp_path)
    pages = [(f"folder/page-{n}.md", "0" * 40) for n in range(10)]
    took = []
    for n in range(100):
        started = time.perf_counter()
        log.count(pages, n)
        took.append(time.perf_counter() - started)
    assert sorted(took)[50] < 0.002


def test_query_and_show_count_and_leave_the_tree_clean(repo):
    repo.write({"a.md": "# Lighthouse\n", "b.md": "# Harbour\n"})
    repo.commit()

    def counted():
        rows = memidx("decay", "--json", cwd=repo.root).json["pages"]
        return {row["path"]: row["accesses"] for row in rows}

    memidx("query", "lighthouse", "--no-track", cwd=repo.root)
    memidx("show", "b.md", "--no-track", cwd=repo.root)
    memidx("query", "lighthouse", cwd=repo.root, env={"MEMIDX_DECAY_TRACK": "false"})
    memidx("show", "b.md", cwd=repo.root, env={"MEMIDX_DECAY_TRACK": "false"})
    assert counted() == {"a.md": 0, "b.md": 0}
    assert not (repo.git_dir / "memidx/access.jsonl").exists()
    for _ in range(3):
        memidx("query", "lighthouse", cwd=repo.root)
    assert 1 <= counted()["a.md"] <= 2  # the minute may have turned
    assert counted()["b.md"] == 0
    memidx("show", "b.md", cwd=repo.root)
    assert counted()["b.md"] == 1
    assert repo.status() == ""


def test_share_writes_counters_that_only_grow_and_only_on_request(repo, tmp_path):
    repo.write({"a.md": "# Lighthouse\n", "sub/.memidx/config.yaml": "", "sub/b.md": "# Harbour\n"})
    repo.commit()
    memidx("show", "a.md", cwd=repo.root)
    memidx("show", "b.md", cwd=repo.root / "sub")
    assert not (repo.root / SIDECAR).exists()
    assert "shared the counts of 1 page;" in memidx("decay", "share", cwd=repo.root / "sub").out
    assert parse_sidecar((repo.root / "sub" / SIDECAR).read_text()).accessed[0].path == "b.md"
    memidx("decay", "share", cwd=repo.root)
    assert "nothing new" in memidx("decay", "share", cwd=repo.root).out
    repo.commit()
    there = repo.clone(tmp_path / "there")
    memidx("show", "a.md", cwd=there.root)
    (row,) = [r for r in memidx("decay", "--json", cwd=there.root).json["pages"] if r["path"] == "a.md"]
    assert row["accesses"] == 2  # one here, one shared
    (row,) = [r for r in memidx("decay", "--json", cwd=repo.root).json["pages"] if r["path"] == "a.md"]
    assert row["accesses"] == 1  # its own, shared or not, once
    assert json.loads(memidx("decay", "share", "--json", cwd=there.root).out)["shared"][0]["path"] == "a.md"
    assert finished("decay", "share", "a.md", cwd=there.root).code == 2


def test_a_line_that_a_crash_cut_short_stops_nobody_and_is_set_aside_not_lost(repo):
    repo.write({"a.md": "# Lighthouse\n"})
    memidx("feedback", "a.md", "helpful", cwd=repo.root)
    path = repo.root / SIDECAR
    whole = path.read_bytes()
    cut = whole[: len(whole) // 2]
    path.write_bytes(whole + cut)
    assert "decay.jsonl:2: is cut short" in memidx("decay", cwd=repo.root).err
    assert "is cut short and takes no part" in memidx("check", cwd=repo.root).out
    done = memidx("feedback", "a.md", "helpful", cwd=repo.root)
    assert done.code == 0, done.err
    events = parse_sidecar(path.read_text())
    assert [e.kind for e in events.events] == ["helpful", "helpful"] and not events.unreadable and not events.cut
    assert path.read_bytes().startswith(whole)
    assert (repo.git_dir / "memidx" / "decay-cut.jsonl").read_bytes() == cut + b"\n"


def test_a_whole_last_line_without_its_end_is_an_event(repo):
    repo.write({"a.md": "# Lighthouse\n"})
    memidx("feedback", "a.md", "helpful", cwd=repo.root)
    path = repo.root / SIDECAR
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    memidx("feedback", "a.md", "stale", cwd=repo.root)
    assert [e.kind for e in parse_sidecar(path.read_text()).events] == ["helpful", "stale"]
    assert not (repo.git_dir / "memidx" / "decay-cut.jsonl").exists()
