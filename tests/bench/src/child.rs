//! A process that is watched until it ends.

use std::path::Path;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

/// The resources that a process has used.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen {
    /// The peak of its resident memory, in KiB.
    pub(crate) peak: u64,
    /// The CPU time of all threads.
    pub(crate) computed: Duration,
    /// The elapsed time.
    pub(crate) took: Duration,
    /// How it ended; `None` if it was killed because it took too long.
    pub(crate) status: Option<ExitStatus>,
}

/// Watches a process until it ends, or kills it after `most`. Its output must not go into a pipe, which could fill up.
pub(crate) fn watch(child: &mut Child, most: Duration) -> std::io::Result<Seen> {
    let start = Instant::now();
    let of = |name: &str| format!("/proc/{}/{name}", child.id());
    let (status, stat) = (of("status"), of("stat"));
    let mut seen = Seen { peak: 0, computed: Duration::ZERO, took: most, status: None };
    loop {
        seen.peak = seen.peak.max(resident(Path::new(&status)).unwrap_or(0));
        seen.computed = computed(Path::new(&stat)).unwrap_or(seen.computed);
        seen.status = child.try_wait()?;
        seen.took = start.elapsed();
        if seen.status.is_some() {
            return Ok(seen);
        }
        if seen.took > most {
            child.kill()?;
            child.wait()?;
            return Ok(seen);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn resident(status: &Path) -> Option<u64> {
    let status = std::fs::read_to_string(status).ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

/// User and system time: the 14th and 15th field, in hundredths of a second.
fn computed(stat: &Path) -> Option<Duration> {
    let stat = std::fs::read_to_string(stat).ok()?;
    let (_, fields) = stat.rsplit_once(") ")?;
    let ticks = fields.split(' ').skip(11).take(2).map(|field| field.parse::<u64>());
    Some(Duration::from_millis(10 * ticks.sum::<Result<u64, _>>().ok()?))
}
