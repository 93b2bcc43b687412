#!/bin/sh
# Takes the pictures of docs/images anew: the window on cases of the sample bundles.
#
#   scripts/pictures.sh [FOLDER]     (default: docs/images)
set -eu
cd "$(dirname "$0")/.."
folder=${1:-docs/images}
viewer=.venv/bin/medotter-viewer

# Neither read nor change the settings of whoever runs this.
export NAPARI_CONFIG=""

picture() {  # NAME BUNDLE CASE
    target=$folder/$1.png
    mkdir -p "$folder"
    rm -f "$target"
    xvfb-run -a -s "-screen 0 1600x1000x24" "$viewer" open "sample_bundles/$2" \
        --predictions "sample_bundles/${2%/data}/predictions/mixed" --case "$3" --screenshot "$target"
}

picture window torso_ct PHANTOM_A/0002
picture lung_contours lung_scans/data PHANTOM_LUNG_2
picture spine spine_ct PHANTOM_SPINE/001
