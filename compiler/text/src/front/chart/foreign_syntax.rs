//! Hints for authors who write the syntax of another language.

use super::grammar::Rule;
use super::recover::shorten;
use crate::syntax::is_reserved;
use pest::error::ErrorVariant;

/// The hint for a token of another language, given what the grammar expected in its place.
pub(super) fn token_hint(found: &str, variant: &ErrorVariant<Rule>) -> Option<String> {
    let rules: &[Rule] = match variant {
        ErrorVariant::ParsingError { positives, .. } => positives,
        ErrorVariant::CustomError { .. } => &[],
    };
    let name =
        [Rule::name, Rule::path, Rule::target, Rule::event_use, Rule::param, Rule::ask_event];
    let text = match found {
        "=" if rules.contains(&Rule::colon) => "it has a type, as in `x: Int = 1`",
        "=" if rules.contains(&Rule::infix) => {
            "`==` compares; only action blocks and `code` assign"
        }
        "if" if rules.contains(&Rule::kw_reenter) => {
            "a condition stands before the arrow: `on e if g -> state`"
        }
        "as" if rules.contains(&Rule::arrow) => {
            "only a line of a state names what came with the outcome: `on error(step) as why -> state`"
        }
        "with" if rules.contains(&Rule::kw_always) => {
            "the client comes right after the name of the step: `ask s with c on turn`"
        }
        "=>" | "→" => "an arrow is `->`",
        "&&" => "write `and`",
        "||" => "write `or`",
        "!" => "write `not`",
        ";" => "nothing stands between lines: remove it",
        "," if rules.contains(&Rule::infix) => {
            "nothing stands between actions, lines and settings: remove it"
        }
        "#" => "a comment begins with `//`",
        "“" | "”" | "‘" | "’" => "a text stands between `\"`",
        _ if found.starts_with('\'') => "a text stands between `\"`",
        _ if is_reserved(found) && rules.iter().any(|r| name.contains(r)) => {
            return Some(format!("`{found}` is a reserved word: as a name it must be back-quoted"));
        }
        _ if found.starts_with(|c: char| c.is_ascii_digit())
            && found.contains(|c: char| c.is_ascii_alphabetic()) =>
        {
            "a duration is written as in `250ms`, `30s`, `5m`, `2h` or `7d`"
        }
        _ => return None,
    };
    Some(text.to_owned())
}

/// The hint in cases in which one token is not enough; `found` is at byte `at`.
pub(super) fn context_hint(text: &str, at: usize, found: &str, unexpected: bool) -> Option<String> {
    let behind = text.get(at + found.len()..).unwrap_or_default().trim_start();
    if unexpected && behind.starts_with(':') {
        return Some(format!("write `{}` without `:`", shorten(found)));
    }
    // `x += 1`.
    let adds = matches!(found, "+" | "-" | "*" | "/") && behind.starts_with('=');
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let name = text[..at].trim_end().rsplit(|c| !is_word(c)).next().unwrap_or_default();
    adds.then(|| format!("write `{name} = {name} {found} …`"))
}
