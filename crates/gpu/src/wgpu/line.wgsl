// Elements on a straight line: number i is first + i step, in units of 2^unit.
//
// Where the line is not exact, numbers are too small by less than the bound: what both round to is what the exact number rounds
// to. Integers are rounded toward zero: what is added beforehand decides those near to an integer (int_affine.rs has the proof).

fn number(i: u32) -> Number {
    var x = given.first;
    var step = given.step;
    var carry = 0u;
    for (var k = 0u; k < 6u; k++) {
        let product = wide(step[k], i);
        let sum = x[k] + product.x;
        let all = sum + carry;
        carry = product.y + u32(sum < product.x) + u32(all < carry);
        x[k] = all;
    }
    return x;
}

fn float(a: Number) -> vec2<u32> {
    if is_negative(a) {
        return with_sign(rounded(negated(a), given.unit), true);
    }
    return rounded(a, given.unit);
}

alias Place = Number;

fn place_of(i: u32) -> Place {
    return number(i);
}

fn element(place: ptr<function, Place>, i: u32) -> vec2<u32> {
    let low = *place;
    *place = plus(low, given.step);
    if !FLOAT {
        var bias = given.above;
        if is_negative(low) {
            bias = given.below;
        }
        let all = plus(low, bias);
        return vec2(word_at(all, given.point), word_at(all, given.point + 32u));
    }
    let code = float(low);
    if given.inexact != 0u && any(float(plus(low, given.bound)) != code) {
        doubt(i);
    }
    return code;
}
