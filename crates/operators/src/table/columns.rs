//! Columns that a build without the features `run` and `convert` leaves out: the rows stay as they
//! are, and what they are given for such a column is not compiled.

/// A list of rows, each with its columns.
macro_rules! rows {
    [$($make:ident($($given:tt)*) $(.$column:ident($($value:tt)*))*),* $(,)?] => {
        &[$({
            let row = $make($($given)*);
            $(let row = column!(row $column $($value)*);)*
            row
        }),*]
    };
}

/// A row with one column more, if the build has it, or with columns that go together: a function of
/// each element (`maps`), also of reals (`maps_real`, and OpenVINO's `maps_floats`), an operation of
/// two (`combines`, and OpenVINO's `combines_both`), one operator of the other standard by a name
/// (`converts_unary`, `becomes_function`, …), or those of a family (`activates`, `reduces_axes`, …).
macro_rules! column {
    ($row:ident eval $($value:tt)*) => { evaluated!($row eval $($value)*) };
    ($row:ident computes $($value:tt)*) => { evaluated!($row computes $($value)*) };
    ($row:ident build $($value:tt)*) => { evaluated!($row build $($value)*) };
    ($row:ident body $($value:tt)*) => { evaluated!($row body $($value)*) };
    ($row:ident maps $($value:tt)*) => {{
        let row = $row.map($($value)*);
        evaluated!(row build elementwise::unary::build)
    }};
    ($row:ident maps_real $($value:tt)*) => {{
        let row = $row.infer(elementwise::infer::same).real($($value)*);
        evaluated!(row build elementwise::unary::build)
    }};
    ($row:ident maps_floats $($value:tt)*) => {{
        let row = $row.infer(elementwise::infer::same).real($($value)*);
        evaluated!(row build elementwise::openvino::floats)
    }};
    ($row:ident combines $($value:tt)*) => {{
        let row = $row.operation($($value)*);
        evaluated!(row build elementwise::binary::build)
    }};
    ($row:ident combines_both $($value:tt)*) => {{
        let row = $row.words(&[words::BROADCAST]).operation($($value)*);
        evaluated!(row build elementwise::openvino::both)
    }};
    ($row:ident activates $function:expr, $each:expr) => {{
        let row = $row.carries(Carries::As($function)).each_output($each).infer(elementwise::infer::same);
        evaluated!(row computes elementwise::activations::eval)
    }};
    ($row:ident reduces_axes $reduces:expr, $each:expr) => {{
        let row = $row.lists(&[1]).zeros(ZeroSigns::OfFirst).reduces($reduces);
        let row = row.works(Work::EachInput($each)).infer(reduction::infer::reduce);
        evaluated!(row eval reduction::eval::reduce)
    }};
    ($row:ident reduces_listed $each:expr) => {{
        let row = $row.works(Work::EachInput($each)).infer(reduction::infer::reduce);
        evaluated!(row eval reduction::openvino::run_reduce)
    }};
    ($row:ident recurs $network:ident, $name:literal) => {{
        let row = $row.allows(Allowed::Unknown).words(&[words::DIRECTION, words::GATES]).weights(&[1, 2]);
        let row = row.zeros(ZeroSigns::OfFirst).works(Work::Recurrent { weight: 1 });
        let row = row.infer(recurrent::infer::recurrent);
        let row = evaluated!(row computes recurrent::eval::recurrent);
        let row = converted!(row instead_of recurrent::to_openvino::may_lack, recurrent::to_openvino::as_loop);
        converted!(row converts $name, "rounding", |cx| {
            recurrent::to_openvino::recurrent(cx, recurrent::to_openvino::Network::$network)
        })
    }};
    ($row:ident transforms) => {{
        let row = $row.allows(Allowed::Unknown).works(Work::Fourier).infer(signal::openvino::transformed);
        written!(row becomes "DFT, Shape, Gather, Equal, Where", "rounding", signal::to_onnx::dft)
    }};
    ($row:ident auto_pads) => { $row.words(&[words::AUTO_PAD]).numbers(&[numbers::WINDOW_PADS]) };
    ($row:ident pads $($word:expr)?) => { $row.words(&[words::PADS $(, $word)?]).numbers(numbers::WINDOWS) };
    ($row:ident converts_unary $name:literal) => { converted!($row converts $name, "", |cx| cx.unary($name)) };
    ($row:ident converts_function $name:literal) => {
        converted!($row converts $name, "rounding", |cx| cx.function($name))
    };
    ($row:ident converts_binary $name:literal) => {
        converted!($row converts $name, "", |cx| elementwise::to_openvino::binary(cx, $name))
    };
    ($row:ident becomes_unary $name:literal) => { written!($row becomes $name, "", |l| l.unary($name)) };
    ($row:ident becomes_function $name:literal) => {
        written!($row becomes $name, "rounding", |l| l.function($name))
    };
    ($row:ident becomes_binary $name:literal) => {
        written!($row becomes $name, "", |l| elementwise::to_onnx::binary(l, $name))
    };
    ($row:ident lower $($value:tt)*) => { written!($row lower $($value)*) };
    ($row:ident becomes $($value:tt)*) => { written!($row becomes $($value)*) };
    ($row:ident converts $($value:tt)*) => { converted!($row converts $($value)*) };
    ($row:ident before $($value:tt)*) => { converted!($row before $($value)*) };
    ($row:ident composed_before $($value:tt)*) => { converted!($row composed_before $($value)*) };
    ($row:ident sampled_before $($value:tt)*) => { converted!($row sampled_before $($value)*) };
    ($row:ident instead $($value:tt)*) => { converted!($row instead $($value)*) };
    ($row:ident idle $($value:tt)*) => { converted!($row idle $($value)*) };
    ($row:ident $column:ident $($value:tt)*) => { $row.$column($($value)*) };
}

/// An evaluation.
#[cfg(feature = "run")]
macro_rules! evaluated {
    ($row:ident $column:ident $($value:tt)*) => { $row.$column($($value)*) };
}

/// An evaluation: without runs, that of operators by which models compute sizes.
#[cfg(not(feature = "run"))]
macro_rules! evaluated {
    ($row:ident $column:ident generate::random $($rest:tt)*) => { $row.left_out() };
    ($row:ident $column:ident control_flow $($rest:tt)*) => { $row.$column(control_flow $($rest)*) };
    ($row:ident $column:ident elementwise $($rest:tt)*) => { $row.$column(elementwise $($rest)*) };
    ($row:ident $column:ident generate $($rest:tt)*) => { $row.$column(generate $($rest)*) };
    ($row:ident $column:ident indexing $($rest:tt)*) => { $row.$column(indexing $($rest)*) };
    ($row:ident $column:ident layout $($rest:tt)*) => { $row.$column(layout $($rest)*) };
    ($row:ident $column:ident range $($rest:tt)*) => { $row.$column(range $($rest)*) };
    ($row:ident $column:ident reduction $($rest:tt)*) => { $row.$column(reduction $($rest)*) };
    ($row:ident $column:ident sequence $($rest:tt)*) => { $row.$column(sequence $($rest)*) };
    ($row:ident $column:ident shape $($rest:tt)*) => { $row.$column(shape $($rest)*) };
    ($row:ident $($rest:tt)*) => { $row.left_out() };
}

/// A graph of ONNX's operators, by which an operator is run or converted.
#[cfg(any(feature = "run", feature = "convert"))]
macro_rules! written {
    ($row:ident $column:ident $($value:tt)*) => { $row.$column($($value)*) };
}

/// A graph of ONNX's operators, by which an operator is run or converted: none.
#[cfg(not(any(feature = "run", feature = "convert")))]
macro_rules! written {
    ($row:ident $($rest:tt)*) => {
        $row
    };
}

/// A conversion to OpenVINO, or to another operator set.
#[cfg(feature = "convert")]
macro_rules! converted {
    ($row:ident $column:ident $($value:tt)*) => { $row.$column($($value)*) };
}

/// A conversion to OpenVINO, or to another operator set: none.
#[cfg(not(feature = "convert"))]
macro_rules! converted {
    ($row:ident $($rest:tt)*) => {
        $row
    };
}
