//! What is left and what is entered: domains, entry sets, history, completion.

use super::{Mutant, of};

const DEFAULT: &str = "initial.iter().all(|target| add_target(tree, set, *target, state))";

const REGIONS: &str = "structure::regions(&self.tables.tree(), state).all(|c| self.is_in_final(c))";

pub(super) fn all() -> Vec<Mutant> {
    [tree(), ahead(), sets(), done()].into_iter().flatten().collect()
}

/// What a line leaves and enters, ahead and when it is taken.
fn tree() -> Vec<Mutant> {
    of(
        "runtime/core/src/structure.rs",
        &[
            (
                "domain-in-a-parallel",
                &[(
                    "matches!(tree.shape(state), Shape::Compound(_)) && holds(state)",
                    "holds(state)",
                )],
                &[
                    "semantics::sets::arrow_across_regions_refills_every_region",
                    "semantics::sets::a_history_in_another_region_resets_all_regions",
                ],
            ),
            (
                "internal-in-a-parallel",
                &[(
                    "is_internal && fits(source)",
                    "is_internal && fits(source)
                        || matches!(tree.shape(source), Shape::Parallel) && holds(source)",
                )],
                &["semantics::sets::arrow_into_a_parallels_own_descendant_is_external"],
            ),
            (
                "external-as-internal",
                &[("is_internal && fits(source)", "fits(source)")],
                &[
                    "semantics::sets::arrow_to_an_own_descendant_of_a_compound_is_internal_unless_reenter",
                ],
            ),
            (
                "internal-as-external",
                &[("is_internal && fits(source)", "is_internal && source.0 == 0 && fits(source)")],
                &[
                    "semantics::sets::arrow_to_an_own_descendant_of_a_compound_is_internal_unless_reenter",
                ],
            ),
            (
                "default-entry-missing",
                &[(DEFAULT, "true")],
                &[
                    "semantics::sets::regions_without_a_target_are_entered_by_default",
                    "semantics::content::initial_names_states_of_several_regions",
                ],
            ),
            (
                "default-entry-of-the-first-region",
                &[(
                    DEFAULT,
                    "initial.iter().take(1).all(|target| add_target(tree, set, *target, state))",
                )],
                &["semantics::content::initial_names_states_of_several_regions"],
            ),
            (
                "default-entry-beside-a-target",
                &[("set.next(inside, end).is_some()", "false")],
                &[
                    "semantics::sets::arrow_to_an_own_descendant_of_a_compound_is_internal_unless_reenter",
                    "semantics::sets::shallow_history_restores_the_child_and_its_default_below",
                ],
            ),
            (
                "regions-not-filled",
                &[("set.is_active(region) || set.add(region)", "true")],
                &["semantics::sets::regions_without_a_target_are_entered_by_default"],
            ),
            (
                "domain-of-the-default",
                &[(
                    "next_effective(tree, set, target, before)",
                    "match (tree.shape(target), before) {
                        (Shape::History(default), None) => default.first().copied(),
                        (Shape::History(_), Some(_)) => None,
                        _ => next_effective(tree, set, target, before),
                    }",
                )],
                &[
                    "semantics::sets::a_history_that_has_recorded_a_sibling_leaves_their_parent_active",
                ],
            ),
            (
                "history-default-always",
                &[(
                    "set.recorded(target, StateId(0)).is_some()",
                    "before.is_some() && set.recorded(target, StateId(0)).is_some()",
                )],
                &["semantics::sets::history_default_is_used_only_while_nothing_is_recorded"],
            ),
            (
                "history-actions-always",
                &[("set.recorded(target, StateId(0)).is_none()", "true")],
                &["semantics::content::actions_of_a_default_of_a_history_run_only_if_it_is_used"],
            ),
        ],
    )
}

/// What is worked out ahead, for lines to states that are no histories.
fn ahead() -> Vec<Mutant> {
    of(
        "runtime/core/src/plan.rs",
        &[
            (
                "actions-of-initial-forgotten",
                &[("!row.default_actions", "true")],
                &[
                    "semantics::content::actions_of_initial_run_between_the_parents_enter_and_the_childs",
                ],
            ),
            (
                "lines-above-not-looked-at",
                &[("own.with(above)", "own")],
                &[
                    "semantics::bounds::a_deadline_counts_from_the_entry_of_the_state_that_holds_the_line",
                ],
            ),
        ],
    )
}

/// What is computed when a line is taken.
fn sets() -> Vec<Mutant> {
    let sets = of(
        "runtime/core/src/semantics/configuration.rs",
        &[
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
        ],
    );
    let default = of(
        "runtime/core/src/semantics/configuration.rs",
        &[(
            "history-actions-lost-inside",
            &[("self.run_default(StateId::at(index), parent, sink);", "")],
            &[
                "semantics::content::a_history_used_from_inside_runs_its_actions_before_anything_is_entered",
            ],
        )],
    );
    let plan = of(
        "runtime/core/src/plan.rs",
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
                &[("bits::drop(cells.found, state.index());", "")],
                &["semantics::questions::an_event_is_not_for_a_leaf_that_was_entered_again"],
            ),
            (
                "done-of-any-region",
                &[(
                    REGIONS,
                    "structure::regions(&self.tables.tree(), state).any(|c| self.is_in_final(c))",
                )],
                &["semantics::events::a_parallel_is_done_only_when_all_its_regions_are"],
            ),
            (
                "history-as-a-region",
                &[(
                    REGIONS,
                    "structure::children(&self.tables.tree(), state).all(|c| self.is_in_final(c))",
                )],
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
