//! Certificates of proofs: they are replayed, and refused after any change.

use fastrand::Rng;
use gradus::error::Position;
use gradus::fold::FoldOptions;
use gradus::prove::{ProveOptions, laws, verify};
use gradus::{Kind, Model};

use crate::common::random;
use crate::common::sketch::Sketch;

fn noting() -> ProveOptions {
    let mut options = ProveOptions::default();
    options.certificate = true;
    options.time = std::time::Duration::ZERO;
    options
}

fn certificate(first: &Model, second: &Model) -> Option<String> {
    first.prove(second, &noting()).unwrap().proof.and_then(|proof| proof.certificate)
}

/// Random graphs and what they are folded to, with certificates.
fn proved(seeds: std::ops::Range<u64>) -> Vec<(Model, Model, String)> {
    let found = seeds.filter_map(|seed| {
        let (model, _) = random::graph(seed);
        let folded = Model::from_source(model.fold(&FoldOptions::default()).ok()?.model);
        let steps = certificate(&model, &folded)?;
        Some((model, folded, steps))
    });
    found.collect()
}

/// A certificate with one change; nothing if it is the same.
fn mutated(rng: &mut Rng, text: &str, other: &str) -> Option<String> {
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    let at = rng.usize(0..lines.len());
    let mut bytes = text.as_bytes().to_vec();
    let place = rng.usize(0..bytes.len());
    let found = match rng.u8(0..10) {
        0 => {
            lines.remove(at);
            lines.concat()
        }
        1 => {
            let second = rng.usize(0..lines.len());
            lines.swap(at, second);
            lines.concat()
        }
        2 => {
            lines.insert(rng.usize(0..=lines.len()), lines[at]);
            lines.concat()
        }
        3 => text[..place].to_owned(),
        4 => {
            let digits: Vec<_> = (0..bytes.len()).filter(|&at| bytes[at].is_ascii_digit()).collect();
            bytes[digits[rng.usize(0..digits.len())]] = rng.u8(b'0'..=b'9');
            String::from_utf8(bytes).ok()?
        }
        5 => {
            bytes[place] = rng.u8(..);
            String::from_utf8(bytes).ok()?
        }
        6 => {
            let names: Vec<_> = laws().map(|law| law.name).collect();
            let of = |rng: &mut Rng| format!("\"{}\"", names[rng.usize(0..names.len())]);
            let (from, to) = (of(rng), of(rng));
            let line = lines[at].replacen(&from, &to, 1);
            lines[at] = &line;
            lines.concat()
        }
        7 => {
            bytes.insert(place, *rng.choice(b" \t\n\r,0\"").unwrap());
            String::from_utf8(bytes).ok()?
        }
        8 => {
            bytes.remove(place);
            String::from_utf8(bytes).ok()?
        }
        _ => {
            let others: Vec<&str> = other.split_inclusive('\n').collect();
            lines[at] = others[rng.usize(0..others.len())];
            lines.concat()
        }
    };
    (found != text).then_some(found)
}

/// The number of changed certificates, each of which must be refused.
fn refused(seed: u64, all: &[(Model, Model, String)], count: usize) -> usize {
    // Two threads, each with certificates of its own.
    std::thread::scope(|scope| {
        let share = |thread| scope.spawn(move || refused_by(100 * seed + thread, all, count / 2));
        let running: Vec<_> = [0, 1].map(share).into();
        running.into_iter().map(|thread| thread.join().unwrap()).sum()
    })
}

fn refused_by(seed: u64, all: &[(Model, Model, String)], count: usize) -> usize {
    let mut rng = Rng::with_seed(seed);
    let mut refused = 0;
    while refused < count {
        let (first, second, steps) = &all[rng.usize(0..all.len())];
        let other = &all[rng.usize(0..all.len())].2;
        let Some(changed) = mutated(&mut rng, steps, other) else { continue };
        let answer = verify(first, second, &changed, &noting());
        assert!(answer.is_err(), "accepted:\n{changed}\nafter\n{steps}");
        refused += 1;
    }
    refused
}

#[test]
fn certificates_are_replayed_and_refused_after_any_change() {
    let all = proved(0..60);
    assert!(all.len() > 40, "{}", all.len());
    for (first, second, steps) in &all {
        let proof = verify(first, second, steps, &noting()).unwrap();
        assert!(proof.is_complete());
        // Steps prove two models in one order alone.
        if certificate(second, first).as_ref() != Some(steps) {
            assert!(verify(second, first, steps, &noting()).is_err());
        }
    }
    assert_eq!(refused(51, &all, 4000), 4000);
}

#[test]
#[ignore = "replays a million certificates, which takes minutes"]
fn a_million_changed_certificates_are_refused() {
    // Certificates of small graphs are replayed fast.
    let mut all = proved(0..300);
    all.sort_by_key(|(model, _, steps)| (model.graph().nodes().len(), steps.len()));
    all.truncate(40);
    for tenth in 1..=10 {
        assert_eq!(refused(tenth, &all, 100_000), 100_000);
        eprintln!("{tenth}00000 are refused");
    }
}

/// A certificate whose first line is that of the models, and whose steps prove something else.
#[test]
fn false_steps_are_refused_whatever_the_first_line_says() {
    const X: &str = "x: float32[n, m]";
    let pairs = [
        ("t = Transpose(x); y = Transpose(t)", "t = Transpose(x); y = Relu(t)"),
        ("a = Neg(x); y = Neg(a)", "a = Neg(x); y = Abs(a)"),
        ("a = Relu(x); y = Relu(a)", "a = Relu(x); y = Neg(a)"),
        ("y = Add(x, x)", "y = Mul(x, x)"),
    ];
    let model = |nodes: &str| {
        let mut sketch = Sketch::of(&format!("{X}; {nodes}"));
        sketch.0.output("y");
        sketch.model()
    };
    for (nodes, other) in pairs {
        let (first, second) = (model(nodes), model(other));
        let [steps, of_second] =
            [certificate(&first, &first), certificate(&second, &second)].map(Option::unwrap);
        // The first line names both models: `"first":"…","second":"…"`.
        let head = of_second.lines().next().unwrap().split_once("\"second\"").unwrap().1;
        let (line, lines) = steps.split_once('\n').unwrap();
        let line = line.split_once("\"second\"").unwrap().0;
        let certificate = format!("{line}\"second\"{head}\n{lines}");
        let error = verify(&first, &second, &certificate, &noting()).unwrap_err();
        assert_eq!(error.kind(), Kind::Value, "{error}");
        // A line of the steps is refused, not that of the models.
        let place = error.location().position.unwrap();
        assert!(matches!(place, Position::Line(line, _) if line > 1), "{place:?}");
    }
}

/// A line of a call that names no law proves nothing, and is refused where it is.
#[test]
fn steps_without_a_law_are_refused() {
    let mut sketch = Sketch::of("x: float32[n]; a = Neg(x); b = Relu(a); y = Neg(b)");
    sketch.0.output("y");
    let model = sketch.model();
    let steps = certificate(&model, &model).unwrap();
    for call in 0..3 {
        let step =
            format!("{{\"call\":{call},\"laws\":[],\"operator\":\"Neg\",\"arguments\":[],\"gives\":[]}}");
        let (head, others) = steps.split_once('\n').unwrap();
        let error = verify(&model, &model, &format!("{head}\n{step}\n{others}"), &noting()).unwrap_err();
        assert_eq!(error.location().position, Some(Position::Line(2, 1)), "{error}");
        assert!(error.to_string().contains("laws whose conditions hold"), "{error}");
    }
}

#[test]
fn certificates_are_of_one_choice_of_sizes() {
    let model = Model::open("../../examples/heads.onnx").unwrap();
    let steps = certificate(&model, &model).unwrap();
    let mut other = noting();
    other.sizes.dims.insert("seq".to_owned(), 4);
    assert!(verify(&model, &model, &steps, &other).is_err());
}
