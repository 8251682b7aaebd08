// Elements from whole numbers: no operation here is rounded, so that every device gives the same bits.
//
// Before this text stand the constants of the element type: BITS, EACH (elements that an invocation makes, 16 bytes), MASK (the bits
// of an element in a word), FLOAT, MANTISSA (bits of a float behind its leading one), LEAST (the power of two of its smallest number),
// FIELD (the exponent field of its infinity), CAPACITY (of the list of doubts); and the function `wide`, the product of two words, low
// word first. Behind it stand the kind of a Place, the place of an element, and the element there, which moves on to the next.

// 192 bits, two's complement, the lowest first.
alias Number = array<u32, 6>;

struct Given {
    // Elements to write.
    count: u32,
    // Lines: the first number, the difference of neighbours, the maximum error below, and the power of two of the
    // lowest bit.
    first: Number,
    step: Number,
    bound: Number,
    inexact: u32,
    unit: i32,
    // Integers on lines: the addends of numbers of at least zero and of negative ones; the fraction bits.
    above: Number,
    below: Number,
    point: u32,
    // Powers: elements before the line and on it, the codes of those before and after it.
    skip: u32,
    on_line: u32,
    before: array<u32, 2>,
    after: array<u32, 2>,
    negative: u32,
    // Logarithms of the entries of the tables of positions and of blocks; where the latter begins, and the wide powers.
    positions: u32,
    blocks: u32,
    blocks_at: u32,
    wide_at: u32,
    starts: u32,
}

struct Doubts {
    count: atomic<u32>,
    places: array<u32>,
}

@group(0) @binding(0) var<storage, read> given: Given;
@group(0) @binding(1) var<storage, read> tables: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> starts: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> words: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read_write> doubts: Doubts;

fn plus(a: Number, b: Number) -> Number {
    var x = a;
    var y = b;
    var carry = 0u;
    for (var k = 0u; k < 6u; k++) {
        let sum = x[k] + y[k];
        let all = sum + carry;
        carry = u32(sum < y[k]) + u32(all < carry);
        x[k] = all;
    }
    return x;
}

fn negated(a: Number) -> Number {
    var x = a;
    for (var k = 0u; k < 6u; k++) {
        x[k] = ~x[k];
    }
    return plus(x, Number(1u, 0u, 0u, 0u, 0u, 0u));
}

fn is_negative(a: Number) -> bool {
    return a[5] >> 31u == 1u;
}

// 32 bits from a bit on; those beyond the number are as its sign.
fn word_at(a: Number, bit: u32) -> u32 {
    var x = a;
    let sign = select(0u, 0xffffffffu, is_negative(a));
    let k = bit >> 5u;
    let by = bit & 31u;
    let low = select(sign, x[min(k, 5u)], k < 6u);
    let high = select(sign, x[min(k + 1u, 5u)], k < 5u);
    return select((low >> by) | (high << ((32u - by) & 31u)), low, by == 0u);
}

// Returns true if a lower bit is set.
fn has_below(a: Number, bit: u32) -> bool {
    var x = a;
    var rest = 0u;
    for (var k = 0u; k < 6u; k++) {
        if 32u * k + 32u <= bit {
            rest |= x[k];
        } else if 32u * k < bit {
            rest |= x[k] << (32u - (bit - 32u * k));
        }
    }
    return rest != 0u;
}

fn shifted(x: vec2<u32>, by: u32) -> vec2<u32> {
    if by >= 32u {
        return vec2(0u, x.x << (by & 31u));
    }
    let carried = select(x.x >> ((32u - by) & 31u), 0u, by == 0u);
    return vec2(x.x << by, (x.y << by) | carried);
}

// The code of the float nearest to a number from zero up, in units of 2^unit; of two equally near, the even one.
fn rounded(a: Number, unit: i32) -> vec2<u32> {
    var x = a;
    var lead = -1;
    for (var k = 0; k < 6; k++) {
        if x[k] != 0u {
            lead = 32 * k + i32(firstLeadingBit(x[k]));
        }
    }
    if lead < 0 {
        return vec2(0u, 0u);
    }
    // Bits that are dropped: below the mantissa, and below the smallest number.
    let drop = max(lead - MANTISSA, LEAST - unit);
    let field = unit + drop - LEAST;
    if field >= FIELD - 1 {
        return shifted(vec2(u32(FIELD), 0u), u32(MANTISSA));
    }
    var mantissa = shifted(vec2(x[0], x[1]), u32(max(-drop, 0)));
    if drop > 0 {
        let kept = u32(drop);
        mantissa = vec2(word_at(a, kept), word_at(a, kept + 32u));
        if (word_at(a, kept - 1u) & 1u) == 1u && (has_below(a, kept - 1u) || (mantissa.x & 1u) == 1u) {
            mantissa.x += 1u;
            mantissa.y += u32(mantissa.x == 0u);
        }
    }
    // The leading bit of the mantissa adds one to the field; so does a mantissa that was rounded up to the next power.
    let exponent = shifted(vec2(u32(field), 0u), u32(MANTISSA));
    let low = mantissa.x + exponent.x;
    return vec2(low, mantissa.y + exponent.y + u32(low < exponent.x));
}

fn with_sign(code: vec2<u32>, negative: bool) -> vec2<u32> {
    let sign = select(0u, 1u << ((BITS - 1u) & 31u), negative);
    return select(vec2(code.x | sign, code.y), vec2(code.x, code.y | sign), BITS == 64u);
}

fn doubt(place: u32) {
    let k = atomicAdd(&doubts.count, 1u);
    if k < CAPACITY {
        doubts.places[k] = place;
    }
}

@compute @workgroup_size(256)
fn fill(@builtin(global_invocation_id) id: vec3<u32>) {
    let first = id.x * EACH;
    if first >= given.count {
        return;
    }
    // What is behind the last element is nobody's.
    var place = place_of(first);
    var packed = vec4<u32>();
    for (var k = 0u; k < EACH; k++) {
        if first + k < given.count {
            let code = element(&place, first + k);
            if BITS == 64u {
                packed[2u * k & 3u] = code.x;
                packed[(2u * k + 1u) & 3u] = code.y;
            } else {
                packed[(k * BITS) >> 5u & 3u] |= (code.x & MASK) << ((k * BITS) & 31u);
            }
        }
    }
    words[id.x] = packed;
}
