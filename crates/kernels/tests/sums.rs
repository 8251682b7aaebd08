//! Sums without error are the exact sums, rounded once; those in float32 are those of a plain loop.

use gradus_core::convert::FromNumber;
use gradus_kernels::Sums;
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
        let wide = Sums::Exact.of(terms.iter().copied(), false);
        prop_assert_eq!(bits(wide), bits(nearest_f64(&sum)), "{} for {:?}", wide, nearest_f64(&sum));
        let narrow = f32::from_f64(Sums::Exact.of(terms.iter().copied(), true));
        prop_assert_eq!(bits(narrow.into()), bits(nearest_f32(&sum).into()));
    }
}

#[test]
fn sums_of_many_carry() {
    let many =
        || std::iter::repeat_n((f64::MAX, 1.0), 1000).chain(std::iter::repeat_n((-f64::MAX, 1.0), 999));
    assert_eq!(Sums::Exact.of(many(), false).to_bits(), f64::MAX.to_bits());
    assert_eq!(Sums::Exact.of(std::iter::repeat_n((0.1, 1.0), 10), false).to_bits(), 1f64.to_bits());
    assert_eq!(Sums::Float64.of(std::iter::repeat_n((0.1, 1.0), 10), false), 0.999_999_999_999_999_9);
}

#[test]
fn sums_of_infinities_and_nans_are_those_of_floats() {
    let infinity = f64::INFINITY;
    for sums in Sums::ALL {
        let of = |terms: &[(f64, f64)]| sums.of(terms.iter().copied(), true);
        assert_eq!(of(&[(infinity, 2.0), (1.0, 1.0)]), infinity);
        assert_eq!(of(&[(1.0, 1.0), (infinity, -2.0)]), -infinity);
        assert!(of(&[(infinity, 1.0), (-infinity, 1.0)]).is_nan());
        assert!(of(&[(infinity, 0.0)]).is_nan());
        assert!(of(&[(f64::NAN, 0.0)]).is_nan());
        assert_eq!(of(&[]).to_bits(), 0);
    }
    assert_eq!(Sums::Exact.of([(f64::MAX, f64::MAX)].into_iter(), false), infinity);
}

#[test]
fn sums_in_float32_round_each_product_and_each_sum() {
    let x = f64::from(1.0f32 + f32::EPSILON);
    assert_eq!(Sums::Float32.of([(x, x)].into_iter(), true), f64::from(1.0 + 2.0 * f32::EPSILON));
    let large = [(16_777_216.0, 1.0), (1.0, 1.0), (1.0, 1.0)];
    assert_eq!(Sums::Float32.of(large.into_iter(), true), 16_777_216.0);
    assert_eq!(Sums::Float64.of(large.into_iter(), true), 16_777_218.0);
}
