//! Typed indices. Ids count from 0 in document order, so comparing two ids of one kind compares their positions in the source.

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        pub struct $name(pub u32);

        impl $name {
            /// The index of the row.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// The id of the `index`th row.
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
    /// A `param`, `input` or `var`.
    VarId
    /// A host function: `fn` or `do`.
    FunctionId
    /// A `tool` signature.
    ToolId
    /// A named `tools` set.
    ToolSetId
    /// A named condition.
    PredicateId
    /// A model `client`.
    ClientId
    /// A prompt `component`.
    ComponentId
    /// A record or an enum.
    TypeId
    /// The option or tool set of a `may` transition.
    ChoiceId
    /// The id in `send … as id`.
    SendId
    /// A variable bound inside an expression or a `for`, numbered by nesting depth.
    LocalId
}

/// An element of the list of a step with an `each`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Element(core::num::NonZeroU32);

impl Element {
    /// The element with this index, from 0.
    pub const fn at(index: u32) -> Self {
        Self(core::num::NonZeroU32::MIN.saturating_add(index))
    }

    /// Its index, from 0.
    pub const fn index(self) -> u32 {
        self.0.get() - 1
    }
}
