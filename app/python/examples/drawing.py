"""What the examples draw their pictures with: NumPy alone."""

import pathlib

import hindcast as hc
import numpy as np

PAPER, INK = (24, 27, 32), (222, 226, 232)


def save(file, picture):
    pathlib.Path(file).write_bytes(hc.png(picture[..., :3]))
    print(f"{file}: {picture.shape[1]} x {picture.shape[0]}")


def beside(*pictures, gap=6):
    """Pictures of one height in a row."""
    between = np.full((pictures[0].shape[0], gap, 3), 255, np.uint8)
    row = [part for picture in pictures for part in (picture[..., :3], between)]
    return np.concatenate(row[:-1], axis=1)


def above(*pictures, gap=6):
    """The same, one below the other."""
    turned = [picture[..., :3].swapaxes(0, 1) for picture in pictures]
    return np.ascontiguousarray(beside(*turned, gap=gap).swapaxes(0, 1))


def smaller(picture, times):
    """The means of so many rows and columns: markers and lines become thinner."""
    height, width = picture.shape[0] // times, picture.shape[1] // times
    parts = picture[: height * times, : width * times, :3].reshape(height, times, width, times, 3)
    return parts.mean(axis=(1, 3)).round().astype(np.uint8)


def colors(values, low=None, high=None):
    """Numbers [height, width] as a picture, from dark blue over green to yellow."""
    low = np.min(values) if low is None else low
    high = np.max(values) if high is None else high
    stops = np.array([[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]])
    at = np.clip((values - low) / (high - low), 0, 1) * (len(stops) - 1)
    first = np.minimum(at.astype(int), len(stops) - 2)
    part = (at - first)[..., None]
    return (stops[first] * (1 - part) + stops[first + 1] * part).round().astype(np.uint8)


def curves(lines, width=320, height=240, margin=16):
    """Curves [(x, y, (red, green, blue))] in one frame; one of a single point is a dot."""
    canvas = np.full((height, width, 3), PAPER, float)
    every_x = np.concatenate([np.ravel(x) for x, _, _ in lines])
    every_y = np.concatenate([np.ravel(y) for _, y, _ in lines])
    low, high = np.array([every_x.min(), every_y.min()]), np.array([every_x.max(), every_y.max()])
    size = np.array([width - 2 * margin, height - 2 * margin])
    rows, columns = np.mgrid[0:height, 0:width] + 0.5
    frame = (np.abs(columns - margin) < 0.6) | (np.abs(rows - (height - margin)) < 0.6)
    canvas[frame & (columns >= margin - 1) & (rows <= height - margin + 1)] = (90, 96, 106)
    for x, y, color in lines:
        places = (np.stack([np.ravel(x), np.ravel(y)], axis=1) - low) / (high - low) * size + margin
        places[:, 1] = height - places[:, 1]
        ends = zip(places[:-1], places[1:]) if len(places) > 1 else [(places[0], places[0])]
        cover = np.zeros((height, width))
        for a, b in ends:
            d = b - a
            along = ((columns - a[0]) * d[0] + (rows - a[1]) * d[1]) / max(d @ d, 1e-12)
            along = np.clip(along, 0, 1)
            distance = np.hypot(columns - a[0] - along * d[0], rows - a[1] - along * d[1])
            thick = 1.1 if len(places) > 1 else 3.5
            cover = np.maximum(cover, np.clip(thick + 0.5 - distance, 0, 1))
        canvas += cover[..., None] * (np.array(color) - canvas)
    return canvas.round().astype(np.uint8)
