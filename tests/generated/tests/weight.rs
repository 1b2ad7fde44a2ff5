//! What waiting machines take: `chartc-bench crowd` measures all of it; here stands what must not grow unnoticed.

use chartc_core::host::Host;
use chartc_core::machine::{Effect, Record, Sink};
use generated_charts::{ring, social};

#[test]
fn a_machine_has_no_room_inside_for_what_is_not_under_way() {
    // A machine of direct code is its configuration and its counters.
    assert!(size_of::<ring::Machine<ring::ByName<Nobody>>>() <= 48);
    // The internal queue of this chart alone would take 1,800 bytes.
    assert!(size_of::<social::Machine<social::ByName<Nobody>>>() <= 408);
}

/// Takes no notes.
struct Deaf;

impl Sink for Deaf {
    fn effect(&mut self, _: Effect) {}

    fn record(&mut self, _: Record) {}

    fn takes_notes(&self) -> bool {
        false
    }
}

#[test]
fn calls_of_the_host_are_noted_only_for_a_reader() {
    let params = social::Params::new("ann", Vec::new());
    let mut machine = social::Machine::new(params, social::ByName(Nobody)).expect("in range");
    machine.start(0, &mut ());
    machine.send(social::Event::StartBrowsing, 0, &mut ());
    let (id, text, velocity, tags) = ("1".into(), "owls".into(), 1.0, Vec::new());
    let post = social::Post { id, text, velocity, tags };
    machine.send(social::Event::SeesPost { post }, 0, &mut ());
    machine.take_notes();
    // The guards call the host, which fails.
    machine.send(social::Event::Decides, 0, &mut Deaf);
    assert_eq!(machine.take_notes(), [""; 0]);
    machine.send(social::Event::Decides, 0, &mut ());
    assert!(!machine.take_notes().is_empty());
}

struct Nobody;

impl Host for Nobody {
    fn call(
        &mut self,
        function: &str,
        _: &[chartc_core::expr::Value],
    ) -> Result<chartc_core::expr::Value, String> {
        Err(format!("there is no `{function}`"))
    }
}
