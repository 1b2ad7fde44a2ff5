//! What an agent knows of the world. Every list has a bound, so that a view takes about as long in a large world as in a small one.

use super::World;
use crate::artifact::memory_of;
use crate::genesis;
use crate::ledger::{Holder, Resource};
use crate::state::{State, text};
use chartc_core::expr::{Map, Value};
use chartc_runtime::agent::View;
use std::cmp::Reverse;

/// Artifacts, the newest; those of the world itself come before them.
const ARTIFACTS: usize = 100;
/// Artifacts that are looked at for them.
const LOOKED_AT: usize = 1_000;
/// Own artifacts, by id.
const OWN: usize = 1_000;
/// Other agents, by name.
const OTHERS: usize = 100;
/// Balances, the richest; its own is always there.
const BALANCES: usize = 100;
/// Events, the newest.
const EVENTS: usize = 20;
/// Events that are looked at for them.
const LOOKED_THROUGH: usize = 200;
/// Submissions.
const SUBMISSIONS: usize = 100;

impl World {
    pub(super) fn look(&self, agent: &str) -> View {
        let state = self.state();
        let Some(principal) = state.principals.get(agent) else { return View::default() };
        let memory = memory_of(agent);
        let own = state.owned.get(agent).into_iter().flatten();
        let own = own.filter(|id| *id != agent && **id != memory).take(OWN);
        let listed = state.ranked.keys().filter(|name| *name != agent);
        let compute = state.ledger.balance(&Holder::of(agent), Resource::Compute);
        let mut quotas = Map::new();
        quotas.insert("compute".into(), Value::Int(compute));
        let moment = state.moment;
        View {
            balance: state.ledger.scrip(agent),
            artifacts: artifacts(&state, agent),
            own: own.map(|id| text(id)).collect(),
            others: listed.take(OTHERS).map(|name| text(name)).collect(),
            disk: state.disk(agent),
            record: state.artifacts.get(agent).map(|artifact| artifact.content.clone()),
            balances: balances(&state, agent),
            quotas,
            event_number: state.event_number,
            recent_events: recent(&state, agent),
            submissions: state.submissions.iter().take(SUBMISSIONS).cloned().collect(),
            economy: economy(&state, agent),
            earned: principal.earned,
            time: moment.total_ms.map(|total| (moment.now_ms, total)),
            tick: moment.tick,
        }
    }
}

fn artifacts(state: &State, agent: &str) -> Vec<Value> {
    let of_the_world = genesis::all().map(|genesis| {
        let mut row = Map::new();
        row.insert("id".into(), text(genesis.id));
        row.insert("type".into(), text("genesis"));
        row.insert("created_by".into(), text("system"));
        row.insert("executable".into(), Value::Bool(true));
        Value::Map(row)
    });
    let newest = state.order.values().rev().take(LOOKED_AT);
    let found = newest.filter_map(|id| {
        let artifact = state.readable(agent, id).ok()?;
        Some(genesis::row(id, artifact))
    });
    of_the_world.chain(found.take(ARTIFACTS)).collect()
}

fn balances(state: &State, agent: &str) -> Map {
    let all = state.ranks.iter().take(BALANCES);
    let mut all: Map = all.map(|(scrip, name)| (name.clone(), Value::Int(scrip.0))).collect();
    all.insert(agent.to_owned(), Value::Int(state.ledger.scrip(agent)));
    all
}

fn recent(state: &State, agent: &str) -> Vec<Value> {
    let last = state.events.iter().rev().take(LOOKED_THROUGH);
    let known = last.filter(|event| event.is_for(agent)).take(EVENTS);
    let mut events: Vec<Value> = known.map(|event| event.value()).collect();
    events.reverse();
    events
}

fn economy(state: &State, agent: &str) -> String {
    let scrip = state.ledger.circulation();
    let among = state.ranks.len();
    let own = (Reverse(state.ledger.scrip(agent)), agent.to_owned());
    let rank = state.ranks.iter().take(BALANCES).position(|entry| *entry == own);
    let rank = match rank {
        Some(above) => format!("you are number {} of {among} by scrip", above + 1),
        None => format!("you are below the first {BALANCES} of {among} by scrip"),
    };
    let mut said = format!("{scrip} scrip in circulation; {rank}");
    if !state.next_auction.is_empty() {
        said.push_str("; ");
        said.push_str(&state.next_auction);
    }
    said
}
