//! An in-memory implementation of long-term memory.

use super::words::{query_words, words};
use super::{Memo, Memory, MemoryError};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The BM25 parameter for saturation: how quickly further occurrences of a word stop to count. The usual value, as in SQLite's FTS5.
const K1: f64 = 1.2;

/// The BM25 parameter for length: how much longer texts are discounted. The usual value.
const B: f64 = 0.75;

/// The weight of a word that more than half of the memories contain. BM25's formula would make it zero or negative.
const LEAST: f64 = 1e-6;

/// The memory of one agent, for tests, trials and builds without a database.
#[derive(Debug, Default)]
pub struct InProcess(Mutex<MemoryIndex>);

/// An inverted index of the memories.
#[derive(Debug, Default)]
struct MemoryIndex {
    memos: Vec<Memo>,
    /// The keys of the memories that were stored once only.
    names: BTreeSet<String>,
    /// The number of words of each memory; `total` is their sum.
    lengths: Vec<usize>,
    total: usize,
    /// For each word, the memories that contain it in ascending order, with the number of occurrences.
    having: BTreeMap<String, Vec<(usize, usize)>>,
}

impl InProcess {
    /// Creates an empty memory.
    pub fn new() -> Self {
        Self::default()
    }

    fn kept(&self) -> MutexGuard<'_, MemoryIndex> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Memory for InProcess {
    fn record(&self, memo: Memo) -> Result<(), MemoryError> {
        self.kept().put(memo);
        Ok(())
    }

    fn record_once(&self, name: &str, memo: Memo) -> Result<bool, MemoryError> {
        let mut kept = self.kept();
        let is_new = kept.names.insert(name.to_owned());
        if is_new {
            kept.put(memo);
        }
        Ok(is_new)
    }

    fn search(&self, query: &str, limit: usize) -> Result<Vec<Memo>, MemoryError> {
        let kept = self.kept();
        let words = query_words(query);
        let newest = kept.memos.iter().rev();
        if words.is_empty() {
            return Ok(newest.take(limit).cloned().collect());
        }
        let found = kept.nearest(&words).into_iter().take(limit);
        Ok(found.map(|(_, at)| kept.memos[at].clone()).collect())
    }
}

impl MemoryIndex {
    fn put(&mut self, memo: Memo) {
        let at = self.memos.len();
        let mut length = 0;
        for word in words(&memo.text) {
            length += 1;
            let places = self.having.entry(word).or_default();
            match places.last_mut() {
                Some((last, times)) if *last == at => *times += 1,
                Some(_) | None => places.push((at, 1)),
            }
        }
        self.lengths.push(length);
        self.total += length;
        self.memos.push(memo);
    }

    /// The memories that contain any of the words, with their scores, nearest first.
    fn nearest(&self, words: &[String]) -> Vec<(f64, usize)> {
        let count = self.memos.len() as f64;
        let average = self.total as f64 / count;
        let mut scores: BTreeMap<usize, f64> = BTreeMap::new();
        for places in words.iter().filter_map(|word| self.having.get(word)) {
            let having = places.len() as f64;
            let rare = ((count - having + 0.5) / (having + 0.5)).ln();
            let rare = if rare <= 0.0 { LEAST } else { rare };
            for (at, times) in places {
                let times = *times as f64;
                let length = self.lengths[*at] as f64;
                let weight = times * (K1 + 1.0) / (times + K1 * (1.0 - B + B * length / average));
                *scores.entry(*at).or_default() += rare * weight;
            }
        }
        let mut found: Vec<(f64, usize)> = scores.into_iter().map(|(at, s)| (s, at)).collect();
        // Of equal scores, the higher index is newer and comes first.
        found.sort_by(|(one, at), (other, then)| other.total_cmp(one).then(then.cmp(at)));
        found
    }
}
