"""New pages: where they go, what they say, and how an old page is told that it has been replaced. Pure functions."""

from __future__ import annotations

import json
import posixpath
import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from memidx.engines.templates import HEAD, TEMPLATES
from memidx.ground.errors import UsageError
from memidx.parsing.anchors import slug
from memidx.parsing.kinds import NOTE, kind_from_path
from memidx.parsing.page import parse_page

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from memidx.ground.page import Page, PageRules

LONGEST_SLUG = 80  # characters; the rest of a long title is in the page
NUMBERED_SHARE = 0.5  # of the pages of a folder that start with a number, for a new one to get the next
_NUMBERED = re.compile(r"(?P<before>[A-Za-z]*-?)(?P<number>\d{3,5})[-_. ]")
_PLAIN = re.compile(r"[A-Za-z][\w./()-]*(?: [\w./()-]+)*", re.ASCII)
_WORDS = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})
_OPEN = re.compile(r"\A\ufeff?---[ \t]*(?P<end>\r\n|\n|\r)")
_CLOSE = re.compile(r"^(?:---|\.\.\.)[ \t]*(?=\r|\n|\Z)", re.MULTILINE)
_HOLDER = re.compile(r"\{\{\s*(title|date|kind|slug|path|supersedes)\s*\}\}")
_NEWER = re.compile(r"^superseded[_-]by[ \t]*:[ \t]*(?P<value>[^\r\n]*)(?P<end>\r\n|\n|\r|\Z)", re.MULTILINE)
_EMPTY = frozenset({"", "~", "null", "[]", "''", '""'})


class Draft(NamedTuple):
    """A page to be written. ``text`` has LF line ends."""

    path: str
    kind: str
    title: str
    text: str


def place(kind: str, title: str, paths: Iterable[str], rules: PageRules, folder: str | None = None) -> str:
    """The path of a new page: the folder that holds most pages of its kind, else the first that the settings name for
    it, else the root; the file's name from the title, with the next number where the others have one.
    """
    known = list(paths)
    chosen = _folder(kind, known, rules) if folder is None else folder.strip("/")
    names = [path.rsplit("/", 1)[-1] for path in known if posixpath.dirname(path) == chosen]
    return posixpath.join(chosen, _number(names) + file_slug(title) + ".md")


def _folder(kind: str, paths: list[str], rules: PageRules) -> str:
    if kind == NOTE:
        found = Counter(d for path in paths if posixpath.basename(d := posixpath.dirname(path)).casefold() == "notes")
    else:
        found = Counter(posixpath.dirname(path) for path in paths if kind_from_path(path, rules.kinds) == kind)
    if found:
        return min(found, key=lambda d: (-found[d], d.count("/"), d))
    globs = dict(rules.kinds).get(kind, ())
    plain = (glob.strip("/") for glob in globs if re.fullmatch(r"/?[\w.-]+(?:/[\w.-]+)*/", glob))
    return next(plain, "")


def _number(names: list[str]) -> str:
    """The next number with what stands before it, such as ``ADR-017-``, where most names start with one."""
    found = [m for name in names if (m := _NUMBERED.match(name))]
    if not found or len(found) < NUMBERED_SHARE * len(names):
        return ""
    last = max(found, key=lambda m: int(m["number"]))
    return f"{last['before']}{int(last['number']) + 1:0{len(last['number'])}d}-"


def file_slug(title: str) -> str:
    """The title as a file name: letters of every script and digits, lower case, with ``-`` between words.

    >>> file_slug("Roll back: a release (v2.1)")
    'roll-back-a-release-v2-1'
    """
    name = re.sub(r"[-_\s]+", "-", slug(re.sub(r"[./:\\]+", " ", title))).strip("-")
    if len(name) > LONGEST_SLUG:
        cut = name[: LONGEST_SLUG + 1].rfind("-")
        name = name[: cut if cut > LONGEST_SLUG // 2 else LONGEST_SLUG].strip("-")
    while len(name.encode()) > 3 * LONGEST_SLUG - 20:  # of scripts whose letters take three bytes and more
        name = name[:-1]
    return name or "page"


def draft(
    path: str,
    kind: str,
    title: str,
    day: str,
    rules: PageRules,
    *,
    template: str | None = None,
    body: str | None = None,
    old: Page | None = None,
) -> Draft:
    """A page made from a template (the built-in one of its kind when there is none). ``old`` is the page it replaces.
    ``body`` takes the place of what a template has below its title, word for word.

    Raises UsageError when the result is no sound page: the template is broken, or its folder means another kind.
    """
    title = " ".join(title.split())
    if not title or any(not char.isprintable() for char in title):
        raise UsageError("a page needs a title of printable characters", hint="memidx new KIND 'a title'")
    values = {"title": title, "date": day, "kind": kind, "slug": file_slug(title), "path": path}
    values["supersedes"] = old.path if old else ""
    chosen = TEMPLATES.get(kind, TEMPLATES[NOTE]) if template is None else template
    text = fill(chosen, values) if body is None else fill(HEAD, values) + "\n" + body.strip("\n") + "\n"
    by_folder = kind_from_path(path, rules.kinds)
    if by_folder is not None and by_folder != kind:
        raise UsageError(f"{path}: pages in this folder are of kind {by_folder}", hint="choose another folder or kind")
    if old is not None and not re.search(r"(?m)^supersedes[ \t]*:", text):
        text = with_key(text, "supersedes", old.path)
    if old is not None and f"]({link(path, old.path)})" not in text:
        text = text.rstrip("\n") + f"\n\nThis replaces [{old.title}]({link(path, old.path)}).\n"
    if parse_page(path, text.encode(), rules).kind != kind:
        text = with_key(text, "kind", kind)
    check(path, text, rules, where=path if template is None else f"{path}, made from the template")
    return Draft(path, kind, title, text)


def fill(template: str, values: Mapping[str, str]) -> str:
    """The template with ``{{title}}`` and the like filled in; in front-matter as YAML: any title is valid."""
    template = template.replace("\r\n", "\n").removeprefix("\ufeff")
    front = _front(template)
    at = front[1] if front else 0

    def as_yaml(found: re.Match[str]) -> str:
        before, after = found.string[: found.start()].rpartition("\n")[2], found.string[found.end() :]
        alone = re.fullmatch(r"\s*(?:[\w-]+:|-)\s+", before) and re.match(r"[ \t]*(?:\n|\Z)", after)
        return scalar(values[found[1]]) if alone else values[found[1]]

    return _HOLDER.sub(as_yaml, template[:at]) + _HOLDER.sub(lambda m: values[m[1]], template[at:])


def scalar(text: str) -> str:
    """A text as one YAML value: bare where that cannot be misread, else in double quotes."""
    if (_PLAIN.fullmatch(text) and text.casefold() not in _WORDS) or re.fullmatch(r"\d{4}-\d\d-\d\d", text):
        return text
    return json.dumps(text, ensure_ascii=False)


def with_key(text: str, key: str, value: str) -> str:
    """The page with one more front-matter key; a page without front-matter gets one. Line ends are the page's own."""
    front = _front(text)
    line = f"{key}: {scalar(value)}"
    if front is None:
        bom = "\ufeff" if text.startswith("\ufeff") else ""
        end = "\r\n" if "\r\n" in text else "\n"
        return f"{bom}---{end}{line}{end}---{end}{text.removeprefix(bom)}"
    close, _, end = front
    return text[:close] + line + end + text[close:]


def _front(text: str) -> tuple[int, int, str] | None:
    """Where the closing fence of the front-matter starts and ends, and its line end; None without front-matter."""
    opened = _OPEN.match(text)
    closed = _CLOSE.search(text, opened.end()) if opened else None
    return (closed.start(), closed.end(), opened["end"]) if opened and closed else None


def superseded(path: str, data: bytes, newer: str, rules: PageRules) -> bytes:
    """The old page with ``superseded_by: newer``, and nothing else touched.

    Raises UsageError when it says so of another page already, or its front-matter is such that this cannot be done.
    """
    text = data.decode("utf-8", "surrogateescape")
    before = parse_page(path, data, rules)
    if before.meta.superseded_by:
        raise UsageError(f"{path}: is superseded by {before.meta.superseded_by[0]} already", hint="supersede that page")
    front = _front(text)
    if front is None and _OPEN.match(text):
        raise UsageError(f"{path}: its front-matter is never closed", hint=f"`memidx check {path}` says where")
    found = _NEWER.search(text, 0, front[0]) if front else None
    if found and found["value"].strip() in _EMPTY:
        text = text[: found.start()] + f"superseded_by: {scalar(newer)}" + found["end"] + text[found.end() :]
    else:
        text = with_key(text, "superseded_by", newer)
    changed = text.encode("utf-8", "surrogateescape")
    after = parse_page(path, changed, rules)
    same = [(f.key, f.value) for f in before.fields] == [
        (f.key, f.value) for f in after.fields if f.key.replace("-", "_") != "superseded_by"
    ]
    sound = after.degraded == before.degraded and [s.text for s in before.sections] == [s.text for s in after.sections]
    if after.meta.superseded_by != (newer,) or not same or not sound:
        raise UsageError(
            f"{path}: its front-matter cannot be changed safely", hint=f"write `superseded_by: {newer}` into it by hand"
        )
    return changed


def link(origin: str, target: str) -> str:
    """A relative markdown link from one page to another."""
    return quote(posixpath.relpath(target, posixpath.dirname(origin) or "."), safe="/-_.~")


def check(path: str, text: str, rules: PageRules, *, where: str) -> Page:
    """The page, parsed. Raises UsageError when it has errors: broken front-matter, conflict markers."""
    page = parse_page(path, text.encode("utf-8", "surrogatepass"), rules)
    wrong = next((d for d in page.diagnostics if d.severity == "error" or d.code == "encoding"), None)
    if wrong is not None:
        raise UsageError(f"{where}: line {wrong.line}: {wrong.message}", hint="nothing was written; mend that first")
    return page


__all__ = ["HEAD", "Draft", "check", "draft", "file_slug", "fill", "place", "superseded", "with_key"]
