//! Sinks: the destinations of trace lines.

use super::Line;
use chartc_core::visible;
use std::io::{self, Write};

/// Receives the lines of a trace, each as soon as it is written.
pub trait Sink {
    /// Receives a line.
    ///
    /// # Errors
    /// The line cannot be written. The run ends with this error.
    fn line(&mut self, line: &Line) -> io::Result<()>;

    /// Whether nobody reads the lines. Then they are not built, only counted.
    fn is_deaf(&self) -> bool {
        false
    }
}

/// A sink that discards all lines.
impl Sink for () {
    fn line(&mut self, _line: &Line) -> io::Result<()> {
        Ok(())
    }

    fn is_deaf(&self) -> bool {
        true
    }
}

/// A sink that collects all lines.
impl Sink for Vec<Line> {
    fn line(&mut self, line: &Line) -> io::Result<()> {
        self.push(line.clone());
        Ok(())
    }
}

impl<S: Sink + ?Sized> Sink for &mut S {
    fn line(&mut self, line: &Line) -> io::Result<()> {
        (**self).line(line)
    }

    fn is_deaf(&self) -> bool {
        (**self).is_deaf()
    }
}

impl<S: Sink> Sink for Option<S> {
    fn line(&mut self, line: &Line) -> io::Result<()> {
        self.as_mut().map_or(Ok(()), |sink| sink.line(line))
    }

    fn is_deaf(&self) -> bool {
        self.as_ref().is_none_or(Sink::is_deaf)
    }
}

/// A sink that passes each line to both, in this order.
impl<A: Sink, B: Sink> Sink for (A, B) {
    fn line(&mut self, line: &Line) -> io::Result<()> {
        self.0.line(line)?;
        self.1.line(line)
    }

    fn is_deaf(&self) -> bool {
        self.0.is_deaf() && self.1.is_deaf()
    }
}

/// Writes one JSON object per line, with invisible characters escaped. Each line is flushed, so that it is there even if the process is
/// killed.
#[derive(Debug)]
pub struct JsonLines<W: Write>(pub W);

impl<W: Write> Sink for JsonLines<W> {
    fn line(&mut self, line: &Line) -> io::Result<()> {
        // One write per line, so that a full disk or a killed process is less likely to leave half a line.
        let text = serde_json::to_string(line)?;
        let mut text = visible::json(&text).into_owned();
        text.push('\n');
        self.0.write_all(text.as_bytes())?;
        self.0.flush()
    }
}
