; Neovim's captures.

[
  (chart_body)
  (state_body)
  (step_body)
  (test_body)
  (block)
  (statements)
  (record_type)
  (enum_type)
  (client)
  (from)
  (limits)
  (defaults)
  (meta)
  (meta_map)
  (meta_list)
  (map)
  (list)
  (record)
  (parameters)
  (results)
  (arguments)
  (run_arguments)
] @indent.begin

[
  "}"
  "]"
  ")"
] @indent.branch @indent.end

(string) @indent.auto
(comment) @indent.ignore
(doc_comment) @indent.ignore
