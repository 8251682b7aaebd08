use super::*;

const NAMES: [&str; 4] = ["a", "b", "c", "d"];
const OPERATORS: [&str; 7] = ["+", "-", "*", "//", "%", "min", "max"];
const SIGNS: [&str; 6] = ["==", "!=", "<=", ">=", "<", ">"];

/// An expression, evaluated by the rules of the text alone.
enum Tree {
    Number(i128),
    Name(usize),
    Joined(&'static str, Box<[Tree; 2]>),
}

impl Tree {
    fn random(random: &mut fastrand::Rng, depth: u32) -> Tree {
        if depth == 0 || random.u8(..4) == 0 {
            return if random.u8(..3) == 0 {
                Tree::Number(random.u8(..9).into())
            } else {
                Tree::Name(random.usize(..NAMES.len()))
            };
        }
        let operator = OPERATORS[random.usize(..OPERATORS.len())];
        Tree::Joined(operator, Box::new([Tree::random(random, depth - 1), Tree::random(random, depth - 1)]))
    }

    fn text(&self) -> String {
        match self {
            Tree::Number(value) => value.to_string(),
            Tree::Name(at) => NAMES[*at].to_owned(),
            Tree::Joined(of @ ("min" | "max"), of_both) => {
                format!("{of}({}, {})", of_both[0].text(), of_both[1].text())
            }
            Tree::Joined(of, of_both) => format!("({}) {of} ({})", of_both[0].text(), of_both[1].text()),
        }
    }

    fn value(&self, at: &[i64; 4]) -> Option<i128> {
        let (of, [a, b]) = match self {
            Tree::Number(value) => return Some(*value),
            Tree::Name(name) => return Some(at[*name].into()),
            Tree::Joined(of, both) => (*of, [both[0].value(at)?, both[1].value(at)?]),
        };
        let floor =
            |a: i128, b: i128| (b != 0).then(|| a.div_euclid(b) - i128::from(b < 0 && a.rem_euclid(b) != 0));
        match of {
            "+" => a.checked_add(b),
            "-" => a.checked_sub(b),
            "*" => a.checked_mul(b),
            "//" => floor(a, b),
            "%" => Some(a - b * floor(a, b)?),
            "min" => Some(a.min(b)),
            _ => Some(a.max(b)),
        }
    }
}

struct Random {
    sides: [Tree; 2],
    sign: &'static str,
}

impl Random {
    fn new(random: &mut fastrand::Rng) -> Random {
        let (depth, other) = (random.u32(1..4), random.u32(0..3));
        let sides = [Tree::random(random, depth), Tree::random(random, other)];
        Random { sides, sign: SIGNS[random.usize(..SIGNS.len())] }
    }

    fn claim(&self) -> Claim {
        Claim::parse(&format!("{} {} {}", self.sides[0].text(), self.sign, self.sides[1].text())).unwrap()
    }

    fn holds(&self, at: &[i64; 4]) -> Option<bool> {
        let [a, b] = [self.sides[0].value(at)?, self.sides[1].value(at)?];
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

/// Counts the claims, each with less than `conditions` conditions, that were decided to be true,
/// false, a contradiction, and not at all.
fn decide_random(seed: u64, count: usize, conditions: usize) -> [usize; 4] {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut found = [0; 4];
    for _ in 0..count {
        let claim = Random::new(&mut random);
        let given: Vec<_> = (0..random.usize(..conditions)).map(|_| Random::new(&mut random)).collect();
        let written: Vec<_> = given.iter().map(Random::claim).collect();
        let answer = claim.claim().decide(&written, &Ranges::new(), None);
        let meets = |at: &[i64; 4]| given.iter().all(|given| given.holds(at) == Some(true));
        let told = || format!("{:?} given {written:?}: {answer:?}", claim.claim());
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
                found[0] += 1;
                assert_eq!(failing(&|at| meets(at) && claim.holds(at) == Some(false)), None, "{}", told());
            }
            Answer::False(point) => {
                found[1] += 1;
                let at = NAMES
                    .map(|name| point.iter().find(|(of, _)| **of == *name).map_or(0, |(_, value)| *value));
                assert!(meets(&at) && claim.holds(&at) == Some(false), "{}", told());
            }
            Answer::Contradiction => {
                found[2] += 1;
                assert_eq!(failing(&meets), None, "{}", told());
            }
            Answer::Unknown => found[3] += 1,
        }
    }
    found
}

/// Every answer is right where it is enumerated, and few claims are not decided.
#[test]
fn random_claims_are_decided() {
    let [holds, fails, contradictory, unknown] = decide_random(1, 1000, 2);
    assert!(
        holds > 100 && fails > 500 && contradictory > 10 && unknown <= 3,
        "{holds} {fails} {contradictory} {unknown}"
    );
}

#[test]
#[ignore = "needs minutes: 100,000 claims"]
fn many_random_claims_are_decided() {
    for (conditions, most) in [(1, 100), (2, 150), (3, 300)] {
        let found = decide_random(2, 100_000, conditions);
        println!("less than {conditions} conditions: {found:?}");
        assert!(found[3] <= most, "{conditions} conditions, {found:?}");
    }
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
