//! Conditions of sizes with their answers, which `conformance/dims.py` found by enumeration:
//! a line of `cases.jsonl` has the condition, what is assumed, the answer and a counterexample.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use gradus_dims::{Answer, Claim, Ranges};
use serde_json::Value;

struct Case {
    claim: Claim,
    given: Vec<Claim>,
    answer: String,
    counterexample: Vec<(String, i64)>,
}

impl Case {
    fn read(line: &str) -> Case {
        let case: Value = serde_json::from_str(line).unwrap();
        let claim = |text: &Value| Claim::parse(text.as_str().unwrap()).unwrap();
        let sizes = case["counterexample"].as_object().into_iter().flatten();
        Case {
            claim: claim(&case["condition"]),
            given: case["assume"].as_array().unwrap().iter().map(claim).collect(),
            answer: case["answer"].as_str().unwrap().to_owned(),
            counterexample: sizes.map(|(name, size)| (name.clone(), size.as_i64().unwrap())).collect(),
        }
    }

    /// Returns true if the sizes meet what is given, and the claim fails for them.
    fn fails<N: AsRef<str>>(&self, sizes: &[(N, i64)]) -> bool {
        let of = |name: &str| sizes.iter().find(|(known, _)| known.as_ref() == name).map(|(_, size)| *size);
        self.given.iter().all(|given| given.holds(of) == Some(true)) && self.claim.holds(of) == Some(false)
    }
}

fn cases() -> impl Iterator<Item = Case> {
    include_str!("cases.jsonl").lines().map(Case::read)
}

/// Decides a part of the cases; an answer that is not found is wrong too.
fn decide(cases: impl Iterator<Item = Case>) {
    let mut wrong = Vec::new();
    let mut count = 0;
    for case in cases {
        let is_right = match case.claim.decide(&case.given, &Ranges::new(), None) {
            Answer::True => case.answer == "true",
            Answer::False(found) => case.answer == "false" && case.fails(&found),
            Answer::Unknown | Answer::Contradiction => false,
        };
        count += 1;
        if !is_right {
            wrong.push(case.claim);
        }
    }
    assert!(count > 500 && wrong.is_empty(), "{} of {count} are wrong: {wrong:#?}", wrong.len());
}

#[test]
fn a_part_of_the_cases_is_decided() {
    decide(cases().step_by(11));
}

#[test]
#[ignore = "needs a minute"]
fn long_all_cases_are_decided() {
    decide(cases());
}

/// Counterexamples of the file are some.
#[test]
fn counterexamples_fail() {
    let failing = cases().filter(|case| case.answer == "false");
    assert!(failing.filter(|case| case.fails(&case.counterexample)).count() > 5000);
    assert!(cases().all(|case| case.answer == "true" || case.fails(&case.counterexample)));
}
