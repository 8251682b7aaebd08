//! Operations of attention: the products of queries with keys, the softmax of these scores, and
//! the products of the scores with values.

use super::Shapes;
use crate::dim::Dim;

/// Operators of attention: each states its sizes differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attention {
    /// Queries, keys and values, their heads among the first axes: `ScaledDotProductAttention`.
    Separate,
    /// `Attention` of ONNX: of rank 4, or of rank 3 with heads by attributes; with a past.
    Onnx,
    /// `Attention` of ONNX Runtime: one input, which is projected first.
    Projected,
    /// `MultiHeadAttention` of ONNX Runtime.
    MultiHead,
    /// `GroupQueryAttention` of ONNX Runtime.
    GroupQuery,
}

/// Sizes of the two products.
struct AttentionSizes {
    /// MACs before the products.
    projection: Dim,
    /// Elements of queries and outputs, each of which meets every key.
    queries: Dim,
    outputs: Dim,
    /// Scores for each key.
    rows: Dim,
    /// The number of keys, those of the past included.
    keys: Dim,
}

impl Shapes<'_> {
    /// MACs and scores. Masks, windows and lengths that the data tell take nothing away.
    pub fn attention(&mut self, form: Attention) -> Option<(Dim, Dim)> {
        let sizes = match form {
            Attention::Separate => self.separate()?,
            Attention::Onnx => self.of_onnx()?,
            Attention::Projected => self.projected()?,
            Attention::MultiHead => self.multi_head()?,
            Attention::GroupQuery => self.group_query()?,
        };
        let meeting = self.symbols.add(sizes.queries, sizes.outputs)?;
        let products = self.product(&[meeting, sizes.keys], &[])?;
        let macs = self.symbols.add(sizes.projection, products)?;
        Some((macs, self.product(&[sizes.rows, sizes.keys], &[])?))
    }

    fn separate(&mut self) -> Option<AttentionSizes> {
        let (query, key, output) = (self.input(0)?, self.input(1)?, self.output()?);
        let (_, rows) = output.split_last()?;
        let rows = self.product(rows, &[])?;
        Some(AttentionSizes {
            projection: Dim::ZERO,
            queries: self.product(&[rows], query.last().map(std::slice::from_ref)?)?,
            outputs: self.product(&output, &[])?,
            rows,
            keys: *key.get(key.len().checked_sub(2)?)?,
        })
    }

    fn of_onnx(&mut self) -> Option<AttentionSizes> {
        let (query, key, output) = (self.input(0)?, self.input(1)?, self.output()?);
        let (rows, keys) = match (&*query, &*key) {
            ([batch, heads, len, _], [_, _, keys, _]) => ([*batch, *heads, *len], *keys),
            ([batch, len, _], [_, keys, _]) => {
                let heads = self.attributes().int("q_num_heads").ok()??;
                ([*batch, Dim::Known(heads), *len], *keys)
            }
            _ => return None,
        };
        Some(AttentionSizes {
            projection: Dim::ZERO,
            queries: self.product(&query, &[])?,
            outputs: self.product(&output, &[])?,
            rows: self.product(&rows, &[])?,
            keys: self.after_past(keys, 4, 2)?,
        })
    }

    fn projected(&mut self) -> Option<AttentionSizes> {
        let (input, weight, output) = (self.input(0)?, self.input(1)?, self.output()?);
        let ([batch, len, _], [_, projected]) = (&*input, &*weight) else { return None };
        let past = if &*self.node.operator.name == "QAttention" { 8 } else { 4 };
        let heads = Dim::Known(self.attributes().int("num_heads").ok()??);
        // Queries and keys are as wide as each other, values as the output.
        let both = self.symbols.subtract(*projected, *output.last()?)?;
        let width = self.symbols.floor_divide(both, Dim::Known(2))?;
        Some(AttentionSizes {
            projection: self.product(&input, &[*projected])?,
            queries: self.product(&[*batch, *len, width], &[])?,
            outputs: self.product(&output, &[])?,
            rows: self.product(&[*batch, heads, *len], &[])?,
            keys: self.after_past(*len, past, 3)?,
        })
    }

    fn multi_head(&mut self) -> Option<AttentionSizes> {
        let (query, output) = (self.input(0)?, self.output()?);
        let heads = Dim::Known(self.attributes().int("num_heads").ok()??);
        let (batch, len, queries, keys) = match &*query {
            [batch, len, _] => {
                let key = self.input(1)?;
                let keys = match &*key {
                    [_, keys, _] | [_, keys, _, _, _] | [_, _, keys, _] => *keys,
                    _ => return None,
                };
                (*batch, *len, self.product(&query, &[])?, keys)
            }
            // Queries, keys and values in one.
            [batch, len, heads, _, size] => {
                (*batch, *len, self.product(&[*batch, *len, *heads, *size], &[])?, *len)
            }
            _ => return None,
        };
        Some(AttentionSizes {
            projection: Dim::ZERO,
            queries,
            outputs: self.product(&output, &[])?,
            rows: self.product(&[batch, heads, len], &[])?,
            keys: self.after_past(keys, 6, 2)?,
        })
    }

    fn group_query(&mut self) -> Option<AttentionSizes> {
        let output = self.output()?;
        let [batch, len, _] = *output else { return None };
        let heads = Dim::Known(self.attributes().int("num_heads").ok()??);
        let present = self.output_at(1)?;
        let all = self.product(&output, &[])?;
        Some(AttentionSizes {
            projection: Dim::ZERO,
            queries: all,
            outputs: all,
            rows: self.product(&[batch, heads, len], &[])?,
            keys: *present.get(2)?,
        })
    }

    /// `LinearAttention`: each position adds the product of its key and value to the state, and
    /// each query multiplies the state. A rule of differences multiplies it by the key first, and a
    /// gated one scales it.
    pub fn linear_attention(&mut self) -> Option<(Dim, Dim)> {
        let (query, value, output) = (self.input(0)?, self.input(2)?, self.output()?);
        let attributes = self.attributes();
        let heads = Dim::Known(attributes.int("q_num_heads").ok()??);
        let (products, scales) = match attributes.text("update_rule").ok()?.unwrap_or("gated_delta") {
            "linear" => (1, 0),
            "gated" => (1, 1),
            "delta" => (2, 0),
            _ => (2, 1),
        };
        let size = self.symbols.floor_divide(*query.last()?, heads)?;
        let state = self.product(&value, &[size])?;
        let read = self.product(&output, &[size])?;
        let updated = self.symbols.multiply(state, Dim::Known(products))?;
        Some((self.symbols.add(updated, read)?, self.symbols.multiply(state, Dim::Known(scales))?))
    }

    /// The products of each row with the weights of `k` experts, whose first axis are the experts.
    pub fn experts(&mut self, weights: [usize; 3]) -> Option<Dim> {
        let (input, selected) = (self.input(0)?, Dim::Known(self.attributes().int_or("k", 1).ok()?));
        let (_, rows) = input.split_last()?;
        let (mut each, packed) = (Dim::ZERO, self.packed()?);
        for weight in weights {
            if !self.has(weight) {
                continue;
            }
            let dims = self.input(weight)?;
            let of_one = self.product(dims.get(1..)?, &[packed])?;
            each = self.symbols.add(each, of_one)?;
        }
        self.product(rows, &[selected, each])
    }

    /// The weights of `QMoE` in a byte; 1 for weights that are floats.
    fn packed(&self) -> Option<Dim> {
        if &*self.node.operator.name != "QMoE" {
            return Some(Dim::ONE);
        }
        let bits = self.attributes().int_or("expert_weight_bits", 4).ok()?;
        Some(Dim::Known(8i64.checked_div(bits)?))
    }

    /// The number of keys with those of the past, which an axis of an input counts.
    fn after_past(&mut self, keys: Dim, input: usize, axis: usize) -> Option<Dim> {
        if !self.has(input) {
            return Some(keys);
        }
        let past = *self.input(input)?.get(axis)?;
        self.symbols.add(past, keys)
    }
}
