//! Input that is meant to hurt: a message, an exit code, little time and little memory; never a panic.

#[cfg(feature = "run")]
mod shown;
#[cfg(target_os = "linux")]
mod threads;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use test_support::hostile::both;
use test_support::hostile::cases::{Case, all, write};

fn folder(name: &str) -> PathBuf {
    let name: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("hostile-{name}"))
}

/// `chartc` with at most 20 seconds of processor time and, where the system can tell, 420 MB of address space, and 20 MB for the code of
/// real models.
fn chartc(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("sh");
    let space = if cfg!(feature = "providers") { 440_000 } else { 420_000 };
    let limits =
        if cfg!(target_os = "linux") { format!("ulimit -v {space}; ") } else { String::new() };
    command
        .args(["-c", &format!("{limits}ulimit -t 20; exec \"$@\""), "sh"])
        .arg(env!("CARGO_BIN_EXE_chartc"))
        .args(arguments)
        .current_dir(folder)
        .env("COLUMNS", "100")
        .stdin(Stdio::null());
    command
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    chartc(folder, arguments).output().expect("sh starts")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Every fault of the cases, found by as many threads as there are processors.
fn faults(cases: &[Case], find: impl Fn(&Case, &Path) -> Vec<String> + Sync) -> Vec<String> {
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    let next = std::sync::Mutex::new(cases.iter());
    let work = || {
        let mut found = Vec::new();
        loop {
            let Some(case) = next.lock().expect("no thread panics with it").next() else {
                return found;
            };
            let faults = find(case, &folder(case.name));
            found.extend(faults.into_iter().map(|fault| format!("{}: {fault}", case.name)));
        }
    };
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        all.into_iter().flat_map(|t| t.join().expect("it does not panic")).collect()
    })
}

#[test]
fn every_hostile_file_has_its_message() {
    let faults = faults(&both(), |case, folder| {
        write(case, folder);
        let mut faults = Vec::new();
        let small = case.files.iter().all(|(_, text)| text.len() < 60_000);
        // Drawing takes its time, and is the same for all files of very long lines.
        let drawn = small || case.name.starts_with("5 MB");
        for format in ["short", "human"].into_iter().filter(|f| drawn || *f == "short") {
            let output = run(folder, &["check", "--format", format, case.given]);
            let text = said(&output);
            let first = text.lines().next().unwrap_or_default();
            if output.status.code() != Some(case.exit) {
                faults.push(format!("ends with {}: {:.300}", output.status, text));
            }
            if format == "short"
                && (first.is_empty() != case.says.is_empty() || !first.contains(case.says))
            {
                faults.push(format!("begins with {first:.300}"));
            }
            let (lines, bytes) = (text.lines().count(), text.len());
            if lines > 2_000 || bytes > 200_000 {
                faults.push(format!("says {lines} lines, {bytes} bytes as {format}"));
            }
        }
        if folder.exists() {
            std::fs::remove_dir_all(folder).expect("the folder is the case's own");
        }
        faults
    });
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn no_command_breaks_on_a_hostile_file() {
    let mut cases = all();
    cases.retain(|c| c.files.iter().all(|(_, text)| text.len() < 60_000) && c.given != ".");
    for case in &mut cases {
        case.files.push(("events.json", b"[{\"event\": \"go\"}]".to_vec()));
    }
    let faults = faults(&cases, |case, at| {
        let at = &at.with_extension("all");
        write(case, at);
        let commands: [&[&str]; 6] = [
            &["graph"],
            &["build"],
            &["convert"],
            &["fmt", "--check"],
            &["run", "--llm", "first", "--turns", "3"],
            &["simulate", "--events", "events.json"],
        ];
        let mut faults = Vec::new();
        for command in commands {
            let output = run(at, &[command, &[case.given]].concat());
            if !matches!(output.status.code(), Some(0..=2 | 4)) {
                faults.push(format!(
                    "{} ends with {}: {:.300}",
                    command[0],
                    output.status,
                    said(&output)
                ));
            }
        }
        std::fs::remove_dir_all(at).expect("the folder is the case's own");
        faults
    });
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn calls_are_counted_however_many_states_there_are() {
    let at = &folder("cost");
    for count in [20, 200, 2_000] {
        let text = without_calls(count).into();
        let files = vec![("a.chart", text)];
        write(&Case { name: "", given: "", files, exit: 0, says: "" }, at);
        let output = run(at, &["check", "--cost", "a.chart"]);
        assert_eq!(output.status.code(), Some(0), "{count}: {:.300}", said(&output));
    }
}

#[test]
#[cfg(unix)]
fn links_in_a_circle_end() {
    let at = &folder("links");
    let sound = "chart A {\n  initial a\n  final a\n}\n";
    write(
        &Case { name: "", given: "", files: vec![("ok.chart", sound.into())], exit: 0, says: "" },
        at,
    );
    std::os::unix::fs::symlink(".", at.join("again")).expect("the folder can be written");
    std::os::unix::fs::symlink("self.chart", at.join("self.chart")).expect("as before");
    let output = run(at, &["check", "--format", "short", "."]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let output = run(at, &["check", "--format", "short", "self.chart"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("`self.chart` cannot be read"), "{}", said(&output));
}

#[test]
fn what_a_run_is_given_may_be_anything() {
    let at = &folder("given");
    let text = "chart A {\n  event go(n: Int)\n  param p: Int = 1\n  input i: Int = 1\n  initial a\n  state a {\n    ask q on turn else stay { prompt \"{options}\" }\n    may x \"x\" -> b\n    may y \"y\" -> b\n    on go -> b\n  }\n  final b\n}\n";
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let mut files = vec![("a.chart", text.as_bytes().to_vec()), ("empty", Vec::new())];
    let contents = [
        "\0\u{1}",
        "[",
        "{\"event\":",
        "[[[]]]",
        "{\"event\": 1}\n{\"event\": null}",
        "{\"event\": \"go\", \"data\": {\"n\": \"x\"}}",
        "{\"event\": \"go\", \"data\": {\"n\": 1e999}}",
        "{\"event\": \"none\"}",
        "{\"event\": \"turn\", \"after_ms\": 18446744073709551615}\n{\"event\": \"turn\", \"after_ms\": 18446744073709551615}",
        "answers: {q: [",
        "answers: *x",
        &deep,
    ];
    let names: Vec<String> = (0..contents.len()).map(|i| format!("f{i}")).collect();
    let named = names
        .iter()
        .map(String::as_str)
        .zip(contents)
        .map(|(n, c)| (n.to_owned(), c.as_bytes().to_vec()));
    write(&Case { name: "", given: "", files: std::mem::take(&mut files), exit: 0, says: "" }, at);
    for (name, content) in named {
        std::fs::write(at.join(name), content).expect("the folder can be written");
    }
    std::fs::write(at.join("bytes"), [0xff, 0xfe, 0]).expect("as before");
    let mut faults = Vec::new();
    let mut check = |arguments: &[&str]| {
        let output = run(at, arguments);
        let text = said(&output);
        if !matches!(output.status.code(), Some(0..=2))
            || text.trim().is_empty()
            || text.len() > 100_000
        {
            faults.push(format!("{:.100}: {}: {:.300}", arguments.join(" "), output.status, text));
        }
    };
    for file in names.iter().map(String::as_str).chain(["bytes", "empty", "missing", "."]) {
        check(&["run", "a.chart", "--llm", "first", "--events", file]);
        check(&["run", "a.chart", "--llm", &format!("script:{file}")]);
        check(&["run", "a.chart", "--llm", "first", "--functions", file]);
        check(&["simulate", "a.chart", "--events", file]);
    }
    for given in ["", "=", "p", "p=", "p=x", "q=1", "p=1e999", "p=[", "=1", "p=\u{1F600}"] {
        check(&["run", "a.chart", "--llm", "first", "--param", given]);
        check(&["run", "a.chart", "--llm", "first", "--input", given]);
    }
    check(&["run", "a.chart", "--llm", "first", "--input", "i=1", "--input", "i=2"]);
    check(&["run", "a.chart", "--llm", "first", "--trace", "."]);
    check(&["run", "a.chart", "--llm", "first", "--trace", "none/there/t.jsonl"]);
    check(&["run", "a.chart", "--llm", "random:x"]);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn nobody_has_to_read_the_output() {
    let at = &folder("unread");
    let text = "chart A {\n  initial   s\n".to_owned() + &"  state s\n".repeat(5_000) + "}\n";
    write(
        &Case { name: "", given: "", files: vec![("a.chart", text.into())], exit: 0, says: "" },
        at,
    );
    for arguments in [
        ["check", "--format", "json"],
        ["check", "--format", "human"],
        ["fmt", "--check", "a.chart"],
    ] {
        let mut child = chartc(at, &arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("sh starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(1), "{}", said(&output));
        assert!(output.stderr.is_empty() || arguments[0] == "fmt", "{}", said(&output));
    }
}

#[test]
fn standard_input_may_be_anything() {
    let at = &folder("stdin");
    write(&Case { name: "", given: "", files: Vec::new(), exit: 0, says: "" }, at);
    let inputs: [(&[u8], i32); 5] = [
        (b"\0", 1),
        (b"\xff", 1),
        (b"chart A {", 1),
        (b"id: [", 1),
        (b"\xef\xbb\xbfchart A {\r\n  initial a\r\n  final a\r\n}\r\n", 0),
    ];
    for (input, exit) in inputs {
        let mut child = chartc(at, &["check", "--format", "short", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("sh starts");
        // It may have seen enough before all is written.
        let _ = child.stdin.take().expect("it is piped").write_all(input);
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(exit), "{}", said(&output));
        assert!(exit == 0 || said(&output).starts_with("<stdin>:"), "{}", said(&output));
    }
}

/// Regions and eventless lines, of which `--cost` counts the calls.
fn without_calls(count: usize) -> String {
    let regions: String = (0..count)
        .map(|n| {
            format!(
                "    state r{n} {{ initial a state a {{ on go -> b }} state b {{ on go -> a }} }}\n"
            )
        })
        .collect();
    let lines: String =
        (0..count).map(|n| format!("  state s{n} {{ when x > {n} -> s{} }}\n", n + 1)).collect();
    format!(
        "chart A {{\n  event go\n  input x: Int = 0\n  initial p\n  parallel p {{\n{regions}    on go if x > 3 -> s0\n  }}\n{lines}  final s{count}\n}}\n"
    )
}
