//! Random nodes of every operator: what is hostile, and what is rewritten.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

#[path = "../common"]
mod common {
    pub mod compare;
    pub mod nodes;
}
mod hostile;
mod rewritten;
mod rounded;
