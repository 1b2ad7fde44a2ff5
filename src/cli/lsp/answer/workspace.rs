//! All files of a project, with the texts that are open in the editor or, otherwise, on disk.

use super::super::super::walk::{self, Skips};
use super::super::texts::Overlay;
use super::{Refusal, View};
use crate::Compilation;
use chartc_text::load::Loader;
use chartc_text::source::Source;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// The maximum number of files and folders searched below the open folder. In a larger folder only open texts and their imports are known.
const MOST: usize = 50_000;

impl View<'_> {
    /// The names of all charts and agents below the open folder, and of those that are open.
    pub(super) fn names(&self) -> Vec<String> {
        let mut names: BTreeSet<String> =
            self.texts.iter().map(|(_, open)| open.name.clone()).collect();
        if self.client.folder.is_some() {
            let own = Arc::clone(self.settings);
            let skips: Skips = Arc::new(move |path, is_folder| own.leave_out(path, is_folder));
            // If the folder cannot be listed, only the open texts are known.
            let found = walk::below_within(Path::new("."), &skips, MOST).ok().flatten();
            names.extend(found.unwrap_or_default());
        }
        names.into_iter().collect()
    }

    /// A loader that reads open texts from the editor and other files from disk.
    ///
    /// # Errors
    /// The open folder no longer exists.
    pub(super) fn overlay(&self) -> Result<Overlay, Refusal> {
        Overlay::new(self.texts, self.places).map_err(Refusal::Impossible)
    }

    /// Compiles all charts and agents with an index of names, and without exploration. Returns `None` if the open folder no longer exists.
    pub(super) fn everything(&self) -> Option<Compilation> {
        let overlay = self.overlay().ok()?;
        Some(chartc_check::compile::check_indexed(&self.names(), &overlay, 0))
    }

    /// The text of the file `name`: from the editor if it is open, else from disk.
    ///
    /// # Errors
    /// The file cannot be read.
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
