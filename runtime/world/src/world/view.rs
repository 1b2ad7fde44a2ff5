//! The view of the world that an agent gets in a turn. Every list is bounded, so that a view takes about as long in a large world as in a
//! small one.

use super::World;
use crate::artifact::memory_of;
use crate::genesis;
use crate::ledger::{Holder, Resource};
use crate::state::{State, text};
use chartc_core::expr::{Map, Value};
use chartc_runtime::agent::{EVENTS, View};
use std::cmp::Reverse;

/// The minimum number of artifacts that are examined to find those that an agent may read.
const LOOKED_AT: usize = 1_000;
/// The maximum number of the agent's own artifacts, in the order of their ids.
const OWN: usize = 1_000;
/// The number of ranks that are searched for the agent's own.
const RANKS: usize = 100;
/// The number of last events that are searched for those that the agent may know.
const LOOKED_THROUGH: usize = 200;
/// The maximum number of submissions.
const SUBMISSIONS: usize = 100;

impl World {
    /// The view of `agent`. Lists that the chart does not read stay empty, to save time.
    pub(super) fn look(&self, agent: &str, reads: &dyn Fn(&str) -> bool) -> View {
        let state = self.state();
        let Some(principal) = state.principals.get(agent) else { return View::default() };
        // The same bound applies to the newest artifacts, to other agents by name, and to the largest balances.
        let seen = usize::try_from(state.settings.max_seen).unwrap_or(usize::MAX);
        let compute = state.ledger.balance(&Holder::of(agent), Resource::Compute);
        let mut quotas = Map::new();
        quotas.insert("compute".into(), Value::Int(compute));
        let moment = state.moment;
        let mut view = View {
            balance: state.ledger.scrip(agent),
            disk: state.disk(agent),
            record: state.artifacts.get(agent).map(|artifact| artifact.content.clone()),
            quotas,
            event_number: state.event_number,
            earned: principal.earned,
            time: moment.total_ms.map(|total| (moment.now_ms, total)),
            tick: moment.tick,
            ..View::default()
        };
        if reads("artifacts") {
            view.artifacts = artifacts(&state, agent, seen);
        }
        if reads("my_artifacts") {
            let memory = memory_of(agent);
            let own = state.owned.get(agent).into_iter().flatten();
            let own = own.filter(|id| *id != agent && **id != memory).take(OWN);
            view.own = own.map(|id| text(id)).collect();
        }
        if reads("other_agents") {
            let listed = state.principals.iter().filter(|(_, one)| one.is_listed);
            let others = listed.map(|(name, _)| name).filter(|name| *name != agent);
            view.others = others.take(seen).map(|name| text(name)).collect();
        }
        if reads("balances") {
            view.balances = balances(&state, agent, seen);
        }
        if reads("recent_events") {
            view.recent_events = recent(&state, agent);
        }
        if reads("mint_submissions") {
            view.submissions = state.submissions.iter().take(SUBMISSIONS).cloned().collect();
        }
        if reads("economic_context") {
            view.economy = economy(&state, agent);
        }
        view
    }
}

/// The artifacts that the agent may read: genesis artifacts first, then the newest.
fn artifacts(state: &State, agent: &str, seen: usize) -> Vec<Value> {
    let of_the_world = genesis::all().map(|genesis| {
        let mut row = Map::new();
        row.insert("id".into(), text(genesis.id));
        row.insert("type".into(), text("genesis"));
        row.insert("created_by".into(), text("system"));
        row.insert("executable".into(), Value::Bool(true));
        Value::Map(row)
    });
    let newest = state.order.values().rev().take(seen.max(LOOKED_AT));
    let found = newest.filter_map(|id| {
        let artifact = state.readable(agent, id).ok()?;
        Some(genesis::row(id, artifact))
    });
    of_the_world.chain(found.take(seen)).collect()
}

/// The largest balances, and always the agent's own.
fn balances(state: &State, agent: &str, seen: usize) -> Map {
    let all = state.ranks.iter().take(seen);
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
    let rank = state.ranks.iter().take(RANKS).position(|entry| *entry == own);
    let rank = match rank {
        Some(above) => format!("you are number {} of {among} by scrip", above + 1),
        None => format!("you are below the first {RANKS} of {among} by scrip"),
    };
    let mut said = format!("{scrip} scrip in circulation; {rank}");
    if !state.next_auction.is_empty() {
        said.push_str("; ");
        said.push_str(&state.next_auction);
    }
    said
}
