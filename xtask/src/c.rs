//! The C library: installed into a folder, and used from there by programs of C and C++.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::python::{environment, program_in};
use crate::run::{Result, cargo, command, create, exists, remove, root, run, show, target};
use crate::tally::Tally;

/// The version of the interface, by which programs find a library that fits.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The part of the version that a shared library shares with those it stands for.
const ABI: &str = "0";

const CMAKE: &str = "cmake==4.1.2";

/// Builds the library by a profile of Cargo and installs it: `include/gradus.h`, `lib/libgradus.so`,
/// `lib/libgradus.a`, and what `pkg-config` and CMake find it by.
pub(crate) fn install(prefix: &Path, profile: &str) -> Result<()> {
    let mut build = cargo();
    build.args(["rustc", "-p", "gradus-c", "--lib", "--quiet", "--profile", profile]);
    build.args(["--", "--print", "native-static-libs"]);
    let output = show(&mut build).stderr(Stdio::piped()).output();
    let output = output.map_err(|error| format!("cargo rustc: {error}"))?;
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        return Err(format!("cargo rustc -p gradus-c: {}\n{told}", output.status));
    }
    let folder = target(if profile == "dev" { "debug" } else { profile })?;
    let kept = folder.join("native-static-libs.txt");
    let found = told.lines().find_map(|line| line.split_once("native-static-libs: ").map(|(_, all)| all));
    // The compiler tells them only when it compiles.
    let native = match found {
        Some(all) => {
            write(&kept, all)?;
            all.to_owned()
        }
        None => std::fs::read_to_string(&kept).map_err(|error| format!("{}: {error}", kept.display()))?,
    };
    let (include, lib) = (prefix.join("include"), prefix.join("lib"));
    let (pkgconfig, cmake) = (lib.join("pkgconfig"), lib.join("cmake/gradus"));
    [&include, &pkgconfig, &cmake].into_iter().try_for_each(|folder| create(folder))?;
    copy(&root().join("crates/c/include/gradus.h"), &include.join("gradus.h"))?;
    copy(&folder.join("libgradus_c.a"), &lib.join("libgradus.a"))?;
    let name = format!("libgradus.so.{VERSION}");
    copy(&folder.join("libgradus_c.so"), &lib.join(&name))?;
    for link in [format!("libgradus.so.{ABI}"), "libgradus.so".to_owned()] {
        let link = lib.join(link);
        remove(&link)?;
        std::os::unix::fs::symlink(&name, &link).map_err(|error| format!("{}: {error}", link.display()))?;
    }
    let prefix = prefix.canonicalize().map_err(|error| format!("{}: {error}", prefix.display()))?;
    write(&pkgconfig.join("gradus.pc"), &pkg_config(&prefix, &native))?;
    write(&cmake.join("gradus-config.cmake"), &cmake_config(&native))?;
    write(&cmake.join("gradus-config-version.cmake"), &cmake_version())
}

fn pkg_config(prefix: &Path, native: &str) -> String {
    format!(
        "prefix={}\n\
         Name: gradus\n\
         Description: Shapes, values and sequences of tensor programs, exactly\n\
         Version: {VERSION}\n\
         Cflags: -I${{prefix}}/include\n\
         Libs: -L${{prefix}}/lib -lgradus\n\
         Libs.private: {native}\n",
        prefix.display()
    )
}

/// Targets `gradus::gradus`, the shared library, and `gradus::static`. The folder may be moved.
fn cmake_config(native: &str) -> String {
    let native = native.split_whitespace().collect::<Vec<_>>().join(";");
    format!(
        "get_filename_component(_gradus \"${{CMAKE_CURRENT_LIST_DIR}}/../../..\" ABSOLUTE)\n\
         if(NOT TARGET gradus::gradus)\n\
         \x20 add_library(gradus::gradus SHARED IMPORTED)\n\
         \x20 set_target_properties(gradus::gradus PROPERTIES\n\
         \x20   IMPORTED_LOCATION \"${{_gradus}}/lib/libgradus.so.{VERSION}\"\n\
         \x20   IMPORTED_SONAME \"libgradus.so.{ABI}\"\n\
         \x20   INTERFACE_INCLUDE_DIRECTORIES \"${{_gradus}}/include\")\n\
         \x20 add_library(gradus::static STATIC IMPORTED)\n\
         \x20 set_target_properties(gradus::static PROPERTIES\n\
         \x20   IMPORTED_LOCATION \"${{_gradus}}/lib/libgradus.a\"\n\
         \x20   INTERFACE_INCLUDE_DIRECTORIES \"${{_gradus}}/include\"\n\
         \x20   INTERFACE_LINK_LIBRARIES \"{native}\")\n\
         endif()\n"
    )
}

/// Versions of one first number fit, as the header changes with it; before 1.0, of the second one.
fn cmake_version() -> String {
    let fits = VERSION.rsplit_once('.').map_or(VERSION, |(fits, _)| fits);
    format!(
        "set(PACKAGE_VERSION \"{VERSION}\")\n\
         if(PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION OR PACKAGE_FIND_VERSION VERSION_LESS \"{fits}\")\n\
         \x20 set(PACKAGE_VERSION_COMPATIBLE FALSE)\n\
         else()\n\
         \x20 set(PACKAGE_VERSION_COMPATIBLE TRUE)\n\
         endif()\n"
    )
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    std::fs::copy(from, to)
        .map(drop)
        .map_err(|error| format!("{} to {}: {error}", from.display(), to.display()))
}

fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

/// The header is up to date, and programs that use the installed library end well: linked both ways
/// by a compiler with what `pkg-config` says, built by CMake, and under valgrind.
pub(crate) fn test(tally: &mut Tally) -> Result<()> {
    tally.run(cargo().args(["test", "--quiet", "-p", "gradus-c", "--test", "header"]));
    if !cfg!(target_os = "linux") {
        tally.skip("the library is installed on Linux alone");
        return Ok(());
    }
    let folder = target("c")?;
    remove(&folder)?;
    let prefix = folder.join("prefix");
    create(&prefix)?;
    install(&prefix, "dev")?;
    let programs = root().join("crates/c/tests/programs");
    let shared = format!("-Wl,-rpath,{}", prefix.join("lib").display());
    let builds: [(&str, &str, &str, &[&str]); 3] = [
        ("cc", "use.c", "shared", &["-std=c11", "-pedantic", &shared]),
        ("cc", "use.c", "static", &["-std=c11", "-pedantic"]),
        ("c++", "use.cpp", "cpp", &["-std=c++17", &shared]),
    ];
    for (compiler, source, name, options) in builds {
        if !exists(compiler) {
            tally.skip("no C++ compiler");
            continue;
        }
        let program = folder.join(name);
        let mut build = command(compiler);
        build.args(["-Wall", "-Wextra", "-Werror", "-D_POSIX_C_SOURCE=200809L", "-pthread"]).args(options);
        build.arg(programs.join(source)).arg("-o").arg(&program);
        run(build.args(flags(&prefix, name == "static")?))?;
        tally.run(&mut of_examples(command(&program), &folder));
        if name == "shared" {
            if exists("valgrind") {
                let mut valgrind = command("valgrind");
                valgrind.args(["--quiet", "--error-exitcode=9", "--leak-check=full"]);
                valgrind
                    .arg("--show-leak-kinds=definite")
                    .arg("--errors-for-leak-kinds=definite")
                    .arg(&program);
                tally.run(&mut of_examples(valgrind, &folder));
            } else {
                tally.skip("no valgrind");
            }
        }
    }
    of_page(tally, &prefix, &folder)?;
    by_cmake(tally, &prefix, &folder)
}

/// The program of the page about C prints what the page shows.
fn of_page(tally: &mut Tally, prefix: &Path, folder: &Path) -> Result<()> {
    let page = root().join("docs/how-to/c.md");
    let text = std::fs::read_to_string(&page).map_err(|error| format!("{}: {error}", page.display()))?;
    let block = |begin: &str| {
        let found = text.split_once(begin).and_then(|(_, rest)| rest.split_once("```"));
        found.map(|(block, _)| block).ok_or_else(|| format!("{}: no {begin:?}", page.display()))
    };
    let (source, program) = (folder.join("shapes.c"), folder.join("shapes"));
    write(&source, block("```c\n")?)?;
    let mut build = command("cc");
    build.args(["-std=c11", "-Wall", "-Wextra", "-Werror"]).arg(&source).arg("-o").arg(&program);
    run(build.arg(format!("-Wl,-rpath,{}", prefix.join("lib").display())).args(flags(prefix, false)?))?;
    let output = show(command(&program).arg("examples/heads.onnx")).output();
    let output = output.map_err(|error| format!("{}: {error}", program.display()))?;
    let printed = String::from_utf8_lossy(&output.stdout);
    if output.status.success() && !printed.is_empty() && text.contains(&*printed) {
        tally.passed += 1;
        return Ok(());
    }
    Err(format!("{}: its program does not print what it shows: {output:?}", page.display()))
}

/// Options of a compiler for the library; by `pkg-config` where there is one.
fn flags(prefix: &Path, is_static: bool) -> Result<Vec<String>> {
    let file = prefix.join("lib/pkgconfig/gradus.pc");
    let text = std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    let mut all = if exists("pkg-config") {
        let mut ask = command("pkg-config");
        ask.env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig")).args(["--cflags", "--libs", "gradus"]);
        let output = show(&mut ask).output().map_err(|error| format!("pkg-config: {error}"))?;
        if !output.status.success() {
            return Err(format!("pkg-config: {}", String::from_utf8_lossy(&output.stderr)));
        }
        String::from_utf8_lossy(&output.stdout).into_owned()
    } else {
        format!("-I{0}/include -L{0}/lib -lgradus", prefix.display())
    };
    if is_static {
        let private = text.lines().find_map(|line| line.strip_prefix("Libs.private: ")).unwrap_or_default();
        all = all.replace("-lgradus", "-l:libgradus.a") + " " + private;
    }
    Ok(all.split_whitespace().map(str::to_owned).collect())
}

/// A program with the folder of the examples, and a folder that it may write to.
fn of_examples(mut program: Command, folder: &Path) -> Command {
    program.arg(root().join("examples")).arg(folder);
    program
}

/// Finds the library by CMake, and builds and runs both programs.
fn by_cmake(tally: &mut Tally, prefix: &Path, folder: &Path) -> Result<()> {
    environment("cmake", &[CMAKE])?;
    let cmake = || -> Result<Command> { Ok(command(program_in(&target("cmake")?, "cmake"))) };
    let build: PathBuf = folder.join("cmake");
    let mut configure = cmake()?;
    configure.arg("-S").arg(root().join("crates/c/tests/programs")).arg("-B").arg(&build);
    configure.arg(format!("-DCMAKE_PREFIX_PATH={}", prefix.display()));
    run(&mut configure)?;
    run(cmake()?.arg("--build").arg(&build))?;
    for name in ["use_shared", "use_static"] {
        tally.run(&mut of_examples(command(build.join(name)), folder));
    }
    Ok(())
}
