#!/bin/sh
# Runs the named benchmarks one after the other, bench_NAME.py each; all of them, whatever one says. Exit status 1 when a
# number differed. With ROWS, only these rows are measured.
set -u
cd "$(dirname "$0")/.."

failed=""
for name in "$@"; do
    printf '\n== bench_%s.py, %s\n' "$name" "$(date +%H:%M:%S)"
    if [ "$name" = rows ] && [ -n "${ROWS:-}" ]; then
        # shellcheck disable=SC2086  # several words
        .venv-bench/bin/python benchmarks/bench_rows.py --only $ROWS || failed="$failed $name"
    else
        .venv-bench/bin/python "benchmarks/bench_$name.py" || failed="$failed $name"
    fi
done
printf '\n== done, %s\n' "$(date +%H:%M:%S)"
if [ -n "$failed" ]; then
    printf 'numbers differ, or it could not run:%s\n' "$failed"
    exit 1
fi
