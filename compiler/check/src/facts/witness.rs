//! The shortest run that reaches a state, in the over-approximation of [`Reach`].

use crate::facts::reach::{Cause, Reach};
use chartc_core::arena::{StateId, TransitionId};

/// A run over the fewest transitions. It is not decided whether all guards on it can hold together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Witness {
    /// The transitions in the order taken, each with the state in which it is taken and a state that it enters.
    pub hops: Vec<(StateId, TransitionId, StateId)>,
}

/// The shortest run that enters the state; `None` if no run does.
pub fn witness(reach: &Reach, state: StateId) -> Option<Witness> {
    let mut hops = Vec::new();
    let mut at = state;
    loop {
        match reach.causes[at.index()]? {
            Cause::Start => break,
            Cause::With(other) => at = other,
            Cause::Transition(transition) => {
                let actor = reach.actors[transition.index()]?;
                hops.push((actor, transition, at));
                at = actor;
            }
        }
    }
    hops.reverse();
    Some(Witness { hops })
}
