//! The interpreter and generated code do the same.

use chartc_core::expr::{FromValue, Value};
use chartc_core::host::Machine;
use generated_charts::compare::{Fickle, compare, covered};
use generated_charts::{
    bells, blocks, flat, flow, hierarchy, lamp, letters, loops, many, model, names, nested,
    nightlight, parallel, phases, regions, researcher, ring, searching, social, table, tools,
    walks, words, worker,
};

/// The value of a param.
fn param<T: FromValue>(params: &[(String, Value)], name: &str) -> Option<T> {
    let (_, value) = params.iter().find(|(n, _)| n == name)?;
    Some(T::from_value(value.clone()).expect("params are of their types"))
}

fn needed<T: FromValue>(params: &[(String, Value)], name: &str) -> T {
    param(params, name).expect("params without default are given")
}

/// A test that compares both machines of a chart. `$params` makes the typed params of the values by name.
macro_rules! same {
    ($name:ident, $file:literal, |$given:ident| $params:expr, $sequences:literal x $length:literal, $excused:expr) => {
        #[test]
        fn $name() {
            fn make<'c>(
                $given: &[(String, Value)],
                host: Fickle<'c>,
            ) -> Result<Box<dyn Machine + 'c>, String> {
                let made = $name::Machine::new($params, $name::ByName(host));
                made.map(|machine| Box::new(machine) as _).map_err(|why| why.to_string())
            }
            let chart = model($file, include_str!($file));
            let coverage = compare(&chart, &make, $sequences, $length);
            covered(&chart, &coverage, $excused);
        }
    };
}

same!(
    bells,
    "../charts/bells.chart",
    |given| bells::Params { gap: param(given, "gap"), most: param(given, "most") },
    200 x 120,
    &[]
);

same!(
    blocks,
    "../charts/blocks.chart",
    |given| blocks::Params { most: param(given, "most") },
    250 x 120,
    &[]
);

same!(
    flat,
    "../charts/flat.chart",
    |given| flat::Params { name: param(given, "name") },
    400 x 150,
    &[]
);

same!(
    flow,
    "../charts/flow.chart",
    |given| flow::Params { goal: param(given, "goal"), tries: param(given, "tries") },
    500 x 200,
    &[]
);

same!(nightlight, "../charts/nightlight.chart", |_given| nightlight::Params, 100 x 100, &[]);

same!(
    lamp,
    "../charts/lamp.chart",
    |given| lamp::Params {
        presses: param(given, "presses"),
        step: param(given, "step"),
        rest: param(given, "rest"),
    },
    250 x 120,
    &[]
);

same!(
    letters,
    "../charts/letters.chart",
    |given| letters::Params { name: param(given, "name") },
    400 x 200,
    &[]
);

same!(loops, "../charts/loops.chart", |_given| loops::Params {}, 400 x 200, &[]);

same!(
    names,
    "../charts/names.chart",
    |given| names::Params {
        params: param(given, "params"),
        value: param(given, "value"),
        v7up: param(given, "7up"),
        ..names::Params::new(needed::<String>(given, "type"))
    },
    300 x 120,
    &[]
);

same!(
    nested,
    "../charts/nested.chart",
    |given| nested::Params { step: param(given, "step") },
    400 x 150,
    &[]
);

same!(parallel, "../../bench/charts/parallel.chart", |_given| parallel::Params {}, 40 x 100, &[]);

same!(
    phases,
    "../../../charts/phases.chart",
    |given| phases::Params {
        max_steps: param(given, "max_steps"),
        ..phases::Params::new(needed::<String>(given, "goal"))
    },
    300 x 150,
    // Chance rarely searches long enough, thinks five times, or insists where it is stuck; `tools` has lines of the same kind.
    &[7, 9, 12, 13, 17, 19]
);

same!(
    regions,
    "../charts/regions.chart",
    |given| regions::Params { start: param(given, "start") },
    400 x 150,
    &[]
);

same!(
    researcher,
    "../../../charts/researcher.chart",
    |given| researcher::Params {
        enough: param(given, "enough"),
        budget: param(given, "budget"),
        ..researcher::Params::new(needed::<String>(given, "question"))
    },
    300 x 200,
    // Deadlines beyond the random hours, and a condition that needs the report and little money at once.
    &[3, 14, 23]
);

same!(
    searching,
    "../charts/searching.chart",
    |given| searching::Params { patience: param(given, "patience") },
    400 x 200,
    &[]
);

same!(
    social,
    "../charts/social.chart",
    |given| social::Params {
        patience: param(given, "patience"),
        bored_at: param(given, "bored_at"),
        engage_at: param(given, "engage_at"),
        keen_at: param(given, "keen_at"),
        ..social::Params::new(needed::<String>(given, "name"), needed(given, "interests"))
    },
    400 x 200,
    &[]
);

same!(
    many,
    "../charts/many.chart",
    |given| many::Params { most: param(given, "most") },
    400 x 200,
    &[]
);

same!(
    tools,
    "../charts/tools.chart",
    |given| tools::Params { patience: param(given, "patience") },
    400 x 200,
    &[]
);

same!(
    walks,
    "../charts/walks.chart",
    |given| walks::Params { calls: param(given, "calls") },
    400 x 200,
    &[]
);

same!(
    words,
    "../charts/words.chart",
    |given| words::Params { scale: param(given, "scale") },
    120 x 60,
    &[]
);

same!(
    worker,
    "../charts/worker.agent.yaml",
    |given| {
        assert!(given.is_empty(), "agents have inputs, not params");
        worker::Params::new()
    },
    500 x 120,
    &[]
);

same!(
    hierarchy,
    "../../bench/charts/hierarchy.chart",
    |given| {
        assert!(given.is_empty(), "the chart has no params");
        hierarchy::Params::new()
    },
    40 x 100,
    &[]
);

same!(
    ring,
    "../../bench/charts/ring.chart",
    |given| {
        assert!(given.is_empty(), "the chart has no params");
        ring::Params::new()
    },
    40 x 100,
    &[]
);

same!(
    table,
    "../../bench/charts/table.chart",
    |given| {
        assert!(given.is_empty(), "the chart has no params");
        table::Params::new()
    },
    100 x 400,
    &[]
);
