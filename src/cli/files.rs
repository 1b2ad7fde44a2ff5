//! The files that a command reads: those that the user named, those found in folders, and their imports.
#![allow(clippy::disallowed_methods, reason = "the one place that reads files for commands")]

use super::walk::{Skips, below, none};
use crate::disk::{self, Disk};
#[cfg(feature = "run")]
use chartc_text::front::may_be_chart;
use chartc_text::front::{Link, Refusal, Unread, is_named_as_chart, looks_like_chart};
use chartc_text::load::Loader;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The name that standard input has in messages.
pub const STDIN: &str = "<stdin>";

/// The root inside which imports must stay.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Root {
    /// Folder that contains all imports [default: the nearest one above the file with a chartc.toml or .git, else this folder]
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
}

/// The input files of a command, and the file system for their imports.
#[derive(Debug)]
pub struct Files {
    disk: Disk,
    /// The names in the order in which the files are checked, each once. [`STDIN`] stands for standard input.
    names: Vec<String>,
    /// The name of standard input: [`STDIN`], or that of `--stdin-filename`.
    stdin: String,
    /// The names of the files that the user did not name: they were found in folders or beside other files.
    found: BTreeSet<String>,
}

impl Files {
    /// Finds the files that `paths` denote. A file denotes itself, and `-` standard input. A folder denotes every `*.chart`, `*.scxml`,
    /// `agent.yaml` and `*.agent.yaml` below it that is neither ignored nor hidden, sorted. Each file occurs once. No path means the
    /// current folder.
    ///
    /// # Errors
    /// `--root` is not a folder.
    pub fn find(paths: &[String], root: &Root) -> miette::Result<Self> {
        Self::find_without(paths, root, &none(), |_| None)
    }

    /// Finds the files of [`Self::find`] and, behind each named file, the file with its tests if there is one beside it: `x.test.chart`
    /// beside `x.chart`, `x.agent.test.chart` beside `x.agent.yaml`.
    ///
    /// # Errors
    /// `--root` is not a folder.
    #[cfg(feature = "run")]
    pub(super) fn find_with_tests(paths: &[String], root: &Root) -> miette::Result<Self> {
        Self::find_without(paths, root, &none(), tests_of)
    }

    /// Finds the files that `paths` denote and, behind each named file, the one that `with` returns. Files that `skips` selects are left
    /// out unless they are named.
    ///
    /// # Errors
    /// `--root` is not a folder, or an error of `skips`.
    pub(super) fn find_without(
        paths: &[String],
        root: &Root,
        skips: &Skips,
        with: impl Fn(&str) -> Option<String>,
    ) -> miette::Result<Self> {
        let here = [".".to_owned()];
        let paths = if paths.is_empty() { &here[..] } else { paths };
        let (mut named, mut found) = (BTreeSet::new(), BTreeSet::new());
        let (mut names, mut seen) = (Vec::new(), BTreeSet::new());
        let mut add = |name: String, of: &mut BTreeSet<String>| {
            if seen.insert(name.clone()) {
                names.push(name.clone());
            }
            of.insert(name);
        };
        for path in paths {
            if path == "-" {
                add(STDIN.to_owned(), &mut named);
            } else if Path::new(path).is_dir() {
                for name in below(Path::new(path), skips)? {
                    add(name, &mut found);
                }
            } else {
                let name = disk::shown(&disk::tidy(Path::new(path)));
                let other = with(&name);
                add(name, &mut named);
                if let Some(name) = other
                    && !skips(Path::new(&name), false)?
                {
                    add(name, &mut found);
                }
            }
        }
        found.retain(|name| !named.contains(name));
        Ok(Self { disk: root.disk()?, names, stdin: STDIN.to_owned(), found })
    }

    /// Sets the name of standard input, which is then read as if it were this file.
    ///
    /// # Errors
    /// Standard input is not among the files.
    pub(super) fn name_stdin(&mut self, name: &str) -> miette::Result<()> {
        let Some(own) = self.names.iter_mut().find(|name| *name == STDIN) else {
            return Err(miette::miette!(
                help = "name standard input, `-`, as the file to check",
                "--stdin-filename has no meaning without `-`"
            ));
        };
        self.stdin = disk::shown(&disk::tidy(Path::new(name)));
        own.clone_from(&self.stdin);
        // Standard input replaces the file of that name, if it is listed as well.
        let mut seen = BTreeSet::new();
        self.names.retain(|name| seen.insert(name.clone()));
        self.found.remove(&self.stdin);
        Ok(())
    }

    /// Removes the files that `is_out` selects.
    ///
    /// # Errors
    /// An error of `is_out`.
    pub(super) fn take_out(
        &mut self,
        is_out: impl Fn(&str) -> miette::Result<bool>,
    ) -> miette::Result<()> {
        for name in std::mem::take(&mut self.names) {
            if !is_out(&name)? {
                self.names.push(name);
            }
        }
        Ok(())
    }

    /// Removes the named regular files that neither have the name of a chart nor look like one, and returns their names.
    pub(super) fn without_others(&mut self) -> Vec<String> {
        let is_other = |name: &String| {
            let file = name.rsplit('/').next().unwrap_or(name);
            let is_named = *name != self.stdin && !self.found.contains(name);
            is_named
                && !is_named_as_chart(file)
                && Path::new(name).is_file()
                && disk::regular(Path::new(name)).is_ok_and(|text| !looks_like_chart(file, &text))
        };
        let others: Vec<String> =
            self.names.iter().filter(|name| is_other(name)).cloned().collect();
        self.names.retain(|name| !others.contains(name));
        others
    }

    /// The names of the files.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The name of standard input, if it is among the files.
    pub(super) fn stdin(&self) -> Option<&str> {
        self.names.iter().map(String::as_str).find(|name| *name == self.stdin)
    }

    /// Whether the file was found, and not named by the user.
    pub(super) fn is_found(&self, name: &str) -> bool {
        self.found.contains(name)
    }
}

impl Loader for Files {
    fn read(&self, path: &str) -> Result<String, String> {
        if path == self.stdin {
            return disk::read(std::io::stdin().lock());
        }
        // The user may name a file anywhere. A found file might be a link that somebody else put into the folder.
        if !self.is_found(path) {
            return self.disk.read(path);
        }
        match self.disk.permit(path, path, Link::Import) {
            Ok(()) => self.disk.read_linked(path),
            Err(Unread::Unreadable(why)) => Err(why),
            Err(Unread::Refused(Refusal { why, .. })) => {
                Err(format!("{why}; name the file itself to read it"))
            }
        }
    }

    fn read_linked(&self, path: &str) -> Result<String, String> {
        self.disk.read_linked(path)
    }

    fn resolve(&self, from: &str, name: &str) -> String {
        // Standard input has no folder: its imports are relative to the working directory.
        self.disk.resolve(if from == STDIN { "" } else { from }, name)
    }

    fn root(&self, named: &str) -> String {
        self.disk.root(if named == STDIN { "" } else { named })
    }

    fn permit(&self, named: &str, path: &str, link: Link) -> Result<(), Unread> {
        self.disk.permit(if named == STDIN { "" } else { named }, path, link)
    }

    fn list(&self, path: &str) -> Option<Vec<String>> {
        self.disk.list(path)
    }
}

impl Root {
    fn disk(&self) -> miette::Result<Disk> {
        let given = self.root.as_deref();
        Disk::for_commands(here()?, given).map_err(|why| {
            let shown = given.unwrap_or(Path::new("")).display();
            miette::miette!("--root {shown}: {why}")
        })
    }
}

/// The working directory.
///
/// # Errors
/// If the working directory does not exist or cannot be read.
pub(super) fn here() -> miette::Result<PathBuf> {
    std::env::current_dir().map_err(|fault| miette::miette!("no working directory: {fault}"))
}

/// Whether `real`, a path without links, lies below the root of `path`.
pub(super) fn stays_inside(path: &Path, real: &Path) -> miette::Result<bool> {
    Ok(real.starts_with(Root::default().disk()?.root_of(path)))
}

/// Whether a link on the path to a folder leads out of the project that the link lies in. A link outside all projects may lead anywhere.
pub(super) fn leads_out(folder: &Path) -> miette::Result<bool> {
    let here = here()?;
    let path = disk::tidy(&here.canonicalize().unwrap_or(here).join(folder));
    let is_link = |path: &&Path| path.is_symlink();
    let Some(link) = path.ancestors().collect::<Vec<_>>().into_iter().rev().find(is_link) else {
        return Ok(false);
    };
    // Folders that do not exist yet will be created below the nearest one that does.
    let real = path.ancestors().find_map(|above| above.canonicalize().ok());
    let project = Root::default().disk()?.project_of(link);
    Ok(project.zip(real).is_some_and(|(project, real)| !real.starts_with(project)))
}

/// Resolves the links in the path of a folder, as far as the path exists.
pub(super) fn real(folder: &Path) -> PathBuf {
    let known = folder
        .ancestors()
        .find_map(|above| Some(above.canonicalize().ok()?.join(folder.strip_prefix(above).ok()?)));
    disk::tidy(known.as_deref().unwrap_or(folder))
}

/// Reads a file that the user named.
///
/// # Errors
/// The reason why it cannot be read.
#[cfg(feature = "run")]
pub(super) fn read(path: &Path) -> miette::Result<String> {
    disk::named(path).map_err(|why| miette::miette!("cannot read {}: {why}", path.display()))
}

/// Opens a file that the user named, to be read in pieces. Returns `None` for a pipe or a device.
///
/// # Errors
/// The reason why it cannot be opened.
#[cfg(feature = "run")]
pub(super) fn stream(path: &Path) -> miette::Result<Option<std::fs::File>> {
    disk::stream(path).map_err(|why| miette::miette!("cannot read {}: {why}", path.display()))
}

/// Reads a file that was found and not named. It must be a regular file.
///
/// # Errors
/// The reason why it cannot be read.
pub(super) fn read_found(path: &Path) -> miette::Result<String> {
    disk::regular(path).map_err(|why| miette::miette!("cannot read {}: {why}", path.display()))
}

/// Selects the first path that exists and may be read. Each path comes from another file, which is given with it.
///
/// # Errors
/// `None` if no path exists, else the reason why the first one that exists is refused.
#[cfg(feature = "run")]
pub(super) fn linked(paths: &[(PathBuf, &Path)], root: &Root) -> Result<PathBuf, Option<String>> {
    let disk = root.disk().map_err(|fault| Some(fault.to_string()))?;
    let mut refused = None;
    for (path, of) in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let permitted = Link::Trace.permit(&name);
        let permitted =
            permitted.and_then(|()| disk.permit_below(&disk.root_of(of), path, Link::Trace));
        match permitted {
            // Files that are not agents are not parsed, because diagnostics would show their lines.
            Ok(()) if disk::regular(path).is_ok_and(|text| !may_be_chart(&name, &text)) => {
                refused.get_or_insert_with(|| "it is not an agent".to_owned());
            }
            Ok(()) => return Ok(path.clone()),
            Err(Unread::Unreadable(_)) => {}
            Err(Unread::Refused(Refusal { why, .. })) => {
                refused.get_or_insert(why);
            }
        }
    }
    Err(refused)
}

/// The names of a folder's entries, in no particular order; `None` if the folder cannot be read.
#[cfg(feature = "run")]
pub(super) fn list(path: &Path) -> Option<Vec<String>> {
    let entries = std::fs::read_dir(path).ok()?;
    Some(entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect())
}

/// The test file beside a file. A test file that imports only other files tests those, and does not count.
#[cfg(feature = "run")]
pub(super) fn tests_of(file: &str) -> Option<String> {
    const TESTS: &str = ".test.chart";
    let (stem, _) = file.rsplit_once('.').filter(|_| !file.ends_with(TESTS))?;
    let beside = format!("{stem}{TESTS}");
    let text = disk::regular(Path::new(&beside)).ok()?;
    let mut imports = text.lines().filter_map(imported).peekable();
    let means_file = |name: &str| {
        let folder = Path::new(&beside).parent().unwrap_or(Path::new(""));
        disk::shown(&disk::tidy(&folder.join(name))) == file
    };
    let is_of_others = imports.peek().is_some() && !imports.any(means_file);
    (!is_of_others).then_some(beside)
}

/// The name in a line `import "name"`.
#[cfg(feature = "run")]
fn imported(line: &str) -> Option<&str> {
    let name = line.trim_start().strip_prefix("import")?.trim_start().strip_prefix('"')?;
    name.split_once('"').map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_are_relative_to_the_importing_file() {
        let files = Files::find(&["-".to_owned()], &Root::default()).expect("a working directory");
        assert_eq!(files.resolve("a/b.chart", "../tools.chart"), "tools.chart");
        assert_eq!(files.resolve("./b.chart", "tools.chart"), "tools.chart");
        assert_eq!(files.resolve(STDIN, "lib/tools.chart"), "lib/tools.chart");
        assert_eq!(files.resolve("b.chart", "../../x.chart"), "../../x.chart");
    }
}
