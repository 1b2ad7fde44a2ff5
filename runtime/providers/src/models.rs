//! The models of a server.

use crate::fault;
use serde::Deserialize;

/// Models that a message names.
const SHOWN: usize = 8;

/// The models that a server lists.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Models {
    names: Vec<String>,
    takes_any: bool,
    is_known: bool,
}

/// The lists of all providers: `data` of OpenAI and Anthropic, `models` of Gemini and Ollama. Some servers send both.
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
    /// What another program answers is no list; then nothing is known.
    pub(crate) fn read(body: &[u8]) -> Self {
        let Ok(List { data, models }) = serde_json::from_slice::<List>(body) else {
            return Self::default();
        };
        let is_known = data.is_some() || models.is_some();
        // This server has one model, and does not read its name in requests.
        let is_llama = |model: &Model| model.owned_by.as_deref() == Some("llamacpp");
        let takes_any = data.iter().flatten().any(is_llama);
        let names: Vec<String> = match data {
            Some(data) => data.into_iter().map(|model| model.id).collect(),
            None => models.into_iter().flatten().map(|model| model.name).collect(),
        };
        let short = |name: String| fault::short(name.strip_prefix("models/").unwrap_or(&name));
        Self { names: names.into_iter().map(short).collect(), takes_any, is_known }
    }

    /// Their names, as the server lists them.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Whether one of them has this name; `None` if the server gave no list.
    pub fn has(&self, model: &str) -> Option<bool> {
        let is_it = |name: &String| {
            // Ollama's names end with a tag, which may be left out.
            name == model || name.strip_suffix(":latest") == Some(model)
        };
        self.is_known.then(|| self.takes_any || self.names.iter().any(is_it))
    }

    /// The first names, for a message.
    pub fn shown(&self) -> String {
        let shown: Vec<&str> = self.names.iter().take(SHOWN).map(String::as_str).collect();
        match self.names.len() {
            0 => "none".to_owned(),
            all if all > SHOWN => format!("{} and {} more", shown.join(", "), all - SHOWN),
            _ => shown.join(", "),
        }
    }
}
