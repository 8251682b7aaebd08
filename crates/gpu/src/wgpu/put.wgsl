// Puts bits into words: each entry is the place of a word, the bits that are replaced, and what they are replaced by.

@group(0) @binding(1) var<storage, read> entries: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> words: array<u32>;

@compute @workgroup_size(256)
fn put(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x < arrayLength(&entries) {
        let entry = entries[id.x];
        words[entry.x] = (words[entry.x] & ~entry.y) | entry.z;
    }
}
