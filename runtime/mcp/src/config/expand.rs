//! Expands variables of the environment in texts: `${VAR}`, `${VAR:-default}` and `${env:VAR}`.

/// A function that returns the value of a variable of the environment.
pub(crate) type Variables<'v> = &'v dyn Fn(&str) -> Option<String>;

/// The reason why a text cannot be expanded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refused {
    /// The variable is not set and has no default.
    Unset(String),
    /// The text has `${input:…}`, for which VS Code would ask a person.
    Input(String),
    /// The text between `${` and `}` is no name of a variable.
    Unknown(String),
    /// A `${` has no `}`.
    Open,
}

/// Returns the text with the values of its variables, and adds these values to `secrets`. `$${` stands for `${`.
pub(crate) fn expand(
    text: &str,
    variables: Variables<'_>,
    secrets: &mut Vec<String>,
) -> Result<String, Refused> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        if rest[..at].ends_with('$') {
            out.push_str(&rest[..at]);
            out.push('{');
            rest = &rest[at + 2..];
            continue;
        }
        out.push_str(&rest[..at]);
        let inner = &rest[at + 2..];
        let end = inner.find('}').ok_or(Refused::Open)?;
        let (word, default) = match inner[..end].split_once(":-") {
            Some((word, default)) => (word, Some(default)),
            None => (&inner[..end], None),
        };
        let name = word.strip_prefix("env:").unwrap_or(word);
        if name.starts_with("input:") {
            return Err(Refused::Input(name.to_owned()));
        }
        if !is_name(name) {
            return Err(Refused::Unknown(word.to_owned()));
        }
        // As in shells, the default replaces an empty value, too.
        match (variables(name).filter(|value| default.is_none() || !value.is_empty()), default) {
            (Some(value), _) => {
                out.push_str(&value);
                secrets.push(value);
            }
            (None, Some(default)) => out.push_str(default),
            (None, None) => return Err(Refused::Unset(name.to_owned())),
        }
        rest = &inner[end + 1..];
    }
    out.push_str(rest);
    Ok(out)
}

fn is_name(name: &str) -> bool {
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    starts && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(text: &str) -> Result<String, Refused> {
        let of = |name: &str| match name {
            "HOME" => Some("/home/ada".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        };
        expand(text, &of, &mut Vec::new())
    }

    #[test]
    fn variables_are_replaced() {
        let ok = |text: &str| expanded(text).expect("it expands");
        assert_eq!(ok("${HOME}/a:${env:HOME}"), "/home/ada/a:/home/ada");
        assert_eq!(ok("${NONE:-x}${EMPTY:-y}[${EMPTY}]"), "xy[]");
        assert_eq!(ok("$HOME $${HOME} $"), "$HOME ${HOME} $");
        // What a variable holds is not expanded again.
        assert_eq!(expand("${A}", &|_| Some("${A}".into()), &mut Vec::new()), Ok("${A}".into()));
    }

    #[test]
    fn what_has_no_value_is_refused() {
        assert_eq!(expanded("a ${TOKEN}"), Err(Refused::Unset("TOKEN".into())));
        assert_eq!(expanded("${env:TOKEN}"), Err(Refused::Unset("TOKEN".into())));
        assert_eq!(expanded("${input:key}"), Err(Refused::Input("input:key".into())));
        assert_eq!(expanded("${file:x}"), Err(Refused::Unknown("file:x".into())));
        assert_eq!(expanded("${HOME"), Err(Refused::Open));
    }
}
