"""Holds OpenVINO models that Gradus wrote anew against what OpenVINO computed of the originals.

    GRADUS_WRITTEN=FOLDER cargo test -p gradus --test fold written_anew
    python conformance/openvino_written.py FOLDER

The folder has the recorded models (recorded/openvino.json), read and written by Gradus. OpenVINO must read each, with the
inputs and outputs of the original, and compute from the recorded inputs, by the CPU plugin, the same bits as of the original.
"""

import pathlib
import sys
import tempfile

import openvino as ov

import openvino_fold


def main() -> int:
    written, wrong = pathlib.Path(sys.argv[1]), []
    core = ov.Core()
    with tempfile.TemporaryDirectory() as folder:
        models = openvino_fold.recorded(pathlib.Path(folder))
        for name, (path, inputs) in models.items():
            other = written / path.name
            try:
                wrong += [f"{name}: {why}" for why in openvino_fold.other_interface(*map(core.read_model, (path, other)))]
                one, two = (openvino_fold.by_plugin(file, [inputs]) for file in (path, other))
                notes = []
                wrong += [f"{name}: {why}" for why in openvino_fold.differences(one, two, notes) + notes]
            except Exception as error:
                wrong.append(f"{name}: {openvino_fold.first_line(error)}")
    print("\n".join(wrong))
    # `cargo xtask test` reads this line; a model may be wrong in several ways.
    failed = len({why.split(": ")[0] for why in wrong})
    print(f"{len(models) - failed} passed, {failed} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
