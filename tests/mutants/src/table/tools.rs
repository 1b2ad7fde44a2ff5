//! Tools that the model of an `llm` step calls.

use super::{Mutant, of};

pub(super) fn all() -> Vec<Mutant> {
    let calls = of(
        "runtime/core/src/semantics/steps.rs",
        &[
            (
                "step-tools-without-number",
                &[("self.underway(key.step).called >= row.tool_calls", "row.tool_calls == 0")],
                &[
                    "semantics::step_tools::when_all_calls_are_made_no_tool_is_offered_any_more",
                    "semantics::step_tools::a_run_that_is_saved_during_a_call_goes_on_with_it",
                ],
            ),
            (
                "step-tools-that-fail-not-counted",
                &[(
                    "self.counts_mut(leaf).fails_here += 1;
                sink.record(Record::CallFailed(key, tool));
                self.program.bind(Bound::CallFailed(caller, reason));",
                    "sink.record(Record::CallFailed(key, tool));
                self.program.bind(Bound::CallFailed(caller, reason));",
                )],
                &["semantics::step_tools::a_tool_that_fails_or_is_in_doubt_counts"],
            ),
            (
                "step-tools-in-doubt-not-counted",
                &[(
                    "self.program.forget_call(caller);
                self.counts_mut(leaf).fails_here += 1;",
                    "self.program.forget_call(caller);",
                )],
                &["semantics::step_tools::a_tool_that_fails_or_is_in_doubt_counts"],
            ),
            (
                "step-tools-of-any-set",
                &[(
                    "self.each_step_tool(key, &mut |one| found |= one == tool);",
                    "found |= tool.0 > 0;",
                )],
                &["semantics::step_tools::a_tool_of_another_set_is_forbidden"],
            ),
            (
                "tool-lines-without-condition",
                &[("!line.guard", "line.tools.len > 0")],
                &[
                    "semantics::step_tools::a_tool_is_there_while_its_condition_holds",
                    "semantics::step_tools::a_tool_is_bounded_in_one_run_of_the_step",
                ],
            ),
            (
                "tool-calls-not-counted",
                &[("if line.calling {", "if false {")],
                &["semantics::step_tools::a_tool_is_bounded_in_one_run_of_the_step"],
            ),
            (
                "tool-calls-without-a-person",
                &[("asks = asks.or(line.asks);", "let _ = line.asks;")],
                &["semantics::step_tools::a_person_is_asked_before_the_call"],
            ),
            (
                "tool-calls-made-although-refused",
                &[("if is_approved {", "if is_approved || !is_approved {")],
                &["semantics::step_tools::a_person_may_refuse"],
            ),
            (
                "step-tools-for-nothing",
                &[(
                    "!self.charge_call(self.tables.steps[step.index()].state, key.leaf, sink)",
                    "false",
                )],
                &[
                    "semantics::step_tools::calls_are_charged_to_the_limits",
                    "semantics::step_tools::the_limit_may_be_reached_between_a_tool_and_the_next_question",
                ],
            ),
        ],
    );
    let caller = of(
        "runtime/core/src/semantics/question.rs",
        &[
            (
                "step-tools-of-the-question",
                &[("Caller::Step(key.step)", "Caller::Question(key.leaf)")],
                &["semantics::step_tools::a_question_of_the_same_leaf_may_call_at_the_same_time"],
            ),
            (
                "loops-told-to-all",
                &[("self.names_loops()", "true")],
                &["semantics::loops::only_a_chart_that_names_loops_is_told_of_them"],
            ),
            (
                "loops-told-once",
                &[("times > 0 && times.is_multiple_of(LOOP)", "times == LOOP")],
                &["semantics::loops::a_loop_that_goes_on_is_told_again_every_third_call"],
            ),
        ],
    );
    let counted = of(
        "runtime/core/src/calls.rs",
        &[(
            "loops-of-the-first-call",
            &[(
                "self.ended.back().map_or(0, |(_, times)| *times)",
                "self.ended.front().map_or(0, |(_, times)| *times)",
            )],
            &["semantics::loops::other_arguments_another_tool_and_another_option_begin_anew"],
        )],
    );
    calls.into_iter().chain(caller).chain(counted).collect()
}
