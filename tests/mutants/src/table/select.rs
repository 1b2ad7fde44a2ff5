//! Which lines are taken.

use super::{Mutant, of};

pub(super) fn all() -> Vec<Mutant> {
    let select = of(
        "runtime/core/src/semantics/select.rs",
        &[
            (
                "several-lines-of-one-path-beside-others",
                &[(
                    "self.add(id, count, selected, sink)",
                    "{
                        let count = self.add(id, count, selected, sink);
                        let above = self.tables.transitions[id.index()].source;
                        let above = self.tables.states[above.index()].parent;
                        match self.pick(above, cause, &selected[..count], faults, sink) {
                            Picked::Line(id) => self.add(id, count, selected, sink),
                            Picked::Nothing | Picked::Denied => count,
                        }
                    }",
                )],
                &["semantics::events::one_line_for_each_leaf_of_several"],
            ),
            (
                "one-line-twice",
                &[("picked.contains(&id)", "false")],
                &["semantics::sets::one_line_picked_by_two_regions_is_taken_once"],
            ),
            (
                "earlier-region-beats-descendant",
                &[("!(source != other_source && self.contains(other_source, source))", "true")],
                &[
                    "semantics::sets::a_descendants_line_beats_the_ancestors_that_another_region_picked",
                ],
            ),
            (
                "later-region-wins",
                &[("!(source != other_source && self.contains(other_source, source))", "false")],
                &["semantics::sets::the_earlier_region_wins_between_equals"],
            ),
            (
                "no-preemption",
                &[(
                    "self.domain(other).is_some_and(|d| self.contains(d, domain) || self.contains(domain, d))",
                    "false",
                )],
                &["semantics::sets::the_earlier_region_wins_between_equals"],
            ),
            (
                "conflict-of-one-domain-only",
                &[(
                    "self.domain(other).is_some_and(|d| self.contains(d, domain) || self.contains(domain, d))",
                    "self.domain(other) == Some(domain)",
                )],
                &["semantics::sets::a_line_lost_to_one_that_is_removed_later_does_not_come_back"],
            ),
            (
                "targetless-conflicts",
                &[(
                    "self.domain(id)",
                    "self.domain(id).or(Some(self.tables.transitions[id.index()].source))",
                )],
                &[
                    "semantics::sets::a_parallels_line_is_picked_by_the_region_that_has_nothing_better",
                ],
            ),
            (
                "guard-that-fails-holds",
                &[("return Verdict::Lost(Loss::Fault);", "")],
                &["semantics::events::a_guard_that_fails_is_false_and_raises_an_error"],
            ),
            (
                "guard-again-on-return",
                &[("row.guard && !cause.has_returned()", "row.guard")],
                &[
                    "semantics::tools::the_guard_holds_for_the_call_and_is_not_asked_again_on_return",
                ],
            ),
            (
                "permission-not-needed",
                &[("self.check_permitted(row, leaf)", "true")],
                &["semantics::turns::a_step_moves_only_where_an_allow_line_permits"],
            ),
            (
                "permission-for-every-line",
                &[("!needs_permission(&row.trigger)", "false")],
                &["semantics::turns::allow_lines_do_not_bind_host_events"],
            ),
            (
                "permission-from-anywhere",
                &[("permission.from.is_none_or(|from| self.is_active(from))", "true")],
                &["semantics::turns::a_permission_holds_only_while_its_state_is_active"],
            ),
            (
                "exceptions-forgotten",
                &[("!row.none_of.of(pool).iter().any(|s| self.is_active(*s))", "true")],
                &[
                    "semantics::events::wildcard_lines_hold_everywhere_but_in_their_target_the_exceptions_and_finals",
                ],
            ),
        ],
    );
    let candidates = of(
        "runtime/core/src/semantics/select.rs",
        &[
            (
                "any-event-last",
                &[(
                    "matches!(row.trigger, TriggerRow::AnyEvent | TriggerRow::AnyOccurrence)",
                    "matches!(row.trigger, TriggerRow::AnyEvent | TriggerRow::AnyOccurrence)
                        && !rows.iter().any(|other| {
                            matches!(other.trigger, TriggerRow::Event(span)
                                if span.of(&tables.event_pool).contains(&event))
                        })",
                )],
                &["semantics::events::any_event_has_no_lower_priority_than_names"],
            ),
            (
                "last-line-of-a-state-first",
                &[(
                    "return Some(TransitionId(line));",
                    "let later = &rows[(line - first) as usize + 1..];
                    let is_last = !later.iter().any(|other| {
                        matches!(other.trigger, TriggerRow::Event(span)
                            if span.of(&tables.event_pool).contains(&event))
                    });
                    if is_last {
                        return Some(TransitionId(line));
                    }",
                )],
                &[
                    "semantics::events::inner_lines_come_before_outer_ones_and_document_order_decides_in_a_state",
                ],
            ),
            (
                "any-event-last-in-the-index",
                &[("own.min(any)", "own")],
                &["semantics::events::any_event_has_no_lower_priority_than_names_among_many_lines"],
            ),
            (
                "index-forgets-any-event",
                &[("index.last().is_none_or(|row| row.event != Dispatch::ANY)", "true")],
                &["semantics::events::any_event_has_no_lower_priority_than_names_among_many_lines"],
            ),
            (
                "guessed-among-lines-of-one-event",
                &[("place == 0 || index[place - 1].event != event", "true")],
                &["semantics::ahead::many_lines_with_an_event_left_out_are_tried_in_order"],
            ),
            (
                "guessed-before-lines-for-any-event",
                &[("last.event != Dispatch::ANY", "true")],
                &["semantics::events::any_event_has_no_lower_priority_than_names_among_many_lines"],
            ),
            (
                "any-event-is-any-occurrence",
                &[("matches!(occurrence, Occurrence::Event(_))", "is_visible(occurrence)")],
                &["semantics::events::an_error_is_no_event_of_the_host"],
            ),
            (
                "every-event-is-every-occurrence",
                &[("is_visible(occurrence)", "matches!(occurrence, Occurrence::Event(_))")],
                &[
                    "semantics::sending::everything_that_a_line_can_be_on_is_seen_by_on_every_occurrence",
                ],
            ),
        ],
    );
    let names = of(
        "src/compiler/lower/declare.rs",
        &[
            (
                "event-names-by-letters",
                &[("format!(\"{name}.\")", "name.clone()")],
                &["semantics::events::a_name_matches_whole_tokens_of_dotted_events"],
            ),
            (
                "event-names-exactly",
                &[("exact.into_iter().chain(below).collect()", "exact.into_iter().collect()")],
                &["semantics::events::a_name_matches_whole_tokens_of_dotted_events"],
            ),
        ],
    );
    select.into_iter().chain(candidates).chain(names).collect()
}
