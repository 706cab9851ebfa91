"""Files of MNIST with a few images that we drew."""

import gzip

import numpy as np

SIZES = {"train": 7, "t10k": 4}


def idx(array):
    """A file in the idx format."""
    header = bytes((0, 0, 8, array.ndim)) + b"".join(n.to_bytes(4, "big") for n in array.shape)
    return header + array.astype(np.uint8).tobytes()


def drawn_image(rng, size=28):
    """A bright stroke on black: some regions of it are equally dark."""
    rows, columns = np.indices((size, size))
    row, column, slope = rng.uniform(8, 20), rng.uniform(8, 20), rng.uniform(-1, 1)
    away = np.abs(rows - row - slope * (columns - column))
    return (255 * np.clip(2 - away / 2, 0, 1)).astype(np.uint8)


def drawn_images(count, seed=0):
    rng = np.random.default_rng(seed)
    images = [drawn_image(rng) for _ in range(count)]
    return np.stack(images), (np.arange(count) * 3 % 10).astype(np.uint8)


def write_raw_files(root, sizes=SIZES, *, packed=True):
    """Both parts, in the places where the published files belong."""
    raw = root / "MNIST" / "raw"
    raw.mkdir(parents=True)
    for seed, (name, size) in enumerate(sizes.items()):
        images, labels = drawn_images(size, seed)
        for kind, array in (("images-idx3", images), ("labels-idx1", labels)):
            path = raw / f"{name}-{kind}-ubyte"
            if packed:
                path.with_name(path.name + ".gz").write_bytes(gzip.compress(idx(array), mtime=0))
            else:
                path.write_bytes(idx(array))
    return raw
