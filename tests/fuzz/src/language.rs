//! Texts of each language, and answers of models.

mod declared;
mod grammar;
mod grow;
mod ladder;
mod play;
mod seen;
mod shape;
mod strict;

pub use grow::grow;
pub use ladder::{ladder, read};
pub use shape::assert_holds;

use chartc::Compilation;
use chartc::diagnostic::Diagnostic;
use chartc::load::{Loaded, Memory, load};
use chartc_compiler::lower::{self, Lowered};
use chartc_compiler::syntax;
use chartc_compiler::syntax::print::print;
use std::borrow::Cow;

/// A target: its name and what it does with an input.
pub type Target = (&'static str, fn(&[u8]));

/// All of them that need no more than the compiler.
pub const TARGETS: &[Target] = &[
    ("agent", agent),
    ("chart", chart),
    ("check", check),
    ("ladder", ladder),
    ("lower", lower),
    ("scxml", scxml),
];

/// States that are looked at for a `check` line: what takes many shows nothing that few do not.
const STATES: usize = 100;

/// The other file that a text may import.
const OTHER: (&str, &str) = (
    "b.chart",
    "import \"a.chart\"\ntype R { a: Int }\nfn far(a: Int) -> Int\nchart C { final f }\n",
);

fn text(data: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(data)
}

/// A `.chart` text is read; one without findings is printed as what reads the same and prints as itself.
pub fn chart(data: &[u8]) {
    let text = text(data);
    let (file, found) = seen::read("a.chart", &text);
    if found.is_empty() {
        printed(&file);
    }
}

/// An `agent.yaml` text is read; where nothing is wrong with it, what `chartc convert` prints can be read.
pub fn agent(data: &[u8]) {
    let text = text(data);
    let (file, found) = seen::read("agent.yaml", &text);
    if found.is_empty() {
        printed(&file);
    }
}

/// A `.scxml` text, likewise.
pub fn scxml(data: &[u8]) {
    let text = text(data);
    let (file, found) = seen::read("a.scxml", &text);
    if found.is_empty() {
        printed(&file);
    }
}

/// The file as `.chart` text.
///
/// # Panics
/// It cannot be read, or prints otherwise the second time.
fn printed(file: &syntax::File) -> String {
    let once = print(file);
    let (again, found) = seen::read("a.chart", &once);
    assert!(found.is_empty(), "{:?} in what is printed:\n{once}", found[0].message);
    assert_eq!(print(&again), once, "it prints otherwise the second time");
    once
}

/// A chart grown from the bytes is lowered: the model has its shape, faulty or not, and its places lie in the text.
pub fn lower(data: &[u8]) {
    let (loaded, charts, others, found) = lowered("a.chart", &grow(data));
    for one in charts.iter().chain(&others) {
        assert_holds(&one.chart);
        seen::places_of(&one.map, &loaded.sources);
    }
    seen::findings(&found, &loaded.sources);
}

/// The text and the file that it may import.
fn both(name: &str, text: &str) -> Memory {
    let mut loader = Memory::of(name, text);
    loader.0.insert(OTHER.0.to_owned(), OTHER.1.to_owned());
    loader
}

fn lowered(name: &str, text: &str) -> (Loaded, Vec<Lowered>, Vec<Lowered>, Vec<Diagnostic>) {
    let mut found = Vec::new();
    let loaded = load(&[name.to_owned()], &both(name, text), &mut found);
    let (charts, others) = lower::lower(&loaded, None, &mut found);
    (loaded, charts, others, found)
}

/// The whole check, of a `.chart` text, a grown chart, an `agent.yaml` or a `.scxml` text as the first byte says: every format of
/// report can be written, and a sound chart is the same chart when it is printed, can be planned, started and given a few inputs.
pub fn check(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    let (name, text) = match first % 4 {
        0 => ("a.chart", text(rest)),
        1 => ("a.chart", Cow::Owned(grow(rest))),
        2 => ("agent.yaml", text(rest)),
        _ => ("a.scxml", text(rest)),
    };
    let done = checked(name, &text);
    seen::findings(&done.diagnostics, &done.sources);
    seen::reports(&done.diagnostics, &done.sources);
    if !done.charts.is_empty() {
        printed_means_the_same(&done);
    }
    for sound in &done.charts {
        play::play(sound, data);
    }
}

fn checked(name: &str, text: &str) -> Compilation {
    chartc::check_within(&[name.to_owned()], &both(name, text), STATES)
}

/// Every chart of a file whose text is sound has the same model when the file is printed and read again.
fn printed_means_the_same(done: &Compilation) {
    let (Some(file), true) = (done.files.first(), done.charts.len() == done.lowered.len()) else {
        return;
    };
    let text = print(file);
    let (_, again, ..) = lowered("a.chart", &text);
    assert_eq!(done.lowered.len(), again.len(), "printed as\n{text}");
    for (one, other) in done.lowered.iter().zip(&again) {
        assert!(one.chart == other.chart, "another chart when printed as\n{text}");
    }
}
