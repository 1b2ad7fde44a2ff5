//! Time that the processor has spent on this thread, so that what else runs does not count.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Since some point in the past. On Linux the scheduler tells, to within a few milliseconds; elsewhere it is the clock's.
pub(crate) fn time() -> Duration {
    static BEGIN: OnceLock<Instant> = OnceLock::new();
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let spent = told.and_then(|text| text.split_whitespace().next()?.parse().ok());
    spent.map_or_else(|| BEGIN.get_or_init(Instant::now).elapsed(), Duration::from_nanos)
}
