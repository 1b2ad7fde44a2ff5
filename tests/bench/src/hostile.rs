//! What chartc says of input that is meant to hurt, how long it takes and how much memory it needs.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use test_support::hostile::{cases, growing};

/// Runs the program at `chartc` on every case and prints a row for each.
pub(crate) fn run(chartc: &str) {
    let Ok(chartc) = std::path::absolute(chartc) else { return eprintln!("{chartc} is no path") };
    let folder = std::env::temp_dir().join(format!("chartc-hostile-{}", std::process::id()));
    println!("| input | exit | s | MB | first line |\n|---|---|---|---|---|");
    for case in cases::all().into_iter().chain(growing::all()) {
        cases::write(&case, &folder);
        let start = Instant::now();
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
        let (peak, time) = watch(&mut child, start);
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
            time.as_secs_f64(),
            peak / 1024,
            line.replace('|', "\\|")
        );
    }
    let _ = std::fs::remove_dir_all(&folder);
}

/// The most resident memory in KiB that the process was seen with, and when it ended. What it prints has room in a pipe.
fn watch(child: &mut Child, start: Instant) -> (u64, Duration) {
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    loop {
        peak = peak.max(resident(Path::new(&status)).unwrap_or(0));
        match child.try_wait() {
            Ok(None) => std::thread::sleep(Duration::from_millis(1)),
            Ok(Some(_)) | Err(_) => return (peak, start.elapsed()),
        }
    }
}

fn resident(status: &Path) -> Option<u64> {
    let status = std::fs::read_to_string(status).ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}
