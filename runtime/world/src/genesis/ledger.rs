//! `genesis_ledger`: balances and transfers of scrip, and the methods with which agents make and stop other agents.

use super::arguments::Arguments;
use super::{Genesis, Method, Run, spawn};
use crate::ledger::{Holder, Resource};
use crate::request::Request;
use crate::state::{Audience, State, Tried, fail, refused, text};
use chartc_core::expr::{Map, Value};
use chartc_runtime::agent::FailureKind;

/// The maximum number of balances in a result. They are the largest ones.
const SHOWN: usize = 1_000;

pub(super) const GENESIS: Genesis = Genesis {
    id: "genesis_ledger",
    about: "Scrip: who has how much, and how it moves. New agents are made here.",
    methods: &[
        Method {
            name: "balance",
            params: &["agent?"],
            about: "the scrip of an agent, or your own",
            run: Run::Look(balance),
        },
        Method {
            name: "all_balances",
            params: &[],
            about: "the scrip of all agents, the richest 1,000",
            run: Run::Look(all_balances),
        },
        Method {
            name: "transfer",
            params: &["to", "amount", "from?"],
            about: "pays scrip of yours; (from, to, amount) is the same where `from` is you",
            run: Run::Change(transfer),
        },
        Method {
            name: "transfer_ownership",
            params: &["artifact", "to"],
            about: "gives an artifact of yours to somebody, and of your disk what it takes",
            run: Run::Change(transfer_ownership),
        },
        Method {
            name: "spawn_principal",
            params: &["artifact_id", "name?", "scrip?", "params?"],
            about: "makes an agent of an artifact of type chart or agent; the scrip is yours before",
            run: Run::Change(spawn::spawn),
        },
        Method {
            name: "pause_principal",
            params: &["agent"],
            about: "an agent that you own takes no turns until you resume it",
            run: Run::Change(pause),
        },
        Method {
            name: "resume_principal",
            params: &["agent"],
            about: "an agent that you own takes turns again",
            run: Run::Change(resume),
        },
        Method {
            name: "stop_principal",
            params: &["agent"],
            about: "stops an agent that you own, for good",
            run: Run::Change(stop),
        },
    ],
};

fn balance(state: &State, arguments: &Arguments<'_>) -> Tried<Value> {
    let of = arguments.name_or_none(0)?.unwrap_or(arguments.caller);
    state.principal(of)?;
    Ok(Value::Int(state.ledger.scrip(of)))
}

fn all_balances(state: &State, _: &Arguments<'_>) -> Tried<Value> {
    let all = state.ranks.iter().take(SHOWN);
    Ok(Value::Map(all.map(|(scrip, name)| (name.clone(), Value::Int(scrip.0))).collect::<Map>()))
}

fn transfer(state: &mut State, arguments: &Arguments<'_>) -> Tried<Value> {
    // By name, `from` is the optional third argument. By position it may come first: (from, to, amount).
    let by_order = matches!(arguments.get(2), Some(Value::Int(_) | Value::Float(_)));
    let (from, to, amount) =
        if by_order { (Some(0), 1, 2) } else { (arguments.get(2).map(|_| 2), 0, 1) };
    if let Some(at) = from {
        let from = arguments.name(at)?;
        if from != arguments.caller {
            let why = format!("`{}` may not pay with the scrip of `{from}`", arguments.caller);
            return fail(FailureKind::PermissionDenied, why);
        }
    }
    let (to, amount) = (arguments.name(to)?, arguments.amount(amount)?);
    state.principal(to)?;
    let (from, receiver) = (Holder::of(arguments.caller), Holder::of(to));
    let moved = state.ledger.transfer(from, receiver, Resource::Scrip, amount, "transfer");
    moved.map_err(refused)?;
    let mut done = Map::new();
    done.insert("transferred".into(), Value::Int(amount));
    done.insert("to".into(), text(to));
    done.insert("balance".into(), Value::Int(state.ledger.scrip(arguments.caller)));
    Ok(Value::Map(done))
}

fn transfer_ownership(state: &mut State, arguments: &Arguments<'_>) -> Tried<Value> {
    let (id, to) = (arguments.name(0)?, arguments.name(1)?);
    state.disposable(arguments.caller, id)?;
    state.hand_over(id, to, None)?;
    let data = [("artifact_id", text(id)), ("from", text(arguments.caller)), ("to", text(to))];
    state.tell("given", data, Audience::Everyone);
    Ok(Value::Bool(true))
}

/// The agent in the first argument, if the caller owns it and it is not stopped.
fn own<'a>(state: &State, arguments: &'a Arguments<'_>) -> Tried<&'a str> {
    let agent = arguments.name(0)?;
    if state.agent(agent)?.is_stopped {
        return fail(FailureKind::InvocationFailed, format!("`{agent}` is stopped already"));
    }
    state.disposable(arguments.caller, agent)?;
    Ok(agent)
}

/// Adds a request about an agent, and reports the event to all agents.
fn order(state: &mut State, arguments: &Arguments<'_>, event: &str, wanted: Request) -> Value {
    state.requests.push(wanted);
    let agent = arguments.name(0).unwrap_or_default();
    let data = [("agent", text(agent)), ("by", text(arguments.caller))];
    state.tell(event, data, Audience::Everyone);
    Value::Bool(true)
}

fn pause(state: &mut State, arguments: &Arguments<'_>) -> Tried<Value> {
    let (agent, by) = (own(state, arguments)?.to_owned(), arguments.caller.to_owned());
    Ok(order(state, arguments, "paused", Request::Pause { agent, by }))
}

fn resume(state: &mut State, arguments: &Arguments<'_>) -> Tried<Value> {
    let agent = own(state, arguments)?.to_owned();
    Ok(order(state, arguments, "resumed", Request::Resume { agent }))
}

fn stop(state: &mut State, arguments: &Arguments<'_>) -> Tried<Value> {
    let agent = own(state, arguments)?.to_owned();
    if let Some(principal) = state.principals.get_mut(&agent) {
        principal.is_stopped = true;
    }
    Ok(order(state, arguments, "stopped", Request::Stop { agent }))
}
