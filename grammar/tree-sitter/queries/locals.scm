(source_file) @local.scope
(chart) @local.scope
(test) @local.scope
(function) @local.scope
(effect) @local.scope
(tool) @local.scope
(on_transition) @local.scope
(may_transition) @local.scope
(for_statement) @local.scope
(for_action) @local.scope
(comprehension) @local.scope

(variable name: (_) @local.definition.var)
(predicate name: (_) @local.definition.var)
(parameter name: (_) @local.definition.parameter)
(bindings name: (_) @local.definition.parameter)
(each name: (_) @local.definition.parameter)
(for_statement name: (_) @local.definition.var)
(for_action name: (_) @local.definition.var)
(comprehension name: (_) @local.definition.var)
(function name: (_) @local.definition.function)
(effect name: (_) @local.definition.function)
(record_type name: (_) @local.definition.type)
(enum_type name: (_) @local.definition.type)

(identifier) @local.reference
(quoted_identifier) @local.reference
