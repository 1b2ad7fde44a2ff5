//! Ordinary files of a project: agents and charts of a size that people write, each another one.

use crate::dice::Dice;
use std::fmt::Write;

const PLACES: [&str; 10] = [
    "observing",
    "ideating",
    "searching",
    "negotiating",
    "implementing",
    "testing",
    "reflecting",
    "shipping",
    "resting",
    "settling",
];
/// What an agent knows of its run.
const KNOWN: [&str; 5] = ["agent_id", "balance", "tick", "last_action_result", "my_artifacts"];

/// The `agent.yaml` of this number, 60 to 180 lines of it.
pub(crate) fn agent(nth: usize) -> String {
    let mut dice = Dice(nth as u64 + 1);
    let places = &PLACES[..4 + dice.below(6)];
    let mut text = format!(
        "# Agent {nth} of many.\nid: agent_{nth}\nenabled: true\nllm_model: gemini/gemini-2.0-flash\nstarting_scrip: {}\n\n\
         workflow:\n  state_machine:\n    states: [{}]\n    initial_state: {}\n    transitions:\n",
        100 + nth,
        places.join(", "),
        places[0]
    );
    for pair in places.windows(2) {
        let _ = writeln!(text, "      - {{from: {}, to: {}}}", pair[0], pair[1]);
    }
    let last = places[places.len() - 1];
    let _ = writeln!(
        text,
        "      - {{from: {last}, to: {0}}}\n      - {{from: \"*\", to: {0}, condition: should_pivot or balance < {1}}}\n\n  steps:",
        places[0],
        dice.below(20)
    );
    let _ = writeln!(
        text,
        "    # Runs first in every turn.\n    - name: compute_metrics\n      type: code\n      code: |\n        \
         attempts = successful_actions + failed_actions\n        rate = successful_actions / max(attempts, 1)\n        \
         should_pivot = attempts >= {} and rate < 0.{}\n        others = [a for a in my_artifacts if 'agent' in str(a).lower()]\n        \
         has_others = len(others) > {}\n",
        3 + dice.below(9),
        1 + dice.below(8),
        dice.below(4)
    );
    let _ = writeln!(
        text,
        "    - name: start_over\n      type: code\n      in_state: [{}]\n      run_if: should_pivot\n      code: |\n        \
         started_over = True\n      transition_to: {}\n",
        places[1..].join(", "),
        places[0]
    );
    for (i, place) in places.iter().enumerate() {
        step(&mut text, &mut dice, place, places[(i + 1) % places.len()], places);
    }
    let _ = writeln!(
        text,
        "  error_handling:\n    default_on_failure: retry\n    max_retries: {}",
        1 + dice.below(4)
    );
    text
}

fn step(text: &mut String, dice: &mut Dice, place: &str, next: &str, places: &[&str]) {
    let asks = dice.below(4) == 0;
    let kind = if asks { "transition" } else { "llm" };
    let _ = writeln!(
        text,
        "    - name: step_{place}\n      type: {kind}\n      in_state: {place}\n      prompt: |\n        === GOAL: be useful while {place} ==="
    );
    for line in 0..=dice.below(7) {
        let known = KNOWN[dice.below(KNOWN.len())];
        let _ = writeln!(
            text,
            "        {line}. What you see of it is {{{known}}}, and it is turn {{tick}}."
        );
    }
    if asks {
        let _ = writeln!(
            text,
            "        Answer with ONE of: continue, again, pivot\n      transition_map:\n        continue: {next}\n        \
             again: {place}\n        pivot: {}\n",
            places[0]
        );
    } else {
        let _ = writeln!(
            text,
            "        Answer with {{{{\"action\": \"invoke_artifact\"}}}} and what to call it with.\n      transition_to: {next}\n"
        );
    }
}

/// The chart of this number, of about the same length.
pub(crate) fn chart(nth: usize) -> String {
    let mut dice = Dice(nth as u64 + 1_000);
    let mut text = format!(
        "/// Chart {nth} of many: it looks after a case until that is solved.\ntype Case {{ id: Text  text: Text  weight: Float }}\n\
         tool cases.search(query: Text) -> List(Text)\ntool cases.read(id: Text) -> Text\ntools reading = cases.*\n\
         client mind {{ model \"gemini:gemini-2.0-flash\" temperature 0.{} timeout 30s }}\n\nchart Case{nth} {{\n  \
         param patience: Int in 1..100 = {}\n  input balance: Float = 100.0\n  var last: Text = \"\"\n  var found: Json = none\n  \
         var tries: Int = 0\n  var current: Case? = none\n  event reply(text: Text)\n  event opened(case: Case)\n  event closed\n  \
         pred hopeless = tries >= {} or balance < 1.0\n  defaults {{ retry 2 then skip }}\n  limits {{ turns 400 }}\n\n  initial idle\n  \
         state idle {{\n    on opened(case) if case.weight > 0.{} -> phase_0 {{ current = case  tries = 0 }}\n  }}\n",
        dice.below(9),
        2 + dice.below(50),
        3 + dice.below(9),
        1 + dice.below(8)
    );
    let phases = 2 + dice.below(5);
    for phase in 0..phases {
        let next =
            if phase + 1 < phases { format!("phase_{}", phase + 1) } else { "solved".to_owned() };
        let _ = writeln!(
            text,
            "\n  /// Phase {phase} of the work.\n  state phase_{phase} {{\n    initial thinking\n    state thinking {{\n      \
             llm think_{phase} with mind {{\n        prompt \"\"\"\n          Case: {{if current != none then current.text else \"nothing\"}}\n          They wrote: {{last}}\n          \
             This is try {{tries}} of {{patience}}.\n          \"\"\"\n        returns Text into last\n        \
             timeout {}s -> asking\n      }} -> asking {{ tries = tries + 1 }}\n    }}\n    state asking {{\n      \
             ask next_{phase} with mind on turn else stay {{ prompt \"\"\"{{last}} What now? {{options}}\"\"\" }}\n      \
             may go_on \"this phase is done\" -> {next}\n      may again \"it is not\" if tries < patience -> thinking\n      \
             may call reading into found -> thinking\n    }}\n    on reply(text) -> thinking {{ last = text }}\n    after {}h -> given_up(\"no answer\")\n  }}",
            20 + dice.below(40),
            1 + dice.below(48)
        );
    }
    text + "\n  final solved\n  final given_up(why: Text) : stuck\n\n  from * {\n    on closed -> solved\n    when hopeless -> given_up(\"hopeless\")\n  }\n  check always_reaches(solved)\n}\n"
}
