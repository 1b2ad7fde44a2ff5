//! From the syntax of a chart to its model, and everything that is found wrong on the way.
//!
//! The stages, in order: [`lower`] → [`facts`] → [`turn`] → [`explore`] → [`lint`]; [`compile`] runs them all. Users of the
//! compiler take the crate `chartc`, which exports what they need; the interfaces here follow its needs.

pub mod allow;
pub mod compile;
pub mod explore;
pub mod facts;
pub mod fix;
pub mod lint;
pub mod lower;
pub mod notation;
pub mod spelling;
pub mod turn;
