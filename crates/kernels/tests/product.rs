//! Products of matrices have the bits of a plain loop: for all sizes, at every level, with any
//! number of threads, whatever the factors are.

#![cfg(feature = "vectors")]

use gradus_kernels::product::{
    Elements, Layout, Matrix, Numbers, PackedFactor, Product, SPARE, Shifted, Side, Sizes, Term, add_shifted,
    multiply,
};
use gradus_kernels::{Level, Options, SumType};
use gradus_testkit::single_sum;
use half::f16;
use proptest::prelude::*;

/// The sums, each added up in the order of the summed axis.
fn plain(a: &[f64], b: &[f64], of: Sizes) -> Vec<u64> {
    let sum = |row: usize, column: usize| {
        let mut sum = 0.0;
        for k in 0..of.inner {
            sum += a[row * of.inner + k] * b[k * of.columns + column];
        }
        if f64::is_nan(sum) { f64::NAN.to_bits() } else { sum.to_bits() }
    };
    (0..of.rows).flat_map(|row| (0..of.columns).map(move |column| sum(row, column))).collect()
}

fn product(a: Numbers<'_>, b: Numbers<'_>, of: Sizes, turned: bool, options: Options) -> Vec<u64> {
    let (row, column) = if turned { (1, of.inner) } else { (of.columns, 1) };
    let exact = a.are_singles() && b.are_singles();
    multiplied::<f64>(a, &Matrix::new(b, row, column), exact, of, options)
}

fn multiplied<T: Term>(
    a: Numbers<'_>,
    b: &dyn Elements,
    exact: bool,
    of: Sizes,
    options: Options,
) -> Vec<u64> {
    product_of::<T>(&Matrix::new(a, of.inner, 1), b, exact, of, options)
}

fn product_of<T: Term>(
    a: &dyn Elements,
    b: &dyn Elements,
    exact: bool,
    of: Sizes,
    options: Options,
) -> Vec<u64> {
    let mut out = vec![0; of.rows * of.columns];
    let store = |_, _, _, sums: &[f64], out: &mut [u64]| {
        out.iter_mut().zip(sums).for_each(|(out, sum)| *out = sum.to_bits());
    };
    let products = [Product { a, b, exact }];
    multiply::<T, _>(&products, of, &mut out, options, || Ok(()), store).expect("nothing stops it");
    out
}

/// The same products with packed factors: the first one, the second one, and both.
fn packed<T: Term>(a: &[[u8; 4]], b: &[[u8; 4]], of: Sizes, options: Options) -> Vec<Vec<u64>> {
    let pack = |side, all: &[[u8; 4]], columns| {
        let layout = Layout::new(side, 1, of, [columns, 1])?;
        PackedFactor::new(all, layout, T::SUMS, options, u64::MAX, || Ok(())).expect("nothing stops it")
    };
    let (left, right) = (pack(Side::First, a, of.inner), pack(Side::Second, b, of.columns));
    let kinds = [(left.as_ref(), None), (None, right.as_ref()), (left.as_ref(), right.as_ref())];
    let product = |(left, right)| {
        let a = Matrix::new(Numbers::Singles(a), of.inner, 1).packed(left, 0);
        let b = Matrix::new(Numbers::Singles(b), of.columns, 1).packed(right, 0);
        product_of::<T>(&a, &b, true, of, options)
    };
    kinds.map(product).into()
}

fn bytes(numbers: &[f32]) -> Vec<[u8; 4]> {
    numbers.iter().map(|x| x.to_ne_bytes()).collect()
}

/// Numbers of 64 bits: few of them have an exact product. Some are infinite, NaN or a zero.
fn numbers(count: usize, seed: u64, special: bool) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 11
    };
    let number = |bits: u64, kind: u64| match kind % 64 {
        0 if special => f64::INFINITY,
        1 if special => -f64::NAN,
        2..5 => -0.0,
        5..8 => 0.0,
        8 => f64::from_bits(bits) * 1e-300,
        _ => f64::from_bits((bits & ((1 << 52) - 1)) | (1015 + kind % 16) << 52) - 1.5,
    };
    (0..count).map(|_| number(next(), next() >> 20)).collect()
}

fn check(of: Sizes, seed: u64, special: bool, threads: usize) {
    let (a, b) = (numbers(of.rows * of.inner, seed, special), numbers(of.inner * of.columns, !seed, special));
    #[allow(clippy::cast_possible_truncation, clippy::as_conversions, reason = "rounding is meant")]
    let single = |x: &f64| *x as f32;
    let half = |x: &f64| f16::from_f64(*x).to_f64();
    let [a32, b32] = [&a, &b].map(|all| all.iter().map(single).collect::<Vec<_>>());
    let [a16, b16] = [&a, &b].map(|all| all.iter().map(half).collect::<Vec<_>>());
    let wide = |all: &[f32]| all.iter().map(|&x| f64::from(x)).collect::<Vec<_>>();
    let (bytes_a, bytes_b) = (bytes(&a32), bytes(&b32));
    let turned: Vec<_> = (0..of.columns).flat_map(|j| (0..of.inner).map(move |k| (k, j))).collect();
    let turned: Vec<_> = turned.into_iter().map(|(k, j)| b[k * of.columns + j]).collect();
    let wanted = [plain(&wide(&a32), &wide(&b32), of), plain(&a, &b, of), plain(&a16, &b16, of)];
    for level in Level::available() {
        let mut options = Options::default();
        (options.level, options.threads) = (Some(level), threads);
        let found = [
            product(Numbers::Singles(&bytes_a), Numbers::Singles(&bytes_b), of, false, options),
            product(Numbers::Doubles(&a), Numbers::Doubles(&b), of, false, options),
            product(Numbers::Doubles(&a16), Numbers::Doubles(&b16), of, false, options),
        ];
        assert!(found == wanted, "{of:?} {level:?}");
        let found = product(Numbers::Doubles(&a), Numbers::Doubles(&turned), of, true, options);
        assert!(found == wanted[1], "{of:?} {level:?}, the second factor turned");
        for found in packed::<f64>(&bytes_a, &bytes_b, of, options) {
            assert!(found == wanted[0], "{of:?} {level:?}, packed");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn small_products_are_those_of_a_loop(
        rows in 0..20usize, inner in 0..20usize, columns in 0..60usize, seed: u64, special: bool, threads in 0..3usize,
    ) {
        check(Sizes { rows, inner, columns }, seed, special, threads);
    }
}

#[test]
fn products_of_several_blocks_are_those_of_a_loop() {
    for (threads, [rows, inner, columns]) in [
        (1, [193, 400, 391]),
        (2, [1, 600, 1000]),
        (7, [400, 193, 5]),
        (7, [201, 385, 401]),
        (2, [3, 1, 800]),
    ] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| check(Sizes { rows, inner, columns }, 7, rows % 2 == 0, 0));
    }
}

#[test]
fn products_with_shifted_lines_are_those_of_a_loop() {
    // Planes of 7 by 40 elements; lines are 40 apart.
    let (planes, places) = (70, [0, 1, 2, 40, 83]);
    for (rows, line, lines) in [(3, 7, 5), (4, 1, 5), (9, 7, 5), (200, 23, 4), (5, 24, 4), (17, 37, 5)] {
        let starts: Vec<_> = (0..lines).map(|at| at * 40).collect();
        let of = Sizes { rows, inner: planes * places.len(), columns: line * lines };
        let numbers = |count, seed| numbers(count, seed, rows % 2 == 1);
        let (a, all) = (numbers(rows * of.inner, 5), numbers(planes * 280 + SPARE, 6));
        let element = |k: usize, column: usize| {
            k / places.len() * 280 + places[k % places.len()] + starts[column / line] + column % line
        };
        let places_of = (0..of.inner).flat_map(|k| (0..of.columns).map(move |column| (k, column)));
        let b: Vec<_> = places_of.map(|(k, column)| all[element(k, column)]).collect();
        #[allow(clippy::cast_possible_truncation, clippy::as_conversions, reason = "rounding is meant")]
        let singles = |all: &[f64]| all.iter().map(|&x| x as f32).collect::<Vec<_>>();
        let wide = |all: &[f64]| singles(all).into_iter().map(f64::from).collect::<Vec<_>>();
        let short = [bytes(&singles(&a)), bytes(&singles(&all))];
        for (a, planes, wanted) in [
            (Numbers::Doubles(&a), Numbers::Doubles(&all), plain(&a, &b, of)),
            (Numbers::Singles(&short[0]), Numbers::Singles(&short[1]), plain(&wide(&a), &wide(&b), of)),
        ] {
            let shifted = Shifted { planes, plane: 280, places: &places, starts: &starts, line };
            for level in Level::available() {
                let mut options = Options::default();
                options.level = Some(level);
                let exact = a.are_singles() && planes.are_singles();
                assert!(
                    multiplied::<f64>(a, &shifted, exact, of, options) == wanted,
                    "{of:?} {level:?}, lines of {line}"
                );
            }
        }
    }
}

#[test]
fn sums_of_shifted_elements_are_those_of_a_loop() {
    let elements = numbers(200, 3, false);
    let (factors, places) = (numbers(5, 4, false), [0, 1, 2, 40, 90]);
    for (level, len) in Level::available().into_iter().flat_map(|level| (0..110).map(move |len| (level, len)))
    {
        let mut options = Options::default();
        options.level = Some(level);
        let mut sums = vec![1.5; len];
        add_shifted(false, &factors, &elements, &places, &mut sums, options);
        for (at, sum) in sums.iter().enumerate() {
            let add = |sum: f64, (x, place): (&f64, usize)| sum + x * elements[place + at];
            let wanted = factors.iter().zip(places).fold(1.5, add);
            assert_eq!(sum.to_bits(), wanted.to_bits(), "{level:?}, sum {at} of {len}");
        }
    }
}

/// The sums in float32, each as the reference adds it.
fn single(a: &[f32], b: impl Fn(usize, usize) -> f32, of: Sizes) -> Vec<u64> {
    let sum = |row: usize, column: usize| {
        let terms: Vec<_> = (0..of.inner).map(|k| (a[row * of.inner + k], b(k, column))).collect();
        let sum = single_sum(&terms);
        if sum.is_nan() { f64::NAN.to_bits() } else { f64::from(sum).to_bits() }
    };
    (0..of.rows).flat_map(|row| (0..of.columns).map(|column| sum(row, column)).collect::<Vec<_>>()).collect()
}

/// Numbers of float32 of many magnitudes, in which sums lose bits, overflow and are subnormal.
fn singles(count: usize, seed: u64, special: bool) -> Vec<f32> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut number = || match random.u8(..) {
        0 if special => f32::INFINITY,
        1 if special => -f32::NAN,
        2..6 => -0.0,
        6..10 => 0.0,
        10 => f32::from_bits(random.u32(..1 << 23)),
        11..30 => (random.f32() - 0.5) * 2f32.powi(random.i32(-90..64)),
        _ => (random.f32() - 0.5) * 2f32.powi(random.i32(-12..12)),
    };
    (0..count).map(|_| number()).collect()
}

#[test]
fn products_in_float32_are_those_of_the_reference() {
    let sizes = [
        ([1, 5, 3], false),
        ([3, 700, 9], true),
        ([8, 256, 48], false),
        ([9, 257, 50], true),
        ([13, 530, 33], false),
        ([2, 0, 5], false),
    ];
    for ([rows, inner, columns], special) in sizes {
        let of = Sizes { rows, inner, columns };
        let (a, b) = (singles(rows * inner, 11, special), singles(inner * columns, 12, special));
        let wanted = single(&a, |k, column| b[k * columns + column], of);
        let wide = |all: &[f32]| all.iter().map(|&x| f64::from(x)).collect::<Vec<_>>();
        let (bytes_a, bytes_b, wide_a, wide_b) = (bytes(&a), bytes(&b), wide(&a), wide(&b));
        let kinds = [
            [Numbers::Singles(&bytes_a), Numbers::Singles(&bytes_b)],
            [Numbers::Doubles(&wide_a), Numbers::Doubles(&wide_b)],
        ];
        for (level, threads) in Level::available().into_iter().flat_map(|level| [1, 2, 7].map(|n| (level, n)))
        {
            let mut options = Options::default();
            (options.level, options.threads) = (Some(level), threads);
            for [a, b] in kinds {
                let b = Matrix::new(b, columns, 1);
                let found = multiplied::<f32>(a, &b, true, of, options);
                assert!(found == wanted, "{of:?} {level:?}, {threads} threads");
            }
            // Rows alone have the bits that they have among others.
            let one = Sizes { rows: 1, ..of };
            let b = Matrix::new(kinds[0][1], columns, 1);
            for row in 0..rows {
                let a = kinds[0][0].range(row * inner..(row + 1) * inner);
                let found = multiplied::<f32>(a, &b, true, one, options);
                assert!(found == wanted[row * columns..][..columns], "{of:?} {level:?}, row {row}");
            }
        }
    }
}

#[test]
fn large_products_in_float32_are_those_of_a_loop_at_every_level() {
    for (threads, [rows, inner, columns]) in [(1, [193, 400, 391]), (7, [201, 513, 401]), (2, [3, 1, 800])] {
        let of = Sizes { rows, inner, columns };
        let (a, b) = (singles(rows * inner, 13, false), singles(inner * columns, 14, rows % 2 == 0));
        let sum = |row: usize, column: usize| {
            let sum_of = |block: std::ops::Range<usize>| {
                block.fold(0.0, |sum, k| a[row * inner + k].mul_add(b[k * columns + column], sum))
            };
            let blocks = (0..inner).step_by(256).map(|k| sum_of(k..inner.min(k + 256)));
            let sum = blocks.fold(0.0, |sum, block| sum + block);
            if sum.is_nan() { f64::NAN.to_bits() } else { f64::from(sum).to_bits() }
        };
        let wanted: Vec<_> =
            (0..rows).flat_map(|row| (0..columns).map(|at| sum(row, at)).collect::<Vec<_>>()).collect();
        let (bytes_a, bytes_b) = (bytes(&a), bytes(&b));
        let b = Matrix::new(Numbers::Singles(&bytes_b), columns, 1);
        for level in Level::available() {
            let mut options = Options::default();
            (options.level, options.threads) = (Some(level), threads);
            let found = multiplied::<f32>(Numbers::Singles(&bytes_a), &b, true, of, options);
            assert!(found == wanted, "{of:?} {level:?}");
            for found in packed::<f32>(&bytes_a, &bytes_b, of, options) {
                assert!(found == wanted, "{of:?} {level:?}, packed");
            }
        }
    }
}

#[test]
fn products_in_float32_with_shifted_lines_are_those_of_the_reference() {
    // Planes of 7 by 40 elements; lines are 40 apart.
    let (planes, places) = (60, [0, 1, 2, 40, 83]);
    for (rows, line, lines) in [(4, 7, 5), (9, 1, 5), (5, 23, 2)] {
        let starts: Vec<_> = (0..lines).map(|at| at * 40).collect();
        let of = Sizes { rows, inner: planes * places.len(), columns: line * lines };
        let (a, all) = (singles(rows * of.inner, 5, false), singles(planes * 280 + SPARE, 6, false));
        let element = |k: usize, column: usize| {
            k / places.len() * 280 + places[k % places.len()] + starts[column / line] + column % line
        };
        let wanted = single(&a, |k, column| all[element(k, column)], of);
        let wide = |all: &[f32]| all.iter().map(|&x| f64::from(x)).collect::<Vec<_>>();
        let (short, long) = ([bytes(&a), bytes(&all)], [wide(&a), wide(&all)]);
        for [a, planes] in [
            short.each_ref().map(|all| Numbers::Singles(all)),
            long.each_ref().map(|all| Numbers::Doubles(all)),
        ] {
            let shifted = Shifted { planes, plane: 280, places: &places, starts: &starts, line };
            for level in Level::available() {
                let mut options = Options::default();
                options.level = Some(level);
                let found = multiplied::<f32>(a, &shifted, true, of, options);
                assert!(found == wanted, "{of:?} {level:?}, lines of {line}");
            }
        }
    }
}

#[test]
fn factors_are_packed_within_the_memory_that_is_allowed() {
    let of = Sizes { rows: 8, inner: 5, columns: 96 };
    let all = bytes(&singles(of.inner * of.columns, 3, false));
    let layout = Layout::new(Side::Second, 1, of, [of.columns, 1]).unwrap();
    let packed = |most| PackedFactor::new(&all, layout, SumType::Single, Options::default(), most, || Ok(()));
    let bytes = u64::try_from(all.len() * 4).unwrap();
    assert!(packed(bytes - 1).unwrap().is_none() && packed(u64::MAX).unwrap().is_some());
    // Results of few rows need no packed factors, and one column would be padded to many.
    assert!(Layout::new(Side::Second, 1, Sizes { rows: 3, ..of }, [of.columns, 1]).is_none());
    let thin = Layout::new(Side::Second, 96, Sizes { columns: 1, ..of }, [1, 1]).unwrap();
    let padded = PackedFactor::new(&all, thin, SumType::Single, Options::default(), u64::MAX, || Ok(()));
    assert!(padded.unwrap().is_none());
}

#[test]
fn exactness_is_seen() {
    assert!(Numbers::Doubles(&[0.5, -0.0, f64::INFINITY, f64::NAN, 1e-45f32.into()]).are_singles());
    assert!(!Numbers::Doubles(&[0.5, 0.1]).are_singles());
    assert!(!Numbers::Doubles(&[1e300]).are_singles());
}
