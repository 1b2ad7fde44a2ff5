//! Generated code of small charts.

chartc_core::include_chart!(pub mod builder);
