//! Tables of the keys of the files that chartc reads beside charts. `docs/*.schema.json`, completion and hover come from them.

mod config;
mod run;

pub use chartc_text::front::agent::keys::{AGENT, COMPONENT};
pub use chartc_text::keys::{Case, Key, Mapping, Names, Need, Shape, Sign, Word};
pub use config::{BARS, CHECK, CONFIG};
pub use run::RUN;
