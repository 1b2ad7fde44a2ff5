//! What `chartc doctor` finds out about one model.

use chartc_providers::{Models, Server};
use chartc_runtime::oracle::OracleErrorKind;
use serde_json::{Value, json};

/// A model, and what is known of it.
pub(super) struct Tried {
    model: String,
    /// Whether the server lists it; `None` if the server was not asked.
    exists: Option<bool>,
    schemas: Schemas,
    /// The reason why it cannot be asked.
    why: Option<String>,
}

enum Schemas {
    Enforced,
    Ignored,
    NotTried,
}

impl Schemas {
    const fn word(&self) -> &'static str {
        match self {
            Self::Enforced => "enforced",
            Self::Ignored => "ignored",
            Self::NotTried => "not_tried",
        }
    }
}

impl Tried {
    /// A model that was not looked for.
    pub(super) const fn not(model: String) -> Self {
        Self { model, exists: None, schemas: Schemas::NotTried, why: None }
    }

    /// Looks for the model in the list of its server and, if `asks`, asks it a question that shows whether schemas are enforced.
    pub(super) async fn on(model: String, server: &Server, list: &Models, asks: bool) -> Self {
        let mut tried = Self { exists: list.has(&model), ..Self::not(model) };
        if tried.exists == Some(false) {
            tried.why = Some(format!("is not there: the server has {}", list.shown()));
        } else if asks {
            match server.enforces_schemas(&tried.model).await {
                Ok(true) => tried.schemas = Schemas::Enforced,
                Ok(false) => tried.schemas = Schemas::Ignored,
                Err(why) if why.kind() == OracleErrorKind::Rejected => {
                    tried.why = Some(why.to_string());
                }
                // The server has just sent its list, so this failure is temporary: schemas stay untried.
                Err(_) => {}
            }
        }
        tried
    }

    /// Whether the model can be asked, as far as is known.
    pub(super) const fn is_well(&self) -> bool {
        self.why.is_none()
    }

    pub(super) fn json(&self) -> Value {
        let Self { model, exists, schemas, why } = self;
        json!({"model": model, "exists": exists, "schemas": schemas.word(), "why": why})
    }

    /// Formats the result for people.
    pub(super) fn told(&self) -> String {
        let exists = match (&self.why, self.exists) {
            (Some(why), _) => return format!("`{}` {why}", self.model),
            (None, Some(true)) => "is there",
            (None, Some(false) | None) => "may be there",
        };
        let schemas = match self.schemas {
            Schemas::Enforced => "schemas are enforced",
            Schemas::Ignored => "schemas are not enforced: more answers will be unusable",
            Schemas::NotTried => "not tried whether schemas are enforced",
        };
        format!("`{}` {exists}, {schemas}", self.model)
    }
}
