"""Commands and options, each defined once."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from medotter_viewer import __version__
from medotter_viewer.core.contours import OVERLAPS
from medotter_viewer.core.landmarks import CANDIDATES
from medotter_viewer.core.spec import HD95_NAMES

Run = Callable[[argparse.Namespace], int]


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands; each sets `run`, which imports what it needs when called."""
    parser = argparse.ArgumentParser(
        prog="medotter-viewer",
        description="Inspect medical image segmentations: ground truth after its label remap against a prediction.",
        epilog="Exit status: 0 good, 1 something failed or is incomplete, 2 wrong usage.",
    )
    parser.add_argument("--version", action="version", version=f"medotter-viewer {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    one = _command(commands, "open", "open cases in the viewer", _open)
    _target(one, " (without either: an empty viewer)")
    _source(one)
    one.add_argument("--case", metavar="ID", help="case to open first (default: the first of the split)")
    one.add_argument("--region", metavar="NAME", help="region to look at alone")
    one.add_argument("--second", metavar="DIR", type=Path, help="another model's predictions, shown beside the first")
    one.add_argument("--second-name", metavar="NAME", help="what to call that model (default: the folder's name)")
    one.add_argument(
        "--position",
        metavar="X,Y,Z",
        help="place to show, in mm LPS as the window's read-out has it; write --position=-12.0,33.5,88.0",
    )
    one.add_argument("--plane", choices=("axial", "coronal", "sagittal"), help="slice through it (default: axial)")
    one.add_argument("--session", metavar="FILE", help="take up a saved review; what is given beside it wins")
    one.add_argument("--force-session", action="store_true", help="even if its bundle has another hash than was saved")
    one.add_argument(
        "--predictor",
        metavar="PKG.MOD:OBJ",
        help="model that predicts the open case on request: an object with predict(image, spacing=None), or a callable",
    )
    one.add_argument("--screenshot", metavar="FILE", help="write a picture of the window and leave")

    one = _command(commands, "cases", "list cases, their files and what is missing", _cases)
    _target(one)
    _source(one)
    _json(one)

    one = _command(commands, "score", "score a model's predictions", _score)
    _target(one)
    _source(one)
    one.add_argument("--case", metavar="ID", action="append", help="score only this case; repeatable")
    one.add_argument("--metrics", metavar="A,B", help="metrics to compute (default: the specification's)")
    _hd95(one)
    one.add_argument(
        "--missing",
        choices=("skip", "empty"),
        default="skip",
        help="leave cases without prediction out (default), or score them as empty",
    )
    where = one.add_mutually_exclusive_group()
    where.add_argument(
        "--workers",
        metavar="N",
        type=_positive,
        help="processes that score beside each other and are replaced when one dies (default: none but this one)",
    )
    where.add_argument("--scheduler", metavar="ADDRESS", help="dask scheduler to work on, e.g. tcp://host:8786")
    one.add_argument("--no-cache", action="store_true", help="compute everything anew and remember nothing")
    one.add_argument("--csv", metavar="FILE", type=Path, help="write one line for each case, region and metric")
    _json(one)

    one = _command(commands, "compare", "score one prediction against one ground truth", _compare)
    one.add_argument("gt", metavar="GT", type=Path)
    one.add_argument("pred", metavar="PRED", type=Path)
    one.add_argument("--image", metavar="FILE", type=Path, help="image of the same case, checked for its position")
    _series(one)
    one.add_argument("--labels", metavar="FILE", type=Path, help="YAML or JSON {id: name}; names the regions")
    one.add_argument("--remap", metavar="FILE", help="YAML or JSON {native: canonical}, applied to GT")
    one.add_argument("--resample-prediction", action="store_true", help="bring PRED onto GT's grid if they differ")
    one.add_argument("--instances", action="store_true", help="ids name single objects: F1, PQ and AJI (IoU > 0.5)")
    _hd95(one)
    _json(one)

    one = _command(commands, "remap-audit", "show what the label remap does to the ids that occur", _remap_audit)
    one.add_argument("target", metavar="BUNDLE", help="bundle folder")
    _source(one)
    which = one.add_mutually_exclusive_group()
    which.add_argument("--case", metavar="ID", help="only this case")
    which.add_argument("--all", action="store_true", help="cases of both splits")
    one.add_argument("--strict", action="store_true", help="fail when an id is neither mapped nor listed as dropped")
    one.add_argument("--csv", metavar="FILE", type=Path, help="write one line for each dataset and native id")
    trial = one.add_argument_group("what if", "scores after a change, from what 'score' remembers; nothing is saved")
    trial.add_argument(
        "--what-if",
        metavar="CHANGE",
        action="append",
        help="DATASET:NATIVE=CANONICAL[,NATIVE=CANONICAL...], CANONICAL an id, drop or unlist; or a YAML file with "
        "label_remap, per_case or eval_regions; repeatable",
    )
    trial.add_argument("--compute", action="store_true", help="score and measure what is not remembered")
    _hd95(trial)
    _json(one)

    one = _command(commands, "info", "show what a file or folder is", _info)
    one.add_argument("path", metavar="PATH", type=Path)
    _series(one)
    _json(one)

    one = _command(commands, "check", "look for what is wrong, without scoring", _check)
    _target(one)
    _source(one)
    _json(one)

    one = _command(commands, "landmarks", "compare labelled points of vertebrae, e.g. VerSe centroid files", _landmarks)
    one.add_argument("gt", metavar="GT", type=Path, help="JSON of points, or a mask: then its vertebrae's centres")
    one.add_argument("pred", metavar="PRED", type=Path, help="the same of the prediction")
    one.add_argument("--image", metavar="NIFTI", type=Path, help="image (or mask) whose voxels the coordinates count")
    one.add_argument("--centroid-layout", choices=("miccai19", "miccai20"), help="what a file without 'direction' is")
    one.add_argument("--max-distance", metavar="MM", type=_length, default=20.0, help="of a hit, in mm (default: 20)")
    one.add_argument(
        "--candidates",
        choices=CANDIDATES,
        default="all_gt",
        help="which vertebrae compete: all of GT, and less than the distance (default), or those in both, at most",
    )
    _json(one)

    one = _command(commands, "agreement", "say how far the verdicts of two readers agree", _agreement)
    one.add_argument("first", metavar="A.jsonl", type=Path, help="file of verdicts (.reviews.jsonl) of one reader")
    one.add_argument("second", metavar="B.jsonl", type=Path, help="that of the other one")
    one.add_argument("--force", action="store_true", help="compare verdicts on other targets, hashes or models, too")
    one.add_argument("--csv", metavar="FILE", type=Path, help="write one line for each case")
    _json(one)

    group = commands.add_parser(
        "polygons", help="contours of tumours: check, score and write submissions"
    ).add_subparsers(dest="polygons_command", required=True, metavar="COMMAND")

    one = _command(group, "check", "say which lines of a submission of contours are malformed", _polygons_check)
    one.add_argument("submission", metavar="SUBMISSION", type=Path, help="CSV file, or zip with one")
    one.add_argument("--scans", metavar="DIR", type=Path, help="folder of the scans: their ids and slices are checked")
    one.add_argument(
        "--contest-reader",
        action="store_true",
        help="accept what the contest's own reader accepts: one or two points, an odd last number, NaN",
    )
    _json(one)

    one = _command(group, "score", "score a submission of contours on a folder of scans", _polygons_score)
    one.add_argument(
        "submission",
        metavar="SUBMISSION",
        type=Path,
        help="CSV file, or zip with one, or its folder; or a folder with a label map, RTSTRUCT or SEG for each scan",
    )
    one.add_argument("--scans", metavar="DIR", type=Path, required=True, help="a scan, or the folder of several")
    one.add_argument("--target", metavar="NAME", help="type of the dictionary, or name (default: radiomics_gtv)")
    one.add_argument("--structures", metavar="FILE", type=Path, help="dictionary (default: structure_dict.dat of DIR)")
    one.add_argument(
        "--overlap",
        choices=OVERLAPS,
        default="union",
        help="rings of a side are united (default), summed, or united where both sides have some",
    )
    one.add_argument("--skip-empty-truth", action="store_true", help="leave scans without target out of the mean")
    _json(one)

    one = _command(
        group, "export", "write predictions as a submission of contours, or as an RTSTRUCT", _polygons_export
    )
    _target(one)
    _source(one)
    one.add_argument(
        "--out",
        metavar="FILE.csv|FILE.dcm",
        type=Path,
        required=True,
        help="beside FILE.csv its table FILE.scores.csv is written; FILE.dcm is an RTSTRUCT of one case",
    )
    one.add_argument("--case", metavar="ID", action="append", help="write only this case; repeatable")
    one.add_argument("--region", metavar="NAME", help="region to write (default: the only one; FILE.dcm: all)")
    one.add_argument("--zip", action="store_true", help="write FILE.zip too, with FILE.csv as its one member")
    one.add_argument("--generated-only", action="store_true", help="leave out polygons that a person edited")
    _json(one)
    return parser


def _command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], name: str, purpose: str, run: Run
) -> argparse.ArgumentParser:
    one = commands.add_parser(name, help=purpose, description=purpose[0].upper() + purpose[1:] + ".")
    one.set_defaults(run=run)
    return one


def _target(parser: argparse.ArgumentParser, otherwise: str = "") -> None:
    """What holds cases: a target, or files and folders instead of one."""
    parser.add_argument(
        "target",
        nargs="?",
        metavar="TARGET",
        help="bundle folder, scans with contours, dataset folder of nnU-Net, or scans of VerSe; or give --gt instead"
        + otherwise,
    )
    group = parser.add_argument_group("instead of TARGET", "files, or folders of files with equal names")
    group.add_argument("--gt", metavar="PATH", help="ground truths: each is a case, called as its file without suffix")
    group.add_argument("--pred", metavar="PATH", help="one model's predictions (here in place of --predictions)")
    group.add_argument("--image", metavar="PATH", help="images; <case>_0000, <case>_0001, ... are channels of a case")
    group.add_argument(
        "--labels", metavar="FILE", help="YAML or JSON {id: name}: the regions (default: every id is one)"
    )
    group.add_argument("--instances", action="store_true", help="ids are names of single objects: F1, PQ and AJI")
    _series(group)


def _source(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("source")
    group.add_argument(
        "--predictions", metavar="DIR", help="folder of one model's predictions for TARGET: <case_id><suffix>"
    )
    group.add_argument("--model-name", metavar="NAME", help="what to call the model (default: the folder's name)")
    group.add_argument(
        "--data-root",
        metavar="DIR",
        help="where the manifest's paths start (default: $MEDOTTER_VIEWER_DATA_ROOT, then data/ beside the bundle "
        "folder, then the bundle folder)",
    )
    group.add_argument(
        "--split", choices=("test", "train", "all"), default=None, help="which cases (default: test; the window: all)"
    )
    group.add_argument(
        "--pattern",
        metavar="TEMPLATE",
        help="path of a prediction below --predictions or --pred, e.g. {dataset}/{stem}_pred.nii.gz",
    )
    group.add_argument(
        "--remap", metavar="FILE|identity", help="label remap that replaces the bundle's own, recorded in the output"
    )
    group.add_argument(
        "--resample-prediction",
        action="store_true",
        help="bring a prediction on another grid onto the ground truth's by nearest neighbour, and say so",
    )


def _series(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    parser.add_argument(
        "--series",
        metavar="WHICH",
        help="image series of a DICOM folder that holds several: its number, description, or UID (or the end of it)",
    )


def _hd95(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    parser.add_argument(
        "--hd95",
        choices=HD95_NAMES,
        default="directed_max",
        metavar="NAME",
        help=f"which 95th percentile Hausdorff distance: {', '.join(HD95_NAMES)} (default: directed_max)",
    )


def _json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", metavar="FILE|-", help="write the result as JSON; - writes it to standard output")


def _positive(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not int(text):
        raise argparse.ArgumentTypeError(f"got {text!r}, expected a whole number of 1 or more")
    return int(text)


def _length(text: str) -> float:
    number = float(text)
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError("expected a positive number of mm")
    return number


def _open(options: argparse.Namespace) -> int:
    from medotter_viewer.cli.open import run

    return run(options)


def _cases(options: argparse.Namespace) -> int:
    from medotter_viewer.cli.cases import run

    return run(options)


def _score(options: argparse.Namespace) -> int:
    from medotter_viewer.cli.score import run

    return run(options)


def _compare(options: argparse.Namespace) -> int:
    from medotter_viewer.cli.compare import run

    return run(options)


def _remap_audit(options: argparse.Namespace) -> int:
    from medotter_viewer.cli.remap_audit import run

    return run(options)


def _info(options: argparse.Namespace) -> int:
    from medotter_viewer.cli.info import run

    return run(options)


def _check(options: argparse.Namespace) -> int:
    from medotter_viewer.cli.check import run

    return run(options)


def _landmarks(options: argparse.Namespace) -> int:
    from medotter_viewer.cli.landmarks import run

    return run(options)


def _agreement(options: argparse.Namespace) -> int:
    from medotter_viewer.cli.agreement import run

    return run(options)


def _polygons_check(options: argparse.Namespace) -> int:
    from medotter_viewer.cli.polygons import run

    return run(options)


def _polygons_export(options: argparse.Namespace) -> int:
    from medotter_viewer.cli.polygons_export import run

    return run(options)


def _polygons_score(options: argparse.Namespace) -> int:
    from medotter_viewer.cli.polygons_score import run

    return run(options)
