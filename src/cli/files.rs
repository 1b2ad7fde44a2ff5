//! The files that a command reads, those found in folders, and the files that it writes, each as a whole or not at all.
//!
//! **The problem.** A user may name any file. But a folder or a chart may come from somebody else, and contain a link to a private file or
//! an import of one. A pipe or a device blocks or never ends. And a command that is killed must not leave half a file.
//!
//! **The idea.** Trust depends on who named the file. [`Files`] keeps the names of the user apart from those that were found. A named file
//! may be anywhere, and may be a pipe. A found or imported one must be a regular file below the root; `Disk` checks that. Searches follow
//! no links (`below`) and have a bound if one is given (`below_within`).
//!
//! Writing first decides what a path means (`place`): standard output, a device, or a file. Links are followed only within the project. A
//! file is written beside its target, synced, and renamed (`replace`), so it is there as a whole or unchanged.
//!
//! **Example.**
//!
//! ```text
//! chartc check a.chart dir -     names: a.chart, dir/x.chart, <stdin>     found: dir/x.chart
//! read("a.chart")                named: read wherever it is
//! read("dir/x.chart")            found: refused if it is a link that leads out of the root
//! write("out.json")              writes `.out.json.….part`, syncs it, renames it to `out.json`
//! write("/dev/stdout")           descriptor 1: printed like other output
//! ```

#![allow(
    clippy::disallowed_methods,
    reason = "the one place that reads and writes files for commands"
)]

use super::output::print_made;
#[cfg(feature = "run")]
use super::output::raw;
use crate::disk::{self, Disk, reason};
use chartc_compiler::front::load::Loader;
#[cfg(feature = "run")]
use chartc_compiler::front::may_be_chart;
use chartc_compiler::front::{Link, Refusal, Unread, is_named_as_chart, looks_like_chart};
use chartc_core::visible;
use std::collections::BTreeSet;
#[cfg(feature = "run")]
use std::fs::TryLockError;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tempfile::{Builder, NamedTempFile};

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

/// Reads a file that the user named and a run has written: a trace, a snapshot, a log. It may have any size.
///
/// # Errors
/// The reason why it cannot be read.
#[cfg(feature = "run")]
pub(super) fn read_made(path: &Path) -> miette::Result<String> {
    disk::made(path).map_err(|why| miette::miette!("cannot read {}: {why}", path.display()))
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

// Finds the charts in a folder.

/// Decides whether a search leaves out a path. The second argument tells whether the path is a folder.
pub(super) type Skips = Arc<dyn Fn(&Path, bool) -> miette::Result<bool> + Send + Sync>;

/// Finds the charts below a folder, sorted. Links to folders are not followed, so a cycle of links does no harm.
///
/// # Errors
/// An ignore file cannot be read, or an error of `skips`.
pub(super) fn below(folder: &Path, skips: &Skips) -> miette::Result<Vec<String>> {
    Ok(below_within(folder, skips, usize::MAX)?.unwrap_or_default())
}

/// As [`below`], but returns `None` if the folder has more than `most` files and folders, so that nobody waits for a search of a whole
/// disk.
///
/// # Errors
/// As [`below`].
pub(super) fn below_within(
    folder: &Path,
    skips: &Skips,
    most: usize,
) -> miette::Result<Option<Vec<String>>> {
    let real = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    // The walk reads the ignore files of all ancestors, too.
    real.ancestors().try_for_each(ensure_readable_ignore_files)?;
    let refused = Arc::new(Mutex::new(None));
    let (first, skips_folder) = (Arc::clone(&refused), Arc::clone(skips));
    let is_kept = move |path: &Path| {
        if skips_folder(path, true)? {
            Ok(false)
        } else {
            ensure_readable_ignore_files(path).map(|()| true)
        }
    };
    let walk = ignore::WalkBuilder::new(folder)
        // A `.gitignore` counts also outside of a repository.
        .require_git(false)
        // The exclude file is named by the repository's configuration, and could be any file or device.
        .git_exclude(false)
        .follow_links(false)
        // The filter is not called for `folder` itself.
        .filter_entry(move |entry| {
            let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            // The callback cannot return an error: keep the first one for later.
            !is_folder
                || is_kept(entry.path()).unwrap_or_else(|fault| {
                    let mut first = first.lock().unwrap_or_else(PoisonError::into_inner);
                    first.get_or_insert(fault);
                    false
                })
        })
        .build();
    let mut names = Vec::new();
    for (nth, entry) in walk.flatten().enumerate() {
        if nth >= most {
            return Ok(None);
        }
        let is_chart = entry.depth() > 0
            && is_named_as_chart(&entry.file_name().to_string_lossy())
            && entry.path().is_file();
        if is_chart && !skips(entry.path(), false)? {
            if entry.path().to_str().is_none() {
                return Err(miette::miette!(
                    help = "rename it",
                    "cannot read {}: its name is not UTF-8",
                    disk::shown(entry.path())
                ));
            }
            names.push(disk::shown(&disk::tidy(entry.path())));
        }
    }
    names.sort();
    let refused = refused.lock().unwrap_or_else(PoisonError::into_inner).take();
    refused.map_or(Ok(Some(names)), Err)
}

/// A predicate that leaves nothing out.
pub(super) fn none() -> Skips {
    Arc::new(|_, _| Ok(false))
}

/// Refuses a folder with an ignore file that is not a small regular file: a pipe would block, and a device may be endless.
fn ensure_readable_ignore_files(folder: &Path) -> miette::Result<()> {
    for name in [".gitignore", ".ignore"] {
        let path = folder.join(name);
        let fits = |known: std::fs::Metadata| known.is_file() && known.len() <= disk::LARGEST;
        if path.metadata().is_ok_and(|known| !fits(known)) {
            return Err(miette::miette!(
                help = "remove it, or name the files to read",
                "cannot read {}: it is not a regular file, or it is too large",
                disk::shown(&path)
            ));
        }
    }
    Ok(())
}

// Writes files for commands, each as a whole or not at all: the text goes into a temporary file beside the target, which is then
// renamed. Devices, pipes and descriptors such as `/dev/stdout` are written directly.

/// The maximum number of links that are followed, one after the other.
const MOST_LINKS: usize = 40;

/// The destination of a text.
enum Destination {
    /// A file at this path, which is not a link. The file need not exist.
    File(PathBuf),
    /// A device, a pipe, or an open descriptor.
    Device(PathBuf),
    /// Standard output.
    Output,
}

/// Writes a file as a whole or not at all.
///
/// # Errors
/// The reason why it could not be written.
pub(super) fn write(path: &Path, text: &str) -> miette::Result<()> {
    match place(path)? {
        Destination::File(target) => replace(&target, text).map_err(|fault| cannot(path, &fault)),
        Destination::Device(device) => {
            // `append`: a descriptor may refer to a file that other processes write, too.
            let opened = OpenOptions::new().append(true).open(device);
            opened
                .and_then(|mut file| file.write_all(visible::text(text).as_bytes()))
                .map_err(|f| cannot(path, &f))
        }
        Destination::Output => print_made(text),
    }
}

/// Writes files into a folder, as pairs of name and text. Creates the folder if there are any files.
///
/// # Errors
/// The folder or a file could not be written.
pub(super) fn write_into<'f>(
    folder: &Path,
    files: impl Iterator<Item = &'f (String, String)>,
) -> miette::Result<()> {
    for (nth, (name, text)) in files.enumerate() {
        if nth == 0 {
            make_folder(folder)?;
        }
        write(&folder.join(name), text)?;
    }
    Ok(())
}

/// Writes files that do not exist yet: all of them or none.
///
/// # Errors
/// A file already exists, or could not be written.
pub(super) fn write_new(files: &[(&Path, &str)]) -> miette::Result<()> {
    let is_there = |path: &Path| {
        miette::miette!(
            help = "choose another name, or remove it first",
            "{} already exists",
            path.display()
        )
    };
    if let Some((path, _)) = files.iter().find(|(path, _)| path.symlink_metadata().is_ok()) {
        return Err(is_there(path));
    }
    // All texts are on the disk before the first file gets its name: only renaming can fail then.
    let mut written = Vec::new();
    for (path, text) in files {
        if let Some(folder) = path.parent().filter(|f| !f.as_os_str().is_empty() && !f.is_dir()) {
            return Err(miette::miette!("there is no folder {}", folder.display()));
        }
        ensure_inside(path, folder_of(path))?;
        let file = beside(path).and_then(|file| filled(file, text, None));
        written.push((path, file.map_err(|fault| cannot(path, &fault))?));
    }
    let mut named: Vec<&Path> = Vec::new();
    for (path, file) in written {
        if let Err(fault) = file.persist_noclobber(path) {
            for earlier in named {
                // The first error is the one to report. If a file cannot be removed, it stays.
                let _ = std::fs::remove_file(earlier);
            }
            let is_taken = fault.error.kind() == io::ErrorKind::AlreadyExists;
            return Err(if is_taken { is_there(path) } else { cannot(path, &fault.error) });
        }
        named.push(path);
    }
    Ok(())
}

/// A file that is written line by line while a command runs. It stays locked until it is closed.
#[cfg(feature = "run")]
pub(super) struct Stream {
    name: String,
    file: Option<File>,
}

#[cfg(feature = "run")]
impl Stream {
    /// Creates a file, or empties an existing one.
    ///
    /// # Errors
    /// The file could not be created, for example because another command is writing it.
    pub(super) fn create(path: &Path) -> miette::Result<Self> {
        // The file is opened without `truncate`: another command may be writing it, which only the lock shows.
        let stream = Self::open(path, OpenOptions::new().write(true).create(true).truncate(false))?;
        if let Some(file) = stream.file.as_ref().filter(|f| f.metadata().is_ok_and(|m| m.is_file()))
        {
            file.set_len(0).map_err(|fault| cannot(path, &fault))?;
        }
        Ok(stream)
    }

    /// Opens a file for appending.
    ///
    /// # Errors
    /// The file could not be opened, for example because another command is writing it.
    pub(super) fn append(path: &Path) -> miette::Result<Self> {
        Self::open(path, OpenOptions::new().create(true).append(true))
    }

    /// Opens a file and locks it. On a system without locks it is written without one.
    fn open(path: &Path, options: &OpenOptions) -> miette::Result<Self> {
        let opened = match place(path)? {
            Destination::File(target) => options.open(target).map(Some),
            Destination::Device(device) => OpenOptions::new().append(true).open(device).map(Some),
            Destination::Output => Ok(None),
        };
        let file = opened.map_err(|fault| cannot(path, &fault))?;
        let regular = file.as_ref().filter(|f| f.metadata().is_ok_and(|m| m.is_file()));
        if regular.is_some_and(|f| matches!(f.try_lock(), Err(TryLockError::WouldBlock))) {
            return Err(miette::miette!(
                help = "use a different file for each run",
                "cannot write {}: another command is writing it",
                path.display()
            ));
        }
        Ok(Self { name: path.display().to_string(), file })
    }

    fn fault(&self, fault: &io::Error) -> io::Error {
        io::Error::new(fault.kind(), format!("cannot write {}: {}", self.name, reason(fault)))
    }
}

#[cfg(feature = "run")]
impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = match &mut self.file {
            Some(file) => file.write(bytes),
            None => raw().write(bytes),
        };
        written.map_err(|fault| self.fault(&fault))
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = match &mut self.file {
            Some(file) => file.flush(),
            None => raw().flush(),
        };
        flushed.map_err(|fault| self.fault(&fault))
    }
}

/// Creates a folder and its parents, if they do not exist.
///
/// # Errors
/// The folder could not be created.
pub(super) fn make_folder(path: &Path) -> miette::Result<()> {
    ensure_inside(path, path)?;
    std::fs::create_dir_all(path)
        .map_err(|fault| miette::miette!("cannot make {}: {}", path.display(), reason(&fault)))
}

/// Deletes a file.
///
/// # Errors
/// The file could not be deleted.
#[cfg(feature = "run")]
pub(super) fn remove(path: &Path) -> miette::Result<()> {
    std::fs::remove_file(path)
        .map_err(|fault| miette::miette!("cannot remove {}: {}", path.display(), reason(&fault)))
}

fn cannot(path: &Path, fault: &io::Error) -> miette::Report {
    let why = if fault.kind() == io::ErrorKind::NotFound {
        // The folder is missing: a missing file would be created.
        "there is no such folder".to_owned()
    } else if fault.raw_os_error().is_some() {
        fault.to_string()
    } else {
        // The error contains the name of the temporary file, which means nothing to the user.
        fault.kind().to_string()
    };
    miette::miette!("cannot write {}: {why}", path.display())
}

/// Checks, as far as is possible in advance, that a file can be written, so that the result of a long run is not lost.
///
/// # Errors
/// The reason why it cannot be written.
#[cfg(feature = "run")]
pub(super) fn check(path: &Path) -> miette::Result<()> {
    match place(path)? {
        Destination::File(target) if !folder_of(&target).is_dir() => {
            Err(cannot(path, &io::ErrorKind::NotFound.into()))
        }
        Destination::File(_) | Destination::Device(_) | Destination::Output => Ok(()),
    }
}

/// The destination that `path` names. `-` is standard output. Links are followed as long as they stay in the project.
fn place(path: &Path) -> miette::Result<Destination> {
    if path == Path::new("-") {
        return Ok(Destination::Output);
    }
    let mut target = path.to_owned();
    for _ in 0..MOST_LINKS {
        if let Some(number) = descriptor(&target) {
            return Ok(if number == "1" {
                Destination::Output
            } else {
                Destination::Device(target)
            });
        }
        let Ok(link) = target.read_link() else {
            return known(path, target);
        };
        target = target.parent().unwrap_or(Path::new("")).join(link);
    }
    Err(miette::miette!(
        "cannot write {}: it is a symbolic link that leads back to itself",
        path.display()
    ))
}

/// The destination of a path whose links have been followed to `target`. A link may lead only to a folder in the project.
fn known(path: &Path, target: PathBuf) -> miette::Result<Destination> {
    match target.metadata() {
        Ok(known) if known.is_dir() => {
            Err(miette::miette!("cannot write {}: it is a folder", path.display()))
        }
        Ok(known) if !known.is_file() => Ok(Destination::Device(target)),
        _ if target == path => {
            ensure_inside(path, folder_of(&target))?;
            Ok(Destination::File(target))
        }
        _ => {
            let folder = folder_of(&target);
            let real = folder.canonicalize().map_err(|fault| cannot(path, &fault))?;
            if stays_inside(path, &real)? {
                return Ok(Destination::File(target));
            }
            Err(miette::miette!(
                help = format!("name the file itself: {}", target.display()),
                "cannot write {}: it is a link that leads out of the project",
                path.display()
            ))
        }
    }
}

/// Refuses a folder if a link on its path leads out of the project.
fn ensure_inside(path: &Path, folder: &Path) -> miette::Result<()> {
    if !leads_out(folder)? {
        return Ok(());
    }
    Err(miette::miette!(
        help = "name the place itself, without the link",
        "cannot write {}: a link on the way leads out of the project",
        path.display()
    ))
}

/// The number of the open descriptor that a path names, such as `1` for `/dev/stdout`.
fn descriptor(path: &Path) -> Option<String> {
    let path = path.to_str()?;
    match path {
        "/dev/stdin" => return Some("0".to_owned()),
        "/dev/stdout" => return Some("1".to_owned()),
        "/dev/stderr" => return Some("2".to_owned()),
        _ => {}
    }
    let number = path.strip_prefix("/dev/fd/").or_else(|| {
        let (process, number) = path.strip_prefix("/proc/")?.split_once("/fd/")?;
        (process == "self" || process == std::process::id().to_string()).then_some(number)
    })?;
    number.bytes().all(|b| b.is_ascii_digit()).then(|| number.to_owned())
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Replaces a file with a text. The old file stays until the whole text is on the disk.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    // A rename needs no permission for the file itself, so check that it may be written.
    let before = match OpenOptions::new().write(true).open(path) {
        Ok(file) => Some(file.metadata()?),
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => None,
        Err(fault) => return Err(fault),
    };
    filled(beside(path)?, text, before)?.persist(path).map_err(|fault| fault.error)?;
    // Syncing the folder makes the rename durable. Not every system supports it, and the file is complete either way.
    let _ = File::open(folder_of(path)).and_then(|folder| folder.sync_all());
    Ok(())
}

/// Creates a temporary file beside `path`. It is deleted when dropped, unless it has been renamed.
fn beside(path: &Path) -> io::Result<NamedTempFile> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // The whole name with a suffix could be longer than the file system allows.
    let prefix = format!(".{}.", name.chars().take(40).collect::<String>());
    let mut builder = Builder::new();
    builder.prefix(&prefix).suffix(".part");
    as_usual(&mut builder);
    // The same folder is on the same file system, without which a rename would fail.
    builder.tempfile_in(folder_of(path))
}

/// Writes the text into the file, copies mode and owner from `before`, the file that it replaces, and syncs it.
fn filled(
    mut file: NamedTempFile,
    text: &str,
    before: Option<Metadata>,
) -> io::Result<NamedTempFile> {
    file.as_file_mut().write_all(text.as_bytes())?;
    if let Some(before) = before {
        take_after(file.as_file(), &before)?;
    }
    file.as_file().sync_all()?;
    Ok(file)
}

/// Gives a new file the mode that the user's umask sets; temporary files have 0600 otherwise.
#[cfg(unix)]
fn as_usual(builder: &mut Builder<'_, '_>) {
    use std::os::unix::fs::PermissionsExt;
    builder.permissions(std::fs::Permissions::from_mode(0o666));
}

#[cfg(not(unix))]
fn as_usual(_: &mut Builder<'_, '_>) {}

#[cfg(unix)]
fn take_after(file: &File, before: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};
    let own = file.metadata()?;
    if (own.uid(), own.gid()) != (before.uid(), before.gid()) {
        // Only root may give a file to another user. For others it belongs to the user who wrote it.
        let _ = fchown(file, Some(before.uid()), Some(before.gid()));
    }
    file.set_permissions(before.permissions())
}

#[cfg(not(unix))]
fn take_after(file: &File, before: &Metadata) -> io::Result<()> {
    file.set_permissions(before.permissions())
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
