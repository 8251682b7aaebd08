"""Runs OpenVINO's models with inputs of known shapes and writes the shape, and the elements if few, of every value.

    python conformance/openvino_truth.py OUTPUT FOLDER…

For each model of the folders (`.xml`), a file in OUTPUT: twice, sizes are given to the dynamic axes of inputs, the model is
run by the CPU plugin with every value an output, and what it makes is recorded. Where a folder has the model in ONNX under the
same name, and the numbers that its symbols stood for in `truth`, these are taken; otherwise numbers by axis are tried.
"""

import json
import multiprocessing
import os
import pathlib
import sys

import numpy as np
import openvino as ov

TIMEOUT = 120
MAX_ELEMENTS = 64
# By axis, tried one after the other until the model takes them.
BY_AXIS = [[2, 5, 7, 6], [3, 8, 8, 8], [1, 6, 5, 4], [2, 4, 4, 4], [4, 4, 4, 4], [1, 3, 32, 32], [2, 3, 48, 48], [1, 1, 1, 1],
           [1, 400, 80, 40]]


def bindings_of(path: pathlib.Path, corpus: list[pathlib.Path]):
    """What the symbols of the model's inputs stood for, from the ONNX model of that name."""
    for root in corpus:
        truth = root / "truth" / f"{path.stem}.json"
        models = sorted(root.rglob(f"{path.stem}.onnx"))
        if not truth.exists() or not models:
            continue
        import onnx

        bind = json.loads(truth.read_text())["bind"]
        declared = {}
        for value in onnx.load(models[0], load_external_data=False).graph.input:
            dims = value.type.tensor_type.shape.dim
            declared[value.name] = [dim.dim_param or dim.dim_value for dim in dims]
        for numbers in bind.values():
            yield {
                name: [numbers.get(dim) if isinstance(dim, str) else dim for dim in dims]
                for name, dims in declared.items()
            }


def shapes_of(model, path, corpus):
    """Shapes of inputs to try."""
    inputs = [(port, port.get_any_name() if port.names else port.node.friendly_name, port.partial_shape) for port in model.inputs]

    def filled(choose):
        shapes = {}
        for port, name, partial in inputs:
            if partial.rank.is_dynamic:
                return None
            dims = []
            for axis, dim in enumerate(partial):
                length = dim.get_length() if dim.is_static else choose(port, axis)
                if length is None:
                    return None
                dims.append(int(length))
            shapes[name] = dims
        return shapes

    for binding in bindings_of(path, corpus):

        def named(port, axis):
            for name in [*port.names, port.node.friendly_name]:
                if name in binding and axis < len(binding[name]):
                    return binding[name][axis]
            return None

        if (shapes := filled(named)) is not None:
            yield shapes
    for numbers in BY_AXIS:
        yield filled(lambda _, axis: numbers[axis % len(numbers)])


def array(port, shape, random):
    kind = port.element_type.to_dtype()
    if kind == np.bool_:
        return np.ones(shape, dtype=kind)
    if np.issubdtype(kind, np.integer):
        return random.integers(1, 4, size=shape).astype(kind)
    return random.standard_normal(shape).astype(kind)


def measured(path: pathlib.Path, shapes, seed: int):
    core = ov.Core()
    model = core.read_model(path)
    model.reshape({port: shapes[next(n for n in [*port.names, port.node.friendly_name] if n in shapes)] for port in model.inputs})
    random = np.random.default_rng(seed)
    feeds = [array(port, list(port.shape), random) for port in model.inputs]
    added = []
    known = {}
    for node in model.get_ordered_ops():
        if node.get_type_name() in ("Parameter", "Constant", "Result", "Assign"):
            continue
        for index in range(node.get_output_size()):
            added.append((node.friendly_name, index, node.output(index)))
            if node.output(index).partial_shape.is_static:
                known[len(added) - 1] = list(node.output(index).shape)
    run = ov.Model([ov.opset1.result(output) for _, _, output in added], model.get_parameters(), "all")
    compiled = core.compile_model(run, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    results = compiled(feeds)
    values = []
    for i, (name, index, _) in enumerate(added):
        result = np.asarray(results[i])
        # The plugin fuses operators, and then gives for one of them what another makes: such is not recorded.
        if known.get(i, list(result.shape)) != list(result.shape):
            values.append({"node": name, "output": index, "shape": known[i], "type": compiled.outputs[i].element_type.get_type_name()})
            continue
        entry = {"node": name, "output": index, "shape": list(result.shape), "type": compiled.outputs[i].element_type.get_type_name()}
        if result.dtype.kind in "iub" and result.size <= MAX_ELEMENTS:
            entry["elements"] = [int(element) for element in result.flatten()]
        values.append(entry)
    return {"inputs": shapes, "values": values}


def in_a_child(pipe, path, shapes, seed):
    try:
        pipe.send(measured(path, shapes, seed))
    except Exception as error:
        pipe.send(str(error))


def truth(path: pathlib.Path, corpus):
    runs, tried, failures = [], [], []
    for shapes in shapes_of(ov.Core().read_model(path), path, corpus):
        if shapes is None or shapes in tried or len(runs) == 2:
            continue
        tried.append(shapes)
        ours, theirs = multiprocessing.Pipe()
        child = multiprocessing.get_context("spawn").Process(target=in_a_child, args=(theirs, path, shapes, len(runs)))
        child.start()
        theirs.close()
        try:
            got = ours.recv() if ours.poll(TIMEOUT) else "no result in time"
        except EOFError:
            got = "the process ended"
        child.kill()
        child.join()
        if isinstance(got, str):
            failures.append(got)
        else:
            runs.append(got)
    if len(runs) < 2 and failures:
        print(f"{path.name}: {len(runs)} runs; {failures[0].strip().splitlines()[-1][:200]}")
    return {"model": str(path.resolve()), "runs": runs}


if __name__ == "__main__":
    target, folders = pathlib.Path(sys.argv[1]), [pathlib.Path(folder) for folder in sys.argv[2:]]
    target.mkdir(parents=True, exist_ok=True)
    corpus = folders + ([pathlib.Path(os.environ["GRADUS_CORPUS"])] if "GRADUS_CORPUS" in os.environ else [])
    for folder in folders:
        for path in sorted(folder.rglob("*.xml")):
            (target / f"{path.parent.name}.{path.stem}.json").write_text(json.dumps(truth(path, corpus)))
