//! Two-sided lists of cases.

use std::collections::BTreeMap;
use std::path::Path;

use super::differences::{Difference, Outcome};

/// The expectation of a case.
#[derive(Debug)]
pub(super) enum Expected<'a> {
    /// Floats differ by at most that; all else is equal.
    Pass(Bound),
    Fail,
    Skip,
    /// The case fails where the processor lacks this feature.
    FailsWithout(&'a str),
}

/// The largest difference of a float from upstream's.
#[derive(Clone, Copy, Debug)]
pub(super) enum Bound {
    /// In units in the last place of upstream's element.
    Ulps(u64),
    /// In units in the last place of the largest magnitude of upstream's tensor.
    UlpsOfLargest(f64),
}

/// A case that fails where the processor lacks a feature.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Without {
    /// The reason, for readers.
    #[serde(rename = "xfail")]
    _reason: String,
    without: String,
}

/// Expectations of cases by name.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct List {
    #[serde(default)]
    pass: Vec<String>,
    /// The number of cases that are not listed, if these are expected to pass.
    #[serde(default)]
    others: Option<usize>,
    /// Cases by their bound.
    #[serde(default)]
    ulps: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    ulps_of_largest: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    processor: BTreeMap<String, Without>,
    #[serde(default)]
    xfail: BTreeMap<String, String>,
    #[serde(default)]
    skip: BTreeMap<String, String>,
}

impl List {
    /// Every mention of a case, with what is expected of it.
    fn mentions(&self) -> impl Iterator<Item = (&String, Expected<'_>)> {
        let pass = self.pass.iter().map(|name| (name, Expected::Pass(Bound::Ulps(0))));
        let ulps = self.ulps.iter().flat_map(|(bound, names)| {
            let bound = Bound::Ulps(bound.parse().unwrap());
            names.iter().map(move |name| (name, Expected::Pass(bound)))
        });
        let of_largest = self.ulps_of_largest.iter().flat_map(|(bound, names)| {
            let bound = Bound::UlpsOfLargest(bound.parse().unwrap());
            names.iter().map(move |name| (name, Expected::Pass(bound)))
        });
        let processor =
            self.processor.iter().map(|(name, rule)| (name, Expected::FailsWithout(&rule.without)));
        let fail = self.xfail.keys().map(|name| (name, Expected::Fail));
        let skip = self.skip.keys().map(|name| (name, Expected::Skip));
        pass.chain(ulps).chain(of_largest).chain(processor).chain(fail).chain(skip)
    }
}

/// Contradictions between results and a list, on a processor with these features.
pub(super) fn mistakes(list: &List, results: &BTreeMap<String, Outcome>, features: &[String]) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut expected = BTreeMap::new();
    for (name, mention) in list.mentions() {
        if expected.insert(name, mention).is_some() {
            wrong.push(format!("{name} is listed more than once"));
        }
        if !results.contains_key(name) {
            wrong.push(format!("{name} is listed, but does not exist"));
        }
    }
    for (name, result) in results {
        let (pass, why) = match expected.get(name) {
            Some(Expected::Skip) => continue,
            Some(Expected::Pass(bound)) => (Some(*bound), String::new()),
            Some(Expected::Fail) => (None, "is listed as failing".to_owned()),
            Some(Expected::FailsWithout(feature)) if features.iter().any(|has| has == feature) => {
                (Some(Bound::Ulps(0)), format!(" with {feature}"))
            }
            Some(Expected::FailsWithout(feature)) => {
                (None, format!("is listed as failing without {feature}"))
            }
            None if list.others.is_some() => (Some(Bound::Ulps(0)), String::new()),
            None => {
                wrong.push(format!("{name} is not listed; it gives {result:?}"));
                continue;
            }
        };
        match (pass, result) {
            (Some(bound), Ok(difference)) if !difference.is_within(bound) => {
                wrong.push(format!("{name} fails{why}: {difference:?} instead of {bound:?}"));
            }
            (Some(_), Err(error)) => wrong.push(format!("{name} fails{why}: {error}")),
            (None, Ok(difference)) if difference.is_within(Bound::Ulps(0)) => {
                wrong.push(format!("{name} passes, but {why}"));
            }
            _ => {}
        }
    }
    let others = results.keys().filter(|name| !expected.contains_key(name)).count();
    if let Some(stated) = list.others.filter(|stated| *stated != others) {
        wrong.push(format!("{others} cases are not listed, expected {stated}"));
    }
    wrong
}

/// Holds results against a list, on a processor with these features.
pub(super) fn hold(name: &str, results: &BTreeMap<String, Outcome>, features: &[String]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance").join(name);
    let list: List = toml::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    for (name, result) in results {
        if let Ok(Difference { ulps: Some(ulps), of_largest: Some(of_largest) }) = result
            && *ulps > 0
        {
            println!("{name}: {ulps} ulps, {of_largest} of the largest magnitude");
        }
    }
    let wrong = mistakes(&list, results, features);
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), path.display(), wrong.join("\n"));
    let passed = results.len() - list.xfail.len() - list.skip.len();
    println!("{}: {passed} pass, {} fail as expected", path.display(), list.xfail.len());
}

#[test]
fn lists_are_two_sided() {
    let list = r#"
        pass = ["equal", "broken", "gone"]
        [ulps]
        1 = ["near", "far"]
        [ulps_of_largest]
        1 = ["cancelled"]
        [processor]
        wide = { xfail = "narrow vectors truncate", without = "avx512" }
        [xfail]
        mended = "it differs"
        near = "a second mention"
    "#;
    let list: List = toml::from_str(list).unwrap();
    let off = |ulps| Ok(Difference { ulps: Some(ulps), of_largest: Some(0.5) });
    let results = BTreeMap::from(
        [
            ("equal", off(0)),
            ("broken", off(1)),
            ("near", off(1)),
            ("far", off(2)),
            ("cancelled", off(9000)),
            ("wide", off(3)),
            ("mended", off(0)),
            ("new", Err("no kernel".to_owned())),
        ]
        .map(|(name, result)| (name.to_owned(), result)),
    );
    let of = |features: &[&str]| {
        let features: Vec<_> = features.iter().map(|&name| name.to_owned()).collect();
        mistakes(&list, &results, &features).join("\n")
    };
    let narrow = of(&[]);
    for mistake in [
        "gone is listed, but does not exist",
        "near is listed more than once",
        "broken fails: ",
        "far fails: ",
        "mended passes, but is listed as failing",
        "new is not listed",
    ] {
        assert!(narrow.contains(mistake), "{mistake} is missing in\n{narrow}");
    }
    assert_eq!(narrow.lines().count(), 6, "{narrow}");
    assert!(of(&["avx512"]).contains("wide fails with avx512: "));
    let list: List = toml::from_str("others = 2").unwrap();
    let two = BTreeMap::from([("a".to_owned(), off(0)), ("b".to_owned(), off(0))]);
    assert!(mistakes(&list, &two, &[]).is_empty());
    assert_eq!(mistakes(&list, &BTreeMap::new(), &[]), ["0 cases are not listed, expected 2"]);
}
