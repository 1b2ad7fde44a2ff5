//! The charts that benchmarks measure: they take the events that the test has written down, and are then where the
//! interpreter was.

chartc_core::include_chart!(mod hierarchy);
chartc_core::include_chart!(mod ring);
chartc_core::include_chart!(mod table);

mod expected {
    include!(env!("EXPECTED"));
}

/// A machine given each event in turn: where it is then, and what its data are at the end.
macro_rules! same {
    ($chart:ident, $expected:ident, [$($event:ident)*], $data:expr) => {{
        use $chart::{Event, Machine, Params, State};
        let events = [$(|| Event::$event),*];
        let mut machine = Machine::new(Params::new(), ()).map_err(|_| 1)?;
        machine.start(0, &mut ());
        for (event, leaf) in expected::$expected.steps {
            machine.send(events[*event](), 0, &mut ());
            let deepest = machine.configuration().last();
            if deepest.map(State::name) != Some(*leaf) {
                return Err(2);
            }
        }
        let data: fn(&$chart::Data) -> [i64; 4] = $data;
        if data(machine.data()) != expected::$expected.data { Err(3) } else { Ok(()) }
    }};
}

fn ring() -> Result<(), i32> {
    same!(ring, RING, [Next Prev Skip Reset], |data| [data.fuel, data.count, 0, 0])
}

fn hierarchy() -> Result<(), i32> {
    same!(hierarchy, HIERARCHY, [Tick Next Switch Halt], |data| {
        [data.count, data.local, data.entered, data.left]
    })
}

fn table() -> Result<(), i32> {
    same!(table, TABLE, [E0 E1 E2 E3 E4 E5 E6 E7 E8 E9 E10 E11 E12 E13 E14 E15], |_| [0; 4])
}

/// Fails with the number of what went wrong.
pub(crate) fn run() -> Result<(), i32> {
    ring().map_err(|step| 40 + step)?;
    hierarchy().map_err(|step| 50 + step)?;
    table().map_err(|step| 60 + step)
}
