"""Runs OpenVINO on models of Range and ShapeOf and writes the models, their inputs and what OpenVINO makes of them.

    python conformance/openvino_ops.py FOLDER

Each case is run by `Model.evaluate` (the reference implementation) and by the CPU plugin. Both run in a process of
their own: the plugin ends the process on some inputs. A case names the features of the processor that the plugin used,
as far as its results depend on them.
"""

import json
import multiprocessing
import os
import pathlib
import sys

import numpy as np
import openvino as ov
from processor import has_avx512

# Element types, as OpenVINO and NumPy name them.
TYPES = {
    "f32": np.float32, "f64": np.float64, "f16": np.float16, "i8": np.int8, "i16": np.int16, "i32": np.int32,
    "i64": np.int64, "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
}  # fmt: skip
PRECISIONS = {"f32": "FP32", "f64": "FP64", "f16": "FP16", "bf16": "BF16"}
TIMEOUT = 60

# Limits of ONEDNN_MAX_CPU_ISA by which the plugin uses no AVX-512.
NARROW = ("SSE41", "AVX", "AVX2", "AVX2_VNNI", "AVX2_VNNI_2")


def port(number: int, dtype: str, dims) -> str:
    inner = "".join(f"<dim>{-1 if dim == '?' else dim}</dim>" for dim in dims)
    return f'<port id="{number}" precision="{PRECISIONS.get(dtype, dtype.upper())}">{inner}</port>'


def network(operator: str, version: str, data: str, inputs: list[tuple[str, str, list]], output: str, ir: int = 11) -> str:
    """A model of one operator between its parameters and its result."""
    layers, ports, edges = [], [], []
    for i, (name, dtype, dims) in enumerate(inputs):
        shape = ",".join(str(dim) for dim in dims)
        layers.append(
            f'<layer id="{i}" name="{name}" type="Parameter" version="opset1"><data shape="{shape}" '
            f'element_type="{dtype}"/><output>{port(0, dtype, dims)}</output></layer>'
        )
        ports.append(port(i, dtype, dims))
        edges.append(f'<edge from-layer="{i}" from-port="0" to-layer="{len(inputs)}" to-port="{i}"/>')
    node, result, out = len(inputs), len(inputs) + 1, len(inputs)
    edges.append(f'<edge from-layer="{node}" from-port="{out}" to-layer="{result}" to-port="0"/>')
    layers.append(
        f'<layer id="{node}" name="out" type="{operator}" version="{version}">{data}<input>{"".join(ports)}</input>'
        f"<output>{port(out, output, [-1])}</output></layer>"
    )
    layers.append(
        f'<layer id="{result}" name="result" type="Result" version="opset1"><input>{port(0, output, [-1])}</input></layer>'
    )
    return (
        f'<?xml version="1.0"?><net name="case" version="{ir}"><layers>{"".join(layers)}</layers>'
        f"<edges>{''.join(edges)}</edges></net>"
    )


def range_case(dtypes: list[str], numbers: list, output: str, version: str = "opset4"):
    data = f'<data output_type="{output}"/>' if version != "opset1" else ""
    names = ("start", "stop", "step")
    inputs = [(name, dtype, []) for name, dtype in zip(names, dtypes)]
    arrays = {name: np.array(number, dtype=TYPES[dtype]) for name, dtype, number in zip(names, dtypes, numbers)}
    return network("Range", version, data, inputs, output), arrays


def shape_case(dtype: str, dims: list[int], output: str, version: str):
    data = f'<data output_type="{output}"/>' if version != "opset1" else ""
    xml = network("ShapeOf", version, data, [("data", dtype, ["?"] * len(dims))], output)
    return xml, {"data": np.zeros(dims, dtype=TYPES[dtype])}


def cases() -> dict:
    found = {}

    def add(name, case):
        assert name not in found, name
        found[name] = case

    # The examples of the text.
    add("text_positive_step", range_case(["i32"] * 3, [2, 23, 3], "i32"))
    add("text_negative_step", range_case(["i32"] * 3, [23, 2, -3], "i32"))
    add("text_japanese_second_example", range_case(["i32"] * 3, [23, 2, 3], "i32"))
    add("text_floating_point", range_case(["f32"] * 3, [1, 2.5, 0.5], "f32"))
    # Casting to the output type.
    for output in ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"):
        add(f"truncated_f32_{output}", range_case(["f32"] * 3, [1.2, 11.3, 1.6], output))
        add(f"whole_i32_{output}", range_case(["i32"] * 3, [2, 20, 5], output))
        add(f"whole_i64_{output}", range_case(["i64"] * 3, [2, 20, 5], output))
    for output in ("f16", "bf16", "f32", "f64"):
        add(f"tenths_f32_{output}", range_case(["f32"] * 3, [0, 1, 0.1], output))
        add(f"tenths_f64_{output}", range_case(["f64"] * 3, [0, 1, 0.1], output))
        add(f"down_f32_{output}", range_case(["f32"] * 3, [2, -2, -0.5], output))
        add(f"quarters_i32_{output}", range_case(["i32", "f32", "f64"], [1, 2.5, 0.25], output))
    add("truncated_negative", range_case(["f32"] * 3, [-1.9, 3.9, 1.5], "i32"))
    add("truncated_to_nothing", range_case(["f32"] * 3, [0.2, 0.9, 1.5], "i32"))
    add("mixed_types", range_case(["i32", "f32", "i64"], [1, 7.5, 2], "f32"))
    add("mixed_to_integer", range_case(["f64", "i32", "f32"], [1.9, 10, 2.9], "i64"))
    add("no_elements", range_case(["i32"] * 3, [5, 0, 1], "i32"))
    add("no_elements_float", range_case(["f32"] * 3, [5, 0, 1], "f32"))
    add("equal_ends", range_case(["f32"] * 3, [3, 3, 1], "f32"))
    add("stop_beyond_output", range_case(["i32"] * 3, [250, 260, 1], "u8"))
    add("negative_to_unsigned", range_case(["i32"] * 3, [-5, 5, 1], "u8"))
    add("down_to_unsigned", range_case(["i32"] * 3, [10, 0, -1], "u8"))
    add("beyond_double", range_case(["i64"] * 3, [2**53 + 1, 2**53 + 5, 1], "i64"))
    add("extremes_i32", range_case(["i32"] * 3, [-(2**31), 2**31 - 1, 2**30], "i32"))
    add("large_step", range_case(["i32"] * 3, [0, 5, 2**31 - 1], "i32"))
    add("long_float", range_case(["f32"] * 3, [0, 1000, 0.1], "f32"))
    add("stalled_sum", range_case(["f32"] * 3, [2**24, 2**24 + 10, 1], "f32"))
    add("zero_step_float", range_case(["f32"] * 3, [0, 5, 0], "f32"))
    add("zero_step_after_cast", range_case(["f32"] * 3, [0, 5, 0.5], "i32"))
    add("nan_start", range_case(["f32"] * 3, [np.nan, 5, 1], "f32"))
    add("infinite_stop", range_case(["f32"] * 3, [0, np.inf, 1], "f32"))
    # Range-1.
    for dtype in ("f32", "f64", "i8", "i32", "i64", "u8", "u64"):
        add(f"range1_{dtype}", range_case([dtype] * 3, [1, 12, 3], dtype, "opset1"))
    add("range1_tenths", range_case(["f32"] * 3, [0, 1, 0.1], "f32", "opset1"))
    # ShapeOf.
    for dtype in TYPES:
        add(f"shapeof1_{dtype}", shape_case(dtype, [2, 3], "i64", "opset1"))
        add(f"shapeof3_{dtype}_i32", shape_case(dtype, [2, 0, 4], "i32", "opset3"))
        add(f"shapeof3_{dtype}_i64", shape_case(dtype, [1, 5], "i64", "opset3"))
    add("shapeof3_scalar", shape_case("f32", [], "i64", "opset3"))
    # IR version 10, and an operator set that only inherits the operator.
    data = '<data output_type="i64"/>'
    inputs = [(name, "i64", []) for name in ("start", "stop", "step")]
    arrays = {name: np.array(number, dtype=np.int64) for name, number in zip(("start", "stop", "step"), (1, 8, 3))}
    add("ir10", (network("Range", "opset4", data, inputs, "i64", ir=10), arrays))
    add("inherited", (network("Range", "opset8", data, inputs, "i64"), arrays))
    return found


def run(runner: str, xml: str, arrays: dict, into) -> None:
    core = ov.Core()
    model = core.read_model(xml.encode(), b"")
    if runner == "evaluate":
        outputs = [ov.Tensor(model.output(0).get_element_type(), ov.Shape([0]))]
        inputs = [ov.Tensor(arrays[parameter.friendly_name]) for parameter in model.get_parameters()]
        if not model.evaluate(outputs, inputs):
            raise RuntimeError("evaluate() gives no result")
        output = outputs[0]
    else:
        compiled = core.compile_model(model, "CPU", {"INFERENCE_NUM_THREADS": 1, "INFERENCE_PRECISION_HINT": "f32"})
        request = compiled.create_infer_request()
        request.infer([arrays[parameter.friendly_name] for parameter in model.get_parameters()])
        output = request.get_output_tensor(0)
    dtype = output.element_type.to_string()
    into.send((dtype, list(output.shape), output.data.tobytes()))


def attempt(runner: str, xml: str, arrays: dict):
    """What a runner gives; or in words, how it fails."""
    context = multiprocessing.get_context("fork")
    receive, send = context.Pipe(duplex=False)

    def work():
        try:
            run(runner, xml, arrays, send)
        except Exception as error:  # what OpenVINO raises is its own affair
            send.send(f"error: {str(error).strip().splitlines()[-1] if str(error).strip() else 'without words'}")

    process = context.Process(target=work)
    process.start()
    send.close()
    result = "timeout"
    try:
        if receive.poll(TIMEOUT):
            result = receive.recv()
    except EOFError:
        result = "crash"
    process.kill()
    process.join()
    return result


def features() -> list[str]:
    """The features of the processor on which the plugin's results depend."""
    limit = os.environ.get("ONEDNN_MAX_CPU_ISA", os.environ.get("DNNL_MAX_CPU_ISA", ""))
    return ["avx512"] if has_avx512() and limit.upper() not in NARROW else []


def main() -> None:
    root = pathlib.Path(sys.argv[1])
    for name, (xml, arrays) in cases().items():
        folder = root / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "model.xml").write_text(xml)
        for key, array in arrays.items():
            np.save(folder / f"{key}.npy", array)
        described = {"features": features(), "inputs": sorted(arrays), "results": {}}
        for runner in ("evaluate", "cpu"):
            result = attempt(runner, xml, arrays)
            if isinstance(result, str):
                described["results"][runner] = {"failure": result}
            else:
                dtype, shape, content = result
                (folder / f"{runner}.bin").write_bytes(content)
                described["results"][runner] = {"type": dtype, "shape": shape, "file": f"{runner}.bin"}
        (folder / "case.json").write_text(json.dumps(described))


if __name__ == "__main__":
    main()
