//! Methods of artifacts, and what is done to invoke them.
//!
//! **The problem.** Genesis artifacts execute Rust functions, data artifacts have fixed results from the world's file, agents get an event,
//! and charts run. A guard of a chart may call a method any number of times, so a call from there must change nothing. An action pays, and
//! the owner must get the price only for a result.
//!
//! **The idea.** A function of a chart *asks*: nothing changes, and it pays nothing. An action *performs*: the caller pays the price, which
//! is held while a chart runs, and released to the owner if it succeeds or back to the caller if it fails. The world is locked to begin and
//! to end an invocation, but not while a chart runs or a text compiles, so other agents go on; what may have changed meanwhile is checked
//! again. An invoked chart sees the world with the rights of the artifact's owner ([`Within`]), and may only ask. A [`Chain`] bounds depth
//! and work of artifacts that invoke each other.
//!
//! **Example.** `ada` performs `tax.due(50)`; the chart artifact `tax` is of `ben` and costs 5 scrip:
//!
//! ```text
//! admit     `ada` may invoke `tax`, has 5 scrip, and they are held
//! run       the chart runs, unlocked, and ends with the result 5
//! end       the hold is released to `ben`; the event `invoked` is reported; "ada pays 5 scrip to ben"
//! ask       the same method from a guard: refused, as it has a price and `ada` is not its owner
//! ```

use super::{Outcome, World};
use crate::artifact::{Artifact, Compiled, Nature, size};
use crate::charts::{Chain, Family, Form, Invocation};
use crate::genesis;
use crate::ledger::Holder;
use crate::request::Request;
use crate::state::{Draft, State, Tried, fail, refused, text};
use chartc_core::expr::{Map, Value};
use chartc_runtime::agent::{
    Acting, Action, ArtifactHost, Done, Failure, FailureKind, Results, View,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The total fuel of a chain of invocations, as a multiple of the fuel of one invocation.
const CHAIN: u64 = 8;

/// An invocation of a chart artifact that is ready to run.
pub(super) struct Running {
    artifact: String,
    owner: String,
    family: Arc<Family>,
    method: String,
    arguments: Vec<Value>,
    caller: String,
    fuel: u64,
    seed: u64,
}

/// The state of an invocation whose method was found.
pub(super) enum Resolved {
    /// It has its result.
    Done(Value),
    /// A chart has to run for the result.
    Runs(Running),
}

impl World {
    /// Calls a method for a function of a chart. Nothing changes, and nobody pays.
    pub(super) fn ask(
        &self,
        agent: &str,
        id: &str,
        method: &str,
        arguments: &[Value],
        chain: &Arc<Chain>,
    ) -> Tried<Value> {
        let running = {
            let mut state = self.state();
            state.ensure_sound()?;
            if let Some(genesis) = genesis::find(id) {
                return genesis.ask(&state, agent, method, arguments);
            }
            let (price, owner) = allowed(&state, agent, id, method)?;
            if price > 0 && owner != agent {
                let why = format!(
                    "`{method}` of `{id}` costs {price} scrip, and a function pays nothing: invoke it by an action"
                );
                return fail(FailureKind::PermissionDenied, why);
            }
            let artifact = state.find(id)?;
            match &artifact.nature {
                Nature::Agent { .. } => {
                    let why = format!("`{id}` is an agent: only an action can send it an event");
                    return fail(FailureKind::PermissionDenied, why);
                }
                Nature::Compiled(_) => running(&state, agent, id, method, arguments)?,
                Nature::Data | Nature::Memory { .. } => {
                    // Fixed results are used up one by one, but for each agent separately, since a question must not change the artifact.
                    let first = artifact.methods.get(method).cloned();
                    let key = (id.to_owned(), method.to_owned());
                    let asked = state.asked.entry(agent.to_owned()).or_default();
                    let Some(results) = asked.get_mut(&key) else {
                        let Some(mut results) = first else { return no_result(id, method) };
                        let result = canned(id, method, &mut results, arguments);
                        asked.insert(key, results);
                        return result;
                    };
                    return canned(id, method, results, arguments);
                }
            }
        };
        self.run(&running, chain)
    }

    /// Invokes a method for an action, and pays its price.
    pub(super) fn perform(
        &self,
        agent: &str,
        id: &str,
        method: &str,
        arguments: &[Value],
    ) -> Tried<Done> {
        let mut changes = Vec::new();
        let most = self.state().settings.max_content_bytes;
        if arguments.iter().map(size).sum::<u64>() > most {
            let why = format!("the arguments of `{method}` have more than {most} bytes");
            return fail(FailureKind::IntentRejected, why);
        }
        let Begun { resolved, hold, price, owner } =
            self.change(|state| admit(state, agent, id, method, arguments))?;
        // The world is not locked while the chart runs, so other agents can use it.
        let result = match resolved {
            Resolved::Done(value) => Ok(value),
            Resolved::Runs(running) => self.run(&running, &self.chain()),
        };
        self.change(|state| {
            if let Some(hold) = hold {
                let to = if result.is_ok() { &owner } else { agent };
                let paid = state.ledger.release(hold, Holder::of(to), "invocation");
                paid.map_err(refused)?;
            }
            let value = result?;
            if price > 0 {
                changes.push(format!("{agent} pays {price} scrip to {owner}"));
            }
            // Methods that only look are not reported as events.
            if genesis::find(id).is_some_and(|genesis| !genesis.changes(method)) {
                return Ok(Done { value, changes });
            }
            let audience = state.audience(id, agent);
            let data = [("artifact_id", text(id)), ("method", text(method)), ("by", text(agent))];
            state.tell("invoked", data, audience);
            Ok(Done { value, changes })
        })
    }

    /// A chain of invocations for one action, condition or prompt.
    pub(super) fn chain(&self) -> Arc<Chain> {
        let units = self.state().settings.invocation_fuel;
        Arc::new(Chain::new(units.saturating_mul(CHAIN)))
    }

    fn run(&self, running: &Running, chain: &Arc<Chain>) -> Tried<Value> {
        let Running { artifact, owner, family, method, arguments, caller, fuel, seed } = running;
        let most = self.state().settings.max_invocation_depth;
        if chain.depth() >= most {
            let why = format!(
                "`{method}` of `{artifact}`: artifacts invoke artifacts {most} deep at most"
            );
            return fail(FailureKind::InvocationFailed, why);
        }
        let within = Within { world: self.clone(), owner: owner.clone(), chain: chain.clone() };
        chain.enter()?;
        let result = self.invoke.invoke(&Invocation {
            artifact,
            owner,
            family,
            method,
            arguments,
            caller,
            fuel: *fuel,
            chain,
            seed: *seed,
            world: Arc::new(within),
        });
        chain.leave();
        result
    }
}

/// An invocation that has begun, and what it costs.
struct Begun {
    resolved: Resolved,
    /// The hold on the price while a chart runs.
    hold: Option<u64>,
    price: i64,
    owner: String,
}

/// Begins an invocation. The price is paid at once, unless a chart has to run.
fn admit(
    state: &mut State,
    agent: &str,
    id: &str,
    method: &str,
    arguments: &[Value],
) -> Tried<Begun> {
    if let Some(genesis) = genesis::find(id) {
        state.principal(agent)?;
        let value = genesis.invoke(state, agent, method, arguments)?;
        let resolved = Resolved::Done(value);
        return Ok(Begun { resolved, hold: None, price: 0, owner: String::new() });
    }
    let (price, owner) = allowed(state, agent, id, method)?;
    let price = if owner == agent { 0 } else { price };
    let has = state.ledger.scrip(agent);
    if price > has {
        let why = format!("`{method}` of `{id}` costs {price} scrip, and there are {has}");
        return fail(FailureKind::InsufficientScrip, why);
    }
    let resolved = begin(state, agent, id, method, arguments)?;
    let hold = match (&resolved, price) {
        (_, ..=0) => None,
        (Resolved::Runs(_), _) => {
            Some(state.ledger.hold(agent, price, "invocation").map_err(refused)?)
        }
        (Resolved::Done(_), _) => {
            let (from, to) = (Holder::of(agent), Holder::of(&owner));
            let resource = crate::ledger::Resource::Scrip;
            let paid = state.ledger.transfer(from, to, resource, price, "invocation");
            paid.map_err(refused)?;
            None
        }
    };
    Ok(Begun { resolved, hold, price, owner })
}

/// The price of a method and the owner of the artifact.
///
/// # Errors
/// `agent` may not invoke the method, or it does not exist.
fn allowed(state: &State, agent: &str, id: &str, method: &str) -> Tried<(i64, String)> {
    state.principal(agent)?;
    let artifact = state.find(id)?;
    let known = state.methods(id, artifact);
    if !known.iter().any(|name| name == method) {
        let has = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        let why = format!("`{id}` has no method `{method}`; it has {has}");
        return fail(FailureKind::NotFound, why);
    }
    if !artifact.allows(&artifact.policy.invoke, agent) {
        let who = artifact.policy.invoke.told(&artifact.owner);
        let why = format!("`{agent}` may not invoke `{id}`: {who}");
        return fail(FailureKind::PermissionDenied, why);
    }
    Ok((artifact.policy.price.of(method), artifact.owner.clone()))
}

/// Finds what gives the result: the event of an agent, a chart that has to run, or the next fixed result, which is used up.
fn begin(
    state: &mut State,
    agent: &str,
    id: &str,
    method: &str,
    arguments: &[Value],
) -> Tried<Resolved> {
    match &state.find(id)?.nature {
        Nature::Agent { .. } => deliver(state, agent, id, method, arguments).map(Resolved::Done),
        Nature::Compiled(_) => running(state, agent, id, method, arguments).map(Resolved::Runs),
        Nature::Data | Nature::Memory { .. } => {
            let artifact: Option<&mut Artifact> = state.artifacts.get_mut(id);
            let results = artifact.and_then(|artifact| artifact.methods.get_mut(method));
            let Some(results) = results else { return no_result(id, method).map(Resolved::Done) };
            canned(id, method, results, arguments).map(Resolved::Done)
        }
    }
}

/// Sends the method to an agent as an event.
fn deliver(
    state: &mut State,
    agent: &str,
    id: &str,
    method: &str,
    arguments: &[Value],
) -> Tried<Value> {
    let receiver = state.agent(id)?;
    if receiver.is_stopped {
        return fail(FailureKind::InvocationFailed, format!("`{id}` is stopped"));
    }
    let Some(family) = receiver.family.clone() else { return no_result(id, method) };
    let arguments = fitting(id, &family, method, arguments)?;
    let (to, event, from) = (id.to_owned(), method.to_owned(), agent.to_owned());
    state.requests.push(Request::Deliver { to, event, arguments, from });
    let mut done = Map::new();
    done.insert("delivered".into(), Value::Bool(true));
    Ok(Value::Map(done))
}

/// Converts the arguments to the types of the event's fields.
fn fitting(id: &str, family: &Family, method: &str, given: &[Value]) -> Tried<Vec<Value>> {
    let chart = family.root();
    let event = chart.events.iter().find(|event| event.name == method);
    let fields = event.map_or(&[][..], |event| &event.fields);
    let rejected = |why: String| {
        let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
        let why = format!("`{method}` of `{id}` takes ({}): {why}", names.join(", "));
        fail(FailureKind::IntentRejected, why)
    };
    if given.len() > fields.len() {
        return rejected(format!("{} arguments are given", given.len()));
    }
    let mut all = Vec::new();
    for (at, field) in fields.iter().enumerate() {
        let value = given.get(at).cloned().unwrap_or_default();
        match chartc_core::expr::fit_field(value, field, &chart.types) {
            Ok(value) => all.push(value),
            Err(why) => return rejected(format!("`{}` {why}", field.name)),
        }
    }
    Ok(all)
}

/// Prepares the run of a chart artifact. A restored world may have only its text, because compiled charts are not saved.
fn running(
    state: &State,
    agent: &str,
    id: &str,
    method: &str,
    arguments: &[Value],
) -> Tried<Running> {
    let artifact = state.find(id)?;
    let family = match &artifact.nature {
        Nature::Compiled(compiled) => compiled.family.clone(),
        Nature::Data | Nature::Memory { .. } | Nature::Agent { .. } => None,
    };
    let Some(family) = family else {
        let why =
            format!("`{id}` has not been compiled since the world was restored: write it again");
        return fail(FailureKind::InvocationFailed, why);
    };
    let arguments = fitting(id, &family, method, arguments)?;
    Ok(Running {
        artifact: id.to_owned(),
        owner: artifact.owner.clone(),
        family,
        method: method.to_owned(),
        arguments,
        caller: agent.to_owned(),
        fuel: state.settings.invocation_fuel,
        seed: state.event_number,
    })
}

/// Takes the next fixed result for these arguments.
fn canned(id: &str, method: &str, results: &mut Results, arguments: &[Value]) -> Tried<Value> {
    match results.next(arguments) {
        Some(Ok(value)) => Ok(value),
        Some(Err(why)) => {
            fail(FailureKind::InvocationFailed, format!("`{method}` of `{id}`: {why}"))
        }
        None => no_result(id, method),
    }
}

fn no_result(id: &str, method: &str) -> Tried<Value> {
    let why = format!("`{method}` of `{id}` has no result for these arguments, or none any more");
    fail(FailureKind::InvocationFailed, why)
}

/// The world as an invoked chart sees it: with the rights of the artifact's owner, and for questions only.
struct Within {
    world: World,
    owner: String,
    chain: Arc<Chain>,
}

impl ArtifactHost for Within {
    fn invoke(
        &self,
        _: &str,
        artifact: &str,
        method: &str,
        arguments: &[Value],
    ) -> Result<Value, Failure> {
        self.world.ask(&self.owner, artifact, method, arguments, &self.chain)
    }

    fn act(&self, _: &str, _: &Action) -> Acting {
        let why = "a chart that was invoked answers, and does nothing else";
        Box::pin(std::future::ready(fail(FailureKind::PermissionDenied, why)))
    }

    fn view_of(&self, _: &str, reads: &dyn Fn(&str) -> bool) -> View {
        self.world.view_of(&self.owner, reads)
    }
}

// The actions of agents on the world.

/// The maximum length of an artifact's type, in bytes.
const LONGEST_TYPE: usize = 100;

impl ArtifactHost for World {
    fn invoke(
        &self,
        agent: &str,
        artifact: &str,
        method: &str,
        arguments: &[Value],
    ) -> Result<Value, Failure> {
        self.ask(agent, artifact, method, arguments, &self.chain())
    }

    fn act(&self, agent: &str, action: &Action) -> Acting {
        let done = match action {
            Action::Noop => Ok(Done::default()),
            Action::Read { artifact } => self.read(agent, artifact),
            Action::Write { artifact, ty, content } => {
                self.write(agent, artifact, ty.as_deref(), content)
            }
            Action::Invoke { artifact, method, arguments } => {
                self.perform(agent, artifact, method, arguments)
            }
        };
        Box::pin(std::future::ready(done))
    }

    fn view_of(&self, agent: &str, reads: &dyn Fn(&str) -> bool) -> View {
        self.look(agent, reads)
    }
}

impl World {
    fn read(&self, agent: &str, id: &str) -> Tried<Done> {
        let state = self.state();
        state.ensure_sound()?;
        let value = match genesis::find(id) {
            Some(genesis) => genesis.help(),
            None => state.content_for(agent, id, state.readable(agent, id)?).into_owned(),
        };
        Ok(Done { value, changes: Vec::new() })
    }

    fn write(&self, agent: &str, id: &str, ty: Option<&str>, content: &Value) -> Tried<Done> {
        if ty.is_some_and(|ty| ty.len() > LONGEST_TYPE || ty.chars().any(char::is_control)) {
            let why = format!("a type is a word of at most {LONGEST_TYPE} bytes");
            return fail(FailureKind::IntentRejected, why);
        }
        let (form, nature) = match self.form(agent, id, ty, content)? {
            None => (None, Nature::Data),
            Some((form, source)) => (Some(form), self.compiled(agent, id, form, &source)?),
        };
        let change = self.change(|state| {
            // The world is not locked while the text compiles, so another agent may have written the artifact as another type.
            if form_of(state, id, ty) != form && self.compiler.is_some() {
                let why = format!("`{id}` has changed while it was compiled: write it again");
                return fail(FailureKind::InvocationFailed, why);
            }
            let draft = Draft { ty: ty.map(str::to_owned), content: content.clone(), nature };
            state.write(agent, id, draft)
        })?;
        Ok(Done { value: Value::None, changes: vec![change] })
    }

    /// The language and source of a text that has to be compiled before it is written; `None` for plain data.
    ///
    /// # Errors
    /// The agent may not write it. This is checked before the compilation is charged.
    fn form(
        &self,
        agent: &str,
        id: &str,
        ty: Option<&str>,
        content: &Value,
    ) -> Tried<Option<(Form, String)>> {
        let state = self.state();
        state.ensure_sound()?;
        state.may_write(agent, id, content)?;
        if self.compiler.is_none() {
            return Ok(None);
        }
        match (form_of(&state, id, ty), content) {
            (None, _) => Ok(None),
            (Some(form), Value::Text(source)) => Ok(Some((form, source.clone()))),
            (Some(form), _) => {
                let why = format!("an artifact of type {} is a text", form.word());
                fail(FailureKind::IntentRejected, why)
            }
        }
    }

    fn compiled(&self, agent: &str, id: &str, form: Form, source: &str) -> Tried<Nature> {
        let Some(compiler) = &self.compiler else { return Ok(Nature::Data) };
        // The agent also pays for a text that does not compile.
        self.change(|state| {
            let units =
                (source.len() as u64).div_ceil(state.settings.compile_bytes_per_unit.max(1));
            state.spend(agent, units.max(1), "compilation")
        })?;
        let read = |other: &str| match self.state().readable(agent, other).ok()?.content.clone() {
            // An artifact cannot import itself: its stored text is the old one.
            Value::Text(text) if other != id => Some(text),
            _ => None,
        };
        match compiler.build(id, form, source, &read) {
            Outcome::Sound { family, read } => {
                Ok(Nature::Compiled(Compiled { form, family: Some(family), read }))
            }
            Outcome::Rejected(why) => {
                self.change(|state| {
                    let only = crate::state::Audience::Only(vec![agent.to_owned()]);
                    let data =
                        [("artifact_id", text(id)), ("by", text(agent)), ("why", text(&why))];
                    state.tell("rejected", data, only);
                    Ok(())
                })?;
                fail(FailureKind::Rejected, why)
            }
        }
    }
}

/// The language of an artifact once it has the type `ty`, or keeps its type if `ty` is `None`. Records and memories of agents are always
/// data.
fn form_of(state: &State, id: &str, ty: Option<&str>) -> Option<Form> {
    match state.artifacts.get(id) {
        None => ty.and_then(Form::of),
        Some(artifact) => match artifact.nature {
            Nature::Agent { .. } | Nature::Memory { .. } => None,
            Nature::Data | Nature::Compiled(_) => Form::of(ty.unwrap_or(&artifact.ty)),
        },
    }
}

/// The texts that a chart imported when it was compiled, by their ids.
pub(super) type Texts = BTreeMap<String, String>;
