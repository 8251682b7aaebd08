//! The operators of ONNX on sequences and optionals.

use crate::allowed::Allowed;
use crate::rounding::Rounding::Moved;
use crate::row::{Row, onnx};
use crate::work::Work;
use crate::{control_flow, sequence};

pub(super) const SEQUENCES: &[Row] = rows![
    onnx("ConcatFromSequence", Moved)
        .works(Work::None)
        .infer(sequence::infer::concat_from_sequence)
        .eval(sequence::eval::concat)
        .converts("Concat, Unsqueeze; of slices: Transpose, Reshape", "", sequence::to_openvino::concat),
    onnx("Optional", Moved)
        .works(Work::None)
        .infer(sequence::infer::optional)
        .eval(sequence::eval::optional)
        .converts("what it holds", "", sequence::to_openvino::optional),
    onnx("OptionalGetElement", Moved)
        .works(Work::None)
        .infer(sequence::infer::optional_get_element)
        .eval(sequence::eval::get_element)
        .converts("what it holds", "", sequence::to_openvino::held),
    onnx("OptionalHasElement", Moved)
        .works(Work::None)
        .infer(sequence::infer::optional_has_element)
        .eval(sequence::eval::has_element),
    onnx("SequenceAt", Moved).works(Work::None).infer(sequence::infer::at).eval(sequence::eval::at).converts(
        "the item; of slices: Gather, Slice",
        "items of unknown shapes",
        sequence::to_openvino::at,
    ),
    onnx("SequenceConstruct", Moved)
        .works(Work::None)
        .infer(sequence::infer::sequence_construct)
        .eval(sequence::eval::construct)
        .converts("the items", "", sequence::to_openvino::construct),
    onnx("SequenceEmpty", Moved)
        .works(Work::None)
        .infer(sequence::infer::sequence_empty)
        .eval(sequence::eval::sequence_empty)
        .converts("no items", "", sequence::to_openvino::empty),
    onnx("SequenceErase", Moved)
        .works(Work::None)
        .infer(sequence::infer::erase)
        .eval(sequence::eval::erase)
        .converts(
            "the items; of slices: Slice, Concat",
            "items of unknown shapes",
            sequence::to_openvino::erase,
        ),
    onnx("SequenceInsert", Moved)
        .works(Work::None)
        .infer(sequence::infer::insert)
        .eval(sequence::eval::insert)
        .converts(
            "the items; of slices: Reshape, Concat",
            "items of unknown shapes",
            sequence::to_openvino::insert,
        ),
    onnx("SequenceLength", Moved)
        .works(Work::None)
        .infer(sequence::infer::sequence_length)
        .eval(sequence::eval::sequence_length)
        .converts("a constant; of slices: ShapeOf, Slice", "", sequence::to_openvino::length),
    onnx("SequenceMap", Moved)
        .allows(Allowed::Unknown)
        .works(Work::Graphs)
        .infer(control_flow::infer::sequence_map)
        .build(control_flow::eval::SequenceMap::build)
        .converts("the nodes of its graph, for each item", "", control_flow::to_openvino::map),
    onnx("SplitToSequence", Moved)
        .works(Work::None)
        .infer(sequence::infer::split_to_sequence)
        .eval(sequence::eval::split)
        .converts(
            "VariadicSplit; into slices: Transpose, Unsqueeze, Range, CumSum",
            "",
            sequence::to_openvino::split,
        ),
];
