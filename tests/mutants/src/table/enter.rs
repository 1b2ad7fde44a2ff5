//! What is left and what is entered: domains, entry sets, history, completion.

use super::{Mutant, of};

const DEFAULT_OF_HISTORY: &str = "if next.is_none() {
                    for state in default.of(self.tables.state_pool) {
                        self.add_with_ancestors(*state, top);
                    }
                    self.note_default(target);
                }";

const DEFAULT: &str = "for target in initial.of(self.tables.state_pool) {
                            self.add_target(*target, state);
                        }";

const REGIONS: &str = "children(&self.tables, state)
                .filter(|c| is_real(&self.tables, *c))
                .all(|c| self.is_in_final(c))";

pub(super) fn all() -> Vec<Mutant> {
    [ahead(), sets(), done()].into_iter().flatten().collect()
}

/// What is worked out ahead, for lines to states that are no histories.
fn ahead() -> Vec<Mutant> {
    of(
        "runtime/core/src/plan/ahead.rs",
        &[
            (
                "domain-in-a-parallel",
                &[("matches!(states[outer.index()].kind, StateRowKind::Compound(_))", "true")],
                &["semantics::sets::arrow_across_regions_refills_every_region"],
            ),
            (
                "internal-in-a-parallel",
                &[(
                    "line.internal && holds(line.source)",
                    "line.internal && holds(line.source)
                        || matches!(states[line.source.index()].kind, StateRowKind::Parallel)
                            && targets.iter().all(|t| line.source < *t && *t < states[line.source.index()].end)",
                )],
                &["semantics::sets::arrow_into_a_parallels_own_descendant_is_external"],
            ),
            (
                "external-as-internal",
                &[("line.internal && holds(line.source)", "holds(line.source)")],
                &["semantics::sets::arrow_to_an_own_descendant_of_a_compound_is_internal_unless_reenter"],
            ),
            (
                "internal-as-external",
                &[(
                    "line.internal && holds(line.source)",
                    "line.internal && line.source.0 == 0 && holds(line.source)",
                )],
                &["semantics::sets::arrow_to_an_own_descendant_of_a_compound_is_internal_unless_reenter"],
            ),
            (
                "default-entry-missing",
                &[("enter(*id, state, states, entry)", "true")],
                &["semantics::sets::regions_without_a_target_are_entered_by_default"],
            ),
            (
                "default-entry-beside-a-target",
                &[("entry.get(at).is_some_and(|next| *next < row.end)", "false")],
                &["semantics::sets::two_targets_fill_two_regions"],
            ),
            (
                "regions-not-filled",
                &[("!is_history && !enter(region, state, states, entry)", "false")],
                &["semantics::sets::regions_without_a_target_are_entered_by_default"],
            ),
            (
                "actions-of-initial-forgotten",
                &[("row.default_actions || initial.iter().any(is_history)", "initial.iter().any(is_history)")],
                &["semantics::content::actions_of_initial_run_between_the_parents_enter_and_the_childs"],
            ),
            (
                "lines-above-not-looked-at",
                &[("own.with(above)", "own")],
                &["semantics::bounds::a_deadline_counts_from_the_entry_of_the_state_that_holds_the_line"],
            ),
        ],
    )
}

/// What is computed when a line is taken.
fn sets() -> Vec<Mutant> {
    let sets = of(
        "runtime/core/src/semantics/sets.rs",
        &[
            (
                "domain-of-the-default",
                &[(
                    "while let Some(state) = next {
                    each(state);
                    next = self.next_recorded(target, slot, state.index() + 1);
                }",
                    "if next.is_some() {
                        next = None;
                        default.of(self.tables.state_pool).iter().for_each(|state| each(*state));
                    }
                    let _ = next;",
                )],
                &[
                    "semantics::sets::a_history_that_has_recorded_a_sibling_leaves_their_parent_active",
                ],
            ),
            (
                "computed-domain-in-a-parallel",
                &[(
                    "is_compound && self.targets_lie_below(id, domain)",
                    "self.targets_lie_below(id, domain)",
                )],
                &["semantics::sets::a_history_in_another_region_resets_all_regions"],
            ),
            (
                "history-shallow-as-deep",
                &[("!deep && self.tables.states[kept.index()].parent > state", "false")],
                &["semantics::sets::shallow_history_restores_the_child_and_its_default_below"],
            ),
            (
                "history-deep-as-shallow",
                &[(
                    "!deep && self.tables.states[kept.index()].parent > state",
                    "self.tables.states[kept.index()].parent > state",
                )],
                &["semantics::sets::deep_history_restores_every_region"],
            ),
            (
                "history-not-forgotten",
                &[("bits::clear(&mut record[state.index() / 64..end.index().div_ceil(64)]);", "")],
                &["semantics::sets::a_history_forgets_what_it_recorded_before"],
            ),
            (
                "history-default-always",
                &[(
                    DEFAULT_OF_HISTORY,
                    "next = None;
                    for state in default.of(self.tables.state_pool) {
                        self.add_with_ancestors(*state, top);
                    }",
                )],
                &["semantics::sets::history_default_is_used_only_while_nothing_is_recorded"],
            ),
            (
                "history-actions-always",
                &[(
                    DEFAULT_OF_HISTORY,
                    "if next.is_none() {
                        for state in default.of(self.tables.state_pool) {
                            self.add_with_ancestors(*state, top);
                        }
                    }
                    self.note_default(target);",
                )],
                &["semantics::content::actions_of_a_default_of_a_history_run_only_if_it_is_used"],
            ),
            (
                "default-entry-at-the-start-missing",
                &[(DEFAULT, "")],
                &["semantics::content::initial_names_states_of_several_regions"],
            ),
            (
                "default-entry-of-the-first-region",
                &[(
                    DEFAULT,
                    "for target in initial.of(self.tables.state_pool).iter().take(1) {
                        self.add_target(*target, state);
                    }",
                )],
                &["semantics::content::initial_names_states_of_several_regions"],
            ),
        ],
    );
    let default = of(
        "runtime/core/src/semantics/default.rs",
        &[(
            "history-actions-lost-inside",
            &[("self.run_default(StateId::at(index), parent, sink);", "")],
            &[
                "semantics::content::a_history_used_from_inside_runs_its_actions_before_anything_is_entered",
            ],
        )],
    );
    let plan = of(
        "runtime/core/src/plan/mod.rs",
        &[(
            "histories-in-one-place",
            &[("pools.histories - 1", "0")],
            &["semantics::sets::two_histories_remember_each_their_own"],
        )],
    );
    sets.into_iter().chain(default).chain(plan).collect()
}

fn done() -> Vec<Mutant> {
    of(
        "runtime/core/src/semantics/configuration.rs",
        &[
            (
                "asked-of-a-leaf-entered-again",
                &[("bits::remove(cells.found, state.index());", "")],
                &["semantics::questions::an_event_is_not_for_a_leaf_that_was_entered_again"],
            ),
            (
                "done-of-any-region",
                &[(
                    REGIONS,
                    "children(&self.tables, state)
                        .filter(|c| is_real(&self.tables, *c))
                        .any(|c| self.is_in_final(c))",
                )],
                &["semantics::events::a_parallel_is_done_only_when_all_its_regions_are"],
            ),
            (
                "history-as-a-region",
                &[(REGIONS, "children(&self.tables, state).all(|c| self.is_in_final(c))")],
                &["semantics::events::a_history_is_no_region_that_has_to_be_done"],
            ),
            (
                "done-with-what-is-below",
                &[("self.parent(leaf) == Some(state)", "true")],
                &["semantics::events::a_final_deep_inside_does_not_end_the_region"],
            ),
        ],
    )
}
