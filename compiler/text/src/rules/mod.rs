//! The catalogue of rules: code, name, stage, level, messages and page of each.
//!
//! To add a rule, add `<name>.rs` with a `RULE` and the messages that do not depend on an analysis, `<name>.md` beside it, its `mod` line
//! and its row in [`RULES`]. A rule that needs an analysis has its check in `lint`.

pub mod absent_child;
pub mod backward_count;
pub mod check_failed;
pub mod conflicting_fields;
pub mod covered_permission;
pub mod dead_deadline;
pub mod dead_line;
pub mod dead_option;
pub mod disabled_agent;
pub mod disguised_name;
pub mod duplicate_agent;
pub mod duplicate_name;
pub mod empty_fan_out;
pub mod empty_file;
pub mod empty_index;
pub mod endless_run;
pub mod event_cycle;
pub mod eventless_cycle;
pub mod failed_test;
pub mod faulty_allow;
pub mod faulty_expression;
pub mod faulty_rename;
pub mod forbidden_move;
pub mod forbidden_tool;
pub mod gap;
pub mod growing_prompt;
pub mod hasty_timeout;
pub mod hidden_step;
pub mod huge_retry;
pub mod idle_assignment;
pub mod idle_line;
pub mod illegal_structure;
pub mod import_cycle;
pub mod impossible_guard;
pub mod left_at_once;
pub mod left_out;
pub mod legacy;
pub mod limit_out_of_reach;
pub mod long_stride;
pub mod lost_count;
pub mod lost_division;
pub mod maybe_unset;
pub mod misdirected_event;
pub mod misfit_input;
pub mod misleading_format;
pub mod misleading_text;
pub mod missing_answer;
pub mod missing_field;
pub mod missing_initial;
pub mod missing_prompt;
pub mod misspelt_variable;
pub mod name_clash;
pub mod needless_except;
pub mod needless_guard;
pub mod never_set;
pub mod not_yet;
pub mod outdated_answer;
pub mod outside_subset;
pub mod overlap;
pub mod permuted_names;
pub mod precedence;
pub mod prose;
pub mod read_before_set;
pub mod refused_code;
pub mod refused_file;
pub mod region_reset;
pub mod repeated_effect;
pub mod shadowed_line;
pub mod success_by_failure;
pub mod syntax;
pub mod too_few_options;
pub mod trap_state;
pub mod type_error;
pub mod unasked_count;
pub mod unbounded_calls;
pub mod unbounded_fan_out;
pub mod unbounded_wait;
pub mod uncounted_line;
pub mod undecided_check;
pub mod undriven_state;
pub mod unescaped_brace;
pub mod unhandled_event;
pub mod unhandled_failure;
pub mod unheard_message;
pub mod unknown_field;
pub mod unknown_name;
pub mod unknown_placeholder;
pub mod unloaded_components;
pub mod unmapped_answer;
pub mod unnamed_answer;
pub mod unordered_assignments;
pub mod unpriced_model;
pub mod unput_question;
pub mod unreachable_state;
pub mod unreached_step;
pub mod unread_answer;
pub mod unread_variable;
pub mod unreadable_file;
pub mod unsent_event;
pub mod unusable_tool;
pub mod unused_allow;
pub mod unused_binding;
pub mod unused_declaration;
pub mod unused_fragment;
pub mod unused_permission;
pub mod used_up_budget;
pub mod useless_history;
pub mod wildcard_into_itself;
pub mod wildcard_without_effect;
pub mod wrong_type;

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
    &faulty_rename::RULE,
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
    &unsent_event::RULE,
    &misdirected_event::RULE,
    &absent_child::RULE,
    &unheard_message::RULE,
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
    &unordered_assignments::RULE,
    &empty_fan_out::RULE,
    &outdated_answer::RULE,
    &misfit_input::RULE,
    &not_yet::RULE,
    &name_clash::RULE,
    &outside_subset::RULE,
    &limit_out_of_reach::RULE,
    &huge_retry::RULE,
    &unpriced_model::RULE,
    &hasty_timeout::RULE,
    &unbounded_fan_out::RULE,
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
