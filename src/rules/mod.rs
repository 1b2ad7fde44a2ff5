//! The catalogue of rules: code, name, stage, level, messages and page of each.
//!
//! To add a rule, add `<name>.rs` with a `RULE` and the messages that do not depend on an analysis, `<name>.md` beside it, its `mod` line
//! and its row in [`RULES`]. A rule that needs an analysis has its check in `lint`.

pub(crate) mod backward_count;
pub(crate) mod check_failed;
pub(crate) mod conflicting_fields;
pub(crate) mod covered_permission;
pub(crate) mod dead_deadline;
pub(crate) mod dead_line;
pub(crate) mod dead_option;
pub(crate) mod disabled_agent;
pub(crate) mod disguised_name;
pub(crate) mod duplicate_agent;
pub(crate) mod duplicate_name;
pub(crate) mod empty_file;
pub(crate) mod empty_index;
pub(crate) mod endless_run;
pub(crate) mod event_cycle;
pub(crate) mod eventless_cycle;
pub(crate) mod failed_test;
pub(crate) mod faulty_allow;
pub(crate) mod faulty_expression;
pub(crate) mod forbidden_move;
pub(crate) mod forbidden_tool;
pub(crate) mod gap;
pub(crate) mod growing_prompt;
pub(crate) mod hasty_timeout;
pub(crate) mod hidden_step;
pub(crate) mod huge_retry;
pub(crate) mod idle_assignment;
pub(crate) mod idle_line;
pub(crate) mod illegal_structure;
pub(crate) mod import_cycle;
pub(crate) mod impossible_guard;
pub(crate) mod left_at_once;
pub(crate) mod left_out;
pub(crate) mod legacy;
pub(crate) mod limit_out_of_reach;
pub(crate) mod long_stride;
pub(crate) mod lost_count;
pub(crate) mod lost_division;
pub(crate) mod maybe_unset;
pub(crate) mod misleading_format;
pub(crate) mod misleading_text;
pub(crate) mod missing_answer;
pub(crate) mod missing_field;
pub(crate) mod missing_initial;
pub(crate) mod missing_prompt;
pub(crate) mod misspelt_variable;
pub(crate) mod name_clash;
pub(crate) mod needless_except;
pub(crate) mod needless_guard;
pub(crate) mod never_set;
pub(crate) mod not_yet;
pub(crate) mod outside_subset;
pub(crate) mod overlap;
pub(crate) mod permuted_names;
pub(crate) mod precedence;
pub(crate) mod prose;
pub(crate) mod read_before_set;
pub(crate) mod refused_code;
pub(crate) mod refused_file;
pub(crate) mod region_reset;
pub(crate) mod repeated_effect;
pub(crate) mod shadowed_line;
pub(crate) mod success_by_failure;
pub(crate) mod syntax;
pub(crate) mod too_few_options;
pub(crate) mod trap_state;
pub(crate) mod type_error;
pub(crate) mod unasked_count;
pub(crate) mod unbounded_calls;
pub(crate) mod unbounded_wait;
pub(crate) mod uncounted_line;
pub(crate) mod undecided_check;
pub(crate) mod undriven_state;
pub(crate) mod unescaped_brace;
pub(crate) mod unhandled_event;
pub(crate) mod unhandled_failure;
pub(crate) mod unknown_field;
pub(crate) mod unknown_name;
pub(crate) mod unknown_placeholder;
pub(crate) mod unloaded_components;
pub(crate) mod unmapped_answer;
pub(crate) mod unnamed_answer;
pub(crate) mod unpriced_model;
pub(crate) mod unput_question;
pub(crate) mod unreachable_state;
pub(crate) mod unreached_step;
pub(crate) mod unread_answer;
pub(crate) mod unread_variable;
pub(crate) mod unreadable_file;
pub(crate) mod unusable_tool;
pub(crate) mod unused_allow;
pub(crate) mod unused_binding;
pub(crate) mod unused_declaration;
pub(crate) mod unused_fragment;
pub(crate) mod unused_permission;
pub(crate) mod used_up_budget;
pub(crate) mod useless_history;
pub(crate) mod wildcard_into_itself;
pub(crate) mod wildcard_without_effect;
pub(crate) mod wrong_type;

use crate::diagnostic::{Rule, nearest};

/// Every rule, by code.
pub static RULES: &[&Rule] = &[
    &syntax::RULE,
    &unreadable_file::RULE,
    &import_cycle::RULE,
    &wrong_type::RULE,
    &missing_field::RULE,
    &conflicting_fields::RULE,
    &empty_file::RULE,
    &lost_division::RULE,
    &faulty_allow::RULE,
    &unused_allow::RULE,
    &disguised_name::RULE,
    &misleading_text::RULE,
    &refused_file::RULE,
    &used_up_budget::RULE,
    &unknown_field::RULE,
    &unknown_name::RULE,
    &duplicate_name::RULE,
    &unloaded_components::RULE,
    &unused_fragment::RULE,
    &left_out::RULE,
    &duplicate_agent::RULE,
    &missing_initial::RULE,
    &illegal_structure::RULE,
    &unreachable_state::RULE,
    &useless_history::RULE,
    &region_reset::RULE,
    &wildcard_into_itself::RULE,
    &endless_run::RULE,
    &undriven_state::RULE,
    &shadowed_line::RULE,
    &wildcard_without_effect::RULE,
    &eventless_cycle::RULE,
    &trap_state::RULE,
    &forbidden_move::RULE,
    &hidden_step::RULE,
    &impossible_guard::RULE,
    &unput_question::RULE,
    &unhandled_event::RULE,
    &needless_guard::RULE,
    &dead_deadline::RULE,
    &event_cycle::RULE,
    &gap::RULE,
    &overlap::RULE,
    &unbounded_calls::RULE,
    &unbounded_wait::RULE,
    &unreached_step::RULE,
    &dead_option::RULE,
    &unused_permission::RULE,
    &success_by_failure::RULE,
    &dead_line::RULE,
    &idle_line::RULE,
    &covered_permission::RULE,
    &disabled_agent::RULE,
    &left_at_once::RULE,
    &needless_except::RULE,
    &unhandled_failure::RULE,
    &check_failed::RULE,
    &undecided_check::RULE,
    &type_error::RULE,
    &unknown_placeholder::RULE,
    &unescaped_brace::RULE,
    &refused_code::RULE,
    &legacy::RULE,
    &too_few_options::RULE,
    &read_before_set::RULE,
    &faulty_expression::RULE,
    &unnamed_answer::RULE,
    &unmapped_answer::RULE,
    &unused_declaration::RULE,
    &never_set::RULE,
    &unread_variable::RULE,
    &missing_prompt::RULE,
    &maybe_unset::RULE,
    &unused_binding::RULE,
    &uncounted_line::RULE,
    &backward_count::RULE,
    &long_stride::RULE,
    &unusable_tool::RULE,
    &misleading_format::RULE,
    &idle_assignment::RULE,
    &unasked_count::RULE,
    &misspelt_variable::RULE,
    &lost_count::RULE,
    &unread_answer::RULE,
    &growing_prompt::RULE,
    &forbidden_tool::RULE,
    &permuted_names::RULE,
    &empty_index::RULE,
    &missing_answer::RULE,
    &repeated_effect::RULE,
    &not_yet::RULE,
    &name_clash::RULE,
    &outside_subset::RULE,
    &limit_out_of_reach::RULE,
    &huge_retry::RULE,
    &unpriced_model::RULE,
    &hasty_timeout::RULE,
    &failed_test::RULE,
];

/// Finds a rule by code or name; case, `-` and `_` do not count.
///
/// # Errors
/// The nearest code or name, if there is one.
pub fn named(word: &str) -> Result<&'static Rule, Option<&'static str>> {
    let name = word.replace('_', "-").to_lowercase();
    let found = RULES.iter().find(|r| r.code.eq_ignore_ascii_case(word) || r.name == name);
    found.copied().ok_or_else(|| nearest(&name, RULES.iter().flat_map(|r| [r.code, r.name])))
}
