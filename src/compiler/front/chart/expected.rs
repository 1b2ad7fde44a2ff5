//! The words for each rule of the grammar in messages, which never show the name of a rule.

use super::grammar::Rule;

/// The first words of items outside charts.
pub(super) const TOP: &[&str] = &[
    "import",
    "type",
    "enum",
    "chart",
    "fn",
    "do",
    "tool",
    "tools",
    "client",
    "component",
    "test",
];

/// The first words of items that are allowed in a chart and not in a state.
pub(super) const DECLARATIONS: &[&str] = &[
    "var",
    "param",
    "input",
    "event",
    "pred",
    "fn",
    "do",
    "tool",
    "tools",
    "client",
    "component",
    "check",
    "defaults",
    "trace",
    "meta",
];

/// The first words of transitions.
pub(super) const LINES: &[&str] = &["on", "when", "may", "after", "each"];

/// The first words of items in states, except transitions.
pub(super) const STATES: &[&str] = &[
    "state", "parallel", "final", "history", "initial", "llm", "ask", "code", "call", "human",
    "run", "from", "enter", "exit", "defer", "allow", "advice", "limits",
];

/// The first words of items in steps.
pub(super) const STEPS: &[&str] = &[
    "prompt", "tools", "retry", "skip", "fail", "returns", "done", "error", "timeout", "doubt",
    "cut", "ends",
];

/// The first words of items in tests.
pub(super) const TESTS: &[&str] = &[
    "given", "at", "send", "turn", "turns", "until", "set", "wait", "answers", "fails", "tool",
    "expect",
];

/// The words for what to type where a rule was expected; `None` if that is not worth saying.
pub(super) fn describe(rule: Rule) -> Option<&'static str> {
    Some(match rule {
        Rule::name | Rule::quoted | Rule::word => "a name",
        Rule::path => "a name",
        Rule::subject | Rule::event_use => "an event's name",
        Rule::target => "a state",
        Rule::states => "a state",
        Rule::line_string | Rule::block_string => "a text in quotes",
        Rule::int | Rule::grouped => "a whole number",
        Rule::float | Rule::duration | Rule::negative => "a number",
        Rule::type_expr | Rule::type_args => "a type",
        Rule::expr
        | Rule::chain
        | Rule::cond_head
        | Rule::prefix
        | Rule::paren
        | Rule::list
        | Rule::map
        | Rule::named
        | Rule::in_call
        | Rule::record
        | Rule::kw_none
        | Rule::kw_true
        | Rule::kw_false => "an expression",
        Rule::client_value
        | Rule::server_options
        | Rule::meta_value
        | Rule::meta_list
        | Rule::meta_map => "a value",
        Rule::infix | Rule::field | Rule::index | Rule::format => return None,
        Rule::open_paren | Rule::params | Rule::results | Rule::call_args | Rule::bindings => "`(`",
        Rule::close_paren => "`)`",
        Rule::open_bracket => "`[`",
        Rule::close_bracket => "`]`",
        Rule::open_brace | Rule::state_body | Rule::step_body | Rule::statements | Rule::block => {
            "`{`"
        }
        Rule::close_brace | Rule::unclosed => "`}`",
        Rule::comma => "`,`",
        Rule::colon | Rule::status => "`:`",
        Rule::arrow | Rule::move_to | Rule::then => "`->`",
        Rule::equals => "`=`",
        Rule::star => "`*`",
        Rule::stars => "`**`",
        Rule::pipe => "`|`",
        Rule::take_away => "`-`",
        Rule::dots => "`..`",
        Rule::question => return None,
        Rule::guard | Rule::kw_if => "`if`",
        Rule::kw_then => "`then`",
        Rule::kw_else | Rule::otherwise | Rule::instead | Rule::else_if | Rule::else_if_action => {
            "`else`"
        }
        Rule::kw_for | Rule::comprehension => "`for`",
        Rule::kw_in | Rule::range => "`in`",
        Rule::with => "`with`",
        Rule::except => "`except`",
        Rule::method | Rule::kw_from => "`from`",
        Rule::param | Rule::enum_name | Rule::record_field | Rule::client_option | Rule::limit => {
            "a name"
        }
        Rule::meta_entry => "a name or a text",
        Rule::entry => "an expression",
        Rule::argument => "a state or a bound",
        Rule::property => "a property's name",
        Rule::checked | Rule::check_range => "a name",
        Rule::tool_pattern | Rule::tool_sum => "a tool",
        Rule::approval => "`human`",
        Rule::insert => "a step's name",
        Rule::policy => "`retry`, `skip` or `fail`",
        Rule::step_event => "`turn` or an event's name",
        Rule::may_option => "an option's name",
        Rule::may_call => return None,
        Rule::machine_event | Rule::done_of | Rule::error_of | Rule::doubt_of => return None,
        Rule::place => "`start`, `end` or `replace`",
        Rule::why => "a reason",
        Rule::option_use => "an option",
        Rule::given_fn => "`fn`",
        Rule::test_turn | Rule::test_turns => return None,
        Rule::told_text | Rule::prompt_of => return None,
        Rule::told_at => "`at`",
        Rule::told_ended => "`ended`",
        Rule::told_offered => "`offered`",
        Rule::told_denied => "`denied`",
        Rule::told_called => "`called`",
        Rule::told_asked => "`asked`",
        Rule::told_asking => "`asking`",
        Rule::assign | Rule::do_call => "an assignment or a call",
        Rule::raise | Rule::send | Rule::cancel | Rule::log => return None,
        _ => return keyword(rule),
    })
}

/// The words for a rule that reads a keyword; `None` for other rules.
fn keyword(rule: Rule) -> Option<&'static str> {
    const KEYWORDS: &[(Rule, &str)] = &[
        (Rule::kw_into, "`into`"),
        (Rule::kw_at, "`at`"),
        (Rule::kw_entry, "`entry`"),
        (Rule::kw_to, "`to`"),
        (Rule::receiver, "`to`"),
        (Rule::kw_events, "`events`"),
        (Rule::forward, "`events`"),
        (Rule::kw_per, "`per`"),
        (Rule::kw_turn, "`turn`"),
        (Rule::kw_turns, "`turns`"),
        (Rule::kw_before, "`before`"),
        (Rule::kw_unless, "`unless`"),
        (Rule::kw_most, "`most`"),
        (Rule::kw_given, "`given`"),
        (Rule::check_given, "`given`"),
        (Rule::kw_all, "`all`"),
        (Rule::kw_deep, "`deep`"),
        (Rule::kw_reenter, "`reenter`"),
        (Rule::kw_on, "`on`"),
        (Rule::kw_after, "`after`"),
        (Rule::kw_as, "`as`"),
        (Rule::kw_except, "`except`"),
        (Rule::kw_warn, "`warn`"),
        (Rule::kw_exact, "`exact`"),
        (Rule::kw_always, "`always`"),
        (Rule::kw_stay, "`stay`"),
        (Rule::kw_with, "`with`"),
        (Rule::kw_retry, "`retry`"),
        (Rule::kw_idempotent, "`idempotent`"),
        (Rule::kw_skip, "`skip`"),
        (Rule::kw_fail, "`fail`"),
        (Rule::kw_returns, "`returns`"),
        (Rule::kw_fails, "`fails`"),
        (Rule::kw_not, "`not`"),
        (Rule::kw_asked, "`asked`"),
        (Rule::kw_of, "`of`"),
        (Rule::kw_contains, "`contains`"),
    ];
    KEYWORDS.iter().find(|(r, _)| *r == rule).map(|(_, word)| *word)
}

/// Whether recovery uses this rule, for items that cannot be read.
pub(super) fn is_bad(rule: Rule) -> bool {
    matches!(
        rule,
        Rule::bad_item | Rule::bad_step | Rule::bad_test | Rule::bad_entry | Rule::bad_top
    )
}

// The keywords, each with the rule that reads it.

/// The keyword that a rule reads, if it reads one.
pub(super) fn keyword_of(rule: Rule) -> Option<&'static str> {
    ALL.iter().find(|(known, _)| *known == rule).map(|(_, word)| *word)
}

/// All keywords, in no particular order.
pub(super) fn keywords() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|(_, word)| *word)
}

const ALL: &[(Rule, &str)] = &[
    (Rule::kw_import, "import"),
    (Rule::kw_type, "type"),
    (Rule::kw_enum, "enum"),
    (Rule::kw_fn, "fn"),
    (Rule::kw_do, "do"),
    (Rule::kw_tool, "tool"),
    (Rule::kw_idempotent, "idempotent"),
    (Rule::kw_renamed_from, "renamed_from"),
    (Rule::kw_tools, "tools"),
    (Rule::kw_client, "client"),
    (Rule::kw_component, "component"),
    (Rule::kw_into, "into"),
    (Rule::kw_at, "at"),
    (Rule::kw_to, "to"),
    (Rule::kw_events, "events"),
    (Rule::kw_entry, "entry"),
    (Rule::kw_test, "test"),
    (Rule::kw_chart, "chart"),
    (Rule::kw_var, "var"),
    (Rule::kw_param, "param"),
    (Rule::kw_input, "input"),
    (Rule::kw_per, "per"),
    (Rule::kw_turn, "turn"),
    (Rule::kw_event, "event"),
    (Rule::kw_pred, "pred"),
    (Rule::kw_check, "check"),
    (Rule::kw_before, "before"),
    (Rule::kw_unless, "unless"),
    (Rule::kw_most, "most"),
    (Rule::kw_step, "step"),
    (Rule::kw_defaults, "defaults"),
    (Rule::kw_trace, "trace"),
    (Rule::kw_all, "all"),
    (Rule::kw_meta, "meta"),
    (Rule::kw_state, "state"),
    (Rule::kw_parallel, "parallel"),
    (Rule::kw_final, "final"),
    (Rule::kw_initial, "initial"),
    (Rule::kw_history, "history"),
    (Rule::kw_deep, "deep"),
    (Rule::kw_reenter, "reenter"),
    (Rule::kw_on, "on"),
    (Rule::kw_when, "when"),
    (Rule::kw_a, "a"),
    (Rule::kw_time, "time"),
    (Rule::kw_up, "up"),
    (Rule::kw_enough, "enough"),
    (Rule::kw_each, "each"),
    (Rule::kw_after, "after"),
    (Rule::kw_turns, "turns"),
    (Rule::kw_may, "may"),
    (Rule::kw_call, "call"),
    (Rule::kw_done, "done"),
    (Rule::kw_error, "error"),
    (Rule::kw_doubt, "doubt"),
    (Rule::kw_cut, "cut"),
    (Rule::kw_ok, "ok"),
    (Rule::kw_as, "as"),
    (Rule::kw_from, "from"),
    (Rule::kw_except, "except"),
    (Rule::kw_enter, "enter"),
    (Rule::kw_exit, "exit"),
    (Rule::kw_allow, "allow"),
    (Rule::kw_defer, "defer"),
    (Rule::kw_advice, "advice"),
    (Rule::kw_calls, "calls"),
    (Rule::kw_limits, "limits"),
    (Rule::kw_warn, "warn"),
    (Rule::kw_llm, "llm"),
    (Rule::kw_code, "code"),
    (Rule::kw_ask, "ask"),
    (Rule::kw_exact, "exact"),
    (Rule::kw_always, "always"),
    (Rule::kw_stay, "stay"),
    (Rule::kw_human, "human"),
    (Rule::kw_run, "run"),
    (Rule::kw_with, "with"),
    (Rule::kw_prompt, "prompt"),
    (Rule::kw_retry, "retry"),
    (Rule::kw_skip, "skip"),
    (Rule::kw_fail, "fail"),
    (Rule::kw_returns, "returns"),
    (Rule::kw_timeout, "timeout"),
    (Rule::kw_ends, "ends"),
    (Rule::kw_raise, "raise"),
    (Rule::kw_send, "send"),
    (Rule::kw_cancel, "cancel"),
    (Rule::kw_log, "log"),
    (Rule::kw_given, "given"),
    (Rule::kw_set, "set"),
    (Rule::kw_wait, "wait"),
    (Rule::kw_answers, "answers"),
    (Rule::kw_fails, "fails"),
    (Rule::kw_expect, "expect"),
    (Rule::kw_not, "not"),
    (Rule::kw_ended, "ended"),
    (Rule::kw_offered, "offered"),
    (Rule::kw_only, "only"),
    (Rule::kw_denied, "denied"),
    (Rule::kw_called, "called"),
    (Rule::kw_asked, "asked"),
    (Rule::kw_asking, "asking"),
    (Rule::kw_until, "until"),
    (Rule::kw_contains, "contains"),
    (Rule::kw_of, "of"),
    (Rule::kw_none, "none"),
    (Rule::kw_true, "true"),
    (Rule::kw_false, "false"),
    (Rule::kw_if, "if"),
    (Rule::kw_then, "then"),
    (Rule::kw_else, "else"),
    (Rule::kw_for, "for"),
    (Rule::kw_in, "in"),
];
