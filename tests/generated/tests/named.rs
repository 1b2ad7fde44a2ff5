//! Names of a chart as data.

use generated_charts::{phases, regions};
use serde_json::{from_str, to_string};

#[test]
fn names_are_written_as_the_chart_spells_them_and_read_back() {
    for state in phases::State::ALL {
        let json = to_string(&state).expect("a name is a text");
        assert_eq!(json, format!("\"{state}\""));
        assert_eq!(from_str::<phases::State>(&json).ok(), Some(state));
    }
    for event in regions::EventName::ALL {
        let json = to_string(&event).expect("a name is a text");
        assert_eq!(from_str::<regions::EventName>(&json).ok(), Some(event));
    }
    let why = from_str::<phases::State>("\"run.serching\"").expect_err("there is no such state");
    assert!(why.to_string().starts_with("no such state: \"run.serching\""), "{why}");
    assert!(from_str::<phases::State>("7").is_err());
}
