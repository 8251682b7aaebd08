//! The command line of Gradus: arguments become calls of the library, and results become text. The
//! program `gradus` is one call of [`main`], and so is the command of the Python package.

mod args;
mod arrow;
mod columns;
mod commands;
mod completion;
mod diagnostics;
mod json;
mod literal;
mod object;
mod output;
mod sequence;
mod stream;

use std::ffi::OsString;
use std::path::Path;
use std::time::Instant;

use clap::Parser;
use gradus::check::Runtime;
use gradus::error;

/// Runs the command that the arguments are, the name of the program first, and returns the exit
/// status.
///
/// For a process that does nothing else: it sets the hook for panics, and signals end the process.
pub fn main(arguments: impl IntoIterator<Item = OsString>, host: Host) -> u8 {
    diagnostics::remember_panics();
    let arguments: Vec<_> = arguments.into_iter().collect();
    match completion::answer(&arguments) {
        Ok(false) => {}
        Ok(true) => return 0,
        Err(error) => return diagnostics::report_usage(&error),
    }
    #[cfg(unix)]
    clean_up_on_signals();
    let args = match args::Args::try_parse_from(arguments) {
        Ok(args) => args,
        Err(error) => return diagnostics::report_usage(&error),
    };
    args.set_manners();
    #[cfg(unix)]
    report_files_cut_short(args.json);
    let begin = Instant::now();
    let status = match error::guarded(|| commands::run(&args, host)) {
        Ok(()) => 0,
        Err(failure) => diagnostics::report(failure, args.json),
    };
    output::tell_time("gradus", begin.elapsed());
    status
}

/// The parts of commands that the process has beside this library.
#[derive(Clone, Copy, Debug)]
pub struct Host {
    /// Finds the program of a name that `check --with` runs models in.
    pub runtime: FindRuntime,
    /// Serves `gradus mcp`.
    pub serve: Serve,
}

impl Host {
    /// A process without Python: both functions are errors that say what to do.
    pub const ALONE: Host = Host { runtime: no_runtime, serve: no_server };
}

/// Finds the runtime of a name.
pub type FindRuntime = fn(&str) -> gradus::Result<Box<dyn Runtime>>;

/// Answers by the Model Context Protocol until standard input ends: with models of a folder, for
/// tools that write into another, each for some seconds at most.
pub type Serve = fn(&Path, Option<&Path>, f64) -> gradus::Result<()>;

/// Serves nothing, as there is no Python that has the server.
fn no_server(_: &Path, _: Option<&Path>, _: f64) -> gradus::Result<()> {
    let message = "cannot serve from this program: the server is a part of the Python package; \
                   `pip install 'gradus[mcp]'` has it, and a command `gradus mcp` that starts it";
    Err(error::Error::new(error::Kind::Unsupported, message))
}

/// Finds no runtime, as there is no Python to run one.
///
/// # Errors
/// [`Kind::Unsupported`](error::Kind::Unsupported), with what to do.
fn no_runtime(name: &str) -> gradus::Result<Box<dyn Runtime>> {
    let message = format!(
        "cannot run {name} from this program; `python -m gradus check … --with {name}` can, with the Python packages \
         gradus and {}",
        if name == "paddle" { "paddlepaddle" } else { name }
    );
    Err(error::Error::new(error::Kind::Unsupported, message))
}

/// Removes unfinished files when a signal ends the process. A file that becomes larger than the
/// user's limit is an error of writing it, and no signal.
#[cfg(unix)]
fn clean_up_on_signals() {
    use signal_hook::consts::{
        SIGALRM, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGVTALRM, SIGXCPU, SIGXFSZ,
    };
    let ending = [SIGINT, SIGQUIT, SIGTERM, SIGXCPU, SIGALRM, SIGVTALRM, SIGUSR1, SIGUSR2];
    // `nohup` lets a process go on.
    let ending = ending.into_iter().chain((!is_ignored(SIGHUP)).then_some(SIGHUP));
    // Without these, the next writer removes them.
    let _ = signal_hook::flag::register(SIGXFSZ, std::sync::Arc::default());
    let Ok(mut signals) = signal_hook::iterator::Signals::new(ending) else { return };
    std::thread::spawn(move || {
        for signal in signals.forever() {
            gradus::files::abandon_unfinished(|| {
                let _ = signal_hook::low_level::emulate_default_handler(signal);
            });
        }
    });
}

/// Returns true if the process was started with a signal ignored.
#[cfg(unix)]
#[expect(unsafe_code, reason = "a call of the system that only reads")]
fn is_ignored(signal: i32) -> bool {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: no new action is given, and the old one is written into memory of that type, of which
    // zeros are a value.
    let old = unsafe {
        libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr());
        action.assume_init()
    };
    old.sa_sigaction == libc::SIG_IGN
}

/// Ends the process with an error when it reads beyond the end of a mapped file that another
/// process has cut short, which the system reports by SIGBUS. The next writer removes unfinished
/// files.
#[cfg(unix)]
#[expect(unsafe_code, reason = "a handler that runs within the signal")]
fn report_files_cut_short(json: bool) {
    let message = "cannot read: a mapped file was cut short while it was read";
    let text = diagnostics::text(&error::Error::new(error::Kind::Io, message), json) + "\n";
    let end = move || {
        let _ = rustix::io::write(rustix::stdio::stderr(), text.as_bytes());
        signal_hook::low_level::exit(diagnostics::WRONG_DATA.into());
    };
    // The handler of the standard library, which looks for stacks that overflow, is called before
    // ours and puts the default back: another thread that reads the file would end the process by
    // the signal. Stacks overflow by SIGSEGV on Linux.
    #[cfg(target_os = "linux")]
    // SAFETY: the default action runs no code of ours.
    unsafe {
        libc::signal(libc::SIGBUS, libc::SIG_DFL);
    }
    // SAFETY: the handler calls nothing but `write` and `_exit`, which are allowed within signals.
    let registered = unsafe { signal_hook::low_level::register(signal_hook::consts::SIGBUS, end) };
    // Without the handler, the signal ends the process.
    let _ = registered;
}
