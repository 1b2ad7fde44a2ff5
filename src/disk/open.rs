//! Reads text files. No function waits for a device or reads without bound; only [`named`] waits, for a pipe.
#![allow(clippy::disallowed_methods, reason = "here files are opened")]

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::path::Path;

/// The maximum size of a file, in bytes. No chart is larger, and spans count bytes in 32 bits.
pub(crate) const LARGEST: u64 = 16 << 20;

/// Reads the text of a file that the user named. A pipe is read to its end, as `<(command)` requires. A device is read only as far as it
/// has data at once.
///
/// # Errors
/// The reason why the file cannot be read.
pub(crate) fn named(path: &Path) -> Result<String, String> {
    let kind = path.metadata().map_err(|fault| reason(&fault))?.file_type();
    // Without `O_NONBLOCK`, opening a pipe waits until somebody writes to it.
    if is_pipe(kind) {
        let file = File::open(path).map_err(|fault| reason(&fault))?;
        return read(file);
    }
    let file = without_waiting(path).map_err(|fault| reason(&fault))?;
    if file.metadata().map_err(|fault| reason(&fault))?.is_dir() {
        return Err("it is a folder".into());
    }
    read(file)
}

/// Reads the text of a regular file. Anything else is refused, and opening it does not wait.
///
/// # Errors
/// The reason why the file cannot be read.
pub(crate) fn regular(path: &Path) -> Result<String, String> {
    let file = without_waiting(path).map_err(|fault| reason(&fault))?;
    let kind = file.metadata().map_err(|fault| reason(&fault))?.file_type();
    if kind.is_dir() {
        return Err("it is a folder".into());
    }
    if !kind.is_file() {
        return Err("it is no regular file".into());
    }
    read(file)
}

/// Opens a regular file of any size, to be read in pieces. Returns `None` for a pipe or a device, without waiting for it.
///
/// # Errors
/// The reason why the file cannot be opened.
#[cfg(feature = "run")]
pub(crate) fn stream(path: &Path) -> Result<Option<File>, String> {
    let kind = path.metadata().map_err(|fault| reason(&fault))?.file_type();
    if kind.is_dir() {
        return Err("it is a folder".into());
    }
    // Opening a pipe and closing it again would take the reader away from whoever writes to it.
    if !kind.is_file() {
        return Ok(None);
    }
    without_waiting(path).map(Some).map_err(|fault| reason(&fault))
}

/// Whether a file begins with a byte order mark, which [`named`] and [`regular`] strip from its text.
#[cfg(feature = "cli")]
pub(crate) fn is_marked(path: &Path) -> bool {
    let mut first = [0; 3];
    let read = without_waiting(path).and_then(|mut file| file.read_exact(&mut first));
    read.is_ok() && first == [0xEF, 0xBB, 0xBF]
}

/// Reads UTF-8 text of at most [`LARGEST`] bytes.
///
/// # Errors
/// The reason why the text cannot be read.
pub(crate) fn read(from: impl Read) -> Result<String, String> {
    let mut bytes = Vec::new();
    // One byte more than allowed tells a file that is too large from one of exactly the maximum size.
    match from.take(LARGEST + 1).read_to_end(&mut bytes) {
        Ok(_) => text(bytes),
        Err(fault) if fault.kind() == ErrorKind::WouldBlock => {
            Err("it is a device that has nothing to read yet; `-` is standard input".into())
        }
        Err(fault) => Err(reason(&fault)),
    }
}

/// Opens a file for reading so that neither opening nor reading a pipe or a device waits.
#[cfg(unix)]
fn without_waiting(path: &Path) -> std::io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    // `O_NOCTTY`: opening a terminal must not make it the controlling terminal of this process.
    OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)
}

#[cfg(not(unix))]
fn without_waiting(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().read(true).open(path)
}

#[cfg(unix)]
fn is_pipe(kind: std::fs::FileType) -> bool {
    use std::os::unix::fs::FileTypeExt;
    kind.is_fifo()
}

#[cfg(not(unix))]
fn is_pipe(_: std::fs::FileType) -> bool {
    false
}

fn text(bytes: Vec<u8>) -> Result<String, String> {
    if bytes.len() as u64 > LARGEST {
        return Err(format!("it is larger than {} MiB", LARGEST >> 20));
    }
    // A NUL means a binary file, which could be valid UTF-8 all the same.
    if bytes.contains(&0) {
        return Err("it is not a text file".into());
    }
    let text = String::from_utf8(bytes)
        .map_err(|fault| format!("it is not UTF-8 (byte {})", fault.utf8_error().valid_up_to()))?;
    Ok(match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    })
}

/// The reason why the file system refuses, in words for the user.
pub(crate) fn reason(fault: &std::io::Error) -> String {
    if fault.kind() == ErrorKind::NotFound {
        "there is no such file".into()
    } else {
        fault.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_text_says_so() {
        assert_eq!(text(vec![0xEF, 0xBB, 0xBF, b'a']), Ok("a".into()));
        assert_eq!(text(vec![b'a', 0]), Err("it is not a text file".into()));
        assert_eq!(text(vec![b'a', 0xFF]), Err("it is not UTF-8 (byte 1)".into()));
    }
}
