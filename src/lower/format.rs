//! Format specs of placeholders, which are Python's: `[[fill]align][sign][z][#][0][width][grouping][.precision][type]`.

use chartc_core::model::Type;

/// Why a spec cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Misfit {
    /// It does not follow the grammar.
    Unreadable,
    /// A part of it is not for values of this type; names the part.
    Type(String),
}

/// The parts of a spec that types have a say in.
struct Spec {
    align_after_sign: bool,
    sign: bool,
    alternate: bool,
    grouping: Option<char>,
    precision: bool,
    kind: Option<char>,
}

/// Whether `spec` can show a value of type `ty`.
pub(super) fn check(spec: &str, ty: &Type) -> Result<(), Misfit> {
    if spec.is_empty() {
        return Ok(());
    }
    let read = read(spec).ok_or(Misfit::Unreadable)?;
    match ty {
        Type::Int | Type::Bool => number(&read, true),
        Type::Float => number(&read, false),
        Type::Text | Type::Named(_) | Type::Duration => text(&read),
        Type::Json | Type::Optional(_) => Ok(()),
        Type::List(_) | Type::Map(_) => Err(Misfit::Type(format!("the format `{spec}`"))),
    }
}

fn number(spec: &Spec, int: bool) -> Result<(), Misfit> {
    match spec.kind {
        Some('s') => return misfit("`s`"),
        Some('b' | 'c' | 'd' | 'o' | 'x' | 'X') if !int => return kind(spec),
        Some('b' | 'c' | 'd' | 'o' | 'x' | 'X') if spec.precision => return misfit("a precision"),
        Some('c') if spec.sign || spec.grouping.is_some() => return misfit("`c` with a sign"),
        Some('b' | 'o' | 'x' | 'X') if spec.grouping == Some(',') => return misfit("`,`"),
        Some('n') if spec.grouping.is_some() => return misfit("a grouping"),
        None if int && spec.precision => return misfit("a precision"),
        _ => {}
    }
    Ok(())
}

fn text(spec: &Spec) -> Result<(), Misfit> {
    match spec.kind {
        None | Some('s') => {}
        Some(_) => return kind(spec),
    }
    if spec.sign {
        return misfit("a sign");
    }
    if spec.align_after_sign {
        return misfit("`=`");
    }
    if spec.alternate {
        return misfit("`#`");
    }
    if spec.grouping.is_some() {
        return misfit("a grouping");
    }
    Ok(())
}

fn kind(spec: &Spec) -> Result<(), Misfit> {
    misfit(&format!("`{}`", spec.kind.unwrap_or(' ')))
}

fn misfit(what: &str) -> Result<(), Misfit> {
    Err(Misfit::Type(what.to_owned()))
}

fn read(spec: &str) -> Option<Spec> {
    let chars: Vec<char> = spec.chars().collect();
    let mut at = 0;
    let is_align = |c: Option<&char>| matches!(c, Some('<' | '>' | '=' | '^'));
    let mut align = None;
    if is_align(chars.get(1)) {
        align = Some(chars[1]);
        at = 2;
    } else if is_align(chars.first()) {
        align = Some(chars[0]);
        at = 1;
    }
    let eat = |at: &mut usize, wanted: &[char]| {
        let found = chars.get(*at).copied().filter(|c| wanted.contains(c));
        *at += usize::from(found.is_some());
        found
    };
    let sign = eat(&mut at, &['+', '-', ' ']).is_some();
    eat(&mut at, &['z']);
    let alternate = eat(&mut at, &['#']).is_some();
    eat(&mut at, &['0']);
    digits(&chars, &mut at);
    let grouping = eat(&mut at, &[',', '_']);
    let mut precision = false;
    if eat(&mut at, &['.']).is_some() {
        if digits(&chars, &mut at) == 0 {
            return None;
        }
        precision = true;
    }
    let kinds = ['b', 'c', 'd', 'e', 'E', 'f', 'F', 'g', 'G', 'n', 'o', 's', 'x', 'X', '%'];
    let kind = chars.get(at).copied().filter(|c| kinds.contains(c));
    at += usize::from(kind.is_some());
    (at == chars.len()).then_some(Spec {
        align_after_sign: align == Some('='),
        sign,
        alternate,
        grouping,
        precision,
        kind,
    })
}

/// Skips digits; how many.
fn digits(chars: &[char], at: &mut usize) -> usize {
    let before = *at;
    while chars.get(*at).is_some_and(char::is_ascii_digit) {
        *at += 1;
    }
    *at - before
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(spec: &str, ty: &Type) -> bool {
        check(spec, ty).is_ok()
    }

    #[test]
    fn what_python_takes_for_each_type() {
        for spec in [
            "", "d", ",", "+,d", ">8", "*^12", "08d", "x", "#x", "_b", ".2f", ".1%", "e", " d",
            "=+5", "n",
        ] {
            assert!(fits(spec, &Type::Int), "{spec} for an Int");
        }
        for spec in ["", ".0f", "+.0f", "10.2e", ".0%", ",.2f", "g", "<9", "z.1f", "0=8.2f", "_"] {
            assert!(fits(spec, &Type::Float), "{spec} for a Float");
        }
        for spec in ["", "s", ">10", "^10s", ".3", "->20", "=<4", "05"] {
            assert!(fits(spec, &Type::Text), "{spec} for a Text");
        }
    }

    #[test]
    fn what_python_refuses_for_each_type() {
        for spec in [".2", ".2d", "s", ",b", ",n", "+c", "5.1x"] {
            assert!(!fits(spec, &Type::Int), "{spec} for an Int");
        }
        for spec in ["d", "x", "s", "c", "5b"] {
            assert!(!fits(spec, &Type::Float), "{spec} for a Float");
        }
        for spec in ["d", ".2f", "+", ",", "#", "=5", "%"] {
            assert!(!fits(spec, &Type::Text), "{spec} for a Text");
        }
        assert!(!fits(">5", &Type::List(Box::new(Type::Int))));
    }

    #[test]
    fn what_is_no_format_at_all() {
        for spec in ["q", ".", "5.", "5q", "dd", "<<<", ",,", "{w}", " 5 ", "é"] {
            assert_eq!(check(spec, &Type::Json), Err(Misfit::Unreadable), "{spec}");
        }
    }
}
