//! The contents of a document: states, transitions and executable content, with all expressions parsed.

use super::script::{Expr, Statement};
use crate::syntax::source::{Ident, Span, Spanned};

/// An SCXML document. Element 0 of `states` is the document itself; a parent precedes its children.
#[derive(Debug)]
pub(super) struct Document {
    /// The value of `_name`.
    pub(super) name: String,
    pub(super) name_span: Span,
    /// The name of its chart, which is unique in the file.
    pub(super) chart: String,
    pub(super) span: Span,
    pub(super) states: Vec<ScxmlState>,
    pub(super) data: Vec<Data>,
    /// The `<invoke>` elements of all states, in the order of the states.
    pub(super) invokes: Vec<Invoke>,
    /// Comments before and after the document.
    pub(super) before: Vec<Spanned<String>>,
    pub(super) after: Vec<Spanned<String>>,
}

/// The kind of a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScxmlStateKind {
    Root,
    State,
    Parallel,
    Final,
    History { deep: bool },
}

/// A state.
#[derive(Debug)]
pub(super) struct ScxmlState {
    pub(super) kind: ScxmlStateKind,
    /// The written id, or a generated one.
    pub(super) id: Ident,
    pub(super) parent: Option<usize>,
    /// The indices of the states, parallels, finals and histories in it, in document order.
    pub(super) children: Vec<usize>,
    pub(super) initial: Option<Initial>,
    pub(super) enter: Vec<Block>,
    pub(super) exit: Vec<Block>,
    pub(super) lines: Vec<Transition>,
    pub(super) done: Option<Payload>,
    pub(super) span: Span,
    /// Comments before it; below, comments at its end.
    pub(super) before: Vec<Spanned<String>>,
    pub(super) end: Vec<Spanned<String>>,
}

/// The default entry of a state, or of a history that has recorded nothing.
#[derive(Debug)]
pub(super) struct Initial {
    pub(super) targets: Vec<Ident>,
    pub(super) body: Vec<Executable>,
    pub(super) span: Span,
    pub(super) before: Vec<Spanned<String>>,
}

/// An `<onentry>` or `<onexit>`.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) body: Vec<Executable>,
    pub(super) span: Span,
    pub(super) before: Vec<Spanned<String>>,
}

/// A `<transition>`.
#[derive(Debug)]
pub(super) struct Transition {
    /// The words of `event`; `None` without the attribute.
    pub(super) events: Option<Vec<Descriptor>>,
    pub(super) cond: Option<Expr>,
    pub(super) targets: Vec<Ident>,
    pub(super) internal: bool,
    pub(super) body: Vec<Executable>,
    pub(super) span: Span,
    pub(super) before: Vec<Spanned<String>>,
}

/// A descriptor: one word of `event`.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Descriptor {
    /// `*`.
    All(Span),
    /// `a.b`, or `a.b.*`, which means the same.
    Event(Vec<Ident>, Span),
    /// `error`, `error.execution`: the dotted text.
    Error(Spanned<String>),
    /// `error.communication`: the failure of an invoked document.
    Communication(Span),
    /// `done`: the end of any state or invoked document.
    Done(Span),
    /// `done.state.s`: the end of a state; without an id, of any one.
    DoneState(Option<Ident>, Span),
    /// `done.invoke.c`: the end of an invoked document; without an id, of any one.
    DoneInvoke(Option<Ident>, Span),
}

/// A `<data>`: a variable.
#[derive(Debug)]
pub(super) struct Data {
    pub(super) id: Ident,
    pub(super) value: Option<Expr>,
    pub(super) span: Span,
    pub(super) before: Vec<Spanned<String>>,
}

/// An `<invoke>` of an inline document.
#[derive(Debug)]
pub(super) struct Invoke {
    /// The index of the state that contains it.
    pub(super) state: usize,
    /// The written id, or a generated one.
    pub(super) id: Ident,
    pub(super) child: Document,
    /// The values that the document receives, from `<param>` and `namelist`.
    pub(super) given: Vec<(Ident, Expr)>,
    /// The place of `autoforward`, if it is on.
    pub(super) forward: Option<Span>,
    /// The location at which the id is stored, from `idlocation`.
    pub(super) place: Option<Expr>,
    /// The reason why the id cannot be stored there, so that nothing is ever invoked.
    pub(super) fault: Option<Spanned<String>>,
    pub(super) span: Span,
    pub(super) before: Vec<Spanned<String>>,
}

/// An element of executable content.
#[derive(Debug)]
pub(super) struct Executable {
    pub(super) kind: ActKind,
    pub(super) span: Span,
    pub(super) before: Vec<Spanned<String>>,
}

/// The kinds of executable content.
#[derive(Debug)]
pub(super) enum ActKind {
    /// An assignment: its location and its value.
    Assign(Expr, Expr),
    Raise(Event, Option<Payload>),
    Send(Box<Send>),
    Cancel(Ident),
    /// The branches, each with its condition; the last one may have none.
    If(Vec<(Option<Expr>, Vec<Executable>)>),
    ForEach(Box<ForEach>),
    Log(Option<String>, Option<Expr>),
    Script(Vec<Statement>),
    /// An element that fails when it runs, with the reason.
    Faulty(String),
}

/// A `<foreach>`.
#[derive(Debug)]
pub(super) struct ForEach {
    pub(super) array: Expr,
    pub(super) item: Ident,
    pub(super) index: Option<Ident>,
    pub(super) body: Vec<Executable>,
}

/// The name of an event that is raised or sent.
#[derive(Debug, Clone)]
pub(super) struct Event {
    pub(super) names: Vec<Ident>,
    pub(super) span: Span,
}

impl Event {
    pub(super) fn text(&self) -> String {
        dotted(&self.names)
    }
}

/// Names joined with dots.
pub(super) fn dotted(names: &[Ident]) -> String {
    names.iter().map(|n| n.node.as_str()).collect::<Vec<_>>().join(".")
}

/// A `<send>`.
#[derive(Debug)]
pub(super) struct Send {
    pub(super) event: Event,
    pub(super) data: Option<Payload>,
    pub(super) delay: Option<Delay>,
    pub(super) id: Option<Ident>,
    /// The location at which the id is stored, from `idlocation`.
    pub(super) put: Option<Expr>,
    pub(super) to: To,
}

/// The receiver of a sent event.
#[derive(Debug)]
pub(super) enum To {
    /// The session itself.
    Own,
    /// `#_parent`.
    Parent(Span),
    /// `#_c`: the document invoked with this id.
    Invoked(Ident),
}

/// The delay of a `<send>`.
#[derive(Debug)]
pub(super) enum Delay {
    /// A delay in milliseconds.
    Fixed(u64, Span),
    Computed(Expr),
}

/// The data of an event.
#[derive(Debug)]
pub(super) enum Payload {
    /// The fields from `<param>` and `namelist`.
    Fields(Vec<(Ident, Expr)>, Span),
    /// The value from `<content>`.
    Value(Expr),
}

impl Document {
    /// All blocks of executable content in the document.
    pub(super) fn blocks(&self) -> impl Iterator<Item = &[Executable]> {
        self.states.iter().flat_map(|state| {
            let blocks = state.enter.iter().chain(&state.exit).map(|b| &b.body[..]);
            let initial = state.initial.iter().map(|i| &i.body[..]);
            initial.chain(blocks).chain(state.lines.iter().map(|l| &l.body[..]))
        })
    }

    /// Whether a state can be done: it has a final child, or, for a parallel, regions.
    pub(super) fn is_ever_done(&self, nth: usize) -> bool {
        let state = &self.states[nth];
        let has = |is_it: fn(ScxmlStateKind) -> bool| {
            state.children.iter().any(|child| is_it(self.states[*child].kind))
        };
        match state.kind {
            ScxmlStateKind::State => has(|kind| kind == ScxmlStateKind::Final),
            ScxmlStateKind::Parallel => has(|kind| !matches!(kind, ScxmlStateKind::History { .. })),
            ScxmlStateKind::Root | ScxmlStateKind::Final | ScxmlStateKind::History { .. } => false,
        }
    }

    /// Whether `inner` is a descendant of `outer`.
    pub(super) fn is_below(&self, inner: usize, outer: usize) -> bool {
        let mut at = self.states[inner].parent;
        while let Some(state) = at {
            if state == outer {
                return true;
            }
            at = self.states[state].parent;
        }
        false
    }
}

/// Visits every element of a block, including nested ones.
pub(super) fn walk<'a>(block: &'a [Executable], visit: &mut dyn FnMut(&'a Executable)) {
    for act in block {
        visit(act);
        match &act.kind {
            ActKind::If(branches) => branches.iter().for_each(|(_, body)| walk(body, visit)),
            ActKind::ForEach(each) => walk(&each.body, visit),
            _ => {}
        }
    }
}
