//! Any bytes as a program that makes expressions of dimensions: wherever an expression has a value,
//! arithmetic in 128 bits gives the same, within its bounds; and its text reads back.
#![no_main]

use gradus::dim::{Dim, Symbols};
use libfuzzer_sys::fuzz_target;

const NAMES: [&str; 3] = ["a", "b", "seq"];

/// Values of the symbols at which expressions are compared.
const BINDINGS: [[i64; 3]; 6] =
    [[0, 0, 0], [1, 1, 1], [1, 2, 7], [64, 3, 1], [1 << 20, 17, 512], [5, 1 << 31, (1 << 40) + 1]];

/// An expression and its values at the bindings: nothing where it has none, or where a part of it
/// does not fit.
type Entry = (Dim, [Option<i128>; 6]);

fn floor(a: i128, b: i128) -> i128 {
    a.div_euclid(b) - i128::from(b < 0 && a.rem_euclid(b) != 0)
}

fn value(operation: u8, a: i128, b: i128) -> Option<i128> {
    let value = match operation {
        0 => a + b,
        1 => a - b,
        2 => a.checked_mul(b)?,
        3 => a.min(b),
        4 => a.max(b),
        // Sizes that broadcast are equal, or one of them is 1.
        5 if a == b || b == 1 => a,
        5 if a == 1 => b,
        5 => return None,
        _ if b == 0 => return None,
        6 => floor(a, b),
        7 => a - b * floor(a, b),
        _ if b < 0 => return None,
        8 => a / b,
        _ => -floor(-a, b),
    };
    (value.unsigned_abs() < 1 << 60).then_some(value)
}

fn dim(symbols: &mut Symbols, operation: u8, a: Dim, b: Dim) -> Option<Dim> {
    match operation {
        0 => symbols.add(a, b),
        1 => symbols.subtract(a, b),
        2 => symbols.multiply(a, b),
        3 => symbols.min(a, b),
        4 => symbols.max(a, b),
        5 => symbols.broadcast(a, b),
        6 => symbols.floor_divide(a, b),
        7 => symbols.modulo(a, b),
        8 => symbols.truncated_divide(a, b),
        _ => symbols.ceil_divide(a, b),
    }
}

fn check(symbols: &mut Symbols, (dim, values): &Entry) {
    let (dim, text) = (*dim, symbols.print(*dim).to_string());
    let bounds = symbols.bounds(dim);
    for (binding, want) in BINDINGS.iter().zip(values) {
        let Some(want) = *want else { continue };
        let of = |name: &str| NAMES.iter().position(|known| *known == name).map(|index| binding[index]);
        if let Some(got) = symbols.evaluate(dim, &of) {
            assert_eq!(i128::from(got), want, "{text} at {binding:?}");
        }
        assert!(bounds.lower().is_none_or(|least| i128::from(least) <= want), "{text} is {want}: {bounds:?}");
        assert!(bounds.upper().is_none_or(|most| i128::from(most) >= want), "{text} is {want}: {bounds:?}");
        let above = i64::try_from(want + 1).expect("values are below 2^60");
        assert!(!symbols.never_below(dim, above), "{text} is {want} and never below {above}");
        assert!(want != 0 || !symbols.never_zero(dim), "{text} is 0");
    }
    assert_eq!(symbols.parse(&text).expect("what is printed is an expression"), dim, "{text}");
}

fuzz_target!(|data: &[u8]| {
    let mut symbols = Symbols::default();
    let mut made: Vec<Entry> = NAMES
        .iter()
        .enumerate()
        .map(|(index, name)| (symbols.named(name), BINDINGS.map(|binding| Some(binding[index].into()))))
        .collect();
    for step in data.chunks_exact(3).take(48) {
        let [operation, a, b] = *step else { return };
        let number = |byte: u8| (Dim::Known(i64::from(byte) - 200), [Some(i128::from(byte) - 200); 6]);
        let entry = |byte: u8| if byte < 128 { made[usize::from(byte) % made.len()] } else { number(byte) };
        let ((a, of_a), (b, of_b)) = (entry(a), entry(b));
        let operation = operation % 10;
        let Some(dim) = dim(&mut symbols, operation, a, b) else { continue };
        let mut values = [None; 6];
        for (value_of, (a, b)) in values.iter_mut().zip(of_a.into_iter().zip(of_b)) {
            *value_of = a.zip(b).and_then(|(a, b)| value(operation, a, b));
        }
        check(&mut symbols, &(dim, values));
        made.push((dim, values));
    }
});
