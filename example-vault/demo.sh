#!/bin/sh
# memidx on the example vault, from nothing to answers. `make demo` installs what is needed and runs this.
# Works on a copy in a temp folder, which is removed at the end.
set -eu

command -v memidx >/dev/null 2>&1 || { echo 'memidx is not on PATH: run `make demo`, or install it first' >&2; exit 1; }
command -v git >/dev/null 2>&1 || { echo 'memidx needs git: install it and run this again' >&2; exit 1; }

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
vault=$(mktemp -d)
trap 'rm -rf "$vault"' EXIT
trap 'exit 130' INT
trap 'exit 143' HUP TERM

run() {
    printf '\n$ %s\n' "$*"
    "$@"
}

# A hook that called this would have said which repository is meant.
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_PREFIX
cp -R "$here/." "$vault"
rm "$vault/demo.sh"
cd "$vault"
git init -q .
git add -A
git -c user.name=Demo -c user.email=demo@example.org -c commit.gpgSign=false commit -q --no-verify -m 'An example vault'

echo 'A copy of example-vault/ is a git repository now. memidx does the rest.'
run memidx init
run memidx build
run memidx query -n 2 can I deploy on Friday afternoon
run memidx query -n 1 daily report shows times an hour too late
run memidx query -n 1 --explain label renderer

printf '\nThe copy is removed now. In a repository of your own: memidx query, then your question.\n'
