//! Parts that fuzz targets share: mutation of files as trees, the works that any model must bear,
//! and the memory that they may take.

pub mod budget;
pub mod forms;
pub mod model;
pub mod mutate;
pub mod tree;

/// Mutates and crosses the inputs of a target as trees of one of the forms, and as bytes.
#[macro_export]
macro_rules! structured {
    ($($form:path),+) => {
        libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
            $crate::mutate::mutate(data, size, max_size, seed, &[$(&$form),+])
        });
        libfuzzer_sys::fuzz_crossover!(|one: &[u8], other: &[u8], out: &mut [u8], seed: u32| {
            $crate::mutate::cross(one, other, out, seed, &[$(&$form),+])
        });
    };
}
