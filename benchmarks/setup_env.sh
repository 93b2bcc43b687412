#!/bin/sh
# Sets up .venv-bench: this package and the libraries its numbers are compared with. Only make bench-check needs it.
#
#   TORCH     what pip installs as torch (default torch==2.13.0): a requirement, a file, or pip's own options.
#             Where it cannot be installed, MONAI is left out.
#   PYTHON    which Python (default python3)
set -eu
cd "$(dirname "$0")/.."

venv=.venv-bench
python=$venv/bin/python
torch=${TORCH:-torch==2.13.0}

say() {
    printf '%s\n' "$*" >&2
}

stamp() {
    echo "$(pwd) $torch $("$python" -V)"
    cat pyproject.toml benchmarks/setup_env.sh | cksum
}

if [ -x "$python" ] && [ "$(stamp)" = "$(cat $venv/.stamp 2>/dev/null || true)" ]; then exit 0; fi
if [ ! -x "$python" ]; then
    say "== ${PYTHON:-python3} -m venv $venv"
    "${PYTHON:-python3}" -m venv $venv
fi
say "== pip install uv"
"$python" -m pip install --quiet --disable-pip-version-check uv

# uv links packages out of its cache; across file systems it cannot, and would warn about every run.
export UV_LINK_MODE="${UV_LINK_MODE:-copy}"
say "== uv pip install -e . --group bench"
$venv/bin/uv pip install --quiet --python "$python" -e . --group bench

say "== pip install $torch"
# shellcheck disable=SC2086  # may be several words
if "$python" -m pip install --quiet --disable-pip-version-check $torch; then
    say "== uv pip install --group bench-torch"
    $venv/bin/uv pip install --quiet --python "$python" --group bench-torch
else
    say "torch cannot be installed: MONAI is left out"
fi
stamp >$venv/.stamp
