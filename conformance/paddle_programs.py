"""Makes Paddle programs, runs them with PaddlePaddle, and records what they give.

    python conformance/paddle_programs.py recorded FOLDER [NAME…]   the programs that are checked in, in both formats
    python conformance/paddle_programs.py random FOLDER SEED N      N random ones, in both formats

A program becomes a folder `NAME.pir` or `NAME.old` with `model.json` or `model.pdmodel`, perhaps `model.pdiparams`,
`arrays.npz` (`in.X` by name, `out.I` by number), and `case.json`: the error that each output may have, in units in the
last place of its greatest element. That is 0 but where Paddle's own formulas for sequences round more than once.
"""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
from paddle_layers import LAYERS
from paddle_random import random_programs
from paddle_recorded import RECORDED

HERE = pathlib.Path(__file__).resolve()


def main():
    mode, folder, *rest = sys.argv[1:]
    if mode in ("recorded", "random"):
        return in_both_formats(HERE, mode, [folder, *rest])
    mode, form = mode.split("-")
    programs = random_programs(int(rest[0]), int(rest[1])) if mode == "random" else {name: RECORDED[name] for name in rest or RECORDED}
    made = 0
    for name, program in programs.items():
        made += make(pathlib.Path(folder) / f"{name}.{form}", form, name, program)
    print(f"{made} of {len(programs)} programs are made ({form})")


def in_both_formats(script, mode, arguments):
    """Runs the script again in either mode, as PaddlePaddle reads the format once."""
    for form, flag in (("pir", "1"), ("old", "0")):
        environment = dict(os.environ, FLAGS_enable_pir_api=flag, GLOG_minloglevel="3")
        subprocess.run([sys.executable, script, f"{mode}-{form}", *arguments], check=True, env=environment)


def make(folder, form, name, program):
    """Saves and runs a program; what Paddle itself refuses in this format is left out."""
    import paddle

    paddle.enable_static()
    declared, given, build = program
    if name in LAYERS:
        return make_layer(folder, paddle, name, program)
    main, startup = paddle.static.Program(), paddle.static.Program()
    executor = paddle.static.Executor(paddle.CPUPlace())
    try:
        with paddle.utils.unique_name.guard(), paddle.static.program_guard(main, startup):
            feeds = [paddle.static.data(name, *of) for name, of in declared.items()]
            outputs = build(paddle, *feeds)
            executor.run(startup)
            folder.mkdir(parents=True, exist_ok=True)
            values = [output[0] if isinstance(output, tuple) else output for output in outputs]
            # Fetching must not disturb the program that is saved.
            paddle.static.save_inference_model(str(folder / "model"), feeds, values, executor, program=main)
    except Exception as error:
        discard(folder, f"not made: {error}")
        return 0
    ulps = [output[1] if isinstance(output, tuple) else 0 for output in outputs]
    return record(folder, paddle, executor, given, ulps)


def make_layer(folder, paddle, name, program):
    """Saves a layer by `paddle.jit.save`, and runs what is saved."""
    declared, given, layer = program
    paddle.disable_static()
    spec = [paddle.static.InputSpec(shape, dtype, name) for name, (shape, dtype) in declared.items()]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        paddle.jit.save(paddle.jit.to_static(layer(paddle), full_graph=True), str(folder / "model"), input_spec=spec)
    except Exception as error:
        discard(folder, f"not made: {error}")
        return 0
    finally:
        paddle.enable_static()
    return record(folder, paddle, paddle.static.Executor(paddle.CPUPlace()), given, LAYERS[name][1])


def record(folder, paddle, executor, given, ulps):
    """Runs the saved file, loaded again, and writes what it gives."""
    if (folder / "model.pdmodel").exists():
        strip(folder / "model.pdmodel")
        (folder / "model.pdiparams.info").unlink(missing_ok=True)
    loaded, names, fetches = paddle.static.load_inference_model(str(folder / "model"), executor)
    try:
        feed = {name: given[name] for name in names}
        # Tensors may carry offsets of sequences, which no array has.
        results = executor.run(loaded, feed=feed, fetch_list=fetches, return_numpy=False)
        results = [np.array(result) for result in results]
    except Exception as error:
        discard(folder, f"not run: {error}")
        return 0
    if any(result.dtype == object for result in results):
        # An output that is an input of the program, or nothing, comes back as no array.
        discard(folder, "an output is no array")
        return 0
    arrays = {f"in.{name}": array for name, array in given.items() if name in names}
    arrays |= {f"out.{i}": result for i, result in enumerate(results)}
    np.savez(folder / "arrays.npz", **arrays)
    ulps = ulps if isinstance(ulps, list) else [ulps] * len(results)
    (folder / "case.json").write_text(json.dumps({"ulps": ulps}) + "\n")
    return 1


def discard(folder, why):
    if not folder.name.startswith("random"):
        print(f"{folder.name}: {why}", file=sys.stderr)
    if folder.exists():
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()


def strip(path):
    """Without the attribute that holds the Python source of each operation: it says nothing about what is computed."""
    import importlib.util

    import paddle

    table = pathlib.Path(paddle.__file__).parent / "base/proto/framework_pb2.py"
    spec = importlib.util.spec_from_file_location("framework_pb2", table)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    program = module.ProgramDesc.FromString(path.read_bytes())
    for block in program.blocks:
        for operation in block.ops:
            kept = [attribute for attribute in operation.attrs if attribute.name != "op_callstack"]
            del operation.attrs[:]
            operation.attrs.extend(kept)
    path.write_bytes(program.SerializeToString())


# Programs: declared inputs, given inputs, and the outputs; a number beside one is the error in ulps that it may have.


if __name__ == "__main__":
    main()
