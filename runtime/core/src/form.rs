//! The JSON forms in which a model writes an action.

/// The JSON form in which the model of an `llm` step without a type writes its action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ActionForm {
    /// No form is required, so the host decides: [`ActionForm::Simple`] in a world, otherwise `{reasoning, action, …}`.
    #[default]
    Any,
    /// `{thought_process, action: {action_type, …}}`.
    Simple,
    /// `{situation_assessment, action_rationale, action: {action_type, …}}`: observe, orient, decide, act.
    Ooda,
}

impl ActionForm {
    /// The words with which a `client` declaration requires a form.
    pub const WORDS: [&'static str; 2] = ["simple", "ooda"];

    /// The word in a `client` declaration; empty if no form is required.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Any => "",
            Self::Simple => "simple",
            Self::Ooda => "ooda",
        }
    }

    /// The form that this word requires; `None` for any other text.
    pub fn of(word: &str) -> Option<Self> {
        [Self::Simple, Self::Ooda].into_iter().find(|form| form.word() == word)
    }
}
