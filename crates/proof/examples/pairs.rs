//! Proves pairs of ONNX files to be the same, and prints what is missing and how long it took:
//! `cargo run --release -p gradus-proof --example pairs -- [bits|order|rounding] FIRST SECOND…`.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use gradus_core::{Limits, Result};
use gradus_engine::infer::Sizes;
use gradus_engine::source::Source;
use gradus_formats::{InMemory, onnx};
use gradus_proof::{Proof, ProofOptions, UpTo, prove};

fn open(path: &str) -> Result<Source> {
    let bytes = std::fs::read(path).expect("a file").into();
    let model = onnx::read_model(&bytes, Arc::new(InMemory::default()), Limits::DEFAULT)?;
    Ok(Source::new(model, Limits::DEFAULT, Vec::new(), gradus_operators::TABLE))
}

fn proof(first: &str, second: &str, up_to: UpTo) -> Result<(Proof, [usize; 2])> {
    let (first, second) = (open(first)?, open(second)?);
    let mut options = ProofOptions::of(Sizes::default(), None);
    options.up_to = up_to;
    let proof = prove(&first, &second, &options)?;
    Ok((proof, [first.graph().nodes().len(), second.graph().nodes().len()]))
}

fn main() {
    let mut files: Vec<_> = std::env::args().skip(1).collect();
    let up_to = UpTo::ALL.into_iter().find(|up_to| files.first().is_some_and(|name| name == up_to.name()));
    if up_to.is_some() {
        files.remove(0);
    }
    let mut counts = [0; 3];
    let mut total = 0.0;
    for pair in files.chunks_exact(2) {
        let begin = Instant::now();
        let proof = proof(&pair[0], &pair[1], up_to.unwrap_or_default());
        let seconds = begin.elapsed().as_secs_f64();
        total += seconds;
        let name = Path::new(&pair[0]).file_name().unwrap_or_default().display();
        match proof {
            Ok((proof, nodes)) if proof.is_complete() => {
                counts[0] += 1;
                let (rounds, up_to) = (proof.rounds, proof.up_to.name());
                println!("equivalent {name} {nodes:?} {seconds:.2} s, {rounds} rounds, up to {up_to}");
            }
            Ok((proof, nodes)) => {
                counts[1] += 1;
                println!(
                    "undecided {name} {nodes:?} {}/{} {seconds:.2} s",
                    proof.proved(),
                    proof.outputs.len()
                );
                for pair in proof.frontier.iter().take(4) {
                    println!("    {} {:?} | {:?}", pair.count, pair.first, pair.second);
                }
            }
            Err(error) => {
                counts[2] += 1;
                println!("failed {name}: {error}");
            }
        }
    }
    println!("{} equivalent, {} undecided, {} failed; {total:.1} s", counts[0], counts[1], counts[2]);
}
