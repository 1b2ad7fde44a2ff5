; Written from grammar/tree-sitter/queries/highlights.scm by the tests there: QUERIES=write cargo test -p tree-sitter-chart
; What is coloured how. Of several patterns for a node the last one counts.

; Names

(identifier) @variable
(quoted_identifier) @variable

(chart name: (_) @type)
(test chart: (_) @type)
(run_step chart: (_) @type)
(record_type name: (_) @type)
(enum_type name: (_) @type)
(enum_value name: (_) @constant)
(type name: (_) @type)
((type name: (identifier) @type.builtin)
  (#any-of? @type.builtin "Bool" "Int" "Float" "Text" "Duration" "Json" "List" "Map"))
(record type: (_) @type)
(parameter name: (_) @variable.parameter)
(bindings name: (_) @variable.parameter)
(named_argument name: (_) @variable.parameter)
(each name: (_) @variable.parameter)
(for_statement name: (_) @variable.parameter)
(for_action name: (_) @variable.parameter)
(comprehension name: (_) @variable.parameter)

(field_access field: (_) @property)
((field_access
  value: (identifier) @type
  field: (_) @constant)
  (#match? @type "^[A-Z]"))
(record_field name: (_) @property)
(client_option name: (_) @property)
(client_option value: (identifier) @constant)
(limit name: (_) @property)
(meta_entry key: (identifier) @property)
(bound unit: (identifier) @keyword)

(function name: (_) @function)
(effect name: (_) @function)
(tool name: (path (_) @function))
(call function: (_) @function)
(do_call name: (_) @function)
(given_function name: (_) @function)
(check name: (_) @function.builtin)
(call_step tool: (path (_) @function))
(tool_item tool: (path (_) @function))
(tool_pattern (path (_) @function))
(tool_set name: (_) @function)
(told_called name: (path (_) @function))

(client name: (_) @namespace)
(with client: (_) @namespace)
(component name: (_) @namespace)
(insertion step: (_) @label)

(state name: (_) @label)
(parallel name: (_) @label)
(final name: (_) @label)
(history name: (_) @label)
(target state: (path (_) @label))
(initial state: (path (_) @label))
(history state: (path (_) @label))
(from (path (_) @label))
(except (path (_) @label))
(allow from: (path (_) @label))
(allow to: (path (_) @label))
(outcome_event subject: (path (_) @label))
(outcome_event name: (_) @variable.parameter)
(before (path (_) @label))
(unless (path (_) @label))
(at_most (path (_) @label))
(check_range param: (_) @variable.parameter)
(at_item state: (path (_) @label))
(told_at state: (path (_) @label))
(told_denied state: (path (_) @label))
(llm_step name: (_) @label)
(ask_step name: (_) @label)
(code_step name: (_) @label)
(call_step name: (_) @label)
(human_step name: (_) @label)
(run_step name: (_) @label)
(asked (_) @label)
(told_asked step: (_) @label)
(renamed (_) @label)

(event name: (path (_) @constant))
(event_use name: (path (_) @constant))
(machine_event (identifier) @constant)
(raise_action event: (path (_) @constant))
(send_action event: (path (_) @constant))
(send_item event: (path (_) @constant))
(option name: (_) @constant)
(chosen name: (path (_) @constant))
(told_offered (path (_) @constant))
(final status: (_) @constant)

; Literals

[
  (integer)
  (duration)
] @number
(float) @number
(boolean) @boolean
(none) @constant.builtin

(string) @string
(escape_sequence) @string.escape
(brace_escape) @string.escape
(stray_brace) @error
(unclosed) @error
(format) @string.special

(comment) @comment
(doc_comment) @comment.doc

; Keywords

[
  "import"
  "from"
] @keyword

[
  "type"
  "enum"
  "chart"
  "test"
  "client"
  "component"
  "tools"
  "event"
  "pred"
  "check"
  "defaults"
  "trace"
  "meta"
  "limits"
  "state"
  "parallel"
  "final"
  "initial"
  "history"
  "deep"
  "enter"
  "exit"
  "defer"
  "allow"
  "advice"
] @keyword

[
  "fn"
  "do"
  "tool"
] @keyword

[
  "var"
  "param"
  "input"
  "per"
  "idempotent"
  "renamed_from"
] @keyword

[
  "on"
  "when"
  "after"
  "each"
  "may"
  "call"
  "turn"
  "turns"
  "reenter"
  "stay"
  "except"
  "into"
  "as"
  "to"
  "at"
  "with"
  "before"
  "unless"
  "most"
  "step"
] @keyword

[
  "llm"
  "ask"
  "code"
  "human"
  "run"
  "prompt"
  "returns"
  "ends"
  "timeout"
  "retry"
  "skip"
  "fail"
  "done"
  "error"
  "doubt"
  "cut"
  "limit"
  "exact"
  "always"
  "events"
  "entry"
  "all"
  "any"
  "calls"
  "a"
  "time"
  "up"
  "enough"
  "warn"
  "start"
  "end"
  "replace"
] @keyword

[
  "raise"
  "send"
  "cancel"
  "log"
] @keyword

[
  "given"
  "set"
  "wait"
  "answers"
  "fails"
  "expect"
  "ended"
  "offered"
  "only"
  "denied"
  "called"
  "asked"
  "asking"
  "until"
  "contains"
  "of"
] @keyword

[
  "ok"
  "partial"
  "stuck"
  "canceled"
] @constant

(machine_event ["error" "limit"] @constant)
(turn_item) @keyword

[
  "if"
  "then"
  "else"
] @keyword

"for" @keyword

[
  "and"
  "or"
  "not"
  "in"
  "div"
] @keyword.operator
(not_in) @keyword.operator
(call function: "in" @function.builtin)

; Operators and brackets

[
  "="
  "=="
  "!="
  "<"
  "<="
  ">"
  ">="
  "??"
  "+"
  "-"
  "*"
  "**"
  "/"
  "%"
  "|"
  "->"
  ".."
  ".*"
  "?"
] @operator
(any_event) @constant.builtin
(any_state) @constant.builtin

[
  "("
  ")"
  "["
  "]"
  "{"
  "}"
] @punctuation.bracket
(interpolation
  "{" @punctuation.special
  "}" @punctuation.special)

[
  ","
  "."
  ":"
] @punctuation.delimiter
(interpolation ":" @punctuation.special)
