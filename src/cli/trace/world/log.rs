//! Reads the log of a world line by line, because it may be larger than memory.

use crate::cli::files::stream;
use chartc_runtime::trace::{Logged, VERSION};
use serde::Deserialize;
use std::borrow::Cow;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek};
use std::ops::ControlFlow;
use std::path::Path;

/// The maximum length of a line, in bytes.
const LONGEST: u64 = 64 << 20;
/// The maximum number of errors that are reported one by one.
const TOLD: usize = 5;

/// An open log.
pub(in crate::cli) struct Log {
    pub(super) name: String,
    from: BufReader<File>,
    /// The number of lines read so far, including empty ones.
    pub(super) lines: u64,
    /// The errors found so far, as text.
    pub(super) faults: Vec<String>,
    unread: u64,
    /// The largest time of the lines read so far, in milliseconds.
    pub(super) at_ms: u64,
}

/// The fields that every line of a log has.
#[derive(Deserialize)]
pub(super) struct LogHead<'t> {
    v: u32,
    #[serde(borrow)]
    pub(super) agent: Option<Cow<'t, str>>,
    pub(super) at_ms: u64,
    #[serde(borrow)]
    pub(super) kind: Cow<'t, str>,
}

/// Whether a line of a trace names an agent, as those of a log do; `None` if it is not a line of a trace.
pub(in crate::cli) fn names_agent(line: &str) -> Option<bool> {
    let head: LogHead<'_> = serde_json::from_str(line).ok()?;
    Some(head.agent.is_some())
}

impl Log {
    /// Opens a log. Returns `None` if the file is not one.
    pub(in crate::cli) fn open(path: &Path) -> miette::Result<Option<Self>> {
        let Some(file) = stream(path)? else { return Ok(None) };
        let name = path.display().to_string();
        let mut log = Self {
            name,
            from: BufReader::with_capacity(1 << 18, file),
            lines: 0,
            faults: Vec::new(),
            unread: 0,
            at_ms: 0,
        };
        let mut text = Vec::new();
        // The first line that can be parsed decides. A log may begin with lines that were damaged.
        // Another file, such as a snapshot, need not be read to its end.
        while log.lines < 100 && log.line(&mut text)? {
            let is_log = std::str::from_utf8(&text).ok().and_then(names_agent);
            if let Some(is_log) = is_log {
                log.from.rewind().map_err(|fault| log.fault(&fault))?;
                log.lines = 0;
                return Ok(is_log.then_some(log));
            }
        }
        Ok(None)
    }

    /// Reads the rest of the log. Lines whose heads `is_wanted` rejects are not parsed further. Lines that cannot be parsed are skipped and
    /// reported.
    pub(super) fn read(
        &mut self,
        is_wanted: impl Fn(&LogHead<'_>) -> bool,
        mut take: impl FnMut(Logged) -> ControlFlow<()>,
    ) -> miette::Result<()> {
        let mut bytes = Vec::new();
        while self.line(&mut bytes)? {
            if bytes.trim_ascii().is_empty() {
                continue;
            }
            match Self::logged(&bytes, &is_wanted) {
                Ok(Some((at_ms, logged))) => {
                    self.at_ms = self.at_ms.max(at_ms);
                    if let Some(logged) = logged
                        && take(logged).is_break()
                    {
                        break;
                    }
                }
                Ok(None) => {
                    return Err(miette::miette!(
                        help = "a log of a world and the trace of one run are different files",
                        "{}, line {} names no agent, but other lines do",
                        self.name,
                        self.lines
                    ));
                }
                Err(why) if self.faults.len() < TOLD => {
                    let end = if bytes.ends_with(b"\n") { "" } else { " (the last one, cut off)" };
                    let (name, line) = (&self.name, self.lines);
                    self.faults.push(format!("{name}, line {line}{end}: {why}; the rest is shown"));
                }
                Err(_) => self.unread += 1,
            }
        }
        if self.unread > 0 {
            let (name, unread) = (&self.name, self.unread);
            self.faults.push(format!("{name}: {unread} further lines cannot be read"));
            self.unread = 0;
        }
        Ok(())
    }

    /// Parses a line. Returns its time and, if it is wanted, the line itself; `None` if it names no agent.
    fn logged(
        bytes: &[u8],
        is_wanted: impl Fn(&LogHead<'_>) -> bool,
    ) -> Result<Option<(u64, Option<Logged>)>, String> {
        let text = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
        let head: LogHead<'_> = serde_json::from_str(text).map_err(|why| why.to_string())?;
        if head.v != VERSION {
            return Err(format!("version {} of the trace is not known", head.v));
        }
        if head.agent.is_none() {
            return Ok(None);
        }
        let at_ms = head.at_ms;
        if !is_wanted(&head) {
            return Ok(Some((at_ms, None)));
        }
        let logged = serde_json::from_str(text).map_err(|why| why.to_string())?;
        Ok(Some((at_ms, Some(logged))))
    }

    /// Reads the next line with its line feed. Returns false at the end of the file.
    fn line(&mut self, bytes: &mut Vec<u8>) -> miette::Result<bool> {
        bytes.clear();
        let mut limited = self.from.by_ref().take(LONGEST);
        let read = limited.read_until(b'\n', bytes).map_err(|fault| self.fault(&fault))?;
        if read as u64 == LONGEST && !bytes.ends_with(b"\n") {
            // The rest of the line is skipped. The part that was read is not valid JSON, and is reported as such.
            self.from.skip_until(b'\n').map_err(|fault| self.fault(&fault))?;
        }
        self.lines += u64::from(read > 0);
        Ok(read > 0)
    }

    fn fault(&self, fault: &std::io::Error) -> miette::Report {
        miette::miette!("cannot read {}: {fault}", self.name)
    }
}
