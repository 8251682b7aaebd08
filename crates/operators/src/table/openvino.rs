//! The operators of OpenVINO, but for those of elements and networks.

use crate::allowed::{Allowed, Carries};
use crate::elementwise::types;
use crate::indexing::rows;
use crate::rounding::Rounding::{Chosen, Exact, Lowered, Moved, Open, Order};
use crate::row::{Role, Row, Sequence, openvino};
use crate::words;
use crate::work::{Each, Work};
use crate::{
    control_flow, dialects, elementwise, generate, indexing, layout, matmul, numbers, range, reduction,
    shape, signal,
};

pub(super) const OPENVINO: &[Row] = rows![
    openvino("Assign", Open)
        .works(Work::None)
        .infer(layout::reshaped::identity)
        .build(layout::identity::Identity::build)
        .stateful(),
    openvino("BatchToSpace", Moved).infer(layout::openvino::batches).becomes(
        "Reshape, Transpose, Slice",
        "",
        indexing::to_onnx::batches,
    ),
    openvino("Broadcast", Moved)
        .words(&[words::BROADCAST_MODE])
        .infer(layout::openvino::broadcast)
        .eval(layout::openvino::run_broadcast)
        .becomes("Expand, Unsqueeze", "", layout::to_onnx::broadcast)
        .role(Role::Expand),
    openvino("Bucketize", Chosen)
        .works(Work::Search { table: 1, values: 0 })
        .infer(reduction::openvino::bucketize)
        .becomes(
            "Less, LessOrEqual, ReduceSum",
            "floats: NaN; two element types: integers of 64 bits",
            reduction::to_onnx::bucketize,
        ),
    openvino("Concat", Moved)
        .runs_strings()
        .infer(layout::infer::concat)
        .eval(layout::eval::concat)
        .becomes("Concat", "", layout::to_onnx::concat)
        .role(Role::Join),
    openvino("ConvertPromoteTypes", Lowered).works(Work::None).lowers(types::promote),
    openvino("CumSum", Order)
        .allows(Allowed::Scan)
        .works(Work::EachInput(Each::arithmetic(1)))
        .infer(elementwise::infer::cumulative)
        .eval(reduction::eval::cum_sum)
        .becomes("CumSum", "floats: rounding", reduction::to_onnx::cum_sum),
    openvino("DFT", Order).transforms(),
    openvino("Einsum", Order).works(Work::Einsum).infer(matmul::infer::einsum).becomes(
        "Einsum",
        "floats: rounding",
        reduction::to_onnx::einsum,
    ),
    openvino("EmbeddingBagOffsets", Order)
        .words(&[words::BAG])
        .works(Work::Bags { weights: 4 })
        .infer(|cx| indexing::openvino::embedding(cx, 2))
        .becomes("Gather, Mul, ScatterND, Div", "floats: rounding", indexing::segments_to_onnx::embedding),
    openvino("EmbeddingBagOffsetsSum", Order)
        .works(Work::Bags { weights: 4 })
        .infer(|cx| indexing::openvino::embedding(cx, 2))
        .becomes("Gather, Mul, ScatterND", "floats: rounding", indexing::segments_to_onnx::embedding),
    openvino("EmbeddingBagPacked", Order)
        .words(&[words::BAG])
        .works(Work::Bags { weights: 2 })
        .infer(|cx| indexing::openvino::embedding(cx, 1))
        .becomes("Gather, Mul, ReduceSum, ReduceMean", "floats: rounding", indexing::to_onnx::embedding_bag),
    openvino("EmbeddingBagPackedSum", Order)
        .works(Work::Bags { weights: 2 })
        .infer(|cx| indexing::openvino::embedding(cx, 1))
        .becomes("Gather, Mul, ReduceSum", "floats: rounding", indexing::to_onnx::embedding_bag),
    openvino("EmbeddingSegmentsSum", Order)
        .works(Work::Bags { weights: 5 })
        .infer(indexing::openvino::segments)
        .becomes("Gather, Mul, ScatterND", "floats: rounding", indexing::segments_to_onnx::embedding),
    openvino("Eye", Moved).infer(generate::openvino::eye).eval(generate::openvino::run_eye).becomes(
        "EyeLike, ConstantOfShape, Expand",
        "",
        layout::to_onnx::eye,
    ),
    openvino("Gather", Moved)
        .runs_strings()
        .infer(indexing::openvino::gather)
        .eval(indexing::openvino::run_gather)
        .becomes("Gather, GatherND", "since version 8: indices out of range", indexing::to_onnx::gather,),
    openvino("GatherElements", Moved)
        .infer(indexing::openvino::gather_elements)
        .eval(indexing::eval::gather_elements)
        .becomes("GatherElements", "", indexing::to_onnx::gather_elements),
    openvino("GatherND", Moved)
        .numbers(&[numbers::BATCH_AXES])
        .infer(indexing::openvino::gather_nd_merged)
        .eval(indexing::openvino::run_gather_nd)
        .becomes("GatherND, Reshape", "", indexing::to_onnx::gather_nd),
    openvino("GatherTree", Moved)
        .works(Work::None)
        .infer(indexing::openvino::gather_tree)
        .lowers(rows::gather_tree),
    openvino("GroupedMatMul", Lowered).lowers(rows::grouped_product),
    openvino("Identity", Moved)
        .infer(layout::reshaped::identity)
        .build(layout::identity::Identity::build)
        .becomes_unary("Identity")
        .role(Role::Copy),
    openvino("IDFT", Order).transforms(),
    openvino("If", Moved)
        .runs_strings()
        .allows(Allowed::Unknown)
        .works(Work::Graphs)
        .infer(control_flow::openvino::branch)
        .build(control_flow::openvino::PortedIf::build)
        .converts("If", "", control_flow::to_onnx::branch)
        .role(Role::If),
    openvino("Inverse", Order)
        .allows(Allowed::Unknown)
        .works(Work::Elimination { parts: 1 })
        .infer(matmul::infer::square)
        .computes(matmul::elimination::inverse)
        .lower(dialects::elimination::inverse)
        .becomes(dialects::elimination::WRITTEN, "rounding", |l| dialects::elimination::rounded(
            l,
            dialects::elimination::inverse
        )),
    openvino("IRDFT", Order).transforms(),
    openvino("Loop", Moved)
        .allows(Allowed::Unknown)
        .works(Work::Graphs)
        .infer(control_flow::openvino::repeat)
        .build(control_flow::openvino::Repeat::build)
        .converts("Loop, Slice, Gather, Transpose, Reshape", "parts of a loop that does not run", |cx| {
            control_flow::to_onnx::repeat(cx, true)
        }),
    openvino("MatMul", Order)
        .weights(&[0, 1])
        .works(Work::MatMul)
        .infer(matmul::openvino::mat_mul)
        .eval(matmul::openvino::run_mat_mul)
        .becomes("MatMul, Transpose", "floats: rounding", matmul::to_onnx::mat_mul),
    openvino("Multinomial", Open)
        .infer(generate::openvino::multinomial)
        .lowers(generate::lowered::multinomial)
        .random(),
    openvino("NonZero", Exact)
        .works(Work::EachInput(Each::COMPARISON))
        .infer(reduction::infer::non_zero)
        .eval(reduction::openvino::run_non_zero)
        .becomes(
            "NonZero, Cast",
            "of a scalar; as int32: indices of 2^31 or more",
            layout::to_onnx::non_zero,
        ),
    openvino("OneHot", Moved)
        .carries(Carries::Open)
        .words(&[words::NEGATIVES])
        .infer(generate::openvino::one_hot)
        .eval(generate::openvino::run_one_hot)
        .becomes("OneHot, Where", "", layout::to_onnx::one_hot),
    openvino("Pad", Moved)
        .words(&[words::PAD_KIND])
        .infer(layout::openvino::pad)
        .eval(layout::openvino::run_pad)
        .becomes("Pad, Concat; symmetric: Range, Mod, Gather", "", layout::to_onnx::pad)
        .role(Role::Pad),
    openvino("RandomUniform", Open)
        .words(&[words::PHILOX])
        .works(Work::EachOutput(Each::arithmetic(1)))
        .infer(generate::openvino::random_uniform)
        .lowers(generate::lowered::uniform)
        .random(),
    openvino("Range", Open)
        .sequence(Sequence::Range)
        .works(Work::EachOutput(Each::arithmetic(2)))
        .signatures_are(&[range::eval::RANGE_1, range::eval::RANGE_4])
        .infer(range::infer::rule)
        .build(range::eval::RangeOp::build)
        .becomes(
            "Range, Cast",
            "floats: rounding, and with it perhaps the number of elements; uint64: 2^63 or more",
            layout::to_onnx::range,
        ),
    openvino("RDFT", Order).transforms(),
    openvino("ReduceL1", Order).reduces_listed(Each::arithmetic(1)).becomes(
        "ReduceL1",
        "floats: rounding; computed axes named twice",
        |l| { reduction::to_onnx::sums(l, "ReduceL1") }
    ),
    openvino("ReduceL2", Order).reduces_listed(Each::arithmetic(1)).becomes(
        "ReduceL2",
        "rounding; computed axes named twice",
        reduction::to_onnx::reduce_l2
    ),
    openvino("ReduceLogicalAnd", Exact).meaning("ReduceMin").reduces_listed(Each::arithmetic(1)).becomes(
        "ReduceMin, Cast",
        "no elements; computed axes named twice",
        |l| { reduction::to_onnx::of_truth(l, "ReduceMin") }
    ),
    openvino("ReduceLogicalOr", Exact).meaning("ReduceMax").reduces_listed(Each::arithmetic(1)).becomes(
        "ReduceMax, Cast",
        "no elements; computed axes named twice",
        |l| { reduction::to_onnx::of_truth(l, "ReduceMax") }
    ),
    openvino("ReduceMax", Chosen).carries(Carries::Ends).reduces_listed(Each::COMPARISON).becomes(
        "ReduceMax",
        "floats: NaN; no elements; computed axes named twice",
        |l| { reduction::to_onnx::min_max(l, "ReduceMax") }
    ),
    openvino("ReduceMean", Order).reduces_listed(Each::arithmetic(1)).becomes(
        "ReduceMean",
        "rounding; computed axes named twice",
        reduction::to_onnx::reduce_mean
    ),
    openvino("ReduceMin", Chosen).carries(Carries::Ends).reduces_listed(Each::COMPARISON).becomes(
        "ReduceMin",
        "floats: NaN; no elements; computed axes named twice",
        |l| { reduction::to_onnx::min_max(l, "ReduceMin") }
    ),
    openvino("ReduceProd", Order).reduces_listed(Each::arithmetic(1)).becomes(
        "ReduceProd",
        "floats: rounding; computed axes named twice",
        |l| { reduction::to_onnx::sums(l, "ReduceProd") }
    ),
    openvino("ReduceSum", Order).reduces_listed(Each::arithmetic(1)).becomes(
        "ReduceSum",
        "floats: rounding; computed axes named twice",
        |l| { reduction::to_onnx::sums(l, "ReduceSum") }
    ),
    openvino("Reshape", Moved)
        .runs_strings()
        .infer(layout::openvino::reshape)
        .eval(layout::openvino::run_reshape)
        .becomes("Reshape", "", layout::to_onnx::reshape)
        .role(Role::Reshape),
    openvino("Reverse", Moved)
        .words(&[words::REVERSE])
        .works(Work::None)
        .infer(elementwise::infer::same)
        .eval(layout::openvino::run_reverse)
        .becomes("Slice", "", indexing::to_onnx::reverse),
    openvino("ReverseSequence", Moved).infer(elementwise::infer::same).becomes(
        "ReverseSequence, Transpose",
        "",
        layout::to_onnx::reverse_sequence,
    ),
    openvino("Roll", Moved).infer(layout::openvino::roll).eval(layout::openvino::run_roll).becomes(
        "Range, Mod, Gather",
        "",
        indexing::to_onnx::roll,
    ),
    openvino("ScatterElementsUpdate", Moved)
        .words(&[words::SCATTER_ELEMENTS])
        .works(Work::None)
        .infer(indexing::openvino::scatter_elements_update)
        .build(indexing::openvino::scatter_elements)
        .lower(rows::scatter_elements)
        .becomes(
            "ScatterElements; of means and without initial values: Expand, Max, Div",
            "indices that occur twice",
            indexing::to_onnx::scatter_elements_update,
        ),
    openvino("ScatterNDUpdate", Moved)
        .words(&[words::SCATTER_ND])
        .works(Work::None)
        .infer(indexing::openvino::scatter_nd_update)
        .eval(indexing::openvino::run_scatter_nd)
        .becomes("ScatterND", "indices that occur twice", indexing::to_onnx::scatter_nd_update),
    openvino("ScatterUpdate", Moved)
        .works(Work::None)
        .infer(indexing::openvino::scatter_update)
        .eval(indexing::openvino::run_scatter_update)
        .becomes("ScatterElements, Expand", "indices that occur twice", indexing::to_onnx::scatter_update),
    openvino("SearchSorted", Chosen)
        .works(Work::Search { table: 0, values: 1 })
        .infer(reduction::openvino::search_sorted)
        .becomes("Less, LessOrEqual, ReduceSum", "floats: NaN", reduction::to_onnx::search_sorted),
    openvino("SegmentMax", Chosen).words(&[words::FILL]).infer(indexing::openvino::segments).becomes(
        "ScatterND, Where, Slice",
        "floats: NaN",
        indexing::segments_to_onnx::segment_max,
    ),
    openvino("ShapeOf", Moved)
        .runs_strings()
        .signatures_are(&[shape::eval::SHAPE_OF_1, shape::eval::SHAPE_OF_3])
        .infer(shape::infer::shape_rule)
        .build(shape::eval::ShapeOp::typed)
        .becomes("Shape, Cast", "as int32: sizes of 2^31 or more", layout::to_onnx::shape_of)
        .role(Role::Shape)
        .shape_only(),
    openvino("ShuffleChannels", Moved).infer(elementwise::infer::same).becomes(
        "Reshape, Transpose",
        "",
        layout::to_onnx::shuffle_channels,
    ),
    openvino("Slice", Moved)
        .runs_strings()
        .infer(indexing::infer::slice)
        .eval(indexing::eval::slice)
        .becomes("Slice", "", indexing::to_onnx::slice)
        .role(Role::Slice),
    openvino("SliceScatter", Moved)
        .works(Work::None)
        .infer(elementwise::infer::same)
        .lowers(indexing::lowered::slice_scatter),
    openvino("SpaceToBatch", Moved).infer(layout::openvino::batches).becomes(
        "Reshape, Transpose, Pad",
        "",
        indexing::to_onnx::batches,
    ),
    openvino("SparseFillEmptyRows", Moved).works(Work::None).lowers(rows::fill_empty_rows),
    openvino("Split", Moved)
        .runs_strings()
        .numbers(&[numbers::PARTS])
        .infer(layout::openvino::split)
        .eval(layout::openvino::run_split)
        .becomes("Split", "", indexing::to_onnx::split)
        .role(Role::Split),
    openvino("Squeeze", Moved)
        .runs_strings()
        .infer(layout::openvino::squeeze)
        .eval(layout::openvino::run_squeeze)
        .becomes(
            "Squeeze",
            "named axes of other than one element, if that is not known",
            layout::to_onnx::squeeze,
        )
        .role(Role::View),
    openvino("STFT", Order)
        .allows(Allowed::Unknown)
        .works(Work::FourierOfFrames)
        .infer(signal::openvino::windows_transformed)
        .becomes("STFT", "rounding", signal::to_onnx::stft),
    openvino("StridedSlice", Moved)
        .runs_strings()
        .numbers(&[numbers::MASK_BITS, numbers::MASKS])
        .infer(indexing::openvino::strided_slice)
        .eval(indexing::openvino::run_strided_slice)
        .becomes("Slice, Gather, Unsqueeze", "", indexing::to_onnx::strided_slice)
        .role(Role::Slice),
    openvino("TensorIterator", Moved)
        .allows(Allowed::Unknown)
        .works(Work::Graphs)
        .infer(control_flow::openvino::repeat)
        .build(control_flow::openvino::Repeat::build)
        .converts("Loop, Slice, Gather, Transpose, Reshape", "parts of a loop that does not run", |cx| {
            control_flow::to_onnx::repeat(cx, false)
        }),
    openvino("Tile", Moved)
        .infer(layout::openvino::tile)
        .eval(layout::openvino::run_tile)
        .becomes("Tile, Concat, Unsqueeze", "", layout::to_onnx::tile)
        .role(Role::Tile),
    openvino("TopK", Chosen)
        .carries(Carries::Ends)
        .words(&[words::EXTREME, words::SORT])
        .works(Work::EachInput(Each::COMPARISON))
        .infer(reduction::openvino::top_k)
        .eval(reduction::openvino::run_top_k)
        .becomes(
            "TopK, GatherElements, Cast",
            "floats: NaN; equal elements unless `stable`",
            reduction::to_onnx::top_k,
        ),
    openvino("Transpose", Moved)
        .runs_strings()
        .infer(layout::openvino::transpose)
        .eval(layout::openvino::run_transpose)
        .becomes("Transpose", "", layout::to_onnx::transpose)
        .role(Role::Transpose),
    openvino("Unique", Chosen)
        .works(Work::EachInput(Each::COMPARISON))
        .infer(reduction::openvino::unique)
        .eval(reduction::openvino::run_unique)
        .becomes("Unique", "floats: NaN", reduction::to_onnx::unique),
    openvino("Unsqueeze", Moved)
        .runs_strings()
        .infer(layout::openvino::unsqueeze)
        .eval(layout::openvino::run_unsqueeze)
        .becomes("Unsqueeze", "", layout::to_onnx::unsqueeze)
        .role(Role::View),
    openvino("VariadicSplit", Moved)
        .runs_strings()
        .infer(layout::openvino::variadic_split)
        .eval(layout::openvino::run_variadic_split)
        .becomes("Split; with an open length: Shape, Sub, Where", "", indexing::to_onnx::variadic_split)
        .role(Role::Split),
];
