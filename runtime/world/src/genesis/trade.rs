//! Genesis artifacts of money: balances and transfers, sales with escrow, and submissions to the auctions.

use super::{Arguments, Genesis, Method, Run, spawn};
use crate::artifact::Nature;
use crate::bids::{self, Book, Submission, give_back};
use crate::ledger::{Entry, Holder, Resource};
use crate::request::Request;
use crate::state::{Audience, Offer, State, Tried, fail, refused, text};
use chartc_core::expr::{Map, Value};
use chartc_runtime::agent::FailureKind;
use std::cmp::Reverse;

/// The maximum number of offers in a list.
const SHOWN_OFFERS: usize = 200;

pub(super) const ESCROW: Genesis = Genesis {
    id: "genesis_escrow",
    about: "Sales of artifacts, and of agents: the artifact and the scrip change hands at once.",
    methods: &[
        Method {
            name: "deposit",
            params: &["artifact", "price", "buyer?"],
            about: "offers an artifact of yours; until it is sold or you cancel, nobody changes it",
            run: Run::Change(deposit),
        },
        Method {
            name: "purchase",
            params: &["artifact", "price?"],
            about: "buys what is offered: you pay its price, and own it; with a price, only if it costs no more",
            run: Run::Change(purchase),
        },
        Method {
            name: "cancel",
            params: &["artifact"],
            about: "takes an offer of yours back",
            run: Run::Change(cancel),
        },
        Method {
            name: "list",
            params: &[],
            about: "what is offered, the first 200 by id",
            run: Run::Look(list),
        },
    ],
};

fn deposit(state: &mut State, arguments: &Arguments<'_>) -> Tried<Value> {
    let (seller, id, price) = (arguments.caller, arguments.name(0)?, arguments.amount(1)?);
    let buyer = arguments.name_or_none(2)?.map(str::to_owned);
    if let Some(buyer) = &buyer {
        state.principal(buyer)?;
        if buyer == seller {
            return arguments.wrong(2, "is somebody else");
        }
    }
    match &state.disposable(seller, id)?.nature {
        Nature::Data | Nature::Compiled(_) | Nature::Agent { .. } => {}
        Nature::Memory { .. } => {
            let why = format!("`{id}` is the memory of an agent, and stays its own");
            return fail(FailureKind::PermissionDenied, why);
        }
    }
    state.offers.insert(id.to_owned(), Offer { seller: seller.to_owned(), price, buyer });
    let data = [("artifact_id", text(id)), ("by", text(seller)), ("price", Value::Int(price))];
    state.tell("offered", data, Audience::Everyone);
    Ok(Value::Bool(true))
}

fn offer<'s>(state: &'s State, id: &str) -> Tried<&'s Offer> {
    match state.offers.get(id) {
        Some(offer) => Ok(offer),
        None => fail(FailureKind::NotFound, format!("`{id}` is not offered for sale")),
    }
}

fn purchase(state: &mut State, arguments: &Arguments<'_>) -> Tried<Value> {
    let (caller, id) = (arguments.caller, arguments.name(0)?);
    let Offer { seller, price, buyer } = offer(state, id)?.clone();
    if caller == seller {
        let why = format!("`{id}` is your own: cancel the offer to have it back");
        return fail(FailureKind::IntentRejected, why);
    }
    if buyer.is_some_and(|buyer| buyer != caller) {
        let why = format!("`{id}` is offered to somebody else");
        return fail(FailureKind::PermissionDenied, why);
    }
    // The seller may have replaced the offer by a dearer one after the buyer decided.
    if let Some(most) = arguments.number_or_none(1)?
        && price.unsigned_abs() > most
    {
        let why = format!("`{id}` costs {price} scrip, which is more than {most}");
        return fail(FailureKind::IntentRejected, why);
    }
    let (from, to) = (Holder::of(caller), Holder::of(&seller));
    let why = format!("sale of {id}");
    let paid = Entry { from, to, resource: Resource::Scrip, amount: price, why };
    state.hand_over(id, caller, Some(paid))?;
    state.offers.remove(id);
    let data = [
        ("artifact_id", text(id)),
        ("from", text(&seller)),
        ("to", text(caller)),
        ("price", Value::Int(price)),
    ];
    state.tell("sold", data, Audience::Everyone);
    Ok(Value::Bool(true))
}

fn cancel(state: &mut State, arguments: &Arguments<'_>) -> Tried<Value> {
    let (caller, id) = (arguments.caller, arguments.name(0)?);
    if offer(state, id)?.seller != caller {
        let why = format!("`{id}` is not offered by `{caller}`");
        return fail(FailureKind::PermissionDenied, why);
    }
    state.offers.remove(id);
    let data = [("artifact_id", text(id)), ("by", text(caller))];
    state.tell("withdrawn", data, Audience::Everyone);
    Ok(Value::Bool(true))
}

fn list(state: &State, _: &Arguments<'_>) -> Tried<Value> {
    let all = state.offers.iter().take(SHOWN_OFFERS).map(|(id, offer)| {
        let mut row = Map::new();
        row.insert("artifact_id".into(), text(id));
        row.insert("seller".into(), text(&offer.seller));
        row.insert("price".into(), Value::Int(offer.price));
        if let Some(buyer) = &offer.buyer {
            row.insert("buyer".into(), text(buyer));
        }
        Value::Map(row)
    });
    Ok(Value::List(all.collect()))
}

// `genesis_ledger`: balances and transfers of scrip, and the methods with which agents make and stop other agents.

/// The maximum number of balances in a result. They are the largest ones.
const SHOWN_BALANCES: usize = 1_000;

pub(super) const LEDGER: Genesis = Genesis {
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
    let all = state.ranks.iter().take(SHOWN_BALANCES);
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

// `genesis_mint`: submissions to the auctions in which new scrip is minted.

/// The default number of past auctions in a result.
const TOLD: u64 = 10;

pub(super) const MINT: Genesis = Genesis {
    id: bids::MINT,
    about: "Auctions in which new scrip is made: the best bid wins, and the winner's artifact is scored.",
    methods: &[
        Method {
            name: "submit",
            params: &["artifact_id", "bid"],
            about: "bids for an artifact of yours, at any time; the scrip is put aside until the next auction ends",
            run: Run::Change(submit),
        },
        Method {
            name: "withdraw",
            params: &["artifact_id"],
            about: "takes a bid of yours back",
            run: Run::Change(withdraw),
        },
        Method {
            name: "status",
            params: &[],
            about: "the phase of the auction, and how long it goes on",
            run: Run::Look(status),
        },
        Method {
            name: "history",
            params: &["n?"],
            about: "the last auctions, 10 unless said, the newest first: winner, price, score and what was minted",
            run: Run::Look(history),
        },
        Method {
            name: "submissions",
            params: &[],
            about: "the bids that wait, the highest first",
            run: Run::Look(submissions),
        },
    ],
};

fn submit(state: &mut State, arguments: &Arguments<'_>) -> Tried<Value> {
    let (caller, id, bid) = (arguments.caller, arguments.name(0)?, arguments.amount(1)?);
    let mut book = Book::of(state)?;
    if bid < book.settings.minimum_bid {
        return arguments.wrong(1, &format!("is at least {}", book.settings.minimum_bid));
    }
    match &state.disposable(caller, id)?.nature {
        Nature::Data | Nature::Compiled(_) => {}
        Nature::Agent { .. } | Nature::Memory { .. } => {
            let why = format!("`{id}` is an agent or its memory: the mint scores what agents make");
            return fail(FailureKind::IntentRejected, why);
        }
    }
    // The scrip that is held for an earlier bid of the same agent can pay for this one. It is checked before the earlier bid is released,
    // so that a failure leaves that bid in place.
    if let Some(before) = book.submissions.get(id).filter(|before| before.agent == caller) {
        let has = state.ledger.scrip(caller).saturating_add(before.bid);
        if bid > has {
            let why = format!("`{caller}` has {has} scrip with the earlier bid, and bids {bid}");
            return fail(FailureKind::InsufficientScrip, why);
        }
        let before = before.clone();
        book.submissions.remove(id);
        give_back(state, &before)?;
    }
    let room = room(&book, id, bid)?;
    let hold = state.ledger.hold(caller, bid, "bid").map_err(refused)?;
    if let Some((lowest, out)) = room {
        give_back(state, &out)?;
        book.submissions.remove(&lowest);
        let data = [("artifact_id", text(&lowest)), ("by", text(&out.agent))];
        state.tell("bid_displaced", data, Audience::Everyone);
    }
    if let Some(before) = book.submit(id, (caller, bid, hold)) {
        // It belonged to a former owner of the artifact.
        give_back(state, &before)?;
    }
    let data = [("artifact_id", text(id)), ("by", text(caller)), ("bid", Value::Int(bid))];
    state.tell("submitted", data, Audience::Everyone);
    book.keep(state)?;
    Ok(Value::Map(book.status(state.moment.now_ms)))
}

/// The submission that is displaced by a bid when the maximum number is reached: the lowest one, among equal ones the latest. Otherwise an
/// agent could exclude others with many low bids.
fn room(book: &Book, id: &str, bid: i64) -> Tried<Option<(String, Submission)>> {
    let is_full = book.submissions.len() as u64 >= book.settings.max_submissions;
    if !is_full || book.submissions.contains_key(id) {
        return Ok(None);
    }
    let lowest = book.submissions.iter().min_by_key(|(_, one)| (one.bid, Reverse(one.nth)));
    match lowest {
        Some((lowest, one)) if one.bid < bid => Ok(Some((lowest.clone(), one.clone()))),
        Some(_) | None => {
            let most = book.settings.max_submissions;
            let why = format!("{most} submissions wait, and none of them has a lower bid");
            fail(FailureKind::InvocationFailed, why)
        }
    }
}

fn withdraw(state: &mut State, arguments: &Arguments<'_>) -> Tried<Value> {
    let (caller, id) = (arguments.caller, arguments.name(0)?);
    let mut book = Book::of(state)?;
    let one = match book.submissions.get(id) {
        Some(one) if one.agent == caller => one.clone(),
        Some(one) => {
            let why = format!("the bid for `{id}` is of `{}`", one.agent);
            return fail(FailureKind::PermissionDenied, why);
        }
        None => return fail(FailureKind::NotFound, format!("nobody bids for `{id}`")),
    };
    give_back(state, &one)?;
    book.submissions.remove(id);
    let data = [("artifact_id", text(id)), ("by", text(caller)), ("bid", Value::Int(one.bid))];
    state.tell("bid_withdrawn", data, Audience::Everyone);
    book.keep(state)?;
    Ok(Value::Int(one.bid))
}

fn status(state: &State, _: &Arguments<'_>) -> Tried<Value> {
    Ok(Value::Map(Book::of(state)?.status(state.moment.now_ms)))
}

fn history(state: &State, arguments: &Arguments<'_>) -> Tried<Value> {
    let most = arguments.number_or_none(0)?.unwrap_or(TOLD);
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    Ok(Value::List(Book::of(state)?.history.into_iter().rev().take(most).collect()))
}

fn submissions(state: &State, _: &Arguments<'_>) -> Tried<Value> {
    Ok(Value::List(Book::of(state)?.rows()))
}
