//! Kinds of findings that other stages report: loading, parsing, lowering, emitting. Each is a file beside this one, which words it.

use crate::diagnostic::Rule;

pub use super::conflicting_fields::RULE as CONFLICTING_FIELDS;
pub use super::disabled_agent::RULE as DISABLED_AGENT;
pub use super::disguised_name::RULE as DISGUISED_NAME;
pub use super::duplicate_agent::RULE as DUPLICATE_AGENT;
pub use super::duplicate_name::RULE as DUPLICATE_NAME;
pub use super::empty_file::RULE as EMPTY_FILE;
pub use super::endless_run::RULE as ENDLESS_RUN;
pub use super::failed_test::RULE as FAILED_TEST;
pub use super::faulty_allow::RULE as FAULTY_ALLOW;
pub use super::faulty_expression::RULE as FAULTY_EXPRESSION;
pub use super::forbidden_tool::RULE as FORBIDDEN_TOOL;
pub use super::idle_assignment::RULE as IDLE_ASSIGNMENT;
pub use super::illegal_structure::RULE as ILLEGAL_STRUCTURE;
pub use super::import_cycle::RULE as IMPORT_CYCLE;
pub use super::left_out::RULE as LEFT_OUT;
pub use super::legacy::RULE as LEGACY;
pub use super::long_stride::RULE as LONG_STRIDE;
pub use super::lost_division::RULE as LOST_DIVISION;
pub use super::misleading_text::RULE as MISLEADING_TEXT;
pub use super::missing_field::RULE as MISSING_FIELD;
pub use super::missing_initial::RULE as MISSING_INITIAL;
pub use super::needless_except::RULE as NEEDLESS_EXCEPT;
pub use super::not_yet::RULE as NOT_YET;
pub use super::outside_subset::RULE as OUTSIDE_SUBSET;
pub use super::refused_code::RULE as REFUSED_CODE;
pub use super::refused_file::RULE as REFUSED_FILE;
pub use super::syntax::RULE as SYNTAX;
pub use super::type_error::RULE as TYPE_ERROR;
pub use super::unasked_count::RULE as UNASKED_COUNT;
pub use super::unescaped_brace::RULE as UNESCAPED_BRACE;
pub use super::unknown_field::RULE as UNKNOWN_FIELD;
pub use super::unknown_name::RULE as UNKNOWN_NAME;
pub use super::unknown_placeholder::RULE as UNKNOWN_PLACEHOLDER;
pub use super::unloaded_components::RULE as UNLOADED_COMPONENTS;
pub use super::unmapped_answer::RULE as UNMAPPED_ANSWER;
pub use super::unreadable_file::RULE as UNREADABLE;
pub use super::unused_allow::RULE as UNUSED_ALLOW;

pub use super::unused_fragment::RULE as UNUSED_FRAGMENT;
pub use super::used_up_budget::RULE as USED_UP_BUDGET;
pub use super::wrong_type::RULE as WRONG_TYPE;

/// Every rule of another stage.
pub static RULES: &[&Rule] = &[
    &SYNTAX,
    &UNREADABLE,
    &REFUSED_FILE,
    &IMPORT_CYCLE,
    &WRONG_TYPE,
    &MISSING_FIELD,
    &CONFLICTING_FIELDS,
    &EMPTY_FILE,
    &LOST_DIVISION,
    &FAULTY_ALLOW,
    &UNUSED_ALLOW,
    &DISGUISED_NAME,
    &MISLEADING_TEXT,
    &USED_UP_BUDGET,
    &UNKNOWN_FIELD,
    &UNKNOWN_NAME,
    &DUPLICATE_NAME,
    &DUPLICATE_AGENT,
    &DISABLED_AGENT,
    &UNLOADED_COMPONENTS,
    &UNUSED_FRAGMENT,
    &LEFT_OUT,
    &MISSING_INITIAL,
    &ENDLESS_RUN,
    &ILLEGAL_STRUCTURE,
    &TYPE_ERROR,
    &UNKNOWN_PLACEHOLDER,
    &UNESCAPED_BRACE,
    &REFUSED_CODE,
    &LEGACY,
    &FAULTY_EXPRESSION,
    &NOT_YET,
    &OUTSIDE_SUBSET,
    &FAILED_TEST,
    &IDLE_ASSIGNMENT,
    &LONG_STRIDE,
    &UNASKED_COUNT,
    &UNMAPPED_ANSWER,
    &FORBIDDEN_TOOL,
    &NEEDLESS_EXCEPT,
];
