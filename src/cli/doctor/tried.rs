//! What doctor finds out about one model.

use chartc_providers::{Models, Server};
use chartc_runtime::oracle::OracleErrorKind;
use serde_json::{Value, json};

/// A model, as far as it was tried.
pub(super) struct Tried {
    model: String,
    /// Whether the server lists it.
    exists: Option<bool>,
    schemas: Schemas,
    /// What is wrong with it.
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
    /// A model of which nothing is known.
    pub(super) const fn not(model: String) -> Self {
        Self { model, exists: None, schemas: Schemas::NotTried, why: None }
    }

    /// Looks for the model among those of its server, and `asks` it whether schemas are enforced.
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
                // The list says that the server is there.
                Err(_) => {}
            }
        }
        tried
    }

    /// Whether it can be asked, as far as is known.
    pub(super) const fn is_well(&self) -> bool {
        self.why.is_none()
    }

    pub(super) fn json(&self) -> Value {
        let Self { model, exists, schemas, why } = self;
        json!({"model": model, "exists": exists, "schemas": schemas.word(), "why": why})
    }

    /// In words, behind its provider.
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
