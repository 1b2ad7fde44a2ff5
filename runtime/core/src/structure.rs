//! The tree of states, and the exit and entry sets of a transition in it. One algorithm serves the model, tables under construction, and
//! machines, which know what their histories have recorded.
//!
//! Source: SCXML 1.0, appendix D (`getTransitionDomain`, `addDescendantStatesToEnter`, `addAncestorStatesToEnter`).

use crate::arena::StateId;

/// The structure of a state, with the states that it enters by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape<'t> {
    /// Atomic or final, without children.
    Basic,
    /// A state with exactly one active child. Entering it by default enters these states.
    Compound(&'t [StateId]),
    /// A state whose regions are all active.
    Parallel,
    /// A history. As a target, it stands for the states that it has recorded, or for these if it has recorded none.
    History(&'t [StateId]),
}

/// A tree of states in document order. A subtree is a range of ids, from its top to [`Tree::end`].
pub trait Tree {
    /// The structure of a state.
    fn shape(&self, state: StateId) -> Shape<'_>;

    /// The parent; `None` for the root.
    fn parent(&self, state: StateId) -> Option<StateId>;

    /// The first state behind the subtree of this state.
    fn end(&self, state: StateId) -> StateId;
}

/// The set of states that a transition or microstep enters, while it is computed.
pub trait EntrySet {
    /// Adds a state. Returns false if the set cannot hold it, which stops the computation.
    fn add(&mut self, state: StateId) -> bool;

    /// The first state of the set in `from..end`.
    fn next(&self, from: StateId, end: StateId) -> Option<StateId>;

    /// Whether a state is already active and not exited, so that it is not entered again.
    fn is_active(&self, _state: StateId) -> bool {
        false
    }

    /// Whether any state in `from..end` is active.
    fn has_active(&self, _from: StateId, _end: StateId) -> bool {
        false
    }

    /// The first state at or after `from` that a history has recorded.
    fn recorded(&self, _history: StateId, _from: StateId) -> Option<StateId> {
        None
    }

    /// Notes that a compound enters its initial states, or a history its default. Returns false if that is not known yet at compile time,
    /// which stops the computation.
    fn enter_default(&mut self, state: StateId) -> bool;
}

/// The state itself, its parent, and so on up to the root.
pub fn ancestors<T: Tree + ?Sized>(
    tree: &T,
    state: StateId,
) -> impl Iterator<Item = StateId> + use<'_, T> {
    core::iter::successors(Some(state), |at| tree.parent(*at))
}

/// The children of a state in document order, histories included.
pub fn children<T: Tree + ?Sized>(
    tree: &T,
    state: StateId,
) -> impl Iterator<Item = StateId> + use<'_, T> {
    let end = tree.end(state);
    // Document order: the first child directly follows its parent, and the next child follows the subtree of the one before.
    let first = Some(StateId(state.0 + 1)).filter(|child| *child < end);
    core::iter::successors(first, move |child| Some(tree.end(*child)).filter(|next| *next < end))
}

/// The children of a state in document order, without histories. Those of a parallel are its regions.
pub fn regions<T: Tree + ?Sized>(
    tree: &T,
    state: StateId,
) -> impl Iterator<Item = StateId> + use<'_, T> {
    children(tree, state).filter(|child| !matches!(tree.shape(*child), Shape::History(_)))
}

/// Whether `inner` is `outer` or its descendant.
#[inline]
pub fn contains<T: Tree + ?Sized>(tree: &T, outer: StateId, inner: StateId) -> bool {
    outer <= inner && inner < tree.end(outer)
}

/// The transition domain: the state whose active descendants are exited by a transition with targets. It is the source of an internal
/// transition, or else the innermost compound ancestor of the source that contains every target. It is never a parallel, whose regions
/// would become inactive. `holds` tells whether a state contains all states that the targets stand for.
pub fn domain<T: Tree + ?Sized>(
    tree: &T,
    source: StateId,
    is_internal: bool,
    holds: impl Fn(StateId) -> bool,
) -> StateId {
    let fits = |state| matches!(tree.shape(state), Shape::Compound(_)) && holds(state);
    if is_internal && fits(source) {
        return source;
    }
    let mut domain = source;
    for outer in ancestors(tree, source).skip(1) {
        domain = outer;
        if fits(domain) {
            break;
        }
    }
    domain
}

/// The state after `before` among those that a target stands for. A history stands for the states that it has recorded, or else for its
/// default; any other target for itself. A default contains no history: lowering rejects that.
fn next_effective<T: Tree + ?Sized, E: EntrySet>(
    tree: &T,
    set: &E,
    target: StateId,
    before: Option<StateId>,
) -> Option<StateId> {
    let Shape::History(default) = tree.shape(target) else {
        return before.is_none().then_some(target);
    };
    if set.recorded(target, StateId(0)).is_some() {
        return set.recorded(target, before.map_or(StateId(0), |state| StateId(state.0 + 1)));
    }
    match before {
        None => default.first().copied(),
        Some(before) => default.iter().copied().skip_while(|state| *state != before).nth(1),
    }
}

/// Whether all states that a target stands for are descendants of `state`.
pub fn lies_below<T: Tree + ?Sized, E: EntrySet>(
    tree: &T,
    set: &E,
    target: StateId,
    state: StateId,
) -> bool {
    let next = |before| next_effective(tree, set, target, before);
    core::iter::successors(next(None), |before| next(Some(*before)))
        .all(|one| one != state && contains(tree, state, one))
}

/// Adds the states that a target stands for, and their ancestors below `top`. Returns false if the set cannot hold them.
pub fn add_target<T: Tree + ?Sized, E: EntrySet>(
    tree: &T,
    set: &mut E,
    target: StateId,
    top: StateId,
) -> bool {
    let is_default = matches!(tree.shape(target), Shape::History(_))
        && set.recorded(target, StateId(0)).is_none();
    if is_default && !set.enter_default(target) {
        return false;
    }
    let mut next = next_effective(tree, set, target, None);
    while let Some(state) = next {
        let mut path = ancestors(tree, state).take_while(|outer| *outer != top);
        // An active ancestor is not entered again. Appendix D would do so when the history is inside it.
        if !path.all(|outer| set.is_active(outer) || set.add(outer)) {
            return false;
        }
        next = next_effective(tree, set, target, Some(state));
    }
    true
}

/// Completes an entry set with the initial states of compounds and the regions of parallels. Returns false if the set cannot hold them. Ids
/// follow document order, so one ascending pass visits every state that it adds.
pub fn complete<T: Tree + ?Sized, E: EntrySet>(tree: &T, set: &mut E) -> bool {
    let everything = tree.end(StateId(0));
    let mut next = set.next(StateId(0), everything);
    while let Some(state) = next {
        let (inside, end) = (StateId(state.0 + 1), tree.end(state));
        let done = match tree.shape(state) {
            Shape::Compound(initial) => {
                // A compound with a descendant in the set, or with an active one, already has its child.
                set.next(inside, end).is_some()
                    || set.has_active(inside, end)
                    || set.enter_default(state)
                        && initial.iter().all(|target| add_target(tree, set, *target, state))
            }
            Shape::Parallel => {
                regions(tree, state).all(|region| set.is_active(region) || set.add(region))
            }
            Shape::Basic | Shape::History(_) => true,
        };
        if !done {
            return false;
        }
        next = set.next(inside, everything);
    }
    true
}
