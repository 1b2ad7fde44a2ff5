//! Misleading names and texts: look-alike letters, hidden characters.
//!
//! Source: Unicode Technical Standards 39 (confusables) and 55 (source code handling).

use crate::rules::{disguised_name, misleading_text};
use crate::syntax::diagnostic::Diagnostic;
use crate::syntax::source::{Ident, Source, Span};
use crate::syntax::visit::{self, Mode, Node, Role};
use crate::syntax::{EventPattern, File, Line, LineKind};
use chartc_core::visible;
use std::collections::{BTreeMap, BTreeSet};
use unicode_script::{Script, UnicodeScript};
use unicode_security::is_potential_mixed_script_confusable_char as is_twin;

/// The maximum number of names with hidden characters whose uses are recognized. For other names, each use is reported, too.
const NAMES: usize = 16;
/// The maximum length of such a name, in bytes.
const LONGEST: usize = 256;

/// The maximum number of different names with the same appearance that are kept for the comparison.
const TWINS: usize = 8;

/// Reports misleading names and texts of a file.
pub fn report(file: &File, source: &Source, diagnostics: &mut Vec<Diagnostic>) {
    let names = of(file);
    self::names(&names, diagnostics);
    let text = source.text.as_str();
    let mut last = 0;
    let mut hiding: Option<BTreeSet<&str>> = None;
    for (at, c) in visible::hidden(text) {
        let line = source.line_of(at as u32);
        // At most one finding per line: a text in which every character is hidden would fill the screen.
        if line == last || !misleads(c, at, &text[source.line(line)], text) {
            continue;
        }
        let hiding = hiding.get_or_insert_with(|| {
            let all = names.iter().map(|(_, name)| name.node.as_str());
            all.filter(|name| name.len() <= LONGEST && has_hidden(name)).take(NAMES).collect()
        });
        // The declaration of the name is reported, not its uses.
        let is_use = |name: &&str| {
            let starts = name.match_indices(c).filter_map(|(nth, _)| at.checked_sub(nth));
            starts.into_iter().any(|start| text.get(start..).is_some_and(|t| t.starts_with(*name)))
        };
        if !hiding.iter().any(is_use) {
            last = line;
            diagnostics.push(misleading_text::raw(c, Span::new(file.id, at, at + c.len_utf8())));
        }
    }
}

/// Returns the findings that prevent printing a file: hidden characters in `printed`, its text as printed. Only comments and docs can
/// contain them, as they have no escapes. Each finding is at its place in the source: an error where the character misleads, else a
/// warning.
pub fn unwritable(file: &File, source: &Source, printed: &str) -> Vec<Diagnostic> {
    let Some((_, first)) = visible::hidden(printed).next() else { return Vec::new() };
    let text = source.text.as_str();
    let in_comment = |at: usize| {
        let nth = file.comments.partition_point(|comment| comment.start as usize <= at);
        nth > 0 && at < file.comments[nth - 1].end as usize
    };
    let made = |at: usize, c: char| {
        let line = &text[source.line(source.line_of(at as u32))];
        let span = Span::new(file.id, at, at + c.len_utf8());
        misleading_text::unwritable(c, span, misleads(c, at, line, text))
    };
    let hidden: Vec<(usize, char)> = visible::hidden(text)
        .filter(|(at, c)| *c != '\r' || !text[at + 1..].starts_with('\n'))
        .collect();
    let own: Vec<_> = hidden.iter().filter(|(at, _)| in_comment(*at)).collect();
    let told = if own.is_empty() { hidden.iter().collect() } else { own };
    if told.is_empty() {
        // The source writes the character as an escape, which a printed comment or doc cannot.
        let place = file.items.first().map_or(Span::new(file.id, 0, 0), |item| item.span);
        return vec![misleading_text::unwritable(first, place, true)];
    }
    told.into_iter().map(|(at, c)| made(*at, *c)).collect()
}

fn misleads(c: char, at: usize, line: &str, text: &str) -> bool {
    match c {
        '\r' => !text[at + 1..].starts_with('\n'),
        // A page break.
        '\u{c}' => false,
        // Direction marks, which right-to-left text needs.
        '\u{200e}' | '\u{200f}' | '\u{61c}' => !line.chars().any(is_leftward),
        c => {
            visible::is_control(c)
                || visible::is_direction(c)
                || visible::is_tag(c)
                // Variation selectors. They are not seen, and there are enough of them to hide a whole text.
                || matches!(c, '\u{e0100}'..='\u{e01ef}')
        }
    }
}

/// Whether a character is a letter of a right-to-left script.
fn is_leftward(c: char) -> bool {
    c.is_alphabetic()
        && matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}' | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}')
}

/// A name, and the kind of thing it names.
type Named<'f> = (&'static str, &'f Ident);

fn names(names: &[Named<'_>], diagnostics: &mut Vec<Diagnostic>) {
    let is_odd = |name: &str| !name.is_ascii() || name.bytes().any(|b| b.is_ascii_control());
    if !names.iter().any(|(_, name)| is_odd(&name.node)) {
        return;
    }
    let mut told: BTreeSet<&str> = BTreeSet::new();
    let mut alike: BTreeMap<String, Vec<Named<'_>>> = BTreeMap::new();
    for (what, name) in names {
        let twins = alike.entry(skeleton(&name.node)).or_default();
        if twins.len() < TWINS && !twins.iter().any(|(_, twin)| twin.node == name.node) {
            twins.push((what, name));
        }
        if !is_odd(&name.node) || !told.insert(&name.node) {
            continue;
        }
        if has_hidden(&name.node) {
            diagnostics.push(disguised_name::hides(what, name));
        } else if let Some(scripts) = name.node.split(is_gap).find_map(mixture) {
            let plain = plain(&name.node);
            diagnostics.push(disguised_name::mixes(what, name, scripts, plain.as_deref()));
        } else {
            // Not reported so far: the name may still look like another one, see below.
            told.remove(name.node.as_str());
        }
    }
    for twins in alike.into_values() {
        let Some(((first_is, first), others)) = twins.split_first() else { continue };
        for (what, name) in others {
            let (odd, plain) = differing(&name.node, &first.node);
            let pair = if odd {
                ((*what, *name), (*first_is, *first))
            } else if plain {
                ((*first_is, *first), (*what, *name))
            } else {
                continue;
            };
            let ((what, name), (other_is, other)) = pair;
            if !told.contains(name.node.as_str()) {
                diagnostics.push(disguised_name::looks_like(what, name, other_is, other));
            }
        }
    }
}

/// Whether a name contains invisible characters.
fn has_hidden(name: &str) -> bool {
    name.contains(['\n', '\t']) || visible::hidden(name).next().is_some()
}

fn is_gap(c: char) -> bool {
    !(c.is_alphanumeric() || c.script() == Script::Inherited)
}

/// Two scripts mixed in one word, if their letters can be confused.
fn mixture(word: &str) -> Option<(&'static str, &'static str)> {
    if word.is_ascii() {
        return None;
    }
    let own = |c: char| !matches!(c.script(), Script::Common | Script::Inherited | Script::Unknown);
    let has = |script: Script| word.chars().any(|c| c.script() == script);
    let (latin, cyrillic, greek) = (has(Script::Latin), has(Script::Cyrillic), has(Script::Greek));
    if cyrillic && (latin || greek) {
        return Some(if latin { ("Latin", "Cyrillic") } else { ("Greek", "Cyrillic") });
    }
    let twin = word.chars().find(|c| own(*c) && c.script() != Script::Latin && is_twin(*c));
    twin.filter(|_| latin).map(|c| ("Latin", c.script().full_name()))
}

/// The appearance of a name: names with the same appearance can be confused.
fn skeleton(name: &str) -> String {
    let is_seen = |c: &char| {
        let joins = matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}');
        !joins && (c.is_ascii() || visible::hidden(c.encode_utf8(&mut [0; 4])).next().is_none())
    };
    let seen: String = name.chars().filter(is_seen).collect();
    unicode_security::skeleton(&seen).collect()
}

/// The name in ASCII, if each of its other letters looks like an ASCII one.
fn plain(name: &str) -> Option<String> {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_ascii() {
            out.push(c);
        } else {
            out.extend(unicode_security::skeleton(c.encode_utf8(&mut [0; 4])));
        }
    }
    out.is_ascii().then_some(out)
}

/// For each of two names, whether the part where they differ has non-ASCII letters.
fn differing(a: &str, b: &str) -> (bool, bool) {
    let start: usize =
        a.chars().zip(b.chars()).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum();
    let (a, b) = (&a[start..], &b[start..]);
    let end: usize = a
        .chars()
        .rev()
        .zip(b.chars().rev())
        .take_while(|(a, b)| a == b)
        .map(|(c, _)| c.len_utf8())
        .sum();
    (!a[..a.len() - end].is_ascii(), !b[..b.len() - end].is_ascii())
}

// Collects the names that a file declares.

/// All declared names, in document order.
fn of(file: &File) -> Vec<Named<'_>> {
    let mut found = Vec::new();
    visit::file(file, &mut |node| match node {
        Node::Line(Line { kind: LineKind::On(EventPattern::Event(_, bound)), .. }) => {
            found.extend(bound.iter().map(|name| ("name", name)));
        }
        Node::Name { parts, role, mode: Mode::Declared } => {
            let what = word(role);
            found.extend(parts.iter().filter_map(|name| Some((what?, name))));
        }
        _ => {}
    });
    found
}

/// What a message calls a declared name; `None` if its look does not matter.
fn word(role: Role) -> Option<&'static str> {
    Some(match role {
        Role::Type | Role::Enum => "type",
        Role::Field | Role::EventField => "field",
        Role::EnumValue => "value",
        Role::Function => "function",
        Role::Parameter => "parameter",
        Role::Tool => "tool",
        Role::ToolSet => "set of tools",
        Role::Client => "client",
        Role::Component => "component",
        Role::Chart => "chart",
        Role::Param | Role::Input | Role::Variable => "variable",
        Role::Event => "event",
        Role::Predicate => "condition",
        Role::State => "state",
        Role::Option => "option",
        Role::OptionField => "argument",
        Role::Step => "step",
        Role::Test => "test",
        _ => return None,
    })
}
