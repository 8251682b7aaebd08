// Elements of sequences, in doubles: the loops of gradus-kernels, a thread for a few elements each. Every operation says how it is
// rounded, so that nothing is contracted. What the bounds are, and why they hold, stands where the processor's loops are: affine.rs,
// int_affine.rs and tables.rs.
//
// Before this text stand the element type and the form, as macros: ELEMENT, one of F64, F32, HALF (with MANTISSA, LEAST and
// FIELD) and INTEGER; one of WRAPPING, FUSED, AFFINE, INT_AFFINE, POWERS, PUT, COPY and SHORT; LONG if doubles are too short to decide
// elements; THREADS, of a block; BLOCK_BITS, of the number of elements in a block of a line; VECTOR, how many elements a thread stores in
// one go; TURNS, how many times, and TURNS_ALONE, of few. And the types u64, i64, Arguments and ShortArray, the parameters of a launch,
// which work.rs declares.

typedef __int128 i128;
typedef unsigned __int128 u128;
typedef ELEMENT Element;

struct DoubleDouble {
    double high, low;
};

struct Start {
    double high, low, error;
};

__device__ inline double power_of_two(i64 exponent) {
    return __longlong_as_double((exponent + 1023) << 52);
}

// The power alone may be beyond the doubles.
__device__ inline double scaled(double x, i64 exponent) {
    const i64 half = exponent / 2;
    return __dmul_rn(__dmul_rn(x, power_of_two(half)), power_of_two(exponent - half));
}

// ---- rounding

#if defined(F64)
__device__ inline Element rounded(double x) { return x; }
__device__ inline bool same(Element a, Element b) { return __double_as_longlong(a) == __double_as_longlong(b); }
#elif defined(F32)
__device__ inline Element rounded(double x) { return __double2float_rn(x); }
__device__ inline bool same(Element a, Element b) { return __float_as_uint(a) == __float_as_uint(b); }
#elif defined(HALF)
// The code of a float of 16 bits: MANTISSA bits behind the leading one, the smallest number 2^LEAST, FIELD in the exponent of
// infinity.
__device__ inline Element rounded(double x) {
    const u64 bits = (u64)__double_as_longlong(x);
    const u64 sign = bits >> 63 << 15;
    const i64 exponent = (i64)(bits >> 52 & 2047);
    if (exponent == 0) return (Element)sign;
    const u64 all = (bits & ((1ull << 52) - 1)) | 1ull << 52;
    const i64 unit = exponent - 1075;
    i64 drop = 52 - MANTISSA;
    if (drop < LEAST - unit) drop = LEAST - unit;
    // Then it is less than half of the smallest number.
    if (drop > 54) return (Element)sign;
    const i64 field = unit + drop - LEAST;
    if (field >= FIELD - 1) return (Element)(sign | (u64)FIELD << MANTISSA);
    u64 kept = all >> drop;
    const u64 rest = all - (kept << drop);
    const u64 half = 1ull << (drop - 1);
    if (rest > half || (rest == half && (kept & 1))) kept += 1;
    return (Element)(sign | (kept + ((u64)field << MANTISSA)));
}
__device__ inline bool same(Element a, Element b) { return a == b; }
#else
__device__ inline Element rounded(double x) { return (Element)__double2ll_rz(x); }
__device__ inline bool same(Element a, Element b) { return a == b; }
#endif

__device__ inline Element certain(const Arguments &a, u64 i, Element low, Element high) {
    if (same(low, high)) return low;
    // The processor knows the ends: zero, the commonest, is between two signs.
    if (i == 0 || i == a.last) {
        const u64 code = a.ends[i != 0];
        Element end;
        memcpy(&end, &code, sizeof end);
        return end;
    }
    u64 *const doubts = (u64 *)a.doubts;
    const u64 k = atomicAdd(doubts, 1ull);
    if (k < a.few) ((volatile u64 *)a.first_doubts)[k] = i;
    if (k < a.capacity) doubts[1 + k] = i;
    return low;
}

#if defined(WRAPPING) || defined(FUSED) || defined(AFFINE) || defined(INT_AFFINE)
// The index of the first vector: it has the first element.
__device__ inline u64 begin(const Arguments &a) { return a.from / VECTOR * VECTOR; }
#endif

// ---- lines in fixed point

#if defined(AFFINE) || defined(INT_AFFINE)
struct Wide {
    i128 high;
    u64 low;
};

__device__ inline u128 joined(const u64 *words) { return (u128)words[1] << 64 | words[0]; }

__device__ inline Wide wide(const u64 *words) {
    Wide x;
    x.high = (i128)joined(words + 1);
    x.low = words[0];
    return x;
}

__device__ inline Wide plus(Wide x, Wide step, u64 times) {
    const u128 low = (u128)step.low * times + x.low;
    Wide sum;
    sum.high = (i128)((u128)step.high * times + (u128)x.high + (u64)(low >> 64));
    sum.low = (u64)low;
    return sum;
}
#endif

#if defined(AFFINE)
// A whole number below 2^52, by the bits of a sum: devices make four sums in the time of a conversion.
__device__ inline double whole(u64 x) {
    return __dsub_rn(__longlong_as_double((i64)(1075ull << 52 | x)), power_of_two(52));
}

// How far the leading bit is from the one behind the sign.
__device__ inline int spare(i128 x) {
    const u128 y = (u128)(x < 0 ? ~x : x);
    const u64 high = (u64)(y >> 64);
    if (high != 0) return __clzll((i64)high) - 1;
    const u64 low = (u64)y;
    return (low == 0 ? 128 : 64 + __clzll((i64)low)) - 1;
}

// The number times 2^unit, relatively off by less than 2^-105.
__device__ inline DoubleDouble pair(Wide x, i64 unit) {
    int by = spare(x.high);
    if (by > 64) by = 64;
    const u64 below = by == 0 ? 0 : x.low >> (64 - by);
    const u128 kept = (u128)x.high << by | below;
    int more = spare((i128)kept);
    if (more > 126) more = 126;
    const i128 leading = (i128)(kept << more);
    // The upper bits, rounded, and what is left of both signs: 2^74 at most, which a sum of two parts has but for 2^-106.
    const i64 upper = (i64)(leading >> 75) + (i64)(leading >> 74 & 1);
    const i128 rest = (i128)((u128)leading - ((u128)(i128)upper << 75));
    const double high = __dmul_rn(__ll2double_rn(upper), power_of_two(75));
    const double low = __dadd_rn(
        __dmul_rn(__ll2double_rn((i64)(rest >> 32)), power_of_two(32)),
        __ull2double_rn((u64)rest & 0xffffffffull));
    const double sum = __dadd_rn(high, low);
    const i64 exponent = unit + 64 - by - more;
    DoubleDouble pair;
    pair.high = scaled(sum, exponent);
    pair.low = scaled(__dsub_rn(low, __dsub_rn(sum, high)), exponent);
    return pair;
}

__device__ inline Start prepared(const Arguments &a, u64 block) {
    const u64 i = begin(a) + (block << BLOCK_BITS);
    const DoubleDouble x = pair(plus(wide(a.line_first), wide(a.line_step), i), a.unit);
    Start start;
    start.high = x.high;
    start.low = x.low;
    const double most = __dadd_rn(fabs(x.high), a.spread);
    start.error = __dadd_rn(__dmul_rn(a.relative, most), a.slack);
    return start;
}

struct Vector {
    Start start;
    double place;
};

// Starts of the blocks whose elements a block of threads makes.
#define STARTS ((THREADS * VECTOR * TURNS - 1 >> BLOCK_BITS) + 1)
__shared__ Start starts[STARTS];

template <unsigned turns> __device__ inline void prepare(const Arguments &a) {
    const u64 block = ((u64)blockIdx.x * (THREADS * VECTOR * turns) >> BLOCK_BITS) + threadIdx.x;
    if (threadIdx.x < STARTS) starts[block & STARTS - 1] = prepared(a, block);
    __syncthreads();
}

// Blocks begin where vectors do, so that a vector is of one.
__device__ inline Vector vector(const Arguments &a, u64 lo) {
    const u64 on = lo - begin(a);
    Vector vector;
    vector.start = starts[on >> BLOCK_BITS & STARTS - 1];
    vector.place = whole(on & ((1u << BLOCK_BITS) - 1));
    return vector;
}

__device__ inline Element element(const Arguments &a, Vector &vector, u64 i) {
    const Start &start = vector.start;
    const double place = vector.place;
    vector.place = __dadd_rn(place, 1.0);
#if defined(LONG)
    const double product = __dmul_rn(place, a.step_high);
    const double product_rest = __fma_rn(place, a.step_high, -product);
    const double sum = __dadd_rn(start.high, product);
    const double back = __dsub_rn(sum, start.high);
    const double sum_rest = __dadd_rn(__dsub_rn(start.high, __dsub_rn(sum, back)), __dsub_rn(product, back));
    const double rest =
        __dadd_rn(sum_rest, __dadd_rn(product_rest, __fma_rn(place, a.step_low, start.low)));
    const double lower = __dadd_rn(sum, __dsub_rn(rest, start.error));
    const double upper = __dadd_rn(sum, __dadd_rn(rest, start.error));
#else
    const double sum = __fma_rn(place, a.step_high, start.high);
    if (start.error == 0.0) return rounded(sum);
    const double lower = __dsub_rn(sum, start.error);
    const double upper = __dadd_rn(sum, start.error);
#endif
    return certain(a, i, rounded(lower), rounded(upper));
}
#endif

#if defined(INT_AFFINE)
// A number of a run, in units of 2^-64: too large by a little, so that its integer is in doubt where hardly anything is behind the
// point.
struct Vector {
    u128 number;
    bool is_in_doubt;
};

template <unsigned> __device__ inline void prepare(const Arguments &) {}

__device__ inline Vector vector(const Arguments &a, u64 lo) {
    Vector vector;
    vector.number = joined(a.run_first) + joined(a.run_step) * (unsigned)(lo - a.from);
    vector.is_in_doubt = false;
    return vector;
}

__device__ inline Element element(const Arguments &a, Vector &vector, u64) {
    vector.is_in_doubt |= (unsigned)((u64)vector.number >> 32) < (unsigned)a.doubtful;
    const Element element = (Element)((u64)(vector.number >> 64) ^ a.flipped);
    vector.number += joined(a.run_step);
    return element;
}

__device__ inline bool is_made(const Vector &vector) { return !vector.is_in_doubt; }

// Whole numbers are chosen, not addresses: arguments are no memory.
__device__ inline Element single(const Arguments &a, u64 i) {
    const Wide exact = plus(wide(a.line_first), wide(a.line_step), i);
    const Wide biased = plus(exact, exact.high < 0 ? wide(a.below) : wide(a.above), 1);
    if (a.fraction >= 64) return (Element)((i64)(biased.high >> 64) >> (a.fraction - 64));
    return (Element)(u64)(biased.high >> a.fraction);
}
#endif

#if defined(WRAPPING) || defined(FUSED)
struct Vector {};

template <unsigned> __device__ inline void prepare(const Arguments &) {}

__device__ inline Vector vector(const Arguments &, u64) { return Vector(); }
#endif

#if defined(WRAPPING)
__device__ inline Element element(const Arguments &a, Vector &, u64 i) { return (Element)(a.first + a.step * i); }
#endif

#if defined(FUSED)
__device__ inline Element element(const Arguments &a, Vector &, u64 i) {
#if defined(F64)
    return __fma_rn(__ull2double_rn(a.first + i), a.difference, a.start);
#else
    return __fmaf_rn(__ull2float_rn(a.first + i), (float)a.difference, (float)a.start);
#endif
}
#endif

#if defined(AFFINE) || defined(WRAPPING) || defined(FUSED)
__device__ inline bool is_made(const Vector &) { return true; }

__device__ inline Element single(const Arguments &a, u64 i) {
    Vector one = vector(a, i);
    return element(a, one, i);
}
#endif

// ---- products of tables

#if defined(POWERS)
__device__ inline DoubleDouble times(DoubleDouble x, DoubleDouble y) {
    const double high = __dmul_rn(x.high, y.high);
    const double rest = __fma_rn(x.high, y.high, -high);
    const double low = __fma_rn(x.low, y.high, __fma_rn(x.high, y.low, rest));
    const double sum = __dadd_rn(high, low);
    return {sum, __dsub_rn(low, __dsub_rn(sum, high))};
}

// A mantissa and an exponent.
struct Power {
    DoubleDouble mantissa;
    i64 exponent;
};

__device__ inline Power power(const double *entry) { return {{entry[0], entry[1]}, __double2ll_rz(entry[2])}; }

__device__ inline Start started(const Arguments &a, const Power &power) {
    double scale = power_of_two(0);
#if !defined(INTEGER) || !defined(LONG)
    // Integers of 64 bits get their sign at the end.
    if (a.negative) scale = -scale;
#endif
    Start start;
    start.high = scaled(__dmul_rn(power.mantissa.high, scale), power.exponent);
    start.low = scaled(__dmul_rn(power.mantissa.low, scale), power.exponent);
    return start;
}

__device__ inline Start prepared(const Arguments &a, u64 block) {
    Power start = power((const double *)a.wide + 3 * (block >> a.block_bits));
    start.mantissa = times(start.mantissa, ((const DoubleDouble *)a.blocks)[block & ((1ull << a.block_bits) - 1)]);
    return started(a, start);
}

// A power of few elements, a product of ratios.
template <class Factor> struct Few {
    Factor mantissa;
    double exponent;
};

template <class Factor> __device__ inline Factor factor(const double *entry);
template <> __device__ inline double factor<double>(const double *entry) { return entry[0]; }
template <> __device__ inline DoubleDouble factor<DoubleDouble>(const double *entry) { return {entry[0], entry[1]}; }
__device__ inline double times(double x, double y) { return __dmul_rn(x, y); }

template <class Factor> __device__ inline Few<Factor> further(const Few<Factor> &power, const double *ratio) {
    return {times(power.mantissa, factor<Factor>(ratio)), power.exponent + ratio[2]};
}

template <class Factor> __device__ inline Few<Factor> few(const Arguments &a, unsigned on) {
    Few<Factor> power = {factor<Factor>(a.ratios[0]), a.ratios[0][2]};
    for (unsigned bit = 0; on >> bit != 0; bit++)
        if (on >> bit & 1) power = further(power, a.ratios[bit + 1]);
    return power;
}

__device__ inline Start started(const Arguments &a, const Few<DoubleDouble> &power) {
    return started(a, Power{power.mantissa, __double2ll_rz(power.exponent)});
}
__device__ inline Start started(const Arguments &a, const Few<double> &power) {
    return started(a, Power{{power.mantissa, 0.0}, __double2ll_rz(power.exponent)});
}

#if defined(LONG)
typedef DoubleDouble Factor;
#else
typedef double Factor;

// A pair, whose low part is less than a unit in the last place of the high part, as a double that
// is odd unless it is the pair itself: rounded again, as if it were rounded once.
__device__ inline double odd(double high, double low) {
    const i64 bits = __double_as_longlong(high);
    if (low == 0.0 || bits & 1) return high;
    return __longlong_as_double((low > 0.0) == (high > 0.0) ? bits + 1 : bits - 1);
}

// The element of a power that is relatively off by less than 2^-47. False if that may leave two.
__device__ inline bool is_decided(const Arguments &a, double power, Element *element) {
#if defined(F32)
    // The bits behind a normal float are far from half of its last place: 64 units in the last place of the power are its bound.
    const u64 bits = (u64)__double_as_longlong(power);
    const unsigned exponent = (unsigned)(bits >> 52) & 2047;
    const unsigned behind = (unsigned)bits & ((1u << 29) - 1);
    *element = rounded(power);
    return behind - ((1u << 28) - 64) > 128 && exponent - 897 < 253;
#elif defined(INTEGER)
    // Without the fraction: the largest integer that is at most the power, by a sum whose last place is 1, as devices make four sums in
    // the time of a conversion. The lower word of the sum has the integer below; above a negative number is the next. Of what is below
    // 2^32 the bound is 2^-15.
    const double ones = 3.0 * power_of_two(51);
    const double sum = __dadd_rd(power, ones);
    const double from_middle = __dsub_rn(power, __dadd_rn(__dsub_rn(sum, ones), 0.5));
    *element = (Element)((unsigned)__double2loint(sum) + (unsigned)a.negative);
    if (fabs(from_middle) < 0.5 - power_of_two(-15) && fabs(power) < power_of_two(32)) return true;
    *element = 0;
    return fabs(power) < 0.5;
#else
    const double error = __dmul_rn(power, power_of_two(-47));
    *element = rounded(__dsub_rn(power, error));
    return same(*element, rounded(__dadd_rn(power, error)));
#endif
}
#endif

#if defined(INTEGER) && defined(LONG)
// The largest integer that is at most a number below 2^51.
__device__ inline i64 floored(double x) {
    const double ones = 3.0 * power_of_two(51);
    return __double_as_longlong(__dadd_rd(x, ones)) - __double_as_longlong(ones);
}
#endif

__device__ inline Element element(const Arguments &a, const Start &start, const double *position, u64 i) {
    const u64 count = 1ull << a.position_bits;
    const double product = __dmul_rn(start.high, position[0]);
#if defined(LONG)
    const double rest = __fma_rn(start.low, position[0], __fma_rn(start.high, position[0], -product));
    const double lower = __fma_rn(start.high, position[count], rest);
    const double upper = __fma_rn(start.high, position[2 * count], rest);
#if defined(INTEGER)
    // Bound of the error of the last sum, as on the processor: less than 2^-30.
    const double last = power_of_two(-30);
    const double whole = trunc(product);
    const double behind = __dsub_rn(product, whole);
    // Rounded, the high part of an element that its type holds may be 2^64 itself.
    const u64 integer = whole < power_of_two(64) ? __double2ull_rz(whole) : 0;
    const u64 low = integer + (u64)floored(__dsub_rn(__dadd_rn(behind, lower), last));
    const u64 high = integer + (u64)floored(__dadd_rn(__dadd_rn(behind, upper), last));
    return certain(a, i, (Element)(a.negative ? 0 - low : low), (Element)(a.negative ? 0 - high : high));
#else
    return certain(a, i, rounded(__dadd_rn(product, lower)), rounded(__dadd_rn(product, upper)));
#endif
#else
    Element decided;
    if (is_decided(a, product, &decided)) return decided;
    return certain(a, i, rounded(__dmul_rn(start.high, position[count])), rounded(__dmul_rn(start.high, position[2 * count])));
#endif
}
#endif

// ---- what is launched

#if defined(SHORT)
// An array that is among the parameters: reading the processor's memory takes longer.
extern "C" __global__ void FILL(const ShortArray a) {
    const u64 k = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (k < a.to) ((u64 *)a.out)[k] = a.words[k];
}
#elif defined(COPY)
// Copies words of 64 bits from memory of the processor: the engine that copies takes longer to begin.
extern "C" __global__ void FILL(const Arguments a) {
    const u64 k = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (k < a.to) ((u64 *)a.out)[k] = ((const u64 *)a.starts)[k];
}
#elif defined(PUT)
// Puts codes at indices.
extern "C" __global__ void FILL(const Arguments a) {
    const u64 k = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= a.to) return;
    const u64 *const entry = (const u64 *)a.starts + 2 * k;
    ((Element *)a.out)[entry[0]] = (Element)entry[1];
}
#elif defined(POWERS)
// The threads of a warp take turns, so that neighbours read neighbouring entries of the tables: each reading of a warp is of whole
// lines. A thread's elements are of one block, unless blocks are short.
extern "C" __global__ void FILL(const Arguments a) {
    const u64 thread = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    const u64 mask = (1ull << a.position_bits) - 1, len = a.to - a.from;
    const double *const positions = (const double *)a.positions;
    u64 on = thread / 32 * 32 * TURNS + thread % 32;
    if (on >= len) return;
    Element *const out = (Element *)a.out + a.from;
    Start start = prepared(a, on >> a.position_bits);
    if (mask >= 32 * TURNS - 1 && on + 32 * (TURNS - 1) < len) {
        const double *const position = positions + (on & mask);
#pragma unroll
        for (unsigned k = 0; k < TURNS; k++)
            out[on + 32 * k] = element(a, start, position + 32 * k, a.from + on + 32 * k);
        return;
    }
    for (unsigned k = 0; k < TURNS && on < len; k++, on += 32) {
        start = prepared(a, on >> a.position_bits);
        out[on] = element(a, start, positions + (on & mask), a.from + on);
    }
}

// Bounds of few powers, as pairs. LONG, in units of 2^-106: squares and products of ratios
// (tables.rs), to base 32, are off by less than 216, those of four digits and the first power by
// less than 886, with three more products by 911; the bound is 2048. Other types: 19 squares of one
// ratio and their products are off by less than 2^-81.
#if defined(LONG)
#define BOUND power_of_two(-95)
#else
#define BOUND power_of_two(-80)
#endif
// Doubles alone, in units of 2^-53: the first power and 20 ratios, each rounded (21) and multiplied (20), and three more products by a
// ratio (6) are off by less than 48, which are 2^-47.4.
extern "C" __global__ void ALONE(const Arguments a) {
    const u64 thread = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    const u64 len = a.to - a.from;
    u64 on = thread / 32 * 32 * TURNS_ALONE + thread % 32;
    if (on >= len) return;
    Few<Factor> power = few<Factor>(a, (unsigned)on);
    for (unsigned k = 0; k < TURNS_ALONE && on < len; k++, on += 32) {
        const u64 i = a.from + on;
        Element *const place = (Element *)a.out + i;
#if defined(LONG)
        const double position[] = {1.0, -BOUND, BOUND};
        *place = element(a, started(a, power), position, i);
#else
        if (!is_decided(a, started(a, power).high, place)) {
            const Start exact = started(a, few<DoubleDouble>(a, (unsigned)on));
            const double error = __dmul_rn(exact.high, BOUND);
            const double lower = odd(exact.high, __dsub_rn(exact.low, error)), upper = odd(exact.high, __dadd_rn(exact.low, error));
            *place = certain(a, i, rounded(lower), rounded(upper));
        }
#endif
        power = further(power, a.ratios[6]);
    }
}
#else
// A thread makes vectors of 16 bytes, each stored in one go; those of neighbours lie side by side.
struct alignas(16) Stored {
    Element elements[VECTOR];
};

__device__ inline void fill_vector(const Arguments &a, u64 lo) {
    Element *const out = (Element *)a.out;
    if (a.from <= lo && lo + VECTOR <= a.to) {
        Vector each = vector(a, lo);
        Stored stored;
#pragma unroll
        for (unsigned k = 0; k < VECTOR; k++) stored.elements[k] = element(a, each, lo + k);
        if (is_made(each)) {
            // Past the caches: a quarter faster.
            int4 words;
            memcpy(&words, &stored, sizeof words);
            __stcs((int4 *)(out + lo), words);
            return;
        }
    }
    // Ends of a launch, and doubts. What is not written may have none.
    for (u64 i = lo; i < lo + VECTOR; i++)
        if (a.from <= i && i < a.to) out[i] = single(a, i);
}

template <unsigned turns> __device__ inline void fill_vectors(const Arguments &a) {
    prepare<turns>(a);
    const u64 lo = begin(a) + ((u64)blockIdx.x * (THREADS * turns) + threadIdx.x) * VECTOR;
#pragma unroll
    for (unsigned turn = 0; turn < turns; turn++) fill_vector(a, lo + turn * (THREADS * VECTOR));
}

extern "C" __global__ void FILL(const Arguments a) { fill_vectors<TURNS>(a); }
#if defined(AFFINE)
extern "C" __global__ void ALONE(const Arguments a) { fill_vectors<TURNS_ALONE>(a); }
#endif
#endif
