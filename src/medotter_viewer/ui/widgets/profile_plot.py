"""How wrong every slice is along the axis that is looked at, with a cursor on the slice that is shown."""

from __future__ import annotations

from typing import Any

import numpy as np
from qtpy.QtCore import QEvent, QTimer, Signal
from qtpy.QtGui import QColor, QPalette
from qtpy.QtWidgets import QVBoxLayout, QWidget

from medotter_viewer.scoring.slices import SliceProfile
from medotter_viewer.ui.colors import FN_ACCENT, FP_ACCENT
from medotter_viewer.ui.widgets.theme import mixed

AXES = ("axial, head → feet", "coronal, front → back", "sagittal, right → left")
_LARGE_MM2, _FEW, _ALPHA = 1000.0, 30, 0.6
_SOON_MS = 40
_ROLES = (QPalette.ColorRole.Window, QPalette.ColorRole.WindowText)


class ProfilePlot(QWidget):
    """A plot that is also a slider: a click asks for the slice below it.

    Attributes
    ----------
    slice_requested : Signal(int)
        Displayed index of the slice that was clicked.
    """

    slice_requested = Signal(int)

    def __init__(self, parent: Any = None) -> None:
        super().__init__(parent)
        from matplotlib.backends.backend_qtagg import FigureCanvasQTAgg
        from matplotlib.figure import Figure

        self.figure = Figure(figsize=(4, 1.8))
        self.canvas = FigureCanvasQTAgg(self.figure)
        self.canvas.setMinimumSize(200, 120)
        self.dice_axes = self.figure.add_subplot()
        self.area_axes = self.dice_axes.twinx()
        self.profile: SliceProfile | None = None
        self.cursor: int | None = None
        self._axis, self._region = 0, "all regions"
        self._line: Any = None
        self._dice: Any = None
        self._missed: Any = None
        self._invented: Any = None
        self._nothing: Any = None
        self._title: Any = None
        self._names: list[Any] = []
        self._behind: Any = None
        self._drawn_in: tuple[str, ...] | None = None  # colours; None where something else is to be drawn
        self._made_in: tuple[str, ...] | None = None
        self._due = QTimer(self, singleShot=True, interval=_SOON_MS)  # numbers and pictures of a case come first
        self._due.timeout.connect(self.canvas.draw_idle)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.canvas)
        self.canvas.mpl_connect("button_press_event", self._on_pressed)
        self.canvas.mpl_connect("motion_notify_event", self._on_pressed)
        self.canvas.mpl_connect("draw_event", self._on_drawn)

    def set_profile(self, profile: SliceProfile | None, axis: int = 0, region: str | None = None) -> None:
        """Show a profile.

        Parameters
        ----------
        profile : SliceProfile or None
            None empties the plot.
        axis : int
            Displayed axis: 0 axial, 1 coronal, 2 sagittal.
        region : str, optional
            Its name; None stands for all.
        """
        self.profile, self._axis, self._region = profile, axis, region or "all regions"
        self._drawn_in = None
        self._draw_if_seen()

    def set_cursor(self, index: int) -> None:
        """Move the cursor to a displayed index; nothing else is drawn again."""
        self.cursor = index
        self._draw_cursor()

    @property
    def title(self) -> str:
        """What is shown."""
        return f"{self._region}, per slice"

    def changeEvent(self, event: Any) -> None:  # noqa: N802 - Qt's name
        """Follow the theme."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange):
            self._draw_if_seen()

    def showEvent(self, event: Any) -> None:  # noqa: N802 - Qt's name
        """Draw what came while nobody looked, in the colours of the window it is shown in."""
        super().showEvent(event)
        self._draw_if_seen()

    # ---------------------------------------------------------------- drawing

    def _draw_if_seen(self) -> None:
        """Draw unless nobody looks, or it is drawn already: a window that opens changes its style several times."""
        if not self.isVisible():
            return
        colors = tuple(self.palette().color(role).name() for role in _ROLES)
        if colors != self._drawn_in:
            self._drawn_in = colors
            self._draw()

    def _draw(self) -> None:
        """Say what is to be drawn; it is drawn in a moment, once for all that was said."""
        if self._made_in != self._drawn_in:
            self._made_in = self._drawn_in
            self._make(*(self.palette().color(role) for role in _ROLES))
        there = self.profile is not None and self.profile.gt.size > 0
        self._title.set_text(self.title)
        for axes in (self.dice_axes, self.area_axes):
            axes.axison = there
        for artist in (self._line, self._dice, self._missed, self._invented, *self._names):
            artist.set_visible(there)
        self._nothing.set_visible(not there)
        if self.profile is not None and there:
            self._fill(self.profile)
        self._fit()
        self._due.start()

    def _fill(self, profile: SliceProfile) -> None:
        size = profile.gt.size
        edges = np.arange(size + 1) + 0.5
        scale, unit = profile.pixel_area_mm2, "mm²"
        if profile.error_mm2.max() >= _LARGE_MM2:
            scale, unit = scale / 100.0, "cm²"
        missed, invented = (profile.gt - profile.both) * scale, (profile.pred - profile.both) * scale
        self._missed.set_data(missed, edges, np.zeros(size))
        self._invented.set_data(missed + invented, edges, missed)
        self._dice.set_data(np.arange(1, size + 1), profile.dice)
        self._dice.set_marker("o" if size < _FEW else "None")
        self.area_axes.set_ylim(0, float((missed + invented).max()) * 1.05 or 1.0)
        self.area_axes.set_ylabel(f"error [{unit}]")
        self.dice_axes.set_xlim(0.5, size + 0.5)
        self.dice_axes.set_xlabel(f"slice ({AXES[self._axis]})", labelpad=1)

    # ---------------------------------------------------------------- once for a theme

    def _make(self, ground: QColor, text: QColor) -> None:
        """Make all that is drawn, in the colours of the window: with data it is only filled."""
        for axes in (self.dice_axes, self.area_axes):
            axes.clear()
        dice, area, color = self.dice_axes, self.area_axes, text.name()
        self.figure.set_facecolor(ground.name())
        self._title = dice.set_title(self.title, loc="left", fontsize=8, color=color, pad=3)
        self._missed, self._invented = (
            area.stairs([0.0], [0, 1], baseline=[0.0], fill=True, color=accent, alpha=_ALPHA, linewidth=0)
            for accent in (FN_ACCENT, FP_ACCENT)
        )
        self._names = [
            area.text(place, 1.03, name, transform=area.transAxes, ha="right", fontsize=7, color=accent)
            for place, name, accent in ((0.86, "■ FN", FN_ACCENT), (1.0, "■ FP", FP_ACCENT))
        ]
        (self._dice,) = dice.plot([], [], color=color, linewidth=1.2, markersize=2.5)
        self._line = dice.axvline(1, linewidth=1.0, linestyle=(0, (4, 2)), color=color, animated=True)
        self._nothing = dice.text(0.5, 0.5, "nothing to compare", transform=dice.transAxes, fontsize=8)
        self._nothing.set(color=mixed(text, ground, 0.4).name(), ha="center", va="center")
        self._style(mixed(text, ground, 0.35).name(), mixed(text, ground, 0.7).name())

    def _style(self, quiet: str, faint: str) -> None:
        dice_axes, area_axes = self.dice_axes, self.area_axes
        dice_axes.set_ylim(0, 1.02)
        dice_axes.set_yticks([0, 0.5, 1])
        dice_axes.set_ylabel("dice", labelpad=1)
        dice_axes.locator_params(axis="x", nbins=8, integer=True)
        dice_axes.set_zorder(area_axes.get_zorder() + 1)
        dice_axes.patch.set_visible(False)
        area_axes.patch.set_visible(False)
        area_axes.yaxis.set_label_position("right")
        area_axes.yaxis.tick_right()
        area_axes.locator_params(axis="y", nbins=3)
        for axes in (dice_axes, area_axes):
            axes.tick_params(colors=quiet, labelsize=7, length=2)
            for label in (axes.xaxis.label, axes.yaxis.label):
                label.set(color=quiet, fontsize=7)
            for side, spine in axes.spines.items():
                spine.set_visible(side != "top")
                spine.set_color(faint)

    def _fit(self) -> None:
        """Give the labels the room they need, in pixels, whatever the size."""
        width, height = max(self.canvas.width(), 1), max(self.canvas.height(), 1)
        self.figure.subplots_adjust(
            left=min(38 / width, 0.3), right=max(1 - 44 / width, 0.7), bottom=min(36 / height, 0.4), top=1 - 20 / height
        )

    def resizeEvent(self, event: Any) -> None:  # noqa: N802 - Qt's name
        """Keep the room for the labels."""
        super().resizeEvent(event)
        self._fit()

    def _on_drawn(self, _: Any) -> None:
        self._behind = self.canvas.copy_from_bbox(self.figure.bbox)
        self._paint_cursor()

    def _draw_cursor(self) -> None:
        """Put back what was behind the cursor and draw it where it is now."""
        if self._behind is None or self._line is None or self._due.isActive():
            return
        self.canvas.restore_region(self._behind)
        self._paint_cursor()
        self.canvas.blit(self.figure.bbox)

    def _paint_cursor(self) -> None:
        """Paint the cursor into the canvas' picture."""
        if self.cursor is not None and self._line is not None and self._line.get_visible():
            self._line.set_xdata([self.cursor + 1, self.cursor + 1])
            self.dice_axes.draw_artist(self._line)

    def _on_pressed(self, event: Any) -> None:
        if self.profile is None or event.inaxes is None or event.xdata is None:
            return
        if event.button != 1:  # moved without the left button
            return
        index = int(np.clip(round(event.xdata) - 1, 0, self.profile.gt.size - 1))
        if index != self.cursor:
            self.slice_requested.emit(index)
