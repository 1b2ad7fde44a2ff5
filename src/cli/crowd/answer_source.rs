//! The sources of answers to the questions of agents. Each agent has its own copy of the script and its own random numbers, so that its
//! answers do not depend on when other agents are asked.

use super::super::instance::{Backends, oracle, read, script_of};
use super::super::live::{is_live, only_provider};
use chartc_core::host::ToolCall;
use chartc_core::model::Chart;
use chartc_runtime::clock::Clock;
use chartc_runtime::driver::{CallId, Driver, Free, Parts};
use chartc_runtime::oracle::{Asking, Deny, Oracle, OracleError, Question, Random, Script};
use chartc_runtime::tools::{Calling, Tools};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The placeholders in a script of many agents: the name of the agent, and its number within its entry of the run file.
const AGENT: &str = "$agent";
const NUMBER: &str = "$number";
/// The name that stands for any provider in the limits of providers.
const ANY: &str = "*";

/// The source of answers for the agents of one group.
pub(super) enum AnswerSource {
    /// A script, of which each agent has its own copy. `text` is present if it contains placeholders, which each copy replaces with the
    /// agent's own name and number.
    Script { script: Script, file: String, text: Option<String>, clock: Arc<dyn Clock> },
    /// Random answers from a seed. Results of functions come from the script.
    Random(u64, Script),
    /// One source that answers all agents, and the provider whose limits apply to it.
    Shared(Backends, String),
}

/// The values of `--llm` and similar options.
#[derive(Debug, Clone, Copy)]
pub(super) struct OracleArgs<'s> {
    pub(super) llm: Option<&'s str>,
    pub(super) model: Option<&'s str>,
    pub(super) human: Option<&'s str>,
    pub(super) functions: Option<&'s Path>,
}

impl AnswerSource {
    pub(super) fn from_args(
        charts: &[&Chart],
        args: OracleArgs<'_>,
        clock: &Arc<dyn Clock>,
    ) -> miette::Result<Self> {
        let script = |path: &Path| script_of(charts, path, clock.clone());
        let functions = args.functions.map(script).transpose()?;
        let word = args.llm.map(|word| word.split_once(':').unwrap_or((word, "")));
        match word {
            Some(("script", file)) if !file.is_empty() && args.human.is_none() => {
                let answers = script(Path::new(file))?;
                let text = Some(read(Path::new(file))?)
                    .filter(|text| text.contains(AGENT) || text.contains(NUMBER));
                Ok(match functions {
                    Some(host) => Self::Shared(
                        Backends {
                            tools: Arc::new(host.clone()),
                            oracle: Arc::new(answers),
                            people: None,
                            host,
                        },
                        ANY.to_owned(),
                    ),
                    None => Self::Script {
                        script: answers,
                        file: file.to_owned(),
                        text,
                        clock: clock.clone(),
                    },
                })
            }
            Some(("random", seed)) if args.human.is_none() => {
                let seed = if seed.is_empty() { Ok(0) } else { seed.parse() };
                let seed = seed.map_err(|_| {
                    miette::miette!(
                        "random:SEED takes a whole number, not `{}`",
                        args.llm.unwrap_or_default()
                    )
                })?;
                Ok(Self::Random(seed, functions.unwrap_or_else(Script::empty)))
            }
            Some(("human" | "replay", _)) if !is_live(args.llm) => Err(miette::miette!(
                help =
                    "use script:FILE, random:SEED, first, deny, clients, PROVIDER:MODEL or a URL",
                "`--llm {}` answers one agent, not many",
                args.llm.unwrap_or_default()
            )),
            _ => {
                let llm = (args.llm, args.model);
                let mut backends = oracle(charts, llm, args.human, args.functions, clock)?;
                if args.human.is_none() && is_live(args.llm) {
                    // One terminal cannot answer for many agents at once.
                    backends.people = Some(Arc::new(Deny));
                }
                let provider = only_provider(args.llm.unwrap_or_default()).unwrap_or(ANY);
                Ok(Self::Shared(backends, provider.to_owned()))
            }
        }
    }

    /// The name of the provider whose limits apply; `*` if it is unknown or depends on the question.
    pub(super) fn provider(&self) -> &str {
        match self {
            Self::Shared(_, provider) => provider,
            Self::Script { .. } | Self::Random(..) => ANY,
        }
    }

    /// The script of the agent with this name and this number within its group. It has the results of the agent's functions and, if the
    /// source is a script, its answers.
    ///
    /// # Errors
    /// With the placeholders replaced, the script cannot be parsed.
    pub(super) fn script(&self, agent: &str, number: usize) -> Result<Script, String> {
        Ok(match self {
            Self::Script { file, text: Some(text), clock, .. } => {
                let text = text.replace(AGENT, agent).replace(NUMBER, &number.to_string());
                Script::parse(file, &text, clock.clone()).map_err(|why| format!("{file}: {why}"))?
            }
            Self::Script { script: all, text: None, .. }
            | Self::Random(_, all)
            | Self::Shared(Backends { host: all, .. }, _) => all.fresh(),
        })
    }

    /// The parts of a driver for one agent, whose script is `own`.
    pub(super) fn parts(&self, agent: &str, own: &Script) -> Parts {
        match self {
            Self::Script { .. } => {
                let own = Arc::new(own.clone());
                Parts { oracle: own.clone(), people: None, tools: own }
            }
            Self::Random(seed, _) => {
                // Each agent gets a seed of its own. FNV-1a mixes the name into it: any fixed function would do.
                let own = agent.bytes().fold(0xcbf2_9ce4_8422_2325_u64 ^ seed, |hash, byte| {
                    (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
                });
                let random = Arc::new(Random::new(own));
                Parts { oracle: random.clone(), people: None, tools: random }
            }
            Self::Shared(backends, _) => backends.parts(),
        }
    }

    /// A driver for all agents, if they can share one. `scripts` has the script of each agent. Unless calls are paid for, a call that was
    /// under way when its run was saved is made again.
    pub(super) fn shared_driver(
        &self,
        scripts: &Scripts,
        is_paid: bool,
    ) -> Option<Arc<dyn Driver>> {
        fn made(driver: impl Driver + 'static, is_paid: bool) -> Arc<dyn Driver> {
            if is_paid { Arc::new(driver) } else { Arc::new(Free(driver)) }
        }
        match self {
            Self::Script { script, .. } => {
                let scripted = Scripted { scripts: scripts.clone(), name: script.name() };
                Some(made(scripted, is_paid))
            }
            Self::Shared(backends, _) => Some(made(backends.parts(), is_paid)),
            Self::Random(..) => None,
        }
    }
}

impl Backends {
    fn parts(&self) -> Parts {
        let (oracle, people) = (self.oracle.clone(), self.people.clone());
        Parts { oracle, people, tools: self.tools.clone() }
    }
}

/// The scripts of all agents, by name. Clones share them.
#[derive(Clone, Default)]
pub(super) struct Scripts(Arc<Mutex<BTreeMap<Arc<str>, Script>>>);

impl Scripts {
    pub(super) fn put(&self, agent: &Arc<str>, script: Script) {
        self.all().insert(agent.clone(), script);
    }

    pub(super) fn get(&self, agent: &str) -> Option<Script> {
        self.all().get(agent).cloned()
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<Arc<str>, Script>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A driver that answers each agent from its own script. The name of the run in a call's id is the name of the agent.
struct Scripted {
    scripts: Scripts,
    name: String,
}

impl Scripted {
    fn script(&self, id: &CallId) -> Result<Script, OracleError> {
        let none = || OracleError::Script(format!("there is no script of `{}`", id.run));
        self.scripts.get(&id.run).ok_or_else(none)
    }
}

impl Driver for Scripted {
    fn ask(&self, id: &CallId, question: Arc<Question>) -> Asking {
        match self.script(id) {
            Ok(own) => own.ask(question),
            Err(why) => Box::pin(std::future::ready(Err(why))),
        }
    }

    fn call(&self, id: &CallId, call: ToolCall) -> Calling {
        match self.script(id) {
            Ok(own) => own.call(call),
            Err(why) => Box::pin(std::future::ready(Err(why))),
        }
    }

    fn name(&self) -> String {
        self.name.clone()
    }
}
