//! `genesis_event_log`: the events of the world that the caller may know.

use super::arguments::Arguments;
use super::{Genesis, Method, Run};
use crate::state::{State, Tried};
use chartc_core::expr::Value;

/// The default and the maximum number of events in a result.
const FEW: u64 = 50;
const MOST: u64 = 500;

pub(super) const GENESIS: Genesis = Genesis {
    id: "genesis_event_log",
    about: "What has happened in the world, as far as you may know it.",
    methods: &[Method {
        name: "read",
        params: &["n?", "since?"],
        about: "the last n events, 50 if you do not say, at most 500; or the first n after the event of number `since`",
        run: Run::Look(read),
    }],
};

fn read(state: &State, arguments: &Arguments<'_>) -> Tried<Value> {
    let most = arguments.number_or_none(0)?.unwrap_or(FEW).min(MOST);
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let caller = arguments.caller;
    let known = |since: u64| {
        state.events.iter().filter(move |event| event.number > since && event.is_for(caller))
    };
    let events: Vec<Value> = match arguments.number_or_none(1)? {
        Some(since) => known(since).take(most).map(|event| event.value()).collect(),
        None => {
            let mut last: Vec<Value> =
                known(0).rev().take(most).map(|event| event.value()).collect();
            last.reverse();
            last
        }
    };
    Ok(Value::List(events))
}
