"""Take the pictures of docs/images anew: the window on cases of the sample bundles.

xvfb-run -a -s "-screen 0 1600x1000x24" .venv/bin/python scripts/pictures.py [FOLDER]
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["NAPARI_CONFIG"] = ""  # neither read nor change the settings of whoever runs this

from medotter_viewer.errors import MedotterViewerError
from medotter_viewer.sources.opening import open_source

SAMPLES = Path("sample_bundles")
PICTURES = {  # name: folder of the cases, case, panel in front
    "window": ("torso_ct", "PHANTOM_A/0002", "Scores"),
    "lung_contours": ("lung_scans/data", "PHANTOM_LUNG_2", "Polygons"),
    "spine": ("spine_ct", "PHANTOM_SPINE/001", "Vertebrae"),
}
WITH_SEED = "lung_contours"
"""Shown on the slice of the first seed."""


def picture(target: Path, folder: str, case_id: str, panel: str, *, at_seed: bool = False) -> None:
    """Open a case with the predictions `mixed`, bring a panel to the front, and write the picture of the window."""
    from medotter_viewer.ui.app import save_screenshot, wait_until_scored
    from medotter_viewer.ui.window import open_window

    predictions = SAMPLES / folder.split("/", maxsplit=1)[0] / "predictions" / "mixed"
    window = open_window(open_source(SAMPLES / folder, predictions=predictions), case_id=case_id)
    try:
        wait_until_scored(window)
        window.docks.show(panel)
        wait_for(lambda: window.session.is_idle)
        if at_seed:
            window.looking.go.to_contour(*window.session.case.seeds[0])
            window.display.fit()
            wait_for(lambda: window.session.is_idle)
        save_screenshot(window.viewer, target)
    finally:
        window.close()
        window.viewer.close()
    print(target)


def wait_for(done: Callable[[], bool], patience_s: float = 60.0) -> None:
    """Process events until something is done, and a second longer: panels are drawn after it."""
    from qtpy.QtWidgets import QApplication

    end = time.monotonic() + patience_s
    rest: Any = None
    while rest is None or time.monotonic() < rest:
        QApplication.processEvents()
        time.sleep(0.01)
        if rest is None and done():
            rest = time.monotonic() + 1.0
        if time.monotonic() > end:
            raise MedotterViewerError(f"the window is not done within {patience_s:.0f} s")


def main() -> None:
    """Write every picture."""
    os.chdir(Path(__file__).resolve().parent.parent)  # paths in pictures are relative
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/images")
    for name, shown in PICTURES.items():
        picture(folder / f"{name}.png", *shown, at_seed=name == WITH_SEED)


if __name__ == "__main__":
    main()
