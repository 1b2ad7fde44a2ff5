(chart body: (_) @class.inside) @class.around
(test body: (_) @test.inside) @test.around
(state body: (_) @class.inside) @class.around
(parallel body: (_) @class.inside) @class.around

(llm_step body: (_) @function.inside) @function.around
(ask_step body: (_) @function.inside) @function.around
(code_step body: (_) @function.inside) @function.around
(call_step body: (_) @function.inside) @function.around
(human_step body: (_) @function.inside) @function.around
(run_step body: (_) @function.inside) @function.around

(parameter) @parameter.inside
(arguments (_) @parameter.inside)

(comment) @comment.inside
(comment)+ @comment.around
(doc_comment) @comment.inside
(doc_comment)+ @comment.around
