//! Rows of clients.

use crate::arena::ClientId;
use crate::form::ActionForm;

/// A `client`. `max_tokens` and `timeout` are 0 if the chart does not set them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClientRow<'t> {
    /// The name by which steps refer to it.
    pub name: &'t str,
    /// The model, as `provider:model`.
    pub model: &'t str,
    /// The sampling temperature; `None` if the chart does not set it.
    pub temperature: Option<f64>,
    /// The maximum length of an answer, in tokens.
    pub max_tokens: u64,
    /// The maximum duration of one call, in milliseconds.
    pub timeout: u64,
    /// Options that are passed to the client's server, as a JSON object; empty without options.
    pub options: &'t str,
    /// The price of a million input tokens, in millionths of the unit of prices.
    pub input_price: Option<u64>,
    /// The price of a million output tokens, in millionths of the unit of prices.
    pub output_price: Option<u64>,
    /// The JSON form in which the model writes actions.
    pub actions: ActionForm,
    /// The client to use when this one fails.
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

/// The providers whose models run on machines of their users.
const LOCAL: [&str; 4] = ["ollama", "lmstudio", "llamacpp", "vllm"];

/// Whether a model, written `provider:model`, runs on a machine of its user. Its calls cost nothing unless its client states a price.
pub fn is_free(model: &str) -> bool {
    model.split_once(':').is_some_and(|(provider, _)| LOCAL.contains(&provider))
}

/// An amount of money in millionths, rounded up, so that accounted costs are never too low.
#[cfg(feature = "alloc")]
pub(crate) fn millionths(amount: f64) -> u64 {
    let exact = amount * 1e6;
    // The cast saturates, and turns NaN into 0.
    let whole = exact as u64;
    if (whole as f64) < exact { whole.saturating_add(1) } else { whole }
}
