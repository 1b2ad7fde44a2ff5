//! Kinds of findings that other stages report: loading, parsing, lowering.

use crate::diagnostic::{Rule, Severity};

macro_rules! rules {
    ($($(#[$doc:meta])* $name:ident = $code:literal $word:literal $severity:ident $page:literal;)*) => {
        $($(#[$doc])* pub static $name: Rule = Rule {
            code: $code,
            name: $word,
            severity: Severity::$severity,
            page: include_str!($page),
        };)*

        /// Every rule of this file.
        pub static RULES: &[&Rule] = &[$(&$name),*];
    };
}

rules! {
    /// A text does not follow the grammar.
    SYNTAX = "C0001" "syntax" Error "syntax.md";
    /// A file could not be read.
    UNREADABLE = "C0002" "unreadable-file" Error "unreadable_file.md";
    /// Files import each other in a circle.
    IMPORT_CYCLE = "C0003" "import-cycle" Error "import_cycle.md";
    /// YAML that is no agent: wrong type, wrong shape.
    WRONG_TYPE = "C0004" "wrong-type" Error "wrong_type.md";
    /// An `agent.yaml` mapping that lacks a key it needs.
    MISSING_FIELD = "C0005" "missing-field" Error "missing_field.md";
    /// Keys of an `agent.yaml` step of which one makes the other useless.
    CONFLICTING_FIELDS = "C0006" "conflicting-fields" Warning "conflicting_fields.md";
    /// A key or a value of an `agent.yaml` that the format does not know.
    UNKNOWN_FIELD = "C0101" "unknown-field" Warning "unknown_field.md";
    /// A name that is not declared: state, event, variable, step, function, tool, client, type.
    UNKNOWN_NAME = "C0102" "unknown-name" Error "unknown_name.md";
    /// One name declared twice where it has to be unique.
    DUPLICATE_NAME = "C0103" "duplicate-name" Error "duplicate_name.md";
    /// Components that an agent lists, where no folder has them.
    UNLOADED_COMPONENTS = "C0104" "unloaded-components" Note "unloaded_components.md";
    /// A compound state or chart without `initial`.
    MISSING_INITIAL = "C0201" "missing-initial" Error "missing_initial.md";
    /// Targets that cannot be active together, or a place where a line, state or step may not stand.
    ILLEGAL_STRUCTURE = "C0202" "illegal-structure" Error "illegal_structure.md";
    /// An expression whose type does not fit.
    TYPE_ERROR = "C0401" "type-error" Error "type_error.md";
    /// A placeholder of a prompt that names nothing in scope.
    UNKNOWN_PLACEHOLDER = "C0402" "unknown-placeholder" Error "unknown_placeholder.md";
    /// A brace of a prompt that is neither a placeholder nor doubled.
    UNESCAPED_BRACE = "C0403" "unescaped-brace" Error "unescaped_brace.md";
    /// A code step of an `agent.yaml` that uses what safe evaluation refuses.
    REFUSED_CODE = "C0404" "refused-code" Error "refused_code.md";
    /// Something of an `agent.yaml` that the original engine ignored or read otherwise.
    LEGACY = "C0405" "legacy" Warning "legacy.md";
    /// A construct that parses but does not run yet.
    NOT_YET = "C0501" "not-yet" Error "not_yet.md";
    /// Two names that become one Rust identifier.
    NAME_CLASH = "C0502" "name-clash" Error "name_clash.md";
}
