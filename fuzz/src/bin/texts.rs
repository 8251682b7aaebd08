//! Any text as a literal, a number or an expression of dimensions; what is printed reads back.
#![no_main]

use gradus::dim::Symbols;
use gradus::{DType, Limits, Number, Rules, convert, text};
use libfuzzer_sys::fuzz_target;

#[allow(dead_code, reason = "the command also makes tensors that are not written as text")]
#[path = "../../../crates/cli/src/literal.rs"]
mod literal;

/// Details of a mistake, which the parser of literals reports.
mod diagnostics {
    use std::ops::Range;

    pub(crate) struct Mistake;

    impl Mistake {
        pub(crate) fn new(source: &str, part: Range<usize>, _: gradus::Error) -> Mistake {
            assert!(source.get(part.clone()).is_some(), "{source:?} has no part {part:?}");
            Mistake
        }

        pub(crate) fn whole(source: &str, error: gradus::Error) -> Mistake {
            Mistake::new(source, 0..source.len(), error)
        }
    }
}

fuzz_target!(|data: &[u8]| {
    let Some((&kind, data)) = data.split_first() else { return };
    let Ok(source) = std::str::from_utf8(data) else { return };
    let dtype = DType::ALL[usize::from(kind) % DType::ALL.len()];
    let mut limits = Limits::DEFAULT;
    limits.max_bytes = 1 << 20;
    let _ = literal::parse(source, Some(dtype), 0, &limits);
    let _ = literal::parse(source, None, 0, &limits);
    let _ = text::parse_exact(source, dtype);
    let narrow = (1..=8).contains(&dtype.bits());
    if let (true, Ok(number)) = (narrow, text::parse_for(source, dtype)) {
        let code = |number| convert::code(dtype, number, Rules::IEEE);
        let element = convert::number(dtype, code(number));
        if !matches!(element, Number::Float(x) if x.is_nan()) {
            let printed = text::shortest(element, dtype);
            let again = text::parse_for(&printed, dtype).expect("what is printed is a number");
            assert_eq!(code(element), code(again), "{source:?} is printed as {printed}");
        }
    }
    let mut symbols = Symbols::default();
    if let Ok(dim) = symbols.parse(source) {
        let printed = symbols.print(dim).to_string();
        assert_eq!(symbols.parse(&printed).expect("what is printed is an expression"), dim, "{printed}");
    }
});
