use super::*;
use crate::arena::{ChoiceId, EventId, StateId, StepId, TransitionId};
use crate::model::{
    Choice, Event, Expr, ExprKind, Field, Function, FunctionKind, Method, Target, Type,
};
use alloc::string::{String, ToString};
use alloc::vec;

fn line(source: u32, trigger: Trigger, targets: &[u32]) -> Transition {
    Transition {
        source: StateId(source),
        trigger,
        bound: Vec::new(),
        scope: None,
        guard: None,
        targets: targets
            .iter()
            .map(|t| Target { state: StateId(*t), arguments: Vec::new() })
            .collect(),
        kind: TransitionKind::External,
        actions: Vec::new(),
    }
}

fn state(
    path: &str,
    kind: StateKind,
    parent: u32,
    end: u32,
    lines: core::ops::Range<u32>,
) -> State {
    State {
        name: path.to_string(),
        path: path.to_string(),
        kind,
        parent: Some(StateId(parent)),
        end: StateId(end),
        transitions: lines.map(TransitionId).collect(),
        ..Chart::empty("x").states[0].clone()
    }
}

/// Root 0 with `a` 1 (two lines), history 2, `b` 3 (an option and a deadline).
fn chart() -> Chart {
    let mut chart = Chart::empty("Sample");
    chart.states[0].kind = StateKind::Compound { initial: vec![StateId(1)] };
    chart.states[0].end = StateId(4);
    chart.states.extend([
        state("a", StateKind::Atomic, 0, 2, 0..2),
        state("h", StateKind::History { deep: true, default: vec![StateId(1)] }, 0, 3, 0..0),
        state("b", StateKind::Atomic, 0, 4, 2..4),
    ]);
    let text = Field { name: "text".to_string(), ty: Type::Text, range: None };
    chart.events.push(Event {
        name: "go".to_string(),
        doc: String::new(),
        fields: vec![text.clone(), Field { name: "n".to_string(), ty: Type::Int, range: None }],
    });
    let wait = Expr { kind: ExprKind::Duration(5), ty: Type::Duration };
    chart.transitions = vec![
        line(1, Trigger::Event(vec![EventId(0)]), &[3]),
        line(1, Trigger::After(wait.clone()), &[2]),
        line(3, Trigger::Choice(ChoiceId(0)), &[]),
        line(3, Trigger::After(wait), &[1]),
    ];
    chart.choices.push(Choice {
        name: "say".to_string(),
        text: None,
        transition: TransitionId(2),
        kind: ChoiceKind::Option(vec![text]),
    });
    chart
}

#[test]
fn rows_name_their_parts_in_pools() {
    let chart = chart();
    let plan = Plan::new(&Arc::new(chart));
    let t = plan.tables();
    assert_eq!(t.states[1].transitions, Span { start: 0, len: 2 });
    assert_eq!(t.states[3].transitions, Span { start: 2, len: 2 });
    assert_eq!(t.states[3].choices.of(&t.choice_pool), [ChoiceId(0)]);
    assert_eq!(t.events[0].fields.of(&t.name_pool), ["text", "n"]);
    assert_eq!(t.choices[0].fields.of(&t.name_pool), ["text"]);
    assert_eq!(t.transitions[0].targets.of(&t.state_pool), [StateId(3)]);
    assert_eq!(t.transitions[2].targets, Span::EMPTY);
    assert_eq!(t.calls_per_turn, 1);
}

#[test]
fn history_states_and_deadlines_have_numbers_of_their_own() {
    let chart = chart();
    let plan = Plan::new(&Arc::new(chart));
    let t = plan.tables();
    assert!(matches!(t.states[2].kind, StateRowKind::History { slot: 0, deep: true, .. }));
    assert_eq!(t.transitions[1].trigger, TriggerRow::After(0));
    assert_eq!(t.transitions[3].trigger, TriggerRow::After(1));
    assert_eq!((t.histories(), t.deadlines()), (1, 2));
}

#[test]
fn the_hash_is_of_what_a_chart_means() {
    let chart = chart();
    let hash = structural_hash(&chart);
    let mut documented = chart.clone();
    documented.doc = "What it is for.".to_string();
    documented.states[1].doc = "Where it begins.".to_string();
    documented.meta.push(("author".to_string(), crate::expr::Value::None));
    documented.history_kept = Some(5);
    assert_eq!(structural_hash(&documented), hash);
    let mut moved = chart.clone();
    moved.transitions[3].targets[0].state = StateId(3);
    assert_ne!(structural_hash(&moved), hash);
    let mut renamed = chart.clone();
    renamed.states[1].path = "c".to_string();
    assert_ne!(structural_hash(&renamed), hash);
}

#[test]
fn the_hash_is_of_whose_method_a_function_is() {
    let with = |method: Option<(&str, &str)>| {
        let mut chart = chart();
        let method =
            method.map(|(artifact, name)| Method { artifact: artifact.into(), name: name.into() });
        let kind = FunctionKind::Pure { result: Type::Int, fallback: None, method };
        chart.functions.push(Function {
            name: "f".to_string(),
            doc: String::new(),
            kind,
            params: Vec::new(),
        });
        structural_hash(&chart)
    };
    // A function without a method keeps the hash from before methods were added.
    assert_eq!(with(None), 16_193_282_881_234_291_120);
    let one = with(Some(("shop", "price")));
    assert_ne!(one, with(None));
    assert_ne!(one, with(Some(("shop", "prices"))));
    assert_ne!(one, with(Some(("shops", "price"))));
    assert_ne!(with(Some(("shop", "sprice"))), with(Some(("shops", "price"))));
}

#[test]
fn the_hash_does_not_change_between_versions() {
    assert_eq!(structural_hash(&Chart::empty("Nothing")), 5_771_246_669_720_109_459);
    assert_eq!(structural_hash(&chart()), 13_223_775_563_614_867_977);
}

#[test]
fn what_a_call_in_doubt_does_counts_and_earlier_names_do_not() {
    let plain = chart();
    let mut renamed = chart();
    let what = crate::model::Renamed::State(StateId(1));
    renamed.renames.push(crate::model::Rename { what, old: "old".to_string() });
    assert_eq!(structural_hash(&renamed), structural_hash(&plain));
    let tool = |idempotent| {
        let mut chart = chart();
        let (name, doc) = ("t".to_string(), String::new());
        let result = Type::Json;
        chart.tools.push(crate::model::Tool { name, doc, params: Vec::new(), result, idempotent });
        structural_hash(&chart)
    };
    assert_ne!(tool(true), tool(false));
}

#[test]
fn a_step_waits_for_its_events() {
    let mut chart = chart();
    chart.states[3].steps.push(StepId(0));
    chart.steps.push(Step {
        each: None,
        name: "choose".to_string(),
        doc: String::new(),
        state: StateId(3),
        kind: StepKind::Ask { always: false, otherwise: Otherwise::Stay },
        starts: Starts::OnEvent(vec![EventId(0)]),
        guard: None,
        client: None,
        prompt: None,
        failure: FailurePolicy { retry: Retry::times(2), then: Failure::Skip },
        returns: Type::Json,
        into: None,
        tools: None,
        range: None,
        tool_lines: Vec::new(),
        approves: None,
        retries_doubt: false,
        accepts_cut: false,
        is_exact: false,
        asking: Vec::new(),
        ends_turn: None,
        outcomes: Vec::new(),
    });
    let plan = Plan::new(&Arc::new(chart));
    let t = plan.tables();
    assert_eq!(t.states[3].steps.of(&t.step_pool), [StepId(0)]);
    let StartsRow::OnEvent(on) = t.steps[0].starts else {
        panic!("a question on an event: {:?}", t.steps[0].starts);
    };
    assert_eq!(on.of(&t.event_pool), [EventId(0)]);
    assert_eq!((t.steps[0].retries, t.steps[0].failure), (2, FailureRow::Skip));
}

#[test]
fn what_a_line_leaves_and_enters_is_known_unless_a_history_decides() {
    let chart = chart();
    let plan = Plan::new(&Arc::new(chart));
    let t = plan.tables();
    let Route::Known { domain, entry } = t.transitions[0].route else { panic!("to an atomic") };
    assert_eq!((domain, entry.of(&t.state_pool)), (StateId(0), &[StateId(3)][..]));
    assert_eq!(t.transitions[1].route, Route::Computed);
    assert_eq!(t.transitions[2].route, Route::Stay);
    assert_eq!(t.states[0].histories.of(&t.state_pool), [StateId(2)]);
}

#[test]
fn a_state_reacts_to_what_its_lines_and_those_above_it_are_on() {
    let chart = chart();
    let plan = Plan::new(&Arc::new(chart));
    let t = plan.tables();
    assert!(t.states[1].here.meets(Reacts::EVENT) && t.states[1].here.meets(Reacts::DEADLINE));
    assert!(t.states[3].here.meets(Reacts::CHOICE) && !t.states[3].on_path.meets(Reacts::EVENT));
    assert_eq!(t.states[0].here, Reacts::NOTHING);
}

#[test]
fn states_that_are_active_together_have_places_of_their_own() {
    // Root 0 with `a` 1 and a parallel `p` 2 with the regions `x` 3 (`y` 4, `z` 5) and `u` 6 (a history 7, `v` 8 with `w` 9).
    let mut chart = Chart::empty("Regions");
    let compound = |first: u32| StateKind::Compound { initial: vec![StateId(first)] };
    chart.states[0].kind = compound(1);
    chart.states[0].end = StateId(10);
    chart.states.extend([
        state("a", StateKind::Atomic, 0, 2, 0..0),
        state("p", StateKind::Parallel, 0, 10, 0..0),
        state("p.x", compound(4), 2, 6, 0..0),
        state("p.x.y", StateKind::Atomic, 3, 5, 0..0),
        state("p.x.z", StateKind::Atomic, 3, 6, 0..0),
        state("p.u", compound(8), 2, 10, 0..0),
        state("p.u.h", StateKind::History { deep: false, default: vec![StateId(8)] }, 6, 8, 0..0),
        state("p.u.v", compound(9), 6, 10, 0..0),
        state("p.u.v.w", StateKind::Atomic, 8, 10, 0..0),
    ]);
    let plan = Plan::new(&Arc::new(chart));
    let tables = plan.tables();
    let place = |state: usize| tables.states[state].place;
    assert_eq!([0, 1, 2, 3, 4, 5, 6, 8, 9].map(place), [0, 1, 1, 2, 3, 3, 4, 5, 6]);
    assert_eq!((tables.summary.together, tables.summary.leaves), (7, 2));
}
