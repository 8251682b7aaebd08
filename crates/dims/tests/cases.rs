//! Conditions of sizes with their answers, which `conformance/dims.py` found by enumeration:
//! `cases.tsv` has the answer, the condition and what is assumed, with tabs between.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use gradus_dims::{Answer, Claim, Ranges};

/// Decides a part of the cases; an answer that is not found is wrong too.
fn decide(lines: impl Iterator<Item = &'static str>) {
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in lines {
        let mut parts = line.split('\t');
        let (wanted, claim) = (parts.next().unwrap(), Claim::parse(parts.next().unwrap()).unwrap());
        let given: Vec<_> = parts.map(|text| Claim::parse(text).unwrap()).collect();
        let is_right = match claim.decide(&given, &Ranges::new(), None) {
            Answer::True => wanted == "true",
            Answer::False(found) => {
                let of =
                    |name: &str| found.iter().find(|(known, _)| **known == *name).map(|(_, value)| *value);
                let meets = given.iter().all(|given| given.holds(of) == Some(true));
                wanted.starts_with("false") && meets && claim.holds(of) == Some(false)
            }
            Answer::Unknown | Answer::Contradiction => false,
        };
        count += 1;
        if !is_right {
            wrong.push(line);
        }
    }
    assert!(count > 500 && wrong.is_empty(), "{} of {count} are wrong: {wrong:#?}", wrong.len());
}

#[test]
fn a_part_of_the_cases_is_decided() {
    decide(include_str!("cases.tsv").lines().step_by(11));
}

#[test]
#[ignore = "needs a minute"]
fn long_all_cases_are_decided() {
    decide(include_str!("cases.tsv").lines());
}

/// Counterexamples of the file are some.
#[test]
fn counterexamples_fail() {
    for line in include_str!("cases.tsv").lines().filter(|line| line.starts_with("false ")) {
        let mut parts = line.split('\t');
        let (at, claim) = (parts.next().unwrap(), Claim::parse(parts.next().unwrap()).unwrap());
        let sizes: Vec<(&str, i64)> = at["false ".len()..]
            .split(',')
            .map(|pair| pair.split_once('=').unwrap())
            .map(|(name, size)| (name, size.parse().unwrap()))
            .collect();
        let of = |name: &str| sizes.iter().find(|(known, _)| *known == name).map(|(_, size)| *size);
        assert_eq!(claim.holds(of), Some(false), "{line}");
        assert!(parts.all(|given| Claim::parse(given).unwrap().holds(of) == Some(true)), "{line}");
    }
}
