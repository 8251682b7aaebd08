// Integers modulo a power of two: number i is first + i step, of which 64 bits are kept.

alias Place = vec2<u32>;

fn place_of(i: u32) -> Place {
    let product = wide(given.step[0], i);
    return sum(vec2(given.first[0], given.first[1]), vec2(product.x, product.y + given.step[1] * i));
}

fn sum(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = a.x + b.x;
    return vec2(low, a.y + b.y + u32(low < b.x));
}

fn element(place: ptr<function, Place>, _i: u32) -> vec2<u32> {
    let code = *place;
    *place = sum(code, vec2(given.step[0], given.step[1]));
    return code;
}
