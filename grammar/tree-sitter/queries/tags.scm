(chart name: (_) @name) @definition.class
(record_type name: (_) @name) @definition.type
(enum_type name: (_) @name) @definition.type
(test name: (_) @name) @definition.test
(function name: (_) @name) @definition.function
(effect name: (_) @name) @definition.function
(tool name: (_) @name) @definition.function
(predicate name: (_) @name) @definition.function
(variable name: (_) @name) @definition.variable
(event name: (_) @name) @definition.event
(client name: (_) @name) @definition.module
(component name: (_) @name) @definition.module

(state name: (_) @name) @definition.state
(parallel name: (_) @name) @definition.state
(final name: (_) @name) @definition.state
(history name: (_) @name) @definition.state

(llm_step name: (_) @name) @definition.method
(ask_step name: (_) @name) @definition.method
(code_step name: (_) @name) @definition.method
(call_step name: (_) @name) @definition.method
(human_step name: (_) @name) @definition.method
(run_step name: (_) @name) @definition.method

(target state: (path) @name) @reference.state
(call function: (_) @name) @reference.call
(do_call name: (_) @name) @reference.call
(call_step tool: (path) @name) @reference.call
(run_step chart: (_) @name) @reference.class
(test chart: (_) @name) @reference.class
(type name: (_) @name) @reference.type
