//! The operations on runs that clients have, shared by HTTP and MCP.
//!
//! **The problem.** Clients come and go, and repeat a request if its reply was lost. A run must continue without them: somebody has to make
//! its turns, but not turns without end while it waits for a person. After a restart nothing may happen twice.
//!
//! **The idea.** [`Runs`] has one method for each operation, on the engine of the store. All input has an id that the store remembers:
//! `begin`, `client:ID` for an event of a client, `turn:N` for a turn. So each operation may be repeated. For each run a task (`Driver`)
//! makes one turn after the other, and waits for the trace to grow if a turn did nothing or a person is asked. [`Feed`] tells subscribers
//! that a trace has grown. [`Refusal`] has the reasons why a request changes nothing; [`Offer`] describes the chart to clients.
//!
//! **Example.** `POST /runs {"run": "t1", "turns": 3}`:
//!
//! ```text
//! begin          the run is stored; the task fires `turn:1`, in which a model is asked
//! turn:2         its lines only record the turn: the task waits (`news`), and `rest` returns
//! client:7       an event from a client: the trace grows, and the task fires `turn:3`
//! (restart)      `turn:1` and `turn:2` are in the store: `drive` skips them
//! ```

use super::guard::{Client, unique};
use chartc_core::expr;
use chartc_core::machine::Receipt;
use chartc_core::model::{Chart, Field, VariableKind, Within, schema};
use chartc_runtime::agents::{Engine, EngineError, Event, INPUTS, NextAct, Reply};
use chartc_runtime::trace::{Line, What};
use chartc_store::{Listed, Outage, Sqlite, Store, StoreError};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// The maximum number of trace lines per read.
pub(super) const LINES: u32 = 256;

/// The complete parameters of a new run, as they are stored with it.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRequest<'g> {
    /// The name of the chart.
    pub chart: &'g str,
    /// The params that the client gives.
    pub params: &'g expr::Map,
    /// The inputs that the client gives.
    pub inputs: &'g expr::Map,
    /// The number of turns that the run makes by itself.
    pub turns: u32,
    /// The client that begins it, if there are several.
    pub client: Option<&'g str>,
}

/// A client's request to start a run.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Order {
    /// The name of the chart; optional if the server has only one.
    pub chart: Option<String>,
    /// The name of the run. A second request with the same name and values finds the run instead of starting another.
    pub run: Option<String>,
    /// The params.
    pub params: expr::Map,
    /// The inputs.
    pub inputs: expr::Map,
    /// The number of turns that the run makes by itself; `None` for the default of the chart.
    pub turns: Option<u32>,
}

/// What clients may use of a server: each client, if they have names, otherwise all together.
#[derive(Debug, Clone)]
pub struct Limits {
    /// The number of runs that have not ended.
    pub runs: u64,
    /// The number of events in a minute.
    pub events: Option<u32>,
    /// The path of the store, and its maximum size with its log, in MiB. It holds for all clients together.
    pub store: Option<(PathBuf, u64)>,
}

impl Limits {
    /// # Errors
    /// The store has its maximum size.
    #[allow(
        clippy::disallowed_methods,
        reason = "the size of a file that the server itself writes"
    )]
    fn ensure_room(&self) -> Result<(), Refusal> {
        let Some((path, most)) = &self.store else { return Ok(()) };
        let size = |suffix: &str| {
            let mut name = path.clone().into_os_string();
            name.push(suffix);
            std::fs::metadata(name).map_or(0, |known| known.len())
        };
        if (size("") + size("-wal")) >> 20 < *most {
            Ok(())
        } else {
            Err(Refusal::StoreFull(*most))
        }
    }
}

/// The events of clients in the current minute.
#[derive(Debug, Default)]
struct EventCount {
    since: Option<Instant>,
    count: u32,
}

impl EventCount {
    /// Counts an event.
    ///
    /// # Errors
    /// There were `most` in this minute.
    fn add(&mut self, most: u32) -> Result<(), Refusal> {
        const MINUTE: Duration = Duration::from_mins(1);
        let now = Instant::now();
        let since = *self.since.get_or_insert(now);
        let passed = now.duration_since(since);
        if passed >= MINUTE {
            *self = Self { since: Some(now), count: 0 };
        } else if self.count >= most {
            return Err(Refusal::TooFast {
                most,
                after_s: MINUTE.saturating_sub(passed).as_secs() + 1,
            });
        }
        self.count += 1;
        Ok(())
    }
}

/// Serialises the parameters of a run, so that a later process can create the same machine.
type Note = Box<dyn Fn(&RunRequest<'_>) -> String + Send + Sync>;

/// The runs of a server: the engine that keeps them, and the tasks that make their turns.
pub struct Runs {
    engine: Sqlite,
    feed: Feed,
    offers: Vec<Offer>,
    note: Note,
    limits: Limits,
    /// The events of the current minute, by client.
    events: Mutex<BTreeMap<Client, EventCount>>,
    /// The clients that began runs which have not ended, if clients have names.
    owners: Mutex<BTreeMap<String, Arc<str>>>,
    /// For each run with a task that makes its turns: the channel on which the task reports that the run waits.
    at_rest: Mutex<BTreeMap<String, watch::Receiver<Option<u64>>>>,
    /// Held while a run is started, so that two requests at once cannot exceed `most`.
    beginning: tokio::sync::Mutex<()>,
}

impl Runs {
    /// Creates the runs of an engine, which must announce its commits on `feed`. `note` serialises the parameters of each run.
    pub fn new(
        engine: Sqlite,
        feed: Feed,
        offers: Vec<Offer>,
        limits: Limits,
        note: impl Fn(&RunRequest<'_>) -> String + Send + Sync + 'static,
    ) -> Self {
        let (note, at_rest) = (Box::new(note), Mutex::default());
        let beginning = tokio::sync::Mutex::default();
        let (events, owners) = (Mutex::default(), Mutex::default());
        Self { engine, feed, offers, note, limits, events, owners, at_rest, beginning }
    }

    pub(super) fn offers(&self) -> &[Offer] {
        &self.offers
    }

    /// Starts a run, or finds the run that the same order has started. Returns its name and whether it is new.
    ///
    /// # Errors
    /// See [`Refusal`].
    pub async fn begin(
        self: &Arc<Self>,
        order: Order,
        client: Client,
    ) -> Result<(String, bool), Refusal> {
        let runs = self.clone();
        // On a task of its own: if the client disconnects and this future is dropped, the run must still get its turns.
        let begun = tokio::spawn(async move { runs.begun(order, client).await }).await;
        begun.unwrap_or_else(|why| Err(Refusal::Store(why.to_string())))
    }

    async fn begun(&self, order: Order, client: Client) -> Result<(String, bool), Refusal> {
        let offer = self.offer(order.chart.as_deref())?;
        fit(offer, "param", &offer.params, &order.params)?;
        fit(offer, "input", &offer.inputs, &order.inputs)?;
        let run = match order.run {
            Some(run) => named(run)?,
            None => {
                let unique = unique().map_err(|why| Refusal::Store(why.to_string()))?;
                format!("{}-{unique}", offer.name.to_lowercase())
            }
        };
        let turns = order.turns.unwrap_or(offer.turns);
        if turns > offer.most_turns {
            let most = offer.most_turns;
            return Err(Refusal::Misfit(format!("`turns` is at most {most} at this server")));
        }
        let (params, inputs) = (&order.params, &order.inputs);
        let client_name = client.as_deref();
        let request = RunRequest { chart: &offer.name, params, inputs, turns, client: client_name };
        let given = (self.note)(&request);
        let _one = self.beginning.lock().await;
        let name = run.clone();
        let found = self.engine.look(move |store| store.find(&name)).await?;
        let is_new = match found? {
            // The first attempt failed before its first step, for example because no model could be reached: try again.
            Some(found) if found.given == given && found.status == "broken" => false,
            Some(found) if found.given == given => return Ok((run, false)),
            Some(found) if found.is_damaged() => {
                return Err(Refusal::NotNow(found.stopped.unwrap_or_default()));
            }
            Some(_) => return Err(Refusal::Taken(run)),
            None if self.unfinished(&client).await? >= self.limits.runs => {
                return Err(Refusal::TooMany(self.limits.runs));
            }
            None => true,
        };
        self.limits.ensure_room()?;
        let begin = Event { id: "begin".into(), name: INPUTS.into(), data: order.inputs };
        match self.engine.begin(&run, given, begin).await {
            Ok(_) => {}
            Err(EngineError::Stopped { .. }) if !is_new => return Ok((run, false)),
            // The machine was not created: the values do not fit the chart.
            Err(EngineError::Stopped { why, .. }) => return Err(Refusal::Misfit(why)),
            Err(why @ (EngineError::Event { .. } | EngineError::Away { .. })) => {
                return Err(self.refused(why));
            }
        }
        if let Some(client) = client {
            self.own(&run, client);
        }
        self.drive(&run, turns);
        Ok((run, is_new))
    }

    /// Notes which client has begun a run that has not ended. Also used for runs that an earlier process started.
    pub fn own(&self, run: &str, client: Arc<str>) {
        let mut owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        owners.insert(run.to_owned(), client);
    }

    /// The number of runs of a client that have not ended; of all runs if clients have no names.
    async fn unfinished(&self, client: &Client) -> Result<u64, Refusal> {
        let Some(client) = client else {
            return Ok(self.engine.look(|store| store.unfinished()).await??);
        };
        let listed = self.engine.look(|store| store.list_unfinished()).await??;
        let running: BTreeSet<&str> = listed.iter().map(|row| row.run.as_str()).collect();
        let mut owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        owners.retain(|run, _| running.contains(run.as_str()));
        Ok(owners.values().filter(|owner| *owner == client).count() as u64)
    }

    /// Starts a task that makes the turns of a run which were not made yet. Also used for runs that an earlier process started.
    pub fn drive(&self, run: &str, turns: u32) {
        if turns == 0 {
            return;
        }
        let (said, at_rest) = watch::channel(None);
        let mut all = self.at_rest.lock().unwrap_or_else(PoisonError::into_inner);
        // The map would otherwise grow with every run. Drop the receivers whose tasks have ended.
        all.retain(|_, at_rest| at_rest.has_changed().is_ok());
        all.insert(run.to_owned(), at_rest);
        drop(all);
        let (engine, feed) = (self.engine.clone(), self.feed.clone());
        let driver = Driver { engine, feed, run: run.to_owned(), at_rest: said };
        tokio::spawn(driver.drive(turns));
    }

    /// Sends an event to a run. An event with the `id` of an earlier one has no effect. It gets the earlier reply if it has the same content,
    /// and is refused otherwise.
    ///
    /// # Errors
    /// See [`Refusal`].
    pub async fn fire(
        &self,
        run: &str,
        id: Option<String>,
        name: String,
        data: expr::Map,
        client: &Client,
    ) -> Result<Reply, Refusal> {
        self.find(run).await?;
        self.limits.ensure_room()?;
        if let Some(most) = self.limits.events {
            let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
            events.entry(client.clone()).or_default().add(most)?;
        }
        let id = match id {
            Some(id) if id.is_empty() || id.len() > 256 => {
                return Err(Refusal::Misfit("an id has 1 to 256 bytes".into()));
            }
            // A prefix of their own keeps clients' ids apart from `begin` and `turn:N`.
            Some(id) => format!("client:{id}"),
            None => unique().map_err(|why| Refusal::Store(why.to_string()))?,
        };
        let event = Event { id, name, data };
        let content = event.content();
        let reply = self.engine.fire(run, event).await.map_err(|why| self.refused(why))?;
        if reply.is_of_other(content) { Err(Refusal::OtherEvent) } else { Ok(reply) }
    }

    /// Answers an open question on behalf of a person. When this returns `Ok`, the answer and its effects are committed.
    ///
    /// # Errors
    /// See [`Refusal`].
    pub async fn answer(&self, run: &str, question: &str, text: String) -> Result<(), Refusal> {
        self.find(run).await?;
        Ok(self.engine.reply(run, question, text).await?)
    }

    /// Lists at most `most` runs whose names come after `after`, as JSON. If there are more, the last name of this list is returned, too.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn list(&self, after: &str, most: u32) -> Result<(Value, Option<String>), Refusal> {
        let after = after.to_owned();
        // One more row tells whether there are more.
        let read = move |store: &Store| store.list_after(&after, most.saturating_add(1));
        let mut rows = self.engine.look(read).await??;
        let has_more = rows.len() > most as usize;
        rows.truncate(most as usize);
        let last = rows.last().filter(|_| has_more).map(|row| row.run.clone());
        Ok((rows.iter().map(Listed::json).collect(), last))
    }

    /// Reads a run, as JSON: its configuration and variables, what it waits for, and how it ended.
    ///
    /// # Errors
    /// See [`Refusal`].
    pub async fn read(&self, run: &str) -> Result<Value, Refusal> {
        let name = run.to_owned();
        // An error is not reported here: the engine marks a run that it cannot restore as broken, and the row read below says so.
        let state = self.engine.read(run).await.ok().flatten();
        // One access for both, so that no commit comes between them.
        let (found, asked) =
            self.engine.look(move |store| (store.find(&name), store.asked(&name))).await?;
        let found = found?.ok_or_else(|| Refusal::NoRun(run.to_owned()))?;
        let mut asked = asked?;
        let is_over = found.status != "running";
        let end = if is_over { self.ending(run).await? } else { None };
        let question = |step: &String| {
            // Regions may ask the same question: each occurrence is listed with its own id.
            let place = asked.iter().position(|question| question.path() == *step);
            match place.map(|place| asked.remove(place)) {
                Some(question) => json!({
                    "id": question.id,
                    "step": step,
                    "person": true,
                    "question": question.prompt,
                    "schema": serde_json::from_str::<Value>(&question.schema).ok(),
                }),
                None => json!({"step": step, "person": false}),
            }
        };
        let mut read = found.json();
        if let Value::Object(read) = &mut read {
            let waits: Vec<Value> = found.waits_for.iter().map(question).collect();
            read.insert("waits_for".into(), waits.into());
            if let Some(state) = state {
                read.insert("configuration".into(), json!(state.configuration));
                read.insert("variables".into(), json!(state.variables));
            }
            if let Some(Line { what: What::Ended { result, summary, .. }, .. }) = end {
                read.insert("result".into(), json!(result));
                read.insert("summary".into(), json!(summary));
            }
        }
        Ok(read)
    }

    /// The lines of a trace after line `seq`, at most `most`.
    pub(super) async fn lines(&self, run: &str, seq: u64, most: u32) -> Result<Vec<Line>, Refusal> {
        let run = run.to_owned();
        Ok(self.engine.look(move |store| store.lines_after(&run, seq, most)).await??)
    }

    /// The last line of a run that has ended, `None` for other runs.
    pub(super) async fn ending(&self, run: &str) -> Result<Option<Line>, Refusal> {
        let run = run.to_owned();
        Ok(self.engine.look(move |store| store.ending(&run)).await??)
    }

    pub(super) fn follow(&self, run: &str) -> Follower {
        self.feed.follow(run)
    }

    pub(super) async fn find(&self, run: &str) -> Result<Listed, Refusal> {
        let name = run.to_owned();
        let found = self.engine.look(move |store| store.find(&name)).await??;
        found.ok_or_else(|| Refusal::NoRun(run.to_owned()))
    }

    /// Waits until a run can only be continued by an event or a person, at most for `patience`. Returns whether it has come to rest.
    pub(super) async fn rest(&self, run: &str, patience: Duration) -> bool {
        let rest = async {
            if let Some(mut driven) = self.driven(run) {
                let run = run.to_owned();
                let last = self.engine.look(move |store| store.last_line(&run)).await;
                let last = last.ok().and_then(Result::ok).flatten().map_or(0, |line| line.seq);
                // An error means that the task has ended, and so its run is at rest. `>= last`: an older report may be from before the
                // event that this client has just sent.
                drop(driven.wait_for(|seen| seen.is_some_and(|seen| seen >= last)).await);
            }
            drop(self.engine.settled(run).await);
        };
        tokio::time::timeout(patience, rest).await.is_ok()
    }

    fn refused(&self, why: EngineError) -> Refusal {
        match self.engine.outage() {
            Some(outage) if matches!(why, EngineError::Away { .. }) => outage.into(),
            _ => why.into(),
        }
    }

    fn driven(&self, run: &str) -> Option<watch::Receiver<Option<u64>>> {
        self.at_rest.lock().unwrap_or_else(PoisonError::into_inner).get(run).cloned()
    }

    fn offer(&self, name: Option<&str>) -> Result<&Offer, Refusal> {
        let found = match (name, self.offers.as_slice()) {
            (None, [only]) => Some(only),
            (Some(name), offers) => offers.iter().find(|offer| offer.name == name),
            (None, _) => None,
        };
        found.ok_or_else(|| Refusal::NoChart {
            name: name.unwrap_or_default().to_owned(),
            known: names(self.offers.iter().map(|offer| offer.name.as_str())),
        })
    }
}

pub(super) fn names<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    if names.is_empty() { "none".into() } else { names.join(", ") }
}

/// Checks the name of a run. It must be safe in URLs.
fn named(run: String) -> Result<String, Refusal> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.:".contains(c);
    let is_name = run.starts_with(|c: char| c.is_ascii_alphanumeric())
        && run.len() <= 128
        && run.chars().all(is_plain);
    if is_name {
        return Ok(run);
    }
    let rule =
        "consists of 1 to 128 letters, digits and `-_.:`, and begins with a letter or a digit";
    Err(Refusal::Misfit(format!("the name of a run {rule}")))
}

/// Checks that all values belong to the chart, and that none is missing.
fn fit(offer: &Offer, word: &str, parts: &[Part], values: &expr::Map) -> Result<(), Refusal> {
    let chart = &offer.name;
    let known = || names(parts.iter().map(|part| part.name.as_str()));
    for (name, _) in values.iter() {
        if !parts.iter().any(|part| part.name == *name) {
            let known = known();
            let why = format!("`{chart}` has no {word} `{name}` for clients; there are {known}");
            return Err(Refusal::Misfit(why));
        }
    }
    match parts.iter().find(|part| part.is_needed && values.get(&part.name).is_none()) {
        Some(part) => Err(Refusal::Misfit(format!("`{chart}` needs the {word} `{}`", part.name))),
        None => Ok(()),
    }
}

// Drives runs: makes one turn after the other as long as something happens, and waits otherwise.

/// Makes the turns of one run.
pub(super) struct Driver {
    pub(super) engine: Sqlite,
    pub(super) feed: Feed,
    pub(super) run: String,
    /// While the run waits for an event or a person, the number of the last line of its trace; `u64::MAX` after the last turn.
    pub(super) at_rest: watch::Sender<Option<u64>>,
}

/// The time between two attempts to make a turn while the store cannot be written.
const AGAIN: Duration = Duration::from_millis(200);

/// The reason why a turn was not made.
enum NoTurn {
    /// The run has ended or failed. Readers of the run learn the reason from the store.
    Over,
    /// The engine has refused the turn or has stopped.
    Refused,
}

impl From<StoreError> for NoTurn {
    fn from(why: StoreError) -> Self {
        match why {
            StoreError::Outage(_) | StoreError::Closed => Self::Refused,
            _ => Self::Over,
        }
    }
}

impl From<EngineError> for NoTurn {
    fn from(why: EngineError) -> Self {
        if matches!(why, EngineError::Away { .. }) { Self::Refused } else { Self::Over }
    }
}

impl Driver {
    /// Makes turns `1..=turns`, except those that an earlier process made. After a turn in which nothing happened, and while a person is
    /// asked, the next turn waits until the trace grows.
    pub(super) async fn drive(self, turns: u32) {
        let mut nth = 1;
        while nth <= turns {
            match self.turn(&format!("turn:{nth}")).await {
                Ok(()) => nth += 1,
                Err(NoTurn::Refused) if self.engine.now().await.is_ok() => {
                    tokio::time::sleep(AGAIN).await;
                }
                Err(_) => break,
            }
        }
        // The last turn may still have calls under way.
        drop(self.engine.settled(&self.run).await);
        self.at_rest.send_replace(Some(u64::MAX));
    }

    async fn turn(&self, id: &str) -> Result<(), NoTurn> {
        let run = &self.run;
        // The id makes the turn event idempotent: after a restart, turns that were made before are skipped here.
        if self.engine.has(run, id).await? {
            return Ok(());
        }
        // `Busy`: the turn was not taken in. Wait until something happens in the run, then send it again.
        loop {
            self.engine.settled(run).await?;
            let seen = self.last().await?;
            let Some(state) = self.engine.read(run).await? else { return Err(NoTurn::Over) };
            if state.status.is_some() {
                return Err(NoTurn::Over);
            }
            if state.next_act(None) != NextAct::Turn {
                self.news(seen).await?;
                continue;
            }
            let reply = self.engine.fire(run, Event::turn(id)).await?;
            self.engine.settled(run).await?;
            let (seen, is_idle) = self.looked(seen).await?;
            let is_taken = reply.receipt != Receipt::Busy;
            if is_idle || !is_taken {
                self.news(seen).await?;
            }
            if is_taken {
                return Ok(());
            }
        }
    }

    /// Waits until the trace has more lines than `seen`.
    async fn news(&self, seen: u64) -> Result<(), NoTurn> {
        // Subscribe before the comparison: a line that is committed in between would otherwise be missed.
        let mut follower = self.feed.follow(&self.run);
        while self.last().await? == seen {
            self.at_rest.send_replace(Some(seen));
            if !follower.more().await {
                return Err(NoTurn::Over);
            }
        }
        self.at_rest.send_replace(None);
        Ok(())
    }

    /// The number of the last line of the trace, 0 if there is none.
    async fn last(&self) -> Result<u64, NoTurn> {
        let run = self.run.clone();
        let last = self.engine.look(move |store| store.last_line(&run)).await??;
        Ok(last.map_or(0, |line| line.seq))
    }

    /// Returns the number of the last line, and whether the run waits: either all lines after `since` only record a turn, or a person is
    /// asked.
    async fn looked(&self, since: u64) -> Result<(u64, bool), NoTurn> {
        let run = self.run.clone();
        let looked = self.engine.look(move |store| {
            let is_asked = !store.asked(&run)?.is_empty();
            let (mut seq, mut is_empty) = (since, true);
            loop {
                let lines = store.lines_after(&run, seq, 256)?;
                let Some(last) = lines.last() else { break };
                seq = last.seq;
                is_empty &= lines.iter().all(is_nothing);
            }
            Ok::<_, StoreError>((seq, is_asked || is_empty))
        });
        Ok(looked.await??)
    }
}

/// Whether a line only records that a turn took place.
fn is_nothing(line: &Line) -> bool {
    matches!(
        line.what,
        What::Turn { .. }
            | What::TurnEnded { .. }
            | What::Skipped { .. }
            | What::WalkEnded { .. }
            | What::Section { .. }
    )
}

// The reasons for refusing a request, independent of HTTP and MCP.

/// The reason for refusing a request. A refused request has changed nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// No chart of this name is served.
    #[error("no chart `{name}` is served; there are {known}")]
    NoChart {
        /// The requested name.
        name: String,
        /// The names of the charts that are served.
        known: String,
    },
    /// There is no run of this name.
    #[error("there is no run `{0}`")]
    NoRun(String),
    /// A run of this name exists, with another chart or other values.
    #[error("run `{0}` was begun with another chart or other values")]
    Taken(String),
    /// An event with the same id and other content was taken in before.
    #[error("another event with this id was taken in before: give a new event an id of its own")]
    OtherEvent,
    /// The values do not fit the chart, or the request is malformed.
    #[error("{0}")]
    Misfit(String),
    /// The run cannot take the request in its present state, for example because it has ended.
    #[error("{0}")]
    NotNow(String),
    /// The answer names a question that is not open.
    #[error("{0}")]
    NotOpen(String),
    /// Clients have sent more events in a minute than the server takes.
    #[error("this server takes at most {most} events in a minute: try again in {after_s} s")]
    TooFast {
        /// The number of events in a minute.
        most: u32,
        /// The seconds until the next minute begins.
        after_s: u64,
    },
    /// The store has the size that the operator has set as its limit.
    #[error("the store has reached {0} MiB, the limit of this server")]
    StoreFull(u64),
    /// The maximum number of unfinished runs is reached.
    #[error("{0} runs have not ended, which is the most that this server takes")]
    TooMany(u64),
    /// The store cannot be read or written, or its engine has stopped.
    #[error("{0}")]
    Store(String),
    /// The store cannot be written at present.
    #[error("{0}")]
    Outage(Outage),
}

impl Refusal {
    /// The error code for programs, which is stable.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::NoChart { .. } => "no_chart",
            Self::NoRun(_) => "no_run",
            Self::Taken(_) | Self::OtherEvent => "taken",
            Self::Misfit(_) => "misfit",
            Self::NotNow(_) => "not_now",
            Self::NotOpen(_) => "not_open",
            Self::TooMany(_) => "too_many",
            Self::TooFast { .. } => "too_fast",
            Self::Store(_) | Self::Outage(Outage::Failing | Outage::Damaged) => "store",
            Self::Outage(Outage::Busy) => "busy",
            Self::StoreFull(_) | Self::Outage(Outage::Full) => "full",
        }
    }
}

impl From<Outage> for Refusal {
    fn from(outage: Outage) -> Self {
        Self::Outage(outage)
    }
}

impl From<StoreError> for Refusal {
    fn from(why: StoreError) -> Self {
        match why {
            StoreError::Run { why, .. } => Self::NotNow(why),
            StoreError::NotOpen { why, .. } => Self::NotOpen(why.to_string()),
            StoreError::Outage(outage) => outage.into(),
            why => Self::Store(why.to_string()),
        }
    }
}

impl From<EngineError> for Refusal {
    fn from(why: EngineError) -> Self {
        match why {
            EngineError::Event { why, .. } => Self::Misfit(why.to_string()),
            EngineError::Stopped { .. } => Self::NotNow(why.to_string()),
            EngineError::Away { .. } => Self::Store(why.to_string()),
        }
    }
}

// Notifications: tells subscribers that the trace of a run has grown.

/// The senders of notifications about traces that have grown, one for each run with subscribers. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Feed(Arc<Mutex<BTreeMap<String, watch::Sender<()>>>>);

impl Feed {
    /// Announces that the trace of `run` has grown. Call it after the commit, so that subscribers find the new lines.
    pub fn grown(&self, run: &str) {
        if let Some(sender) = self.senders().get(run) {
            sender.send_replace(());
        }
    }

    pub(super) fn follow(&self, run: &str) -> Follower {
        let mut senders = self.senders();
        let sender = senders.entry(run.to_owned()).or_insert_with(|| watch::Sender::new(()));
        Follower { run: run.to_owned(), grown: sender.subscribe(), feed: self.clone() }
    }

    fn senders(&self) -> MutexGuard<'_, BTreeMap<String, watch::Sender<()>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A subscription to one run.
pub(super) struct Follower {
    run: String,
    grown: watch::Receiver<()>,
    feed: Feed,
}

impl Drop for Follower {
    fn drop(&mut self) {
        let mut senders = self.feed.senders();
        // The last subscriber removes the sender, so that runs without subscribers take no memory.
        if senders.get(&self.run).is_some_and(|sender| sender.receiver_count() == 1) {
            senders.remove(&self.run);
        }
    }
}

impl Follower {
    /// Resolves when the trace has grown since the subscription or the last call; `false` if it never will again.
    pub(super) async fn more(&mut self) -> bool {
        self.grown.changed().await.is_ok()
    }
}

// The interface of a chart as its clients see it: params, inputs and events, with JSON Schemas.

/// The interface of a chart: what clients may give to a run and send to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Offer {
    /// The name of the chart.
    pub name: String,
    /// The chart's `///` comment.
    pub doc: String,
    /// The params that clients may set, without those that the host has fixed.
    pub params: Vec<Part>,
    /// The inputs that clients may set.
    pub inputs: Vec<Part>,
    /// The events that clients may send: name, `///` comment and data.
    pub events: Vec<(String, String, Vec<Part>)>,
    /// The number of turns that a run makes unless its client sets one.
    pub turns: u32,
    /// The maximum number of turns that a client may set.
    pub most_turns: u32,
}

/// A named value: a param, an input, or a field of an event's data.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// The name in the chart.
    pub name: String,
    /// The `///` comment; empty if there is none.
    pub doc: String,
    /// The JSON Schema of the type.
    pub schema: Value,
    /// Whether clients must give a value.
    pub is_needed: bool,
}

/// The declared range of a param.
fn range(kind: &VariableKind) -> Option<&Within> {
    let VariableKind::Param { range } = kind else { return None };
    range.as_ref()
}

impl Offer {
    /// Collects the interface of a chart, without the variables for which `fixed` holds: the host has set those. `turns` are the turns of a
    /// run by default, and at most.
    pub fn new(
        chart: &Chart,
        (turns, most_turns): (u32, u32),
        fixed: &dyn Fn(&str) -> bool,
    ) -> Self {
        let of = |wanted: fn(&VariableKind) -> bool| {
            let all = chart.variables.iter().filter(move |v| wanted(&v.kind) && !fixed(&v.name));
            all.map(|variable| Part {
                name: variable.name.clone(),
                doc: variable.doc.clone(),
                schema: read(&schema::of_range(chart, &variable.ty, range(&variable.kind))),
                is_needed: variable.default.is_none()
                    && matches!(variable.kind, VariableKind::Param { .. }),
            })
            .collect()
        };
        let field = |field: &Field| Part {
            name: field.name.clone(),
            doc: String::new(),
            schema: read(&schema::of_range(chart, &field.ty, field.range.as_ref())),
            is_needed: true,
        };
        let events = chart.events.iter().map(|event| {
            (event.name.clone(), event.doc.clone(), event.fields.iter().map(field).collect())
        });
        Self {
            name: chart.name.clone(),
            doc: chart.doc.clone(),
            params: of(|kind| matches!(kind, VariableKind::Param { .. })),
            inputs: of(|kind| matches!(kind, VariableKind::Input)),
            events: events.collect(),
            turns,
            most_turns,
        }
    }

    pub(super) fn json(&self) -> Value {
        let whole = |parts: &[Part]| {
            let mut definitions = Map::new();
            let schema = object(parts, &mut definitions);
            with(schema, definitions)
        };
        let event = |(name, doc, data): &(String, String, Vec<Part>)| json!({"event": name, "doc": doc, "data": whole(data)});
        json!({
            "chart": self.name,
            "doc": self.doc,
            "params": whole(&self.params),
            "inputs": whole(&self.inputs),
            "events": self.events.iter().map(event).collect::<Vec<_>>(),
            "turns": self.turns,
        })
    }
}

fn read(schema: &str) -> Value {
    serde_json::from_str(schema).unwrap_or_else(|_| json!({}))
}

/// Builds the schema of an object with these parts. Definitions of the parts are moved to `definitions`, as `$ref`s find them only at
/// the root of the whole schema.
pub(super) fn object(parts: &[Part], definitions: &mut Map<String, Value>) -> Value {
    let mut properties = Map::new();
    for part in parts {
        let mut schema = part.schema.clone();
        if let Value::Object(schema) = &mut schema {
            if let Some(Value::Object(found)) = schema.remove("$defs") {
                definitions.extend(found);
            }
            if !part.doc.is_empty() {
                schema.insert("description".into(), part.doc.clone().into());
            }
        }
        properties.insert(part.name.clone(), schema);
    }
    let needed: Vec<&str> =
        parts.iter().filter(|part| part.is_needed).map(|part| part.name.as_str()).collect();
    json!({"type": "object", "properties": properties, "required": needed, "additionalProperties": false})
}

/// Adds definitions to the root of a schema.
pub(super) fn with(mut schema: Value, definitions: Map<String, Value>) -> Value {
    if let (Value::Object(schema), false) = (&mut schema, definitions.is_empty()) {
        schema.insert("$defs".into(), definitions.into());
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::{Part, object, with};
    use serde_json::{Map, json};

    #[test]
    fn definitions_stand_at_the_root_where_references_look_for_them() {
        let note = json!({"$ref": "#/$defs/Note", "$defs": {"Note": {"type": "object"}}});
        let kind = json!({"$ref": "#/$defs/Kind", "$defs": {"Kind": {"enum": ["a", "b"]}}});
        let part = |name: &str, doc: &str, schema, is_needed| Part {
            name: name.into(),
            doc: doc.into(),
            schema,
            is_needed,
        };
        let mut definitions = Map::new();
        let params = object(
            &[part("note", "What is noted.", note.clone(), true), part("other", "", note, false)],
            &mut definitions,
        );
        let inputs = object(&[part("kind", "", kind, false)], &mut definitions);
        let whole = json!({"type": "object", "properties": {"params": params, "inputs": inputs}});
        let whole = with(whole, definitions);
        assert_eq!(
            whole,
            json!({
                "type": "object",
                "properties": {
                    "params": {
                        "type": "object",
                        "properties": {
                            "note": {"$ref": "#/$defs/Note", "description": "What is noted."},
                            "other": {"$ref": "#/$defs/Note"},
                        },
                        "required": ["note"],
                        "additionalProperties": false,
                    },
                    "inputs": {
                        "type": "object",
                        "properties": {"kind": {"$ref": "#/$defs/Kind"}},
                        "required": [],
                        "additionalProperties": false,
                    },
                },
                "$defs": {"Note": {"type": "object"}, "Kind": {"enum": ["a", "b"]}},
            })
        );
        // Without references there are none.
        assert_eq!(with(json!({"type": "object"}), Map::new()), json!({"type": "object"}));
    }
}
