//! Saving and restoring the position of a script.

use super::function::Function;
use super::{Due, Script, Series, State};
use chartc_core::expr::{Map, Value};
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};

/// The position of a series: the number of entries taken, and those whose answers are under way.
type Used = (usize, Vec<Due>);

impl Script {
    /// The positions of all series, by step, function and tool, with the entries whose answers are under way. A run that continues asks
    /// for those again. Unused series are left out.
    pub fn save(&self) -> Value {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut saved = Map::new();
        let answers = state.answers.iter().map(|(name, row)| (name, Some(row)));
        saved.insert("answers".into(), used(answers));
        for (part, rows) in [("functions", &state.functions), ("tools", &state.tools)] {
            saved.insert(part.into(), used(rows.iter().map(|(name, row)| (name, series(row)))));
        }
        Value::Map(saved)
    }

    /// Restores saved positions. Entries whose answers were under way are returned again first.
    ///
    /// # Errors
    /// The positions belong to another script.
    pub fn load(&self, saved: &Value) -> Result<(), String> {
        let Value::Map(saved) = saved else { return Err("it is no mapping".into()) };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        // Everything is parsed before anything changes, so that an error leaves the script as it was.
        let answers = read(saved, "answers", |name| state.answers.contains_key(name))?;
        let functions = read(saved, "functions", |name| state.functions.contains_key(name))?;
        let tools = read(saved, "tools", |name| state.tools.contains_key(name))?;
        let State { answers: rows, functions: results, tools: calls } = Arc::make_mut(&mut state);
        for (name, row) in rows {
            restore_series(row, answers.get(name));
        }
        for (rows, used) in [(results, functions), (calls, tools)] {
            for (name, row) in rows {
                if let Function::InOrder(row) = row {
                    restore_series(row, used.get(name));
                }
            }
        }
        Ok(())
    }
}

fn series(row: &Function) -> Option<&Series> {
    match row {
        Function::InOrder(row) => Some(row),
        Function::Cases(_) => None,
    }
}

fn used<'s>(rows: impl Iterator<Item = (&'s String, Option<&'s Series>)>) -> Value {
    let mut map = Map::new();
    for (name, row) in rows {
        let Some(row) = row.filter(|row| row.used > 0) else { continue };
        let not_there = row.again.iter().chain(&row.open);
        let not_there = not_there.flat_map(|due| [due.nth as u64, due.at]);
        let numbers = [row.used as u64].into_iter().chain(not_there);
        let numbers = numbers.map(|number| Value::Int(number as i64));
        map.insert(name.clone(), Value::List(numbers.collect()));
    }
    Value::Map(map)
}

fn restore_series(row: &mut Series, used: Option<&Used>) {
    let (count, open) = used.cloned().unwrap_or_default();
    row.used = count;
    row.open.clear();
    row.again = open.into();
}

fn read(
    saved: &Map,
    part: &str,
    is_there: impl Fn(&str) -> bool,
) -> Result<BTreeMap<String, Used>, String> {
    let Some(Value::Map(rows)) = saved.get(part) else {
        return Err(format!("it has no `{part}`"));
    };
    let row = |(name, value): (&str, &Value)| {
        if !is_there(name) {
            return Err(format!("it is of another script: this one has no {part} of `{name}`"));
        }
        let all = numbers(value).ok_or_else(|| format!("`{part}.{name}` is no list"))?;
        let (used, rest) = all.split_first().unwrap_or((&0, &[]));
        let (pairs, _) = rest.as_chunks::<2>();
        let due = pairs.iter().map(|[nth, at]| Due { nth: *nth as usize, at: *at });
        Ok((name.to_owned(), (*used as usize, due.collect())))
    };
    rows.iter().map(row).collect()
}

/// A list of numbers: first the number of entries taken, then two for each entry under way, its number and its time.
fn numbers(value: &Value) -> Option<Vec<u64>> {
    let Value::List(items) = value else { return None };
    let number = |item: &Value| {
        let Value::Int(n) = item else { return None };
        u64::try_from(*n).ok()
    };
    items.iter().map(number).collect()
}
