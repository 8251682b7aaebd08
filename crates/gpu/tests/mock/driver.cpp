// A CUDA driver and NVRTC for tests, on the processor. Streams run at the latest moment that CUDA allows: when somebody waits for
// them. Device memory ends at a page that nobody may touch, and all of it becomes such pages when it is freed.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <dlfcn.h>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

typedef unsigned long long u64;
enum { OK = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, INVALID_CONTEXT = 201, NOT_FOUND = 500 };

namespace {
struct Allocation { size_t mapped; size_t bytes; void *base; };
struct Module { void *library; };
struct Function { void (*run)(unsigned, unsigned, const void *); u64 arguments; };

int context;                                              // its address is the handle
thread_local void *current;
std::map<u64, Allocation> allocations;
std::map<void *, std::deque<std::function<void()>>> queues; // by stream
std::map<std::string, std::pair<int, int>> failures;      // calls that still succeed, and the error then
size_t limit, used, pinned, synchronised;

// The error that a call returns instead of doing its work.
int refused(const char *call, bool in_context = true) {
    auto found = failures.find(call);
    if (found == failures.end()) found = failures.find("*");
    if (found != failures.end() && found->second.first-- <= 0) return found->second.second;
    return in_context && current != &context ? INVALID_CONTEXT : OK;
}

void run(void *stream) {
    auto &queue = queues[stream];
    while (!queue.empty()) {
        auto work = queue.front();
        queue.pop_front();
        work();
    }
}

void unmap(u64 address) {
    const Allocation &freed = allocations.at(address);
    mprotect(freed.base, freed.mapped, PROT_NONE);
    used -= freed.bytes;
    allocations.erase(address);
}

bool holds(u64 address, size_t bytes) {
    auto next = allocations.upper_bound(address);
    if (next == allocations.begin()) return false;
    const auto &[start, found] = *--next;
    return address + bytes <= start + found.bytes;
}
} // namespace

#define CALL extern "C" int
#define REFUSE if (int error = refused(__func__)) return error
#define REFUSE_ANYWHERE if (int error = refused(__func__, false)) return error

// ---- what tests ask for

// Makes a call, or all ("*"), fail after so many successes.
extern "C" void mock_fail(const char *call, int after, int error) { failures[call] = {after, error}; }
extern "C" void mock_reset(size_t memory) {
    failures.clear();
    limit = memory;
    synchronised = 0;
}
// Bytes that are allocated when all streams have run, of the processor too.
extern "C" size_t mock_used() {
    for (auto &queue : queues) run(queue.first);
    return used + pinned;
}
extern "C" void mock_forget() { used = pinned = 0; }
extern "C" size_t mock_synchronised() { return synchronised; }
extern "C" void *mock_context() { return current; }
extern "C" void mock_make_current(void *other) { current = other; }
// Reads memory on a stream of another library; the sum is there when the stream has run.
extern "C" void mock_borrow(u64 address, size_t bytes, u64 *sum) {
    queues[(void *)16].push_back([=] { for (size_t i = 0; i < bytes; i++) *sum += ((unsigned char *)address)[i]; });
}

// ---- the driver

CALL cuInit(unsigned) { REFUSE_ANYWHERE; return OK; }
CALL cuDriverGetVersion(int *version) { *version = 13020; return OK; }
CALL cuDeviceGetCount(int *count) { REFUSE_ANYWHERE; *count = 1; return OK; }
CALL cuDeviceGet(int *device, int ordinal) { *device = ordinal; return ordinal == 0 ? OK : 101; }
CALL cuDeviceGetName(char *name, int bytes, int) { snprintf(name, (size_t)bytes, "Mock"); return OK; }
CALL cuDeviceTotalMem_v2(size_t *bytes, int) { *bytes = 1ull << 40; return OK; }
CALL cuDeviceGetAttribute(int *value, int attribute, int) {
    // The major part of the capability, the minor part, pools of memory.
    *value = attribute == 75 ? 9 : attribute == 115 ? 1 : 0;
    return OK;
}
CALL cuDevicePrimaryCtxRetain(void **made, int) { REFUSE_ANYWHERE; *made = &context; return OK; }
CALL cuDevicePrimaryCtxRelease_v2(int) { return OK; }
CALL cuCtxGetCurrent(void **found) { REFUSE_ANYWHERE; *found = current; return OK; }
CALL cuCtxSetCurrent(void *wanted) { current = wanted; return OK; }
CALL cuCtxSynchronize() {
    REFUSE;
    synchronised++;
    for (auto &queue : queues) run(queue.first);
    return OK;
}
CALL cuStreamSynchronize(void *stream) { REFUSE; run(stream); return OK; }
CALL cuGetErrorName(int, const char **text) { *text = "MOCK_ERROR"; return OK; }
CALL cuGetErrorString(int error, const char **text) {
    *text = error == OUT_OF_MEMORY ? "out of memory" : error == 700 ? "an illegal memory access was encountered" : "mock";
    return OK;
}
CALL cuMemPoolCreate(void **pool, const void *) { REFUSE; *pool = &used; return OK; }
CALL cuMemPoolSetAttribute(void *, int, void *) { REFUSE; return OK; }
CALL cuMemPoolDestroy(void *) { return OK; }
CALL cuMemHostAlloc(void **made, size_t bytes, unsigned) {
    REFUSE;
    // Not zeros, and their number before them.
    auto *base = (char *)aligned_alloc(64, bytes + 64);
    memset(base, 0x55, bytes + 64);
    *(size_t *)base = bytes;
    pinned += bytes;
    *made = base + 64;
    return OK;
}
CALL cuMemFreeHost(void *made) {
    REFUSE;
    char *base = (char *)made - 64;
    pinned -= *(size_t *)base;
    free(base);
    return OK;
}
CALL cuMemAllocFromPoolAsync(u64 *address, size_t bytes, void *, void *stream) {
    REFUSE;
    // Memory that the stream frees before is memory.
    if (used + bytes > limit) run(stream);
    if (used + bytes > limit) return OUT_OF_MEMORY;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = (bytes + page - 1) / page * page;
    char *base = (char *)mmap(nullptr, whole + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(base + whole, page, PROT_NONE);
    // Not zeros: what is read must have been written.
    memset(base, 0x55, whole);
    *address = (u64)(base + (whole - bytes) / 16 * 16);
    allocations[*address] = {whole + page, bytes, base};
    used += bytes;
    return OK;
}
CALL cuMemFreeAsync(u64 address, void *stream) {
    REFUSE;
    if (!allocations.count(address)) return INVALID_VALUE;
    queues[stream].push_back([=] { unmap(address); });
    return OK;
}
CALL cuMemsetD8Async(u64 address, unsigned char value, size_t bytes, void *stream) {
    REFUSE;
    if (!holds(address, bytes)) return INVALID_VALUE;
    queues[stream].push_back([=] { memset((void *)address, value, bytes); });
    return OK;
}
CALL cuMemcpyHtoDAsync_v2(u64 address, const void *from, size_t bytes, void *stream) {
    REFUSE;
    if (!holds(address, bytes)) return INVALID_VALUE;
    queues[stream].push_back([=] { memcpy((void *)address, from, bytes); });
    return OK;
}
CALL cuMemcpyDtoHAsync_v2(void *to, u64 address, size_t bytes, void *stream) {
    REFUSE;
    if (!holds(address, bytes)) return INVALID_VALUE;
    queues[stream].push_back([=] { memcpy(to, (void *)address, bytes); });
    return OK;
}
CALL cuModuleLoadData(void **module, const void *image) {
    REFUSE;
    void *library = dlopen((const char *)image, RTLD_NOW | RTLD_LOCAL);
    if (!library) return INVALID_VALUE;
    *module = new Module{library};
    return OK;
}
CALL cuModuleUnload(void *module) {
    REFUSE;
    // Functions that queued launches still call remain loaded.
    delete (Module *)module;
    return OK;
}
CALL cuModuleGetFunction(void **function, void *module, const char *name) {
    REFUSE;
    const auto *from = (const Module *)module;
    const std::string launched = std::string(name) + "_launched";
    void *found = dlsym(from->library, launched.c_str());
    if (!found) return NOT_FOUND;
    const auto bytes = *(const u64 *)dlsym(from->library, (launched + "_bytes").c_str());
    *function = new Function{(void (*)(unsigned, unsigned, const void *))found, bytes};
    return OK;
}
CALL cuLaunchKernel(void *function, unsigned blocks, unsigned, unsigned, unsigned threads, unsigned, unsigned, unsigned, void *stream,
                    void **parameters, void **) {
    REFUSE;
    const auto launched = *(const Function *)function;
    // The driver copies the arguments when a kernel is launched.
    std::vector<char> arguments((const char *)parameters[0], (const char *)parameters[0] + launched.arguments);
    queues[stream].push_back([=] { launched.run(blocks, threads, arguments.data()); });
    return OK;
}

// ---- NVRTC: its machine code is the path of a library

struct Program { std::string text, path; };

CALL nvrtcVersion(int *major, int *minor) { *major = 13; *minor = 2; return OK; }
CALL nvrtcGetNumSupportedArchs(int *count) { *count = 1; return OK; }
CALL nvrtcGetSupportedArchs(int *known) { *known = 90; return OK; }
CALL nvrtcCreateProgram(void **program, const char *text, const char *, int, const char *const *, const char *const *) {
    *program = new Program{text, ""};
    return OK;
}
CALL nvrtcCompileProgram(void *program, int, const char *const *) {
    static int number;
    auto *compiled = (Program *)program;
    const std::string stem = std::string(FOLDER) + "/kernel" + std::to_string(number++);
    std::ofstream(stem + ".cpp") << "#include \"" EMULATED "\"\n" << compiled->text
                                 << "\nLAUNCHED(fill_launched, fill)\n"
                                    "#if defined(AFFINE) || defined(POWERS)\nLAUNCHED(alone_launched, alone)\n#endif\n";
    compiled->path = stem + ".so";
    const std::string command =
        "c++ -std=c++17 -O1 -ffp-contract=off -fPIC -shared -o " + compiled->path + " " + stem + ".cpp";
    return system(command.c_str()) == 0 ? OK : 6;
}
CALL nvrtcGetCUBINSize(void *program, size_t *bytes) { *bytes = ((Program *)program)->path.size() + 1; return OK; }
CALL nvrtcGetCUBIN(void *program, char *code) { strcpy(code, ((Program *)program)->path.c_str()); return OK; }
CALL nvrtcGetProgramLogSize(void *, size_t *bytes) { *bytes = 1; return OK; }
CALL nvrtcGetProgramLog(void *, char *log) { *log = 0; return OK; }
CALL nvrtcDestroyProgram(void **program) { delete (Program *)*program; *program = nullptr; return OK; }
CALL nvrtcGetErrorString(int) { return OK; }
