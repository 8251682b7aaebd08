//! Evaluation of Resize and Upsample: along each axis, an element of the result is a weighted sum
//! of some elements of the operand.

use gradus_core::convert::{float_of, i64_of, nearest_f64, product, truncated, usize_of_i64};
use gradus_core::float::Parts;
use gradus_core::graph::Content;
use gradus_core::{DType, Error, Kind, Number, Result, Value};

use crate::attributes::Attributes;
use crate::indices::Along;
use crate::normalize::Older;
use crate::op::EvalContext;
use crate::output::{chosen, one};
use crate::words;
use crate::{errors, indices};

/// How an axis is resized.
struct SampledAxis {
    size: usize,
    wanted: usize,
    scale: f64,
    /// The begin and end of the region that is resized, as fractions of the axis.
    region: [f64; 2],
}

impl SampledAxis {
    /// The scale as a quotient of whole numbers: that of the sizes, where it is what they are to
    /// each other.
    fn ratio(&self) -> Option<(i128, i128)> {
        if self.scale == float_of(self.wanted) / float_of(self.size) {
            return Some((i64_of(self.wanted).into(), i64_of(self.size).into()));
        }
        let Parts { mantissa, exponent, .. } = Parts::of_float(self.scale);
        let zeros = mantissa.trailing_zeros().min(52);
        let (over, exponent) = (i128::try_from(mantissa >> zeros).ok()?, exponent + zeros.cast_signed());
        let power = 2_i128.checked_pow(exponent.unsigned_abs())?;
        if exponent < 0 { Some((over, power)) } else { Some((over.checked_mul(power)?, 1)) }
    }
}

/// The attributes of the node.
struct Manner<'a> {
    coordinates: &'a str,
    mode: &'a str,
    nearest: &'a str,
    /// The coefficient of the cubic polynomials.
    cubic: f64,
    antialias: bool,
    exclude_outside: bool,
    /// Windows of axes that grow are narrower too, as those of OpenVINO.
    narrows: bool,
}

/// Elements of the operand, and their weights; nothing if the coordinate lies outside.
pub type Weights = Option<Vec<(usize, f64)>>;

impl Manner<'_> {
    /// The coordinate on the operand of an element of the result.
    fn coordinate(&self, axis: &SampledAxis, at: f64) -> Result<f64> {
        let (size, wanted, scale) = (float_of(axis.size), float_of(axis.wanted), axis.scale);
        let half_pixel = (at + 0.5) / scale - 0.5;
        Ok(match self.coordinates {
            _ if scale == 1.0 && axis.wanted == axis.size && self.coordinates != "tf_crop_and_resize" => at,
            "half_pixel_symmetric" => size / 2.0 * (1.0 - wanted / (scale * size)) + half_pixel,
            "pytorch_half_pixel" | "align_corners" if axis.wanted == 1 => 0.0,
            "half_pixel" | "pytorch_half_pixel" => half_pixel,
            // `length_resized` is the length of the result: `scale * size` without its fraction.
            "align_corners" => at * (size - 1.0) / (wanted - 1.0),
            "asymmetric" => at / scale,
            "tf_half_pixel_for_nn" => (at + 0.5) / scale,
            _ => {
                let [begin, end] = axis.region;
                let along = if axis.wanted == 1 { 0.5 } else { at / (wanted - 1.0) };
                (begin + along * (end - begin)) * (size - 1.0)
            }
        })
    }

    /// The coordinate as a quotient of whole numbers, where it is one of 128 bits: which element is
    /// nearest changes at halves and wholes, next to which rounded coordinates lie on either side.
    fn exact_coordinate(&self, axis: &SampledAxis, at: usize) -> Option<(i128, i128)> {
        let int = |size: usize| i128::from(i64_of(size));
        let (at, size, wanted) = (int(at), int(axis.size), int(axis.wanted));
        let (over, under) = axis.ratio()?;
        let middle = (2 * at + 1).checked_mul(under)?;
        let doubled = over.checked_mul(2)?;
        let half_pixel = (middle.checked_sub(over)?, doubled);
        let (dividend, divisor) = match self.coordinates {
            _ if over == under && wanted == size => (at, 1),
            "half_pixel_symmetric" => {
                let margin = size.checked_mul(over)?.checked_sub(wanted.checked_mul(under)?)?;
                (half_pixel.0.checked_add(margin)?, doubled)
            }
            "pytorch_half_pixel" | "align_corners" if wanted == 1 => (0, 1),
            "half_pixel" | "pytorch_half_pixel" => half_pixel,
            "align_corners" => (at.checked_mul(size - 1)?, wanted - 1),
            "asymmetric" => (at.checked_mul(under)?, over),
            "tf_half_pixel_for_nn" => (middle, doubled),
            _ => return None,
        };
        Some(if divisor < 0 { (-dividend, -divisor) } else { (dividend, divisor) })
    }

    /// The weights by which an element of the result is computed.
    fn weights(&self, axis: &SampledAxis, at: usize) -> Result<Weights> {
        let x = self.coordinate(axis, float_of(at))?;
        let last = i64_of(axis.size) - 1;
        if self.coordinates == "tf_crop_and_resize" && !(0.0..=float_of(axis.size - 1)).contains(&x) {
            return Ok(None);
        }
        let (floor, ratio) = (x.floor(), x - x.floor());
        let whole = |x: f64| truncated(x).and_then(|x| i64::try_from(x).ok());
        let outside = || errors::value("coordinate", x, "a number on the axis");
        let floor = whole(floor).ok_or_else(outside)?;
        let narrow = match (self.antialias, self.narrows) {
            (true, true) => axis.scale,
            (true, false) => axis.scale.min(1.0),
            (false, _) => 1.0,
        };
        let (reach, kernel): (f64, &dyn Fn(f64) -> f64) = match self.mode {
            "nearest" => {
                let exact = self.exact_coordinate(axis, at).and_then(|(dividend, divisor)| {
                    let rest = dividend.rem_euclid(divisor);
                    Some((
                        i64::try_from(dividend.div_euclid(divisor)).ok()?,
                        rest > 0,
                        (2 * rest).cmp(&divisor),
                    ))
                });
                let (floor, between, half) =
                    exact.unwrap_or_else(|| (floor, ratio > 0.0, ratio.total_cmp(&0.5)));
                let up = match self.nearest {
                    "round_prefer_floor" => half.is_gt(),
                    "round_prefer_ceil" => half.is_ge(),
                    "floor" => false,
                    _ => between,
                };
                let nearest = usize_of_i64((floor + i64::from(up)).clamp(0, last));
                return Ok(Some(vec![(nearest.unwrap_or(0), 1.0)]));
            }
            "linear" => (1.0, &|x: f64| (1.0 - x.abs()).max(0.0)),
            _ => (2.0, &|x: f64| {
                let (a, x) = (self.cubic, x.abs());
                if x <= 1.0 {
                    ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0
                } else if x < 2.0 {
                    ((a * x - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a
                } else {
                    0.0
                }
            }),
        };
        let start = whole((-reach / narrow).floor()).ok_or_else(outside)? + 1;
        let mut weights = Vec::new();
        for offset in start..2 - start {
            let weight = kernel((nearest_f64(Number::Int(offset.into())) - ratio) * narrow);
            let index = floor.saturating_add(offset);
            if !self.exclude_outside || (0..=last).contains(&index) {
                weights.push((usize_of_i64(index.clamp(0, last)).unwrap_or(0), weight));
            }
        }
        if self.antialias || self.exclude_outside {
            let sum: f64 = weights.iter().map(|(_, weight)| weight).sum();
            if self.narrows && sum == 0.0 {
                // No element lies in the window.
                return Ok(Some(Vec::new()));
            }
            for (_, weight) in &mut weights {
                *weight /= sum;
            }
        }
        Ok(Some(weights))
    }
}

/// The dimensions of an operand and of what it becomes, and what else tells how they go together.
pub struct Resizing<'a> {
    pub operator: &'a str,
    pub dims: &'a [usize],
    pub wanted: &'a [usize],
    /// Scales of the resized axes, as far as they are given.
    pub scales: Option<Vec<f64>>,
    pub sizes: Option<Vec<f64>>,
    pub region: Option<Vec<f64>>,
}

/// An axis of the result.
pub struct ResizedAxis {
    /// True if it is that of the operand.
    pub stays: bool,
    /// The weights by which each element is computed.
    pub weights: Vec<Weights>,
}

impl Resizing<'_> {
    /// The scale of each axis: what is given, or what the sizes are to each other.
    fn scales(&self, attributes: &Attributes<'_>, axes: &[usize]) -> Result<Vec<f64>> {
        let (dims, wanted) = (self.dims, self.wanted);
        let mut scales = vec![1.0; dims.len()];
        if let (Some(Content::Float(height)), Some(Content::Float(width))) =
            (attributes.get("height_scale"), attributes.get("width_scale"))
        {
            return Ok(vec![1.0, 1.0, f64::from(*height), f64::from(*width)]);
        }
        let given = self.scales.as_ref().filter(|given| !given.is_empty() || self.sizes.is_none());
        if let Some(given) = given {
            axes.iter().zip(given).for_each(|(&axis, scale)| scales[axis] = *scale);
        } else {
            let sizes = self.sizes.as_ref().ok_or_else(|| errors::missing("input 3"))?;
            let each = axes.iter().zip(sizes).map(|(&axis, size)| size / float_of(dims[axis]));
            let each: Vec<_> = match words::RATIO_POLICY.of(attributes)? {
                "stretch" => axes.iter().map(|&axis| float_of(wanted[axis]) / float_of(dims[axis])).collect(),
                "not_larger" => vec![each.fold(f64::INFINITY, f64::min); axes.len()],
                _ => vec![each.fold(0.0, f64::max); axes.len()],
            };
            axes.iter().zip(each).for_each(|(&axis, scale)| scales[axis] = scale);
        }
        Ok(scales)
    }

    /// The weights of all axes; `allow` is asked for the sizes of each before and after.
    pub fn axes(
        &self,
        attributes: &Attributes<'_>,
        mut allow: impl FnMut(usize, usize) -> Result<()>,
    ) -> Result<Vec<ResizedAxis>> {
        let dims = self.dims;
        if let Some(axis) = dims.iter().position(|&size| size == 0) {
            return Err(errors::value(format_args!("size of axis {axis}"), 0, "at least 1, to resize it"));
        }
        let axes = match attributes.ints("axes")? {
            Some(axes) => indices::axes(axes, dims.len())?,
            None => (0..dims.len()).collect(),
        };
        let manner = manner(attributes, self.operator)?;
        let scales = self.scales(attributes, &axes)?;
        let region = self.region.as_ref().filter(|_| manner.coordinates == "tf_crop_and_resize");
        let mut all = Vec::with_capacity(dims.len());
        for (at, (&size, &wanted)) in dims.iter().zip(self.wanted).enumerate() {
            let place = axes.iter().position(|&axis| axis == at);
            let bound = |half: usize| {
                let place = region.zip(place).map(|(all, place)| all.get(place + half * axes.len()));
                place.flatten().copied()
            };
            let region_of = [bound(0).unwrap_or(0.0), bound(1).unwrap_or(1.0)];
            let axis = SampledAxis { size, wanted, scale: scales[at], region: region_of };
            allow(size, wanted)?;
            let stays = scales[at] == 1.0 && wanted == size && region.is_none();
            let weights = (0..wanted).map(|at| manner.weights(&axis, at)).collect::<Result<_>>()?;
            all.push(ResizedAxis { stays, weights });
        }
        Ok(all)
    }
}

/// Reads how elements are sampled from the attributes of `Resize` or `Upsample`.
fn manner<'a>(attributes: &'a Attributes<'_>, operator: &str) -> Result<Manner<'a>> {
    let older = operator == "Upsample" || attributes.form().is(Older::Upsampled);
    let (coordinates, nearest) =
        if older { ("asymmetric", "floor") } else { ("half_pixel", "round_prefer_floor") };
    let mode = words::RESIZE_MODE.of(attributes)?;
    let narrows = operator == "Interpolate";
    Ok(Manner {
        coordinates: words::COORDINATES.of_or(attributes, coordinates)?,
        mode: if mode == "bilinear" { "linear" } else { mode },
        nearest: words::NEAREST.of_or(attributes, nearest)?,
        cubic: attributes.float("cubic_coeff_a")?.unwrap_or(-0.75).into(),
        antialias: attributes.flag("antialias", false)?,
        exclude_outside: narrows || attributes.flag("exclude_outside", false)?,
        narrows,
    })
}

/// Replaces an axis by weighted sums of its elements.
fn weighted(
    cx: &mut EvalContext<'_>,
    numbers: &[f64],
    dims: &[usize],
    axis: usize,
    weights: &[Weights],
) -> Result<Vec<f64>> {
    let inner: usize = dims[axis + 1..].iter().product();
    let outer: usize = dims[..axis].iter().product();
    let terms: usize = weights.iter().flatten().map(Vec::len).sum();
    cx.run.touch(product(outer * inner, terms))?;
    cx.reserve(product(outer * inner, weights.len() * size_of::<f64>()))?;
    let mut sums = vec![0.0; outer * weights.len() * inner];
    for (row, target) in sums.chunks_mut(inner).enumerate() {
        let (before, at) = (row / weights.len(), row % weights.len());
        for &(index, weight) in weights[at].iter().flatten() {
            let source = &numbers[(before * dims[axis] + index) * inner..][..inner];
            target.iter_mut().zip(source).for_each(|(sum, x)| *sum += weight * x);
        }
    }
    Ok(sums)
}

/// `Resize` and `Upsample`: weighted sums of neighbours along each axis.
pub fn resize(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let data = cx.tensor(0)?;
    let (dtype, shape) = cx.output(0)?;
    let dims = data.shape().dims();
    if shape.is_empty() {
        return one(gradus_core::Tensor::zeros(dtype, shape)?);
    }
    let input = if cx.operator == "Upsample" { 1 } else { 2 };
    let resizing = Resizing {
        operator: cx.operator,
        dims,
        wanted: shape.dims(),
        scales: cx.maybe_floats(input)?,
        sizes: if cx.has(3) { Some(cx.floats(3)?) } else { None },
        region: cx.maybe_floats(1)?.filter(|_| cx.operator != "Upsample"),
    };
    let axes = resizing.axes(attributes, |size, wanted| {
        cx.run.touch(product(wanted, 4))?;
        // A list for each index of the result, and filters that reach over the whole axis.
        cx.reserve(product(wanted, 128) + product(size, 64))
    })?;
    let all_inside = axes.iter().flat_map(|axis| &axis.weights).all(Option::is_some);
    if words::RESIZE_MODE.of(attributes)? == "nearest" && all_inside {
        let first =
            |weights: &Weights| weights.as_ref().and_then(|all| all.first()).map_or(0, |(index, _)| *index);
        let along: Vec<_> =
            axes.iter().map(|axis| Along::List(axis.weights.iter().map(first).collect())).collect();
        return one(chosen(cx, data, &along)?);
    }
    if dtype == DType::String {
        return Err(Error::new(Kind::Unsupported, "cannot interpolate strings"));
    }
    let mut numbers = cx.floats(0)?;
    let mut now = dims.to_vec();
    for (at, axis) in axes.iter().enumerate() {
        if !axis.stays {
            numbers = weighted(cx, &numbers, &now, at, &axis.weights)?;
            now[at] = axis.weights.len();
        }
    }
    if !all_inside {
        let outside = f64::from(attributes.float("extrapolation_value")?.unwrap_or(0.0));
        for (mut place, number) in numbers.iter_mut().enumerate() {
            for (axis, &size) in axes.iter().zip(&now).rev() {
                if axis.weights[place % size].is_none() {
                    *number = outside;
                }
                place /= size;
            }
        }
    }
    Ok(vec![cx.rounded(0, &numbers)?])
}
