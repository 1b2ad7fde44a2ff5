//! Reads values of params and inputs from the command line.

use chartc_compiler::syntax::diagnostic::nearest;
use chartc_core::expr::{Map, Value};
use chartc_core::model::{Chart, Type, VariableKind};

/// Reads `name=value` pairs for params or inputs of a chart. Those that no pair names keep their defaults.
pub(super) fn given(chart: &Chart, kind: PairKind, pairs: &[String]) -> miette::Result<Map> {
    let variables = chart.variables.iter().filter(|v| kind.is(&v.kind));
    let known: Vec<(&str, &Type)> = variables.map(|v| (v.name.as_str(), &v.ty)).collect();
    let mut map = Map::new();
    for pair in pairs {
        let Some((name, text)) = pair.split_once('=') else {
            return Err(miette::miette!("`{pair}` is not NAME=VALUE"));
        };
        let Some((_, ty)) = known.iter().find(|(n, _)| *n == name) else {
            let word = kind.word();
            return Err(match nearest(name, known.iter().map(|(n, _)| *n)) {
                Some(near) => miette::miette!(
                    "`{}` has no {word} `{name}`; did you mean `{near}`?",
                    chart.name
                ),
                None => miette::miette!("`{}` has no {word} `{name}`", chart.name),
            });
        };
        map.insert(name.to_owned(), value(ty, text));
    }
    Ok(map)
}

/// The kind of variables that a pair sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PairKind {
    Param,
    Input,
}

impl PairKind {
    const fn word(self) -> &'static str {
        match self {
            Self::Param => "param",
            Self::Input => "input",
        }
    }

    pub(super) const fn is(self, kind: &VariableKind) -> bool {
        match kind {
            VariableKind::Param { .. } => matches!(self, Self::Param),
            VariableKind::Input => matches!(self, Self::Input),
            VariableKind::Var { .. } | VariableKind::Asked => false,
        }
    }
}

/// Reads a value of type `ty`. A value of type `Text` is taken verbatim. Others are JSON; what is not JSON, such as a duration or the name
/// of an enum value, becomes a text.
pub(super) fn value(ty: &Type, text: &str) -> Value {
    let is_text = match ty {
        Type::Text => true,
        Type::Optional(inner) => **inner == Type::Text && text != "null",
        _ => false,
    };
    let plain = || Value::Text(text.to_owned());
    if is_text { plain() } else { serde_json::from_str(text).unwrap_or_else(|_| plain()) }
}
