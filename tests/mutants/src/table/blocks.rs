//! Microsteps and macrosteps: the order of blocks, what an error ends, when a macrostep does.

use super::{Mutant, of};

const LEAVE_ALL: &str = "while let Some(state) = next {
            self.leave(state, sink);
            self.deactivate(state);
            next = self.next_exited(domain, state);
        }";

const LEAVE_PATH: &str = "while state > domain {
            let parent = self.tables.states[state.index()].parent;
            self.leave(state, sink);
            self.leaves = 0;
            self.take_out(state);
            state = parent;
        }";

const ENTER_KNOWN: &str = "for at in entry.range() {
                        let state = self.tables.state_pool[at];
                        if all_known {
                            self.enter(state, sink);
                        } else {
                            self.add_to_entry_set(state);
                        }
                    }";

const ENTER_ONE: &str = "for at in entry.range() {
                    self.enter(self.tables.state_pool[at], sink);
                }";

const ENTER_ALL: &str = "self.enter(state, sink);
            if self.tables.summary.default_actions {
                self.run_defaults(state, sink);
            }";

pub(super) fn all() -> Vec<Mutant> {
    let macrostep = of(
        "runtime/core/src/semantics/microstep.rs",
        &[
            (
                "eventless-once",
                &[(
                    "machine.eventless(&mut faults, sink)",
                    "steps < 2 && machine.eventless(&mut faults, sink)",
                )],
                &["semantics::sets::eventless_selection_is_repeated_after_every_microstep"],
            ),
            (
                "external-before-internal",
                &[("machine.queued(sink)", "steps == 0 && machine.queued(sink)")],
                &[
                    "semantics::events::raised_events_come_after_eventless_lines_and_before_the_next_host_event",
                ],
            ),
            (
                "livelock-one-late",
                &[("steps >= machine.bound()", "steps > machine.bound()")],
                &["semantics::events::a_macrostep_has_a_thousand_microsteps"],
            ),
            (
                "livelock-keeps-the-queue",
                &[(
                    "machine.give_up_queue();",
                    "if !livelock {
                machine.give_up_queue();
            }",
                )],
                &["semantics::events::a_livelock_gives_up_what_is_on_the_queue"],
            ),
        ],
    );
    let microstep = of(
        "runtime/core/src/semantics/microstep.rs",
        &[
            (
                "several-lines-of-one-path",
                &[(
                    "self.take_one(id, sink);",
                    "self.take_one(id, sink);
                    let above = self.tables.transitions[id.index()].source;
                    let above = self.tables.states[above.index()].parent;
                    if let Picked::Line(id) = self.pick(above, cause, &[], faults, sink) {
                        self.take_one(id, sink);
                    }",
                )],
                &["semantics::events::one_line_for_each_leaf"],
            ),
            (
                "livelock-keeps-the-data-of-raised-events",
                &[("Self::give_up_queue(self);", "self.scalars.queue_len = 0;")],
                &["semantics::events::events_raised_after_a_livelock_have_their_own_data"],
            ),
            (
                "error-of-errors",
                &[(
                    "before == 0 && faults > 0 && !cause.is_error()",
                    "faults > before && !cause.is_error()",
                )],
                &[
                    "semantics::events::an_eventless_guard_that_fails_is_reported_once_in_a_macrostep",
                ],
            ),
            (
                "error-is-silent",
                &[(
                    "if self.program.run(block, &view, &mut outbox).is_err() {
            self.raise_error(ErrorKind::Execution, sink);
        }",
                    "let _ = self.program.run(block, &view, &mut outbox);",
                )],
                &["semantics::events::an_error_stops_its_own_block_only"],
            ),
            (
                "dead-end-again-and-again",
                &[("self.scalars.dead = true;", "self.scalars.dead = self.scalars.events > 1;")],
                &["semantics::observables::a_dead_end_is_told_once"],
            ),
        ],
    );
    let take = of(
        "runtime/core/src/semantics/microstep.rs",
        &[
            (
                "exit-order",
                &[(
                    LEAVE_ALL,
                    "let mut all = std::vec::Vec::new();
                    while let Some(state) = next {
                        all.insert(0, state);
                        next = self.next_exited(domain, state);
                    }
                    for state in all {
                        self.leave(state, sink);
                        self.deactivate(state);
                    }",
                )],
                &["semantics::sets::exit_in_reverse_then_actions_then_entry_in_document_order"],
            ),
            (
                "exit-order-of-one-leaf",
                &[(
                    LEAVE_PATH,
                    "let mut all = std::vec::Vec::new();
                    while state > domain {
                        all.insert(0, state);
                        state = self.tables.states[state.index()].parent;
                    }
                    for state in all {
                        self.leave(state, sink);
                        self.deactivate(state);
                    }",
                )],
                &["semantics::sets::one_leaf_is_left_from_below_before_the_actions"],
            ),
            (
                "actions-before-exit",
                &[(
                    "self.exit(domain, sink);
                self.act(id, &row, sink);",
                    "self.act(id, &row, sink);
                self.exit(domain, sink);",
                )],
                &["semantics::sets::one_leaf_is_left_from_below_before_the_actions"],
            ),
            (
                "entry-breadth-first",
                &[(
                    ENTER_ONE,
                    "let mut all: std::vec::Vec<StateId> =
                        entry.range().map(|at| self.tables.state_pool[at]).collect();
                    all.sort_by_key(|state| {
                        core::iter::successors(Some(*state), |s| self.parent(*s)).count()
                    });
                    for state in all {
                        self.enter(state, sink);
                    }",
                )],
                &["semantics::sets::exit_in_reverse_then_actions_then_entry_in_document_order"],
            ),
            (
                "entry-of-several-lines-from-below",
                &[(
                    ENTER_KNOWN,
                    "for at in entry.range().rev() {
                        let state = self.tables.state_pool[at];
                        if all_known {
                            self.enter(state, sink);
                        } else {
                            self.add_to_entry_set(state);
                        }
                    }",
                )],
                &["semantics::sets::lines_taken_together_enter_each_from_above"],
            ),
            (
                "initial-actions-before-enter",
                &[(
                    ENTER_ALL,
                    "if self.tables.summary.default_actions {
                        self.run_defaults(state, sink);
                    }
                    self.enter(state, sink);",
                )],
                &[
                    "semantics::content::actions_of_initial_run_between_the_parents_enter_and_the_childs",
                ],
            ),
            (
                "initial-actions-after-all",
                &[(
                    ENTER_ALL,
                    "self.enter(state, sink);
                    if self.tables.summary.default_actions && self.next_in_entry_set(0, usize::MAX).is_none() {
                        for at in 0..self.tables.states.len() {
                            self.run_defaults(self.tables.states[at].parent, sink);
                        }
                    }",
                )],
                &[
                    "semantics::content::actions_of_initial_run_between_the_parents_enter_and_the_childs",
                ],
            ),
            (
                "history-recorded-late",
                &[
                    (
                        "if self.tables.summary.histories { selected } else { &[] }",
                        "&selected[..0]",
                    ),
                    (
                        "if self.tables.summary.histories {
                    self.record_all(domain);
                }",
                        "",
                    ),
                    (
                        "sink.record(Record::Exited(state));",
                        "self.record_history(state); sink.record(Record::Exited(state));",
                    ),
                ],
                &[
                    "semantics::sets::deep_history_restores_every_region",
                    "semantics::sets::shallow_history_restores_the_child_and_its_default_below",
                ],
            ),
            (
                "done-one-level-up",
                &[("above = self.parent(ancestor);", "above = None;")],
                &[
                    "semantics::events::done_climbs_through_nested_parallels_whichever_region_ends_last",
                ],
            ),
            (
                "error-ends-the-next-enter",
                &[(
                    "self.run_block(Block::Entry(state, nth), state, sink);",
                    "let before = self.scalars.queue_len;
                    self.run_block(Block::Entry(state, nth), state, sink);
                    if self.scalars.queue_len > before { break; }",
                )],
                &["semantics::content::an_error_ends_its_own_enter_or_exit_block_only"],
            ),
            (
                "error-ends-the-next-exit",
                &[(
                    "self.run_block(Block::Exit(state, nth), state, sink);",
                    "let before = self.scalars.queue_len;
                    self.run_block(Block::Exit(state, nth), state, sink);
                    if self.scalars.queue_len > before { break; }",
                )],
                &["semantics::content::an_error_ends_its_own_enter_or_exit_block_only"],
            ),
            (
                "arguments-unread",
                &[(
                    "if self.in_view(leaf, |program, view| program.arguments(id, view)).is_err() {
                self.raise_error(ErrorKind::Execution, sink);
            }",
                    "",
                )],
                &["semantics::observables::final_arguments_are_read_before_the_exit"],
            ),
            (
                "step-runs-on-after-exit",
                &[(
                    "if let Some(key) = pending {
                self.cancel(key, sink);
            }",
                    "let _ = pending;",
                )],
                &[
                    "semantics::turns::leaving_the_state_of_an_awaited_step_cancels_it_and_the_walk_goes_on",
                ],
            ),
            (
                "question-open-after-exit",
                &[("self.cancel(question.key, sink);", "")],
                &["semantics::questions::leaving_the_leaf_cancels_its_question"],
            ),
            (
                "deadline-armed-after-exit",
                &[("self.disarm_deadlines(state);", "")],
                &["semantics::bounds::a_deadline_ends_with_its_state"],
            ),
            (
                "fails-here-kept",
                &[("counts.fails_here = 0;", "")],
                &[
                    "semantics::observables::rejected_answers_count_as_fails_here_until_the_leaf_is_left",
                ],
            ),
            (
                "turns-here-kept",
                &[("counts.turns_here = 0;", "")],
                &["semantics::bounds::turns_here_begin_anew_on_entry"],
            ),
        ],
    );
    let engine = of(
        "runtime/core/src/semantics/mod.rs",
        &[(
            "end-without-exit",
            &[("self.leave(state, sink);", "")],
            &["semantics::events::the_end_leaves_the_final_state_and_the_chart"],
        )],
    );
    macrostep.into_iter().chain(microstep).chain(take).chain(engine).collect()
}
