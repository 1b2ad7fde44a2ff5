//! The tree of states, and what a transition leaves and enters in it: one algorithm for the model, for tables that are being made and
//! for a machine that knows what its histories have recorded.
//!
//! Source: SCXML 1.0, appendix D (`getTransitionDomain`, `addDescendantStatesToEnter`, `addAncestorStatesToEnter`).

use crate::arena::StateId;

/// What a state is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape<'t> {
    /// Atomic or final: nothing.
    Basic,
    /// Children of which one is active; these states are entered by default.
    Compound(&'t [StateId]),
    /// Regions that are all active.
    Parallel,
    /// A history: it stands for what it has recorded, else for these states.
    History(&'t [StateId]),
}

/// A tree of states in document order: a subtree is the range of ids from its top to `end`.
pub trait Tree {
    /// What a state is made of.
    fn shape(&self, state: StateId) -> Shape<'_>;

    /// The state around it; `None` for the root.
    fn parent(&self, state: StateId) -> Option<StateId>;

    /// The first state after its subtree.
    fn end(&self, state: StateId) -> StateId;
}

/// The set of states that a microstep enters, while it is computed.
pub trait EntrySet {
    /// Adds a state. False if that cannot be done: the computation stops.
    fn add(&mut self, state: StateId) -> bool;

    /// The first state of the set from `from` on and before `end`.
    fn next(&self, from: StateId, end: StateId) -> Option<StateId>;

    /// Whether a state is active already: then it is not entered again.
    fn is_active(&self, _state: StateId) -> bool {
        false
    }

    /// Whether a state from `from` on and before `end` is.
    fn has_active(&self, _from: StateId, _end: StateId) -> bool {
        false
    }

    /// The first state that a history has recorded, from `from` on.
    fn recorded(&self, _history: StateId, _from: StateId) -> Option<StateId> {
        None
    }

    /// A compound enters its initial states, or a history its default. False if that cannot be told beforehand: the computation stops.
    fn enter_default(&mut self, state: StateId) -> bool;
}

/// A state, its parent, and so on up to the root.
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
    let first = Some(StateId(state.0 + 1)).filter(|child| *child < end);
    core::iter::successors(first, move |child| Some(tree.end(*child)).filter(|next| *next < end))
}

/// The children of a state in document order, without histories: of a parallel its regions.
pub fn regions<T: Tree + ?Sized>(
    tree: &T,
    state: StateId,
) -> impl Iterator<Item = StateId> + use<'_, T> {
    children(tree, state).filter(|child| !matches!(tree.shape(*child), Shape::History(_)))
}

/// Whether `inner` is `outer` or lies below it.
#[inline]
pub fn contains<T: Tree + ?Sized>(tree: &T, outer: StateId, inner: StateId) -> bool {
    outer <= inner && inner < tree.end(outer)
}

/// The state whose active descendants a transition with targets exits: the source of an internal one, else the innermost compound
/// around the source, in which every target lies. Never a parallel, whose regions would be left empty. `holds` says whether all that
/// the targets stand for lies below a state.
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

/// The states that a target stands for, one after the other: what a history has recorded, else its default; else the target itself. A
/// history's default is never a history itself: lowering refuses it.
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

/// Whether all that a target stands for lies below a state.
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

/// Adds what a target stands for, and its ancestors below `top`.
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
        // What is active already is not entered again (appendix D does, from a history inside).
        if !path.all(|outer| set.is_active(outer) || set.add(outer)) {
            return false;
        }
        next = next_effective(tree, set, target, Some(state));
    }
    true
}

/// Completes an entry set: initial states of compounds, regions of parallels. Ids are in document order, so one ascending sweep sees
/// every state that it adds.
pub fn complete<T: Tree + ?Sized, E: EntrySet>(tree: &T, set: &mut E) -> bool {
    let everything = tree.end(StateId(0));
    let mut next = set.next(StateId(0), everything);
    while let Some(state) = next {
        let (inside, end) = (StateId(state.0 + 1), tree.end(state));
        let done = match tree.shape(state) {
            Shape::Compound(initial) => {
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
