//! The state of the mint's auctions: bids, winners and history.
//!
//! Agents submit artifacts with a bid, which is held in the ledger. When the auction closes, the highest bid wins and pays the second
//! highest (a Vickrey auction). The winner is scored, and gets new scrip for the score.
//!
//! ```text
//! submit   ada: essay, 30    ben: map, 20    cleo: poem, 20
//! resolve  ada wins with essay and pays 20; ben and cleo get their bids back; of ada's 30, 10 are returned
//!          the 20 are divided among the 3 agents: 6 each, and 2 leave circulation
//! mint(85) with 2 scrip per point, ada gets 170 new scrip
//! ```

use crate::config::AuctionConfig;
use crate::ledger::{Holder, Resource};
use crate::state::{Audience, State, Tried, fail, int, refused, text};
use chartc_core::expr::{Map, Value};
use chartc_runtime::agent::FailureKind;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};

/// The artifact to which agents submit bids.
pub(crate) const MINT: &str = "genesis_mint";
/// The maximum size of the winner's content in the prompt for its score, in bytes.
const SHOWN: usize = 4_000;
/// The reason in the entries of the ledger.
const WHY: &str = "auction";

/// The phase of the auction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Phase {
    /// The first auction has not opened yet.
    Waiting,
    /// An auction is open, and bids count for it.
    Bidding,
    /// No auction is open. Bids count for the next one.
    Closed,
}

impl Phase {
    const fn word(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Bidding => "bidding",
            Self::Closed => "closed",
        }
    }
}

/// A bid for an artifact. Its scrip is held in the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Submission {
    /// The agent that submitted it.
    pub(crate) agent: String,
    pub(crate) bid: i64,
    /// The number of the hold in the ledger.
    pub(crate) hold: u64,
    /// The number of the submission, which decides between equal bids.
    pub(crate) nth: u64,
}

/// The winner of an auction, until it has its score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Won {
    auction: u64,
    artifact: String,
    agent: String,
    bid: i64,
    price: i64,
    content: String,
}

/// The state of all auctions, which the world keeps under [`MINT`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Book {
    pub(crate) settings: AuctionSettings,
    phase: Phase,
    /// The number of auctions opened so far.
    auction: u64,
    opened_ms: u64,
    /// The number of submissions so far.
    count: u64,
    /// The current submissions, by artifact.
    pub(crate) submissions: BTreeMap<String, Submission>,
    won: Option<Won>,
    /// The results of the last auctions, the oldest first, in the form in which agents see them.
    pub(crate) history: VecDeque<Value>,
}

impl Book {
    /// Starts to accept bids. If the world has kept an earlier state, it continues with new settings.
    pub(crate) fn begin(state: &mut State, settings: AuctionSettings) -> Tried<Value> {
        let book = if state.kept.contains_key(MINT) {
            Self { settings, ..Self::of(state)? }
        } else {
            Self {
                settings,
                phase: Phase::Waiting,
                auction: 0,
                opened_ms: 0,
                count: 0,
                submissions: BTreeMap::new(),
                won: None,
                history: VecDeque::new(),
            }
        };
        book.keep(state)
    }

    /// Reads the state that the world keeps.
    ///
    /// # Errors
    /// The world has no auctions, or the state is damaged.
    pub(crate) fn of(state: &State) -> Tried<Self> {
        let Some(kept) = state.kept.get(MINT) else {
            return fail(FailureKind::InvocationFailed, "there are no auctions in this world");
        };
        // The state is converted through JSON text, exactly as in a snapshot, so that a restored world behaves the same.
        let book = serde_json::to_string(kept).and_then(|text| serde_json::from_str(&text));
        book.or_else(|why| {
            fail(FailureKind::InvocationFailed, format!("the books of the mint are damaged: {why}"))
        })
    }

    /// Stores the state in the world, and updates what agents see of it.
    pub(crate) fn keep(&self, state: &mut State) -> Tried<Value> {
        let kept = serde_json::to_string(self).and_then(|text| serde_json::from_str(&text));
        let kept: Value = match kept {
            Ok(kept) => kept,
            Err(why) => return fail(FailureKind::InvocationFailed, why.to_string()),
        };
        state.kept.insert(MINT.to_owned(), kept);
        state.submissions = self.rows();
        state.next_auction = self.told();
        Ok(Value::None)
    }

    /// The submissions as `{artifact_id, agent, bid}`, the highest bid first.
    pub(crate) fn rows(&self) -> Vec<Value> {
        let mut all: Vec<(&String, &Submission)> = self.submissions.iter().collect();
        all.sort_by_key(|(_, one)| (Reverse(one.bid), one.nth));
        let row = |(id, one): (&String, &Submission)| {
            let row = [
                ("artifact_id", text(id)),
                ("agent", text(&one.agent)),
                ("bid", Value::Int(one.bid)),
            ];
            Value::Map(row.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
        };
        all.into_iter().map(row).collect()
    }

    /// The time at which the current phase ends, in milliseconds of the run.
    fn ends_ms(&self) -> u64 {
        let spans = self.settings.ms();
        match self.phase {
            Phase::Waiting => spans.first_delay,
            Phase::Bidding => self.opened_ms.saturating_add(spans.window),
            Phase::Closed => self.opened_ms.saturating_add(spans.period),
        }
    }

    /// Describes the next auction in words.
    fn told(&self) -> String {
        let seconds = self.ends_ms() as f64 / 1000.0;
        match self.phase {
            Phase::Waiting => format!("the first auction of the mint opens at second {seconds}"),
            Phase::Bidding => {
                format!("auction {} of the mint closes at second {seconds}", self.auction)
            }
            Phase::Closed => format!("the next auction of the mint opens at second {seconds}"),
        }
    }

    /// The status of the auction as a map that agents see.
    pub(crate) fn status(&self, now_ms: u64) -> Map {
        let left = self.ends_ms().saturating_sub(now_ms) as f64 / 1000.0;
        let mut status = Map::new();
        status.insert("phase".into(), text(self.phase.word()));
        status.insert("auction".into(), int(self.auction));
        status.insert("seconds_left".into(), Value::Float(left));
        status.insert("submissions".into(), int(self.submissions.len() as u64));
        status.insert("minimum_bid".into(), Value::Int(self.settings.minimum_bid.max(1)));
        if let Some(highest) = self.submissions.values().map(|one| one.bid).max() {
            status.insert("highest_bid".into(), Value::Int(highest));
        }
        if let Some(won) = &self.won {
            status.insert("being_scored".into(), text(&won.artifact));
        }
        status
    }

    /// Adds a submission. Returns the one for the same artifact that it replaces, whose hold the caller has to release.
    pub(crate) fn submit(
        &mut self,
        artifact: &str,
        (agent, bid, hold): (&str, i64, u64),
    ) -> Option<Submission> {
        self.count += 1;
        let one = Submission { agent: agent.to_owned(), bid, hold, nth: self.count };
        self.submissions.insert(artifact.to_owned(), one)
    }

    pub(crate) fn won_artifact(&self) -> Value {
        self.won.as_ref().map_or(Value::None, |won| text(&won.artifact))
    }

    pub(crate) fn won_content(&self) -> Value {
        text(self.won.as_ref().map_or("", |won| &won.content))
    }

    pub(crate) fn estimate(&self) -> Value {
        Value::Int(self.settings.default_score)
    }

    /// Adds the result of an auction to the history.
    fn remember(&mut self, won: &Won, score: Option<i64>, minted: i64) {
        let mut row = Map::new();
        row.insert("auction".into(), int(won.auction));
        row.insert("artifact_id".into(), text(&won.artifact));
        row.insert("winner".into(), text(&won.agent));
        row.insert("bid".into(), Value::Int(won.bid));
        row.insert("price".into(), Value::Int(won.price));
        row.insert("score".into(), score.map_or(Value::None, Value::Int));
        row.insert("minted".into(), Value::Int(minted));
        self.history.push_back(Value::Map(row));
        while self.history.len() as u64 > self.settings.max_history {
            self.history.pop_front();
        }
    }
}

/// Opens an auction.
pub(crate) fn open(state: &mut State, now_ms: u64) -> Tried<Value> {
    let mut book = Book::of(state)?;
    book.phase = Phase::Bidding;
    book.auction += 1;
    book.opened_ms = now_ms;
    let data =
        [("auction", int(book.auction)), ("submissions", int(book.submissions.len() as u64))];
    state.tell("auction_opened", data, Audience::Everyone);
    book.keep(state)
}

/// Closes the auction. The highest bid wins, among equal ones the earliest. The winner pays the highest bid of another agent, or the
/// minimum bid. The price is divided equally among all agents, and the rest that cannot be divided leaves circulation. All other bids are
/// returned, as well as bids for artifacts that were deleted or have another owner by now.
pub(crate) fn resolve(state: &mut State) -> Tried<Value> {
    let mut book = Book::of(state)?;
    book.phase = Phase::Closed;
    // The last winner was never scored, and goes into the history without a score.
    if let Some(won) = book.won.take() {
        book.remember(&won, None, 0);
    }
    let is_owned = |state: &State, id: &str, one: &Submission| {
        state.artifacts.get(id).is_some_and(|artifact| artifact.owner == one.agent)
    };
    let (owned, void): (BTreeMap<_, _>, BTreeMap<_, _>) = std::mem::take(&mut book.submissions)
        .into_iter()
        .partition(|(id, one)| is_owned(state, id, one));
    let best = owned.iter().max_by_key(|(_, one)| (one.bid, Reverse(one.nth)));
    let best = best.map(|(id, one)| (id.clone(), one.clone()));
    for (id, one) in owned.iter().chain(&void) {
        if best.as_ref().is_none_or(|(winner, _)| winner != id) {
            give_back(state, one)?;
        }
    }
    let mut data = Map::new();
    if let Some((artifact, one)) = best {
        // Otherwise an agent could set its own price with a second artifact.
        let others = owned.values().filter(|other| other.agent != one.agent);
        let second = others.map(|other| other.bid).max().unwrap_or(0);
        let price = second.max(book.settings.minimum_bid);
        pay(state, &one, price)?;
        data.insert("artifact_id".into(), text(&artifact));
        data.insert("winner".into(), text(&one.agent));
        data.insert("bid".into(), Value::Int(one.bid));
        data.insert("price".into(), Value::Int(price));
        let content = shown(state, &artifact);
        let (auction, agent, bid) = (book.auction, one.agent, one.bid);
        book.won = Some(Won { auction, artifact, agent, bid, price, content });
    }
    let get = |name: &str| data.get(name).cloned().unwrap_or_default();
    let told = [
        ("auction", int(book.auction)),
        ("artifact_id", get("artifact_id")),
        ("winner", get("winner")),
        ("bid", get("bid")),
        ("price", get("price")),
    ];
    state.tell("auction_resolved", told, Audience::Everyone);
    book.keep(state)
}

/// Releases the hold of a bid.
pub(crate) fn give_back(state: &mut State, one: &Submission) -> Tried<()> {
    let back = state.ledger.release(one.hold, Holder::of(&one.agent), WHY);
    back.map(drop).map_err(refused)
}

/// Takes the price from the winner's hold, and releases the rest.
fn pay(state: &mut State, one: &Submission, price: i64) -> Tried<()> {
    let agents = state.principals.iter().filter(|(_, one)| one.is_agent && !one.is_stopped);
    let agents: Vec<String> = agents.map(|(name, _)| name.clone()).collect();
    let share = price.checked_div(i64::try_from(agents.len()).unwrap_or(i64::MAX)).unwrap_or(0);
    let mut parts = vec![(Holder::of(&one.agent), one.bid - price)];
    let mut rest = price;
    for agent in agents.iter().filter(|_| share > 0) {
        parts.push((Holder::of(agent), share));
        rest -= share;
    }
    parts.push((Holder::Mint, rest));
    for (to, part) in parts.into_iter().filter(|(_, part)| *part > 0) {
        state.ledger.release_part(one.hold, to, part, WHY).map_err(refused)?;
    }
    Ok(())
}

/// The beginning of an artifact's content, as the prompt for its score shows it.
fn shown(state: &State, artifact: &str) -> String {
    let content = match state.artifacts.get(artifact).map(|artifact| &artifact.content) {
        None | Some(Value::None) => String::new(),
        Some(Value::Text(text)) => text.clone(),
        Some(
            other @ (Value::Bool(_)
            | Value::Int(_)
            | Value::Float(_)
            | Value::Duration(_)
            | Value::List(_)
            | Value::Map(_)),
        ) => serde_json::to_string(other).unwrap_or_default(),
    };
    let mut end = content.len().min(SHOWN);
    while !content.is_char_boundary(end) {
        end -= 1;
    }
    content[..end].to_owned()
}

/// Mints scrip for the winner according to its score from 0 to 100, and adds the auction to the history.
pub(crate) fn mint(state: &mut State, score: i64) -> Tried<Value> {
    let mut book = Book::of(state)?;
    let Some(won) = book.won.take() else {
        return fail(FailureKind::InvocationFailed, "no winner waits for a score");
    };
    let score = score.clamp(0, 100);
    let minted = score * book.settings.scrip_per_point;
    if minted > 0 {
        state.ledger.mint(&won.agent, Resource::Scrip, minted, WHY).map_err(refused)?;
    }
    book.remember(&won, Some(score), minted);
    let data = [
        ("auction", int(won.auction)),
        ("artifact_id", text(&won.artifact)),
        ("winner", text(&won.agent)),
        ("score", Value::Int(score)),
        ("minted", Value::Int(minted)),
    ];
    state.tell("auction_scored", data, Audience::Everyone);
    book.keep(state)
}

// The times and amounts of auctions.

/// The maximum of each time, in seconds: 366 days.
const LONGEST: f64 = 366.0 * 24.0 * 60.0 * 60.0;

/// The times and amounts of auctions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AuctionSettings {
    /// The seconds from the opening of one auction to that of the next.
    pub period_seconds: f64,
    /// The seconds for which an auction is open. Later bids count for the next auction.
    pub bidding_window_seconds: f64,
    /// The seconds before the first auction opens.
    pub first_auction_delay_seconds: f64,
    /// The seconds that a model may take to answer with a score.
    pub scoring_seconds: f64,
    /// The minimum bid, which is also the minimum price for the winner.
    pub minimum_bid: i64,
    /// The scrip that is minted for each point of the score, which ranges from 0 to 100.
    pub scrip_per_point: i64,
    /// The score if no model gives one.
    pub default_score: i64,
    /// The maximum number of submissions at a time.
    pub max_submissions: u64,
    /// The maximum number of auctions in the history.
    pub max_history: u64,
}

impl Default for AuctionSettings {
    fn default() -> Self {
        Self {
            period_seconds: 60.0,
            bidding_window_seconds: 30.0,
            first_auction_delay_seconds: 30.0,
            scoring_seconds: 20.0,
            minimum_bid: 0,
            scrip_per_point: 1,
            default_score: 0,
            max_submissions: 1_000,
            max_history: 100,
        }
    }
}

impl AuctionSettings {
    /// Checks that the settings are in range and fit together.
    ///
    /// # Errors
    /// A description of the first setting that does not fit.
    pub fn check(&self) -> Result<(), String> {
        let times = [
            ("period_seconds", self.period_seconds, true),
            ("bidding_window_seconds", self.bidding_window_seconds, true),
            ("first_auction_delay_seconds", self.first_auction_delay_seconds, false),
            ("scoring_seconds", self.scoring_seconds, false),
        ];
        for (name, seconds, is_span) in times {
            // The comparison also refuses NaN.
            let fits = (0.0..=LONGEST).contains(&seconds) && !(is_span && ms(seconds) == 0);
            if !fits {
                let least = if is_span { "above 0" } else { "0 or more" };
                return Err(format!("`{name}` is {least} and at most {LONGEST}; it is {seconds}"));
            }
        }
        if self.ms().window + self.ms().patience > self.ms().period {
            return Err(format!(
                "an auction of {} seconds and a score within {} do not fit into a period of {}",
                self.bidding_window_seconds, self.scoring_seconds, self.period_seconds
            ));
        }
        if self.minimum_bid < 0 || self.scrip_per_point < 0 {
            return Err("`minimum_bid` and `scrip_per_point` are 0 or more".into());
        }
        if self.scrip_per_point > i64::MAX / 100 {
            return Err("`scrip_per_point` is too large".into());
        }
        if !(0..=100).contains(&self.default_score) {
            return Err(format!("`default_score` is from 0 to 100; it is {}", self.default_score));
        }
        Ok(())
    }

    /// The params of the auction's chart.
    pub fn params(&self) -> Map {
        let Spans { period, window, first_delay, patience } = self.ms();
        let mut params = Map::new();
        params.insert("period".into(), Value::Duration(period));
        params.insert("window".into(), Value::Duration(window));
        params.insert("first_delay".into(), Value::Duration(first_delay));
        params.insert("patience".into(), Value::Duration(patience));
        params
    }

    fn ms(&self) -> Spans {
        Spans {
            period: ms(self.period_seconds),
            window: ms(self.bidding_window_seconds),
            first_delay: ms(self.first_auction_delay_seconds),
            patience: ms(self.scoring_seconds),
        }
    }
}

/// The times in milliseconds.
struct Spans {
    period: u64,
    window: u64,
    first_delay: u64,
    patience: u64,
}

fn ms(seconds: f64) -> u64 {
    (seconds * 1000.0).round() as u64
}

impl From<&AuctionConfig> for AuctionSettings {
    /// The settings that a run file means.
    fn from(config: &AuctionConfig) -> Self {
        let seconds = |milliseconds: u64| milliseconds as f64 / 1000.0;
        let usual = AuctionSettings::default();
        let rest = seconds(config.period.saturating_sub(config.bidding_window));
        let score = config.default_score.map(|score| i64::try_from(score).unwrap_or(i64::MAX));
        Self {
            // By default scoring takes what is left of the period behind the bidding, at most the usual time, so that it ends before the next
            // auction.
            scoring_seconds: config.scoring_time.map_or(rest.min(usual.scoring_seconds), seconds),
            period_seconds: seconds(config.period),
            bidding_window_seconds: seconds(config.bidding_window),
            first_auction_delay_seconds: seconds(config.first_delay),
            minimum_bid: config.minimum_bid,
            scrip_per_point: config.scrip_per_point,
            default_score: score.unwrap_or(usual.default_score),
            max_submissions: config.max_submissions.unwrap_or(usual.max_submissions),
            max_history: config.max_history.unwrap_or(usual.max_history),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_amounts_fit_each_other() {
        let usual = AuctionSettings::default();
        assert_eq!(usual.check(), Ok(()));
        let faulty = [
            AuctionSettings { period_seconds: 0.0, ..usual.clone() },
            AuctionSettings { period_seconds: f64::NAN, ..usual.clone() },
            AuctionSettings { period_seconds: f64::INFINITY, ..usual.clone() },
            AuctionSettings { first_auction_delay_seconds: -1.0, ..usual.clone() },
            AuctionSettings { bidding_window_seconds: 0.0001, ..usual.clone() },
            AuctionSettings { bidding_window_seconds: 41.0, ..usual.clone() },
            AuctionSettings { minimum_bid: -1, ..usual.clone() },
            AuctionSettings { scrip_per_point: i64::MAX, ..usual.clone() },
            AuctionSettings { default_score: 101, ..usual.clone() },
        ];
        for settings in faulty {
            assert!(settings.check().is_err(), "{settings:?}");
        }
        let at_the_edge = AuctionSettings {
            bidding_window_seconds: 60.0,
            scoring_seconds: 0.0,
            first_auction_delay_seconds: 0.0,
            ..usual
        };
        assert_eq!(at_the_edge.check(), Ok(()));
        assert_eq!(at_the_edge.params().get("window"), Some(&Value::Duration(60_000)));
    }
}
