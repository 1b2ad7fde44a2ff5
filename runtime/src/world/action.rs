//! Actions: reads the answer of an `llm` step as an action of the agent.

use super::host::{Failure, FailureKind};
use chartc_core::expr::{Map, Value};

/// The actions of agents.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Does nothing.
    Noop,
    /// `read_artifact`: reads the content of an artifact.
    Read {
        /// The id of the artifact.
        artifact: String,
    },
    /// `write_artifact`: creates an artifact, or replaces its content.
    Write {
        /// The id of the artifact.
        artifact: String,
        /// The type of the artifact; `None` leaves it unchanged, or means `data` for a new one.
        ty: Option<String>,
        /// The content: a text, or any other JSON value.
        content: Value,
    },
    /// `invoke_artifact`: calls a method of an artifact.
    Invoke {
        /// The id of the artifact.
        artifact: String,
        /// The name of the method.
        method: String,
        /// The arguments, in order.
        arguments: Vec<Value>,
    },
}

/// The names of all actions.
pub const ACTIONS: [&str; 4] = [NOOP, "read_artifact", "write_artifact", "invoke_artifact"];
/// The name of the action that does nothing.
const NOOP: &str = "noop";
/// The keys of an answer that are not parameters of its action: the action itself and the model's reasons.
pub(crate) const REASONS: [&str; 5] =
    ["action", "reasoning", "thought_process", "situation_assessment", "action_rationale"];

impl Action {
    /// Reads an answer such as `{"action": "write_artifact", "artifact_id": "…", …}`. Also returns the keys of the answer that are not
    /// used.
    ///
    /// # Errors
    /// [`FailureKind::IntentRejected`]: the action is unknown, or a parameter is missing or has the wrong type.
    pub fn read(answer: &Map) -> Result<(Self, Vec<String>), Failure> {
        let rejected = |why: String| Failure::new(FailureKind::IntentRejected, why);
        let Some(Value::Text(word)) = answer.get("action") else {
            let why = match answer.get("action") {
                None => "the answer names no action",
                Some(_) => "`action` of the answer is not a text",
            };
            return Err(rejected(format!("{why}: it is one of {}", ACTIONS.join(", "))));
        };
        let mut used: Vec<&str> = REASONS.to_vec();
        let mut take = |names: [&'static str; 2]| {
            used.extend(names);
            names.iter().find_map(|name| answer.get(name)).cloned()
        };
        let text = |value: Option<Value>, name: &str| match value {
            Some(Value::Text(text)) if !text.is_empty() => Ok(text),
            Some(Value::Text(_)) => {
                Err(rejected(format!("`{name}` of `{word}` is empty: it is a text")))
            }
            Some(other) => {
                Err(rejected(format!("`{name}` of `{word}` is a text, not {}", other.kind())))
            }
            None => Err(rejected(format!("`{word}` needs `{name}`, a text"))),
        };
        let action = match word.as_str() {
            NOOP => Self::Noop,
            "read_artifact" => {
                Self::Read { artifact: text(take(["artifact_id", "artifact"]), "artifact_id")? }
            }
            "write_artifact" => Self::Write {
                artifact: text(take(["artifact_id", "artifact"]), "artifact_id")?,
                ty: match take(["artifact_type", "type"]) {
                    None | Some(Value::None) => None,
                    some => Some(text(some, "artifact_type")?),
                },
                content: take(["content", "content"]).ok_or_else(|| {
                    rejected(format!("`{word}` needs `content`, a text or other data"))
                })?,
            },
            "invoke_artifact" => Self::Invoke {
                artifact: text(take(["artifact_id", "artifact"]), "artifact_id")?,
                method: text(take(["method", "method"]), "method")?,
                arguments: match take(["args", "arguments"]) {
                    None | Some(Value::None) => Vec::new(),
                    Some(Value::List(items)) => items,
                    // An object has the arguments by name, and is passed as one argument.
                    Some(named @ Value::Map(_)) => vec![named],
                    Some(other) => {
                        let why = format!("`args` of `{word}` is a list, not {}", other.kind());
                        return Err(rejected(why));
                    }
                },
            },
            _ => {
                return Err(rejected(format!(
                    "there is no action `{}`; there are {}",
                    super::cut(word, 60),
                    ACTIONS.join(", ")
                )));
            }
        };
        let unused = answer.iter().map(|(name, _)| name).filter(|name| !used.contains(name));
        let unused = unused.map(str::to_owned).collect();
        Ok((action, unused))
    }

    /// The id of the artifact that the action concerns.
    pub fn artifact(&self) -> Option<&str> {
        match self {
            Self::Noop => None,
            Self::Read { artifact }
            | Self::Write { artifact, .. }
            | Self::Invoke { artifact, .. } => Some(artifact),
        }
    }
}

/// Whether an answer asks for an action other than `noop`. It may be an unknown or malformed one.
pub(crate) fn is_action(answer: &Map) -> bool {
    !matches!(answer.get("action"), Some(Value::Text(word)) if word == NOOP)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer;
    use crate::form::{ActionForm, schema};
    use chartc_core::expr::Value;

    /// Whatever fits the schema is an action that can be done.
    #[test]
    fn what_fits_is_an_action() {
        for form in [ActionForm::Simple, ActionForm::Ooda] {
            let schema = schema(form);
            for seed in 0..40_u64 {
                let mut draws = seed;
                let mut pick = |below: u64| {
                    draws = draws.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    (draws >> 33) % below.max(1)
                };
                let text =
                    crate::schema::example(schema, &mut pick).expect("it is small").to_string();
                let reading =
                    answer::value(&text, "").unwrap_or_else(|why| panic!("{text}: {why:?}"));
                let Value::Map(answer) = reading.meant else { panic!("{text}") };
                assert!(answer.get("reasoning").is_some(), "{text}");
                match Action::read(&answer) {
                    Ok((_, unused)) => assert_eq!(unused, [""; 0], "{text}"),
                    // A text may be empty, by the schema; an id may not.
                    Err(why) => assert!(why.to_string().contains("is a text"), "{text}: {why}"),
                }
            }
        }
    }
}
