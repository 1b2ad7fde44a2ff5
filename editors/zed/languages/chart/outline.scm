(chart "chart" @context name: (_) @name) @item
(test "test" @context name: (_) @name) @item
(record_type "type" @context name: (_) @name) @item
(enum_type "enum" @context name: (_) @name) @item
(function "fn" @context name: (_) @name) @item
(effect "do" @context name: (_) @name) @item
(tool "tool" @context name: (_) @name) @item
(tool_set "tools" @context name: (_) @name) @item
(client "client" @context name: (_) @name) @item
(component "component" @context name: (_) @name) @item
(variable ["var" "param" "input"] @context name: (_) @name) @item
(event "event" @context name: (_) @name) @item
(predicate "pred" @context name: (_) @name) @item

(state "state" @context name: (_) @name) @item
(parallel "parallel" @context name: (_) @name) @item
(final "final" @context name: (_) @name) @item
(history "history" @context name: (_) @name) @item

(llm_step "llm" @context name: (_) @name) @item
(ask_step "ask" @context name: (_) @name) @item
(code_step "code" @context name: (_) @name) @item
(call_step "call" @context name: (_) @name) @item
(human_step "human" @context name: (_) @name) @item
(run_step "run" @context name: (_) @name) @item

(doc_comment) @annotation
