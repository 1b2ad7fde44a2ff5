//! Rows of clients.

use crate::arena::ClientId;
use crate::form::ActionForm;

/// One `client`. `max_tokens` and `timeout` are 0 if the chart does not set them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClientRow<'t> {
    /// As steps name it.
    pub name: &'t str,
    /// `provider:model`.
    pub model: &'t str,
    /// Sampling temperature.
    pub temperature: Option<f64>,
    /// Upper bound of an answer, in tokens.
    pub max_tokens: u64,
    /// Milliseconds that one call may take.
    pub timeout: u64,
    /// Options of its server, as a JSON object; empty without any.
    pub options: &'t str,
    /// Price of a million input tokens, in millionths.
    pub input_price: Option<u64>,
    /// Price of a million output tokens, in millionths.
    pub output_price: Option<u64>,
    /// The form in which the model writes actions.
    pub actions: ActionForm,
    /// The one to use when this one fails.
    pub fallback: Option<ClientId>,
}

impl ClientRow<'_> {
    /// A client without settings.
    pub const PLAIN: Self = Self {
        name: "",
        model: "",
        temperature: None,
        max_tokens: 0,
        timeout: 0,
        options: "",
        input_price: None,
        output_price: None,
        actions: ActionForm::Any,
        fallback: None,
    };
}

/// Providers whose models run on machines of their users.
const LOCAL: [&str; 4] = ["ollama", "lmstudio", "llamacpp", "vllm"];

/// Whether a model, written `provider:model`, costs nothing unless its client states a price: it runs on a machine of its user.
pub fn is_free(model: &str) -> bool {
    model.split_once(':').is_some_and(|(provider, _)| LOCAL.contains(&provider))
}

/// An amount of money in millionths, rounded up, so that accounted costs are never too low.
#[cfg(feature = "alloc")]
pub(crate) fn millionths(amount: f64) -> u64 {
    let exact = amount * 1e6;
    let whole = exact as u64;
    if (whole as f64) < exact { whole.saturating_add(1) } else { whole }
}
