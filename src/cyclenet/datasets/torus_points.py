"""Points on tori: the four families of clouds whose holes are to be found."""

from typing import Literal, get_args

import numpy as np
from jaxtyping import Float

Points = Float[np.ndarray, "n 3"]

Family = Literal["torus", "tori", "pinched_torus", "pinched_tori"]
FAMILIES: tuple[Family, ...] = get_args(Family)

# One torus alone: distance of the centre circle from the centre, radius of the tube, how far
# points are off, and what a pinched one has left of its tube where it is pinched.
_RADIUS, _TUBE, _NOISE, _SLACK = 2.0, 1.0, 0.2, 0.2

# Several: how many, first and last included, how much of the way to the nearest centre the two
# radii take up, and how far points are off.
_NUM_TORI = (2, 10)
_RADIUS_SHARE, _TUBE_SHARE, _SMALL_NOISE = 0.9, 0.3, 0.01

_FULL = 2 * np.pi


def torus_cloud(
    family: Family,
    num_points: int,
    rng: np.random.Generator,
    *,
    as_published: bool = False,
) -> Points:
    """A random cloud of a family.

    Several tori have their centres in the unit square. Each has so many points, of which those
    are kept that are on its own side of the plane halfway to the nearest other centre.

    Args:
        family: One of `FAMILIES`: one torus or 2 to 10 of them, whole or pinched.
        num_points: Points on each torus.
        rng: Where randomness comes from.
        as_published: Repeat two slips of the published generator: all tori of a cloud have the
            first one's radius, however near their neighbours are, and ``"tori"`` are pinched too.

    Returns:
        The points. In the plane, leave out the third coordinate.

    Raises:
        ValueError: If there is no such family.

    Example:
        >>> torus_cloud("pinched_torus", 5, np.random.default_rng(0)).shape
        (5, 3)
    """
    match family:
        case "torus":
            return _torus(num_points, _RADIUS, _TUBE, _NOISE, rng)
        case "pinched_torus":
            return _pinched_torus(num_points, _RADIUS, _TUBE, _SLACK, rng)
        case "tori" | "pinched_tori":
            pinched = as_published or family == "pinched_tori"
            return _several(num_points, rng, pinched=pinched, one_radius=as_published)
        case _:
            raise ValueError(f"`family` must be one of {FAMILIES}, but it is {family!r}")


def _torus(
    num_points: int, radius: float, tube: float, noise: float, rng: np.random.Generator
) -> Points:
    along, around = rng.uniform(0, _FULL, size=(2, num_points))
    away = radius + tube * np.cos(around)
    points = np.stack((away * np.cos(along), away * np.sin(along), tube * np.sin(around)), axis=1)
    return points + noise * rng.standard_normal(points.shape)


def _pinched_torus(
    num_points: int, radius: float, tube: float, slack: float, rng: np.random.Generator
) -> Points:
    """A torus whose tube is thin at one place."""
    along, around = rng.uniform(0, _FULL, size=(2, num_points))
    width = np.sin(along / 2) + slack
    away = radius + width * tube * np.cos(around)
    height = width * tube * np.sin(around)
    return np.stack((away * np.cos(along), away * np.sin(along), height), axis=1)


def _several(
    num_points: int, rng: np.random.Generator, *, pinched: bool, one_radius: bool
) -> Points:
    least, most = _NUM_TORI
    count = int(rng.integers(least, most + 1))
    centres = np.zeros((count, 3))
    centres[:, :2] = rng.uniform(size=(count, 2))
    distance = np.linalg.norm(centres[:, None] - centres[None], axis=2)
    np.fill_diagonal(distance, np.inf)
    clouds = []
    radius = _RADIUS_SHARE * distance[0].min() / 2
    for centre, away in zip(centres, distance, strict=True):
        nearest = int(np.argmin(away))
        if not one_radius:
            radius = _RADIUS_SHARE * away[nearest] / 2
        tube = min(_TUBE_SHARE * away[nearest] / 2, radius)
        if pinched:
            cloud = centre + _pinched_torus(num_points, radius, tube, tube / 2, rng)
        else:
            cloud = centre + _torus(num_points, radius, tube, _SMALL_NOISE, rng)
        towards = centres[nearest] - centre
        clouds.append(cloud[(cloud - centre) @ towards < away[nearest] ** 2 / 2])
    return np.concatenate(clouds)
