//! A chart with two regions that ask at once.

/// Two regions that ask at once, one behind the other, and a state that reads both answers.
pub(crate) fn pair(first: &str, second: &str) -> String {
    let region = |name: &str| {
        format!(
            "    state {name} {{
      initial writing
      state writing {{ llm write_{name} {{ prompt \"Argue {name}.\"  returns Text into {name}_said  doubt retry }} -> said }}
      final said
    }}\n"
        )
    };
    format!(
        "chart Pair {{
  var pro_said: Text = \"\"
  var contra_said: Text = \"\"
  initial arguing
  parallel arguing {{
{}{}    on done(arguing) -> judging
  }}
  state judging {{ llm judge {{ prompt \"For: {{pro_said}} Against: {{contra_said}}\"  returns Text }} -> judged }}
  final judged
}}
",
        region(first),
        region(second)
    )
}

/// The answers of both regions take 5 s and 4 s.
pub(crate) const SCRIPT: &str = "answers:
  write_pro: [{text: yes, after: 5s}]
  write_contra: [{text: no, after: 4s}]
  judge: [{text: perhaps, after: 1s}]
";
