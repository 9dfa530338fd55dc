"""Pages, questions, settings and sidecars that are awkward on purpose."""

from __future__ import annotations

LONG = 200_000

PAGES: dict[str, bytes] = {
    "empty": b"",
    "nul": b"---\ntitle: a\0b\n---\n# \0\n\0\n",
    "bom": "\ufeff---\ntitle: x\n---\n# T\n".encode(),
    "utf16": "# Title\n\nwords\n".encode("utf-16"),
    "utf32": "# Title\n\nwords\n".encode("utf-32"),
    "latin1": "# Caf\xe9\n\nna\xefve\n".encode("latin-1"),
    "surrogates": b"# \xed\xa0\x80\xed\xb0\x80\n\n\xff\xfe\xfa\n",
    "crlf": b"---\r\ntitle: x\r\n---\r\n# T\r\n\r\ntext\r\n",
    "cr": b"---\rtitle: x\r---\r# T\r\rtext\r",
    "one long line": b"word " * (LONG // 5),
    "one long word": b"x" * LONG,
    "long title": b"---\ntitle: " + b"t" * 100_000 + b"\n---\n",
    "only hashes": b"#" * LONG,
    "hash lines": b"# a\n" * 20_000,
    "quotes": b">" * 50_000 + b" deep\n",
    "lists": b"".join(b" " * n + b"- x\n" for n in range(600)),
    "brackets": b"[" * 50_000,
    "wiki brackets": b"[[" * 25_000,
    "emphasis": b"*_" * 50_000,
    "backticks": b"".join(b"`" * n + b" " for n in range(400)),
    "links": b"[a](b)" * 20_000,
    "references": b"".join(b"[k%d]: v%d.md\n" % (n, n) for n in range(10_000)) + b"[k1] " * 5_000,
    "nested brackets": b"![[" * 10_000 + b"]]" * 10_000,
    "tables": b"|" * 20_000 + b"\n" + b"|-" * 10_000 + b"|\n",
    "html": b"<div>" * 30_000,
    "comments": b"<!--" * 30_000,
    "entities": b"&amp;" * 40_000 + b"&#x110000;&#0;",
    "dollars": b"$$\n===\n" * 10_000,
    "fences": b"```\n~~~\n" * 20_000,
    "unclosed front matter": b"---\na: 1\n" * 20_000,
    "rules": b"---\n" * 40_000,
    "bomb": b"---\na: &a [x,x,x,x,x,x,x,x,x]\n"
    + b"".join(b"%c: &%c [%b]\n" % (98 + n, 98 + n, b",".join([b"*%c" % (97 + n)] * 9)) for n in range(20))
    + b"---\n# Bomb\n",
    "self alias": b"---\na: &a [*a, *a]\n---\n",
    "merge keys": b"---\nx: &x {a: 1}\ny: {<<: *x, <<: [*x, *x]}\n---\n",
    "python tags": b"---\na: !!python/object/apply:os.system [touch pwned]\nb: !!python/name:os.system\n---\n",
    "deep flow": b"---\na: " + b"[" * 5_000 + b"]" * 5_000 + b"\n---\n",
    "deep maps": b"---\n" + b"".join(b" " * n + b"k:\n" for n in range(500)) + b"---\n",
    "many keys": b"---\n" + b"".join(b"k%d: v\n" % n for n in range(9_000)) + b"---\n",
    "many tags": b"---\ntags: [" + b",".join(b"t%d" % n for n in range(9_000)) + b"]\n---\n# T\n",
    "same key": b"---\n" + b"title: x\n" * 9_000 + b"---\n",
    "numbers": b"---\ntier: .nan\nconfidence: 1e999\nexpires_at: 99999-99-99\nupdated: -1\n---\n# N\n",
    "dates": b"---\ndate: 2024-02-30\nupdated: 0000-00-00\ncreated: 9999-12-31T23:59:60Z\n---\n# D\n",
    "odd breaks": "---\ntitle: a\u2028b\x85c\x0bd\n---\n# A\u2029B\n".encode(),
    "bidi": "# \u202ereversed\u202c \u200b\u200d\n\n\ufeff\ufeff\n".encode(),
    "marks": ("a" + "\u0301" * 50_000).encode(),
    "emoji": "👩‍👩‍👧‍👦".encode() * 5_000,
    "cjk": "视频下载笔记" .encode() * 10_000,
    "conflict": b"<<<<<<< a\n=======\n>>>>>>> b\n" * 5_000,
    "escape": b"# \x1b[31mred\x1b]0;title\x07\n",
    "paths": b"[x](../../../../etc/passwd) [[../../secret]] ![y](file:///etc/passwd) [z](\\\\host\\share)\n",
    "percent": b"[x](%00%ff%2e%2e%2f)\n" * 5_000,
}  # fmt: skip

QUESTIONS: list[str] = [
    "", " ", "*", "???", '"', '""', '"' * 5_000, "-" * 5_000, "(" * 5_000, "tag:", "tag:\0", "path:../../etc/passwd",
    "kind:" + "x" * 10_000, "\0", "a\0b", "\ud800", "\udcff deploy", "x" * 100_000, "word " * 50_000, "-a -b -c", '-"x y"',
    "視" * 5_000, "a" + "\u0301" * 5_000, "AND OR NOT", "[1 TO *]", "field:^2~3", "\u202e", "\x1b[31m", "deploy\r\n\r\n", "%s%n{}",
    "path:" + "*" * 500, "path:[" + "a-" * 500, "path:**/" * 50, 'tag:"' + "a" * 1_000, "path:" + "(" * 200, "path:\\",
]  # fmt: skip

CONFIGS: list[str] = [
    "query: {limit: 1e999}", "query: [1]", "query: 5", "? [a]\n: b", "a: &a [*a]", "query:\n  limit: !!python/name:os.system",
    "pages:\n  include: ['" + "*" * 2_000 + "']", "\t", "\0", "---\n---\n", "%YAML 9.9\n---\n", "{" * 3_000, "[" * 3_000, "\ufeffquery: {}",
    "pages: {include: ['../..', '/etc/**', '!']}", "vector: {model: 'model2vec:/etc/passwd'}", "vector: {model: '../../x'}",
    "<<: *x", "query: {limit: -0}", "fusion: {k: .inf}", "ranking: {composite: {relevance: .nan}}", "sections: {max_chars: 1e400}",
    "decay: {half_life: {}}", "pages: {kinds: {rule: [" + "a," * 5_000 + "]}}", "x: " + "y" * 100_000,
    "a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\nd: &d [*c,*c]\npages: {include: *d}",
]  # fmt: skip

_EVENT = '{"id":"a","at":"2026-01-01T00:00:00Z","kind":"helpful","path":"p0.md","blob":"b","seq":1}'
SIDECARS: list[str] = [
    "", "\n", "{", "[]", "null", "1", '"', "{}" * 5_000, _EVENT * 3, _EVENT[:40], _EVENT + "\n" + _EVENT[:30], "[" * 100_000,
    '{"a":' * 20_000, _EVENT.replace("1}", "1e999}"), _EVENT.replace("1}", "-1}"), _EVENT.replace("1}", "true}"), _EVENT.replace("1}", "9" * 5_000 + "}"),
    _EVENT.replace('"a"', "null"), _EVENT.replace("p0.md", "../../etc/passwd"), _EVENT.replace("p0.md", "\\ud800"), "\ufeff" + _EVENT,
    "<<<<<<< a\n" + _EVENT + "\n=======\n" + _EVENT + "\n>>>>>>> b\n", _EVENT.replace("2026-01-01T00:00:00Z", "99999-01-01"), "\0" * 1_000,
    '{"id":"x","at":"2026-01-01T00:00:00Z","kind":"access","path":"p","blob":"b","clone":"c","days":{"2026-01-01":-5,"x":1},"last":"z"}',
    '{"id":"x","at":"2026-01-01T00:00:00Z","kind":"access","path":"p","blob":"b","clone":"c","days":{"9999-12-31":1e308},"last":"2026-01-01T00:00:00Z"}',
    (_EVENT + "\n") * 20_000,
]  # fmt: skip
