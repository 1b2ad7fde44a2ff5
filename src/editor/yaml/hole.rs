//! Completes names in the placeholders of prompts, in conditions and in code of an agent file.

use super::complete::{Completion, CompletionItem, ItemKind, plain};
use super::tree::{YamlKind, YamlNode, read};
use crate::Compilation;
use crate::editor::known;
use crate::editor::outline::SymbolKind;
use crate::editor::show;
use chartc_text::front::agent::context;
use chartc_text::span::FileId;
use std::collections::BTreeSet;

/// The content of a value in which names can be completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    /// A text with placeholders.
    Prompt,
    /// Code in the subset of Python that agent files use.
    Code,
}

/// The keys whose values contain names.
const KEYS: [(&str, Holds); 5] = [
    ("prompt", Holds::Prompt),
    ("prompt_fragment", Holds::Prompt),
    ("run_if", Holds::Code),
    ("condition", Holds::Code),
    ("code", Holds::Code),
];

/// The names that can be written at an offset, if it is in a placeholder, a condition or code.
pub fn names(done: &Compilation, file: FileId, offset: usize) -> Option<Completion> {
    let source = done.sources.get(file);
    let text = source.text.as_str();
    let before = text.get(..offset)?;
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let start = before.trim_end_matches(is_word).len();
    let end = offset + text[offset..].find(|c| !is_word(c)).unwrap_or(text.len() - offset);
    let fits = match holds(&read(text), offset)? {
        // Only the name itself is completed, not the fields and the format that follow it.
        Holds::Prompt => opens(&before[..start]),
        Holds::Code => !before[..start].ends_with(['.', '"', '\'']),
    };
    let items = if fits { all(done, file, &text[start..end]) } else { Vec::new() };
    Some(Completion { replace: start..end, items })
}

/// Whether the text ends with the brace that opens a placeholder. A doubled brace is a literal one.
fn opens(before: &str) -> bool {
    let braces = before.len() - before.trim_end_matches('{').len();
    braces % 2 == 1
}

/// The content of the value at an offset, if names can be completed in it.
fn holds(node: &YamlNode, offset: usize) -> Option<Holds> {
    let touches = |node: &YamlNode| node.span.start <= offset && offset <= node.span.end;
    match &node.kind {
        YamlKind::Map(entries) => {
            entries.iter().filter(|entry| touches(&entry.value)).find_map(|entry| {
                let known = KEYS.iter().find(|(key, _)| *key == entry.key);
                match (&entry.value.kind, known) {
                    (YamlKind::Scalar(_) | YamlKind::Block, Some((_, holds))) => Some(*holds),
                    (YamlKind::Map(_) | YamlKind::List(_), _) => self::holds(&entry.value, offset),
                    (YamlKind::Scalar(_) | YamlKind::Block | YamlKind::Nothing, _) => None,
                }
            })
        }
        YamlKind::List(items) => {
            items.iter().filter(|item| touches(item)).find_map(|item| holds(item, offset))
        }
        YamlKind::Nothing | YamlKind::Scalar(_) | YamlKind::Block => None,
    }
}

/// The data of the agent, the rest of what the host provides, and the answers of its steps. `word`, which is being written, is left out.
fn all(done: &Compilation, file: FileId, word: &str) -> Vec<CompletionItem> {
    let of = |own: bool| {
        let charts = known::charts(done).filter(move |(_, id)| !own || *id == file);
        charts.flat_map(|(chart, _)| known::inside(chart)).collect::<Vec<_>>()
    };
    let mut decls = of(true);
    if decls.is_empty() {
        // A component has no chart of its own: offer the names of all agents that were compiled with it.
        decls = of(false);
    }
    let is_data = |kind: SymbolKind| {
        matches!(kind, SymbolKind::Param | SymbolKind::Input | SymbolKind::Variable)
    };
    let data = decls.iter().filter(|decl| is_data(decl.kind)).map(|decl| {
        let ty = decl.ty.map(show::type_expr).unwrap_or_default();
        (decl.name.as_str(), format!("`{}: {ty}`\n\n{}", decl.name, decl.doc).trim_end().to_owned())
    });
    let given = context().map(|(name, ty)| (name, format!("`{name}: {ty}`, from the host.")));
    let steps = decls.iter().filter(|decl| decl.kind == SymbolKind::Step);
    let steps = steps.map(|decl| (decl.name.as_str(), "The answer of the step.".to_owned()));
    let mut seen = BTreeSet::new();
    data.chain(given)
        .chain(steps)
        .filter(|(name, _)| *name != word && seen.insert(name.to_string()))
        .map(|(name, doc)| plain(name, ItemKind::Name, &doc))
        .collect()
}
