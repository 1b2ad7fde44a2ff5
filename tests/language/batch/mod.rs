//! Generated code of many charts, compiled during the test and run in one process, and the interpreter beside it.
//!
//! A [`Batch`] is made of checked charts. Their code becomes the modules of a few programs below `target/tmp`, one for each
//! processor, together with [`driver`], which reads scripts and writes what it sees; the compiler is called directly, with
//! a chartc-core compiled once. [`interpreted`] gives the same text for the interpreter.

pub(crate) mod act;
#[path = "../../generated/src/answers.rs"]
mod answers;
#[allow(dead_code, reason = "the programs use what the tests do not")]
pub(crate) mod driver;
pub(crate) mod kin;
#[allow(unreachable_pub, reason = "another crate's file")]
#[path = "../../generated/src/random.rs"]
pub(crate) mod random;
mod silent;

use chartc::Checked;
use chartc::Compilation;
use chartc::emit::rust;
use chartc_core::expr::Value;
use chartc_core::interpreter::Interpreter;
use chartc_core::model::{Type, VariableKind};
use chartc_core::plan::Plan;
use driver::{HEAD, Script};
use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::fmt::Write as _;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use test_support::project;

/// The module of the `nth` chart of a batch: its name, as far as it can be part of one.
fn module(nth: usize, label: &str) -> String {
    let plain = label.to_ascii_lowercase().replace(|c: char| !c.is_ascii_alphanumeric(), "_");
    let words: Vec<&str> = plain.split('_').filter(|word| !word.is_empty()).collect();
    format!("m{nth}_{}", words.join("_"))
}

/// A chart with its code.
struct Member {
    label: String,
    module: String,
    code: String,
    params: Vec<(String, Type, bool)>,
}

/// Charts whose generated code is compiled together.
#[derive(Default)]
pub(crate) struct Batch {
    members: Vec<Member>,
}

/// The compiled programs of a batch.
pub(crate) struct Programs {
    /// By the label of a chart: its program.
    of: BTreeMap<String, PathBuf>,
    /// Charts whose code keeps no notes, because it needs no allocator.
    bare: Vec<String>,
}

/// A program that does not compile.
#[derive(Debug)]
pub(crate) struct Uncompiled {
    /// Charts that the compiler names.
    pub(crate) labels: Vec<String>,
    /// What it says, with a headline.
    pub(crate) said: String,
}

impl Batch {
    /// Adds a chart under a name of its own.
    ///
    /// # Errors
    /// No code can be generated for it: the findings.
    pub(crate) fn add(&mut self, label: &str, checked: &Checked) -> Result<(), String> {
        let code = rust::emit(checked).map_err(|found| {
            let all: Vec<String> =
                found.iter().map(|d| format!("{} {}", d.rule.code, d.message)).collect();
            all.join("; ")
        })?;
        let params = checked.chart().variables.iter();
        let params = params.filter(|row| matches!(row.kind, VariableKind::Param { .. }));
        let params = params.map(|row| (row.name.clone(), row.ty.clone(), row.default.is_none()));
        let (module, params) = (module(self.members.len(), label), params.collect());
        assert!(self.members.iter().all(|m| m.label != label), "two charts are called {label}");
        self.members.push(Member { label: label.to_owned(), module, code, params });
        Ok(())
    }

    /// How the code of each chart takes a step, as it says itself.
    pub(crate) fn shapes(&self) -> impl Iterator<Item = &str> {
        let lines = self.members.iter().flat_map(|member| member.code.lines().take(6));
        lines.filter_map(|line| line.strip_prefix("// Shape: "))
    }

    /// Compiles the charts, in a folder of this name.
    ///
    /// # Panics
    /// Some code does not compile without warnings: which chart's, and what the compiler says.
    pub(crate) fn build(self, name: &str) -> Programs {
        self.try_build(name).unwrap_or_else(|failures| {
            let said: Vec<String> = failures.into_iter().map(|f| f.said).collect();
            panic!("{}", said.concat())
        })
    }

    /// As [`Self::build`].
    ///
    /// # Errors
    /// Code that does not compile without warnings.
    pub(crate) fn try_build(self, name: &str) -> Result<Programs, Vec<Uncompiled>> {
        let core = core();
        let shards = std::thread::available_parallelism().map_or(1, usize::from);
        let mut parts: Vec<Vec<&Member>> = vec![Vec::new(); shards.min(self.members.len())];
        let mut sizes = vec![0; parts.len()];
        for member in &self.members {
            let Some(least) = (0..sizes.len()).min_by_key(|i| sizes[*i]) else { break };
            sizes[least] += member.code.len();
            parts[least].push(member);
        }
        let programs: Vec<Result<PathBuf, Uncompiled>> = std::thread::scope(|scope| {
            let compile = |(nth, part)| {
                scope.spawn(move || compile(&folder(&format!("{name}/{nth}")), core, part))
            };
            let running: Vec<_> =
                parts.iter().map(Vec::as_slice).enumerate().map(compile).collect();
            running.into_iter().map(|r| r.join().expect("compiling does not panic")).collect()
        });
        if programs.iter().any(Result::is_err) {
            return Err(programs.into_iter().filter_map(Result::err).collect());
        }
        let mut of = BTreeMap::new();
        for (part, program) in parts.iter().zip(programs.into_iter().flatten()) {
            of.extend(part.iter().map(|member| (member.label.clone(), program.clone())));
        }
        let bare = self.members.iter().filter(|m| m.code.contains("chartc_core::when_alloc!"));
        Ok(Programs { of, bare: bare.map(|m| m.label.clone()).collect() })
    }
}

/// Where a test puts what it makes.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("batch").join(name);
    fs::create_dir_all(&folder).expect("a folder for what is made");
    folder
}

fn rustc() -> Command {
    let mut command = Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()));
    command.args(["--edition", "2024"]);
    command
}

/// Runs the compiler and gives what it says if it fails.
fn succeed(command: &mut Command) -> Result<(), String> {
    let done = command.output().expect("the compiler starts");
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    if done.status.success() { Ok(()) } else { Err(said) }
}

/// chartc-core as it is now, compiled once for all batches: for the same sources and the same compiler there is one.
fn core() -> &'static Path {
    static CORE: OnceLock<PathBuf> = OnceLock::new();
    CORE.get_or_init(compiled_core)
}

fn compiled_core() -> PathBuf {
    let root = project::root().join("runtime/core/src");
    let mut hasher = DefaultHasher::new();
    let version = rustc().arg("-vV").output().expect("the compiler starts");
    version.stdout.hash(&mut hasher);
    let mut folders = vec![root.clone()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("the sources can be read") {
            let path = entry.expect("as before").path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    for file in files {
        (&file, fs::read(&file).expect("a source")).hash(&mut hasher);
    }
    let folder = folder("core");
    let library = folder.join(format!("libchartc_core-{:016x}.rlib", hasher.finish()));
    if !library.exists() {
        // Tests run beside each other: whoever is first moves a whole file there.
        let own = folder.join(format!("libchartc_core-{}.rlib", std::process::id()));
        let mut command = rustc();
        command.args(["--crate-name", "chartc_core", "--crate-type", "rlib"]);
        command.args(["--cfg", "feature=\"alloc\"", "-o"]).arg(&own).arg(root.join("lib.rs"));
        succeed(&mut command)
            .unwrap_or_else(|said| panic!("chartc-core does not compile:\n{said}"));
        fs::rename(&own, &library).expect("a file can be moved within a folder");
    }
    library
}

/// Compiles a program of these charts.
fn compile(folder: &Path, core: &Path, members: &[&Member]) -> Result<PathBuf, Uncompiled> {
    let driver = project::root().join("tests/language/batch/driver/mod.rs");
    let driver = driver.to_string_lossy();
    let mut main = format!(
        "#![allow(dead_code, reason = \"hosts use what they need\")]\n#[path = {driver:?}]\nmod driver;\n"
    );
    let (mut arms, mut silent) = (String::new(), String::new());
    for member in members {
        let file = format!("{}.rs", member.module);
        fs::write(folder.join(&file), &member.code).expect("the folder can be written");
        let _ = writeln!(main, "#[path = {file:?}]\nmod {};", member.module);
        let _ = writeln!(arms, "{:?} => boxed({}),", member.label, made(member));
        let (unheard, items) = silent::unheard(member);
        let _ = writeln!(silent, "{:?} => {unheard},", member.label);
        main += &items;
    }
    let _ = write!(
        main,
        "{}fn boxed<M: chartc_core::host::Machine + 'static, E: std::fmt::Display>(made: Result<M, E>) \
         -> driver::Made<'static> {{\n\
         match made {{ Ok(machine) => Ok(Box::new(machine)), Err(why) => Err(why.to_string()) }}\n}}\n\
         fn main() {{\ndriver::serve(&|script, host| Some(match script.chart.as_str() {{\n{arms}\
         _ => return None,\n}}), &|script, host| Some(match script.chart.as_str() {{\n{silent}\
         _ => return None,\n}}));\n}}\n",
        silent::SHARED
    );
    let source = folder.join("main.rs");
    fs::write(&source, main).expect("the folder can be written");
    let program = folder.join("program");
    let mut command = rustc();
    command.args(["-D", "warnings", "-C", "debuginfo=0", "--extern"]);
    command.arg(format!("chartc_core={}", core.display())).arg("-o").arg(&program).arg(&source);
    succeed(&mut command).map(|()| program).map_err(|said| {
        let named = |m: &&&Member| said.contains(&format!("{}.rs:", m.module));
        let labels: Vec<String> = members.iter().filter(named).map(|m| m.label.clone()).collect();
        let said: String = said.chars().take(6000).collect();
        let which = labels.join(", ");
        let said = format!("generated code does not compile without warnings: {which}\n{said}\n");
        Uncompiled { labels, said }
    })
}

/// The expression that makes a machine of a chart.
fn made(member: &Member) -> String {
    let module = &member.module;
    let needed = member.params.iter().filter(|(_, _, needed)| *needed).map(|(name, ty, _)| {
        let ty = if *ty == Type::Text { "::<String>" } else { "" };
        format!("driver::needed{ty}(script, {name:?})")
    });
    let needed = needed.collect::<Vec<_>>().join(", ");
    format!("{module}::Machine::new({module}::Params::new({needed}), {module}::ByName(host))")
}

impl Programs {
    /// Runs every script in the generated code of its chart. What came of them, in their order.
    ///
    /// # Panics
    /// A program does not start, or ends without having run them all.
    pub(crate) fn run(&self, name: &str, scripts: &[Script]) -> Vec<String> {
        let mut by_program: BTreeMap<&Path, Vec<usize>> = BTreeMap::new();
        for (i, script) in scripts.iter().enumerate() {
            by_program.entry(&self.of[&script.chart]).or_default().push(i);
        }
        let mut out = vec![String::new(); scripts.len()];
        let runs: Vec<(Vec<usize>, Vec<String>)> = std::thread::scope(|scope| {
            let run = |(program, mine): (&'_ Path, Vec<usize>)| {
                let program = program.to_owned();
                let text: String = mine.iter().map(|i| driver::write(&scripts[*i])).collect();
                scope.spawn(move || (mine, run(&program, name, &text)))
            };
            let running: Vec<_> = by_program.into_iter().map(run).collect();
            running.into_iter().map(|r| r.join().expect("the program runs")).collect()
        });
        for (mine, texts) in runs {
            assert_eq!(mine.len(), texts.len(), "the program ended early");
            mine.into_iter().zip(texts).for_each(|(i, text)| out[i] = text);
        }
        out
    }

    /// Compares what came of the scripts in the interpreter and in the generated code: for each script where they differ,
    /// its number and the first difference.
    pub(crate) fn differences(
        &self,
        name: &str,
        scripts: &[Script],
        interpreted: &[String],
    ) -> Vec<(usize, String)> {
        let generated = self.run(name, scripts);
        let mut out = Vec::new();
        for (i, (a, b)) in interpreted.iter().zip(&generated).enumerate() {
            let bare = self.bare.contains(&scripts[i].chart);
            if let Some(fault) = difference(a, b, bare) {
                out.push((i, fault));
            }
        }
        out
    }
}

fn run(program: &Path, name: &str, text: &str) -> Vec<String> {
    let input = program.with_file_name(format!("{name}.txt"));
    fs::write(&input, text).expect("the folder can be written");
    let input = fs::File::open(&input).expect("it was just written");
    let done =
        Command::new(program).stdin(Stdio::from(input)).output().expect("the program starts");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{} ended with {}:\n{said}", program.display(), done.status);
    let shown = String::from_utf8(done.stdout).expect("the driver writes text");
    let mut texts: Vec<String> = Vec::new();
    for line in shown.lines() {
        match texts.last_mut() {
            _ if line.starts_with(HEAD) => texts.push(String::new()),
            Some(text) => _ = writeln!(text, "{line}"),
            None => panic!("{} says {line}", program.display()),
        }
    }
    texts
}

/// The first line in which two texts differ, with the step that it belongs to and what was said of it before.
pub(crate) fn difference(interpreted: &str, generated: &str, bare: bool) -> Option<String> {
    // Code that needs no allocator keeps no notes.
    let shown = |line: &&str| !(bare && line.starts_with("notes: "));
    let (mut a, mut b) = (interpreted.lines().filter(shown), generated.lines().filter(shown));
    let mut before: Vec<&str> = Vec::new();
    loop {
        match (a.next(), b.next()) {
            (None, None) => return None,
            (Some(one), Some(other)) if one == other => {
                if one.starts_with("> ") {
                    before.retain(|line| line.starts_with("> "));
                }
                before.push(one);
            }
            (one, other) => {
                let (one, other) = (one.unwrap_or("nothing"), other.unwrap_or("nothing"));
                let before = before.join("\n");
                return Some(format!("{before}\ninterpreted: {one}\ngenerated:   {other}"));
            }
        }
    }
}

/// What comes of a script in the interpreter.
pub(crate) fn interpreted(plan: &Plan, script: &Script) -> String {
    driver::run(script, |host| {
        let made = Interpreter::new(plan, host, script.params.clone());
        made.map(|machine| Box::new(machine) as _).map_err(|why| why.to_string())
    })
}

/// The charts of a compilation, none of which has errors.
pub(crate) fn sound<'c>(name: &str, done: &'c Compilation) -> &'c [Checked] {
    let shown = chartc::report::short(&done.diagnostics, &done.sources);
    assert!(!done.charts.is_empty() && done.charts.len() == done.lowered.len(), "{name}:\n{shown}");
    &done.charts
}

#[test]
fn scripts_are_read_as_written() {
    use chartc_core::arena::{ChoiceId, EventId, StateId, StepId};
    use chartc_core::machine::{Element, Input, Outcome, StepKey};
    use driver::Step;
    let text = |text: &str| Value::Text(text.to_owned());
    let map = [("a b".to_owned(), Value::None), (String::new(), Value::List(vec![text("]")]))];
    let all = vec![
        text("été\n% 1;"),
        text(""),
        Value::Int(-4),
        Value::Float(-0.5),
        Value::Duration(7),
        Value::Bool(true),
        Value::Map(map.into_iter().collect()),
        Value::List(Vec::new()),
    ];
    let key = StepKey { step: StepId(1), leaf: StateId(2), event: 3, attempt: 4, element: None };
    let script = Script {
        chart: "one two".to_owned(),
        params: vec![("p".to_owned(), all[6].clone())],
        answers: vec![("f".to_owned(), all.clone()), ("g".to_owned(), Vec::new())],
        steps: vec![
            Step::Give(0, Input::Start),
            Step::Set("x y".to_owned(), all[0].clone()),
            Step::Give(5, Input::Event(EventId(9), all.clone())),
            Step::Give(u64::MAX, Input::Answer(key, Outcome::Choice(ChoiceId(1), all.clone()))),
            Step::Give(6, Input::Answer(key, Outcome::Failed(Vec::new()))),
            Step::Give(6, Input::Answer(key, Outcome::Doubt(Vec::new()))),
            Step::Give(6, Input::Turn),
            Step::Give(6, Input::Unmade(StepKey { element: Some(Element::at(5)), ..key })),
            Step::Tell(vec![key, key], 7, Input::Answer(key, Outcome::Doubt(Vec::new()))),
        ],
        kin: true,
    };
    let two = [script.clone(), Script { chart: "other".to_owned(), ..script }];
    let written: String = two.iter().map(driver::write).collect();
    assert_eq!(driver::read(&written).expect("what was written"), two);
}
