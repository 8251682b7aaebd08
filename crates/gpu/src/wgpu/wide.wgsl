// The product, low word first.
fn wide(a: u32, b: u32) -> vec2<u32> {
    let a0 = a & 0xffffu;
    let a1 = a >> 16u;
    let b0 = b & 0xffffu;
    let b1 = b >> 16u;
    let low = a0 * b0;
    let middle = a1 * b0 + (low >> 16u);
    let other = a0 * b1 + (middle & 0xffffu);
    return vec2((other << 16u) | (low & 0xffffu), a1 * b1 + (middle >> 16u) + (other >> 16u));
}
