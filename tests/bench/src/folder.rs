//! A folder of ordinary files, checked by one call of the program: what people wait for.

use crate::agents::{agent, chart};
use crate::scale::{median, ms};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Files of each kind.
const FILES: usize = 200;
/// Calls that are measured.
const CALLS: usize = 31;

/// Writes 200 `agent.yaml` files, each in a folder of its own, and 200 charts, and measures what checking them all costs each of the
/// programs: first its time, then its instructions, also as a multiple of those of the last program.
pub(crate) fn run(programs: &[String]) {
    let found: Result<Vec<_>, _> = programs.iter().map(std::path::absolute).collect();
    let Ok(programs) = found else { return eprintln!("{} is no path", programs.join(" ")) };
    let folder = std::env::temp_dir().join(format!("chartc-folder-{}", std::process::id()));
    let (files, lines, bytes) = match write(&folder) {
        Ok(written) => written,
        Err(fault) => return eprintln!("{}: {fault}", folder.display()),
    };
    println!("{files} files, {lines} lines, {bytes} bytes");
    let one = folder.join("agents/agent_0");
    let calls = [
        ("one file", vec![one.join("agent.yaml")]),
        ("200 agents", vec![folder.join("agents")]),
        ("200 charts", vec![folder.join("charts")]),
        ("all, in one call", vec![folder.clone()]),
    ];
    for program in &programs {
        println!("{}", program.display());
        println!("{:>26} {:>8} {:>8} {:>8} {:>8}", "", "cpu ms", "least", "most", "wall ms");
        for (what, paths) in &calls {
            if !time(what, program, paths) {
                break;
            }
        }
    }
    println!(
        "{:>26} instructions in millions, a column for each program, and the ratio to the last",
        ""
    );
    for (what, paths) in &calls {
        let counted: Option<Vec<u64>> = programs.iter().map(|p| instructions(p, paths)).collect();
        let Some(counted) = counted else { break };
        let last = counted.last().copied().unwrap_or(1).max(1);
        print!("{what:>26}");
        for count in counted {
            print!(" {:>9.1} {:>5.2}", count as f64 / 1e6, count as f64 / last as f64);
        }
        println!();
    }
    let _ = std::fs::remove_dir_all(&folder);
}

/// Prints what the calls took; whether they ended well.
fn time(what: &str, program: &Path, paths: &[PathBuf]) -> bool {
    let measured: Option<Vec<_>> = (0..CALLS).map(|_| call(program, paths)).collect();
    let Some(measured) = measured else { return false };
    let (cpu, wall): (Vec<_>, Vec<_>) = measured.into_iter().unzip();
    let (least, most) = (cpu.iter().min().copied(), cpu.iter().max().copied());
    println!(
        "{what:>26} {:>8.1} {:>8.1} {:>8.1} {:>8.1}",
        ms(median(cpu)),
        ms(least.unwrap_or_default()),
        ms(most.unwrap_or_default()),
        ms(median(wall))
    );
    true
}

/// What Valgrind counts in one call; `None` with a message where it is not installed or says nothing.
fn instructions(program: &Path, paths: &[PathBuf]) -> Option<u64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args(["check", "--format", "short"])
        .args(paths)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .output();
    let output = output.map_err(|fault| eprintln!("skipped, not found: valgrind: {fault}")).ok()?;
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().find_map(|line| line.split_once("Collected : "));
    let Some((_, count)) = line else {
        eprintln!("valgrind counts nothing:\n{text}");
        return None;
    };
    count.trim().parse().ok()
}

/// Writes them, and gives how many files, lines and bytes they are.
fn write(folder: &Path) -> std::io::Result<(usize, usize, usize)> {
    let (mut files, mut lines, mut bytes) = (0, 0, 0);
    std::fs::create_dir_all(folder.join("charts"))?;
    for nth in 0..FILES {
        let own = folder.join(format!("agents/agent_{nth}"));
        std::fs::create_dir_all(&own)?;
        let texts = [
            (own.join("agent.yaml"), agent(nth)),
            (folder.join(format!("charts/case_{nth}.chart")), chart(nth)),
        ];
        for (path, text) in texts {
            (files, lines, bytes) = (files + 1, lines + text.lines().count(), bytes + text.len());
            std::fs::write(path, text)?;
        }
    }
    Ok((files, lines, bytes))
}

/// The processor's time and the clock's of one call, `None` with a message if that does not end well.
fn call(program: &Path, paths: &[PathBuf]) -> Option<(Duration, Duration)> {
    let start = Instant::now();
    let child = Command::new(program)
        .args(["check", "--format", "short"])
        .args(paths)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn();
    let mut child = child.map_err(|fault| eprintln!("{}: {fault}", program.display())).ok()?;
    let cpu = spent(&child);
    let wall = start.elapsed();
    let status = child.wait().ok()?;
    if !status.success() {
        eprintln!("the check of {} ends with {status}", paths[0].display());
        return None;
    }
    Some((cpu.unwrap_or(wall), wall))
}

/// What the child has spent, its system calls included, once it has ended and before it is forgotten; `None` where the system does
/// not tell. It has one thread.
fn spent(child: &Child) -> Option<Duration> {
    let file = |name: &str| std::fs::read_to_string(format!("/proc/{}/{name}", child.id())).ok();
    while !file("stat")?.rsplit(')').next()?.trim_start().starts_with('Z') {
        std::thread::sleep(Duration::from_micros(200));
    }
    let nanos = file("schedstat")?.split(' ').next()?.parse().ok()?;
    Some(Duration::from_nanos(nanos))
}
