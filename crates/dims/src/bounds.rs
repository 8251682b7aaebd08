//! Bounds: the minimum and the maximum of an expression.

/// An interval of integers, open where nothing is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bounds {
    lower: Option<i64>,
    upper: Option<i64>,
}

impl Bounds {
    /// Any integer.
    pub const ANY: Bounds = Bounds { lower: None, upper: None };
    /// The size of an axis.
    pub const SIZE: Bounds = Bounds { lower: Some(0), upper: None };

    /// Bounds of a number that is exactly `value`.
    pub const fn exactly(value: i64) -> Bounds {
        Bounds { lower: Some(value), upper: Some(value) }
    }

    /// The interval between two bounds, both inclusive.
    pub const fn between(lower: Option<i64>, upper: Option<i64>) -> Bounds {
        Bounds { lower, upper }
    }

    /// The minimum, if it is known.
    pub const fn lower(self) -> Option<i64> {
        self.lower
    }

    /// The maximum, if it is known.
    pub const fn upper(self) -> Option<i64> {
        self.upper
    }

    /// The intersection of two intervals.
    #[must_use]
    pub fn and(self, other: Bounds) -> Bounds {
        let pick = |a: Option<i64>, b: Option<i64>, of: fn(i64, i64) -> i64| match (a, b) {
            (Some(a), Some(b)) => Some(of(a, b)),
            (a, b) => a.or(b),
        };
        let both = Bounds {
            lower: pick(self.lower, other.lower, i64::max),
            upper: pick(self.upper, other.upper, i64::min),
        };
        // Bounds that contradict each other hold for no run; keep those that were there.
        if both.lower.zip(both.upper).is_some_and(|(lower, upper)| lower > upper) { self } else { both }
    }

    /// The bounds as far as numbers say them that are no further from 0 than one.
    pub(crate) fn within(self, most: i64) -> Bounds {
        let lower = self.lower.map(|lower| lower.min(most)).filter(|lower| *lower >= -most);
        let upper = self.upper.map(|upper| upper.max(-most)).filter(|upper| *upper <= most);
        Bounds { lower, upper }
    }

    /// The bounds of a sum.
    #[must_use]
    pub fn plus(self, other: Bounds) -> Bounds {
        let add = |a: Option<i64>, b: Option<i64>| a?.checked_add(b?);
        Bounds { lower: add(self.lower, other.lower), upper: add(self.upper, other.upper) }
    }

    /// The bounds of the opposite.
    #[must_use]
    pub fn negated(self) -> Bounds {
        let negate = |a: Option<i64>| a?.checked_neg();
        Bounds { lower: negate(self.upper), upper: negate(self.lower) }
    }

    /// The bounds of a product.
    #[must_use]
    pub fn times(self, other: Bounds) -> Bounds {
        let [a, b] = [self.ends(), other.ends()];
        let products = a.into_iter().flat_map(|x| b.into_iter().map(move |y| x.times(y)));
        let products: Vec<_> = products.collect();
        let ends = (products.iter().copied().min(), products.iter().copied().max());
        Bounds { lower: ends.0.and_then(BoundValue::value), upper: ends.1.and_then(BoundValue::value) }
    }

    /// The bounds of the floor of a quotient. The divisor is not zero where there is one.
    #[must_use]
    pub fn over(self, divisor: Bounds) -> Bounds {
        let Some(least) = divisor.lower.filter(|least| *least >= 0).map(|least| least.max(1)) else {
            return Bounds::ANY;
        };
        let most = divisor.upper.map(|most| most.max(least));
        // Toward zero for a large divisor, away from it for a small one.
        let of = |x: i64, by: Option<i64>, beyond: i64| match by {
            Some(by) => super::sum::floor(x, by),
            None => Some(beyond),
        };
        Bounds {
            lower: self.lower.and_then(|x| if x >= 0 { of(x, most, 0) } else { of(x, Some(least), -1) }),
            upper: self.upper.and_then(|x| if x >= 0 { of(x, Some(least), 0) } else { of(x, most, -1) }),
        }
    }

    /// The bounds of the minimum of two.
    #[must_use]
    pub fn min(self, other: Bounds) -> Bounds {
        let upper = match (self.upper, other.upper) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        Bounds { lower: self.lower.zip(other.lower).map(|(a, b)| a.min(b)), upper }
    }

    /// The bounds of the maximum of two.
    #[must_use]
    pub fn max(self, other: Bounds) -> Bounds {
        self.negated().min(other.negated()).negated()
    }

    /// The bounds of a value that is one of two.
    #[must_use]
    pub fn either(self, other: Bounds) -> Bounds {
        Bounds {
            lower: self.lower.zip(other.lower).map(|(a, b)| a.min(b)),
            upper: self.upper.zip(other.upper).map(|(a, b)| a.max(b)),
        }
    }

    fn ends(self) -> [BoundValue; 2] {
        [
            self.lower.map_or(BoundValue::Low, BoundValue::At),
            self.upper.map_or(BoundValue::High, BoundValue::At),
        ]
    }
}

/// An end of an interval, for products.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum BoundValue {
    Low,
    At(i64),
    High,
}

impl BoundValue {
    fn value(self) -> Option<i64> {
        if let BoundValue::At(value) = self { Some(value) } else { None }
    }

    fn sign(self) -> i64 {
        match self {
            BoundValue::Low => -1,
            BoundValue::At(value) => value.signum(),
            BoundValue::High => 1,
        }
    }

    fn times(self, other: BoundValue) -> BoundValue {
        match (self, other) {
            (BoundValue::At(0), _) | (_, BoundValue::At(0)) => BoundValue::At(0),
            (BoundValue::At(a), BoundValue::At(b)) if a.checked_mul(b).is_some() => {
                BoundValue::At(a.wrapping_mul(b))
            }
            _ if self.sign() * other.sign() > 0 => BoundValue::High,
            _ => BoundValue::Low,
        }
    }
}
