"""Volumes as text: one unit for a whole table, named in its headers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

_LARGE_MM3 = 100_000.0


@dataclass(frozen=True, slots=True)
class VolumeUnit:
    """A unit of volume.

    Parameters
    ----------
    name : str
        ``mm³`` or ``cm³``.
    mm3 : float
        Its size.
    decimals : int
        Digits after the point.
    """

    name: str
    mm3: float
    decimals: int

    def text(self, volume_mm3: float) -> str:
        """Return a volume without its unit; something that would be rounded to nothing is shown as ``<``.

        Examples
        --------
        >>> MM3.text(9452.0), CM3.text(1_043_210.0), CM3.text(3.0), CM3.text(0.0)
        ('9,452', '1,043.2', '<0.1', '0.0')
        """
        amount, least = volume_mm3 / self.mm3, 10.0**-self.decimals
        if 0 < amount < least / 2:
            return f"<{least:g}"
        return f"{amount:,.{self.decimals}f}"


MM3 = VolumeUnit("mm³", 1.0, 0)
CM3 = VolumeUnit("cm³", 1000.0, 1)


def unit_for(volumes_mm3: Iterable[float]) -> VolumeUnit:
    """Return the unit for a table: cm³ when its largest volume is 100 cm³ or more.

    Examples
    --------
    >>> unit_for([9452.0, 20.0]).name, unit_for([1_043_210.0, 20.0]).name, unit_for([]).name
    ('mm³', 'cm³', 'mm³')
    """
    return CM3 if max(volumes_mm3, default=0.0) >= _LARGE_MM3 else MM3
