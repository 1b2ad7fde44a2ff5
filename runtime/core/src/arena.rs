//! Typed ids of a chart's parts. An id is an index, counted from 0 in document order, so comparing two ids of one kind compares their
//! positions in the source.

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        pub struct $name(pub u32);

        impl $name {
            /// The index of the row with this id, from 0.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// The id of the row at `index`.
            #[inline]
            pub const fn at(index: usize) -> Self {
                Self(index as u32)
            }
        }
    )*};
}

ids! {
    /// A state; 0 is the root, which is the chart itself.
    StateId
    /// A transition, including `may` transitions and outcomes of steps.
    TransitionId
    /// An event that the host may send.
    EventId
    /// A step: `llm`, `code`, `ask`, `call`, `human` or `run`.
    StepId
    /// A variable of the chart: a `param`, `input` or `var`.
    VarId
    /// A host function: `fn` or `do`.
    FunctionId
    /// A `tool` signature.
    ToolId
    /// A `tools` set that has a name.
    ToolSetId
    /// A condition that has a name.
    PredicateId
    /// A model `client`.
    ClientId
    /// A prompt `component`.
    ComponentId
    /// A record or an enum.
    TypeId
    /// The option that a `may` transition offers, or the tool set of a `may call` transition.
    ChoiceId
    /// The id of a sent event, written `send … as id`, by which `cancel` finds it.
    SendId
    /// A variable that is bound inside an expression or by a `for`, numbered by nesting depth.
    LocalId
}

/// An element of the list of a step with an `each`, by its index. Stored as index + 1, so that an `Option<Element>` takes no more room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Element(core::num::NonZeroU32);

impl Element {
    /// The element at `index`, counted from 0.
    pub const fn at(index: u32) -> Self {
        Self(core::num::NonZeroU32::MIN.saturating_add(index))
    }

    /// The index of the element, from 0.
    pub const fn index(self) -> u32 {
        self.0.get() - 1
    }
}
