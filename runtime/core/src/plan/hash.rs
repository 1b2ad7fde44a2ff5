//! The structural hash of a chart: FNV-1a, 64 bits, over a canonical form.
//!
//! The form contains every part of the chart in the order of its declaration here: integers as eight bytes little-endian, doubles by their
//! bits, texts and lists preceded by their length, a variant by its number. Documentation, `meta`, `check` lines and the length of the
//! stored history are left out: charts that differ only in these are equivalent. The form does not depend on the platform, the compiler or
//! feature flags. Saved runs contain the hash, so after a change of the form they count as runs of another version of their chart.

use crate::arena::{
    ChoiceId, ClientId, EventId, FunctionId, LocalId, PredicateId, SendId, StateId, StepId, ToolId,
    ToolSetId, TransitionId, TypeId, VarId,
};
use crate::expr::{Map, Value};
use crate::form::ActionForm;
use crate::machine::{Element, LimitKind};
use crate::model::{
    Action, AskOn, BinaryOp, Builtin, Chart, Choice, ChoiceKind, Client, CompareOp, Component,
    ComputedLimit, Each, Event, Expr, ExprKind, Failure, FailurePolicy, Field, Forward, Function,
    FunctionKind, Insert, Limits, Local, Lost, Method, Observable, Otherwise, Permission, Position,
    Predicate, Receiver, Run, Scope, Since, State, StateKind, Status, Step, StepKind, StepTools,
    StreakOf, Target, Template, TemplatePart, Tool, ToolSet, Transition, TransitionKind, Trigger,
    Type, TypeDef, TypeKind, UnaryOp, Variable, VariableKind,
};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

/// A hash that is equal for equivalent charts. See the [module](self) for the parts that count.
pub fn structural_hash(chart: &Chart) -> u64 {
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    chart.feed(&mut hash);
    hash.0
}

struct Fnv(u64);

impl Fnv {
    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    fn number(&mut self, n: u64) {
        self.bytes(&n.to_le_bytes());
    }
}

/// A part of the canonical form, which is fed into the hash.
trait Feed {
    fn feed(&self, to: &mut Fnv);
}

macro_rules! numbers {
    ($($ty:ty: $number:expr;)*) => {$(
        impl Feed for $ty {
            fn feed(&self, to: &mut Fnv) {
                let number: fn(&$ty) -> u64 = $number;
                to.number(number(self));
            }
        }
    )*};
}

numbers! {
    bool: |b| u64::from(*b);
    u32: |n| u64::from(*n);
    u64: |n| *n;
    i64: |n| *n as u64;
    f64: |x| x.to_bits();
    StateId: |id| u64::from(id.0);
    TransitionId: |id| u64::from(id.0);
    EventId: |id| u64::from(id.0);
    StepId: |id| u64::from(id.0);
    VarId: |id| u64::from(id.0);
    FunctionId: |id| u64::from(id.0);
    ToolId: |id| u64::from(id.0);
    ToolSetId: |id| u64::from(id.0);
    PredicateId: |id| u64::from(id.0);
    ClientId: |id| u64::from(id.0);
    TypeId: |id| u64::from(id.0);
    ChoiceId: |id| u64::from(id.0);
    SendId: |id| u64::from(id.0);
    Element: |element| u64::from(element.index());
    LocalId: |id| u64::from(id.0);
}

impl Feed for String {
    fn feed(&self, to: &mut Fnv) {
        to.number(self.len() as u64);
        to.bytes(self.as_bytes());
    }
}

impl<T: Feed> Feed for Vec<T> {
    fn feed(&self, to: &mut Fnv) {
        to.number(self.len() as u64);
        for item in self {
            item.feed(to);
        }
    }
}

impl<T: Feed> Feed for Option<T> {
    fn feed(&self, to: &mut Fnv) {
        to.number(u64::from(self.is_some()));
        if let Some(item) = self {
            item.feed(to);
        }
    }
}

impl<T: Feed> Feed for Box<T> {
    fn feed(&self, to: &mut Fnv) {
        self.as_ref().feed(to);
    }
}

impl<A: Feed, B: Feed> Feed for (A, B) {
    fn feed(&self, to: &mut Fnv) {
        self.0.feed(to);
        self.1.feed(to);
    }
}

impl Feed for Map {
    fn feed(&self, to: &mut Fnv) {
        to.number(self.len() as u64);
        for (key, value) in self.iter() {
            to.number(key.len() as u64);
            to.bytes(key.as_bytes());
            value.feed(to);
        }
    }
}

/// The fields that count, then those that do not. A new field does not compile until it is added to one of the two lists.
macro_rules! records {
    ($($ty:ident { $($part:ident)* } $(without $($other:ident)*)?;)*) => {$(
        impl Feed for $ty {
            fn feed(&self, to: &mut Fnv) {
                let Self { $($part,)* $($($other: _,)*)? } = self;
                $($part.feed(to);)*
            }
        }
    )*};
}

records! {
    Chart {
        name types variables events functions tools tool_sets predicates clients components states transitions choices
        steps permissions calls_per_turn defaults
    } without doc meta history_kept checks send_ids reads_amounts renames alternative_texts;
    Field { name ty };
    TypeDef { name kind } without doc;
    Variable { name kind ty default } without doc;
    Event { name fields } without doc;
    Function { name kind params } without doc;
    ToolSet { name any tools minus };
    Predicate { name expr };
    Component { name inserts text };
    Insert { step guard place };
    Permission { from to guard };
    ComputedLimit { kind is_soft value };
    State { name path kind parent end entry exit default_actions transitions steps advice limits } without doc;
    Transition { source trigger scope guard targets kind actions } without bound;
    Scope { wildcard any_of none_of };
    Target { state arguments };
    Run { chart arguments on_entry forward };
    Choice { name text transition kind };
    Each { local list returns at_a_time most enough lost };
    StepTools { set calls };
    FailurePolicy { retries then };
    Template { parts };
    Expr { kind ty };
    Local { id } without name;
}

/// A tool that is not idempotent has the form from before the field `idempotent` existed, so that old hashes stay valid.
impl Feed for Tool {
    fn feed(&self, to: &mut Fnv) {
        let Self { name, params, result, idempotent, doc: _ } = self;
        name.feed(to);
        params.feed(to);
        result.feed(to);
        if *idempotent {
            to.number(1);
        }
    }
}

/// A step without `each`, `doubt retry` and `cut ok` has the form from before these existed.
impl Feed for Step {
    fn feed(&self, to: &mut Fnv) {
        let Self { name, state, kind, guard, client, prompt, failure, .. } = self;
        let Self { returns, into, ends_turn, outcomes, tools, each, retries_doubt, .. } = self;
        let Self { accepts_cut, doc: _, .. } = self;
        name.feed(to);
        state.feed(to);
        kind.feed(to);
        guard.feed(to);
        client.feed(to);
        prompt.feed(to);
        failure.feed(to);
        returns.feed(to);
        into.feed(to);
        ends_turn.feed(to);
        outcomes.feed(to);
        tools.feed(to);
        if let Some(each) = each {
            each.feed(to);
        }
        if *retries_doubt {
            to.number(1);
        }
        if *accepts_cut {
            to.number(2);
        }
    }
}

/// A client without `options` has the form from before they existed.
impl Feed for Client {
    fn feed(&self, to: &mut Fnv) {
        let Self { name, model, temperature, max_tokens, timeout, retry, .. } = self;
        let Self { input_price, output_price, fallback, actions, options, .. } = self;
        name.feed(to);
        model.feed(to);
        temperature.feed(to);
        max_tokens.feed(to);
        timeout.feed(to);
        retry.feed(to);
        input_price.feed(to);
        output_price.feed(to);
        fallback.feed(to);
        actions.feed(to);
        if !options.is_empty() {
            options.feed(to);
        }
    }
}

/// Limits that are all constant have the form from before computed limits existed.
impl Feed for Limits {
    fn feed(&self, to: &mut Fnv) {
        let Self { calls, calls_warn, tokens, tokens_warn, cost, cost_warn, .. } = self;
        let Self { time, time_warn, turns, turns_warn, computed, .. } = self;
        for bound in [calls, calls_warn, tokens, tokens_warn] {
            bound.feed(to);
        }
        for bound in [cost, cost_warn] {
            bound.feed(to);
        }
        for bound in [time, time_warn] {
            bound.feed(to);
        }
        for bound in [turns, turns_warn] {
            bound.feed(to);
        }
        if !computed.is_empty() {
            computed.feed(to);
        }
    }
}

/// A function with a method has a number of its own, so that the form of functions without one did not change.
impl Feed for FunctionKind {
    fn feed(&self, to: &mut Fnv) {
        match self {
            Self::Pure { result, fallback, method } => {
                to.number(if method.is_some() { 2 } else { 0 });
                result.feed(to);
                fallback.feed(to);
                if let Some(Method { artifact, name }) = method {
                    artifact.feed(to);
                    name.feed(to);
                }
            }
            Self::Effect => to.number(1),
        }
    }
}

/// Variants with their numbers, which never change. A field behind `|` counts only if it is present.
macro_rules! variants {
    ($($ty:ident { $($number:literal $variant:ident $(($($a:ident)*))? $({$($b:ident)* $(| $rare:ident)?})?;)* })*) => {$(
        impl Feed for $ty {
            fn feed(&self, to: &mut Fnv) {
                match self {$(
                    Self::$variant $(($($a),*))? $({$($b,)* $($rare)?})? => {
                        to.number($number);
                        $($($a.feed(to);)*)?
                        $($($b.feed(to);)* $(if let Some(rare) = $rare { rare.feed(to); })?)?
                    }
                )*}
            }
        }
    )*};
}

variants! {
    Value { 0 None; 1 Bool(b); 2 Int(i); 3 Float(x); 4 Text(t); 5 Duration(d); 6 List(l); 7 Map(m); }
    Type { 0 Bool; 1 Int; 2 Float; 3 Text; 4 Duration; 5 Json; 6 List(t); 7 Map(t); 8 Optional(t); 9 Named(t); }
    TypeKind { 0 Record(fields); 1 Enum(names); }
    VariableKind { 0 Param{range}; 1 Input; 2 Var{per_turn}; }
    Position { 0 Start; 1 End; 2 Replace; }
    StateKind { 0 Atomic; 1 Compound{initial}; 2 Parallel; 3 Final{params status}; 4 History{deep default}; }
    Status { 0 Ok; 1 Partial; 2 Stuck; 3 Limit; 4 Canceled; 5 Error; }
    TransitionKind { 0 Targetless; 1 Internal; 2 External; }
    Trigger {
        0 Event(e); 1 AnyEvent; 2 Turn; 3 When; 4 StateDone(s); 5 After(e); 6 AfterTurns(e); 7 Choice(c); 8 StepDone(s);
        9 StepError(s); 10 StepTimeout(s e); 11 StepDoubt(s); 12 StepElse(s); 13 Error(p); 14 LimitWarn(p); 15 AnyOccurrence;
    }
    ChoiceKind { 0 Option(fields); 1 Call(set into); }
    StepKind { 0 Llm; 1 Code(s); 2 Ask{on always otherwise}; 3 Call(t a); 4 Human(t); 5 Run(r); }
    AskOn { 0 Turn; 1 Event(e); }
    Otherwise { 0 Stay; 1 Take(t); }
    Receiver { 0 Own; 1 Parent; 2 Child(s); 3 Element(s e); }
    Forward { 0 Rest; 1 All; 2 Nothing; }
    ActionForm { 0 Any; 1 Simple; 2 Ooda; }
    Failure { 0 Fail; 1 Skip; 2 Take(t); }
    Lost { 0 Fail; 1 Skip; 2 None; }
    TemplatePart { 0 Text(t); 1 Hole{expr spec}; 2 Options; 3 Bad(t); }
    ExprKind {
        0 None; 1 Bool(b); 2 Int(i); 3 Float(x); 4 Text(t); 5 Duration(d); 6 Enum(t n); 7 Variable(v); 8 Local(l); 9 Payload(n);
        10 Answer(s); 11 Predicate(p); 12 Observable(o); 13 Field(e n); 14 Index(e i); 15 Slice(e a b); 16 Unary(o e);
        17 Binary(o a b); 18 Compare(a rest); 19 If(c a b); 20 Default(a b); 21 Builtin(b a); 22 Call(f a); 23 List(l);
        24 Map(m); 25 Record(t f); 26 Comprehension{item local source filter}; 27 Unknown(n);
    }
    Observable {
        0 State; 1 Turns; 2 TurnsHere; 3 TurnsIn(s); 4 FailsHere; 5 Elapsed; 6 ElapsedHere; 7 In(s); 8 Health; 9 Advice;
        10 LastResult; 11 Event; 12 Streak(s); 13 Calls(s); 14 Tokens(s); 15 Cost(s); 16 Repeated(s n);
    }
    Since { 0 Start; 1 Entry; }
    LimitKind { 0 Calls; 1 Turns; 2 Time; 3 Tokens; 4 Cost; }
    StreakOf { 0 Tool; 1 Argument(s n); }
    UnaryOp { 0 Not; 1 Negate; }
    BinaryOp { 0 And; 1 Or; 2 Add; 3 Subtract; 4 Multiply; 5 Divide; 6 FloorDivide; 7 Modulo; 8 Power; }
    CompareOp { 0 Equal; 1 NotEqual; 2 Less; 3 LessEqual; 4 Greater; 5 GreaterEqual; 6 In; 7 NotIn; }
    Builtin {
        0 Len; 1 Min; 2 Max; 3 Abs; 4 Round; 5 Sum; 6 Any; 7 All; 8 Sorted; 9 Lower; 10 Upper; 11 Concat; 12 StartsWith; 13 Str;
        14 Float; 15 Int; 16 Bool; 17 Set; 18 Get; 19 IsA; 20 Fail; 21 JsValue; 22 JsAdd; 23 JsNumber; 24 JsText; 25 JsTruth;
        26 JsSame; 27 JsRemainder; 28 JsGet; 29 JsSet; 30 JsJson; 31 JsList; 32 JsDuration;
    }
    Action {
        0 Assign(v e); 1 Do(f a); 2 Raise(e a); 3 Send{event arguments after id to | element}; 4 Cancel(id); 5 Log(t); 8 Result(s a); 6 If(c a b);
        7 For(l e b);
    }
}
