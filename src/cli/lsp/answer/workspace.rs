//! All files of a project, as they are in the editor or on disk.

use super::super::super::walk::{self, Skips};
use super::super::texts::Overlay;
use super::{Refusal, View};
use crate::Compilation;
use chartc_text::load::Loader;
use chartc_text::source::Source;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// The most files and folders that are looked at below the folder that is open. In more, only open texts and what they import are known.
const MOST: usize = 50_000;

impl View<'_> {
    /// The names of all charts and agents below the folder that is open, and of those that are open.
    pub(super) fn names(&self) -> Vec<String> {
        let mut names: BTreeSet<String> =
            self.texts.iter().map(|(_, open)| open.name.clone()).collect();
        if self.client.folder.is_some() {
            let own = Arc::clone(self.settings);
            let skips: Skips = Arc::new(move |path, is_folder| own.leave_out(path, is_folder));
            // Without a list of files the open ones are known.
            let found = walk::below_within(Path::new("."), &skips, MOST).ok().flatten();
            names.extend(found.unwrap_or_default());
        }
        names.into_iter().collect()
    }

    /// Open texts, else files.
    ///
    /// # Errors
    /// The folder that is open is gone.
    pub(super) fn overlay(&self) -> Result<Overlay, Refusal> {
        Overlay::new(self.texts, self.places).map_err(Refusal::Impossible)
    }

    /// All charts and agents with what their names mean, without what needs exploration. `None` if the folder that is open is gone.
    pub(super) fn everything(&self) -> Option<Compilation> {
        let overlay = self.overlay().ok()?;
        Some(chartc_check::compile::check_indexed(&self.names(), &overlay, 0))
    }

    /// The text of a name.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) fn source(&self, name: &str, overlay: &Overlay) -> Result<Arc<Source>, Refusal> {
        match self.texts.named(name) {
            Some((_, open)) => Ok(Arc::clone(&open.source)),
            None => {
                let text = overlay.read(name);
                let text =
                    text.map_err(|why| Refusal::Impossible(format!("cannot read {name}: {why}")))?;
                Ok(Arc::new(Source::new(name, text)))
            }
        }
    }
}
