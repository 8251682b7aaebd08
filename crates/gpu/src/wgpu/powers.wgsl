// Elements of a geometric sequence: products of tables. A power is a mantissa of 95 bits, the lowest word first, and the power of
// two of its lowest bit.
//
// | what | relatively off by less than |
// |---|---|
// | wide power, table entry (2^-97), cut off to 95 bits | 1.13 times 2^-94 |
// | start of a block: a product of two, cut off | 3.27 times 2^-94 |
// | its product with a position, which is exact | 4.41 times 2^-94 |
//
// The product is below 2^190, so it is off by less than 5 times 2^96.
const ERROR: u32 = 5u;

fn product(a: vec4<u32>, b: vec4<u32>) -> Number {
    var x = Number();
    for (var i = 0u; i < 3u; i++) {
        var carry = 0u;
        for (var j = 0u; j < 3u; j++) {
            let product = wide(a[i], b[j]);
            let sum = x[i + j] + product.x;
            let all = sum + carry;
            carry = product.y + u32(sum < product.x) + u32(all < carry);
            x[i + j] = all;
        }
        x[i + 3u] = carry;
    }
    return x;
}

// The starts of blocks, which the positions are multiplied with.
@compute @workgroup_size(256)
fn prepare(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= given.starts {
        return;
    }
    let anchor = tables[given.wide_at + (id.x >> given.blocks)];
    let block = tables[given.blocks_at + (id.x & ((1u << given.blocks) - 1u))];
    let x = product(anchor, block);
    // The leading bit of the product is bit 188 or 189.
    let drop = select(94u, 95u, x[5] >> 29u == 1u);
    let power = bitcast<i32>(anchor.w) + bitcast<i32>(block.w) + i32(drop);
    starts[id.x] =
        vec4(word_at(x, drop), word_at(x, drop + 32u), word_at(x, drop + 64u), bitcast<u32>(power));
}

fn code(a: Number, unit: i32) -> vec2<u32> {
    let negative = given.negative != 0u;
    if FLOAT {
        return with_sign(rounded(a, unit), negative);
    }
    // Elements in the range of their type have no bit above the lowest 64.
    let whole = vec2(word_at(a, u32(-unit)), word_at(a, u32(-unit) + 32u));
    if negative {
        return vec2(~whole.x + 1u, ~whole.y + u32(whole.x == 0u));
    }
    return whole;
}

alias Place = u32;

fn place_of(i: u32) -> Place {
    return i;
}

fn element(_next: ptr<function, Place>, i: u32) -> vec2<u32> {
    if i < given.skip {
        return vec2(given.before[0], given.before[1]);
    }
    let place = i - given.skip;
    if place >= given.on_line {
        return vec2(given.after[0], given.after[1]);
    }
    let start = starts[place >> given.positions];
    let position = tables[place & ((1u << given.positions) - 1u)];
    let unit = bitcast<i32>(start.w) + bitcast<i32>(position.w);
    let x = product(start, position);
    let low = code(plus(x, Number(0u, 0u, 0u, 0u - ERROR, 0xffffffffu, 0xffffffffu)), unit);
    let high = code(plus(x, Number(0u, 0u, 0u, ERROR, 0u, 0u)), unit);
    if any(low != high) {
        doubt(i);
    }
    return low;
}
