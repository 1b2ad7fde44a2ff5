//! The model that comes of a chart: orders, scopes, copies, tables.

use super::{chart, check};
use chartc_core::model::{Chart, TransitionKind, Trigger};

/// Each line as `source: trigger -> targets`.
fn lines(chart: &Chart) -> Vec<String> {
    let state = |id| match chart.state(id).path.as_str() {
        "" => ".",
        path => path,
    };
    let step = |id: chartc_core::arena::StepId| &chart.steps[id.index()].name;
    chart
        .transitions
        .iter()
        .map(|t| {
            let trigger = match &t.trigger {
                Trigger::Event(events) => {
                    let names: Vec<_> =
                        events.iter().map(|e| chart.events[e.index()].name.as_str()).collect();
                    format!("on {}", names.join("|"))
                }
                Trigger::AnyEvent => "on *".into(),
                Trigger::AnyOccurrence => "on **".into(),
                Trigger::Turn => "on turn".into(),
                Trigger::When => "when".into(),
                Trigger::StateDone(s) => format!("on done({})", state(*s)),
                Trigger::After(_) => "after".into(),
                Trigger::AfterTurns(_) => "after turns".into(),
                Trigger::Choice(c) => format!("may {}", chart.choices[c.index()].name),
                Trigger::StepDone(s) => format!("done({})", step(*s)),
                Trigger::StepError(s) => format!("error({})", step(*s)),
                Trigger::StepTimeout(s, _) => format!("timeout({})", step(*s)),
                Trigger::StepDoubt(s) => format!("doubt({})", step(*s)),
                Trigger::StepElse(s) => format!("else({})", step(*s)),
                Trigger::Error(pattern) => format!("on error {pattern}"),
                Trigger::LimitWarn(pattern) => format!("on limit.warn {pattern}"),
            };
            let mut line = format!("{}: {trigger}", state(t.source));
            if let Some(scope) = &t.scope {
                let names =
                    |ids: &[_]| ids.iter().map(|id| state(*id)).collect::<Vec<_>>().join("|");
                line += &if scope.wildcard {
                    format!(" [* except {}]", names(&scope.none_of))
                } else {
                    format!(" [from {}]", names(&scope.any_of))
                };
            }
            if t.guard.is_some() {
                line += " if";
            }
            if !t.targets.is_empty() {
                let names: Vec<_> = t.targets.iter().map(|t| state(t.state)).collect();
                line += &format!(" -> {}", names.join(", "));
            }
            if t.kind == TransitionKind::Internal {
                line += " internal";
            }
            line
        })
        .collect()
}

#[test]
fn the_builder() {
    let text = include_str!("../../../charts/builder.chart");
    let chart = chart(text);
    insta::assert_debug_snapshot!((
        &chart.states[0],
        lines(&chart),
        &chart.steps[5],
        &chart.checks
    ));
}

#[test]
fn own_lines_then_from_then_each_after() {
    let chart = chart(
        r#"
chart Order {
  event e
  event e.f
  event ef
  initial a
  each after 9s -> b
  from * except b { on e -> a.x  on * -> b }
  on ef -> a
  llm think {
    prompt "x"
    retry 1 then -> b
    error -> a
    done if true -> a
    timeout 3s -> a
    doubt -> a
    done -> b
  } -> a
  ask q on e else b { prompt "{options}" }
  may one -> a
  state a {
    initial x
    from x { on e.f -> b }
    each after 3 turns -> b
    on e -> y
    state x { on turn }
    state y { each after 5s -> x  on error.limit.* -> x  on limit.warn.* -> x  on error.execution -> x }
    final z
  }
  on done(a) -> b
  state b
  final end
}
"#,
    );
    insta::assert_debug_snapshot!(lines(&chart));
}

#[test]
fn steps_come_in_document_order() {
    let chart = chart(
        r#"
chart Walk {
  initial a
  llm one { prompt "1" }
  state a { initial x  llm two { prompt "2" }  state x { llm three { prompt "3" } }  llm four { prompt "4" } }
  code five { }
  defaults { retry 3 then skip }
  limits { calls 7 warn 5  time 2h  turns 9  calls 0 per turn }
  trace 50
}
"#,
    );
    let names: Vec<_> = chart.steps.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["one", "two", "three", "four", "five"]);
    assert_eq!(chart.steps[1].failure.retry.times, 3);
    assert_eq!(chart.calls_per_turn, None);
    assert_eq!(chart.states[0].limits.time, Some(7_200_000));
    assert_eq!(chart.history_kept, Some(50));
}

#[test]
fn spans_run_parallel_to_the_model() {
    let text = r#"
chart Spans {
  event e(a: Int)
  var n: Int = 0
  pred big = n > 9
  initial a
  from a { on e(x) if x > 1 -> b }
  state a {
    llm think if n > 1 { prompt "Hi {n}!"  done if n > 2 -> b } -> b
    on e(x) if x > 2 -> p.r, p.s { n = x }
    when big if n < 3 -> b
    each after 3 turns -> b
    may go(x: Int) "say" if n > 3 -> b
    allow a -> b if n > 4
  }
  state b
  parallel p { state r state s }
  check reaches(b)
}
"#;
    let compilation = check(text);
    let lowered = &compilation.lowered[0];
    let (chart, map) = (&lowered.chart, &lowered.map);
    let source = compilation.sources.get(map.file);
    let slice = |span| source.slice(span).to_owned();
    assert_eq!(chart.states.len(), map.states.len());
    assert_eq!(chart.transitions.len(), map.transitions.len());
    assert_eq!(chart.steps.len(), map.steps.len());
    assert_eq!(chart.variables.len(), map.variables.len());
    assert_eq!(chart.choices.len(), map.choices.len());
    let shown: Vec<_> = map
        .transitions
        .iter()
        .map(|l| {
            let targets: Vec<_> = l.targets.iter().map(|t| slice(*t)).collect();
            let optional = |span: Option<_>| span.map_or(String::new(), slice);
            format!(
                "{} | {} | {} | {} | {}",
                slice(l.whole),
                slice(l.trigger),
                optional(l.from),
                optional(l.guard),
                targets.join("+")
            )
        })
        .collect();
    let step = &map.steps[0];
    let parts: Vec<_> = step.prompt_parts.iter().map(|p| slice(*p)).collect();
    insta::assert_debug_snapshot!((
        shown,
        slice(step.name),
        step.guard.map(slice),
        parts,
        slice(map.permissions[0]),
        slice(map.checks[0]),
        slice(map.predicates[0]),
    ));
}
