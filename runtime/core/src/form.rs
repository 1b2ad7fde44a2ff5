//! The forms in which a model gives an action.

/// How the model of an `llm` step without a type is to write its action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ActionForm {
    /// `{reasoning, action, …}` or any of the others: whatever comes.
    #[default]
    Any,
    /// `{thought_process, action: {action_type, …}}`.
    Simple,
    /// `{situation_assessment, action_rationale, action: {action_type, …}}`: observe, orient, decide, act.
    Ooda,
}

impl ActionForm {
    /// Those that a client can ask for.
    pub const WORDS: [&'static str; 2] = ["simple", "ooda"];

    /// As a client has it; nothing for whatever comes.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Any => "",
            Self::Simple => "simple",
            Self::Ooda => "ooda",
        }
    }

    /// The form of this word.
    pub fn of(word: &str) -> Option<Self> {
        [Self::Simple, Self::Ooda].into_iter().find(|form| form.word() == word)
    }
}
