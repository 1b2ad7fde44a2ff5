//! The settings for each file: those of the nearest `chartc.toml`, in its folder or above, overridden by the options.

use super::config::{Config, NAME};
use super::files;
use super::levels::Levels;
use chartc_check::explore::STATES;
use chartc_text::diagnostic::Severity;
use ignore::gitignore::Gitignore;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The settings for one file.
#[derive(Debug)]
pub(super) struct Setting {
    /// The levels of rules.
    pub(super) levels: Levels,
    /// The lowest level that makes a check fail.
    pub(super) bar: Severity,
    /// The maximum number of states to explore for a `check` line.
    pub(super) states: usize,
    /// Whether tests are played.
    pub(super) plays: bool,
}

/// The settings for all files of a command. Each `chartc.toml` is read when a file first needs it.
#[derive(Debug)]
pub(super) struct Settings {
    here: PathBuf,
    /// The settings from the options of the command.
    options: Config,
    known: Mutex<ConfigCache>,
}

#[derive(Debug, Default)]
struct ConfigCache {
    /// Folders, by the path under which they were named.
    places: BTreeMap<PathBuf, Arc<FolderConfig>>,
    /// The settings in each `chartc.toml`, by its path; `None` if it could not be used.
    configs: BTreeMap<PathBuf, Option<Arc<Config>>>,
}

/// A folder without links in its path, and the settings for the files in it.
#[derive(Debug)]
struct FolderConfig {
    folder: PathBuf,
    config: Arc<Config>,
}

impl Settings {
    /// Creates settings with the options. No `chartc.toml` has been read yet.
    ///
    /// # Errors
    /// The working directory does not exist or cannot be read.
    pub(super) fn new(options: Config) -> miette::Result<Self> {
        Ok(Self { here: files::real(&files::here()?), options, known: Mutex::default() })
    }

    /// The settings for the file `name`, which need not exist.
    ///
    /// # Errors
    /// Its `chartc.toml` cannot be read, is not TOML, or has an unknown key or a wrong value. The message has its position.
    pub(super) fn for_file(&self, name: &str) -> miette::Result<Setting> {
        let path = Path::new(name);
        let FolderConfig { folder, config } = &*self.place(path)?;
        let path = folder.join(path.file_name().unwrap_or_default());
        let mut levels = config.levels.clone();
        for (glob, own) in &config.per_path {
            // A pattern that begins with `!` applies to all files but those that it matches.
            let is_for_others = glob.num_whitelists() > 0;
            // A pattern for a folder applies to all files below it.
            if glob.matched_path_or_any_parents(&path, false).is_none() == is_for_others {
                levels.override_by(own);
            }
        }
        levels.override_by(&self.options.levels);
        Ok(Setting {
            levels,
            bar: self.options.fail_on.or(config.fail_on).unwrap_or(Severity::Error),
            states: self.options.explore.or(config.explore).unwrap_or(STATES),
            plays: self.options.tests.or(config.tests).unwrap_or(true),
        })
    }

    /// Whether a search of the folder around `path` leaves this file or folder out.
    ///
    /// # Errors
    /// As [`Settings::for_file`].
    pub(super) fn leave_out(&self, path: &Path, is_folder: bool) -> miette::Result<bool> {
        let Some(name) = path.file_name() else { return Ok(false) };
        let place = self.place(path)?;
        let path = place.folder.join(name);
        let is_out = |out: &Gitignore| out.matched(&path, is_folder).is_ignore();
        Ok(place.config.exclude.as_ref().is_some_and(is_out))
    }

    /// Whether a search of the working directory would leave out the file, or a folder above it.
    ///
    /// # Errors
    /// As [`Settings::for_file`].
    pub(super) fn exclude(&self, name: &str) -> miette::Result<bool> {
        let path = Path::new(name);
        let file = self.place(path)?.folder.join(path.file_name().unwrap_or_default());
        // Folders from the working directory upwards are not part of the search.
        let around = file.ancestors().skip(1).take_while(|around| !self.here.starts_with(around));
        for folder in around {
            if self.leave_out(folder, true)? {
                return Ok(true);
            }
        }
        self.leave_out(path, false)
    }

    /// The `chartc.toml` files that were needed so far, for `--watch`.
    pub(super) fn files(&self) -> Vec<String> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.configs.keys().map(|path| self.shown(path)).collect()
    }

    fn shown(&self, path: &Path) -> String {
        crate::disk::shown(path.strip_prefix(&self.here).unwrap_or(path))
    }

    /// The folder that contains `path`, with its settings.
    fn place(&self, path: &Path) -> miette::Result<Arc<FolderConfig>> {
        let named = path.parent().unwrap_or(Path::new(""));
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = known.places.get(named) {
            return Ok(Arc::clone(place));
        }
        let folder = files::real(&self.here.join(named));
        let above = folder.ancestors().map(|folder| folder.join(NAME));
        let config = match above.into_iter().find(|path| path.is_file()) {
            None => Arc::default(),
            Some(path) => match known.configs.get(&path) {
                Some(Some(config)) => Arc::clone(config),
                Some(None) | None => {
                    // If reading fails, the entry stays, so that `files` lists the file and `--watch` notices when it is repaired.
                    known.configs.insert(path.clone(), None);
                    let config = Arc::new(Config::read(&path, self.shown(&path))?);
                    known.configs.insert(path, Some(Arc::clone(&config)));
                    config
                }
            },
        };
        let place = Arc::new(FolderConfig { folder, config });
        known.places.insert(named.to_owned(), Arc::clone(&place));
        Ok(place)
    }
}
