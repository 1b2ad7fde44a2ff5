//! What waiting machines take: `chartc-bench crowd` measures all of it; here stands what must not grow unnoticed.

use chartc_core::host::Host;
use generated_charts::{ring, social};

#[test]
fn a_machine_has_no_room_inside_for_what_is_not_under_way() {
    // A machine of direct code is its configuration and its counters.
    assert!(size_of::<ring::Machine<ring::ByName<Nobody>>>() <= 48);
    // The internal queue of this chart alone would take 1,800 bytes.
    assert!(size_of::<social::Machine<social::ByName<Nobody>>>() <= 400);
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
