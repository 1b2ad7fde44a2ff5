//! The interface to the compiler of charts that agents write.

use chartc_core::model::Chart;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// What an executable artifact is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// A `.chart` text: the artifact type `chart`.
    Chart,
    /// An `agent.yaml` text: the artifact type `agent`.
    Agent,
}

impl Form {
    /// The form that an artifact type stands for; `None` for plain data.
    pub fn of(ty: &str) -> Option<Self> {
        match ty {
            "chart" => Some(Self::Chart),
            "agent" => Some(Self::Agent),
            _ => None,
        }
    }

    /// The artifact type.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Chart => "chart",
            Self::Agent => "agent",
        }
    }
}

/// A chart without errors, and the charts that it runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Family {
    /// The chart itself comes first.
    pub charts: Vec<Chart>,
}

impl Family {
    /// The chart itself.
    ///
    /// # Panics
    /// There is none: a workshop gives at least one.
    pub fn root(&self) -> &Chart {
        &self.charts[0]
    }
}

/// A reason why a text does not compile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Such as `C0102`.
    pub code: String,
    /// From 1.
    pub line: usize,
    /// From 1.
    pub column: usize,
    /// What is wrong.
    pub text: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}: {}", self.line, self.column, self.code, self.text)
    }
}

/// Reads another artifact that the writer may read, by its id: imports and components are such. `None` where there is none.
pub type Read<'r> = &'r dyn Fn(&str) -> Option<String>;

/// Compiles and checks charts without any file.
pub trait Workshop: Send + Sync {
    /// Compiles the text of an artifact and checks it. Tests and `check` lines are not run.
    ///
    /// # Errors
    /// All errors found, in the order of their places; also texts of which nothing can run, and those that are too large.
    fn build(
        &self,
        id: &str,
        form: Form,
        text: &str,
        read: Read<'_>,
    ) -> Result<Arc<Family>, Vec<Finding>>;
}
