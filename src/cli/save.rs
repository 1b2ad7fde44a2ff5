//! Writes files for commands, each as a whole or not at all: the text goes into a temporary file beside the target, which is then
//! renamed. Devices, pipes and descriptors such as `/dev/stdout` are written directly.
#![allow(clippy::disallowed_methods, reason = "the one place that writes files for commands")]

use super::files::{leads_out, stays_inside};
use super::output::print_made;
#[cfg(feature = "run")]
use super::output::raw;
use crate::disk::reason;
use chartc_core::visible;
#[cfg(feature = "run")]
use std::fs::TryLockError;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::{Builder, NamedTempFile};

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
