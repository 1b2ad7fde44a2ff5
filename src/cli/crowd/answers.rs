//! Who answers the agents of a world, as options and the run file say.

use super::super::instance::{backends, read};
use super::super::output::complain;
use crate::setup::{Answerers, Backends, is_live, only_provider, script_of};
use chartc_core::model::Chart;
use chartc_runtime::clock::Clock;
use chartc_runtime::driver::Parts;
use chartc_runtime::oracle::{Deny, Script};
use chartc_world::{ANY, AnswerSource};
use std::path::Path;
use std::sync::Arc;

/// What answers the agents of a group, as `--llm` and similar options say.
pub(super) fn answers(
    charts: &[&Chart],
    args: Answerers<'_>,
    clock: &Arc<dyn Clock>,
) -> miette::Result<AnswerSource> {
    let script = |path: &Path| script_of(charts, path, clock.clone(), &complain);
    let functions = args.functions.map(script).transpose()?;
    let word = args.llm.map(|word| word.split_once(':').unwrap_or((word, "")));
    match word {
        Some(("script", file)) if !file.is_empty() && args.human.is_none() => {
            let answers = script(Path::new(file))?;
            Ok(match functions {
                Some(host) => shared(
                    Backends {
                        parts: Parts {
                            tools: Arc::new(host.clone()),
                            oracle: Arc::new(answers),
                            people: None,
                        },
                        host,
                    },
                    ANY,
                ),
                None => AnswerSource::of_script(answers, file, read(Path::new(file))?, clock),
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
            Ok(AnswerSource::Random(seed, functions.unwrap_or_else(Script::empty)))
        }
        Some(("human" | "replay", _)) if !is_live(args.llm) => Err(miette::miette!(
            help = "use script:FILE, random:SEED, first, deny, clients, PROVIDER:MODEL or a URL",
            "`--llm {}` answers one agent, not many",
            args.llm.unwrap_or_default()
        )),
        _ => {
            let mut backends = backends(charts, args, clock)?;
            if args.human.is_none() && is_live(args.llm) {
                // One terminal cannot answer for many agents at once.
                backends.parts.people = Some(Arc::new(Deny));
            }
            let provider = only_provider(args.llm.unwrap_or_default()).unwrap_or(ANY);
            Ok(shared(backends, provider))
        }
    }
}

/// One source for all agents.
fn shared(backends: Backends, provider: &str) -> AnswerSource {
    let Backends { parts, host } = backends;
    AnswerSource::Shared { parts, functions: host, provider: provider.to_owned() }
}

/// The source of scores: the one that the run file names, else the real model that answers the agents. Without either nobody scores, and
/// the default score counts.
pub(super) fn scores(
    chart: &Chart,
    own: Option<&str>,
    args: Answerers<'_>,
    clock: &Arc<dyn Clock>,
) -> miette::Result<AnswerSource> {
    let live = args.llm.filter(|llm| is_live(Some(llm)));
    let args = Answerers { llm: own.or(live), human: None, functions: None, ..args };
    answers(&[chart], args, clock)
}
