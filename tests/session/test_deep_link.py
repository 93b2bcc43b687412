"""The command that opens a place, and what the command line makes of it."""

from __future__ import annotations

import shlex

import pytest

from medotter_viewer.cli.parser import build_parser
from medotter_viewer.errors import UsageError
from medotter_viewer.session.deep_link import link_command, parse_position, position_text
from medotter_viewer.session.state_file import SavedView

# RAS+ 12.04, 33.5, -88 is LPS -12.04, -33.5, -88
VIEW = SavedView((12.04, 33.5, -88.0), "coronal", 3.0)


def test_the_command_line_reads_back_what_was_written() -> None:
    source = {
        "target": "/data/my bundle",
        "predictions": "/data/it's",
        "pattern": "{dataset}/{stem}_pred.nii.gz",
        "resample_prediction": True,
        "instances": False,
        "remap": None,
    }
    text = link_command(source, split="test", case_id="A/1 b", region="left lung", view=VIEW)
    words = shlex.split(text)
    assert words[0] == "medotter-viewer"
    options = build_parser().parse_args(words[1:])
    assert (options.target, options.predictions) == ("/data/my bundle", "/data/it's")
    assert options.pattern == "{dataset}/{stem}_pred.nii.gz"
    assert options.resample_prediction
    assert (options.split, options.case, options.region) == ("test", "A/1 b", "left lung")
    assert parse_position(options.position) == (12.0, 33.5, -88.0)
    assert options.plane == "coronal"


def test_names_that_look_like_options_are_values() -> None:
    options = build_parser().parse_args(shlex.split(link_command({"target": "t"}, case_id="-1", region="--all"))[1:])
    assert (options.case, options.region) == ("-1", "--all")


def test_without_a_world_there_is_no_position() -> None:
    text = link_command({"target": "t"}, case_id="a", view=SavedView(None, "axial", 1.0, (1.0, 2.0, 0.0)))
    assert text == "medotter-viewer open t --case a"


def test_positions_are_lps_to_a_tenth_of_a_mm_and_never_minus_nought() -> None:
    assert position_text((12.04, -33.55, 88.0)) == "-12.0,33.5,88.0"
    assert position_text((0.04, 0.0, -0.01)) == "0.0,0.0,0.0"


@pytest.mark.parametrize("text", ["1,2", "1,2,3,4", "a,b,c", "1,2,nan", "1,2,inf", "", "1e300,0,0"])
def test_what_is_no_position_is_said_with_an_example(text: str) -> None:
    with pytest.raises(UsageError, match="X,Y,Z in mm LPS"):
        parse_position(text)
