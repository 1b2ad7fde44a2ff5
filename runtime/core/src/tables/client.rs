//! Rows of models.

use crate::arena::ClientId;
use crate::form::ActionForm;

/// One `client`. `max_tokens` and `timeout` are 0 where they were not said.
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
    /// Price of a million tokens that are sent, in millionths.
    pub input_price: Option<u64>,
    /// Price of a million tokens that are answered, in millionths.
    pub output_price: Option<u64>,
    /// How it is to write actions.
    pub actions: ActionForm,
    /// The one to use when this one fails.
    pub fallback: Option<ClientId>,
}

impl ClientRow<'_> {
    /// Nothing said.
    pub const PLAIN: Self = Self {
        name: "",
        model: "",
        temperature: None,
        max_tokens: 0,
        timeout: 0,
        input_price: None,
        output_price: None,
        actions: ActionForm::Any,
        fallback: None,
    };
}

/// An amount of money in millionths, rounded up: a bound on what is spent must not come out lower.
#[cfg(feature = "alloc")]
pub(crate) fn millionths(amount: f64) -> u64 {
    let exact = amount * 1e6;
    let whole = exact as u64;
    if (whole as f64) < exact { whole.saturating_add(1) } else { whole }
}
