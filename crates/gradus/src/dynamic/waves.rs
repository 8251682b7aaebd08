//! Tables of sines and cosines of positions, whose frequencies fall by one factor from column to
//! column: those of rotary and of sinusoidal positions.
//!
//! The first table tells few rows, and a slow wave is a straight line in them. What decides is the
//! progression: its base is a number of at most three digits and zeros, and every element of every
//! table is that of the formula but for rounding.

use gradus_core::convert::{Rules, nearest_f64};
use gradus_core::{DType, Number, Shape, Tensor};

/// The columns of a table.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Waves {
    /// The frequency of each column, in the shape of one row.
    pub(super) frequencies: Tensor,
    /// 1 where a column is a sine, else 0; nothing if all are of one kind.
    pub(super) sines: Option<Tensor>,
    /// True if the first column is a sine.
    pub(super) first_is_sine: bool,
}

/// A column: its exponent in the progression, and whether it is a sine.
type Column = (usize, bool);

/// The waves that tables with rows along an axis have; nothing if they have others, or none.
pub(super) fn waves(tables: &[Tensor], rows: usize, numbers: &[Vec<f64>]) -> Option<Waves> {
    let longest = (0..tables.len()).max_by_key(|&at| tables[at].shape().dims()[rows])?;
    let dims = tables[longest].shape().dims();
    let columns = *dims.last()?;
    let is_plain = (0..dims.len() - 1).all(|axis| axis == rows || dims[axis] == 1);
    if !tables[longest].dtype().is_float() || !is_plain || rows + 1 >= dims.len() || dims[rows] < 3 {
        return None;
    }
    // A sine begins at 0, a cosine at 1.
    let first = &numbers[longest][..columns];
    if first.iter().any(|value| *value != 0.0 && *value != 1.0) {
        return None;
    }
    let half = columns / 2;
    let exponents: [&dyn Fn(usize) -> usize; 3] = [&|at| at % half.max(1), &|at| at / 2, &|at| at];
    for exponent in exponents {
        let of: Vec<Column> = (0..columns).map(|at| (exponent(at), first[at] == 0.0)).collect();
        let count = of.iter().map(|(exponent, _)| exponent + 1).max()?;
        for steps in [count, count - 1] {
            let Some(frequencies) = progression(&of, steps, &numbers[longest], tables[longest].dtype())
            else {
                continue;
            };
            if numbers.iter().all(|table| are_waves(table, &of, &frequencies)) {
                return made(tables[longest].dtype(), dims, rows, (&of, &frequencies));
            }
        }
    }
    None
}

/// The frequencies of columns whose progression has that many steps, of the roundest base that the
/// second frequency allows.
fn progression(of: &[Column], steps: usize, table: &[f64], dtype: DType) -> Option<Vec<f64>> {
    let Some(second) = of.iter().position(|(exponent, _)| *exponent == 1) else {
        return Some(vec![1.0; of.len()]);
    };
    let steps = nearest_f64(Number::Int(i128::try_from(steps).ok()?));
    let base = frequency(table, of.len(), second, of[second].1)?.powf(-steps);
    (1..=3).find_map(|digits| {
        let unit = 10f64.powf((base.log10().floor() + 1.0 - f64::from(digits)).max(0.0));
        let round = (base / unit).round() * unit;
        let is_near = round > 1.0 && (round - base).abs() <= 1e-3 * base;
        let rounded = |value: f64| {
            let shape = Shape::new([]).ok()?;
            let value = Tensor::from_numbers(dtype, shape, [Number::Float(value)], Rules::IEEE).ok()?;
            value.only_number().ok().map(nearest_f64)
        };
        // Exporters round the power, and its reciprocal again.
        let own = |(exponent, _): &Column| {
            let exponent = nearest_f64(Number::Int(i128::try_from(*exponent).ok()?));
            rounded(1.0 / rounded(round.powf(exponent / steps))?)
        };
        is_near.then(|| of.iter().map(own).collect::<Option<Vec<_>>>())?
    })
}

/// The frequency of a column, below that of a whole turn in two rows: each row tells it more closely.
fn frequency(table: &[f64], columns: usize, column: usize, is_sine: bool) -> Option<f64> {
    let values = table.iter().skip(column).step_by(columns);
    let mut found: Option<f64> = None;
    for (row, &value) in values.enumerate().skip(1) {
        if !(-1.0..=1.0).contains(&value) {
            return None;
        }
        let row = f64::from(u32::try_from(row).ok()?);
        let angle = if is_sine { value.asin() } else { value.acos() };
        let Some(known) = found else {
            found = Some(angle);
            continue;
        };
        // Steep places alone tell an angle well.
        let slope = if is_sine { angle.cos() } else { angle.sin() };
        if slope.abs() < 0.3 {
            continue;
        }
        let turn = std::f64::consts::TAU;
        let others = if is_sine { [angle, turn / 2.0 - angle] } else { [angle, -angle] };
        let nearest = |angle: f64| angle + ((row * known - angle) / turn).round() * turn;
        let [a, b] = others.map(nearest);
        let closest = if (a - row * known).abs() <= (b - row * known).abs() { a } else { b };
        found = Some(closest / row);
    }
    found.filter(|frequency| *frequency > 0.0)
}

/// Returns true if each element is that of its wave but for the rounding of floats.
fn are_waves(table: &[f64], of: &[Column], frequencies: &[f64]) -> bool {
    const ROUNDING: f64 = 2.5e-7;
    table.chunks(of.len()).zip(0u32..).all(|(values, row)| {
        let each = values.iter().zip(of).zip(frequencies);
        each.into_iter().all(|((value, (_, is_sine)), frequency)| {
            let angle = f64::from(row) * frequency;
            let wanted = if *is_sine { angle.sin() } else { angle.cos() };
            (value - wanted).abs() <= ROUNDING * (1.0 + angle)
        })
    })
}

/// The waves as tensors of one row.
fn made(dtype: DType, dims: &[usize], rows: usize, (of, frequencies): (&[Column], &[f64])) -> Option<Waves> {
    let mut row = dims.to_vec();
    row[rows] = 1;
    let tensor = |all: Vec<f64>| {
        let all = all.into_iter().map(Number::Float);
        Tensor::from_numbers(dtype, Shape::new(row.clone()).ok()?, all, Rules::IEEE).ok()
    };
    let first_is_sine = of[0].1;
    let is_mixed = of.iter().any(|(_, is_sine)| *is_sine != first_is_sine);
    let sines = of.iter().map(|(_, is_sine)| f64::from(u8::from(*is_sine))).collect();
    let sines = if is_mixed { Some(tensor(sines)?) } else { None };
    Some(Waves { frequencies: tensor(frequencies.to_vec())?, sines, first_is_sine })
}
