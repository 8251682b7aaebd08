//! Bounds: the least and the greatest value that an expression can have.

/// An interval of integers, open where nothing is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bounds {
    least: Option<i64>,
    greatest: Option<i64>,
}

impl Bounds {
    /// Any integer.
    pub const ANY: Bounds = Bounds { least: None, greatest: None };
    /// The dimension of an axis.
    pub const EXTENT: Bounds = Bounds { least: Some(0), greatest: None };

    /// That number.
    pub const fn exactly(value: i64) -> Bounds {
        Bounds { least: Some(value), greatest: Some(value) }
    }

    /// From the one to the other.
    pub const fn between(least: Option<i64>, greatest: Option<i64>) -> Bounds {
        Bounds { least, greatest }
    }

    /// The least value, if there is one.
    pub const fn least(self) -> Option<i64> {
        self.least
    }

    /// The greatest value, if there is one.
    pub const fn greatest(self) -> Option<i64> {
        self.greatest
    }

    /// The facts that both have.
    #[must_use]
    pub fn and(self, other: Bounds) -> Bounds {
        let pick = |a: Option<i64>, b: Option<i64>, of: fn(i64, i64) -> i64| match (a, b) {
            (Some(a), Some(b)) => Some(of(a, b)),
            (a, b) => a.or(b),
        };
        let both = Bounds {
            least: pick(self.least, other.least, i64::max),
            greatest: pick(self.greatest, other.greatest, i64::min),
        };
        // Bounds that contradict each other hold for no run; keep those that were there.
        if both.least.zip(both.greatest).is_some_and(|(least, greatest)| least > greatest) {
            self
        } else {
            both
        }
    }

    /// The bounds of a sum.
    #[must_use]
    pub fn plus(self, other: Bounds) -> Bounds {
        let add = |a: Option<i64>, b: Option<i64>| a?.checked_add(b?);
        Bounds { least: add(self.least, other.least), greatest: add(self.greatest, other.greatest) }
    }

    /// The bounds of the opposite.
    #[must_use]
    pub fn negated(self) -> Bounds {
        let negate = |a: Option<i64>| a?.checked_neg();
        Bounds { least: negate(self.greatest), greatest: negate(self.least) }
    }

    /// The bounds of a product.
    #[must_use]
    pub fn times(self, other: Bounds) -> Bounds {
        let [a, b] = [self.ends(), other.ends()];
        let products = a.into_iter().flat_map(|x| b.into_iter().map(move |y| x.times(y)));
        let products: Vec<_> = products.collect();
        let ends = (products.iter().copied().min(), products.iter().copied().max());
        Bounds { least: ends.0.and_then(End::value), greatest: ends.1.and_then(End::value) }
    }

    /// The bounds of the floor of a quotient.
    #[must_use]
    pub fn over(self, divisor: Bounds) -> Bounds {
        match divisor.least {
            Some(least) if least > 0 => {
                let [low, high] = [self.least, self.greatest];
                // Toward zero for a large divisor, away from it for a small one.
                let low = low.and_then(|x| {
                    if x >= 0 {
                        divisor.greatest.map_or(Some(0), |d| Some(x / d))
                    } else {
                        super::sum::floor(x, least)
                    }
                });
                let high = high.and_then(|x| {
                    if x >= 0 {
                        Some(x / least)
                    } else {
                        divisor.greatest.map_or(Some(-1), |d| super::sum::floor(x, d))
                    }
                });
                Bounds { least: low, greatest: high }
            }
            _ if self.least.is_some_and(|x| x >= 0) && divisor.least.is_some_and(|d| d >= 0) => Bounds {
                // The divisor is not zero where there is a quotient.
                least: Some(0),
                greatest: self.greatest,
            },
            _ => Bounds::ANY,
        }
    }

    /// The bounds of the lesser of two.
    #[must_use]
    pub fn least_of(self, other: Bounds) -> Bounds {
        let greatest = match (self.greatest, other.greatest) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        Bounds { least: self.least.zip(other.least).map(|(a, b)| a.min(b)), greatest }
    }

    /// The bounds of the greater of two.
    #[must_use]
    pub fn greatest_of(self, other: Bounds) -> Bounds {
        self.negated().least_of(other.negated()).negated()
    }

    /// The bounds of what is one of two.
    #[must_use]
    pub fn either(self, other: Bounds) -> Bounds {
        Bounds {
            least: self.least.zip(other.least).map(|(a, b)| a.min(b)),
            greatest: self.greatest.zip(other.greatest).map(|(a, b)| a.max(b)),
        }
    }

    fn ends(self) -> [End; 2] {
        [self.least.map_or(End::Low, End::At), self.greatest.map_or(End::High, End::At)]
    }
}

/// An end of an interval, for products.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    Low,
    At(i64),
    High,
}

impl End {
    fn value(self) -> Option<i64> {
        if let End::At(value) = self { Some(value) } else { None }
    }

    fn sign(self) -> i64 {
        match self {
            End::Low => -1,
            End::At(value) => value.signum(),
            End::High => 1,
        }
    }

    fn times(self, other: End) -> End {
        match (self, other) {
            (End::At(0), _) | (_, End::At(0)) => End::At(0),
            (End::At(a), End::At(b)) if a.checked_mul(b).is_some() => End::At(a.wrapping_mul(b)),
            _ if self.sign() * other.sign() > 0 => End::High,
            _ => End::Low,
        }
    }
}
