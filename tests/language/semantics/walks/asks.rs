//! Questions of regions and of what is around them.

use super::walks;

/// Two regions with a question each, and `on turn` lines.
fn asking(lines_of_a: &str, lines_of_p: &str) -> String {
    format!(
        "chart T {{ var n: Int = 0 initial p
          parallel p {{ {lines_of_p}
            state a {{ initial a1 state a1 {{ {lines_of_a} ask one on turn else stay {{ prompt \"{{options}}\" }}
              may x \"x\" -> a2  may y \"y\" -> a2 }} state a2 }}
            state b {{ initial b1 state b1 {{ ask two on turn else stay {{ prompt \"{{options}}\" }}
              may u \"u\" -> b2  may v \"v\" -> b2 }} state b2 }}
          }} }}"
    )
}

#[test]
fn an_on_turn_line_hides_the_asks_of_its_region_and_one_of_the_parallel_all() {
    walks(&asking("", ""), &[("turn", "one, two")]);
    walks(
        &asking("on turn { n = 1 }", ""),
        &[("turn", "on p.a.a1, two"), ("pick two u", "-> p.b.b2, turn ended")],
    );
    // In the other region, the line of the parallel is picked.
    walks(&asking("", "on turn { n = 1 }"), &[("turn", "on p, turn ended")]);
    walks(
        &asking("on turn { n = 2 }", "on turn { n = 1 }"),
        &[("turn", "on p.a.a1, on p, turn ended")],
    );
}

/// One question for the leaves of both regions.
const SHARED: &str = "chart T { event go initial p
  parallel p {
    ask q on turn else stay { prompt \"{options}\" timeout 9s -> out }
    state a { initial a1 state a1 { may x \"x\" -> a2  may y \"y\" -> a2 } state a2 { llm one { prompt \"1\" } } }
    state b { initial b1 state b1 { may u \"u\" -> b2  may v \"v\" -> b2 } state b2 { code z { } } }
    code after_it { }
  }
  state out }";

#[test]
fn an_ask_of_the_parallel_is_put_in_all_regions_at_once_and_counts_for_their_walks() {
    // `one` finds the call of its region used up.
    walks(
        SHARED,
        &[
            ("turn", "q, q"),
            ("pick last q u", "-> p.b.b2"),
            (
                "pick q x",
                "-> p.a.a2, calls of p.a used up, z, z done, after_it, after_it done, turn ended",
            ),
        ],
    );
    let two = SHARED.replace("initial p\n", "limits { calls 2 per turn } initial p\n");
    walks(
        &two,
        &[
            ("turn", "q, q"),
            ("pick q x", "-> p.a.a2"),
            ("pick q u", "-> p.b.b2, one, z, z done"),
            ("done one", "one done, after_it, after_it done, turn ended"),
        ],
    );
}

#[test]
fn the_timeout_of_an_ask_holds_for_all_leaves() {
    walks(
        SHARED,
        &[
            ("turn", "q, q"),
            ("pick q x", "-> p.a.a2"),
            // It is armed as long as the question is open in a leaf.
            ("at 9000", "-> out, turn ended, cancel q"),
        ],
    );
    let stays = SHARED.replace("timeout 9s -> out", "timeout 9s { }");
    walks(
        &stays,
        &[
            ("turn", "q, q"),
            // Both questions are over, and their regions have had their call.
            ("at 9000", "on p, after_it, after_it done, turn ended, cancel q, cancel q"),
        ],
    );
}

#[test]
fn a_region_asks_for_itself_where_its_ask_is_the_innermost() {
    let chart = SHARED
        .replace("may u \"u\"", "ask own on turn else stay { prompt \"{options}\" } may u \"u\"");
    walks(
        &chart,
        &[
            ("turn", "q"),
            ("pick q x", "-> p.a.a2, calls of p.a used up, own"),
            ("pick own u", "-> p.b.b2, z, z done, after_it, after_it done, turn ended"),
        ],
    );
}
