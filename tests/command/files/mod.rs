//! Files that commands read and write: what may be read on behalf of another file, and what is left of a file that cannot be written.

#[cfg(unix)]
mod links;
mod long;
#[cfg(feature = "run")]
mod made;
mod output;
#[cfg(unix)]
mod reading;
#[cfg(all(unix, feature = "run"))]
mod writing;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// What no command may print: it stands in files that are not to be read.
const SECRET: &str = "hunter2";

/// Far longer than any of the commands takes here; one that still runs then waits for something.
const PATIENCE: Duration = Duration::from_mins(1);

const CHART: &str = "chart A {\n  event e\n  initial a\n  state a { on e -> f }\n  final f\n}\n";

/// A fresh folder with a `chartc.toml`, so that it is the root of what is in it.
fn folder(name: &str) -> PathBuf {
    let folder = test_support::project::folder(&format!("files-{name}"));
    write(&folder.join("chartc.toml"), "");
    folder
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().expect("it lies in a folder"))
        .expect("the target folder can be written");
    std::fs::write(path, text).expect("as before");
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chartc"));
    command.args(arguments).current_dir(folder).env("NO_COLOR", "1").env("COLUMNS", "100");
    command.env("SOME_KEY", SECRET).stdin(Stdio::null());
    command
}

/// Exit code, and what was printed and said. The command has to end by itself.
fn run(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = command(folder, arguments);
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("chartc starts");
    let out = reader(child.stdout.take().expect("it is piped"));
    let err = reader(child.stderr.take().expect("it is piped"));
    let texts = [out, err].map(|text| {
        text.recv_timeout(PATIENCE).unwrap_or_else(|_| {
            child.kill().expect("it is a child of this process");
            panic!("{arguments:?} waits for something")
        })
    });
    (child.wait().expect("it is a child of this process").code(), texts.concat())
}

/// What a child writes, once it has ended.
fn reader(mut from: impl Read + Send + 'static) -> Receiver<String> {
    let (send, receive) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = from.read_to_end(&mut bytes);
        read.map(|_| send.send(String::from_utf8_lossy(&bytes).into_owned()))
    });
    receive
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}
