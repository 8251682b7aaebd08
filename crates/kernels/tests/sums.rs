//! Sums without error are the exact sums, rounded once; those in pairs of doubles are as near as
//! their bound says; those in float32 are those of a plain loop.

#![cfg(feature = "vectors")]

use Destination::{Double, Narrow};
use gradus_core::convert::FromNumber;
use gradus_kernels::product::{Matrix, Numbers, Product, Sizes};
use gradus_kernels::{Destination, Level, Options, Sums, multiply_with};
use gradus_testkit::{Real, nearest_f32, nearest_f64, real};
use proptest::prelude::*;

/// Factors of all magnitudes, subnormal ones too.
fn factor() -> impl Strategy<Value = f64> {
    let whole = any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |x| x.is_finite());
    let small = (-40i32..40, -4i32..4).prop_map(|(n, e)| f64::from(n) * 2f64.powi(e * 30));
    let single = any::<u32>().prop_map(f32::from_bits).prop_filter("finite", |x| x.is_finite());
    prop_oneof![whole, small, single.prop_map(f64::from), Just(f64::MIN_POSITIVE), Just(f64::MAX)]
}

/// Products, some of which cancel.
fn terms() -> impl Strategy<Value = Vec<(f64, f64)>> {
    (prop::collection::vec((factor(), factor()), 0..12), any::<u64>()).prop_map(|(mut terms, which)| {
        for at in 0..terms.len() {
            let (a, b) = terms[at];
            match which >> (2 * at) & 3 {
                0 => terms.push((-a, b)),
                1 => terms.insert(0, (b, -a)),
                _ => {}
            }
        }
        terms
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn exact_sums_are_rounded_once(terms in terms()) {
        let sum: Real = terms.iter().fold(real(0.0), |sum, &(a, b)| sum + real(a) * real(b));
        let bits = |x: f64| if x == 0.0 { 0 } else { x.to_bits() };
        let wide = Sums::Exact.of(terms.iter().copied(), Double);
        prop_assert_eq!(bits(wide), bits(nearest_f64(&sum)), "{} for {:?}", wide, nearest_f64(&sum));
        let narrow = f32::from_f64(Sums::Exact.of(terms.iter().copied(), Narrow));
        prop_assert_eq!(bits(narrow.into()), bits(nearest_f32(&sum).into()));
    }

    /// The bound of Ogita, Rump and Oishi 2005, proposition 5.5, where nothing is subnormal.
    #[test]
    fn sums_in_pairs_are_within_their_bound(
        terms in prop::collection::vec((factor(), factor()), 1..40),
        cancels in any::<bool>(),
    ) {
        let fits = |x: f64| x == 0.0 || (2f64.powi(-400)..2f64.powi(400)).contains(&x.abs());
        let mut terms: Vec<_> = terms.into_iter().filter(|&(a, b)| fits(a) && fits(b)).collect();
        if cancels {
            terms.extend(terms.clone().into_iter().rev().skip(1).map(|(a, b)| (b, -a)));
        }
        let sum: Real = terms.iter().fold(real(0.0), |sum, &(a, b)| sum + real(a) * real(b));
        let magnitude: Real = terms.iter().fold(real(0.0), |sum, &(a, b)| sum + real(a.abs()) * real(b.abs()));
        let got = real(Sums::Float64.of(terms.iter().copied(), Double));
        let size = |x: Real| if x < real(0.0) { -x } else { x };
        let count = f64::from(u32::try_from(terms.len()).unwrap());
        let factor = real(count * 2f64.powi(-53) / (1.0 - count * 2f64.powi(-53)));
        let bound = size(sum.clone()) * real(2f64.powi(-53)) + factor.clone() * factor * magnitude;
        prop_assert!(size(got - sum) <= bound, "{terms:?}");
    }
}

#[test]
fn sums_of_many_carry() {
    let many =
        || std::iter::repeat_n((f64::MAX, 1.0), 1000).chain(std::iter::repeat_n((-f64::MAX, 1.0), 999));
    assert_eq!(Sums::Exact.of(many(), Double).to_bits(), f64::MAX.to_bits());
    assert_eq!(Sums::Exact.of(std::iter::repeat_n((0.1, 1.0), 10), Double).to_bits(), 1f64.to_bits());
    assert_eq!(Sums::Float64.of(std::iter::repeat_n((0.1, 1.0), 10), Narrow), 0.999_999_999_999_999_9);
    assert_eq!(Sums::Float64.of(std::iter::repeat_n((0.1, 1.0), 10), Double), 1.0);
}

#[test]
fn sums_of_infinities_and_nans_are_those_of_floats() {
    let infinity = f64::INFINITY;
    for (sums, to) in Sums::ALL.into_iter().flat_map(|sums| [(sums, Double), (sums, Narrow)]) {
        let of = |terms: &[(f64, f64)]| sums.of(terms.iter().copied(), to);
        assert_eq!(of(&[(infinity, 2.0), (1.0, 1.0)]), infinity);
        assert_eq!(of(&[(1.0, 1.0), (infinity, -2.0)]), -infinity);
        assert!(of(&[(infinity, 1.0), (-infinity, 1.0)]).is_nan());
        assert!(of(&[(infinity, 0.0)]).is_nan());
        assert!(of(&[(f64::NAN, 0.0)]).is_nan());
        assert_eq!(of(&[]).to_bits(), 0);
    }
    assert_eq!(Sums::Exact.of([(f64::MAX, f64::MAX)].into_iter(), Double), infinity);
}

#[test]
fn sums_in_float32_fuse_products_and_add_blocks() {
    let (x, unit) = (f64::from(1.0f32 + f32::EPSILON), f64::from(f32::EPSILON));
    let square = [(1.0 + 2.0 * unit, -1.0), (x, x)];
    assert_eq!(Sums::Float32.of(square.into_iter(), Narrow), unit * unit);
    // The second block is added up before it meets the first.
    let blocks = [(1.0, 1.0)].into_iter().chain(std::iter::repeat_n((0.0, 0.0), 255));
    let blocks = blocks.chain([(unit / 2.0, 1.0), (unit / 2.0, 1.0)]);
    assert_eq!(Sums::Float32.of(blocks, Narrow), 1.0 + unit);
    let large = [(16_777_216.0, 1.0), (1.0, 1.0), (1.0, 1.0)];
    assert_eq!(Sums::Float32.of(large.into_iter(), Narrow), 16_777_216.0);
    assert_eq!(Sums::Float64.of(large.into_iter(), Narrow), 16_777_218.0);
}

#[test]
fn products_of_matrices_have_the_bits_of_a_loop_at_every_level() {
    let mut random = fastrand::Rng::with_seed(5);
    let mut numbers = |count: usize| -> Vec<f64> {
        let number = |_| match random.u8(..) {
            0 => f64::INFINITY,
            _ => (random.f64() - 0.5) * 2f64.powi(random.i32(-60..60)),
        };
        (0..count).map(number).collect()
    };
    for (rows, inner, columns) in [(1, 1, 1), (3, 200, 5), (17, 129, 70), (2, 300, 64), (5, 0, 9)] {
        let (a, b) = (numbers(2 * rows * inner), numbers(2 * inner * columns));
        let matrix = |all, row| Matrix::new(Numbers::Doubles(all), row, 1);
        let of = |at: usize| {
            let a = &a[at * rows * inner..][..rows * inner];
            [matrix(a, inner), matrix(&b[at * inner * columns..][..inner * columns], columns)]
        };
        let matrices = [of(0), of(1)];
        for (sums, to) in Sums::ALL.into_iter().flat_map(|sums| [(sums, Double), (sums, Narrow)]) {
            // Sums in float32 round what they read; float64 fuses products that are said to be exact.
            let exact = sums == Sums::Float32 && to == Narrow;
            let products: Vec<_> = matrices.iter().map(|[a, b]| Product { a, b, exact }).collect();
            let want = |at: usize| {
                let (matrix, row, column) = (at / (rows * columns), at / columns % rows, at % columns);
                let term = |k: usize| {
                    (a[(matrix * rows + row) * inner + k], b[(matrix * inner + k) * columns + column])
                };
                sums.of((0..inner).map(term), to) + 0.0
            };
            let want: Vec<_> = (0..2 * rows * columns).map(want).collect();
            for level in Level::available() {
                let mut options = Options::default();
                options.level = Some(level);
                let mut out = vec![0.0; want.len()];
                let sizes = Sizes { rows, inner, columns };
                let store = |_, _, _, sums: &[f64], out: &mut [f64]| out.copy_from_slice(sums);
                multiply_with((sums, to), &products, sizes, &mut out, options, || Ok(()), store).unwrap();
                let same = out
                    .iter()
                    .zip(&want)
                    .all(|(x, y)| x.to_bits() == y.to_bits() || (x.is_nan() && y.is_nan()));
                assert!(same, "{sums:?} {to:?} {level:?} {rows} {inner} {columns}");
            }
        }
    }
}
