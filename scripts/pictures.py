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
from medotter_viewer.sources.second_predictions import with_predictions

SAMPLES = Path("sample_bundles")
PICTURES = {  # name: folder of the cases, case, panel in front
    "window": ("torso_ct", "PHANTOM_A/0002", "Scores"),
    "lung_contours": ("lung_scans/data", "PHANTOM_LUNG_2", "Polygons"),
    "spine": ("spine_ct", "PHANTOM_SPINE/001", "Vertebrae"),
    "errors": ("torso_ct", "PHANTOM_A/0002", "Errors"),
    "compared": ("torso_ct", "PHANTOM_B/0001", "Scores"),
    "planes": ("torso_ct", "PHANTOM_A/0001", "Scores"),
}


def at_seed(window: Any) -> None:
    """Go to the slice of the first seed."""
    window.looking.go.to_contour(*window.session.case.seeds[0])
    window.display.fit()


def at_error(window: Any) -> None:
    """Go to the largest error, and say what the scores were without it."""
    window.largest_error()
    wait_for(lambda: window.session.errors.current is not None and window.session.is_idle)
    window.session.errors.toggle_without()
    wait_for(lambda: window.session.errors.without is not None and window.session.is_idle)


def in_planes(window: Any) -> None:
    """Show all three planes."""
    window.tools.toggle_planes()


BEFORE: dict[str, Callable[[Any], None]] = {"lung_contours": at_seed, "errors": at_error, "planes": in_planes}
"""What is done before the picture is taken."""


def picture(target: Path, folder: str, case_id: str, panel: str) -> None:
    """Open a case with the predictions `mixed`, bring a panel to the front, and write the picture of the window."""
    from medotter_viewer.ui.app import save_screenshot, wait_until_scored
    from medotter_viewer.ui.window import open_window

    models = SAMPLES / folder.split("/", maxsplit=1)[0] / "predictions"
    source = open_source(SAMPLES / folder, predictions=models / "mixed")
    second = with_predictions(source, models / "good") if target.stem == "compared" else None
    window = open_window(source, case_id=case_id, second=second)
    try:
        wait_until_scored(window)
        window.docks.show(panel)
        wait_for(lambda: window.session.is_idle)
        if (before := BEFORE.get(target.stem)) is not None:
            before(window)
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
        picture(folder / f"{name}.png", *shown)


if __name__ == "__main__":
    main()
