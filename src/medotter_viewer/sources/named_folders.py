"""The files and folders that a person names instead of a bundle."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from medotter_viewer.errors import ReadError, UsageError
from medotter_viewer.formats import registry

GT, PRED, IMAGE = "ground truth", "prediction", "image"


@dataclass(frozen=True, slots=True)
class Folders:
    """What a person names instead of a bundle; each a file, or a folder of files with equal names.

    Parameters
    ----------
    gt, pred, image : Path or None
        Ground truth, one model's predictions, images. Without ground truth cases are shown and not scored.
    labels : Path or None
        File ``{id: name}`` that names the regions.
    instances : bool
        Whether ids are names of single objects.
    series : str or None
        Which image series, where a folder of DICOM holds several.
    model_name : str or None
        None takes the name of the prediction's folder.
    pattern : str or None
        Template of the path of a prediction in its folder, instead of equal names; see `PredictionFolder`.

    Raises
    ------
    ReadError
        If something is not there.
    UsageError
        If nothing is named, `labels` beside `instances`, or `pattern` without ground truths and a folder for it.
    """

    gt: Path | None = None
    pred: Path | None = None
    image: Path | None = None
    labels: Path | None = None
    instances: bool = False
    series: str | None = None
    model_name: str | None = None
    pattern: str | None = None

    def __post_init__(self) -> None:
        if not self.parts:
            raise UsageError("name what to look at: --gt PATH, --pred PATH or --image PATH")
        for part, path in self.parts.items():
            if not registry.is_there(path):
                there = "is neither a file nor a folder" if path.exists() else "is not there"
                raise ReadError(f"{part}: {path} {there}; expected a file, or a folder of files")
        if self.instances and self.labels is not None:
            raise UsageError("--instances: ids are names of single objects; leave --labels out")
        if self.pattern is not None and (self.gt is None or self.pred is None or not self.pred.is_dir()):
            raise UsageError("--pattern finds the prediction of each ground truth: give --gt PATH and --pred FOLDER")

    @property
    def parts(self) -> dict[str, Path]:
        """What is named, by part; the first one says which cases there are."""
        named = {GT: self.gt, PRED: self.pred, IMAGE: self.image}
        return {part: path for part, path in named.items() if path is not None}

    @property
    def model(self) -> str | None:
        """Name of the model; None without predictions."""
        if self.pred is None:
            return None
        return self.model_name or (registry.stem(self.pred) if self.pred.is_file() else self.pred.resolve().name)
