"""The plot of slices: what it says, and where a click leads."""

from __future__ import annotations

import numpy as np
import pytest
from qtpy.QtCore import QEvent, QPoint, Qt
from qtpy.QtGui import QColor, QPalette
from qtpy.QtWidgets import QApplication

from medotter_viewer.scoring.slices import SliceProfile
from medotter_viewer.ui.widgets.profile_plot import ProfilePlot


@pytest.fixture
def plot(qtbot):
    plot = ProfilePlot()
    qtbot.addWidget(plot)
    plot.resize(400, 180)
    plot.show()
    counts = np.arange(10, dtype=np.int64)
    plot.set_profile(SliceProfile(counts, counts, counts // 2, 9.0), 0, "liver")
    plot.canvas.draw()
    return plot


def click(qtbot, plot, number):
    x, y = plot.dice_axes.transData.transform((number, 0.5))
    ratio = plot.canvas.devicePixelRatioF()
    place = QPoint(round(x / ratio), round((plot.figure.bbox.height - y) / ratio))
    qtbot.mouseClick(plot.canvas, Qt.MouseButton.LeftButton, pos=place)


def test_labels_name_region_axis_direction_and_unit(plot):
    assert plot.title == "liver, per slice"
    assert plot.dice_axes.get_xlabel() == "slice (axial, head → feet)"
    assert plot.area_axes.get_ylabel() == "error [mm²]"
    assert plot.dice_axes.get_ylim() == (0, 1.02)


def test_large_areas_are_shown_in_cm2(plot):
    counts = np.full(5, 400, dtype=np.int64)
    plot.set_profile(SliceProfile(counts, counts, counts * 0, 9.0), 1, None)
    assert plot.area_axes.get_ylabel() == "error [cm²]"
    assert plot.title == plot.dice_axes.get_title(loc="left") == "all regions, per slice"
    assert plot._title.get_fontsize() == 8


def test_without_any_error_no_stray_number_stands_over_the_axis_of_areas(plot):
    counts = np.zeros(5, dtype=np.int64)
    plot.set_profile(SliceProfile(counts, counts, counts, 9.0), 0, "liver")
    plot.canvas.draw()
    assert plot.area_axes.yaxis.get_offset_text().get_text() == ""
    assert plot.area_axes.get_ylim() == (0.0, 1.0)


def test_a_click_asks_for_the_slice_below_it_whose_number_is_one_more_than_its_index(plot, qtbot):
    with qtbot.waitSignal(plot.slice_requested) as asked:
        click(qtbot, plot, 7)
    assert asked.args == [6]


def test_a_click_on_the_slice_that_is_shown_asks_for_nothing(plot, qtbot):
    plot.set_cursor(6)
    with qtbot.assertNotEmitted(plot.slice_requested):
        click(qtbot, plot, 7)


def test_the_cursor_moves_without_drawing_the_plot_again(plot):
    drawn = []
    plot.canvas.mpl_connect("draw_event", drawn.append)
    plot.set_cursor(3)
    plot.set_cursor(4)
    assert drawn == []
    assert list(plot._line.get_xdata()) == [5, 5]


def test_an_empty_plot_takes_clicks_calmly(plot, qtbot):
    plot.set_profile(None)
    with qtbot.assertNotEmitted(plot.slice_requested):
        click(qtbot, plot, 0.5)


def test_what_nobody_sees_is_drawn_once_when_it_is_shown_and_again_in_other_colours(qtbot, monkeypatch):
    plot = ProfilePlot()
    qtbot.addWidget(plot)
    drawn, draw = [], plot._draw
    monkeypatch.setattr(plot, "_draw", lambda: drawn.append(draw()))
    counts = np.arange(10, dtype=np.int64)
    for region in ("liver", "spleen"):
        plot.set_profile(SliceProfile(counts, counts, counts // 2, 9.0), 0, region)
    assert (plot.title, drawn) == ("spleen, per slice", [])
    plot.show()
    for _ in range(3):
        QApplication.sendEvent(plot, QEvent(QEvent.Type.StyleChange))
    assert len(drawn) == 1
    assert plot.dice_axes.get_title(loc="left") == "spleen, per slice"
    palette = plot.palette()
    palette.setColor(QPalette.ColorRole.WindowText, QColor("#123456"))
    plot.setPalette(palette)
    assert len(drawn) == 2
    assert plot.dice_axes.lines[0].get_color() == "#123456"
