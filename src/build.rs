//! Turns a chart into a Rust file in `OUT_DIR`, for build scripts.
//!
//! ```no_run
//! // All of `main` in build.rs.
//! chartc::build::compile("chart/builder.chart");
//! ```
//!
//! The crate includes the file with `chartc_core::include_chart!(pub mod builder);`. At run time it needs only chartc-core.

#![allow(
    clippy::disallowed_methods,
    reason = "a build script reads charts and the environment, writes code and ends the process"
)]

use crate::disk::Disk;
use crate::report;
use chartc_compiler::compile::{Compilation, check};
use chartc_compiler::emit::rust;
use chartc_compiler::front::load::Loader;
use chartc_compiler::rules::NAME_CLASH;
use chartc_compiler::syntax::diagnostic::{Diagnostic, Severity, Stage};
use chartc_core::visible;
use std::path::{Path, PathBuf};

/// Generates `$OUT_DIR/NAME.rs` from the chart file `path`, whose name is `NAME`. `path` is relative to the package. Cargo runs the
/// build script again when the chart or a file that it imports changes.
///
/// Imports must lie below a root: the package's folder or, if the chart lies outside it, the nearest folder with a `chartc.toml` or
/// a `.git`, else the chart's own folder. [`compile_below`] sets another root.
///
/// Warnings appear as warnings of cargo. Errors go to standard error and end the build script with status 1.
pub fn compile(path: &str) {
    end_if_wrong(try_compile(path, None));
}

/// As [`compile`], with `root` as the folder that all imports must lie below. `root` is relative to the package.
pub fn compile_below(root: &str, path: &str) {
    end_if_wrong(try_compile(path, Some(Path::new(root))));
}

fn end_if_wrong(outcome: Result<(), String>) {
    if let Err(why) = outcome {
        eprint!("{why}");
        std::process::exit(1);
    }
}

fn try_compile(path: &str, root: Option<&Path>) -> Result<(), String> {
    let of_build = |name: &str| {
        std::env::var_os(name)
            .ok_or_else(|| format!("{name} is not set: `chartc::build` is for build scripts\n"))
    };
    let folder = of_build("OUT_DIR")?;
    let package = PathBuf::from(of_build("CARGO_MANIFEST_DIR")?);
    let disk = Disk::for_package(package, root).map_err(|why| format!("{why}\n"))?;
    let made = generate(path, &disk);
    // One line on standard output is one instruction to cargo: a file name with a line end in it could give others.
    for file in made.files.iter().filter(|file| !file.contains(['\n', '\r'])) {
        println!("cargo::rerun-if-changed={file}");
    }
    for warning in &made.warnings {
        println!("cargo::warning={warning}");
    }
    let name = Path::new(path).file_stem().unwrap_or_default();
    let target = Path::new(&folder).join(name).with_extension("rs");
    std::fs::write(&target, made.code?)
        .map_err(|why| format!("{} cannot be written: {why}\n", target.display()))
}

/// The result of [`generate`].
#[derive(Debug)]
pub struct Generated {
    /// The Rust source, or the errors: each is a line `file:line:column: error[C0102] message`, followed by its help, if any.
    pub code: Result<String, String>,
    /// Warnings, each on one line.
    pub warnings: Vec<String>,
    /// The names of all files that were read, in the order in which they were loaded.
    pub files: Vec<String>,
}

/// Generates the Rust source for the charts in a file: the items of a single chart, or a module for each of several charts.
///
/// ```
/// use chartc::load::Memory;
///
/// let text = "chart Door {\n  event open\n  initial closed\n  state closed { on open -> opened }\n  final opened\n}\n";
/// let generated = chartc::build::generate("door.chart", &Memory::of("door.chart", text));
/// assert!(generated.code.is_ok_and(|rust| rust.contains("pub enum State")));
/// ```
pub fn generate(path: &str, loader: &dyn Loader) -> Generated {
    let checked = check(&[path.to_owned()], loader);
    let files = checked.sources.iter().map(|(_, source)| source.name.clone()).collect();
    let shown = |found: &Diagnostic| line(found, &checked);
    let of = |severity| checked.diagnostics.iter().filter(move |d| d.severity == severity);
    // Errors about behaviour do not prevent code. Any other error drops its chart, so that fewer charts are left than were lowered.
    let whole = !checked.charts.is_empty() && checked.charts.len() == checked.lowered.len();
    // `rust::emit` reports clashes of names in Rust as errors: they would appear twice.
    let mut warnings: Vec<&Diagnostic> =
        of(Severity::Warning).filter(|d| d.rule.code != NAME_CLASH.code).collect();
    let mut errors = String::new();
    for found in of(Severity::Error) {
        if !whole {
            errors.push_str(&shown(found));
        } else if found.stage == Stage::Behaviour {
            warnings.push(found);
        }
    }
    let warnings = warnings.into_iter().map(|d| shown(d).trim_end().replace("\n ", ";")).collect();
    let code = match checked.charts.as_slice() {
        _ if !errors.is_empty() => Err(errors),
        [] => Err(format!("{}: there is no chart in it\n", visible::line(path))),
        [chart] => rust::emit(chart).map_err(|found| found.iter().map(shown).collect()),
        charts => rust::emit_modules(charts).map_err(|found| found.iter().map(shown).collect()),
    };
    Generated { code, warnings, files }
}

/// Formats a finding on a line `file:line:column: …`, with its help on the next one.
fn line(found: &Diagnostic, checked: &Compilation) -> String {
    let mut text = report::short(std::slice::from_ref(found), &checked.sources);
    if let Some(help) = &found.help {
        text.push_str(&format!("  help: {}\n", visible::text(help)));
    }
    text
}
