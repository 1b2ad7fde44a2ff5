//! Where the lines of a trace go.

use super::Line;
use chartc_core::visible;
use std::io::{self, Write};

/// Takes the lines of a trace as they happen.
pub trait Sink {
    /// Takes one.
    ///
    /// # Errors
    /// When it cannot be written; the run ends with that.
    fn line(&mut self, line: &Line) -> io::Result<()>;

    /// Whether nobody hears of the lines, so that they need not be written.
    fn is_deaf(&self) -> bool {
        false
    }
}

/// Nothing is kept.
impl Sink for () {
    fn line(&mut self, _line: &Line) -> io::Result<()> {
        Ok(())
    }

    fn is_deaf(&self) -> bool {
        true
    }
}

/// All are kept.
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

/// Both, in this order.
impl<A: Sink, B: Sink> Sink for (A, B) {
    fn line(&mut self, line: &Line) -> io::Result<()> {
        self.0.line(line)?;
        self.1.line(line)
    }

    fn is_deaf(&self) -> bool {
        self.0.is_deaf() && self.1.is_deaf()
    }
}

/// One JSON object a line, with hidden characters written as escapes. Each line is flushed, so that what happened is there even if the process is killed.
#[derive(Debug)]
pub struct JsonLines<W: Write>(pub W);

impl<W: Write> Sink for JsonLines<W> {
    fn line(&mut self, line: &Line) -> io::Result<()> {
        // In one piece, so that a disk that fills up or a process that is killed leaves no line half written where that can be helped.
        let text = serde_json::to_string(line)?;
        let mut text = visible::json(&text).into_owned();
        text.push('\n');
        self.0.write_all(text.as_bytes())?;
        self.0.flush()
    }
}
