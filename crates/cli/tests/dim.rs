//! `gradus dim` as it is typed, with what it prints and its exit status.
//!
//! `SNAPSHOTS=overwrite cargo test -p gradus-cli` writes what is printed into this file.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod common;

use common::{gradus, misused, prints};
use snapbox::{IntoData, str};

/// The output and the exit status of what is not true.
fn ends(status: i32, arguments: &[&str], stdout: impl IntoData) {
    let arguments = [&["dim"], arguments].concat();
    gradus(&arguments).assert().code(status).stderr_eq("").stdout_eq(stdout);
}

#[test]
fn conditions_are_decided() {
    prints(
        &["dim", "(n + 7)//8*8 >= n"],
        str![[r#"
true

"#]],
    );
    prints(
        &["dim", "n//8*8 == n", "--assume", "n % 16 == 0"],
        str![[r#"
true

"#]],
    );
    prints(
        &["dim", "n < 10", "--range", "n=-3..9"],
        str![[r#"
true

"#]],
    );
    prints(
        &["dim", "n >= 1", "--nonempty", "--json"],
        str![[r#"
{"condition":"n >= 1","answer":"true"}

"#]],
    );
    ends(
        1,
        &["n//8*8 == n"],
        str![[r#"
false: n = 1

"#]],
    );
    ends(
        1,
        &["Eq(Mod(s0, 2), 0)", "--json"],
        str![[r#"
{"condition":"Eq(Mod(s0, 2), 0)","answer":"false","counterexample":{"s0":1}}

"#]],
    );
    ends(
        1,
        &["n//8*8 == n", "--at", "n=12"],
        str![[r#"
false: n = 12

"#]],
    );
    ends(
        1,
        &["a == 1", "--assume", "a < b", "--assume", "b < a"],
        str![[r#"
contradiction: no numbers meet what is assumed

"#]],
    );
    ends(
        3,
        &["a**3 + b**3 != c**3", "--nonempty"],
        str![[r#"
unknown

"#]],
    );
}

#[test]
fn expressions_have_one_form() {
    prints(
        &["dim", "CeilDiv(4*n + 2, 2)"],
        str![[r#"
2*n + 1

"#]],
    );
    prints(
        &["dim", "CeilDiv(4*n + 2, 2)", "--at", "n=5"],
        str![[r#"
11

"#]],
    );
    prints(
        &["dim", "min(h//2, 8)", "--dims", "sympy"],
        str![[r#"
Min(floor(h/2), 8)

"#]],
    );
    prints(
        &["dim", "min(h//2, 8)", "--dims", "onnx", "--range", "h=0..99", "--json"],
        str![[r#"
{"expression":"Min(h//2, 8)","symbols":["h"],"min":0,"max":8}

"#]],
    );
    prints(
        &["dim", "min(h, 8)", "--range", "h=0..4"],
        str![[r#"
h

"#]],
    );
}

#[test]
fn conditions_are_solved_for_a_name() {
    prints(
        &["dim", "6*L == 816", "--solve-for", "L"],
        str![[r#"
L == 136

"#]],
    );
    prints(
        &["dim", "(h + 2)//4 + k >= 8", "--solve-for", "h"],
        str![[r#"
h >= 30 - 4*k

"#]],
    );
    prints(
        &["dim", "(h + 2)//4 == k", "--solve-for", "h", "--dims", "sympy", "--json"],
        str![[r#"
{"condition":"(h + 2)//4 == k","solved_for":"h","answer":"solved","min":"4*k - 2","max":"4*k + 1"}

"#]],
    );
    prints(
        &["dim", "b*n <= 100", "--solve-for", "n", "--nonempty"],
        str![[r#"
n <= 100//b

"#]],
    );
    ends(
        1,
        &["6*L == 815", "--solve-for", "L"],
        str![[r#"
none: no number meets the condition

"#]],
    );
    prints(
        &["dim", "n*n <= 30", "--solve-for", "n"],
        str![[r#"
n <= 5

"#]],
    );
    ends(
        1,
        &["2*n + 4*m == 7", "--solve-for", "n"],
        str![[r#"
none: no number meets the condition

"#]],
    );
    ends(
        3,
        &["n % 4 == 0", "--solve-for", "n"],
        str![[r#"
unknown

"#]],
    );
    misused(
        &["dim", "6*L == 816", "--solve-for", "l"],
        str![[r#"
error: unknown name "l"; did you mean "L"?

"#]],
    );
}

#[test]
fn mistakes_are_marked() {
    misused(
        &["dim", "n +"],
        str![[r#"
error: cannot parse expression "n +": character 4 is the end, expected a name, a number or "("
  |
1 | n +
  | ^^^

"#]],
    );
    misused(
        &["dim", "n == ("],
        str![[r#"
error: cannot parse expression "(": character 2 is the end, expected a name, a number or "("
  |
1 | n == (
  | ^^^^^^

"#]],
    );
    misused(
        &["dim", "n", "--at", "m=3"],
        str![[r#"
error: unknown name "m"; known: "n"

"#]],
    );
    misused(
        &["dim", "n + m", "--at", "m=3"],
        str![[r#"
error: --at n is missing, expected NAME=NUMBER

"#]],
    );
    misused(
        &["dim", "n", "--at", "n=x"],
        str![[r#"
error: --at is n=x, expected NAME=NUMBER

"#]],
    );
    misused(
        &["dim", "n >= 2 and n % (m - m) == 1"],
        str![[r#"
error: cannot decide the condition: it divides by 0
  |
1 | n >= 2 and n % (m - m) == 1
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^

"#]],
    );
    misused(
        &["dim", "n /: 2"],
        str![[r#"
error: cannot evaluate "n /: 2": n % 2 is not known, expected 0, as /: leaves no rest
  |
1 | n /: 2
  | ^^^^^^

"#]],
    );
    misused(
        &["dim", "n >= 1 and m"],
        str![[r#"
error: condition is "m", expected two expressions with ==, !=, <=, >=, < or > between them, as "h % 32 == 0", or numbers, as "n in {1, 8}"
  |
1 | n >= 1 and m
  | ^^^^^^^^^^^^

"#]],
    );
    misused(
        &["dim", "n > 3", "--range", "n=9..4"],
        str![[r#"
error: --range n=9..4: it holds no number

"#]],
    );
}
