//! Charts that run charts.

use super::{Mutant, of};

pub(super) fn all() -> Vec<Mutant> {
    let family = of(
        "runtime/core/src/family.rs",
        &[
            (
                "deadlines-in-the-order-of-members",
                &[("due.sort_by_key(|(at, _)| *at);", "")],
                &["semantics::children::share::the_earliest_deadline_of_all_charts_is_due_first"],
            ),
            (
                "stopped-after-all-else",
                &[(
                    "for task in first.into_iter().rev() {
            self.tasks.queue.push_front(task);
        }",
                    "for task in first { self.tasks.queue.push_back(task); }",
                )],
                &[
                    "semantics::children::end::a_stopped_chart_has_no_share_in_the_turn_that_stopped_it",
                ],
            ),
            (
                "no-done-of-a-child",
                &[("self.ended(member, status);", "let _ = status;")],
                &["semantics::children::end::the_answer_is_what_the_final_was_given"],
            ),
            (
                "late-answer-without-a-record",
                &[(
                    "if let (None, Input::Answer(..)) = (self.member(&member), &input) {
            return Some(self.late(member, asked, sink));
        }",
                    "",
                )],
                &["semantics::children::nest::an_answer_to_a_chart_that_is_gone_changes_nothing"],
            ),
            (
                "dead-child-goes-unheard",
                &[("self.fails(member, String::from(\"it can do nothing more\"));", "")],
                &["semantics::children::end::a_chart_that_can_do_nothing_more_is_an_error"],
            ),
            (
                "element-that-waits-for-a-turn",
                &[("of_element || is_turn", "is_turn")],
                &[
                    "semantics::children::elements::a_chart_that_begins_when_another_has_ended_has_a_turn_at_once",
                ],
            ),
            (
                "element-with-two-turns",
                &[("is_turn != self.children_last", "is_turn || !is_turn")],
                &[
                    "semantics::children::elements::a_chart_that_begins_when_another_has_ended_has_a_turn_at_once",
                ],
            ),
        ],
    );
    let making = of(
        "runtime/core/src/family.rs",
        &[
            (
                "children-nest-without-end",
                &[("member.len() >= DEPTH", "member.len() >= 2 * DEPTH")],
                &["semantics::children::nest::charts_nest_only_so_deep"],
            ),
            (
                "failed-start-unsaid",
                &[("self.answer(member.clone(), key, failed(why))", "drop(why)")],
                &["semantics::children::start::a_param_out_of_its_range_is_an_error_at_run_time"],
            ),
        ],
    );
    let posting = of(
        "runtime/core/src/family.rs",
        &[
            (
                "event-for-the-first-element",
                &[("children.find(|key| key.element == Some(element))", "children.next()")],
                &[
                    "semantics::children::elements::an_event_goes_to_the_chart_of_one_element_or_to_all",
                ],
            ),
            (
                "event-for-the-last-element-alone",
                &[("!of_elements.is_empty()", "false")],
                &[
                    "semantics::children::elements::an_event_goes_to_the_chart_of_one_element_or_to_all",
                ],
            ),
            (
                "elements-in-reverse",
                &[(
                    "of_elements.into_iter().rev()",
                    "{ let reversed: Vec<Element> = of_elements.into_iter().rev().collect(); reversed.into_iter().rev() }",
                )],
                &[
                    "semantics::children::elements::an_event_goes_to_the_chart_of_one_element_or_to_all",
                ],
            ),
        ],
    );
    let tree = of(
        "runtime/core/src/family.rs",
        &[(
            "event-by-its-name-alone",
            &[(
                "row.name == *event.name && fields.eq(event.fields.iter().map(String::as_str))",
                "fields.count() < usize::MAX && row.name == *event.name",
            )],
            &["semantics::children::share::an_event_of_other_fields_is_another_event"],
        )],
    );
    let children = of(
        "runtime/core/src/interpreter/mod.rs",
        &[(
            "youngest-child-first",
            &[(
                "self.children.iter().for_each(|(key, child)| act(*key, child))",
                "self.children.iter().rev().for_each(|(key, child)| act(*key, child))",
            )],
            &["semantics::children::share::an_event_goes_to_the_first_chart_that_handles_it"],
        )],
    );
    let watch = of(
        "runtime/core/src/family.rs",
        &[
            (
                "left-child-goes-on",
                &[("self.seen.push(Notice::Cancel(key))", "let _ = key;")],
                &[
                    "semantics::children::end::leaving_the_state_stops_the_chart_and_its_exit_blocks_run",
                    "semantics::children::end::a_timeout_stops_the_chart",
                ],
            ),
            (
                "children-without-turns",
                &[("self.seen.push(Notice::TurnBegan)", "")],
                &[
                    "semantics::children::start::a_step_in_the_walk_starts_its_chart_and_the_walk_goes_on",
                ],
            ),
        ],
    );
    let passing = of(
        "runtime/core/src/family.rs",
        &[
            (
                "offered-to-the-first-child-only",
                &[("receipt == Receipt::Unhandled && !members.is_empty()", "false")],
                &["semantics::children::share::an_event_that_none_handles_is_refused_by_all"],
            ),
            (
                "children-passed-nothing-hear-all",
                &[("self.forward(&m[..n], m[n]) == Forward::Rest", "true")],
                &[
                    "semantics::children::pass::a_child_is_passed_the_rest_of_the_events_or_all_or_none",
                ],
            ),
            (
                "no-copies-for-children-passed-all",
                &[("self.forward(member, key) == Forward::All", "false")],
                &[
                    "semantics::children::pass::a_child_is_passed_the_rest_of_the_events_or_all_or_none",
                ],
            ),
        ],
    );
    family
        .into_iter()
        .chain(making)
        .chain(posting)
        .chain(children)
        .chain(tree)
        .chain(watch)
        .chain(passing)
        .collect()
}
