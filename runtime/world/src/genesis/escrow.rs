//! `genesis_escrow`: sales of artifacts for scrip. The artifact and the scrip change hands together, or neither does.

use super::arguments::Arguments;
use super::{Genesis, Method, Run};
use crate::artifact::Nature;
use crate::ledger::{Entry, Holder, Resource};
use crate::state::{Audience, Offer, State, Tried, fail, text};
use chartc_core::expr::{Map, Value};
use chartc_runtime::agent::FailureKind;

/// The maximum number of offers in a list.
const SHOWN: usize = 200;

pub(super) const GENESIS: Genesis = Genesis {
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
    let all = state.offers.iter().take(SHOWN).map(|(id, offer)| {
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
