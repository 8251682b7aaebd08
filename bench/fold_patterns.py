"""Models of one pattern each: nodes that `gradus fold` leaves, beside other simplifiers.

    cargo build --release -p gradus-cli
    python bench/fold_patterns.py [--peers onnxsim,onnxslim,onnxscript,onnxruntime] [--keep FOLDER]

Every model is simplified by each program, and ONNX Runtime runs the result, unoptimised, on the inputs of the model. `!` marks results
that differ from those of the model by more than 1e-4, or that ONNX Runtime does not take. Nodes are counted without Constant.
"""

import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnx.parser
import onnxruntime

from target import ROOT, target

GRADUS = target() / "release/gradus"
sys.path.insert(0, str(ROOT / "conformance"))
PEERS = ["onnxsim", "onnxslim", "onnxscript", "onnxruntime"]
LEVELS = ["exact", "fuse"]
X = "float[N,4] x"
CUBE = "float[N,3,4] x"
IMAGE = "float[N,2,5,5] x"
ROWS = "float[N,S,8] x"
HEADS = "float[N,2,S,4] q, float[N,2,S,4] k, float[N,2,S,4] v"


def floats(name, *shape, start=0.1):
    count = int(np.prod(shape))
    dims = ",".join(map(str, shape))
    values = ",".join(f"{start + (i % 7) / 8:.4g}" for i in range(count))
    return f"float[{dims}] {name} = {{{values}}}"


W, B, C = floats("w", 3, 2, 3, 3, start=-0.5), floats("b", 3), floats("c", 1, 3, 1, 1, start=0.5)
BATCH = [floats("g", 3, start=0.5), floats("m", 3, start=-0.5), floats("s", 3, start=1.5)]
LAYER = """m = ReduceMean<axes=[-1]>(x) d = Sub(x, m) two = Constant<value_float=2.0>() p = Pow(d, two)
    v = ReduceMean<axes=[-1]>(p) eps = Constant<value_float=1e-5>() e = Add(v, eps) s = Sqrt(e) n = Div(d, s)"""
RMS = """two = Constant<value_float=2.0>() p = Pow(x, two) last = Constant<value_ints=[-1]>() v = ReduceMean(p, last)
    eps = Constant<value_float=1e-6>() e = Add(v, eps) s = Sqrt(e)"""
SDPA = """kt = Transpose<perm=[0,1,3,2]>(k) a = MatMul(q, kt) half = Constant<value_float=0.5>() b = Mul(a, half)
    p = Softmax<axis=-1>(b) t = MatMul(p, v)"""
LOOP = """t = Loop(trips, , x) <body = body (int64 i, bool c, float[N,4] a) => (bool c2, float[N,4] a2)
    {{ c2 = Identity(c) a2 = Mul(a, a) }}>"""

# By name: inputs, initializers, and the nodes that compute t, which Relu reads (or y, where they
# do); the operator set and functions
# where they matter.
MODELS = {
    "identity chain": (X, [], "a = Identity(x) b = Identity(a) t = Identity(b)"),
    "equal initializers": (X, ["float[4] a = {1,2,3,4}", "float[4] b = {1,2,3,4}"],
                           "p = Mul(x, a) q = Mul(x, b) r = Sin(p) s = Sin(q) t = Add(r, s)"),
    "common subexpressions": (X, [], "p = Sin(x) q = Sin(x) r = Cos(p) s = Cos(q) t = Mul(r, s)"),
    "inverse transposes": (CUBE, [], "a = Transpose<perm=[1,2,0]>(x) t = Transpose<perm=[2,0,1]>(a)"),
    "composed transposes": (CUBE, [], "a = Transpose<perm=[1,2,0]>(x) t = Transpose<perm=[1,2,0]>(a)"),
    "transposes around": (CUBE, [], "a = Transpose<perm=[0,2,1]>(x) b = Sin(a) t = Transpose<perm=[0,2,1]>(b)"),
    "same cast": (X, [], "t = Cast<to=1>(x)"),
    "lossless casts": (X, [], "a = Cast<to=11>(x) t = Cast<to=1>(a)"),
    "dropout": (X, [], "t = Dropout(x)"),
    "times one": (X, ["float c = {1.0}"], "a = Mul(x, c) t = Div(a, c)"),
    "minus zero": (X, ["float c = {0.0}"], "t = Sub(x, c)"),
    "plus zero": (X, ["float c = {0.0}"], "t = Add(x, c)"),
    "plus zero after relu": (X, ["float c = {0.0}"], "a = Relu(x) b = Add(a, c) t = Sin(b)"),
    "divided by itself": (X, [], "t = Div(x, x)"),
    "minus itself": (X, [], "t = Sub(x, x)"),
    "zero pad": (X, ["int64[4] pads = {0,0,0,0}"], "t = Pad(x, pads)"),
    "concat of one": (X, [], "t = Concat<axis=0>(x)"),
    "sum of one": (X, [], "t = Sum(x)"),
    "not not": (X, ["float c = {0.5}"], "a = Greater(x, c) b = Not(a) d = Not(b) t = Cast<to=1>(d)"),
    "relu relu": (X, [], "a = Relu(x) b = Relu(a) t = Sin(b)"),
    "clips": (X, ["float l = {-1.0}", "float h = {1.0}", "float h2 = {0.5}"], "a = Clip(x, l, h) t = Clip(a, l, h2)"),
    "conv bn": (IMAGE, [W, B, *BATCH], "a = Conv(x, w, b) t = BatchNormalization(a, g, b, m, s)"),
    "conv mul": (IMAGE, [W, B, C], "a = Conv(x, w, b) t = Mul(a, c)"),
    "conv add": (IMAGE, [W, C], "a = Conv(x, w) t = Add(a, c)"),
    "pad conv": (IMAGE, [W, B, "int64[8] pads = {0,0,1,1,0,0,1,1}"], "a = Pad(x, pads) t = Conv(a, w, b)"),
    "gemm add": (X, [floats("w", 4, 3, start=-0.5), B], "a = Gemm(x, w) t = Add(a, b)"),
    "gemm mul": (X, [floats("w", 4, 3, start=-0.5), B, "float c = {2.0}"], "a = Gemm(x, w, b) t = Mul(a, c)"),
    "gemm bn": (X, [floats("w", 4, 3, start=-0.5), B, *BATCH], "a = Gemm(x, w, b) t = BatchNormalization(a, g, b, m, s)"),
    "matmul add": (X, [floats("w", 4, 3, start=-0.5), B], "a = MatMul(x, w) t = Add(a, b)"),
    "transpose gemm": (X, [floats("w", 3, 4, start=-0.5), B], "v = Transpose<perm=[1,0]>(w) a = Gemm(x, v, b) t = Identity(a)"),
    "transpose matmul add": ("float[4,N] x", [floats("w", 4, 3, start=-0.5), B], "a = Transpose<perm=[1,0]>(x) p = MatMul(a, w) t = Add(p, b)"),
    "layer norm": (ROWS, [floats("g", 8), floats("b", 8)], LAYER + " h = Mul(n, g) t = Add(h, b)", 17),
    "gelu": (X, [], """r = Constant<value_float=1.4142135>() a = Div(x, r) b = Erf(a) one = Constant<value_float=1.0>() c = Add(b, one)
        d = Mul(x, c) half = Constant<value_float=0.5>() t = Mul(d, half)"""),
    "rms norm": (ROWS, [floats("g", 8)], RMS + " n = Div(x, s) t = Mul(n, g)", 23),
    "rms norm by reciprocal": (ROWS, [floats("g", 8)], RMS + " r = Reciprocal(s) n = Mul(x, r) t = Mul(g, n)", 23),
    "sdpa": (HEADS, [], SDPA, 23),
    "sdpa with mask": (HEADS + ", float[N,1,S,S] mask", [], SDPA.replace("p = Softmax<axis=-1>(b)", "c = Add(b, mask) p = Softmax<axis=-1>(c)"), 23),
    "silu": (X, [], "a = Sigmoid(x) t = Mul(x, a)", 24),
    "loop of no iteration": (X, ["int64 trips = {0}"], LOOP.format()),
    "loop of one iteration": (X, ["int64 trips = {1}"], LOOP.format()),
    "loop of two iterations": (X, ["int64 trips = {2}"], LOOP.format()),
    "if known": (X, ["bool c = {1}"],
                 "t = If(c) <then_branch = a () => (float[N,4] p) { p = Sin(x) }, else_branch = b () => (float[N,4] q) { q = Cos(x) }>"),
    "function body": (X, [], "t = local.twice(x)", 20,
                      '<domain: "local", opset_import: ["" : 20]> twice (a) => (c) { b = Identity(a) d = Mul(b, b) e = Identity(d) c = Identity(e) }'),
    "function of shapes": (X, [], "t = local.flat(x)", 20,
                           '<domain: "local", opset_import: ["" : 20]> flat (a) => (c) { s = Shape(a) b = Reshape(a, s) c = Sin(b) }'),
    "reshapes": ("float[N,12] x", ["int64[3] s = {-1,3,4}", "int64[3] r = {-1,4,3}"], "a = Reshape(x, s) t = Reshape(a, r)"),
    "unsqueeze squeeze": (X, ["int64[1] axis = {1}"], "a = Unsqueeze(x, axis) t = Squeeze(a, axis)"),
    "flatten": (X, [], "t = Flatten(x)"),
    "slices": ("float[N,5,6] x", ["int64[1] a1 = {1}", "int64[1] a2 = {2}", "int64[1] to = {3}"],
               "a = Slice(x, a1, to, a1) t = Slice(a, a1, to, a2)"),
    "slices of one axis": ("float[N,9] x", ["int64[1] a1 = {1}", "int64[1] to = {8}", "int64[1] less = {4}"],
                           "a = Slice(x, a1, to, a1) t = Slice(a, a1, less, a1)"),
    "default inputs": (X, ["int64[1] zero = {0}", "int64[1] end = {2}", "int64[1] axis = {1}", "int64[1] step = {1}"],
                       "t = Slice(x, zero, end, axis, step)"),
    "clip without bounds": (X, [], "t = Clip(x)"),
    "zero states": ("float[5,N,2] x", [floats("w", 1, 12, 2), floats("r", 1, 12, 3), "int64[3] at = {1,1,3}", "int64[1] one = {1}"],
                    """s = Shape<start=1, end=2>(x) three = Constant<value_ints=[3]>() state = Concat<axis=0>(one, s, three)
                    z = ConstantOfShape(state) t = LSTM<hidden_size=3>(x, w, r, , , z, z)"""),
    "dead outputs": ("float[N,6] x", ["int64[2] s = {2,4}"], "a, b = Split<axis=1>(x, s) t = Sin(a) dead = Cos(b)"),
    "expand to the same": (X, [], "s = Shape(x) t = Expand(x, s)"),
    "tile once": (X, ["int64[2] r = {1,1}"], "t = Tile(x, r)"),
    "where known": (X, ["bool c = {1}", "float z = {0.0}"], "t = Where(c, x, z)"),
    "constant pow": (X, [], "c = Constant<value_float=16.0>() e = Constant<value_float=0.5>() p = Pow(c, e) t = Div(x, p)"),
    "pow two": (X, ["float e = {1.0}"], "t = Pow(x, e)"),
    "shape arithmetic": ("float[N,S,8] x", ["int64 i0 = {0}", "int64 i1 = {1}", "int64[1] ax = {0}", "int64[2] h = {2,4}"],
                         """s = Shape(x) n = Gather<axis=0>(s, i0) r = Shape(x) m = Gather<axis=0>(r, i1) a = Unsqueeze(n, ax)
                         b = Unsqueeze(m, ax) l = Concat<axis=0>(a, b, h) t = Reshape(x, l)"""),
    "split concat": ("float[N,6] x", ["int64[2] s = {2,4}"], "a, b = Split<axis=1>(x, s) t = Concat<axis=1>(a, b)"),
    "concat concat": (X, [], "a = Concat<axis=0>(x, x) t = Concat<axis=0>(a, x)"),
    "constant branch": (X, ["float[4] a = {1,2,3,4}", "float[4] b = {1,2,3,4}"], "c = Mul(a, b) d = Add(c, a) t = Add(x, d)"),
    "sums of constants": (X, ["float a = {0.25}", "float b = {0.5}"], "c = Add(x, a) t = Add(c, b)"),
    "gather of all": (CUBE, ["int64 i = {0}"], "a = Gather<axis=1>(x, i) t = Identity(a)"),
    "reduce squeeze": (CUBE, ["int64[1] a = {1}"], "b = ReduceMax<keepdims=1>(x, a) t = Squeeze(b, a)"),
    "resize by one": (IMAGE, ["float[4] s = {1,1,1,1}"], "t = Resize(x, , s)"),
    "q dq": (X, ["float s = {0.1}", "uint8 z = {128}"], "a = QuantizeLinear(x, s, z) t = DequantizeLinear(a, s, z)"),
    "max pool of one": (IMAGE, [], "t = MaxPool<kernel_shape=[1,1]>(x)"),
}


def build(inputs, initializers, nodes, version=20, functions=""):
    imports = f'"" : {version}' + (', "local" : 1' if functions else "")
    if initializers:
        body = f"<{', '.join(initializers)}>"
    else:
        body = ""
    model = onnx.parser.parse_model(
        f"<ir_version: 10, opset_import: [{imports}]> m ({inputs}) => (float y) {body} {{ {nodes} y = Relu(t) }} {functions}"
    )
    model.graph.output[0].ClearField("type")
    model.graph.output[0].type.tensor_type.elem_type = onnx.TensorProto.FLOAT
    rank = ranks(model)
    for _ in range(rank):
        model.graph.output[0].type.tensor_type.shape.dim.add()
    return model


def values(model):
    random = np.random.default_rng(7)
    size = {"N": 3, "S": 5}
    found = {}
    for given in model.graph.input:
        dims = [dim.dim_value or size[dim.dim_param] for dim in given.type.tensor_type.shape.dim]
        found[given.name] = random.standard_normal(dims).astype(np.float32)
        # Inputs whose x/x and x-x are not constant.
        if given.name == "x" and len(dims) == 2:
            found[given.name][0, :2] = 0, np.inf
    return found


def session(model):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    data = model if isinstance(model, str) else model.SerializeToString()
    return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def ranks(model):
    return session(model).run(None, values(model))[0].ndim


def count(graph):
    found = collections.Counter()
    for node in graph.node:
        found[node.op_type] += 1
        for attribute in node.attribute:
            found += count(attribute.g) if attribute.HasField("g") else collections.Counter()
    found.pop("Constant", None)
    return found


def operators(model):
    found = count(model.graph)
    for function in model.functions:
        found += count(function)
    return found


def simplified(name, path, out):
    out.unlink(missing_ok=True)
    if name in LEVELS:
        command = [GRADUS, "fold", path, "-o", out, "--level", name, "--json"]
    else:
        command = [sys.executable, ROOT / "conformance/fold_peers.py", name, path, out]
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return onnx.load(out) if out.exists() else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    programs = [*LEVELS, *arguments.peers.split(",")]
    folder = arguments.keep or pathlib.Path(tempfile.mkdtemp())
    folder.mkdir(exist_ok=True)
    print(f"| model | before | {' | '.join(programs)} | left by fuse |\n|---{'|---' * (len(programs) + 2)}|")
    behind = []
    for name, given in MODELS.items():
        if arguments.only not in name:
            continue
        try:
            model = build(*given)
        except Exception as error:
            print(f"| {name} | cannot be made: {str(error)[:300]}")
            continue
        path = folder / f"{name.replace(' ', '_')}.onnx"
        onnx.save(model, path)
        want = session(model).run(None, values(model))
        row, numbers, right = [], {}, {}
        for program in programs:
            after = simplified(program, path, path.with_suffix(f".{program}.onnx"))
            if after is None:
                row.append("none")
                continue
            numbers[program] = operators(after).total()
            try:
                got = session(str(path.with_suffix(f".{program}.onnx"))).run(None, values(model))
                right[program] = all(np.allclose(a, b, rtol=1e-4, atol=1e-5, equal_nan=True) for a, b in zip(want, got))
            except Exception as error:
                right[program] = "no kernel" if "NOT_IMPLEMENTED" in str(error) else False
            row.append(f"{numbers[program]}{'' if right[program] is True else '?' if right[program] else '!'}")
            last = after if program == "fuse" else last if program != "exact" else after
        best = min((numbers[p] for p in programs[2:] if p in numbers and right[p]), default=99)
        if min(numbers[level] for level in LEVELS) > best:
            behind.append(name)
        print(f"| {name} | {operators(model).total()} | {' | '.join(row)} | {' '.join(operators(last).elements())} |", flush=True)
    print(f"\nbehind the best peer: {', '.join(behind) or 'none'}")


if __name__ == "__main__":
    main()
