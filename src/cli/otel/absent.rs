//! Stands in for the export of spans in a build without it.

use chartc_core::model::Chart;
use chartc_runtime::trace::{Line, Sink};
use std::io;

#[derive(Debug, Clone, Default, clap::Args)]
#[group(skip)]
pub(in crate::cli) struct Options {}

impl Options {
    #[expect(clippy::unused_self, reason = "as with spans")]
    pub(in crate::cli) const fn is_given(&self) -> bool {
        false
    }

    #[expect(clippy::unused_self, reason = "as with spans")]
    pub(in crate::cli) fn begin(&self, _: &[&Chart], _: Option<&str>) -> miette::Result<Exporting> {
        Ok(Exporting)
    }
}

#[derive(Clone)]
pub(in crate::cli) struct Exporting;

impl Exporting {
    #[expect(clippy::unused_self, reason = "as with spans")]
    pub(in crate::cli) fn sink(&self, _: &str) -> impl Sink + use<> {
        struct Nothing;
        impl Sink for Nothing {
            fn line(&mut self, _: &Line) -> io::Result<()> {
                Ok(())
            }
        }
        Nothing
    }

    #[cfg(feature = "serve")]
    #[expect(clippy::unused_self, reason = "as with spans")]
    pub(in crate::cli) fn line(&self, _: &str, _: &Line) {}

    #[expect(clippy::unused_self, reason = "as with spans")]
    pub(in crate::cli) fn end(self) {}
}
