"""Score predictions, or a model, on a dataset: two functions with the interface of the benchmark SDK.

Keys, errors and the empty rule are the SDK's; the numbers are those of the metrics and of `scoring.empty`. Nothing
is read here: samples bring their arrays.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from medotter_viewer.engine.choice import get_ready
from medotter_viewer.errors import CaseNotFoundError, MissingDependencyError, UsageError
from medotter_viewer.evaluation.datasets import BundleSample, BundleSamples, load_dataset
from medotter_viewer.evaluation.measure import Run, checked_metrics
from medotter_viewer.evaluation.sample import Predictor, Sample, check_model, predict
from medotter_viewer.evaluation.schema import ClassTable, Labels, LabelSchema
from medotter_viewer.evaluation.score_report import ScoreReport
from medotter_viewer.sources.bundle import Bundle


def score(
    predictions: Mapping[str, ArrayLike],
    dataset: Iterable[Sample] | str | os.PathLike[str] | Bundle,
    *,
    metrics: Sequence[str] = ("dice", "iou"),
    labels: Labels | None = None,
    schema: LabelSchema | None = None,
    per_case: bool = False,
    present_only: bool = False,
) -> ScoreReport:
    """Return the scores of predictions on a dataset.

    Parameters
    ----------
    predictions : mapping of str to ndarray of int
        Label map by sample key: ``"<case_id>#<slice_idx>"``, ``"<case_id>"``, or the sample's place from ``"0"``.
    dataset : iterable of Sample
        Gone through once. A bundle folder or a registered name stands for its test split. Its attributes ``labels``
        or ``schema`` name the classes where the caller does not.
    metrics : sequence of {"dice", "iou", "hd95"}
        Which, in order.
    labels : list of str, or mapping of int to str, optional
        Scored classes. Place 0 of a list is the background; a mapping that names 0 makes it a class. By default those
        of the dataset, else every id but 0 that occurs in the ground truth.
    schema : LabelSchema, optional
        Instead of `labels`: classes, background and ignored ids; no other id may occur.
    per_case : bool
        Whether the report holds the value of every case.
    present_only : bool
        Whether a class is averaged only over the cases whose ground truth has it.

    Returns
    -------
    ScoreReport
        Over an empty dataset every value is None. A class empty in ground truth and prediction of a case counts
        there as dice and iou 1, hd95 0; one empty on one side as dice and iou 0, hd95 the diagonal of the array.

    Raises
    ------
    MissingDependencyError
        If scipy is not installed, whatever the metrics; it is also an ImportError.
    UsageError
        If an argument cannot be used, a key occurs twice, or there are more predictions than samples.
    CaseNotFoundError
        If a sample has no prediction; it is also a KeyError.
    MetricInputError
        If shapes differ (nothing is broadcast) or a spacing is not positive and finite.
    LabelError
        If ids are negative, fractional, or a prediction's are outside the classes (with `schema`: any).

    Notes
    -----
    Of several faults the first of these is raised: argument, key twice, no prediction, too many predictions, shape or
    spacing, ids; of one kind the first in the dataset. Errors other than the first and the third are ValueErrors.

    Voxels whose ground truth is an ignored id are left out of both sides. Other ground-truth ids without a class are
    background (with `schema`: an error). hd95 is the larger of the 95th percentiles of both directions, in mm by the
    sample's spacing; without one in voxels, and the report says so.

    Examples
    --------
    >>> import numpy as np
    >>> truth = [np.array([1, 1, 2, 0]), np.array([1, 1, 0, 0]), np.zeros(4, dtype=int)]
    >>> guess = [np.array([1, 0, 2, 0]), np.array([1, 1, 0, 2]), np.zeros(4, dtype=int)]
    >>> samples = [Sample(None, label) for label in truth]
    >>> report = score({str(i): g for i, g in enumerate(guess)}, samples)
    >>> print(report)
    3 cases, means over all cases
    class                   support   dice    iou
    ---------------------------------------------
    1                             2  0.889  0.833
    2                             1  0.667  0.667
    macro (2 of 2 classes)        –  0.778  0.750
    """
    _need_scipy()
    run = Run(checked_metrics(metrics), ClassTable.of(labels, schema))
    given: Any = predictions
    samples: Any = dataset
    if not isinstance(given, Mapping):
        raise UsageError(f"predictions: got {type(given).__name__}, expected a mapping of sample key to label map")
    if isinstance(dataset, str | os.PathLike | Bundle):
        samples = load_dataset(dataset, images=False)
    run = run.on(samples)

    def find(key: str, _: Any) -> Any:
        if key not in given:
            keys = ", ".join(map(repr, list(given)[:5])) or "none"
            raise CaseNotFoundError(f"sample {key!r}: got no prediction of this key, expected one; keys are {keys}")
        return given[key]

    get_ready()
    cases = run.measure(samples, find, given=given)
    return run.report(cases, per_case=per_case, present_only=present_only)


def evaluate(
    model: Predictor | Callable[..., ArrayLike] | None,
    name: str | os.PathLike[str] | Bundle,
    *,
    split: str = "test",
    type: str = "image",  # noqa: A002 (part of the interface)
    metrics: Sequence[str] = ("dice", "iou"),
    labels: Labels | None = None,
    schema: LabelSchema | None = None,
    per_case: bool = False,
    present_only: bool = False,
    **load_kwargs: Any,
) -> ScoreReport:
    """Return the scores of a model on a dataset; samples are predicted and let go one after the other.

    Parameters
    ----------
    model : Predictor, callable or None
        With ``predict(image, spacing=None)``, or called as ``model(image, spacing)``. It returns a label map of the
        label's shape, of a bundle in canonical ids. None scores the files of the option ``predictions`` of a bundle.
    name : str or path
        Bundle folder, or a dataset registered under the entry points ``medotter_viewer.datasets``.
    split, type
        Which samples; a bundle has ``test``, ``train`` and ``all``, and the type ``image``.
    metrics, labels, schema, per_case, present_only
        As for `score`.
    **load_kwargs
        For the dataset; of a bundle ``data_root`` and ``predictions``, a folder, which stands for the model.

    Raises
    ------
    MissingDependencyError, UsageError, CaseNotFoundError, MetricInputError, LabelError
        As for `score`, but what is wrong with a sample is raised when it is reached; also UsageError for a model that
        cannot predict, a name that nothing has, or an option that is not known.
    BundleNotFoundError, BundleError, ReadError, GridMismatchError, UnsupportedTaskError
        If the bundle, or a file of one of its cases, cannot be used.
    """
    _need_scipy()
    run = Run(checked_metrics(metrics), ClassTable.of(labels, schema))
    if model is not None:
        check_model(model)
    samples = load_dataset(name, split=split, type=type, images=model is not None, **load_kwargs)
    stored = load_kwargs.get("predictions") is not None and isinstance(samples, BundleSamples)
    if stored == (model is not None):
        got = "got both" if stored else "got neither"
        raise UsageError(f"model and predictions: {got}, expected a model, or the option predictions of a bundle")

    def find(key: str, sample: Any) -> Any:
        if model is not None:
            return predict(model, sample, key)
        if not isinstance(sample, BundleSample) or sample.pred is None:
            raise CaseNotFoundError(
                f"sample {key!r}: got no prediction file, expected one in {load_kwargs['predictions']}"
            )
        return sample.pred

    run = run.on(samples)
    get_ready()
    return run.report(run.measure(samples, find), per_case=per_case, present_only=present_only)


def _need_scipy() -> None:
    """Fail at the first call and not only where distances are asked for."""
    try:
        import scipy.spatial  # noqa: F401
    except ImportError as error:
        raise MissingDependencyError("score() and evaluate() need scipy: pip install scipy") from error
