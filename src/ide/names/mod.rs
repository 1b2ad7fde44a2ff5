//! Finds declarations and uses of names, and renames them.
//!
//! Everything is based on the index that lowering makes, [`Compilation::uses`]: each name with the declaration that it means. A name may
//! mean several declarations, so what belongs together is found by following the index in both directions until nothing is added:
//!
//! ```text
//! event user.message         a use of `user` means a group: both declarations
//! event user.cancel
//! on user -> open            means user.message and user.cancel
//!
//! references of `user` in `on user`: its declarations are the first two lines; all uses of these are `user` in all three lines
//! ```
//!
//! In the same way a placeholder of a shared component means a variable of each chart that uses the component.

mod rename;

pub use chartc_compiler::lower::{NameKind, Use};
pub use rename::{
    FileEdits, FilePosition, Note, Refusal, Renaming, TextEdit, prepare_rename, rename,
};

use chartc_compiler::compile::Compilation;
use chartc_compiler::syntax::source::{FileId, Span};
use chartc_compiler::syntax::{is_lower_snake, is_reserved, is_upper_camel, is_word};
use std::collections::BTreeSet;

/// The name at an offset, and the declarations that it means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// The span of the name.
    pub at: Span,
    /// The kind of thing that has the name.
    pub kind: NameKind,
    /// Its declarations: several for a group of events or tools, and for something that each of several charts declares.
    pub declared: Vec<Span>,
}

/// A place where a name is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Highlight {
    /// The span of the name.
    pub at: Span,
    /// Whether the name is declared here, or assigned to.
    pub is_write: bool,
}

/// The maximum length of a name that is looked up, in bytes.
const LONGEST: usize = 256;

/// The uses at an offset: those of the shortest name around it or directly before it, including uses that a front end derived from its
/// text.
fn uses_at(compilation: &Compilation, file: FileId, offset: usize) -> &[Use] {
    let uses = compilation.uses.as_slice();
    let Ok(offset) = u32::try_from(offset) else { return &[] };
    let near = Span { file, start: offset.saturating_sub(LONGEST as u32), end: 0 };
    // Uses are sorted by position, so those that can reach the offset begin here.
    let first = uses.partition_point(|one| one.at < near);
    let mut best: Option<(usize, Span)> = None;
    for (nth, one) in uses.iter().enumerate().skip(first) {
        let at = one.at;
        if at.file != file || at.start > offset {
            break;
        }
        let is_shorter = |(_, known): (usize, Span)| {
            // A name that begins at the offset takes precedence over one that ends there.
            (known.end == offset, known.end - known.start) > (at.end == offset, at.end - at.start)
        };
        if offset <= at.end && one.is_written && best.is_none_or(is_shorter) {
            best = Some((nth, at));
        }
    }
    let Some((_, at)) = best else { return &[] };
    let start = uses.partition_point(|one| one.at < at);
    let end = uses.partition_point(|one| one.at <= at);
    uses.get(start..end).unwrap_or_default()
}

/// The name around an offset or directly before it.
pub fn symbol_at(compilation: &Compilation, file: FileId, offset: usize) -> Option<Symbol> {
    let uses = uses_at(compilation, file, offset);
    let first = uses.iter().find(|one| one.is_written)?;
    let written = uses.iter().filter(|one| one.is_written);
    let declared: BTreeSet<Span> = written.map(|one| one.declared).collect();
    Some(Symbol { at: first.at, kind: first.kind, declared: declared.into_iter().collect() })
}

/// The declarations that the name at an offset means. For an `import`, the start of the imported file.
pub fn definition(compilation: &Compilation, file: FileId, offset: usize) -> Vec<Span> {
    symbol_at(compilation, file, offset).map_or_else(Vec::new, |symbol| symbol.declared)
}

/// All uses of the name at an offset in all files of the compilation, by position.
pub fn references(
    compilation: &Compilation,
    file: FileId,
    offset: usize,
    with_declaration: bool,
) -> Vec<Span> {
    let declared = declarations(compilation, uses_at(compilation, file, offset));
    let mut found: Vec<Span> = family(compilation, &declared)
        .filter(|one| {
            one.is_written && (with_declaration || !declared.contains(&(one.at, one.kind)))
        })
        .map(|one| one.at)
        .collect();
    found.dedup();
    found
}

/// All uses of the name at an offset in its file, by position.
pub fn highlights(compilation: &Compilation, file: FileId, offset: usize) -> Vec<Highlight> {
    let declared = declarations(compilation, uses_at(compilation, file, offset));
    let own = compilation.lowered.iter().filter(|one| one.map.file == file);
    let assigned: BTreeSet<u32> =
        own.flat_map(|one| &one.map.assignments).map(|(_, span)| span.start).collect();
    let mut found: Vec<Highlight> = family(compilation, &declared)
        .filter(|one| one.at.file == file && one.is_written)
        .map(|one| Highlight {
            at: one.at,
            is_write: declared.contains(&(one.at, one.kind)) || assigned.contains(&one.at.start),
        })
        .collect();
    found.dedup();
    found
}

/// The uses of declarations, in order.
fn family<'c>(
    compilation: &'c Compilation,
    declared: &'c BTreeSet<Declaration>,
) -> impl Iterator<Item = &'c Use> {
    compilation.uses.iter().filter(move |one| declared.contains(&declaration(one)))
}

/// A declaration: its span and its kind. A front end may declare several things with one word.
type Declaration = (Span, NameKind);

const fn declaration(one: &Use) -> Declaration {
    (one.declared, one.kind)
}

/// The declarations of `uses`, and all that belong together with them.
fn declarations(compilation: &Compilation, uses: &[Use]) -> BTreeSet<Declaration> {
    let written = |uses: &[Use]| -> BTreeSet<Declaration> {
        uses.iter().filter(|one| one.is_written).map(declaration).collect()
    };
    let mut declared = written(uses);
    if declared.iter().any(|(_, kind)| *kind == NameKind::File) {
        return declared;
    }
    loop {
        let known = declared.len();
        let all = family(compilation, &declared).filter(|one| one.is_written);
        let at: BTreeSet<Span> = all.map(|one| one.at).collect();
        let joined = compilation.uses.iter().filter(|one| one.is_written && at.contains(&one.at));
        declared.extend(joined.map(declaration));
        if declared.len() == known {
            return declared;
        }
    }
}

// The spelling of names in the languages of files.

/// The language of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Language {
    /// A `.chart` file.
    Chart,
    /// An `agent.yaml` or an SCXML document.
    Other,
}

impl Language {
    /// The language of a file, by its name.
    fn from_file_name(file: &str) -> Self {
        let name = file.to_ascii_lowercase();
        let others = [".yaml", ".yml", ".scxml", ".xml"];
        if others.iter().any(|ending| name.ends_with(ending)) { Self::Other } else { Self::Chart }
    }
}

/// Whether names of this kind are `UpperCamel`.
const fn is_upper(kind: NameKind) -> bool {
    matches!(kind, NameKind::Chart | NameKind::Type)
}

/// Checks the form of a new name, in the language of its declaration. Returns a description of the required form if it does not fit.
fn refused(name: &str, kind: NameKind, language: Language) -> Option<&'static str> {
    let (fits, wanted) = match (language, is_upper(kind)) {
        (Language::Chart, _) if kind == NameKind::State => {
            (is_word(name), "of letters, digits and `_`")
        }
        (Language::Chart, true) => (is_upper_camel(name), "UpperCamel"),
        (Language::Chart, false) => (is_lower_snake(name), "lower_snake"),
        (Language::Other, _) => {
            let first = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
            let rest = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
            (first && rest, "of letters, digits, `_` and `-`")
        }
    };
    (!fits).then_some(wanted)
}

/// The name as it is written in a file: in back-quotes if it is a keyword or has the form of another kind of name.
fn written(name: &str, kind: NameKind, language: Language) -> String {
    let plain = match (language, is_upper(kind)) {
        (Language::Chart, _) if kind == NameKind::State => is_word(name) && !is_reserved(name),
        (Language::Chart, true) => is_upper_camel(name),
        (Language::Chart, false) => is_lower_snake(name) && !is_reserved(name),
        (Language::Other, _) => true,
    };
    if plain { name.to_owned() } else { format!("`{name}`") }
}

/// Removes the back-quotes around a name.
fn bare(text: &str) -> &str {
    text.strip_prefix('`').and_then(|text| text.strip_suffix('`')).unwrap_or(text)
}
