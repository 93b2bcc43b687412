#!/bin/sh
# Opens the viewer on a sample bundle; where there is no screen, takes a picture of the window instead.
#
#   scripts/demo.sh BUNDLE MODEL
set -eu
cd "$(dirname "$0")/.."
viewer=.venv/bin/medotter-viewer
picture=demo/window.png
bundle=$1
predictions=$1/predictions/$2

for folder in "$bundle" "$predictions"; do
    if [ ! -d "$folder" ]; then
        echo "demo: no folder $folder; choose with: make demo DEMO_BUNDLE=... DEMO_MODEL=..." >&2
        exit 1
    fi
done

# Neither read nor change the settings of whoever runs this.
export NAPARI_CONFIG=""

echo "== medotter-viewer score $bundle --predictions $predictions"
"$viewer" score "$bundle" --predictions "$predictions"

echo
echo "== medotter-viewer open $bundle --predictions $predictions"
if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
    exec "$viewer" open "$bundle" --predictions "$predictions"
fi
mkdir -p "$(dirname "$picture")"
rm -f "$picture"
xvfb-run -a -s "-screen 0 1600x1000x24" \
    "$viewer" open "$bundle" --predictions "$predictions" --screenshot "$picture"
if [ ! -s "$picture" ]; then
    echo "demo: the viewer ended without writing $picture" >&2
    exit 1
fi
echo "No screen here: the window is in $picture"
