// Features of CUDA C that C++ lacks, so that a C++ compiler compiles the kernels for the processor: for tests.
#include <cmath>
#include <cstring>
using std::fabs;
using std::floor;
using std::memcpy;
using std::trunc;
#define __device__
#define __global__
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
static inline float __double2float_rn(double x) { return (float)x; }
static inline long long __double2ll_rz(double x) { return (long long)x; }
static inline unsigned long long __double2ull_rz(double x) { return (unsigned long long)x; }
static inline int __clzll(long long x) { return __builtin_clzll((unsigned long long)x); }
template <class To, class From> static inline To bits(From x) { To y; std::memcpy(&y, &x, sizeof y); return y; }
static inline long long __double_as_longlong(double x) { return bits<long long>(x); }
static inline double __longlong_as_double(long long x) { return bits<double>(x); }
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
    for (blockIdx.x = 0; blockIdx.x < blocks; blockIdx.x++)
        for (threadIdx.x = 0; threadIdx.x < threads; threadIdx.x++) kernel(*(const Parameters *)parameters);
}
template <class Parameters> static constexpr unsigned long long bytes_of(void (*)(Parameters)) { return sizeof(Parameters); }
// The kernel as a function, and the bytes of its parameters.
#define LAUNCHED(name, kernel) \
    extern "C" const unsigned long long name##_bytes; \
    const unsigned long long name##_bytes = bytes_of(kernel); \
    extern "C" void name(unsigned blocks, unsigned threads, const void *parameters) { \
        launched(kernel, blocks, threads, parameters); \
    }
