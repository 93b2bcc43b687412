"""Every error this package raises on purpose.

Each class also derives from the built-in that a caller would already catch. A message says where (file, key,
case), what was got, what was expected and what to do next. Nothing here may import the rest of the package.
"""

from __future__ import annotations

_LONGEST, _ENDING = 1200, 200  # letters of a message, and of its end, which says what to do


class MedotterViewerError(Exception):
    """Any error that is about the user's input or environment, not about a defect of this package."""

    def __str__(self) -> str:
        """Return the message as written (KeyError would put it in quotes), without the middle of a very long one.

        A value out of a stranger's file may have any length; people read messages in one line of a terminal.
        """
        message = str(self.args[0]) if self.args else ""
        if len(message) <= _LONGEST:
            return message
        left_out = len(message) - _LONGEST
        return f"{message[: _LONGEST - _ENDING]} [... {left_out:,} letters ...] {message[-_ENDING:]}"


class BundleError(MedotterViewerError, ValueError):
    """A manifest, task.yaml, eval_spec.yaml or remap file says something that cannot be used."""


class BundleNotFoundError(MedotterViewerError, FileNotFoundError):
    """The folder holds no manifest_test.json."""


class CaseNotFoundError(MedotterViewerError, KeyError):
    """No case of that id."""


class RegionNotFoundError(MedotterViewerError, KeyError):
    """No region of that name."""


class ReadError(MedotterViewerError, OSError):
    """A file is missing, damaged, or not of the format it claims."""


class WriteError(MedotterViewerError, OSError):
    """A file cannot be written, or would overwrite something that was not asked for."""


class LabelError(MedotterViewerError, ValueError):
    """Label ids are fractional, negative, or outside the label space."""


class GridMismatchError(MedotterViewerError, ValueError):
    """Two volumes do not lie on one grid."""


class MetricInputError(MedotterViewerError, ValueError):
    """Arrays, spacing or options that no metric is defined for."""


class UnsafePathError(MedotterViewerError, ValueError):
    """A path from a data file that is absolute, climbs with `..`, or leaves its root through a link."""


class UnsupportedTaskError(MedotterViewerError, NotImplementedError):
    """A task type that no scoring adapter handles."""


class MissingDependencyError(MedotterViewerError, ImportError):
    """An optional package is needed; the message names the extra."""


class MissingDisplayError(MedotterViewerError, RuntimeError):
    """A window was asked for, but there is no display."""


class UsageError(MedotterViewerError, ValueError):
    """A combination of options that makes no sense."""


class SavedReviewError(MedotterViewerError, ValueError):
    """A saved review is none, was saved on another bundle, or names what is not there."""


class PredictorError(MedotterViewerError, RuntimeError):
    """A model that was asked to predict failed, or gave what is no prediction."""


class WorkersError(MedotterViewerError, RuntimeError):
    """Processes or machines that were to score cases are not there, cannot start, or differ from this one."""
