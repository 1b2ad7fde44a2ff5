//! The operations on runs that clients have, shared by HTTP and MCP.

use crate::drive::Driver;
use crate::feed::{Feed, Follower};
use crate::offer::{Offer, Part};
use crate::refusal::Refusal;
use crate::token::unique;
use chartc_core::expr::Map;
use chartc_runtime::agents::{Engine, EngineError, Event, INPUTS, Reply};
use chartc_runtime::trace::{Line, What};
use chartc_store::{Listed, Sqlite, Store};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// The maximum number of trace lines per read.
pub(crate) const LINES: u32 = 256;

/// The complete parameters of a new run, as they are stored with it.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRequest<'g> {
    /// The name of the chart.
    pub chart: &'g str,
    /// The params that the client gives.
    pub params: &'g Map,
    /// The inputs that the client gives.
    pub inputs: &'g Map,
    /// The number of turns that the run makes by itself.
    pub turns: u32,
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
    pub params: Map,
    /// The inputs.
    pub inputs: Map,
    /// The number of turns that the run makes by itself; `None` for the default of the chart.
    pub turns: Option<u32>,
}

/// Serialises the parameters of a run, so that a later process can create the same machine.
type Note = Box<dyn Fn(&RunRequest<'_>) -> String + Send + Sync>;

/// The runs of a server: the engine that keeps them, and the tasks that make their turns.
pub struct Runs {
    engine: Sqlite,
    feed: Feed,
    offers: Vec<Offer>,
    note: Note,
    most: u64,
    /// For each run with a task that makes its turns: the channel on which the task reports that the run waits.
    at_rest: Mutex<BTreeMap<String, watch::Receiver<Option<u64>>>>,
    /// Held while a run is started, so that two requests at once cannot exceed `most`.
    beginning: tokio::sync::Mutex<()>,
}

impl Runs {
    /// Creates the runs of an engine, which must announce its commits on `feed`. At most `most` runs may be unfinished at a time. `note`
    /// serialises the parameters of each run.
    pub fn new(
        engine: Sqlite,
        feed: Feed,
        offers: Vec<Offer>,
        most: u64,
        note: impl Fn(&RunRequest<'_>) -> String + Send + Sync + 'static,
    ) -> Self {
        let (note, at_rest) = (Box::new(note), Mutex::default());
        let beginning = tokio::sync::Mutex::default();
        Self { engine, feed, offers, note, most, at_rest, beginning }
    }

    pub(crate) fn offers(&self) -> &[Offer] {
        &self.offers
    }

    /// Starts a run, or finds the run that the same order has started. Returns its name and whether it is new.
    ///
    /// # Errors
    /// See [`Refusal`].
    pub async fn begin(self: &Arc<Self>, order: Order) -> Result<(String, bool), Refusal> {
        let runs = self.clone();
        // On a task of its own: if the client disconnects and this future is dropped, the run must still get its turns.
        let begun = tokio::spawn(async move { runs.begun(order).await }).await;
        begun.unwrap_or_else(|why| Err(Refusal::Store(why.to_string())))
    }

    async fn begun(&self, order: Order) -> Result<(String, bool), Refusal> {
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
        let (params, inputs) = (&order.params, &order.inputs);
        let given = (self.note)(&RunRequest { chart: &offer.name, params, inputs, turns });
        let _one = self.beginning.lock().await;
        let name = run.clone();
        let (found, unfinished) =
            self.engine.look(move |store| (store.find(&name), store.unfinished())).await?;
        let is_new = match found? {
            // The first attempt failed before its first step, for example because no model could be reached: try again.
            Some(found) if found.given == given && found.status == "broken" => false,
            Some(found) if found.given == given => return Ok((run, false)),
            Some(_) => return Err(Refusal::Taken(run)),
            None if unfinished? >= self.most => return Err(Refusal::TooMany(self.most)),
            None => true,
        };
        let begin = Event { id: "begin".into(), name: INPUTS.into(), data: order.inputs };
        match self.engine.begin(&run, given, begin).await {
            Ok(_) => {}
            Err(EngineError::Stopped { .. }) if !is_new => return Ok((run, false)),
            // The machine was not created: the values do not fit the chart.
            Err(EngineError::Stopped { why, .. }) => return Err(Refusal::Misfit(why)),
            Err(why @ (EngineError::Event { .. } | EngineError::Away { .. })) => {
                return Err(why.into());
            }
        }
        self.drive(&run, turns);
        Ok((run, is_new))
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

    /// Sends an event to a run. An event with the `id` of an earlier one has no effect and gets the earlier reply.
    ///
    /// # Errors
    /// See [`Refusal`].
    pub async fn fire(
        &self,
        run: &str,
        id: Option<String>,
        name: String,
        data: Map,
    ) -> Result<Reply, Refusal> {
        self.find(run).await?;
        let id = match id {
            Some(id) if id.is_empty() || id.len() > 256 => {
                return Err(Refusal::Misfit("an id has 1 to 256 bytes".into()));
            }
            // A prefix of their own keeps clients' ids apart from `begin` and `turn:N`.
            Some(id) => format!("client:{id}"),
            None => unique().map_err(|why| Refusal::Store(why.to_string()))?,
        };
        Ok(self.engine.fire(run, Event { id, name, data }).await?)
    }

    /// Answers an open question on behalf of a person. When this returns `Ok`, the answer and its effects are committed.
    ///
    /// # Errors
    /// See [`Refusal`].
    pub async fn answer(&self, run: &str, question: &str, text: String) -> Result<(), Refusal> {
        self.find(run).await?;
        Ok(self.engine.reply(run, question, text).await?)
    }

    /// Lists all runs, as JSON.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn list(&self) -> Result<Value, Refusal> {
        let rows = self.engine.look(Store::list).await??;
        Ok(rows.iter().map(Listed::json).collect())
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
    pub(crate) async fn lines(&self, run: &str, seq: u64, most: u32) -> Result<Vec<Line>, Refusal> {
        let run = run.to_owned();
        Ok(self.engine.look(move |store| store.lines_after(&run, seq, most)).await??)
    }

    /// The last line of a run that has ended, `None` for other runs.
    pub(crate) async fn ending(&self, run: &str) -> Result<Option<Line>, Refusal> {
        let run = run.to_owned();
        Ok(self.engine.look(move |store| store.ending(&run)).await??)
    }

    pub(crate) fn follow(&self, run: &str) -> Follower {
        self.feed.follow(run)
    }

    pub(crate) async fn find(&self, run: &str) -> Result<Listed, Refusal> {
        let name = run.to_owned();
        let found = self.engine.look(move |store| store.find(&name)).await??;
        found.ok_or_else(|| Refusal::NoRun(run.to_owned()))
    }

    /// Waits until a run can only be continued by an event or a person, at most for `patience`. Returns whether it has come to rest.
    pub(crate) async fn rest(&self, run: &str, patience: Duration) -> bool {
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

pub(crate) fn names<'n>(names: impl Iterator<Item = &'n str>) -> String {
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
fn fit(offer: &Offer, word: &str, parts: &[Part], values: &Map) -> Result<(), Refusal> {
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
