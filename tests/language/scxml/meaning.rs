//! What documents do: the interpreter on them, without a runtime.

use super::check;
use chartc_core::expr::Value;
use chartc_core::host::{Host, Machine};
use chartc_core::interpreter::Interpreter;
use chartc_core::machine::{Effect, Input, Record, Sink};
use chartc_core::model::{Chart, StateKind};
use chartc_core::plan::Plan;
use std::sync::Arc;

struct Nobody;

impl Host for Nobody {
    fn call(&mut self, function: &str, _: &[Value]) -> Result<Value, String> {
        Err(format!("there is no `{function}`"))
    }
}

#[derive(Default)]
struct Log(Vec<String>);

impl Sink for Log {
    fn effect(&mut self, effect: Effect) {
        self.0.push(format!("{effect:?}"));
    }

    fn record(&mut self, record: Record) {
        self.0.push(format!("{record:?}"));
    }
}

/// A running document.
struct Run {
    chart: &'static Arc<Chart>,
    machine: Interpreter<Nobody>,
    now: u64,
    log: Log,
}

impl Run {
    fn of(text: &str) -> Self {
        let done = check(text);
        let found = chartc::report::short(&done.diagnostics, &done.sources);
        let [checked] = done.charts.as_slice() else { panic!("{found}") };
        assert!(checked.not_yet().is_empty(), "{found}");
        let chart: &'static Arc<Chart> = Box::leak(Box::new(checked.chart().clone()));
        let plan: Plan = Plan::new(chart);
        let machine = Interpreter::new(&plan, Nobody, []).expect("there are no params");
        let mut run = Self { chart, machine, now: 0, log: Log::default() };
        run.give(Input::Start);
        run
    }

    fn give(&mut self, input: Input<Vec<Value>>) {
        self.machine.handle(input, self.now, &mut self.log).expect("the data fit");
    }

    fn send(&mut self, event: &str, data: Value) -> &mut Self {
        let id = self.machine.tables().event_named(event).expect("any event is taken");
        let fields = self.chart.events[id.index()].fields.len();
        self.give(Input::Event(id, vec![data; fields]));
        self
    }

    /// The active states without children.
    fn active(&self) -> String {
        let basic = |kind: &StateKind| matches!(kind, StateKind::Atomic | StateKind::Final { .. });
        let states = self.chart.state_ids().filter(|s| self.machine.is_active(*s));
        let states = states.filter(|s| basic(&self.chart.state(*s).kind));
        states.map(|s| self.chart.state(s).name.as_str()).collect::<Vec<_>>().join(" ")
    }
}

/// A document of these states, with this data.
fn document(data: &str, states: &str) -> String {
    format!(
        "<scxml xmlns=\"http://www.w3.org/2005/07/scxml\" version=\"1.0\" datamodel=\"ecmascript\">
         <datamodel>{data}</datamodel>{states}</scxml>"
    )
}

/// Whether a condition holds, under this data.
fn holds(data: &str, condition: &str) -> bool {
    let condition = condition.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
    let states = format!(
        "<state id=\"asked\"><transition cond=\"{condition}\" target=\"yes\"/>
         <transition target=\"no\"/></state><state id=\"yes\"/><state id=\"no\"/>"
    );
    Run::of(&document(data, &states)).active() == "yes"
}

#[test]
fn operators_mean_what_ecmascript_means() {
    let data = "<data id='one' expr='1'/><data id='text' expr=\"'a'\"/><data id='unset'/>
        <data id='list' expr='[1, 2, 3]'/><data id='empty' expr='[]'/><data id='yes' expr='true'/>
        <data id='box' expr=\"{ a: { b: 'c' } }\"/>";
    for condition in [
        "one + 1 === 2",
        "text + one === 'a1'",
        "one + text === '1a'",
        "text + 1.0 === 'a1'",
        "text + 4 / 2 === 'a2'",
        "text + yes + unset === 'atrueundefined'",
        "text + list === 'a1,2,3'",
        "3 / 2 === 1.5",
        "-7 % 3 === -1",
        "7 % -3 === 1",
        "yes !== 1",
        "one !== yes",
        "unset === undefined",
        "unset === null",
        "!unset",
        "empty",
        "!''",
        "!0",
        "list.length === 3 && list[0] === 1",
        "list[3] === undefined",
        "list[-1] === undefined",
        "box.a.b === 'c' && box['a'].b === 'c'",
        "box.none === undefined",
        "(unset || 5) === 5",
        "(one && text) === 'a'",
        "(unset ?? 'd') === 'd'",
        "(yes ? 1 : 'x') === 1",
        "typeof unset === 'undefined' && typeof nobody === 'undefined'",
        "typeof one === 'number' && typeof text === 'string' && typeof list === 'object'",
        "Math.floor(-1.5) === -2 && Math.ceil(1.2) === 2 && Math.round(2.5) === 3",
        "Math.pow(2, 10) === 1024 && Math.max(1, 3, 2) === 3 && Math.abs(-2) === 2",
        "2 ** 3 ** 2 === 512",
        "'10' * 2 === 20 && +'3' === 3",
        "'b' > 'a' && 2 < 10",
        "JSON.stringify({ a: [1, 'x', true] }) === '{\"a\":[1,\"x\",true]}'",
        "_name === 't'",
    ] {
        assert!(holds(data, condition), "{condition}");
        assert!(!holds(data, &format!("!({condition})")), "not {condition}");
    }
}

#[test]
fn a_faulty_expression_raises_an_error_when_it_runs() {
    for act in [
        "<assign location='x' expr='{a: 1'/>",
        "<assign location='x' expr='nobody + 1'/>",
        "<assign location='nobody' expr='1'/>",
        "<log expr='x.y.z'/>",
        "<foreach array='x' item='i'/>",
        "<foreach array='[1]' item='1st'/>",
        "<script>x = nobody</script>",
    ] {
        let states = format!(
            "<state id='a'><onentry>{act}<assign location='x' expr='2'/></onentry>
             <transition event='error.execution' cond='x === 1' target='caught'/>
             <transition event='error' target='late'/></state><state id='caught'/><state id='late'/>"
        );
        let run = Run::of(&document("<data id='x' expr='1'/>", &states));
        assert_eq!(run.active(), "caught", "{act}");
    }
}

#[test]
fn a_condition_that_fails_is_false() {
    let states = "<state id='a'><transition event='e' cond='nobody' target='b'/>
        <transition event='e' target='c'/></state><state id='b'/><state id='c'/>";
    assert_eq!(Run::of(&document("", states)).send("e", Value::None).active(), "c");
}

#[test]
fn data_that_fail_are_left_without_a_value() {
    let states = "<state id='a'><transition event='error.execution' cond='x === undefined && y === 2' target='b'/>
        </state><state id='b'/>"
        .replace("&&", "&amp;&amp;");
    let run =
        Run::of(&document("<data id='x' expr='nobody'/><data id='y' expr='1 + 1'/>", &states));
    assert_eq!(run.active(), "b");
}

#[test]
fn blocks_fail_one_by_one() {
    let states = "<state id='a'><onentry><assign location='x' expr='nobody'/><assign location='x' expr='9'/></onentry>
        <onentry><assign location='x' expr='x + 1'/></onentry>
        <transition event='error.execution' cond='x === 2' target='b'/></state><state id='b'/>";
    assert_eq!(Run::of(&document("<data id='x' expr='1'/>", states)).active(), "b");
}

#[test]
fn what_is_entered_by_default_has_actions_and_several_targets() {
    let states = "<state id='a'><initial><transition target='c2 d2'><assign location='x' expr='x * 3'/></transition></initial>
        <onentry><assign location='x' expr='x + 1'/></onentry>
        <parallel id='b'><onentry><assign location='x' expr='x * 10'/></onentry>
        <state id='c'><state id='c1'/><state id='c2'/></state>
        <state id='d'><state id='d1'/><state id='d2'/></state></parallel>
        <transition cond='x === 60' target='e'/></state><state id='e'/>";
    assert_eq!(Run::of(&document("<data id='x' expr='1'/>", states)).active(), "e");
    let stays = states.replace("60", "61");
    assert_eq!(Run::of(&document("<data id='x' expr='1'/>", &stays)).active(), "c2 d2");
}

#[test]
fn sent_events_come_when_they_are_due() {
    let states = "<state id='a'><onentry><send event='late' delay='2s' id='two'/>
        <send eventexpr=\"'soon'\" delayexpr='wait' idlocation='id' namelist='n'/></onentry>
        <transition event='stop'><cancel sendid='two'/></transition>
        <transition event='soon' cond='_event.data.n === 7 &amp;&amp; id !== 0' target='b'/>
        <transition event='late' target='c'/></state><state id='b'/><state id='c'/>";
    let data = "<data id='wait' expr=\"'1.5s'\"/><data id='n' expr='7'/><data id='id' expr='0'/>";
    let mut run = Run::of(&document(data, states));
    assert_eq!((run.machine.next_deadline(), run.active()), (Some(1_500), "a".to_owned()));
    run.now = 1_500;
    run.give(Input::Tick);
    assert_eq!(run.active(), "b");
    let mut run = Run::of(&document(data, states));
    run.send("stop", Value::None).now = 9_000;
    run.give(Input::Tick);
    assert_eq!((run.active(), run.machine.next_deadline()), ("b".to_owned(), None));
}

#[test]
fn a_name_stands_for_all_below_it_also_undeclared_ones() {
    let states = "<state id='a'><transition event='foo.*' target='b'/></state>
        <state id='b'><transition event='foo.bar' target='c'/><transition event='other'/></state>
        <state id='c'><transition event='*' target='d'/></state><state id='d'/>";
    let mut run = Run::of(&document("", states));
    assert_eq!(run.send("foobar", Value::None).active(), "a");
    assert_eq!(run.send("foo.zed.x", Value::None).active(), "b");
    assert_eq!(run.send("foo", Value::None).active(), "b");
    assert_eq!(run.send("foo.bar.zed", Value::None).active(), "c");
    assert_eq!(run.send("nobody.waits", Value::None).active(), "d");
}

#[test]
fn loops_leave_their_variables_behind() {
    let states = "<state id='a'><onentry><foreach array='xs' item='x' index='i'>
        <assign location='sum' expr='sum + x * 10 + i'/></foreach></onentry>
        <transition cond='sum === 63 &amp;&amp; x === 3 &amp;&amp; i === 2' target='b'/></state><state id='b'/>";
    let data = "<data id='xs' expr='[1, 2, 3]'/><data id='sum' expr='0'/>";
    assert_eq!(Run::of(&document(data, states)).active(), "b");
}

#[test]
fn a_state_is_done_with_data() {
    let states = "<state id='a'><initial><transition target='a1'/></initial>
        <state id='a1'><transition event='e' target='af'/></state>
        <final id='af'><donedata><param name='n' expr='x + 1'/></donedata></final>
        <transition event='done.state.a' cond='_event.data.n === 2' target='b'/></state><state id='b'/>";
    let mut run = Run::of(&document("<data id='x' expr='1'/>", states));
    assert_eq!(run.send("e", Value::None).active(), "b");
}

#[test]
fn a_line_on_everything_reads_the_data_of_what_has_come() {
    let states = r#"<state id="a">
          <onentry><raise event="first"/></onentry>
          <transition event="go.on"><raise event="inner"/><send event="later"><param name="n" expr="3"/></send></transition>
          <transition event="*">
            <script>names.push(_event.name); datas.push(_event.data); whole = _event</script>
          </transition>
        </state>"#;
    let data = r#"<data id="names" expr="[]"/><data id="datas" expr="[]"/><data id="whole"/>"#;
    let mut run = Run::of(&document(data, states));
    run.send("unheard.of", Value::Int(5)).send("go.on", Value::None);
    let variables = run.machine.variables();
    let shown = |name: &str| {
        let found = variables.iter().find(|(n, _)| n == name).expect("it is declared");
        chartc_core::expr::format::python_repr(&found.1).expect("small")
    };
    assert_eq!(shown("names"), "['first', '*', 'inner', 'later']");
    assert_eq!(shown("datas"), "[None, 5, None, {'n': 3}]");
    assert_eq!(shown("whole"), "{'name': 'later', 'data': {'n': 3}}");
}

#[test]
fn an_event_that_is_one_only_is_called_by_its_name_wherever_it_comes_from() {
    let states = r#"<state id="a">
          <transition event="done.state.p" cond="_event.name == 'done.state.p'" target="b"/>
          <state id="p" initial="x"><state id="x"><transition event="go" target="y"/></state><final id="y"/></state>
        </state>
        <state id="b"><onentry><raise event="inner"/></onentry>
          <transition event="inner" cond="_event.name == 'inner'" target="c"/></state>
        <state id="c"><onentry><assign location="nowhere" expr="1"/></onentry>
          <transition event="error.execution" cond="_event.name == 'error.execution'" target="d"/></state>
        <state id="d"><transition event="go"/></state>"#;
    let text = document("", states);
    let done = check(&text);
    let checked = done.charts.first().expect("warnings only").chart().clone();
    let chart: &'static Arc<Chart> = Box::leak(Box::new(checked));
    let plan: Plan = Plan::new(chart);
    let machine = Interpreter::new(&plan, Nobody, []).expect("there are no params");
    let mut run = Run { chart, machine, now: 0, log: Log::default() };
    run.give(Input::Start);
    assert_eq!(run.send("go", Value::None).active(), "d");
}
