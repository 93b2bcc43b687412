"""What is scored and by which rules: typed views of eval_spec.yaml and task.yaml."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from medotter_viewer.core.contours import ContourRules
from medotter_viewer.core.key_reader import KeyReader, is_number, to_id
from medotter_viewer.core.labels import Remap
from medotter_viewer.core.landmarks import LandmarkRules
from medotter_viewer.errors import BundleError, RegionNotFoundError

Hd95Name = Literal["directed_max", "pooled", "mean", "surfel"]
HD95_NAMES: tuple[Hd95Name, ...] = ("directed_max", "pooled", "mean", "surfel")
INSTANCE_TASKS = ("instance_seg_2d", "instance_seg_3d")
"""Task types whose label ids are names of single objects."""
EMPTY_SITUATIONS = ("both_empty", "gt_nonempty_pred_empty", "gt_empty_pred_nonempty")
MACRO = "macro_avg"
"""Name of the mean over regions where a region name is expected."""


@dataclass(frozen=True, slots=True)
class Headline:
    """The number a leaderboard shows: one metric of one region (or of ``macro_avg``), perhaps of one tier."""

    region: str
    metric: str
    tier: str | None = None


@dataclass(frozen=True, slots=True)
class EvalSpec:
    """How cases are scored.

    Parameters
    ----------
    task_type : str
        ``seg`` where the file says nothing.
    regions : mapping of str to tuple of int
        Region name to canonical ids; the union of the ids is one mask.
    metrics : tuple of str
        Names in the file's order.
    partial_label : bool
        Whether a dataset may annotate only some regions.
    hd95_percentile : float
        95 unless the file says otherwise.
    hd95_spacing : tuple of float or None
        Fixed mm per step in file-axis order; None takes it from the file's header.
    empty_structure : mapping
        Metric to situation to value, for regions empty in gt, pred or both.
    label_space : frozenset of int or None
        Ids a prediction may hold; None where the file gives no list.
    unit : str
        ``patient`` averages the cases of one patient first.
    iou_threshold : float
        IoU that two objects must exceed to be a match, for instance tasks.
    headline : Headline
        What the leaderboard shows.
    landmarks : LandmarkRules or None
        Where labelled points are and when one is identified; None for tasks without points.
    contours : ContourRules or None
        Which contours are scored and how; None for tasks without contours.
    scale : float
        What the headline is multiplied by.
    raw : mapping
        The file as read.
    """

    task_type: str
    regions: Mapping[str, tuple[int, ...]]
    metrics: tuple[str, ...]
    headline: Headline
    partial_label: bool = False
    hd95_percentile: float = 95.0
    hd95_spacing: tuple[float, ...] | None = None
    empty_structure: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    label_space: frozenset[int] | None = None
    unit: str = "case"
    iou_threshold: float = 0.5
    reports: frozenset[str] = frozenset()
    landmarks: LandmarkRules | None = None
    contours: ContourRules | None = None
    scale: float = 1.0
    raw: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_vertebrae(self) -> bool:
        """Whether vertebrae are scored, whose points may follow from their masks."""
        return self.task_type == "vertebra"

    @property
    def is_instances(self) -> bool:
        """Whether label ids are names of single objects, not of structures."""
        return self.task_type in INSTANCE_TASKS

    def check_region(self, name: str | None) -> None:
        """Raise RegionNotFoundError for a name that is none of the regions; None is all of them."""
        if name is not None and name not in self.regions:
            raise RegionNotFoundError(
                f"no region {name!r}; regions are {', '.join(self.regions) or 'not named at all'}"
            )

    @classmethod
    def from_mapping(
        cls, raw: Mapping[str, Any], task: TaskSpec | None = None, *, where: str = "eval_spec.yaml"
    ) -> EvalSpec:
        """Return the typed view of a parsed eval_spec.yaml.

        Parameters
        ----------
        raw : mapping
            The parsed file.
        task : TaskSpec, optional
            Gives regions and main region where `raw` does not.
        where : str
            Name of the file, for messages.

        Raises
        ------
        BundleError
            If a key holds something unusable; the message names it.
        """
        read = KeyReader(raw, where)
        regions = read.regions("eval_regions") or (task.canonical_labels if task else {})
        task_type = read.word("task_type", "seg")
        metrics = tuple(read.words("metrics")) or _DEFAULT_METRICS.get(task_type, ("dice", "hd95"))
        hd95 = KeyReader(read.mapping("hd95"), f"{where}: hd95")
        aggregation = KeyReader(read.mapping("aggregation"), f"{where}: aggregation")
        chosen = KeyReader(aggregation.mapping("headline"), f"{where}: aggregation.headline")
        main = read.word("main_region", "") or (task.main_region if task else "") or MACRO
        headline = Headline(
            chosen.word("region", main), chosen.word("metric", metrics[0]), chosen.word("tier", "") or None
        )
        if regions and headline.region not in regions and headline.region != MACRO:
            raise BundleError(
                f"{where}: headline region {headline.region!r} is not one of {sorted(regions)} or {MACRO}"
            )
        prediction = KeyReader(read.mapping("prediction_format"), f"{where}: prediction_format")
        space = prediction.raw.get("label_space")
        if not isinstance(space, list | str | int | float | None):
            raise prediction.fail("label_space", "a list of ids, or a text that describes it")
        for reader, key, allowed in (
            (aggregation, "unit", _UNITS),
            (aggregation, "reduce", ("mean",)),
            (hd95, "unit", ("mm",)),
        ):
            if (word := reader.word(key, allowed[0])) not in allowed:
                raise reader.fail(key, " or ".join(allowed) + f", not {word!r}")
        empty_structure = _penalties(read, "empty_structure")
        if unknown := sorted(set(empty_structure) - set(_PENALISED)):
            raise BundleError(f"{where}: empty_structure: unknown metric {unknown}, expected {', '.join(_PENALISED)}")
        return cls(
            task_type=task_type,
            regions=regions,
            metrics=metrics,
            headline=headline,
            partial_label=read.flag("partial_label"),
            hd95_percentile=hd95.number("percentile", 95.0, low=0.0, high=100.0),
            hd95_spacing=hd95.spacing("spacing"),
            empty_structure=empty_structure,
            label_space=frozenset(prediction.ids("label_space")) if isinstance(space, list) else None,
            unit=aggregation.word("unit", "case"),
            iou_threshold=read.number("iou_threshold", 0.5, low=0.0, high=1.0),
            reports=frozenset(k.removeprefix("report_by_") for k, v in aggregation.raw.items() if v is True),
            landmarks=LandmarkRules.from_mapping(read.mapping("landmarks"), where=f"{where}: landmarks")
            if task_type == "vertebra" or raw.get("landmarks") is not None
            else None,
            contours=ContourRules.from_mapping(read.mapping("lung_contour"), where=f"{where}: lung_contour")
            if task_type == "lung_contour"
            else None,
            scale=aggregation.number("scale", 1.0, low=1e-9, high=1e9),
            raw=raw,
        )


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """What a task is about, and what each dataset's native ids mean.

    Parameters
    ----------
    identity : mapping
        The block ``task``: id, name, modality, anatomy, description.
    canonical_labels : mapping of str to tuple of int
        Region to canonical ids.
    main_region : str
        A region or ``macro_avg``; empty where the file says nothing.
    remaps : mapping of str to Remap or None
        By dataset; None when the file has no ``label_remap`` at all: every dataset is canonical already.
    notes : mapping of str to str
        The documentary ``note`` of each dataset.
    """

    identity: Mapping[str, Any]
    canonical_labels: Mapping[str, tuple[int, ...]]
    main_region: str = ""
    remaps: Mapping[str, Remap] | None = None
    notes: Mapping[str, str] = field(default_factory=dict)
    raw: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_mapping(cls, raw: Mapping[str, Any], *, where: str = "task.yaml") -> TaskSpec:
        """Return the typed view of a parsed task.yaml.

        Raises
        ------
        BundleError
            If a key holds something unusable; the message names it.
        """
        read = KeyReader(raw, where)
        remaps: dict[str, Remap] | None = None
        notes: dict[str, str] = {}
        if raw.get("label_remap") is not None:
            remaps = {}
            for dataset, table in read.mapping("label_remap").items():
                place = f"{where}: label_remap.{dataset}"
                remaps[str(dataset)] = parse_remap(table, where=place)
                if isinstance(table, Mapping) and table.get("note") is not None:
                    notes[str(dataset)] = str(table["note"])
        return cls(
            identity=read.mapping("task"),
            canonical_labels=read.regions("canonical_labels"),
            main_region=read.word("main_region", ""),
            remaps=remaps,
            notes=notes,
            raw=raw,
        )

    def remap_of(self, dataset: str | None) -> Remap | None:
        """Return the remap of a dataset; None where a remap is needed but this dataset has none."""
        if self.remaps is None:
            return Remap(None, "none", "task.yaml has no label_remap: ids are canonical already")
        if dataset is not None and dataset in self.remaps:
            return self.remaps[dataset]
        documentary = bool(self.remaps) and all(r.form == "list" for r in self.remaps.values())
        return Remap(None, "list", "task.yaml: label_remap is documentary") if documentary else None


def parse_remap(table: Any, *, where: str, form: Literal["dict", "per_case", "user"] = "dict") -> Remap:
    """Return a remap from its parsed form.

    Parameters
    ----------
    table : mapping
        ``{native: canonical, note: ...}``, keys as numbers or as JSON's strings; or the documentary
        ``{native: [...], to: [...]}``, which gives the identity.
    where : str
        File and key, for messages.
    form : {"dict", "per_case", "user"}
        Where it comes from.

    Raises
    ------
    BundleError
        If it is neither, an id is no whole number, or an id is listed twice.
    """
    if not isinstance(table, Mapping):
        raise BundleError(f"{where}: got {table!r}, expected a map of native to canonical ids")
    if isinstance(table.get("native"), list | tuple) or isinstance(table.get("to"), list | tuple):
        return Remap(None, "list", f"{where} is documentary: data are canonical already")
    pairs: dict[int, int] = {}
    for key, value in table.items():
        if key == "note":
            continue
        native, canonical = (
            to_id(key, f"{where}: native id"),
            to_id(value, f"{where}: canonical id of {key!r}"),
        )
        if native in pairs:
            raise BundleError(f"{where}: native id {native} is listed twice; keep one")
        pairs[native] = canonical
    return Remap(pairs, form, where)


_UNITS = ("case", "patient", "image", "scan", "tile")  # all but the patient mean one case each
_LARGEST_PENALTY = 1e9
_PENALISED = (
    *("dice", "iou", "hd95", "hd", "f1", "dq", "sq", "pq", "aji", "aji_plus"),
    *("id_rate", "id_rate_official", "id_rate_all_gt", "d_mean", "scan_score"),
)
_DEFAULT_METRICS: Mapping[str, tuple[str, ...]] = {
    "seg": ("dice", "hd95"),
    "instance_seg_2d": ("f1", "aji", "pq"),
    "instance_seg_3d": ("f1", "aji", "pq"),
    "vertebra": ("dice", "hd95", "id_rate", "d_mean"),
    "lung_contour": ("scan_score",),
}


def _penalties(read: KeyReader, key: str) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for metric, table in read.mapping(key).items():
        if not isinstance(table, Mapping):
            raise BundleError(f"{read.where}: {key}.{metric}: got {table!r}, expected situation: value")
        for situation, value in table.items():
            if situation not in EMPTY_SITUATIONS:
                raise BundleError(
                    f"{read.where}: {key}.{metric}: unknown situation {situation!r}, expected one of "
                    f"{', '.join(EMPTY_SITUATIONS)}"
                )
            if not is_number(value) or abs(value) > _LARGEST_PENALTY:
                raise BundleError(
                    f"{read.where}: {key}.{metric}.{situation}: got {value!r}, expected a number up to 1e9"
                )
            found.setdefault(str(metric), {})[str(situation)] = float(value)
    return found
