//! Any bytes as a Paddle program of either form, with some parameters beside it: the first byte says how many bytes of
//! the rest are parameters.
#![no_main]

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use gradus::formats::{Files, InMemory, paddle};
use gradus::infer::InferOptions;
use gradus::{Limits, Model, Options};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let limits = Limits { max_bytes: 1 << 24, max_steps: 1000, ..Limits::DEFAULT };
    // A program begins with a brace or with the tag of its first block; anything else is a number of bytes.
    let (parameters, program) = match data {
        [b'{' | 0x0a, ..] | [] => (&[][..], data),
        [count, rest @ ..] => rest.split_at(rest.len().min((*count).into())),
    };
    let parameters = Bytes::copy_from_slice(parameters);
    let files: Arc<dyn Files> = Arc::new(InMemory(HashMap::from([("model.pdiparams".to_owned(), parameters)])));
    let source = if program.first() == Some(&b'{') {
        paddle::read_program(program, "model.pdiparams", &files, &limits)
    } else {
        paddle::read_desc(&Bytes::copy_from_slice(program), "model.pdiparams", &files, &limits)
    };
    let Ok(source) = source else { return };
    let model = Model::from_source(source);
    let options = Options { limits, ..Options::default() };
    let _ = model.infer(&InferOptions { limits, ..InferOptions::default() });
    let _ = model.run(&Default::default(), &[], &options);
});
