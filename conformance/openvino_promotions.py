"""Writes the element types that ConvertPromoteTypes of OpenVINO makes of each two.

    python conformance/openvino_promotions.py conformance/recorded/openvino_promotions.txt

A line has `unsafe` or `safe`, `tensors`, `first` or `second` (which one is a scalar that does not decide), the first type, and
the result for each second type in the order of the first line; `-` where OpenVINO refuses them.
"""

import pathlib
import sys

import openvino as ov
from openvino import opset1, opset14

# Those that Gradus can cast.
TYPES = "boolean u4 i4 u8 i8 u16 i16 u32 i32 u64 i64 f8e4m3 f8e5m2 bf16 f16 f32 f64".split()
# By what is a scalar, the ranks.
RANKS = {"tensors": (1, 1), "first": (0, 1), "second": (1, 0)}


def promoted(types, ranks, unsafe: bool) -> str:
    inputs = [opset1.parameter(ov.PartialShape([-1] * rank), getattr(ov.Type, name)) for name, rank in zip(types, ranks)]
    try:
        node = opset14.convert_promote_types(*inputs, unsafe, True, "i32")
    except RuntimeError:
        return "-"
    first, second = (node.output(i).get_element_type().get_type_name() for i in range(2))
    assert first == second
    return first


def main():
    lines = [" ".join(TYPES)]
    for unsafe in (False, True):
        for name, ranks in RANKS.items():
            for first in TYPES:
                results = [promoted((first, second), ranks, unsafe) for second in TYPES]
                lines.append(" ".join(["unsafe" if unsafe else "safe", name, first, *results]))
    pathlib.Path(sys.argv[1]).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
