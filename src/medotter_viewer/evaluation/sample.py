"""What `score` and `evaluate` take in: samples, predictors, and the arrays of both, checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from medotter_viewer.core.labels import IntArray, smallest_label_dtype
from medotter_viewer.errors import LabelError, MetricInputError, UsageError
from medotter_viewer.metrics.surface import check_spacing

_LARGEST_ID = (1 << 63) - 1


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """One image and its ground truth; any object with these attributes can stand for it.

    Parameters
    ----------
    image : ndarray or None
        What a predictor gets: one image, or several channels stacked along a first axis. Scoring does not need it.
    label : ndarray of int
        Ground truth, one id per voxel (or pixel), any number of axes.
    spacing : sequence of float or None
        mm per step along each axis of `label`, in axis order; None where it is unknown: distances are in voxels.
    meta : mapping
        ``case_id`` and ``slice_idx`` make the key (see `sample_key`). ``labelled_ids``, a collection of ids, says
        which classes this sample annotates at all, where it does not annotate all of them.

    Examples
    --------
    >>> sample = Sample(None, np.array([[0, 1]]), None, {"case_id": "A/1", "slice_idx": 7})
    >>> sample_key(sample, 0)
    'A/1#7'
    """

    image: NDArray[Any] | None
    label: ArrayLike
    spacing: Sequence[float] | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)


@runtime_checkable
class Predictor(Protocol):
    """Anything with a method ``predict``; `evaluate` also takes a bare callable of image and spacing."""

    def predict(self, image: Any, spacing: Sequence[float] | None = None) -> ArrayLike:
        """Return the label map of an image: one id per voxel, of the shape of the sample's label.

        Parameters
        ----------
        image : ndarray
            `Sample.image`.
        spacing : sequence of float or None
            `Sample.spacing`.
        """
        ...


def sample_key(sample: Sample, index: int) -> str:
    """Return the key of a sample's prediction.

    ``"<case_id>#<slice_idx>"`` where meta has both, ``case_id`` alone where there is no ``slice_idx``, else the place
    of the sample in the dataset, from 0. A value of None counts as absent.
    """
    meta = getattr(sample, "meta", None) or {}
    case_id, slice_idx = meta.get("case_id"), meta.get("slice_idx")
    if case_id is None:
        return str(index)
    return str(case_id) if slice_idx is None else f"{case_id}#{slice_idx}"


def predict(model: Any, sample: Sample, key: str) -> Any:
    """Return what a model predicts for a sample: ``predict(image, spacing=...)``, or a call with both by place.

    Raises
    ------
    UsageError
        If the sample has no image.
    """
    if sample.image is None:
        raise UsageError(f"sample {key!r}: got no image, expected one for the model to predict from")
    if isinstance(model, Predictor):
        return model.predict(sample.image, spacing=sample.spacing)
    return model(sample.image, sample.spacing)


def check_model(model: Any) -> None:
    """Raise UsageError unless a model can predict."""
    if isinstance(model, type):
        raise UsageError(f"model: got the class {model.__name__}, expected an object of it")
    if not isinstance(model, Predictor) and not callable(model):
        raise UsageError(
            f"model: got {type(model).__name__}, expected an object with predict(image, spacing=None), or a callable "
            "of image and spacing"
        )


def arrays_of(sample: Sample, pred: Any, key: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return ground truth and prediction of a sample as arrays of one shape.

    Raises
    ------
    MetricInputError
        If one is no array, or the shapes differ; nothing is broadcast and no axis of length 1 is dropped.
    UsageError
        If the sample has no label.
    """
    if getattr(sample, "label", None) is None:
        raise UsageError(f"sample {key!r}: got {type(sample).__name__} without a label, expected image and label")
    gt, found = _array(sample.label, f"label of sample {key!r}"), _array(pred, f"prediction for {key!r}")
    if gt.shape != found.shape:
        raise MetricInputError(
            f"prediction for {key!r}: got shape {found.shape}, expected {gt.shape} as the label's; nothing is broadcast"
        )
    return gt, found


def steps_of(sample: Sample, ndim: int, key: str, *, measured: bool) -> NDArray[np.float64] | None:
    """Return mm per step along each axis of a sample's label, or None where it has no spacing.

    Parameters
    ----------
    measured : bool
        Whether distances are asked for: only then does the number of axes matter.

    Raises
    ------
    MetricInputError
        If a spacing is not positive and finite, or not one for each axis.
    """
    spacing = getattr(sample, "spacing", None)
    if spacing is None:
        return None
    try:
        steps = np.asarray(spacing, dtype=np.float64)
        return check_spacing(steps.tolist(), ndim if measured else steps.size)
    except (TypeError, ValueError) as error:
        message = f"sample {key!r}: spacing: got {spacing!r}, expected {ndim} positive numbers of mm in axis order"
        raise MetricInputError(message) from error


def whole_ids(array: NDArray[Any], where: str) -> IntArray:
    """Return an array of label ids as integers: booleans are 0 and 1, floats must be whole.

    Raises
    ------
    LabelError
        If a value is negative, fractional, not finite or beyond 64 bits, or the type holds no numbers.
    """
    kind = array.dtype.kind
    if kind == "b":
        return array.astype(np.uint8)
    if kind not in "iuf":
        raise LabelError(f"{where}: got values of type {array.dtype}, expected whole ids")
    if array.size == 0:
        return array.astype(np.uint8)
    if kind == "f":
        fractional = array[~(np.isfinite(array) & (np.rint(array) == array))]
        if fractional.size:
            raise LabelError(
                f"{where}: got {fractional.size} values that are no ids, such as {float(fractional[0]):g}, expected "
                "whole numbers; round or threshold them first"
            )
    low, high = array.min(), array.max()
    if low < 0:
        raise LabelError(f"{where}: got negative ids, down to {int(low)}; ids start at 0")
    if int(high) > _LARGEST_ID:
        raise LabelError(f"{where}: got id {int(high)}, expected at most {_LARGEST_ID}")
    return array.astype(smallest_label_dtype(0, int(high))) if kind == "f" or array.dtype.itemsize == 8 else array


def _array(value: Any, what: str) -> NDArray[Any]:
    try:
        array = np.asarray(value)
    except (TypeError, ValueError) as error:
        raise MetricInputError(f"{what}: got {type(value).__name__}, expected an array: {error}") from error
    if array.ndim == 0:
        raise MetricInputError(f"{what}: got {type(value).__name__}, expected an array of ids")
    return array
