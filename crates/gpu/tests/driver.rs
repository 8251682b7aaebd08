//! The code that calls the CUDA driver, against a driver and an NVRTC that run on the processor
//! (`mock/driver.cpp`): bits of elements, order of calls, errors of each call. Needs `c++`.

#![cfg(all(feature = "cuda", target_os = "linux"))]
#![allow(unsafe_code, reason = "functions of the mock are called")]
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod cases;

use std::ffi::{CString, c_char, c_int, c_void};
use std::path::Path;
use std::process::Command;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use cases::Check;
use gradus_core::convert::usize_of;
use gradus_core::{DType, Kind, Number, dispatch};
use gradus_gpu::{Array, Backend, Device};
use gradus_kernels::{Fill, Write};
use gradus_sequences::{LogspacePlan, RangePlan};
use libloading::{Library, Symbol};

/// Functions by which tests steer the driver. One test has it at a time.
struct Mock {
    driver: Library,
    /// Found by its name for as long as it is loaded.
    _compiler: Library,
}

/// An error of the driver.
const ILLEGAL_ADDRESS: c_int = 700;

static MOCK: LazyLock<Mutex<Mock>> = LazyLock::new(|| Mutex::new(Mock::load()));

impl Mock {
    /// Compiles and loads the libraries under the first names that cudarc asks for, so that the
    /// loader returns them and not those of the system.
    fn load() -> Mock {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR"));
        let folder = std::env::temp_dir().join(format!("gradus-mock-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let [driver, compiler] = ["libcuda.so", "libnvrtc.so"].map(|name| {
            let output = Command::new("c++")
                .args(["-std=c++17", "-O1", "-fPIC", "-shared"])
                .arg(format!("-DFOLDER=\"{}\"", folder.display()))
                .arg(format!("-DEMULATED=\"{}\"", sources.join("src/cuda/emulated.h").display()))
                .arg(format!("-Wl,-soname,{name}"))
                .arg(sources.join("tests/mock/driver.cpp"))
                .arg("-o")
                .arg(folder.join(name))
                .output()
                .expect("cannot run c++, which this test needs");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            // SAFETY: the library was made of the text above, and runs nothing when it is loaded.
            unsafe { Library::new(folder.join(name)).unwrap() }
        });
        Mock { driver, _compiler: compiler }
    }

    /// Starts a test: no call fails, and nothing is allocated.
    fn start() -> MutexGuard<'static, Mock> {
        let mock = MOCK.lock().unwrap_or_else(PoisonError::into_inner);
        mock.reset(1 << 40);
        mock
    }

    fn get<T>(&self, name: &str) -> Symbol<'_, T> {
        // SAFETY: callers name the types that `driver.cpp` has.
        unsafe { self.driver.get(name.as_bytes()).unwrap() }
    }

    /// Forgets failures, and limits memory.
    fn reset(&self, memory: usize) {
        // SAFETY: the function has this type.
        unsafe { self.get::<unsafe extern "C" fn(usize)>("mock_reset")(memory) }
    }

    /// Makes a call, or all (`*`), fail after some that succeed.
    fn fail(&self, call: &str, after: c_int, error: c_int) {
        let call = CString::new(call).unwrap();
        // SAFETY: the function has this type; it copies the text.
        unsafe {
            self.get::<unsafe extern "C" fn(*const c_char, c_int, c_int)>("mock_fail")(
                call.as_ptr(),
                after,
                error,
            );
        }
    }

    /// A number that the mock counts.
    fn count(&self, name: &str) -> usize {
        // SAFETY: the function has this type.
        unsafe { self.get::<unsafe extern "C" fn() -> usize>(name)() }
    }

    /// Forgets what could not be freed.
    fn forget(&self) {
        // SAFETY: the function has this type.
        unsafe { self.get::<unsafe extern "C" fn()>("mock_forget")() }
    }

    /// Makes the context of another library current on this thread.
    fn make_current(&self, context: *mut c_void) {
        // SAFETY: the function has this type.
        unsafe { self.get::<unsafe extern "C" fn(*mut c_void)>("mock_make_current")(context) }
    }

    /// Queues a reader of memory on another library's stream.
    fn borrow(&self, address: u64, bytes: usize, sum: &mut u64) {
        // SAFETY: the function has this type; the sum outlives the stream's work in the tests.
        unsafe {
            self.get::<unsafe extern "C" fn(u64, usize, *mut u64)>("mock_borrow")(address, bytes, sum);
        }
    }
}

fn open() -> Box<dyn Device> {
    gradus_gpu::open("cuda").unwrap()
}

fn numbers(count: i128) -> RangePlan {
    RangePlan::new(Number::Int(7), Number::Int(7 + count), Number::Int(1), DType::I32).unwrap()
}

/// Powers need tables, starts of blocks and elements decided by the processor.
fn powers() -> LogspacePlan {
    const COUNT: u64 = (1 << 20) + 1;
    LogspacePlan::new(Number::Int(10), Number::Int(0), Number::Int(9), COUNT, true, DType::F64).unwrap()
}

fn is_right(array: &dyn Array, count: i128) -> bool {
    let numbers: Vec<_> = array.tensor().unwrap().numbers().unwrap().collect();
    numbers == (7..7 + count).map(Number::Int).collect::<Vec<_>>()
}

/// Compares whole sequences with those of the processor.
struct Whole<'a>(&'a dyn Device);

impl Check for Whole<'_> {
    fn check(&self, plan: &impl Fill) {
        dispatch!(plan.dtype(), [I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64] => whole(self.0, plan),
            _ => ());
    }
}

fn whole<T: Write>(device: &dyn Device, plan: &impl Fill) {
    let array = device.fill(plan).unwrap();
    let mut found = vec![0; usize_of(plan.len()) * size_of::<T>()];
    array.read(0, &mut found).unwrap();
    cases::same::<T>(plan, 0, &found, "through the driver");
}

#[test]
fn ordinary_sequences_have_the_bits_of_the_processor() {
    let mock = Mock::start();
    let device = open();
    for case in cases::ordinary() {
        case.with(&Whole(&*device));
    }
    drop(device);
    assert_eq!(mock.count("mock_used"), 0);
}

#[test]
fn failures_of_each_call_are_errors_and_leave_the_device_usable() {
    let mock = Mock::start();
    let device = open();
    device.fill(&powers()).unwrap();
    let calls = [
        "cuMemAllocFromPoolAsync",
        "cuMemsetD8Async",
        "cuMemcpyHtoDAsync_v2",
        "cuMemcpyDtoHAsync_v2",
        "cuStreamSynchronize",
        "cuLaunchKernel",
    ];
    for call in calls {
        let mut failed = 0;
        loop {
            mock.reset(1 << 40);
            mock.fail(call, failed, ILLEGAL_ADDRESS);
            // Powers need tables; of ties, the list of doubts is read.
            let filled = device.fill(&powers()).and_then(|_| device.fill(&cases::ties()));
            let Err(error) = filled else { break };
            assert_eq!(error.kind(), Kind::Io, "{call}: {error}");
            failed += 1;
        }
        assert!(failed > 0, "{call}");
        mock.reset(1 << 40);
        whole::<f64>(&*device, &powers());
    }
    for call in ["cuModuleLoadData", "cuModuleGetFunction"] {
        mock.reset(1 << 40);
        mock.fail(call, 0, ILLEGAL_ADDRESS);
        let fresh = open();
        let error = fresh.fill(&powers()).unwrap_err().to_string();
        assert!(error.starts_with("cuda:0: cannot load a kernel (NVRTC is 13.2"), "{error}");
    }
    mock.reset(1 << 40);
    mock.fail("cuMemHostAlloc", 0, ILLEGAL_ADDRESS);
    let error = open().fill(&powers()).unwrap_err().to_string();
    assert!(error.starts_with("cuda:0: cannot allocate memory of the processor: "), "{error}");
    let attributes = ["cuMemPoolCreate", "cuMemPoolSetAttribute"];
    for call in ["cuInit", "cuCtxGetCurrent", "cuDevicePrimaryCtxRetain"].into_iter().chain(attributes) {
        mock.reset(1 << 40);
        mock.fail(call, 0, ILLEGAL_ADDRESS);
        gradus_gpu::open("cuda").unwrap_err();
    }
    drop(device);
    mock.reset(1 << 40);
    assert_eq!(mock.count("mock_used"), 0);
}

#[test]
fn exhausted_memory_is_a_limit_until_some_is_freed() {
    let mock = Mock::start();
    let device = open();
    mock.reset(6 << 20);
    let first = device.fill(&numbers(1 << 20)).unwrap();
    let error = device.fill(&numbers(1 << 20)).unwrap_err();
    assert_eq!(error.kind(), Kind::Limit);
    let text = "cuda:0: cannot allocate 4194304 bytes: out of memory (CUDA_ERROR_OUT_OF_MEMORY)";
    assert_eq!(error.to_string(), text);
    drop(first);
    assert!(is_right(&*device.fill(&numbers(1 << 20)).unwrap(), 1 << 20));
    // Short arrays are kept for others, until a long one needs their memory.
    drop((0..10).map(|_| device.fill(&numbers(1 << 17)).unwrap()).collect::<Vec<_>>());
    assert!(is_right(&*device.fill(&numbers(1 << 20)).unwrap(), 1 << 20));
}

#[test]
fn lost_contexts_are_errors_of_each_later_call() {
    let mock = Mock::start();
    let device = open();
    let mut array = device.fill(&numbers(1000)).unwrap();
    mock.fail("*", 0, ILLEGAL_ADDRESS);
    let read = array.read(0, &mut [0; 4]).unwrap_err();
    assert_eq!(read.kind(), Kind::Io);
    assert!(read.to_string().contains("illegal memory access"), "{read}");
    for error in [
        array.fill(&numbers(1000)).unwrap_err(),
        array.clear().unwrap_err(),
        device.allocate(DType::I32, 5).unwrap_err(),
    ] {
        assert_eq!(error.kind(), Kind::Io, "{error}");
    }
    // Frees fail as well, which cannot be reported.
    drop(array);
    drop(device);
    mock.forget();
}

#[test]
fn lent_memory_is_freed_after_the_streams_of_borrowers() {
    let mock = Mock::start();
    let device = open();
    let mut sum = 0;
    let array = device.fill(&numbers(1000)).unwrap();
    mock.borrow(array.cuda_address().unwrap(), 4000, &mut sum);
    // On another thread, where no context is current.
    std::thread::scope(|scope| scope.spawn(|| drop(array)).join().unwrap());
    assert_eq!(mock.count("mock_synchronised"), 1);
    let bytes = (7..1007u64).map(|x| x % 256 + x / 256).sum::<u64>();
    assert_eq!(sum, bytes);
    // Memory that was not lent is freed in the order of the stream.
    drop(device.fill(&numbers(1000)).unwrap());
    assert_eq!(mock.count("mock_synchronised"), 1);
    drop(device);
    assert_eq!(mock.count("mock_used"), 0);
}

#[test]
fn contexts_of_other_libraries_stay_current() {
    let mock = Mock::start();
    let mut other = 0u8;
    let other = (&raw mut other).cast::<c_void>();
    mock.make_current(other);
    let device = open();
    let array = device.fill(&numbers(1000)).unwrap();
    assert!(is_right(&*array, 1000));
    array.cuda_address().unwrap();
    drop(array);
    drop(device);
    assert_eq!(mock.count("mock_context"), other.addr());
}
