//! Evaluation of turned boxes: `NMSRotated` of OpenVINO.

use gradus_core::{Result, Value};

use crate::attributes::Attributes;
use crate::boxes::suppression;
use crate::op::EvalContext;

/// The smallest area of a box that overlaps another.
pub const LEAST_AREA: f64 = 1e-14;

type PlanePoint = [f64; 2];

/// A box, by its corners, in the direction from the first axis to the second.
struct Turned {
    corners: [PlanePoint; 4],
    area: f64,
}

impl Turned {
    /// The box of a center, a width, a height and an angle.
    fn new(numbers: &[f64], turn: f64) -> Turned {
        let &[x, y, width, height, angle] = numbers else { unreachable!("a box has five numbers") };
        let (sine, cosine) = (libm::sin(angle * turn) / 2.0, libm::cos(angle * turn) / 2.0);
        let corner = |along: f64, across: f64| {
            let (width, height) = (along * width, across * height);
            [x + cosine * width - sine * height, y + sine * width + cosine * height]
        };
        let corners = [corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
        Turned { corners, area: width * height }
    }

    /// The common area of two boxes: that of one, cut along each side of the other.
    fn common(&self, other: &Turned) -> f64 {
        let mut points = self.corners.to_vec();
        for side in 0..4 {
            let (from, to) = (other.corners[side], other.corners[(side + 1) % 4]);
            let within = |point: PlanePoint| cross(from, to, point);
            let mut cut = Vec::with_capacity(points.len() + 1);
            for (at, &point) in points.iter().enumerate() {
                let next = points[(at + 1) % points.len()];
                let (own, after) = (within(point), within(next));
                if own >= 0.0 {
                    cut.push(point);
                }
                if (own >= 0.0) != (after >= 0.0) {
                    let part = own / (own - after);
                    cut.push([0, 1].map(|axis| point[axis] + part * (next[axis] - point[axis])));
                }
            }
            points = cut;
        }
        let Some(&first) = points.first() else { return 0.0 };
        points.windows(2).map(|pair| cross(first, pair[0], pair[1])).sum::<f64>().abs() / 2.0
    }

    /// The common area of two boxes as a part of that of both.
    fn overlap(&self, other: &Turned) -> f64 {
        if self.area.min(other.area) < LEAST_AREA {
            return 0.0;
        }
        let common = self.common(other);
        common / (self.area + other.area - common)
    }
}

/// Twice the area of a triangle, which is negative if it turns the other way.
fn cross(a: PlanePoint, b: PlanePoint, c: PlanePoint) -> f64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

/// `NMSRotated` of OpenVINO: suppression by the overlap of rotated boxes.
pub fn suppressed(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let boxes = cx.floats(0)?;
    let turn = if attributes.flag("clockwise", true)? { 1.0 } else { -1.0 };
    let of_box = |at: usize| Turned::new(&boxes[at * 5..][..5], turn);
    suppression::selected(attributes, cx, of_box, Turned::overlap)
}
