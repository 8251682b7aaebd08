//! Random expressions, evaluated by the rules of their text alone.

#![allow(dead_code, reason = "no file of tests uses all")]

use gradus_dims::{Dim, Symbols};

/// An expression as it is written. Names are numbers of a list of four.
#[derive(Clone, Debug)]
pub enum Tree {
    Number(i64),
    Name(usize),
    Binary(&'static str, Box<[Tree; 2]>),
}

impl Tree {
    /// The value at the values of the names; none if it, or a part of it, has none or exceeds
    /// `most`.
    pub fn value(&self, at: &[i64; 4], most: u128) -> Option<i128> {
        let (operator, [a, b]) = match self {
            Tree::Number(value) => return Some(i128::from(*value)),
            Tree::Name(name) => return Some(i128::from(at[*name])),
            Tree::Binary(operator, both) => (*operator, [both[0].value(at, most)?, both[1].value(at, most)?]),
        };
        let floor = || (b != 0).then(|| a.div_euclid(b) - i128::from(b < 0 && a.rem_euclid(b) != 0));
        let value = match operator {
            "+" => a.checked_add(b)?,
            "-" => a.checked_sub(b)?,
            "*" => a.checked_mul(b)?,
            "//" => floor()?,
            "%" => a - b * floor()?,
            "min" => a.min(b),
            "max" => a.max(b),
            "broadcast" if a == b || b == 1 => a,
            "broadcast" if a == 1 => b,
            "trunc" if b > 0 => a / b,
            "ceil" if b > 0 => -(-a).div_euclid(b),
            _ => return None,
        };
        Some(value).filter(|value| value.unsigned_abs() <= most)
    }

    /// The canonical form, made operation by operation.
    pub fn build(&self, names: &[&str; 4], symbols: &mut Symbols) -> Option<Dim> {
        let (operator, [a, b]) = match self {
            Tree::Number(value) => return Some(Dim::Known(*value)),
            Tree::Name(name) => return Some(symbols.named(names[*name])),
            Tree::Binary(operator, both) => {
                (*operator, [both[0].build(names, symbols)?, both[1].build(names, symbols)?])
            }
        };
        match operator {
            "+" => symbols.add(a, b),
            "-" => symbols.subtract(a, b),
            "*" => symbols.multiply(a, b),
            "//" => symbols.floor_divide(a, b),
            "%" => symbols.modulo(a, b),
            "min" => symbols.min(a, b),
            "max" => symbols.max(a, b),
            "broadcast" => symbols.broadcast(a, b),
            "trunc" => symbols.truncated_divide(a, b),
            _ => symbols.ceil_divide(a, b),
        }
    }
}
