//! Any bytes as a Paddle program of either form, with some parameters next to it: the first byte
//! says how many bytes of the rest are parameters.
#![no_main]

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use gradus::OpenOptions;
use gradus::formats::{Files, InMemory, paddle};
use gradus_fuzz::budget::{limits, within};
use gradus_fuzz::{forms, model, structured};
use libfuzzer_sys::fuzz_target;

structured!(forms::Json, forms::Protobuf);

fuzz_target!(|data: &[u8]| {
    let limits = limits();
    // A program begins with a brace or with the tag of its first block; anything else is a number
    // of bytes.
    let (parameters, program) = match data {
        [b'{' | 0x0a, ..] | [] => (&[][..], data),
        [count, rest @ ..] => rest.split_at(rest.len().min((*count).into())),
    };
    let parameters = Bytes::copy_from_slice(parameters);
    let files: Arc<dyn Files> =
        Arc::new(InMemory(HashMap::from([("model.pdiparams".to_owned(), parameters)])));
    let source = within("reading", || {
        if program.first() == Some(&b'{') {
            paddle::read_program(program, "model.pdiparams", &files, &limits)
        } else {
            paddle::read_desc(&Bytes::copy_from_slice(program), "model.pdiparams", &files, &limits)
        }
    });
    let Ok(source) = source else { return };
    model::bear(&OpenOptions::new().limits(limits).from_source(source));
});
