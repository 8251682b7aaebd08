"""Packs what a fuzz target starts from into `fuzz/kept/`, and unpacks it.

    python scripts/fuzz_corpus.py pack TARGET FOLDER      write the archive of the folder's files
    python scripts/fuzz_corpus.py unpack TARGET FOLDER    add the archive's files to the folder
"""

import hashlib
import io
import pathlib
import sys
import tarfile

KEPT = pathlib.Path(__file__).parent.parent / "fuzz" / "kept"


def pack(archive: pathlib.Path, folder: pathlib.Path) -> None:
    """Sorts by length, so that like lies beside like; equal folders give equal archives."""
    files = sorted((path.read_bytes() for path in folder.iterdir()), key=lambda data: (len(data), data))
    with tarfile.open(archive, "w:xz", format=tarfile.USTAR_FORMAT, preset=9) as packed:
        for data in files:
            entry = tarfile.TarInfo(hashlib.sha1(data).hexdigest())
            entry.size = len(data)
            packed.addfile(entry, io.BytesIO(data))


def unpack(archive: pathlib.Path, folder: pathlib.Path) -> None:
    with tarfile.open(archive) as packed:
        for entry in packed:
            (folder / entry.name).write_bytes(packed.extractfile(entry).read())


if __name__ == "__main__":
    work, name, folder = sys.argv[1:]
    {"pack": pack, "unpack": unpack}[work](KEPT / f"{name}.tar.xz", pathlib.Path(folder))
