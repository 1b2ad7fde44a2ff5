//! Stands in for tool servers in a build without them: no options, and nothing to start.

use crate::cli::output::Exit;
use crate::setup::{Answerers, Backends};
use chartc_compiler::compile::Checked;
use chartc_compiler::syntax::source::Sources;
use chartc_core::model::Chart;

#[derive(Debug, Clone, Default, clap::Args)]
#[group(skip)]
pub(in crate::cli) struct Options {}

impl Options {
    #[cfg(feature = "sqlite")]
    pub(in crate::cli) fn from_file(_: Option<String>) -> Self {
        Self {}
    }

    #[expect(clippy::unused_self, reason = "as with servers")]
    pub(in crate::cli) fn are_given(&self) -> bool {
        false
    }

    #[cfg(feature = "sqlite")]
    #[expect(clippy::unused_self, reason = "as with servers")]
    pub(in crate::cli) fn file(&self) -> Option<String> {
        None
    }

    #[expect(clippy::unused_self, reason = "as with servers")]
    pub(in crate::cli) fn servers(
        &self,
        _: &[&Chart],
        _: Answerers<'_>,
    ) -> miette::Result<Servers> {
        Ok(Servers)
    }
}

pub(in crate::cli) struct Servers;

impl Servers {
    #[expect(clippy::unused_async, reason = "as with servers")]
    pub(in crate::cli) async fn begin(&self) {}

    #[expect(clippy::unused_self, reason = "as with servers")]
    pub(in crate::cli) fn serve(
        &self,
        _: &mut Backends,
        _: &[(&Checked, &Sources)],
        _: Answerers<'_>,
    ) -> miette::Result<Option<Exit>> {
        Ok(None)
    }

    #[cfg(feature = "serve")]
    #[expect(clippy::unused_async, reason = "as with servers")]
    pub(in crate::cli) async fn end(&self) {}

    pub(in crate::cli) async fn during<R>(&self, _: bool, work: impl Future<Output = R>) -> R {
        work.await
    }
}
