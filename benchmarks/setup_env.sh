#!/bin/sh
# Sets up .venv-bench, this package and the libraries it is compared with, and .venv-bench-panoptica, one that wants an
# older numpy. Only the bench targets of the Makefile need them. What cannot be installed is left out and said.
#
#   TORCH     what pip installs as torch (default torch==2.13.0): a requirement, a file, or pip's own options.
#             Where it cannot be installed, MONAI is left out.
#   PYTHON    which Python (default python3)
set -eu
cd "$(dirname "$0")/.."

venv=.venv-bench
panoptica=.venv-bench-panoptica
python=$venv/bin/python
torch=${TORCH:-torch==2.13.0}

say() {
    printf '%s\n' "$*" >&2
}

stamp() {
    echo "$(pwd) $torch $("$python" -V)"
    cat pyproject.toml benchmarks/setup_env.sh | cksum
}

make_venv() {
    if [ ! -x "$1/bin/python" ]; then
        say "== ${PYTHON:-python3} -m venv $1"
        "${PYTHON:-python3}" -m venv "$1"
    fi
}

install_group() { # environment, group
    say "== uv pip install --group $2 (into $1)"
    $venv/bin/uv pip install --quiet --python "$1/bin/python" --group "$2" || say "$2 cannot be installed: left out"
}

if [ -x "$python" ] && [ "$(stamp)" = "$(cat $venv/.stamp 2>/dev/null || true)" ]; then exit 0; fi
make_venv $venv
say "== pip install uv"
"$python" -m pip install --quiet --disable-pip-version-check uv

# uv links packages out of its cache; across file systems it cannot, and would warn about every run.
export UV_LINK_MODE="${UV_LINK_MODE:-copy}"
say "== uv pip install -e .[fast] --group bench"
$venv/bin/uv pip install --quiet --python "$python" -e '.[fast]' --group bench
for group in bench-remap bench-opencv bench-rasterio bench-meshes bench-mikan; do
    install_group $venv $group
done

say "== pip install $torch"
# shellcheck disable=SC2086  # may be several words
if "$python" -m pip install --quiet --disable-pip-version-check $torch; then
    install_group $venv bench-torch
else
    say "torch cannot be installed: MONAI is left out"
fi

make_venv $panoptica
install_group $panoptica bench-panoptica
stamp >$venv/.stamp
