//! `genesis_mint`: submissions to the auctions in which new scrip is minted.

use super::arguments::Arguments;
use super::{Genesis, Method, Run};
use crate::artifact::Nature;
use crate::bids::{Book, MINT, Submission, give_back};
use crate::state::{Audience, State, Tried, fail, refused, text};
use chartc_core::expr::Value;
use chartc_runtime::agent::FailureKind;
use std::cmp::Reverse;

/// The default number of past auctions in a result.
const TOLD: u64 = 10;

pub(super) const GENESIS: Genesis = Genesis {
    id: MINT,
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
