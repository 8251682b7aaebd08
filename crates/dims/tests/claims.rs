//! Claims about random expressions, decided and checked by enumeration.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod trees;

use std::collections::BTreeMap;

use gradus_core::Limits;
use gradus_dims::{Answer, Claim, Dim, Expression, Ranges, Solved, Symbols};

use trees::Tree;

const NAMES: [&str; 4] = ["a", "b", "c", "d"];
const OPERATORS: [&str; 7] = ["+", "-", "*", "//", "%", "min", "max"];
const SIGNS: [&str; 6] = ["==", "!=", "<=", ">=", "<", ">"];

/// A random tree of at most this depth.
fn random_tree(random: &mut fastrand::Rng, depth: u32) -> Tree {
    if depth == 0 || random.u8(..4) == 0 {
        return if random.u8(..3) == 0 {
            Tree::Number(random.u8(..9).into())
        } else {
            Tree::Name(random.usize(..NAMES.len()))
        };
    }
    let operator = OPERATORS[random.usize(..OPERATORS.len())];
    Tree::Binary(operator, Box::new([random_tree(random, depth - 1), random_tree(random, depth - 1)]))
}

fn text(tree: &Tree) -> String {
    match tree {
        Tree::Number(value) => value.to_string(),
        Tree::Name(at) => NAMES[*at].to_owned(),
        Tree::Binary(of @ ("min" | "max"), both) => format!("{of}({}, {})", text(&both[0]), text(&both[1])),
        Tree::Binary(of, both) => format!("({}) {of} ({})", text(&both[0]), text(&both[1])),
    }
}

/// The answer about a condition where others are given; `None` for a contradiction.
fn decided_where(text: &str, given: &[&str]) -> Option<bool> {
    let claims: Vec<_> = given.iter().map(|text| Claim::parse(text).unwrap()).collect();
    match Claim::parse(text).unwrap().decide(&claims, &Ranges::new(), None) {
        Answer::True => Some(true),
        Answer::False(_) => Some(false),
        Answer::Contradiction => None,
        Answer::Unknown => panic!("{text} given {given:?}"),
    }
}

struct Random {
    sides: [Tree; 2],
    sign: &'static str,
}

impl Random {
    fn new(random: &mut fastrand::Rng) -> Random {
        let (depth, other) = (random.u32(1..4), random.u32(0..3));
        let sides = [random_tree(random, depth), random_tree(random, other)];
        Random { sides, sign: SIGNS[random.usize(..SIGNS.len())] }
    }

    fn text(&self) -> String {
        format!("{} {} {}", text(&self.sides[0]), self.sign, text(&self.sides[1]))
    }

    fn claim(&self) -> Claim {
        Claim::parse(&self.text()).unwrap()
    }

    fn holds(&self, at: &[i64; 4]) -> Option<bool> {
        let [a, b] = [self.sides[0].value(at, u128::MAX)?, self.sides[1].value(at, u128::MAX)?];
        Some(match self.sign {
            "==" => a == b,
            "!=" => a != b,
            "<=" => a <= b,
            ">=" => a >= b,
            "<" => a < b,
            _ => a > b,
        })
    }
}

/// Answers to random claims, counted, and the forms of those that are not decided.
#[derive(Debug, Default)]
struct Answers {
    holds: usize,
    fails: usize,
    contradictory: usize,
    unknown: Vec<String>,
}

/// The answer to a random claim with `count` conditions, which is checked by enumeration.
fn decided(random: &mut fastrand::Rng, seed: u64, count: usize, found: &mut Answers) {
    let claim = Random::new(random);
    let given: Vec<_> = (0..count).map(|_| Random::new(random)).collect();
    let written: Vec<_> = given.iter().map(Random::claim).collect();
    let answer = claim.claim().decide(&written, &Ranges::new(), None);
    let meets = |at: &[i64; 4]| given.iter().all(|given| given.holds(at) == Some(true));
    let told = || {
        let given: Vec<_> = given.iter().map(Random::text).collect();
        format!("seed {seed}: {} given {given:?}: {answer:?}", claim.text())
    };
    let failing = |is_meant: &dyn Fn(&[i64; 4]) -> bool| {
        let mut points = (0..12i64.pow(4)).map(|n| [n % 12, n / 12 % 12, n / 144 % 12, n / 1728]);
        let mut other = fastrand::Rng::with_seed(seed);
        let large = std::iter::repeat_with(|| {
            [0; 4].map(|_| {
                let bits = other.u8(1..16);
                other.i64(0..1 << bits)
            })
        });
        points.find(|at| is_meant(at)).or_else(|| large.take(2000).find(is_meant))
    };
    match &answer {
        Answer::True => {
            found.holds += 1;
            assert_eq!(failing(&|at| meets(at) && claim.holds(at) == Some(false)), None, "{}", told());
        }
        Answer::False(point) => {
            found.fails += 1;
            let at =
                NAMES.map(|name| point.iter().find(|(of, _)| **of == *name).map_or(0, |(_, value)| *value));
            assert!(meets(&at) && claim.holds(&at) == Some(false), "{}", told());
        }
        Answer::Contradiction => {
            found.contradictory += 1;
            assert_eq!(failing(&meets), None, "{}", told());
        }
        Answer::Unknown => found.unknown.push(told()),
    }
}

/// Decides random claims, each with `conditions` conditions.
fn decide_random(seed: u64, count: usize, conditions: usize) -> Answers {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut found = Answers::default();
    for _ in 0..count {
        decided(&mut random, seed, conditions, &mut found);
    }
    found
}

/// Every answer is right where it is enumerated, and few claims are not decided.
#[test]
fn random_claims_are_decided() {
    for conditions in [0, 1] {
        let found = decide_random(1, 500, conditions);
        assert!(found.holds > 50 && found.fails > 250 && found.unknown.len() <= 2, "{found:#?}");
    }
}

/// The operators of a claim and its conditions: the form by which those that are not decided are
/// counted.
fn form(told: &str) -> String {
    let is_written =
        |operator: &&&str| told.contains(&format!(" {operator} ")) || told.contains(&format!("{operator}("));
    OPERATORS.iter().filter(is_written).copied().collect::<Vec<_>>().join(" ")
}

/// Pairs of a claim and a condition, with seeds from `SEED` on: `CLAIMS` says how many, a million
/// for the figure in docs/explanation/dims.md. Printed are the seeds, what is not decided, and how
/// often by its operators.
#[test]
#[ignore = "long: a million take hours"]
fn long_random_pairs_are_decided() {
    const OF_SEED: usize = 10_000;
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<usize>().ok());
    let (first, count) = (number("SEED").unwrap_or(1), number("CLAIMS").unwrap_or(20_000));
    let seeds = first..first + count.div_ceil(OF_SEED);
    let (mut all, mut forms) = ([0; 3], BTreeMap::<String, usize>::new());
    let mut unknown = 0;
    for seed in seeds.clone() {
        let found = decide_random(u64::try_from(seed).unwrap(), OF_SEED, 1);
        for (sum, more) in all.iter_mut().zip([found.holds, found.fails, found.contradictory]) {
            *sum += more;
        }
        for told in &found.unknown {
            println!("{told}");
            *forms.entry(form(told)).or_default() += 1;
        }
        unknown += found.unknown.len();
        println!("seeds {first}..={seed}: {all:?} and {unknown} unknown");
    }
    let mut forms: Vec<_> = forms.into_iter().collect();
    forms.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    for (form, count) in forms {
        println!("{count} with {form}");
    }
    assert!(unknown * 1000 <= OF_SEED * seeds.len(), "{unknown}");
}

/// Names are replaced by what conditions say of them.
#[test]
fn names_are_replaced_by_what_is_said_of_them() {
    let holds = [
        ("t % m == (p + s) % m", &["t == p + s"][..]),
        ("min(t, 64)*h*h == min(p + s, 64)*h*h", &["p + s == t"]),
        ("n % m == 0", &["k % m == 0", "n % k == 0"]),
        ("n % m == 0", &["n % k == 0", "k % m == 0"]),
        ("(a + b) % m == 0", &["a % m == 0", "b % m == 0"]),
        ("(a*b) % m == 0", &["a % m == 0"]),
        ("(a + b + m*c) % m == 0", &["(a + b) % m == 0"]),
        ("broadcast(a, b) == max(a, b)", &["a >= 1", "b >= 1"]),
    ];
    for (claim, given) in holds {
        let given: Vec<_> = given.iter().map(|text| Claim::parse(text).unwrap()).collect();
        let claim = Claim::parse(claim).unwrap();
        assert_eq!(claim.decide(&given, &Ranges::new(), None), Answer::True, "{claim:?}");
        // Without what is given, it does not hold.
        let alone = claim.decide(&[], &Ranges::new(), None);
        assert!(matches!(alone, Answer::False(_)), "{claim:?}: {alone:?}");
    }
}

/// A relation of two equal expressions holds for all numbers or for none, whatever is given of
/// numbers that are not tried.
#[test]
fn relations_of_equal_sides_are_decided() {
    for (relation, holds) in
        [("==", true), ("<=", true), (">=", true), ("!=", false), ("<", false), (">", false)]
    {
        for sides in [["3", "3"], ["n", "n"], ["n*m//k", "m*n//k"], ["n + n", "2*n"]] {
            let text = sides.join(relation);
            let claim = Claim::parse(&text).unwrap();
            let mut symbols = Symbols::default();
            let condition = claim.condition(&mut symbols).unwrap();
            assert_eq!(symbols.always_holds(&condition), holds, "{text}");
            assert_eq!(symbols.never_holds(&condition), !holds, "{text}");
            let answer = claim.decide(&[Claim::parse("b//7 == 6").unwrap()], &Ranges::new(), None);
            assert_eq!(answer == Answer::True, holds, "{text}");
        }
    }
}

/// A claim of one name is solved for it, by trying numbers and a proof about all others.
#[test]
fn claims_are_solved_for_their_only_name() {
    let cases = [
        ("n*n <= 16", (0, None), Some((None, Some(4)))),
        ("n*n == 16", (0, None), Some((Some(4), Some(4)))),
        ("n*n == 0", (0, None), Some((Some(0), Some(0)))),
        ("n*n >= 16", (0, None), Some((Some(4), None))),
        ("n*n == 17", (0, None), Some((Some(1), Some(0)))),
        ("n//2 + n//3 == 10", (0, None), Some((Some(12), Some(13)))),
        ("100//n >= 7", (0, None), Some((Some(1), Some(14)))),
        ("min(n, 64) == 65", (0, None), Some((Some(1), Some(0)))),
        ("n == n + 1", (0, None), Some((Some(1), Some(0)))),
        ("n == n", (0, None), Some((None, None))),
        ("2*n == 7", (0, None), Some((Some(1), Some(0)))),
        ("n >= 5", (0, Some(4)), Some((Some(1), Some(0)))),
        ("n % 32 == 0", (1, Some(63)), Some((Some(32), Some(32)))),
        ("n % 32 == 0", (0, None), None),
        ("n != 3", (0, None), None),
        ("2 <= n <= 5", (0, None), Some((Some(2), Some(5)))),
        ("And(n >= 2, 3*n <= 16, n*n >= 9)", (0, None), Some((Some(3), Some(5)))),
        ("n == 2 or n == 3", (0, None), Some((Some(2), Some(3)))),
    ];
    for (text, range, ends) in cases {
        let ranges = Ranges::from([("n".to_owned(), range)]);
        let mut symbols = Symbols::assuming(&[], &ranges).unwrap();
        let claim = Claim::parse(text).unwrap();
        let solved = claim.solve_for("n", &[], &ranges, &mut symbols, None).unwrap();
        let known = |end: Option<Dim>| end.map(|end| end.known().unwrap());
        assert_eq!(solved.map(|of| (known(of.least), known(of.most))), ends, "{text}");
    }
    let claim = Claim::parse("2*n + 4*m == 7").unwrap();
    let solved = claim.solve_for("n", &[], &Ranges::new(), &mut Symbols::default(), None).unwrap();
    assert_eq!(solved, Some(Solved::NOTHING));
}

/// A condition that is solved holds for the numbers between the ends, and for no others.
#[test]
fn conditions_hold_between_the_ends_that_they_are_solved_for() {
    let mut random = fastrand::Rng::with_seed(3);
    let mut solved = 0;
    for _ in 0..4000 {
        let claim = Random::new(&mut random);
        let mut symbols = Symbols::default();
        let Ok(condition) = claim.claim().condition(&mut symbols) else { continue };
        let Some(found) = symbols.solve_for(&condition, "a") else { continue };
        solved += 1;
        for _ in 0..40 {
            let at: [i64; 4] = std::array::from_fn(|_| random.i64(0..20));
            let of = |name: &str| NAMES.iter().position(|known| *known == name).map(|index| at[index]);
            let Some(holds) = claim.holds(&at) else { continue };
            let end = |end: Option<Dim>| end.map(|end| symbols.evaluate(end, &of));
            let (least, most) = (end(found.least), end(found.most));
            if least == Some(None) || most == Some(None) {
                continue;
            }
            let is_between = least.flatten().is_none_or(|least| least <= at[0])
                && most.flatten().is_none_or(|most| at[0] <= most);
            assert_eq!(holds, is_between, "{} at {at:?}: {found:?}", claim.text());
        }
    }
    assert!(solved > 500, "{solved}");
}

/// No value is outside of the bounds of an expression, and most expressions reach them.
#[test]
fn expressions_are_within_their_bounds() {
    let mut random = fastrand::Rng::with_seed(4);
    let (mut reached, mut ends) = (0, 0);
    let ranges: Ranges = NAMES.iter().map(|name| ((*name).to_owned(), (1, Some(6)))).collect();
    for _ in 0..60 {
        let tree = random_tree(&mut random, 2);
        let expression = Expression::parse(&text(&tree)).unwrap();
        let bounds = expression.bounds(&[], &ranges, None);
        let points = (0..6i64.pow(4)).map(|n| [n % 6, n / 6 % 6, n / 36 % 6, n / 216].map(|at| at + 1));
        let values: Vec<_> = points.filter_map(|at| tree.value(&at, u128::MAX)).collect();
        let (Some(least), Some(most)) = (values.iter().min(), values.iter().max()) else { continue };
        for (end, value, is_lower) in [(bounds.lower(), *least, true), (bounds.upper(), *most, false)] {
            let outside = end
                .is_some_and(|end| if is_lower { i128::from(end) > value } else { i128::from(end) < value });
            assert!(!outside, "{}: {bounds:?}", text(&tree));
            ends += 1;
            reached += usize::from(end.map(i128::from) == Some(value));
        }
    }
    assert!(reached * 20 >= ends * 19, "{reached} of {ends}");
}

/// Sets of numbers are decided, alone and as what is given.
#[test]
fn sets_are_decided() {
    let cases: [(&str, &[&str], Option<bool>); 9] = [
        ("sr % 8000 == 0", &["sr in {8000, 16000}"], Some(true)),
        ("sr != 12000", &["sr in {8000, 16000}"], Some(true)),
        ("sr == 8000", &["sr in { 8000 ,16000 } ", "sr < 10000"], Some(true)),
        ("sr == 8000", &["sr in {8000, 16000}"], Some(false)),
        ("n + 1 in {2, 9}", &["n in {1, 8}"], Some(true)),
        ("n in {1, 8}", &["n % 7 == 1", "n <= 14"], Some(true)),
        ("n in {1, 8}", &["n % 7 == 1"], Some(false)),
        ("n in {5}", &["n == 5"], Some(true)),
        ("n in {1, 8}", &["n in {2, 3}", "n >= 4"], None),
    ];
    for (text, given, wanted) in cases {
        assert!(Claim::is_written(text));
        assert_eq!(decided_where(text, given), wanted, "{text} given {given:?}");
    }
    for text in ["n in {}", "n in {m}", "n in {1", "nin {1}", "in {1}"] {
        assert!(Claim::parse(text).is_err(), "{text}");
    }
    let given = [Claim::parse("n in {4, 8}").unwrap()];
    let bounds = Expression::parse("2*n").unwrap().bounds(&given, &Ranges::new(), None);
    assert_eq!((bounds.lower(), bounds.upper()), (Some(8), Some(16)));
}

/// Conditions that are joined, as Python, `SymPy` and C write it.
#[test]
fn joined_claims_are_decided() {
    let cases: [(&str, &[&str], Option<bool>); 23] = [
        ("And(n >= 1, n >= 2)", &["n >= 2"], Some(true)),
        ("And(n >= 1, n >= 2)", &["n == 1"], Some(false)),
        ("Or(Eq(n, 1), Ne(n, 1))", &[], Some(true)),
        ("Not(n > 2)", &["n <= 2"], Some(true)),
        ("Eq(n, 2) & Ne(m, 3)", &["n == 2", "m == 4"], Some(true)),
        ("(n > 1) | (n <= 1)", &[], Some(true)),
        ("~(n > 2) | Eq(Mod(n, 3), 0)", &["n == 4"], Some(false)),
        ("not n > 2 or n % 3 == 0", &["n == 6"], Some(true)),
        ("!(n > 2) || n % 3 == 0 && m == 1", &["n == 6"], Some(false)),
        ("n >= 1 and (m == 2 or m == 3)", &["Ge(n, 1)", "2 <= m", "m < 4"], Some(true)),
        ("1 <= n <= 4", &["0 < n < 5"], Some(true)),
        ("1 <= n < m == k", &["m == 3", "k == 3", "n in {1, 2}"], Some(true)),
        ("n in {1, 2}", &["n == 1 or n == 2"], Some(true)),
        (
            "Or(Equality(n, 1), StrictGreaterThan(n, 1))",
            &["Not(Unequality(n, 1) & LessThan(n, 1))"],
            Some(true),
        ),
        ("Not(Or(n == 1, And(n >= 3, n <= 4)))", &["n in {0, 2, 5}"], Some(true)),
        ("not (n == 1 and m == 1)", &["n != m"], Some(true)),
        ("n/2 < 1 or n/2 > 1", &["n == 2"], Some(false)),
        ("n/2 != 1", &["n == 3"], Some(true)),
        ("not n/2 <= 1", &["n == 3"], Some(true)),
        ("True", &[], Some(true)),
        ("And(True, Or(False, n >= 0))", &[], Some(true)),
        ("n >= 0", &["False"], None),
        ("n >= 0", &["n == 1 and n == 2"], None),
    ];
    for (text, given, wanted) in cases {
        assert!(text == "True" || Claim::is_written(text), "{text}");
        assert_eq!(decided_where(text, given), wanted, "{text} given {given:?}");
    }
    // A name of a minimum and a maximum of ONNX is no condition.
    for text in ["n & m", "n ^ m", "android", "n", "max(n, m)", "(n)"] {
        assert!(!Claim::is_written(text) && Claim::parse(text).is_err(), "{text}");
    }
    for text in ["n >", "And(n, m)", "n or m == 1", "Or(n == 1", "n == 1 &", "~n", "n >= 1) and (m >= 1"] {
        assert!(Claim::parse(text).is_err(), "{text}");
    }
    assert!(Claim::parse("n & m <= 3").unwrap().holds(|name| Some(if name == "n" { 9 } else { 3 })).unwrap());
    let deep = |count: usize| format!("{}n == 1{}", "not (".repeat(count), ")".repeat(count));
    assert!(Claim::parse(&deep(8)).is_ok() && Claim::parse(&deep(40)).is_err());
    let wide = ["(n == 1 and m == 2)"; 12].join(" or ");
    assert!(Claim::parse(&wide).unwrap_err().to_string().contains("at most 256"));
}

/// Decides a claim at a point.
type Holds = Box<dyn Fn(&[i64; 4]) -> Option<bool>>;

/// Random joined relations hold where their parts say so.
#[test]
fn joined_claims_hold_as_their_parts_do() {
    fn joined(random: &mut fastrand::Rng, depth: u32) -> (String, Holds) {
        if depth == 0 {
            let claim = Random::new(random);
            return (claim.text(), Box::new(move |at| claim.holds(at)));
        }
        let (a, of_a) = joined(random, depth - 1);
        let (b, of_b) = joined(random, random.clone().u32(0..depth));
        // A part without a value leaves all without one.
        let both = |of: fn(bool, bool) -> bool, [a, b]: [Holds; 2]| -> Holds {
            Box::new(move |at| a(at).zip(b(at)).map(|(a, b)| of(a, b)))
        };
        let (and, or): (fn(_, _) -> _, fn(_, _) -> _) = (|a, b| a && b, |a, b| a || b);
        match random.u8(..7) {
            0 => (format!("And({a}, {b})"), both(and, [of_a, of_b])),
            1 => (format!("({a}) & ({b})"), both(and, [of_a, of_b])),
            2 => (format!("({a}) and ({b})"), both(and, [of_a, of_b])),
            3 => (format!("Or({a}, {b})"), both(or, [of_a, of_b])),
            4 => (format!("({a}) || ({b})"), both(or, [of_a, of_b])),
            5 => (format!("not ({a})"), Box::new(move |at| Some(!of_a(at)?))),
            _ => (format!("~({b})"), Box::new(move |at| Some(!of_b(at)?))),
        }
    }
    let mut random = fastrand::Rng::with_seed(5);
    let (mut told, mut decided) = (0, 0);
    for _ in 0..60 {
        let (text, holds) = joined(&mut random, 2);
        let claim = Claim::parse(&text).unwrap();
        for _ in 0..60 {
            let at: [i64; 4] = std::array::from_fn(|_| random.i64(0..12));
            let found = claim.holds(|name| NAMES.iter().position(|known| *known == name).map(|of| at[of]));
            if let Some(wanted) = holds(&at) {
                assert_eq!(found, Some(wanted), "{text} at {at:?}");
                told += 1;
            }
        }
        match claim.decide(&[], &Ranges::new(), None) {
            Answer::True => {
                let mut points = (0..10i64.pow(4)).map(|n| [n % 10, n / 10 % 10, n / 100 % 10, n / 1000]);
                assert_eq!(points.find(|at| holds(at) == Some(false)), None, "{text}");
            }
            Answer::False(point) => {
                let of =
                    |name: &str| point.iter().find(|(of, _)| **of == *name).map_or(0, |(_, value)| *value);
                let at = NAMES.map(of);
                assert_ne!(holds(&at), Some(true), "{text} at {at:?}");
            }
            Answer::Contradiction => panic!("{text}"),
            Answer::Unknown => continue,
        }
        decided += 1;
    }
    assert!(told > 2000 && decided >= 58, "{told} {decided}");
}

/// Expressions without a canonical form say why.
#[test]
fn expressions_without_a_form_say_why() {
    for (text, why) in [
        ("n /: 2", "n % 2 is not known, expected 0, as /: leaves no rest"),
        ("1 + (n + 1) /: (2*m)", "(n + 1) % (2*m) is not known, expected 0, as /: leaves no rest"),
        ("n//(m - m)", "it divides by 0"),
        ("CeilDiv(n, 0)*2", "it divides by 0"),
        ("n % 0 == 1", "it divides by 0"),
        ("n/m", "it is a fraction, expected an integer, as // gives it"),
        ("9223372036854775807 + 1", "it is too large or exceeds 64 bits"),
    ] {
        let mut symbols = Symbols::default();
        let error = if Claim::is_written(text) {
            symbols.parse_condition(text).unwrap_err()
        } else {
            symbols.parse(text).unwrap_err()
        };
        assert!(error.to_string().contains(why), "{text}: {error}");
    }
    let mut symbols = Symbols::assuming(&[Claim::parse("n % 2 == 0").unwrap()], &Ranges::new()).unwrap();
    let half = symbols.parse("n /: 2").unwrap();
    assert_eq!(symbols.print(half).to_string(), "n//2");
}

/// Claims of hundreds of terms end, and so do those that are told to.
#[test]
fn large_claims_end() {
    let sum = |with: &str| (0..40).map(|i| format!("s{i}{with}")).collect::<Vec<_>>().join(" + ");
    let claim = Claim::parse(&format!("({})*({}) >= {}", sum(""), sum("*t"), sum("//3"))).unwrap();
    let mut limits = Limits::DEFAULT;
    limits.deadline = Some(std::time::Instant::now());
    assert!(!matches!(claim.decide(&[], &Ranges::new(), Some(&limits)), Answer::True));
    let claim = Claim::parse(&format!("{} >= 0", sum("//3"))).unwrap();
    assert_eq!(claim.decide(&[], &Ranges::new(), None), Answer::True);
}
