//! What chartc says of input that is meant to hurt, how long it takes and how much memory it needs.

use crate::child;
use std::process::{Command, Stdio};
use std::time::Duration;
use test_support::hostile::{cases, growing};

/// How long a check may take.
const MOST: Duration = Duration::from_mins(10);

/// Runs the program at `chartc` on every case and prints a row for each.
pub(crate) fn run(chartc: &str) {
    let Ok(chartc) = std::path::absolute(chartc) else { return eprintln!("{chartc} is no path") };
    let folder = std::env::temp_dir().join(format!("chartc-hostile-{}", std::process::id()));
    println!("| input | exit | s | MB | first line |\n|---|---|---|---|---|");
    for case in cases::all().into_iter().chain(growing::all()) {
        cases::write(&case, &folder);
        let child = Command::new(&chartc)
            .args(["check", "--format", "short", case.given])
            .current_dir(&folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = match child {
            Ok(child) => child,
            Err(fault) => return eprintln!("{} does not start: {fault}", chartc.display()),
        };
        let Ok(seen) = child::watch(&mut child, MOST) else { continue };
        let Ok(output) = child.wait_with_output() else { continue };
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text);
        let line: String = text.lines().next().unwrap_or_default().chars().take(90).collect();
        let exit =
            output.status.code().map_or_else(|| output.status.to_string(), |c| c.to_string());
        let is_expected = output.status.code() == Some(case.exit) && text.contains(case.says);
        let expected = if is_expected { "" } else { " (!)" };
        println!(
            "| {} | {exit}{expected} | {:.2} | {} | {} |",
            case.name,
            seen.took.as_secs_f64(),
            seen.peak / 1024,
            line.replace('|', "\\|")
        );
    }
    let _ = std::fs::remove_dir_all(&folder);
}
