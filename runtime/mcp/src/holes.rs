//! Placeholders, `{name}`, in the arguments of commands and the addresses of endpoints.

/// A part of a text with placeholders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    Text(String),
    Hole(String),
}

/// Splits a text into its parts. `{{` and `}}` stand for braces.
///
/// # Errors
/// A brace has no counterpart, or the braces enclose no name.
pub(crate) fn parts(text: &str) -> Result<Vec<Part>, &'static str> {
    let (mut parts, mut plain) = (Vec::new(), String::new());
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        plain.push_str(&rest[..at]);
        let brace = &rest[at..=at];
        let after = &rest[at + 1..];
        if after.starts_with(brace) {
            plain.push_str(brace);
            rest = &after[1..];
            continue;
        }
        if brace == "}" {
            return Err("`}` without `{`; `}}` stands for the brace");
        }
        let end = after.find('}').ok_or("`{` without `}`; `{{` stands for the brace")?;
        if after[..end].is_empty() || after[..end].contains('{') {
            return Err(
                "between `{` and `}` stands the name of an argument; `{{` stands for the brace",
            );
        }
        if !plain.is_empty() {
            parts.push(Part::Text(std::mem::take(&mut plain)));
        }
        parts.push(Part::Hole(after[..end].to_owned()));
        rest = &after[end + 1..];
    }
    plain.push_str(rest);
    if !plain.is_empty() {
        parts.push(Part::Text(plain));
    }
    Ok(parts)
}

/// The names of the placeholders of a text; none if it is malformed.
pub(crate) fn names(text: &str) -> Vec<String> {
    let name = |part: Part| match part {
        Part::Hole(name) => Some(name),
        Part::Text(_) => None,
    };
    parts(text).unwrap_or_default().into_iter().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_found() {
        let (text, hole) = (|t: &str| Part::Text(t.into()), |t: &str| Part::Hole(t.into()));
        assert_eq!(parts("--n={n}{{x}}"), Ok(vec![text("--n="), hole("n"), text("{x}")]));
        assert_eq!(parts(""), Ok(vec![]));
        for wrong in ["{", "a}", "{}", "{a{b}"] {
            assert!(parts(wrong).is_err(), "{wrong}");
        }
    }
}
