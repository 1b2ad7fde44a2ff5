//! The builder, generated: `build.rs` made `builder` from `charts/builder.chart`.

chartc_core::include_chart!(pub mod builder);

use builder::{Machine, Params};
use chartc_core::machine::Status;
use chartc_runtime::clock::VirtualClock;
use chartc_runtime::oracle::Oracle;
use chartc_runtime::{RunError, Session};
use std::sync::Arc;

/// Runs a builder until it ships, at most `turns` turns, and gives the states that it was in at the end of each turn and how the
/// run ended.
///
/// # Errors
/// The oracle has no answer, or the run cannot go on for another reason.
pub async fn run(
    agent_id: &str,
    oracle: Arc<dyn Oracle>,
    turns: u32,
) -> Result<(Vec<String>, Option<Status>), RunError> {
    // The chart has no host functions, so nobody has to stand for the host.
    let machine = match Machine::new(Params::new(agent_id), ()) {
        Ok(machine) => machine,
        Err(why) => unreachable!("the chart bounds no param: {why}"),
    };
    let mut session = Session::new(machine, oracle, Arc::new(VirtualClock::new()), ());
    let mut states = Vec::new();
    for _ in 0..turns {
        let report = session.turn().await?;
        states.extend(session.machine().configuration().map(|state| state.to_string()));
        if report.ended.is_some() {
            break;
        }
    }
    Ok((states, session.status()))
}
