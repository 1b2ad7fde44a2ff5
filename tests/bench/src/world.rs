//! Many agents of one world, run by the program: the memory for each agent, the time to make it, and the time of its ticks, compared with
//! hand-written structs.
//!
//! Each number comes from a separate process. The program runs on one thread. Its memory and its processor time are read when it has
//! written the summary of a tick.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::hint::black_box;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The number of ticks of a run.
const TICKS: usize = 40;
/// The tick after which memory is read and time is counted. By then every agent has begun, and new artifacts have been audited.
const SETTLED: usize = 2;

/// An agent that only events drive.
const LISTENER: &str = "chart Listener {
  param agent_id: Text
  event wake
  initial asleep
  state asleep { on wake -> awake }
  state awake { after 5s -> asleep }
}
";

/// An agent that asks its model in every turn.
const TRADER: &str = "chart Trader {
  param agent_id: Text
  input balance: Int = 0
  input last_action_result: Text = \"\"
  initial trading
  state trading {
    llm act { prompt \"\"\"You are {agent_id} and have {balance} scrip. Your last action: {last_action_result}\"\"\" }
  }
}
";

/// Always the same action.
const SCRIPT: &str = "answers: {act: {then: last, answers: [{action: noop}]}}\n";

/// The kinds of agents: a name, the chart, and further lines of the entry in the run file.
const CASTS: [(&str, &str, &str); 3] = [
    ("listener", LISTENER, ""),
    (
        "social",
        include_str!("../../../charts/social.chart"),
        "params: {name: ada, interests: [art, science], personality: Curious.}, ",
    ),
    ("trader", TRADER, "llm: \"script:noop.yaml\", "),
];

/// Prints a table for each program, with a column for each number of agents.
pub(crate) fn run(programs: &[String], sizes: &[usize]) {
    let Ok(programs) = programs.iter().map(std::path::absolute).collect::<Result<Vec<_>, _>>()
    else {
        return eprintln!("{} is no path", programs.join(" "));
    };
    let folder = std::env::temp_dir().join(format!("chartc-world-{}", std::process::id()));
    print!("{:<44}", "agents");
    for size in sizes {
        print!(" {size:>10}");
    }
    println!();
    let hands: Vec<_> = sizes.iter().map(|size| by_hand(*size)).collect();
    rows("by hand", &hands);
    for program in &programs {
        println!("{}", program.display());
        for (name, chart, entry) in CASTS {
            let one = |size: &usize| {
                let cast = folder.join(format!("{name}-{size}"));
                if let Err(fault) = write(&cast, chart, entry, *size) {
                    eprintln!("{}: {fault}", cast.display());
                    return None;
                }
                measure(program, &cast, *size)
            };
            rows(name, &sizes.iter().map(one).collect::<Vec<_>>());
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
}

/// The cost of an agent.
#[derive(Clone, Copy)]
struct Cost {
    bytes: f64,
    /// Processor time in nanoseconds.
    make: f64,
    tick: f64,
}

fn rows(name: &str, all: &[Option<Cost>]) {
    let row = |words: &str, of: &dyn Fn(&Cost) -> f64| {
        print!("  {:<42}", format!("{name}: {words}"));
        for cost in all {
            let shown = cost.as_ref().map(|cost| format!("{:.0}", of(cost)));
            print!(" {:>10}", shown.unwrap_or_default());
        }
        println!();
    };
    row("resident bytes of one that waits", &|cost| cost.bytes);
    row("ns to make one and let it begin", &|cost| cost.make);
    row("ns of one in a tick", &|cost| cost.tick);
}

/// Writes a folder with a chart and a run file for this number of agents.
fn write(folder: &Path, chart: &str, entry: &str, agents: usize) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join("cast.chart"), chart)?;
    std::fs::write(folder.join("noop.yaml"), SCRIPT)?;
    let file = format!(
        "execution: {{workers: 1}}\nagents:\n  - {{file: cast.chart, id: agent, {entry}count: {agents}}}\n"
    );
    std::fs::write(folder.join("run.yaml"), file)
}

/// The cost of each agent of a folder, without the cost of a run with one agent: the best of three runs.
fn measure(program: &Path, folder: &Path, agents: usize) -> Option<Cost> {
    let alone = folder.with_file_name("one");
    std::fs::create_dir_all(&alone).ok()?;
    for file in ["cast.chart", "noop.yaml"] {
        std::fs::copy(folder.join(file), alone.join(file)).ok()?;
    }
    let text = std::fs::read_to_string(folder.join("run.yaml")).ok()?;
    let text = text.replace(&format!("count: {agents}}}"), "count: 1}");
    std::fs::write(alone.join("run.yaml"), text).ok()?;
    let best = |folder: &PathBuf| {
        let all = (0..3).filter_map(|_| watched(program, folder));
        all.reduce(|a, b| (a.0.min(b.0), a.1.min(b.1), a.2.min(b.2)))
    };
    let (one, all) = (best(&alone)?, best(&folder.to_owned())?);
    let each = |all: f64, one: f64| (all - one).max(0.0) / agents as f64;
    Some(Cost { bytes: each(all.0, one.0), make: each(all.1, one.1), tick: each(all.2, one.2) })
}

/// Resident bytes once all agents wait, nanoseconds until the first summary without its tick, and nanoseconds of a tick.
fn watched(program: &Path, folder: &Path) -> Option<(f64, f64, f64)> {
    let mut child = Command::new(program)
        .arg("run")
        .arg(folder)
        .args(["--ticks", &TICKS.to_string(), "--format", "json"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|fault| eprintln!("{}: {fault}", program.display()))
        .ok()?;
    let mut lines = BufReader::new(child.stdout.take()?).lines();
    let (mut first, mut settled, mut last, mut bytes) = (None, None, None, None);
    for nth in 1..=TICKS {
        let Some(Ok(_)) = lines.next() else { break };
        last = spent(&child);
        first = first.or(last);
        if nth == SETTLED {
            settled = last;
            bytes = resident(&child);
        }
    }
    for _ in lines {}
    child.wait().ok().filter(std::process::ExitStatus::success)?;
    let (first, settled, last) = (first?, settled?, last?);
    let tick = last.saturating_sub(settled).as_nanos() as f64 / (TICKS - SETTLED) as f64;
    Some((bytes? as f64, (first.as_nanos() as f64 - tick).max(0.0), tick))
}

fn status(child: &Child, name: &str) -> Option<String> {
    std::fs::read_to_string(format!("/proc/{}/{name}", child.id())).ok()
}

/// The processor time of the child process.
fn spent(child: &Child) -> Option<Duration> {
    let nanos = status(child, "schedstat")?.split(' ').next()?.parse().ok()?;
    Some(Duration::from_nanos(nanos))
}

fn resident(child: &Child) -> Option<u64> {
    resident_in(&status(child, "status")?)
}

fn resident_in(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kib| kib * 1024)
}

/// A hand-written agent of a world: what it owns, what it remembers, and when it continues.
struct Agent {
    _state: u8,
    _turns: u32,
    _scrip: i64,
    _disk: i64,
    compute: i64,
    quota: i64,
    due: Option<u64>,
    _memory: Vec<String>,
}

/// The cost of this number of structs, measured in a separate process.
fn by_hand(agents: usize) -> Option<Cost> {
    let program = std::env::current_exe().ok()?;
    let output =
        Command::new(program).args(["world-by-hand", &agents.to_string()]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let mut numbers = text.split_whitespace().map(str::parse);
    let mut next = || numbers.next()?.ok();
    Some(Cost { bytes: next()?, make: next()?, tick: next()? })
}

/// Prints the cost of this number of structs in this process.
pub(crate) fn report_by_hand(agents: usize) {
    let own = || resident_in(&std::fs::read_to_string("/proc/self/status").ok()?);
    let before = own();
    let start = std::time::Instant::now();
    let mut world: BTreeMap<String, Agent> = BTreeMap::new();
    for nth in 0..agents {
        let agent = Agent {
            _state: 0,
            _turns: 0,
            _scrip: 100,
            _disk: 10_000,
            compute: 1_000,
            quota: 1_000,
            due: None,
            _memory: Vec::new(),
        };
        world.insert(format!("agent_{}", nth + 1), agent);
    }
    let make = start.elapsed();
    let after = own();
    let start = std::time::Instant::now();
    for tick in 0..TICKS as u64 {
        for agent in world.values_mut() {
            agent.compute = agent.quota;
            if agent.due.is_some_and(|due| due <= tick) {
                agent.due = None;
            }
        }
        black_box(&mut world);
    }
    let ticks = start.elapsed();
    let each = |all: f64| all / agents.max(1) as f64;
    let mut text = String::new();
    if let (Some(before), Some(after)) = (before, after) {
        let bytes = each(after.saturating_sub(before) as f64);
        let tick = each(ticks.as_nanos() as f64 / TICKS as f64);
        let _ = write!(text, "{bytes} {} {tick}", each(make.as_nanos() as f64));
    }
    println!("{text}");
}
