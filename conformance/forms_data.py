"""Forms of operators that slice, pad, reduce, sort, repeat or map elements, in both standards."""

import itertools

import forms_onnx
import forms_openvino
import numpy as np
from forms_onnx import SUMS, floats
from onnx import TensorProto

f32, i64 = np.float32, np.int64
DIRECTIONS = ["forward", "reverse", "bidirectional"]


def layout():
    x = floats(4, 5, 6)
    for start, stop, step, axes in itertools.product(
        [0, 2, -2, 9, -9], [0, 3, -1, 9, -9], [1, 2, -1, -3], [[0], [-1], [2, 0]]
    ):
        name = {"start": start, "stop": stop, "step": step, "axes": axes}
        lists = [np.array([number] * len(axes)) for number in (start, stop, step)]
        order = [*lists[:2], np.array(axes), lists[2]]
        yield forms_onnx.given("Slice", {"of": "Slice"} | name, "Slice", [x, *order], {}, [1, 2, 3, 4])
        yield forms_openvino.node(
            "SliceIR", {"of": "Slice"} | name, 8, "Slice", [x, *lists, np.array(axes)], {}, [1, 2, 3, 4]
        )
    for bits, step in itertools.product(itertools.product([0, 1], repeat=5), [1, -1, 2]):
        names = ["begin_mask", "end_mask", "new_axis_mask", "shrink_axis_mask", "ellipsis_mask"]
        for at in [0, 1]:
            # A position has one of the last three meanings; the other one masks begins and ends.
            if sum(bits[2:]) > 1:
                continue
            masks = {
                key: [int(bit and i == (at if key in names[2:] else 1 - at)) for i in (0, 1)]
                for key, bit in zip(names, bits)
            }
            name = {"of": "StridedSlice", "masks": bits, "at": at, "step": step}
            lists = [np.array([1, 2]), np.array([3, 4]), np.array([step, step])]
            if step < 0:
                lists[0], lists[1] = lists[1], lists[0]
            yield forms_openvino.node("SliceIR", name, 1, "StridedSlice", [x, *lists], masks, [1, 2, 3])
    for mode, begin, end, axes, dtype in itertools.product(
        ["constant", "edge", "reflect", "wrap"], [0, 1, 2, -1], [0, 2, -2], [None, [0], [2, -2]], [f32, np.int32]
    ):
        count = 3 if axes is None else len(axes)
        inputs = [
            (10 * x).astype(dtype),
            np.array([begin] * count + [end] * count),
            dtype(7),
            None if axes is None else np.array(axes),
        ]
        name = {"of": "Pad", "mode": mode, "begin": begin, "end": end, "axes": axes, "type": np.dtype(dtype)}
        constants = [1, 2] if axes is None else [1, 2, 3]
        yield forms_onnx.given("Pad", name, "Pad", inputs[: 1 + len(constants)], {"mode": mode}, constants)
    for mode, begin, end, version in itertools.product(
        ["constant", "edge", "reflect", "symmetric"], [0, 1, 2, -1], [0, 2, -2], [1, 12]
    ):
        if version == 1 and min(begin, end) < 0:
            continue
        name = {"of": "Pad", "mode": mode, "begin": begin, "end": end, "v": version}
        inputs = [x, np.array([begin, 0, begin]), np.array([end, end, 0]), f32(7)]
        yield forms_openvino.node("PadIR", name, version, "Pad", inputs, {"pad_mode": mode}, [1, 2, 3])
    for axis, parts in itertools.product([0, 1, 2, -1], [[2, 2], [1, 3], [0, 4], [1, 1, 2]]):
        size = x.shape[axis]
        sizes = np.array([*parts[:-1], size - sum(parts[:-1])])
        name = {"axis": axis, "parts": sizes}
        yield forms_onnx.given(
            "Slice", {"of": "Split"} | name, "Split", [x, sizes], {"axis": axis}, [1], outputs=len(parts)
        )
        inputs = [x, np.array(axis), sizes]
        yield forms_openvino.node("SliceIR", {"of": "VariadicSplit"} | name, 1, "VariadicSplit", inputs, {}, [1, 2])
    for axis, shift in itertools.product([[0], [-1], [0, 2], [1, 1]], [0, 1, -2, 11]):
        inputs = [x, np.array([shift] * len(axis)), np.array(axis)]
        yield forms_openvino.node(
            "SliceIR", {"of": "Roll", "axis": axis, "shift": shift}, 7, "Roll", inputs, {}, [1, 2]
        )
    for mode, axes in itertools.product(["index", "mask"], [[0], [2, 1], []]):
        given = np.array(axes, i64) if mode == "index" else np.isin(np.arange(3), axes)
        yield forms_openvino.node(
            "SliceIR", {"of": "Reverse", "mode": mode, "axes": axes}, 1, "Reverse", [x, given], {"mode": mode}, [1]
        )
    for batch, axis in [(0, 1), (1, 0)]:
        lengths = np.array([1, 3, 2, 4, 1][: x.shape[batch]])
        name = {"of": "ReverseSequence", "batch": batch, "axis": axis}
        yield forms_onnx.given("Slice", name, "ReverseSequence", [x, lengths], {"batch_axis": batch, "time_axis": axis})
        attributes = {"batch_axis": batch, "seq_axis": axis}
        yield forms_openvino.node("SliceIR", name, 1, "ReverseSequence", [x, lengths], attributes)
    for upper, k, rank in itertools.product([0, 1], [0, 1, -2, 9, -9], [2, 3]):
        y = floats(*[3, 4, 5][-rank:])
        yield forms_onnx.given(
            "Slice",
            {"of": "Trilu", "upper": upper, "k": k, "rank": rank},
            "Trilu",
            [y, np.array(k)],
            {"upper": upper},
            [1],
        )
    for axis, indices in itertools.product([None, 0, 1, -1], [[True, False, True], [False], [True] * 4]):
        name = {"of": "Compress", "axis": axis, "indices": len(indices)}
        yield forms_onnx.given(
            "Slice", name, "Compress", [x, np.array(indices)], {} if axis is None else {"axis": axis}, [1]
        )


def reductions():
    x = floats(2, 3, 4)
    operators = ["Sum", "Mean", "Prod", "Max", "Min", "L1", "L2", "LogSum", "LogSumExp", "SumSquare"]
    for of, axes, keep, noop, stored in itertools.product(
        operators, [None, [], [0], [-1], [2, 0], [0, 1, 2]], [0, 1], [0, 1], [0, 1]
    ):
        y = np.abs(x) if of == "LogSum" else x
        inputs = [y] if axes is None else [y, np.array(axes, i64)]
        attributes = {"keepdims": keep, "noop_with_empty_axes": noop}
        name = {"of": f"Reduce{of}", "axes": axes, "keep": keep, "noop": noop, "stored": stored}
        yield forms_onnx.given(
            "Reduce",
            name,
            f"Reduce{of}",
            inputs,
            attributes,
            [1] if stored and len(inputs) > 1 else [],
            opset=20,
            close=8 * SUMS,
        )
    for of, axes, keep in itertools.product(
        ["Sum", "Mean", "Prod", "Max", "Min", "L1", "L2", "LogicalAnd", "LogicalOr"],
        [[], [0], [-1], [2, 0], [0, 1, 2]],
        [False, True],
    ):
        y = x > 0 if "Logical" in of else x
        version = 4 if of in ("L1", "L2") else 1
        name = {"of": f"Reduce{of}", "axes": axes, "keep": int(keep)}
        inputs = [y, np.array(axes, i64)]
        yield forms_openvino.node("ReduceIR", name, version, f"Reduce{of}", inputs, {"keep_dims": keep}, [1], 8 * SUMS)
    ties = np.random.default_rng(1).integers(0, 3, (3, 4, 2)).astype(f32)
    for of, axis, keep, last in itertools.product(["ArgMax", "ArgMin"], [0, 1, -1], [0, 1], [0, 1]):
        attributes = {"axis": axis, "keepdims": keep, "select_last_index": last}
        yield forms_onnx.given("Sort", {"of": of} | attributes, of, [ties], attributes)
    y = np.random.default_rng(2).permutation(60).reshape(3, 4, 5).astype(f32)
    for axis, largest, count in itertools.product([0, 1, -1], [0, 1], [1, 2, 3]):
        attributes = {"axis": axis, "largest": largest}
        yield forms_onnx.given(
            "Sort",
            {"of": "TopK"} | attributes | {"k": count},
            "TopK",
            [y, np.array([count])],
            attributes,
            [1],
            outputs=2,
        )
    for axis, mode, sort, count, version in itertools.product(
        [0, 1, -1], ["max", "min"], ["value", "index", "none"], [1, 3], [1, 3, 11]
    ):
        if sort == "none" and count > 1:
            continue
        attributes = {"axis": axis, "mode": mode, "sort": sort} | ({"index_element_type": "i64"} if version > 1 else {})
        name = {"of": "TopK", "axis": axis, "mode": mode, "sort": sort, "k": count, "v": version}
        yield forms_openvino.node("SortIR", name, version, "TopK", [y, np.array(count)], attributes, [1])
    for axis, exclusive, reverse in itertools.product([0, 1, -1], [0, 1], [0, 1]):
        name = {"of": "CumSum", "axis": axis, "exclusive": exclusive, "reverse": reverse}
        inputs, flags = [x, np.array(axis)], {"exclusive": exclusive, "reverse": reverse}
        yield forms_onnx.given("Reduce", name, "CumSum", inputs, flags, [1], close=SUMS)
        own = {key: bool(flag) for key, flag in flags.items()}
        yield forms_openvino.node("ReduceIR", name, 3, "CumSum", inputs, own, [1], SUMS)
    for axis, in_order in itertools.product([None, 0, 1, -1], [0, 1]):
        attributes = {"sorted": in_order} | ({} if axis is None else {"axis": axis})
        name = {"of": "Unique", "axis": axis, "sorted": in_order}
        small = np.random.default_rng(3).integers(0, 2, (4, 3, 2)).astype(f32)
        yield forms_onnx.given("Sort", name, "Unique", [small], attributes, outputs=4)
        inputs = [small] if axis is None else [small, np.array(axis)]
        own = {"sorted": bool(in_order), "index_element_type": "i64", "count_element_type": "i64"}
        yield forms_openvino.node("SortIR", name, 10, "Unique", inputs, own, range(1, len(inputs)))


def recurrent():
    for of, direction, layout, bias, states, lengths, more in itertools.product(
        ["RNN", "GRU", "LSTM"], DIRECTIONS, [0, 1], [0, 1], [0, 1], [0, 1], [0, 1, 2]
    ):
        gates, ways = {"RNN": 1, "GRU": 3, "LSTM": 4}[of], 1 + (direction == "bidirectional")
        steps, batch, size, hidden = 3, 2, 3, 4
        lead = (batch, ways) if layout else (ways, batch)
        inputs = [
            floats(*((batch, steps) if layout else (steps, batch)), size),
            floats(ways, gates * hidden, size, seed=1),
            floats(ways, gates * hidden, hidden, seed=2),
        ]
        inputs += [
            floats(ways, 2 * gates * hidden, seed=3) if bias else None,
            np.array([3, 2], np.int32) if lengths else None,
            floats(*lead, hidden, seed=4) if states else None,
        ]
        attributes = {"hidden_size": hidden, "direction": direction, "layout": layout}
        if of == "LSTM":
            inputs += [
                floats(*lead, hidden, seed=5) if states else None,
                floats(ways, 3 * hidden, seed=6) if more == 2 else None,
            ]
        if of == "GRU":
            attributes["linear_before_reset"] = int(more == 2)
        if more == 1:
            attributes |= {"clip": 0.75} if of != "RNN" else {"activations": ["Relu"] * ways}
        while inputs[-1] is None:
            inputs.pop()
        name = {
            "of": of,
            "direction": direction,
            "layout": layout,
            "bias": bias,
            "states": states,
            "lengths": lengths,
            "more": more,
        }
        constants = [i for i in (1, 2, 3, 7) if i < len(inputs) and inputs[i] is not None]
        yield forms_onnx.given(
            "Recurrent", name, of, inputs, attributes, constants, outputs=3 if of == "LSTM" else 2, close=16 * SUMS
        )
    for of, direction, clip, linear, lengths in itertools.product(
        ["RNN", "GRU", "LSTM"], DIRECTIONS, [0.0, 0.75], [False, True], [[3, 3], [3, 2], [1, 3]]
    ):
        if linear and of != "GRU":
            continue
        gates, ways = {"RNN": 1, "GRU": 3, "LSTM": 4}[of], 1 + (direction == "bidirectional")
        steps, batch, size, hidden = 3, 2, 3, 4
        states = [floats(batch, ways, hidden, seed=i) for i in range(1 + (of == "LSTM"))]
        weights = [
            floats(ways, gates * hidden, size, seed=3),
            floats(ways, gates * hidden, hidden, seed=4),
            floats(ways, (gates + linear) * hidden, seed=5),
        ]
        inputs = [floats(batch, steps, size), *states, np.array(lengths), *weights]
        attributes = {"hidden_size": hidden, "direction": direction, "clip": clip}
        if of == "GRU":
            attributes["linear_before_reset"] = linear
        name = {"of": of, "direction": direction, "clip": clip, "linear": int(linear), "lengths": lengths}
        constants = range(len(inputs) - 3, len(inputs))
        yield forms_openvino.node("RecurrentIR", name, 5, f"{of}Sequence", inputs, attributes, constants, 16 * SUMS)


def products():
    for a, b, alpha, beta, c in itertools.product(
        [0, 1], [0, 1], [1.0, 0.5], [1.0, 0.0, -2.0], [None, [], [4], [3, 1], [3, 4]]
    ):
        inputs = [floats(*([5, 3] if a else [3, 5])), floats(*([4, 5] if b else [5, 4]), seed=1)]
        inputs += [] if c is None else [floats(*c, seed=2)]
        attributes = {"transA": a, "transB": b, "alpha": alpha, "beta": beta}
        yield forms_onnx.given(
            "Product", {"of": "Gemm"} | attributes | {"c": c}, "Gemm", inputs, attributes, close=SUMS
        )
    ranks = [
        ([5], [5]),
        ([5], [5, 4]),
        ([3, 5], [5]),
        ([2, 3, 5], [5, 4]),
        ([3, 5], [2, 5, 4]),
        ([2, 1, 3, 5], [6, 5, 4]),
        ([0, 5], [5, 4]),
        ([3, 0], [0, 4]),
    ]
    for (first, second), a, b in itertools.product(ranks, [False, True], [False, True]):
        shapes = [shape[:-2] + shape[-2:][::-1] if turned else shape for shape, turned in ((first, a), (second, b))]
        inputs = [floats(*shapes[0]), floats(*shapes[1], seed=1)]
        name = {"of": "MatMul", "a": first, "b": second}
        if not a and not b:
            yield forms_onnx.given("Product", name, "MatMul", inputs, close=SUMS)
        attributes = {"transpose_a": a, "transpose_b": b}
        yield forms_openvino.node("ProductIR", name | attributes, 1, "MatMul", inputs, attributes, (), SUMS)


def elements():
    x = np.array([-3.5, -2.5, -1.0, -0.5, -0.0, 0.0, 0.25, 0.5, 1.5, 2.5, 40.0, np.inf, -np.inf], f32)
    rows = [
        *[
            (of, {"alpha": alpha})
            for of in ("Elu", "LeakyRelu", "ThresholdedRelu", "Celu")
            for alpha in (0.25, 1.0, 2.0)
        ],
        *[("HardSigmoid", {"alpha": alpha, "beta": beta}) for alpha in (0.2, 1.0) for beta in (0.5, 0.0)],
        *[("Selu", {"alpha": alpha, "gamma": gamma}) for alpha in (1.5, 0.5) for gamma in (1.0, 2.0)],
        *[("Shrink", {"bias": bias, "lambd": width}) for bias in (0.0, 0.5) for width in (0.5, 1.0)],
        *[("Gelu", {"approximate": of}) for of in ("none", "tanh")],
        *[("IsInf", {"detect_negative": a, "detect_positive": b}) for a in (0, 1) for b in (0, 1)],
    ]
    for of, attributes in rows:
        finite = x if of in ("IsInf", "LeakyRelu", "ThresholdedRelu") else x[:-2]
        yield forms_onnx.given("Elements", {"of": of} | attributes, of, [finite], attributes, opset=20, close=8 * SUMS)
    for dtype, fmod in itertools.product([np.int8, np.int32, i64, np.uint8, f32], [0, 1]):
        if dtype == f32 and not fmod:
            continue
        a, b = np.array([7, 7, 6, 5, 0, 9]).astype(dtype), np.array([3, 4, 2, 5, 3, 7]).astype(dtype)
        if np.dtype(dtype).kind != "u":
            a, b = a * np.array([1, -1, 1, -1, 1, -1]).astype(dtype), b * np.array([1, 1, -1, -1, 1, -1]).astype(dtype)
        yield forms_onnx.given(
            "Elements", {"of": "Mod", "type": np.dtype(dtype), "fmod": fmod}, "Mod", [a, b], {"fmod": fmod}
        )
    numbers = [np.int8, np.uint8, np.int32, i64, np.float16, f32, np.float64, np.bool_]
    for source, target in itertools.product(numbers, numbers):
        y = np.array([0, 1, 3, 100]).astype(source) if source != f32 else f32([0.5, 1.5, -2.5, 100.75])
        if source == f32 and np.dtype(target).kind == "u":
            y = np.abs(y)
        name = {"of": "Cast", "from": np.dtype(source), "to": np.dtype(target)}
        to = {
            "int8": "INT8",
            "uint8": "UINT8",
            "int32": "INT32",
            "int64": "INT64",
            "float16": "FLOAT16",
            "float32": "FLOAT",
            "float64": "DOUBLE",
            "bool": "BOOL",
        }
        yield forms_onnx.given("Elements", name, "Cast", [y], {"to": getattr(TensorProto, to[np.dtype(target).name])})
    for axis, rank, negative in itertools.product([0, 1, -1, -2], [1, 2], [0, 1]):
        indices = np.array([0, 2, 4 - 5 * negative, 7]) if rank == 1 else np.array([[0, 2], [4 - 5 * negative, 1]])
        inputs = [indices, np.array(5), np.array([-1.0, 2.5], f32)]
        yield forms_onnx.given(
            "Elements",
            {"of": "OneHot", "axis": axis, "rank": rank, "negative": negative},
            "OneHot",
            inputs,
            {"axis": axis},
            [1],
        )
        if not negative:
            inputs = [indices, np.array(5), f32(2.5), f32(-1)]
            yield forms_openvino.node(
                "ElementsIR",
                {"of": "OneHot", "axis": axis, "rank": rank},
                1,
                "OneHot",
                inputs,
                {"axis": axis},
                [1, 2, 3],
            )
    for direction, dtype in itertools.product(["LEFT", "RIGHT"], [np.uint8, np.uint32, np.uint64]):
        inputs = [np.array([1, 5, 200], dtype), np.array([1, 3, 0], dtype)]
        yield forms_onnx.given(
            "Elements",
            {"of": "BitShift", "direction": direction, "type": np.dtype(dtype)},
            "BitShift",
            inputs,
            {"direction": direction},
        )


def elements_of_openvino():
    x = np.array([-3.5, -2.5, -1.0, -0.5, -0.0, 0.0, 0.25, 0.5, 1.5, 2.5, 40.0], f32)
    infinite = np.append(x, f32([np.inf, -np.inf]))
    rows = [
        *[("Elu", 1, {"alpha": alpha}) for alpha in (0.25, 1.0, 2.0)],
        *[("Gelu", 7, {"approximation_mode": mode}) for mode in ("erf", "tanh")],
        *[("Round", 5, {"mode": mode}) for mode in ("half_to_even", "half_away_from_zero")],
        *[("Clamp", 1, {"min": low, "max": high}) for low in (-1.0, 0.25) for high in (0.25, 2.0)],
        *[("IsInf", 10, {"detect_negative": a, "detect_positive": b}) for a in (False, True) for b in (False, True)],
        ("Swish", 4, {}), ("HSwish", 4, {}), ("HSigmoid", 5, {}), ("Mish", 4, {}), ("SoftPlus", 4, {}), ("SoftSign", 9, {}),
    ]  # fmt: skip
    for of, version, attributes in rows:
        yield forms_openvino.node(
            "ElementsIR",
            {"of": of} | attributes,
            version,
            of,
            [infinite if of == "IsInf" else x],
            attributes,
            (),
            8 * SUMS,
        )
    for alpha, beta in itertools.product([0.2, 1.5], [0.5, 1.0]):
        for of in ("HardSigmoid", "Selu"):
            yield forms_openvino.node(
                "ElementsIR",
                {"of": of, "alpha": alpha, "beta": beta},
                1,
                of,
                [x, f32(alpha), f32(beta)],
                {},
                [1, 2],
                8 * SUMS,
            )
    for of, dtype in itertools.product(["Mod", "FloorMod", "Divide"], [np.int32, i64, f32]):
        pairs = [np.array([7, -7, 6, -5, 0, -9]).astype(dtype), np.array([3, 4, -2, -5, 3, -7]).astype(dtype)]
        for down in [False, True] if of == "Divide" else [None]:
            attributes = {"auto_broadcast": "numpy"} | ({} if down is None else {"m_pythondiv": down})
            yield forms_openvino.node(
                "ElementsIR", {"of": of, "type": np.dtype(dtype), "down": down}, 1, of, pairs, attributes, (), SUMS
            )
    for levels, spans, order in itertools.product([2, 16, 255, 256], ["tensor", "channels"], ["up", "down", "same"]):
        shape = [] if spans == "tensor" else [1, 3, 1]
        low, high = np.full(shape, -1, f32), np.full(shape, 1.5, f32)
        ends = {"up": (low, high), "down": (high, low), "same": (low, low)}[order]
        inputs = [2 * floats(2, 3, 4), low, high, *ends]
        name = {"of": "FakeQuantize", "levels": levels, "spans": spans, "order": order}
        yield forms_openvino.node(
            "QuantizationIR", name, 1, "FakeQuantize", inputs, {"levels": levels}, [1, 2, 3, 4], SUMS
        )
    for to, shift, spans in itertools.product(["f8e4m3", "f8e5m2"], [0, 1], ["tensor", "channels"]):
        shape = [] if spans == "tensor" else [1, 3, 1]
        inputs = [4 * floats(2, 3, 4), np.full(shape, 0.5, f32)] + ([np.full(shape, 0.25, f32)] if shift else [])
        name = {"of": "FakeConvert", "to": to, "shift": shift, "spans": spans}
        yield forms_openvino.node(
            "QuantizationIR", name, 13, "FakeConvert", inputs, {"destination_type": to}, range(1, len(inputs)), SUMS
        )
    for mode, shape, axes in [
        ("numpy", [2, 3, 4], None),
        ("numpy", [4], None),
        ("bidirectional", [2, 1, 1], None),
        ("explicit", [3, 5, 4], [0, 2]),
        ("explicit", [4, 3, 4], [1, 2]),
    ]:
        data = floats(4) if shape == [4] else floats(3, 4)
        inputs = [data, np.array(shape)] + ([] if axes is None else [np.array(axes)])
        name = {"of": "Broadcast", "mode": mode, "shape": shape}
        yield forms_openvino.node("ElementsIR", name, 3, "Broadcast", inputs, {"mode": mode}, range(1, len(inputs)))
    for right, dtype in itertools.product([False, True], [f32, np.int32]):
        buckets, values = np.array([1, 3, 3, 9]).astype(dtype), np.array([[0, 1, 2], [3, 9, 12]]).astype(dtype)
        name = {"right": int(right), "type": np.dtype(dtype)}
        attributes = {"with_right_bound": right, "output_type": "i64"}
        yield forms_openvino.node("SortIR", {"of": "Bucketize"} | name, 3, "Bucketize", [values, buckets], attributes)
        yield forms_openvino.node(
            "SortIR", {"of": "SearchSorted"} | name, 15, "SearchSorted", [buckets, values[0]], {"right_mode": right}
        )
    table = floats(5, 3)
    for of, weights, default, reduction in itertools.product(
        ["EmbeddingBagOffsets", "EmbeddingBagOffsetsSum"], [0, 1], [-1, 2], ["sum", "mean"]
    ):
        if of.endswith("Sum") and reduction == "mean" or weights and reduction == "mean":
            continue
        inputs = [table, np.array([0, 2, 3, 4]), np.array([0, 2, 2]), np.array(default)] + (
            [floats(4, seed=1)] if weights else []
        )
        attributes = {} if of.endswith("Sum") else {"reduction": reduction}
        version = 3 if of.endswith("Sum") else 15
        name = {"of": of, "weights": weights, "default": default, "reduction": reduction}
        yield forms_openvino.node("GatherIR", name, version, of, inputs, attributes, (), SUMS)
    for batch, last, negative in itertools.product([0, 1, 2], [1, 2], [0, 1]):
        data = floats(2, 3, 4, 5)
        sizes = np.array(data.shape[batch : batch + last])
        indices = np.random.default_rng(2).integers(-sizes * negative, sizes, [*data.shape[:batch], 2, last])
        name = {"of": "GatherND", "batch": batch, "last": last, "negative": negative}
        yield forms_openvino.node("GatherIR", name, 8, "GatherND", [data, indices], {"batch_dims": batch})
    for axis, rank in itertools.product([0, 1, -1], [0, 1, 2]):
        data = floats(3, 4, 5)
        indices = np.array([0, 2]) if rank == 1 else np.array([[0, 2]]) if rank else np.array(1)
        updates = floats(*data.shape[: axis % 3], *indices.shape, *data.shape[axis % 3 + 1 :], seed=1)
        name = {"of": "ScatterUpdate", "axis": axis, "rank": rank}
        yield forms_openvino.node(
            "ScatterIR", name, 3, "ScatterUpdate", [data, indices, updates, np.array(axis)], {}, [3]
        )


def forms():
    return itertools.chain(layout(), reductions(), recurrent(), products(), elements(), elements_of_openvino())
