//! The commands in README and docs print what stands below them. `TOUR=write cargo test tour` writes what they print now.
//!
//! A ```` ```console ```` block is a row of `$ command` lines, each followed by its output, errors last. Commands run one after the
//! other in a folder of their own that holds `charts/` and whatever the page wrote with `cat > file <<END`.

use crate::project::{files, read, root};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A fresh folder with the charts that the page's commands read.
fn folder(page: &str) -> PathBuf {
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("tour-{}", page.replace('/', "-")));
    if folder.exists() {
        std::fs::remove_dir_all(&folder).expect("the folder is the test's own");
    }
    std::fs::create_dir_all(&folder).expect("the target folder can be written");
    for file in files("charts", "") {
        let copy = folder.join(&file);
        std::fs::create_dir_all(copy.parent().expect("charts/ is above")).expect("as before");
        std::fs::copy(root().join(&file), copy).expect("charts can be copied");
    }
    folder
}

/// What a command line prints: `chartc …`, `cargo run -q -- …`, `cat FILE`, with an optional `> FILE` or `| head -N` behind.
fn run(line: &str, folder: &Path) -> String {
    let (line, lines) = match line.split_once(" | head -") {
        Some((line, n)) => (line, n.trim().parse().expect("head takes a number of lines")),
        None => (line, usize::MAX),
    };
    let (line, into) = match line.split_once(" > ") {
        Some((line, file)) => (line, Some(file.trim())),
        None => (line, None),
    };
    let words = words(line);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (out, errors) = match words.as_slice() {
        ["chartc", arguments @ ..] | ["cargo", "run", "-q", "--", arguments @ ..] => {
            let output = Command::new(env!("CARGO_BIN_EXE_chartc"))
                .args(arguments)
                .current_dir(folder)
                .env("COLUMNS", "100")
                .env("NO_COLOR", "1")
                .output()
                .expect("chartc runs");
            (output.stdout, output.stderr)
        }
        ["cat", file] => (std::fs::read(folder.join(file)).expect("the page made it"), Vec::new()),
        _ => panic!("the tour test does not know `{line}`"),
    };
    let mut shown = String::new();
    match into {
        Some(file) => std::fs::write(folder.join(file), out).expect("the folder can be written"),
        None => shown.push_str(&String::from_utf8(out).expect("chartc prints text")),
    }
    shown.push_str(&String::from_utf8(errors).expect("chartc prints text"));
    let mut cut = String::new();
    for line in shown.lines().take(lines) {
        let _ = writeln!(cut, "{}", line.trim_end());
    }
    cut
}

/// Words of a command line; quotes hold a word together.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for c in line.chars() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, ' ') => words.push(String::new()),
            (_, c) => words.last_mut().expect("one to begin with").push(c),
        }
    }
    words.retain(|w| !w.is_empty());
    words
}

/// The page with the outputs that its commands give now.
fn played(page: &str) -> String {
    let text = read(page);
    let folder = folder(page);
    let mut out = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let _ = writeln!(out, "{line}");
        if line != "```console" {
            continue;
        }
        while let Some(line) = lines.next_if(|l| *l != "```") {
            let Some(command) = line.strip_prefix("$ ") else { continue };
            let _ = writeln!(out, "{line}");
            if let Some((head, end)) = command.split_once(" <<") {
                let file = head.trim_start_matches("cat > ");
                let mut written = String::new();
                for line in lines.by_ref() {
                    let _ = writeln!(out, "{line}");
                    if line == end {
                        break;
                    }
                    let _ = writeln!(written, "{line}");
                }
                let file = folder.join(file);
                std::fs::create_dir_all(file.parent().expect("it lies in the folder"))
                    .and_then(|()| std::fs::write(file, written))
                    .expect("the folder can be written");
            } else {
                out.push_str(&run(command, &folder));
            }
        }
    }
    out
}

fn check(page: &str) {
    let now = played(page);
    if std::env::var_os("TOUR").is_some_and(|v| v == "write") {
        std::fs::write(root().join(page), &now).expect("the page can be written");
    }
    let text = read(page);
    if let Some((n, (is, should))) =
        text.lines().zip(now.lines()).enumerate().find(|(_, (a, b))| a != b)
    {
        panic!(
            "{page}:{}: chartc now prints\n  {should}\ninstead of\n  {is}\n\
             `TOUR=write cargo test tour` writes what it prints now",
            n + 1
        );
    }
    assert_eq!(text, now, "{page}: chartc prints more or less than that");
}

#[test]
fn readme_shows_what_is_printed() {
    check("README.md");
}

#[test]
fn main_job_of_the_readme_reaches_its_end() {
    let text = read("README.md");
    let line = text.lines().find_map(|l| l.strip_prefix("cargo run -- "));
    let shown = run(&format!("chartc {}", line.expect("README runs a chart")), root());
    assert!(shown.contains("shipping: ended ok"), "{shown}");
}

#[test]
#[cfg_attr(feature = "otel", ignore = "the docs show the help of the default build")]
fn docs_show_what_is_printed() {
    for page in files("docs", ".md") {
        check(&page);
    }
}

#[test]
fn command_lines_are_split_at_blanks_outside_quotes() {
    assert_eq!(
        words(r#"chartc  run "a b" --input 'x=1 2'"#),
        ["chartc", "run", "a b", "--input", "x=1 2"]
    );
}
