//! Queries about a single run: its row, its open questions, and parts of its trace.

use crate::error::StoreError;
use crate::file::Store;
use crate::inbox::{Letter, Mail, letters};
use crate::read::{Listed, listed};
use crate::row::is_whole;
use chartc_runtime::oracle::{Kind, NotOpen, Question, find_open, shortened};
use chartc_runtime::stepped::{Call, Outcome};
use chartc_runtime::trace::{Line, What};
use rusqlite::{Connection, OptionalExtension, Params, Row};

/// The number of bytes after which a batch of lines ends.
const PIECE: usize = 64 * 1024;

impl Store {
    /// Finds the row of a run, in the same form as [`Store::list`].
    ///
    /// # Errors
    /// The file cannot be read, or the row is damaged.
    pub fn find(&self, run: &str) -> Result<Option<Listed>, StoreError> {
        let read = self.connection.prepare_cached("SELECT * FROM run WHERE name = ?1");
        let row = |row: &Row<'_>| Ok((is_whole(row)?, listed(row)?));
        let found = read.and_then(|mut read| read.query_row([run], row).optional());
        match found.map_err(|error| self.fault(error))? {
            Some((false, _)) => Err(self.damaged("its saved state", run)),
            found => Ok(found.map(|(_, listed)| listed)),
        }
    }

    /// The number of runs that have not ended.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn unfinished(&self) -> Result<u64, StoreError> {
        let read = "SELECT count(*) FROM run WHERE status = 'running'";
        let count = self.connection.query_row(read, [], |row| row.get::<_, i64>(0));
        count.map(|count| count as u64).map_err(|error| self.fault(error))
    }

    /// The lines of a run's trace after line `seq`: at most `most`, and no further ones after 64 KiB.
    ///
    /// # Errors
    /// The file cannot be read, or a line is damaged.
    pub fn lines_after(&self, run: &str, seq: u64, most: u32) -> Result<Vec<Line>, StoreError> {
        let seq = i64::try_from(seq).unwrap_or(i64::MAX);
        let read = "SELECT * FROM line WHERE run = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3";
        self.some_lines(run, read, (run, seq, most))
    }

    /// The last line of a run's trace.
    ///
    /// # Errors
    /// The file cannot be read, or the line is damaged.
    pub fn last_line(&self, run: &str) -> Result<Option<Line>, StoreError> {
        let read = "SELECT * FROM line WHERE run = ?1 ORDER BY seq DESC LIMIT 1";
        self.some_lines(run, read, [run]).map(|mut lines| lines.pop())
    }

    /// The line with which a run has ended; `None` before. Later lines record results that came too late.
    ///
    /// # Errors
    /// The file cannot be read, or a line is damaged.
    pub fn ending(&self, run: &str) -> Result<Option<Line>, StoreError> {
        let mut before = i64::MAX;
        let read = "SELECT * FROM line WHERE run = ?1 AND seq < ?2 ORDER BY seq DESC LIMIT 64";
        loop {
            let lines = self.some_lines(run, read, (run, before))?;
            let Some(first) = lines.last() else { return Ok(None) };
            before = i64::try_from(first.seq).unwrap_or(0);
            let is_end =
                |line: &Line| line.child.is_empty() && matches!(line.what, What::Ended { .. });
            if let Some(end) = lines.into_iter().find(is_end) {
                return Ok(Some(end));
            }
        }
    }

    fn some_lines(&self, run: &str, read: &str, of: impl Params) -> Result<Vec<Line>, StoreError> {
        let fault = |error| self.fault(error);
        let mut rows = self.connection.prepare_cached(read).map_err(fault)?;
        let rows = rows.query_map(of, |row| Ok((row.get::<_, String>(2)?, is_whole(row)?)));
        let (mut lines, mut bytes) = (Vec::new(), 0);
        for row in rows.map_err(fault)? {
            let (text, is_whole) = row.map_err(fault)?;
            bytes += text.len();
            let line = serde_json::from_str(&text).ok().filter(|_| is_whole);
            lines.push(line.ok_or_else(|| self.damaged("a line of its trace", run))?);
            if bytes >= PIECE {
                break;
            }
        }
        Ok(lines)
    }

    /// The open questions of a run to people, in the order in which they were asked.
    ///
    /// # Errors
    /// The file cannot be read, or a call is damaged.
    pub fn asked(&self, run: &str) -> Result<Vec<Question>, StoreError> {
        let fault = |error| self.fault(error);
        let read = "SELECT * FROM call WHERE run = ?1 AND stage = 'planned' ORDER BY planned";
        let mut rows = self.connection.prepare_cached(read).map_err(fault)?;
        let rows = rows.query_map([run], |row| {
            Ok((row.get::<_, String>(1)?, row.get::<_, String>(3)?, is_whole(row)?))
        });
        let mut asked = Vec::new();
        for row in rows.map_err(fault)? {
            let (id, text, is_whole) = row.map_err(fault)?;
            match serde_json::from_str(&text).ok().filter(|_| is_whole) {
                Some(Call::Question(mut question)) if question.kind == Kind::Human => {
                    // Earlier versions stored the question without its id.
                    question.name(&id);
                    asked.push(*question);
                }
                Some(Call::Question(_) | Call::Tool(_)) => {}
                None => return Err(self.damaged("a call", run)),
            }
        }
        Ok(asked)
    }

    /// Finds an open question of a run to a person by its [id](Question::id). A question with an answer in the inbox is not open.
    ///
    /// # Errors
    /// There is no such open question, or the file cannot be read.
    pub fn question(&self, run: &str, id: &str) -> Result<Question, StoreError> {
        let fault = |error| self.fault(error);
        let replied = letters(&self.connection, |of| of == run).map_err(fault)?;
        let is_replied = |question: &Question| {
            let named =
                |mail: &Mail| matches!(&mail.letter, Letter::Reply(id, _) if *id == question.id);
            replied.iter().any(named)
        };
        let asked = self.asked(run)?;
        let open = asked.iter().filter(|question| !is_replied(question));
        match find_open(open.map(|question| (question, question)), id) {
            Ok(question) => Ok(question.clone()),
            Err(why) => {
                let became = became(&self.connection, run, id).map_err(fault)?;
                let why = NotOpen { became, ..why };
                Err(StoreError::NotOpen { run: run.to_owned(), why })
            }
        }
    }
}

/// Describes how a question that is no longer open has ended, for a message.
pub(crate) fn became(
    connection: &Connection,
    run: &str,
    question: &str,
) -> rusqlite::Result<Option<String>> {
    if !Question::is_id(question) {
        return Ok(None);
    }
    let answered = |text: &str| Some(format!("was answered: {}", shortened(text)));
    for mail in letters(connection, |of| of == run)? {
        if let Letter::Reply(id, text) = mail.letter
            && id == question
        {
            return Ok(answered(&text));
        }
    }
    let read = "SELECT id, call, stage, outcome FROM call WHERE run = ?1 AND stage IN ('done', 'cancelled')";
    let mut rows = connection.prepare_cached(read)?;
    let mut rows = rows.query([run])?;
    while let Some(row) = rows.next()? {
        let call = serde_json::from_str(&row.get::<_, String>(1)?);
        let Ok(Call::Question(mut asked)) = call else { continue };
        asked.name(&row.get::<_, String>(0)?);
        if asked.id != question {
            continue;
        }
        let outcome = row.get::<_, Option<String>>(3)?.unwrap_or_default();
        return Ok(match serde_json::from_str(&outcome) {
            Ok(Outcome::Answer(Ok(answer))) => answered(&answer.text),
            Ok(Outcome::Answer(Err(_)) | Outcome::Result(_)) => None,
            Err(_) => Some("was withdrawn, because its step ended or its state was left".into()),
        });
    }
    Ok(None)
}
