//! The log of a world, read line by line: it may be larger than the memory.

use crate::cli::files::stream;
use chartc_runtime::trace::{Logged, VERSION};
use serde::Deserialize;
use std::borrow::Cow;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek};
use std::ops::ControlFlow;
use std::path::Path;

/// The longest line to read, in bytes.
const LONGEST: u64 = 64 << 20;
/// The maximum number of errors to report one by one.
const TOLD: usize = 5;

/// A log.
pub(in crate::cli) struct Log {
    pub(super) name: String,
    from: BufReader<File>,
    /// Lines read, empty ones too.
    pub(super) lines: u64,
    /// What cannot be read, in words.
    pub(super) faults: Vec<String>,
    unread: u64,
    /// The latest time read.
    pub(super) at_ms: u64,
}

/// What every line of a log has.
#[derive(Deserialize)]
pub(super) struct LogHead<'t> {
    v: u32,
    #[serde(borrow)]
    pub(super) agent: Option<Cow<'t, str>>,
    pub(super) at_ms: u64,
    #[serde(borrow)]
    pub(super) kind: Cow<'t, str>,
}

/// Whether a line is one of a log, with an `agent`; `None` if it is no line of a trace at all.
pub(in crate::cli) fn names_agent(line: &str) -> Option<bool> {
    let head: LogHead<'_> = serde_json::from_str(line).ok()?;
    Some(head.agent.is_some())
}

impl Log {
    /// Opens a log; `None` if the file is anything else.
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
        // The first line that is one of a trace.
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

    /// Reads on. Lines that `is_wanted` refuses by their heads are not looked at any further; unreadable ones are skipped and reported.
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

    /// A line with its time; nothing if it has no agent.
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

    /// The next line with its line feed; false at the end.
    fn line(&mut self, bytes: &mut Vec<u8>) -> miette::Result<bool> {
        bytes.clear();
        let mut limited = self.from.by_ref().take(LONGEST);
        let read = limited.read_until(b'\n', bytes).map_err(|fault| self.fault(&fault))?;
        if read as u64 == LONGEST && !bytes.ends_with(b"\n") {
            // The rest of it is skipped. What was read is no JSON, and is reported as that.
            self.from.skip_until(b'\n').map_err(|fault| self.fault(&fault))?;
        }
        self.lines += u64::from(read > 0);
        Ok(read > 0)
    }

    fn fault(&self, fault: &std::io::Error) -> miette::Report {
        miette::miette!("cannot read {}: {fault}", self.name)
    }
}
