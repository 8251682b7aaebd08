// Features of CUDA C that C++ lacks, so that a C++ compiler compiles the kernels for the processor: for tests.
#include <cmath>
#include <cstring>
using std::fabs;
using std::memcpy;
using std::trunc;
#define __device__
#define __global__
#define __shared__ static thread_local
// Threads run one after the other, to the barrier if there is one, and then once more without it.
struct Barrier {};
static thread_local bool is_barrier;
static inline void __syncthreads() { if (is_barrier) throw Barrier(); }
struct Index { unsigned x; };
static thread_local Index blockIdx, threadIdx, blockDim;
static inline double __dmul_rn(double a, double b) { return a * b; }
static inline double __dadd_rn(double a, double b) { return a + b; }
static inline double __dsub_rn(double a, double b) { return a - b; }
static inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }
static inline float __fmaf_rn(float a, float b, float c) { return std::fmaf(a, b, c); }
static inline double __ll2double_rn(long long x) { return (double)x; }
static inline double __ull2double_rn(unsigned long long x) { return (double)x; }
static inline float __ull2float_rn(unsigned long long x) { return (float)x; }
// Rounded down: what the sum left out says whether it was rounded up.
static inline double __dadd_rd(double a, double b) {
    const double sum = a + b, back = sum - a;
    const double rest = (a - (sum - back)) + (b - back);
    return rest < 0 ? std::nextafter(sum, -INFINITY) : sum;
}
static inline float __double2float_rn(double x) { return (float)x; }
static inline long long __double2ll_rz(double x) { return (long long)x; }
static inline unsigned long long __double2ull_rz(double x) { return (unsigned long long)x; }
static inline int __clzll(long long x) { return __builtin_clzll((unsigned long long)x); }
template <class To, class From> static inline To bits(From x) { To y; std::memcpy(&y, &x, sizeof y); return y; }
static inline long long __double_as_longlong(double x) { return bits<long long>(x); }
static inline double __longlong_as_double(long long x) { return bits<double>(x); }
static inline int __double2loint(double x) { return (int)bits<long long>(x); }
static inline unsigned __float_as_uint(float x) { return bits<unsigned>(x); }
static inline unsigned long long atomicAdd(unsigned long long *x, unsigned long long y) {
    unsigned long long before = *x;
    *x += y;
    return before;
}
struct int4 { int parts[4]; };
static inline void __stcs(int4 *place, int4 x) { *place = x; }
// Runs every thread of a launch, on its own copy of the parameters.
template <class Parameters>
static void launched(void (*kernel)(Parameters), unsigned blocks, unsigned threads, const void *parameters) {
    blockDim.x = threads;
    for (blockIdx.x = 0; blockIdx.x < blocks; blockIdx.x++) {
        bool is_waiting = false;
        const auto run = [&] {
            for (threadIdx.x = 0; threadIdx.x < threads; threadIdx.x++) {
                try {
                    kernel(*(const Parameters *)parameters);
                } catch (Barrier) {
                    is_waiting = true;
                }
            }
        };
        is_barrier = true;
        run();
        is_barrier = false;
        if (is_waiting) run();
    }
}
template <class Parameters> static constexpr unsigned long long bytes_of(void (*)(Parameters)) { return sizeof(Parameters); }
// The kernel as a function, and the bytes of its parameters.
#define LAUNCHED(name, kernel) \
    extern "C" const unsigned long long name##_bytes; \
    const unsigned long long name##_bytes = bytes_of(kernel); \
    extern "C" void name(unsigned blocks, unsigned threads, const void *parameters) { \
        launched(kernel, blocks, threads, parameters); \
    }
