; Prompts hold prose whose lines are indented with the chart around them, so no Markdown is read in them.

([
  (comment)
  (doc_comment)
] @injection.content
  (#set! injection.language "comment"))
