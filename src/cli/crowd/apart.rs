//! Checks that a run does not write to a file that it reads.

use super::super::files::real;
use super::find::{AgentSet, RUN_FILE};
use super::{Common, Options};
use chartc_world::RunFile;
use std::path::{Path, PathBuf};

/// Refuses a log that is another file of the run: creating the log would empty that file.
pub(super) fn check(
    common: &Common<'_>,
    options: &Options,
    file: &RunFile,
    base: &Path,
    agent_set: &AgentSet,
) -> miette::Result<()> {
    let Some(log) = &options.log else { return Ok(()) };
    let script = |source: &str| source.strip_prefix("script:").map(PathBuf::from);
    let entries = file.agents.iter().filter_map(|entry| entry.llm.as_deref());
    let scoring = file.auction.as_ref().and_then(|auction| auction.scoring.as_deref());
    let beside = entries.chain(scoring).filter_map(script).map(|path| base.join(path));
    let named = [common.functions, common.world, common.store, options.config.as_deref()];
    let charts = agent_set.done.sources.iter().map(|(_, source)| PathBuf::from(&source.name));
    let mut all = charts
        .chain(beside)
        .chain(named.into_iter().flatten().map(Path::to_owned))
        .chain(common.llm.and_then(script))
        .chain([Path::new(common.folder).join(RUN_FILE)]);
    // Compare paths without links: different names may lead to one file.
    let place = real(log);
    match all.find(|path| real(path) == place) {
        Some(path) => Err(miette::miette!(
            help = "give another file with --log",
            "--log would replace {}, which the run needs",
            path.display()
        )),
        None => Ok(()),
    }
}
