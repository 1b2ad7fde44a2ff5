//! Names that look like something else.

use crate::diagnostic::{Diagnostic, Rule, Severity, Stage};
use crate::span::Ident;
use chartc_core::visible;

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0011",
    name: "disguised-name",
    stage: Stage::Syntax,
    severity: Severity::Warning,
    page: include_str!("disguised_name.md"),
};

/// The name contains invisible characters.
pub fn hides(what: &str, name: &Ident) -> Diagnostic {
    let shown = visible::line(&name.node);
    RULE.at(name.span, format!("the name of this {what} hides a character: it is `{shown}`"))
        .help("take the hidden character out, here and where the name is used")
}

/// A word of the name mixes scripts. `plain` is its ASCII look-alike, if there is one.
pub fn mixes(what: &str, name: &Ident, scripts: (&str, &str), plain: Option<&str>) -> Diagnostic {
    let (node, spelled) = (&name.node, spelled(&name.node));
    let (one, other) = scripts;
    let found = RULE.at(
        name.span,
        format!("{what} `{node}` mixes {one} and {other} letters: it is `{spelled}`"),
    );
    match plain {
        Some(plain) => {
            found.help(format!("it looks like `{plain}`: write it with letters of one script"))
        }
        None => found.help("write it with letters of one script"),
    }
}

/// Another name looks the same.
pub fn looks_like(what: &str, name: &Ident, other_is: &str, other: &Ident) -> Diagnostic {
    let (node, shown) = (&name.node, spelled(&name.node));
    let (twin, twin_shown) = (&other.node, spelled(&other.node));
    let twin_shown =
        if *twin == twin_shown { String::new() } else { format!(", which is `{twin_shown}`") };
    RULE.at(
        name.span,
        format!("{what} `{node}` is `{shown}` and looks like {other_is} `{twin}`{twin_shown}"),
    )
    .related(other.span, format!("{other_is} `{twin}` stands here"))
    .help(
        "if one thing is meant, write it with the same letters everywhere; else rename one of them",
    )
}

/// Spells a name with escapes for the letters that are not ASCII.
fn spelled(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_ascii() && !c.is_ascii_control() {
            out.push(c);
        } else {
            visible::escape(c, &mut out);
        }
    }
    out
}
