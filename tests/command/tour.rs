//! The commands in README and docs print what stands below them. `TOUR=write cargo test tour` writes what they print now.
//!
//! A ```` ```console ```` block is a row of `$ command` lines, each followed by its output, errors last. Commands run one after the
//! other in a folder of their own that holds `charts/` and whatever the page wrote with `cat > file <<END`. The folder of the tutorial is
//! empty: a new user has nothing else.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use test_support::project::{files, read, root};

/// Pages that begin in an empty folder.
const EMPTY: &[&str] = &["docs/tutorial.md"];
/// Where a server of the page listens, as the page shows it.
const ADDRESS: &str = "127.0.0.1:7878";

/// A fresh folder with the charts that the page's commands read.
fn folder(page: &str) -> PathBuf {
    let folder = test_support::project::folder(&format!("tour-{}", page.replace('/', "-")));
    let charts = if EMPTY.contains(&page) { Vec::new() } else { files("charts", "") };
    for file in charts {
        let copy = folder.join(&file);
        std::fs::create_dir_all(copy.parent().expect("charts/ is above")).expect("as before");
        std::fs::copy(root().join(&file), copy).expect("charts can be copied");
    }
    folder
}

/// A server that a page has started, on a free port.
struct Server {
    child: Child,
    address: String,
    /// It stays open: what the server says later has to go somewhere.
    err: BufReader<ChildStderr>,
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A terminal in which the commands of a page run.
struct Terminal {
    folder: PathBuf,
    /// What the page has exported.
    variables: BTreeMap<String, String>,
    server: Option<Server>,
}

impl Terminal {
    fn new(folder: PathBuf) -> Self {
        Self { folder, variables: BTreeMap::new(), server: None }
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(&self.folder)
            .env("COLUMNS", "100")
            .env("NO_COLOR", "1")
            .envs(&self.variables);
        command
    }

    /// What a command line prints: `chartc …`, `cargo run -q -- …`, `cat FILE`, with an optional `> FILE` or `| head -N` behind; `export`,
    /// a server with `&` behind, `kill %1` for it; a shell runs everything else.
    fn run(&mut self, line: &str) -> String {
        if let Some(names) = line.strip_prefix("export ") {
            for word in words(names) {
                let (name, value) = word.split_once('=').expect("a name and a value");
                self.variables.insert(name.to_owned(), value.to_owned());
            }
            return String::new();
        }
        if let Some(line) = line.strip_suffix(" &") {
            return self.serve(line);
        }
        if line == "kill %1" {
            self.server = None;
            return String::new();
        }
        let is_plain = ["chartc ", "cargo run -q -- ", "cat "].iter().any(|p| line.starts_with(p));
        let behind = line.split_once(" | ").is_some_and(|(_, rest)| !rest.starts_with("head -"));
        if is_plain && !behind && !line.contains(" && ") {
            self.plain(line)
        } else {
            self.shell(line)
        }
    }

    fn plain(&self, line: &str) -> String {
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
                let output = self
                    .command(env!("CARGO_BIN_EXE_chartc"))
                    .args(arguments)
                    .output()
                    .expect("chartc runs");
                (output.stdout, output.stderr)
            }
            ["cat", file] => {
                (std::fs::read(self.folder.join(file)).expect("the page made it"), Vec::new())
            }
            _ => panic!("the tour test does not know `{line}`"),
        };
        let out = match into {
            Some(file) => {
                std::fs::write(self.folder.join(file), out).expect("the folder can be written");
                Vec::new()
            }
            None => out,
        };
        shown(&out, &errors, lines)
    }

    /// What a shell prints that finds chartc on its path.
    fn shell(&self, line: &str) -> String {
        let own = Path::new(env!("CARGO_BIN_EXE_chartc")).parent().expect("it is in a folder");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = [own.to_owned()].into_iter().chain(std::env::split_paths(&path));
        let path = std::env::join_paths(folders).expect("paths without separators");
        let server = self.server.as_ref().map_or(ADDRESS, |server| server.address.as_str());
        let output = self
            .command("sh")
            .args(["-c", &line.replace(ADDRESS, server)])
            .env("PATH", path)
            .output()
            .expect("a shell runs");
        timeless(&shown(&output.stdout, &output.stderr, usize::MAX))
    }

    /// Starts a server, and waits until it listens.
    fn serve(&mut self, line: &str) -> String {
        let words = words(line);
        let Some(("chartc", arguments)) = words.split_first().map(|(a, b)| (a.as_str(), b)) else {
            panic!("only chartc serves: {line}")
        };
        let mut child = self
            .command(env!("CARGO_BIN_EXE_chartc"))
            .args(arguments)
            .args(["--listen", "127.0.0.1:0"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("chartc runs");
        let err = BufReader::new(child.stderr.take().expect("it is piped"));
        let mut server = Server { child, address: String::new(), err };
        let mut said = String::new();
        while server.address.is_empty() {
            let mut line = String::new();
            let read = server.err.read_line(&mut line).expect("chartc prints text");
            assert!(read > 0, "the server has ended: {said}");
            said.push_str(&line);
            if let Some((_, address)) = line.trim().split_once("listening on http://") {
                address.clone_into(&mut server.address);
            }
        }
        let said = said.replace(&server.address, ADDRESS);
        self.server = Some(server);
        said
    }
}

/// Output and errors, at most this many lines.
fn shown(out: &[u8], errors: &[u8], lines: usize) -> String {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_owned()).expect("text");
    let mut cut = String::new();
    for line in (text(out) + &text(errors)).lines().take(lines) {
        let _ = writeln!(cut, "{}", line.trim_end());
    }
    cut
}

/// The text with the same times in all JSON.
pub(crate) fn timeless(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((at, key)) = ["\"made_ms\":", "\"updated_ms\":", "\"at_ms\":", "\"time_ms\":"]
        .iter()
        .filter_map(|key| Some((rest.find(key)? + key.len(), key)))
        .min()
    {
        out.push_str(&rest[..at]);
        let number = rest[at..].trim_start_matches(|c: char| c.is_ascii_digit());
        out.push_str(if key.contains("at_ms") || key.contains("time_ms") {
            "0"
        } else {
            "1790000000000"
        });
        rest = number;
    }
    out + rest
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
    let mut terminal = Terminal::new(folder(page));
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
                let is_quoted = end.starts_with('\'');
                let end = end.trim_matches('\'');
                let mut written = String::new();
                for line in lines.by_ref() {
                    let _ = writeln!(out, "{line}");
                    if line == end {
                        break;
                    }
                    let _ = writeln!(written, "{line}");
                }
                assert!(
                    is_quoted || !written.contains(['$', '`', '\\']),
                    "{page}: a shell would change {file}: write <<'{end}'"
                );
                let path = terminal.folder.join(file);
                assert!(
                    path.parent().is_some_and(Path::is_dir),
                    "{page}: there is no folder for {file} yet: write `$ mkdir -p …` before"
                );
                std::fs::write(path, written).expect("the folder can be written");
            } else {
                out.push_str(&terminal.run(command));
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
    let mut terminal = Terminal::new(root().to_owned());
    let shown = terminal.run(&format!("chartc {}", line.expect("README runs a chart")));
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
