//! Contracts as modules of Python.

use std::fmt::Write as _;

use super::{FormulaWriter, SourceCheck, StructField};
use crate::contract::{Contract, ContractElement, Language};

/// The parameters of functions of two numbers.
const NUMBERS: &str = "a: int | None, b: int | None";

/// Functions in the order in which they are written: name, parameters, type and result.
const FUNCTIONS: [(&str, &str, &str, &str); 14] = [
    ("add", NUMBERS, "int", "None if a is None or b is None else _fitting(a + b)"),
    ("multiply", NUMBERS, "int", "None if a is None or b is None else _fitting(a * b)"),
    ("floor_divide", NUMBERS, "int", "None if a is None or b is None or b == 0 else _fitting(a // b)"),
    ("min", NUMBERS, "int", "None if a is None or b is None else min(a, b)"),
    ("max", NUMBERS, "int", "None if a is None or b is None else max(a, b)"),
    ("broadcast", NUMBERS, "int", "b if a == 1 else a"),
    ("equal", NUMBERS, "bool", "None if a is None or b is None else a == b"),
    ("at_most", NUMBERS, "bool", "None if a is None or b is None else a <= b"),
    ("at_least", NUMBERS, "bool", "None if a is None or b is None else a >= b"),
    ("unequal", NUMBERS, "bool", "None if a is None or b is None else a != b"),
    ("broadcasts", NUMBERS, "bool", "None if a is None or b is None else a == b or a == 1 or b == 1"),
    (
        "implies",
        "when: bool | None, holds: bool | None",
        "bool",
        "holds if when else None if when is None else True",
    ),
    ("both", "a: bool | None, b: bool | None", "bool", "None if a is None or b is None else a and b"),
    (
        "pick",
        "when: bool | None, a: int | None, b: int | None",
        "int",
        "None if when is None else a if when else b",
    ),
];

const REFUSED: &str = r#"class Refused(ValueError):
    """Sizes that the model does not take."""

    def __init__(self, condition: str, place: str) -> None:
        super().__init__(f"sizes do not meet a condition: {condition} ({place})")
        self.condition = condition
        self.place = place


def _too_large() -> Refused:
    return Refused("each number fits 64 bits and no divisor is zero", "the formulas")


def _fitting(value: int) -> int | None:
    return value if -(2**63) <= value < 2**63 else None


def _exact(value: int | None) -> int:
    if value is None:
        raise _too_large()
    return value


def _size(value: int) -> int:
    value = index(value)
    if _fitting(value) is None:
        raise _too_large()
    return value
"#;

const SIZES: &str = r#"def _sizes(sizes: Sequence[int], rank: int, name: str) -> list[int]:
    if len(sizes) != rank:
        raise Refused(f"rank of input {name} is {rank}", "the inputs")
    return [_size(size) for size in sizes]
"#;

const REQUIRE: &str = r#"def _require(holds: bool | None, condition: str, place: str) -> None:
    if holds is None:
        raise _too_large()
    if not holds:
        raise Refused(condition, place)
"#;

/// The Python module for a contract.
pub(super) fn source(contract: &Contract, title: &str) -> String {
    let mut formulas = FormulaWriter::new(contract, Language::Python, "");
    let mut body = String::new();
    for input in &contract.inputs {
        let (argument, rank) = (&input.argument, input.shape.len());
        let name = literal(&format!("\"{}\"", gradus_core::text::escaped(&input.name)));
        let _ = writeln!(body, "    {argument} = _sizes({argument}, {rank}, {name})");
    }
    for (_, name) in &contract.parameters {
        let _ = writeln!(body, "    {name} = _size({name})");
    }
    for ContractElement { argument, variable, .. } in &contract.elements {
        let _ = writeln!(body, "    {variable} = None if {argument} is None else _size({argument})");
    }
    for (variable, argument, axis) in formulas.definitions() {
        let _ = writeln!(body, "    {variable} = {argument}[{axis}]");
    }
    let checks = formulas.checks();
    for check in &checks {
        let SourceCheck { holds, text, place, .. } = check;
        let require = format!("    _require({holds}, {}, {})", literal(text), literal(place));
        let guard = check.guard(|variable| format!("{variable} is not None"), " and ");
        let _ = match guard {
            Some(guard) => writeln!(body, "    if {guard}:\n    {require}"),
            None => writeln!(body, "{require}"),
        };
    }
    let fields = formulas.fields();
    let positive = formulas.positive_symbols();
    let positive = positive.iter().map(|symbol| format!("{symbol} >= 1")).collect::<Vec<_>>();
    let mut declared = String::new();
    body.push_str("    return Shapes(\n");
    for StructField { name, about, values, is_shape, is_partial } in &fields {
        let value = |formula: &Option<String>| {
            formula.as_ref().map_or_else(|| "None".to_owned(), |formula| format!("_exact({formula})"))
        };
        let all = values.iter().map(value).collect::<Vec<_>>().join(", ");
        let of = if *is_partial { "int | None" } else { "int" };
        let (of, value) = match values.len() {
            0 => ("tuple[()]".to_owned(), "()".to_owned()),
            len if *is_shape => {
                let comma = if len == 1 { "," } else { "" };
                (format!("tuple[{}]", vec![of; len].join(", ")), format!("({all}{comma})"))
            }
            _ if name == "peak_bytes" && !positive.is_empty() => {
                (of.to_owned(), format!("{all} if {} else None", positive.join(" and ")))
            }
            _ => (of.to_owned(), all),
        };
        let _ = writeln!(declared, "    # {}\n    {name}: {of}", super::rust::capitalized(about));
        let _ = writeln!(body, "        {name}={value},");
    }
    body.push_str("    )\n");

    // The first line has no text of the model: a comment there could name an encoding.
    let mut text = String::from("\"\"\"Shapes of a model, by `gradus infer --emit python`.\"\"\"\n\n");
    for line in formulas.head(title) {
        let _ = writeln!(text, "# {line}");
    }
    text.push_str(
        "\nfrom collections.abc import Sequence\nfrom dataclasses import \
         dataclass\nfrom operator import index\n\n",
    );
    if let Ok(bytes) = i64::try_from(contract.constant_bytes) {
        let _ = writeln!(text, "# Bytes of all constants.\nCONSTANT_BYTES: int = {bytes}\n");
    }
    let mut arguments: Vec<_> =
        contract.inputs.iter().map(|input| format!("{}: Sequence[int]", input.argument)).collect();
    arguments.extend(contract.parameters.iter().map(|(_, name)| format!("{name}: int")));
    arguments.extend(contract.elements.iter().map(|of| format!("{}: int | None = None", of.argument)));
    let _ = write!(
        text,
        "\n@dataclass(frozen=True)\nclass Shapes:\n    \"\"\"Shapes and memory for sizes that the model \
         takes.\"\"\"\n\n{declared}\n\n{REFUSED}\n\ndef shapes({}) -> Shapes:\n    \"\"\"Shapes and memory for these \
         sizes of the inputs.\n\n    Raises:\n        Refused: The condition that does not hold.\n    \
         \"\"\"\n{body}",
        arguments.join(", ")
    );
    if !contract.inputs.is_empty() {
        let _ = write!(text, "\n\n{SIZES}");
    }
    if !checks.is_empty() {
        let _ = write!(text, "\n\n{REQUIRE}");
    }
    for (name, parameters, of, result) in FUNCTIONS {
        if formulas.used.contains(name) {
            let _ = writeln!(text, "\n\ndef _{name}({parameters}) -> {of} | None:\n    return {result}");
        }
    }
    text
}

/// Text as a string literal of ASCII characters.
fn literal(text: &str) -> String {
    let mut literal = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => literal.extend(['\\', c]),
            ' '..='~' => literal.push(c),
            _ => {
                let _ = write!(literal, "\\U{:08x}", u32::from(c));
            }
        }
    }
    literal.push('"');
    literal
}
