#!/bin/sh
# Sets up everything this project needs, from a machine that has only git, make and Python with venv.
#
#   scripts/setup_env.sh                 set up .venv; without the packages for windows it warns and goes on
#   scripts/setup_env.sh --need-screen   the same, but stops when no window can be opened
#   scripts/setup_env.sh --packages      print the Debian packages that windows need
#
# Running it again costs a fraction of a second: .venv/.stamp remembers what was set up.
set -eu
cd "$(dirname "$0")/.."

# The only list of these names. Qt draws through xcb on an X server (Xvfb where there is no screen) and finds
# most of these libraries at run time, so that no Python package can bring them along.
apt_packages="xvfb xauth libegl1 libdbus-1-3 libfontconfig1 libglib2.0-0 libxcb-cursor0 libxcb-icccm4
    libxcb-keysyms1 libxcb-shape0 libxkbcommon-x11-0"
apt_packages=$(echo $apt_packages)

say() {
    printf '%s\n' "$*" >&2
}

# A package also counts as installed when another one provides it: newer releases renamed libglib2.0-0.
missing_packages() {
    dpkg-query -W -f '${db:Status-Status}, ${Package}, ${Provides}\n' | awk -F ', *' -v wanted="$apt_packages" '
        $1 == "installed" { for (i = 2; i <= NF; i++) { sub(/ .*/, "", $i); has[$i] } }
        END {
            count = split(wanted, names, " ")
            for (i = 1; i <= count; i++) if (!(names[i] in has)) { printf "%s%s", gap, names[i]; gap = " " }
        }'
}

install_packages() {
    say "== apt-get install $*"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq && apt-get install -y -qq -o Dpkg::Use-Pty=0 --no-install-recommends "$@" </dev/null
}

# Says in one line what is missing, and fails, when no window can be opened on this machine.
prepare_screen() {
    if ! command -v dpkg-query >/dev/null; then
        if command -v Xvfb >/dev/null && command -v xauth >/dev/null; then return 0; fi
        say "Windows need Xvfb, xauth and the libraries of Qt's xcb platform plugin; Debian calls them: $apt_packages"
        return 1
    fi
    missing=$(missing_packages)
    if [ -z "$missing" ]; then return 0; fi
    # shellcheck disable=SC2086  # one argument per package
    if [ "$(id -u)" = 0 ] && install_packages $missing; then return 0; fi
    say "Windows need Debian packages that are not installed; as root, run:" \
        "apt-get update && apt-get install -y --no-install-recommends $missing"
    return 1
}

# In CI a screen that happens to be there is no substitute: results must not depend on it.
has_own_screen() {
    [ -z "${CI:-}" ] && [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]
}

is_suitable() {
    "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null
}

find_python() {
    without_venv=
    for python in ${PYTHON:-python3 python3.13 python3.12 python3.11}; do
        is_suitable "$python" || continue
        if "$python" -c 'import ensurepip, venv' 2>/dev/null; then
            echo "$python"
            return 0
        fi
        without_venv=${without_venv:-$python}
    done
    if [ -n "$without_venv" ]; then
        say "$without_venv has no venv module; as root, run: apt-get install -y python3-venv"
    else
        say "Python 3.11, 3.12 or 3.13 is needed and none was found; name one with: make env PYTHON=/path/to/python"
    fi
    return 1
}

# uv links packages out of its cache; across file systems it cannot, and would warn about every run.
choose_link_mode() {
    if [ -n "${UV_LINK_MODE:-}" ]; then return 0; fi
    cache=$(.venv/bin/uv cache dir)
    mkdir -p "$cache"
    probe=$(mktemp "$cache/link-probe-XXXXXX")
    ln "$probe" .venv/link-probe 2>/dev/null || export UV_LINK_MODE=copy
    rm -f "$probe" .venv/link-probe
}

# First line: what makes the whole environment useless when it changes. Second: what asks for a new install.
stamp() {
    echo "$(pwd) $(.venv/bin/python -V)"
    cat pyproject.toml scripts/setup_env.sh | cksum
}

set_up_python() {
    stamp_file=.venv/.stamp
    if is_suitable .venv/bin/python; then
        now=$(stamp)
        before=$(cat "$stamp_file" 2>/dev/null || true)
        if [ "$now" = "$before" ]; then return 0; fi
        if [ -n "$before" ] && [ "$(echo "$now" | head -n 1)" != "$(echo "$before" | head -n 1)" ]; then
            say "== .venv was made elsewhere or for another Python: starting afresh"
            rm -rf .venv
        fi
    else
        rm -rf .venv
    fi
    if [ ! -d .venv ]; then
        python=$(find_python)
        say "== $python -m venv .venv"
        "$python" -m venv .venv
    fi
    if [ ! -x .venv/bin/uv ]; then
        say "== pip install uv"
        .venv/bin/python -m pip install --quiet --disable-pip-version-check uv
    fi
    choose_link_mode
    say "== uv pip install -e '.[all]' --group dev"
    .venv/bin/uv pip install --compile-bytecode --python .venv/bin/python -e '.[all]' --group dev
    stamp >"$stamp_file"
}

case "${1:-}" in
    --packages)
        echo "$apt_packages"
        ;;
    --need-screen)
        prepare_screen || has_own_screen || exit 1
        set_up_python
        ;;
    "")
        prepare_screen || true
        set_up_python
        ;;
    *)
        say "usage: scripts/setup_env.sh [--need-screen | --packages]"
        exit 2
        ;;
esac
