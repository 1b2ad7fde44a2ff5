//! Walks of regions: forks, joins and ends, questions of several regions, calls of each.

use super::{Mutant, of};

const JOIN: &str = "is_forked && !matches!(self.next_in(walk), Next::Rests)";
const ADMITS: &str = "!walk.spent && (cap == 0 || walk.calls < cap)";
const STOPS: &str = "self.scalars.stopped = true;";
const HIDES: &str = "self.nth_walk(nth).turn_taken";
const PASSES: &str = "walk.cursor = step.0 + 1;";
const LEAVES: &str = "walk.leaf <= leaf.0 && !self.hides_asks(*leaf)";

pub(super) fn all() -> Vec<Mutant> {
    let walk = of(
        "runtime/core/src/semantics/turn.rs",
        &[
            (
                "regions-one-after-another",
                &[(
                    "if self.scalars.stopped {
            return None;
        }",
                    "if self.scalars.stopped || self.some_walk_waits() { return None; }",
                )],
                &[
                    "semantics::walks::regions_wait_at_the_same_time_and_each_outcome_is_taken_at_once",
                    "semantics::walks::parallels_in_regions_fork_again",
                ],
            ),
            (
                "joined-when-one-region-ends",
                &[(
                    JOIN,
                    "is_forked && (nth + 1..walks.len()).all(|w| {
                self.parent(walks[w].state) != Some(parallel)
                    || !matches!(self.next_in(w), Next::Rests)
            })",
                )],
                &[
                    "semantics::walks::steps_of_the_parallel_run_before_its_first_region_or_when_all_have_ended",
                    "semantics::walks::parallels_in_regions_fork_again",
                ],
            ),
            (
                "never-joined",
                &[(JOIN, "let _ = is_forked; false")],
                &[
                    "semantics::walks::steps_of_the_parallel_run_before_its_first_region_or_when_all_have_ended",
                ],
            ),
            (
                "forks-again-when-entered-again",
                &[
                    ("stage(w) == WalkStage::New", "stage(w) != WalkStage::Open"),
                    ("walk.stage == WalkStage::New", "walk.stage != WalkStage::Open"),
                ],
                &["semantics::walks::a_parallel_in_a_region_forks_once_a_turn"],
            ),
            (
                "left-region-walks-on",
                &[(
                    "if walk.stage == WalkStage::Open {
                walk.stage = WalkStage::Over;
            }",
                    "",
                )],
                &["semantics::walks::a_parallel_in_a_region_forks_once_a_turn"],
            ),
            (
                "joined-walks-go-on",
                &[("walk.stage == WalkStage::Open && row.steps.start <= step.0", "false")],
                &["semantics::walks::a_region_walks_no_further_when_the_outer_walk_has_gone_on"],
            ),
            (
                "calls-of-all-walks-together",
                &[(
                    ADMITS,
                    "!walk.spent && (cap == 0
            || self.store.cells().walks.iter().map(|w| w.calls).sum::<u32>() < cap)",
                )],
                &[
                    "semantics::walks::each_walk_has_its_own_calls",
                    "semantics::walks::regions_wait_at_the_same_time_and_each_outcome_is_taken_at_once",
                ],
            ),
            (
                "one-call-more",
                &[(ADMITS, "!walk.spent && (cap == 0 || walk.calls <= cap)")],
                &[
                    "semantics::turns::the_walk_ends_before_the_next_model_step_when_the_calls_are_used_up",
                    "semantics::walks::each_walk_has_its_own_calls",
                ],
            ),
            (
                "calls-used-up-end-all-walks",
                &[(
                    "sink.record(Record::WalkEnded(why));",
                    "self.scalars.stopped = true;
        sink.record(Record::WalkEnded(why));",
                )],
                &["semantics::walks::each_walk_has_its_own_calls"],
            ),
            (
                "ended-turn-starts-more",
                &[(STOPS, "")],
                &[
                    "semantics::walks::ends::ends_turn_starts_nothing_more_and_waits_for_what_is_open",
                    "semantics::walks::ends::a_step_that_fails_starts_nothing_more_and_waits_for_what_is_open",
                ],
            ),
            (
                "ended-turn-waits-for-nothing",
                &[(
                    STOPS,
                    "self.scalars.stopped = true;
            for walk in self.store.cells_mut().walks.iter_mut() { walk.at = None; }",
                )],
                &[
                    "semantics::walks::ends::ends_turn_starts_nothing_more_and_waits_for_what_is_open",
                    "semantics::walks::ends::a_step_that_fails_starts_nothing_more_and_waits_for_what_is_open",
                ],
            ),
            (
                "on-turn-hides-all-asks",
                &[(HIDES, "self.store.cells().walks.iter().any(|walk| walk.turn_taken)")],
                &[
                    "semantics::walks::asks::an_on_turn_line_hides_the_asks_of_its_region_and_one_of_the_parallel_all",
                ],
            ),
            (
                "on-turn-hides-no-ask",
                &[(HIDES, "false")],
                &[
                    "semantics::walks::asks::an_on_turn_line_hides_the_asks_of_its_region_and_one_of_the_parallel_all",
                    "semantics::questions::an_ask_on_turn_starts_in_the_walk_unless_an_on_turn_line_was_taken",
                ],
            ),
            (
                "on-turn-around-regions-hides-no-ask",
                &[("nth == 0", "true")],
                &[
                    "semantics::walks::asks::an_on_turn_line_hides_the_asks_of_its_region_and_one_of_the_parallel_all",
                ],
            ),
            (
                "goes-on-at-the-first-answer",
                &[(
                    "if self.has_open(step) {
                return Next::Waits;
            }",
                    "let walks = self.store.cells().walks;
            let open = self.questions().iter().filter(|q| q.key.step == step).count();
            if open > 0 && open == walks.iter().filter(|walk| walk.leaf > 0).count() {
                return Next::Waits;
            }",
                )],
                &[
                    "semantics::walks::asks::an_ask_of_the_parallel_is_put_in_all_regions_at_once_and_counts_for_their_walks",
                ],
            ),
            (
                "step-again-when-entered-again",
                &[(
                    "self.tables.walks[nth].state == state",
                    "self.nth_walk_mut(nth).cursor = 0;
        self.tables.walks[nth].state == state",
                )],
                &[
                    "semantics::walks::a_walk_that_has_ended_goes_on_when_an_event_enters_states_with_further_steps",
                ],
            ),
            (
                "step-of-an-inactive-state-passed",
                &[("row.is_walked() && self.is_active(row.state)", "row.is_walked()")],
                &[
                    "semantics::walks::a_walk_that_has_ended_goes_on_when_an_event_enters_states_with_further_steps",
                ],
            ),
            (
                "walk-passes-over-a-step",
                &[(PASSES, "walk.cursor = step.0 + 2;")],
                &["semantics::turns::each_step_runs_at_most_once_in_a_walk"],
            ),
            (
                "all-that-is-open-is-awaited",
                &[(
                    "self.scalars.walking && self.nth_walk(walk as usize).at == Some(key.step)",
                    "let _ = walk; self.scalars.walking",
                )],
                &["semantics::walks::ends::people_and_children_do_not_hold_a_walk_up"],
            ),
        ],
    );
    let question = of(
        "runtime/core/src/semantics/question.rs",
        &[
            (
                "asked-in-the-first-leaf-only",
                &[(
                    LEAVES,
                    "cells.walks.iter().all(|walk| walk.leaf == 0) && !self.hides_asks(*leaf)",
                )],
                &[
                    "semantics::walks::asks::an_ask_of_the_parallel_is_put_in_all_regions_at_once_and_counts_for_their_walks",
                ],
            ),
            (
                "asked-in-one-leaf-after-another",
                &[(
                    LEAVES,
                    "walk.leaf <= leaf.0 && !self.hides_asks(*leaf) && !self.has_open(step)",
                )],
                &[
                    "semantics::walks::asks::an_ask_of_the_parallel_is_put_in_all_regions_at_once_and_counts_for_their_walks",
                ],
            ),
            (
                "ask-counts-for-the-walk-of-its-step",
                &[("self.walk_mut(leaf).calls += 1;", "self.walk_mut(state).calls += 1;")],
                &[
                    "semantics::walks::asks::an_ask_of_the_parallel_is_put_in_all_regions_at_once_and_counts_for_their_walks",
                ],
            ),
        ],
    );
    let answer = of(
        "runtime/core/src/semantics/steps.rs",
        &[
            (
                "ends-turn-ends-its-own-walk",
                &[(
                    "if !self.macrostep(Some(Occurrence::StepDone(step)), sink) && self.has_done_line(step) {
            sink.record(Record::Fallback(step, Fallback::NoLine));
        }
        if ends && in_walk {
            self.end_walk(WalkEnd::EndsTurn, sink);
        }",
                    "if !self.macrostep(Some(Occurrence::StepDone(step)), sink) && self.has_done_line(step) {
            sink.record(Record::Fallback(step, Fallback::NoLine));
        }
        if ends && in_walk {
            let state = self.tables.steps[step.index()].state;
            self.walk_mut(state).stage = crate::store::WalkStage::Over;
            sink.record(Record::WalkEnded(WalkEnd::EndsTurn));
        }",
                )],
                &["semantics::walks::ends::ends_turn_starts_nothing_more_and_waits_for_what_is_open"],
            ),
            (
                "timeout-ends-with-the-first-answer",
                &[("!self.is_asking(key.step)", "true")],
                &["semantics::walks::asks::the_timeout_of_an_ask_holds_for_all_leaves"],
            ),
        ],
    );
    let turn = of(
        "runtime/core/src/semantics/turn.rs",
        &[
            (
                "second-turn-at-once",
                &[(
                    "if self.scalars.walking {
            return Receipt::Busy;
        }",
                    "",
                )],
                &[
                    "semantics::turns::a_second_turn_waits_for_the_walk",
                    "semantics::walks::a_turn_that_is_walked_takes_no_other",
                ],
            ),
            (
                "walk-gives-way-after-each-step",
                &[("first = walk;", "first = walk + 1;")],
                &["semantics::walks::a_walk_goes_on_until_it_waits_before_the_next_one_does"],
            ),
            (
                "back-to-the-first-walk-after-each-step",
                &[("first = walk;", "let _ = walk;")],
                &["semantics::walks::a_walk_goes_on_until_it_waits_before_the_next_one_does"],
            ),
            (
                "people-hold-the-walk-up",
                &[(
                    "matches!(kind, StepRowKind::Llm | StepRowKind::Call)",
                    "!matches!(kind, StepRowKind::Ask { .. })",
                )],
                &["semantics::walks::ends::people_and_children_do_not_hold_a_walk_up"],
            ),
            (
                "walks-of-the-turn-before",
                &[("cells.walks.fill(Walk::NEW);", "")],
                &[
                    "semantics::walks::regions_wait_at_the_same_time_and_each_outcome_is_taken_at_once",
                ],
            ),
        ],
    );
    let deadline = of(
        "runtime/core/src/semantics/deadline.rs",
        &[(
            "timeout-ends-one-question",
            &[("(key == first || self.is_ask(first.step))", "key == first")],
            &["semantics::walks::asks::the_timeout_of_an_ask_holds_for_all_leaves"],
        )],
    );
    let snapshot = of(
        "runtime/core/src/semantics/snapshot.rs",
        &[(
            "snapshot-without-walks",
            &[("put(cells.walks, &snapshot.walks);", "")],
            &[
                "semantics::walks::regions_wait_at_the_same_time_and_each_outcome_is_taken_at_once",
                "semantics::walks::each_walk_has_its_own_calls",
            ],
        )],
    );
    [walk, question, answer, turn, deadline, snapshot].into_iter().flatten().collect()
}
