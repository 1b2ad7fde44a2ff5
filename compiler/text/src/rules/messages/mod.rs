//! The messages of rules that need no analysis. Those of the others are in `lint`.
//!
//! Each rule has a module of its name, with one function for each message. Its arguments are names as the author wrote them, and spans:
//! `unknown_name::state("opn", span, near)` returns the finding "no state `opn`" at `span`, with the help "did you mean `open`?" and a fix.
//! Messages are lower case and without a full stop; user text is in backticks.

mod data;
mod files;
mod names;
mod structure;

pub use data::{
    faulty_expression, forbidden_tool, idle_assignment, legacy, misfit_input, name_clash,
    outside_subset, read_before_set, refused_code, type_error, unescaped_brace,
    unknown_placeholder, unmapped_answer,
};
pub use files::{
    conflicting_fields, disguised_name, empty_file, faulty_allow, import_cycle, lost_division,
    misleading_text, missing_field, refused_file, syntax, unreadable_file, unused_allow,
    used_up_budget, wrong_type,
};
pub use names::{
    duplicate_name, faulty_rename, left_out, unknown_field, unknown_name, unloaded_components,
    unused_fragment,
};
pub use structure::{
    disabled_agent, endless_run, failed_test, hidden_step, illegal_structure, missing_initial,
    needless_except,
};
