//! The list of models that a server offers.

use crate::fault;
use serde::Deserialize;

/// The maximum number of models that a message names.
const SHOWN: usize = 8;

/// The models that a server lists, or the knowledge that it gave no list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Models {
    names: Vec<String>,
    takes_any: bool,
    is_known: bool,
}

/// The model lists of all providers: `data` of OpenAI and Anthropic, `models` of Gemini and Ollama. Some servers send both.
#[derive(Deserialize)]
struct List {
    data: Option<Vec<Model>>,
    models: Option<Vec<Named>>,
}

#[derive(Deserialize)]
struct Model {
    id: String,
    owned_by: Option<String>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

impl Models {
    /// Parses the body of a list. A body in another form (from some other program at this address) gives an unknown list, not an error.
    pub(crate) fn read(body: &[u8]) -> Self {
        let Ok(List { data, models }) = serde_json::from_slice::<List>(body) else {
            return Self::default();
        };
        let is_known = data.is_some() || models.is_some();
        // llama.cpp serves a single model and ignores the name in requests.
        let is_llama = |model: &Model| model.owned_by.as_deref() == Some("llamacpp");
        let takes_any = data.iter().flatten().any(is_llama);
        let names: Vec<String> = match data {
            Some(data) => data.into_iter().map(|model| model.id).collect(),
            None => models.into_iter().flatten().map(|model| model.name).collect(),
        };
        let short = |name: String| fault::short(name.strip_prefix("models/").unwrap_or(&name));
        Self { names: names.into_iter().map(short).collect(), takes_any, is_known }
    }

    /// The names of the models, in the server's order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Whether the server has a model of this name; `None` if it gave no list.
    pub fn has(&self, model: &str) -> Option<bool> {
        let is_it = |name: &String| {
            // Ollama's names end with a tag; `:latest` may be omitted.
            name == model || name.strip_suffix(":latest") == Some(model)
        };
        self.is_known.then(|| self.takes_any || self.names.iter().any(is_it))
    }

    /// The first names, joined for a message: `a, b and 3 more`, or `none`.
    pub fn shown(&self) -> String {
        let shown: Vec<&str> = self.names.iter().take(SHOWN).map(String::as_str).collect();
        match self.names.len() {
            0 => "none".to_owned(),
            all if all > SHOWN => format!("{} and {} more", shown.join(", "), all - SHOWN),
            _ => shown.join(", "),
        }
    }
}
