//! Genesis artifacts: the artifacts of the world itself, through which agents use its services.
//!
//! To add one, write a file here with a [`Genesis`], and add it to [`ALL`].

mod spawn;
mod store;
mod trade;

pub(crate) use store::row;

use crate::census::Distribution;
use crate::state::{State, Tried, fail, int, text};
use chartc_core::expr::{Map, Value};
use chartc_runtime::agent::FailureKind;

/// All genesis artifacts, in the order of their ids.
const ALL: [&Genesis; 7] = [
    &CENSUS,
    &trade::ESCROW,
    &GENESIS,
    &trade::LEDGER,
    &trade::MINT,
    &store::RIGHTS_REGISTRY,
    &store::STORE,
];

/// A genesis artifact.
pub(crate) struct Genesis {
    pub(crate) id: &'static str,
    /// Its purpose, as agents read it.
    pub(crate) about: &'static str,
    pub(crate) methods: &'static [Method],
}

/// A method of a genesis artifact.
pub(crate) struct Method {
    pub(crate) name: &'static str,
    /// The parameters in order. Optional ones end with `?`.
    pub(crate) params: &'static [&'static str],
    /// Its effect, as agents read it.
    pub(crate) about: &'static str,
    pub(crate) run: Run,
}

/// The function that executes a method.
pub(crate) enum Run {
    /// A method that changes nothing. Functions of charts may call it, too.
    Look(fn(&State, &Arguments<'_>) -> Tried<Value>),
    /// A method that changes the world. Only actions may invoke it.
    Change(fn(&mut State, &Arguments<'_>) -> Tried<Value>),
}

/// The genesis artifact with this id.
pub(crate) fn find(id: &str) -> Option<&'static Genesis> {
    ALL.into_iter().find(|genesis| genesis.id == id)
}

/// All genesis artifacts, in the order of their ids.
pub(crate) fn all() -> impl Iterator<Item = &'static Genesis> {
    ALL.into_iter()
}

impl Genesis {
    /// A description of the artifact and its methods. It is the content of the artifact, and the result of its methods `help` and
    /// `methods`.
    pub(crate) fn help(&self) -> Value {
        let mut methods = Map::new();
        for method in self.methods {
            let about = format!("({}): {}", method.params.join(", "), method.about);
            methods.insert(method.name.to_owned(), Value::Text(about));
        }
        let mut help = Map::new();
        help.insert("about".into(), text(self.about));
        help.insert("methods".into(), Value::Map(methods));
        Value::Map(help)
    }

    fn method(&self, name: &str) -> Tried<&Method> {
        match self.methods.iter().find(|method| method.name == name) {
            Some(method) => Ok(method),
            None => {
                let known: Vec<&str> = self.methods.iter().map(|method| method.name).collect();
                let why = format!(
                    "`{}` has no method `{name}`; it has {}, help",
                    self.id,
                    known.join(", ")
                );
                fail(FailureKind::NotFound, why)
            }
        }
    }

    /// Whether a method exists and changes the world.
    pub(crate) fn changes(&self, method: &str) -> bool {
        let found = self.methods.iter().find(|known| known.name == method);
        found.is_some_and(|method| matches!(method.run, Run::Change(_)))
    }

    /// Finds a method and checks its arguments.
    fn prepared<'a>(
        &'a self,
        caller: &'a str,
        method: &str,
        arguments: &[Value],
    ) -> Tried<(&'a Method, Arguments<'a>)> {
        let method = self.method(method)?;
        Ok((method, Arguments::new(self.id, method, caller, arguments)?))
    }

    /// Invokes a method for an action.
    pub(crate) fn invoke(
        &self,
        state: &mut State,
        caller: &str,
        method: &str,
        arguments: &[Value],
    ) -> Tried<Value> {
        if is_help(method) {
            return Ok(self.help());
        }
        let (method, arguments) = self.prepared(caller, method, arguments)?;
        match method.run {
            Run::Look(run) => run(state, &arguments),
            Run::Change(run) => run(state, &arguments),
        }
    }

    /// Calls a method for a function of a chart. A method that changes the world is refused.
    pub(crate) fn ask(
        &self,
        state: &State,
        caller: &str,
        method: &str,
        arguments: &[Value],
    ) -> Tried<Value> {
        if is_help(method) {
            return Ok(self.help());
        }
        let (method, arguments) = self.prepared(caller, method, arguments)?;
        match method.run {
            Run::Look(run) => run(state, &arguments),
            Run::Change(_) => {
                let why = format!(
                    "`{}` of `{}` changes the world: invoke it by an action",
                    method.name, self.id
                );
                fail(FailureKind::PermissionDenied, why)
            }
        }
    }
}

fn is_help(method: &str) -> bool {
    matches!(method, "help" | "methods")
}

// The checked arguments of a method of a genesis artifact.

/// The arguments with which a caller invokes a method.
pub(crate) struct Arguments<'a> {
    pub(crate) caller: &'a str,
    /// The method and the artifact, as messages name them.
    what: String,
    method: &'a Method,
    values: Vec<Value>,
}

impl<'a> Arguments<'a> {
    /// Assigns the given values to the method's parameters: by position, or by name if the only value is a mapping with names of
    /// parameters.
    ///
    /// # Errors
    /// There are too few or too many values.
    fn new(artifact: &str, method: &'a Method, caller: &'a str, given: &[Value]) -> Tried<Self> {
        let what = format!("`{}` of `{artifact}`", method.name);
        let names = || method.params.iter().map(|param| param.trim_end_matches('?'));
        let by_name = match given {
            [Value::Map(map)] if !map.is_empty() => {
                map.iter().all(|(key, _)| names().any(|name| name == key)).then_some(map)
            }
            _ => None,
        };
        // By name, parameters that are absent are `none`, and the method itself reports those that it needs.
        let values: Vec<Value> = match by_name {
            Some(map) => names().map(|name| map.get(name).cloned().unwrap_or_default()).collect(),
            None => given.to_vec(),
        };
        let needed = method.params.iter().filter(|param| !param.ends_with('?')).count();
        let is_short = by_name.is_none() && values.len() < needed;
        if is_short || values.len() > method.params.len() {
            let params = method.params.join(", ");
            let why = format!("{what} takes ({params}), and {} arguments are given", given.len());
            return fail(FailureKind::IntentRejected, why);
        }
        Ok(Self { caller, what, method, values })
    }

    /// Fails with a message that names the argument.
    pub(crate) fn wrong<T>(&self, at: usize, why: &str) -> Tried<T> {
        let name = self.method.params.get(at).map_or("", |param| param.trim_end_matches('?'));
        fail(FailureKind::IntentRejected, format!("`{name}` of {} {why}", self.what))
    }

    /// The value of an argument; `None` if it is absent or `none`.
    pub(crate) fn get(&self, at: usize) -> Option<&Value> {
        self.values.get(at).filter(|value| **value != Value::None)
    }

    /// A name or an id.
    pub(crate) fn name(&self, at: usize) -> Tried<&str> {
        match self.get(at) {
            Some(Value::Text(name)) if !name.is_empty() => Ok(name),
            Some(_) | None => self.wrong(at, "is a name, a text"),
        }
    }

    /// A name or an id, if the argument is present.
    pub(crate) fn name_or_none(&self, at: usize) -> Tried<Option<&str>> {
        self.get(at).map(|_| self.name(at)).transpose()
    }

    /// An amount of at least 1.
    pub(crate) fn amount(&self, at: usize) -> Tried<i64> {
        match self.get(at) {
            Some(Value::Int(n @ 1..)) => Ok(*n),
            Some(_) | None => self.wrong(at, "is a whole number, 1 or more"),
        }
    }

    /// A number of at least 0, if the argument is present.
    pub(crate) fn number_or_none(&self, at: usize) -> Tried<Option<u64>> {
        match self.get(at) {
            None => Ok(None),
            Some(Value::Int(n @ 0..)) => Ok(Some(n.unsigned_abs())),
            Some(_) => self.wrong(at, "is a whole number, 0 or more"),
        }
    }

    /// A mapping; an empty one if the argument is absent.
    pub(crate) fn map(&self, at: usize) -> Tried<Map> {
        match self.get(at) {
            None => Ok(Map::new()),
            Some(Value::Map(map)) => Ok(map.clone()),
            Some(_) => self.wrong(at, "is a mapping"),
        }
    }
}

// `genesis_event_log`: the events of the world that the caller may know.

/// The default and the maximum number of events in a result.
const FEW: u64 = 50;
const MOST: u64 = 500;

const GENESIS: Genesis = Genesis {
    id: "genesis_event_log",
    about: "What has happened in the world, as far as you may know it.",
    methods: &[Method {
        name: "read",
        params: &["n?", "since?"],
        about: "the last n events, 50 if you do not say, at most 500; or the first n after the event of number `since`",
        run: Run::Look(read),
    }],
};

fn read(state: &State, arguments: &Arguments<'_>) -> Tried<Value> {
    let most = arguments.number_or_none(0)?.unwrap_or(FEW).min(MOST);
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let caller = arguments.caller;
    let known = |since: u64| {
        state.events.iter().filter(move |event| event.number > since && event.is_for(caller))
    };
    let events: Vec<Value> = match arguments.number_or_none(1)? {
        Some(since) => known(since).take(most).map(|event| event.value()).collect(),
        None => {
            let mut last: Vec<Value> =
                known(0).rev().take(most).map(|event| event.value()).collect();
            last.reverse();
            last
        }
    };
    Ok(Value::List(events))
}

// `genesis_census`: how many agents are in which states.

const CENSUS: Genesis = Genesis {
    id: "genesis_census",
    about: "How many agents are in which states of their charts: in a run with ticks, as the tick began.",
    methods: &[
        Method {
            name: "agents_in_state",
            params: &["state"],
            about: "the number of agents in a state: its path, the last part of that, or Chart.state",
            run: Run::Look(agents_in_state),
        },
        Method {
            name: "state_distribution",
            params: &["chart?"],
            about: "the numbers of agents in the innermost states of a chart, {state: number}; without it, of each, {chart: {state: number}}",
            run: Run::Look(state_distribution),
        },
    ],
};

fn agents_in_state(state: &State, arguments: &Arguments<'_>) -> Tried<Value> {
    match state.census.count_in(arguments.name(0)?) {
        Ok(count) => Ok(int(count)),
        Err(why) => fail(FailureKind::NotFound, why.to_string()),
    }
}

fn state_distribution(state: &State, arguments: &Arguments<'_>) -> Tried<Value> {
    let states = |of: Distribution| -> Map {
        of.states.into_iter().map(|row| (row.state, int(row.count))).collect()
    };
    let mut all = state.census.state_distribution().into_iter();
    let Some(chart) = arguments.name_or_none(0)? else {
        let all = all.map(|of| (of.chart.clone(), Value::Map(states(of))));
        return Ok(Value::Map(all.collect()));
    };
    match all.find(|of| of.chart == chart) {
        Some(of) => Ok(Value::Map(states(of))),
        None => fail(FailureKind::NotFound, format!("no agent has a chart `{chart}`")),
    }
}
