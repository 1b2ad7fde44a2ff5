//! What random charts declare.

use super::spec::Spec;

/// Before every chart.
const TYPES: &str = "enum Mode { dim bright }
type Level { size: Int in -5..40  warm: Bool }
";

/// In every chart; nothing of it needs an allocator.
const PLAIN: &str = "  event a
  event b
  event c(n: Int)
  event d
  event d.one
  event d.two(n: Int in -2..9)
  event heat(to: Float in -0.5..2.5)
  event r
  event r.two(n: Int)
  event set(level: Level, hard: Bool)
  param step: Int in 1..9 = 2
  param pause: Duration = 2s
  input x: Bool = false
  input y: Int = 0
  var m: Int = 0
  var v: Int = 0 per turn
  var w: Int = m + step per turn
  var f: Float = 0.5
  var mode: Mode = Mode.dim
  var level: Level = Level { size: 1  warm: true }
  var last: Level? = none
  fn hot() -> Bool
  fn many(n: Int) -> Int from \"shop\" \"many\" else 3
  fn bright(level: Level, mode: Mode) -> Bool
  do tell(n: Int)
  do show(level: Level?, mode: Mode)
  pred p = m > 1 or x
  pred big = level.size > 2 and mode != Mode.dim
";

/// Before charts that have texts.
const WORD_TYPES: &str = "enum E { one two }
type Found { n: Int in -4..100  by: Text }
";

/// In charts that have texts.
const WORDS: &str = "  event word(u: Text, k: Int?)
  event open(q: Json)
  event batch(all: List(Found))
  input z: Text = \"z\"
  var t: Text = \"\"
  var said: Text = \"{m}{mode}\" per turn
  var l: List(Int) = []
  var j: Json = none
  var o: Int? = none
  var e: E = E.one
  var counts: Map(Text, Int) = {\"a\": 1}
  event heard(of: Message, seen: Image?)
  var talk: List(Message) = []
  var photo: Image = Image { url: \"u\" }
  var kept: Found = Found { n: 1  by: \"x\" }
  fn spell(t: Text, n: Int?) -> Text
  fn pick(of: List(Found)) -> Found
";

/// Before charts with steps.
const TOOLS: &str = "tool w.find(q: Text) -> Json
tool w.count(n: Int in -4..12) -> Int
tools all = any
tools found = any - w.count
client fast { model \"any:small\" retry 1 }
client slow { model \"any:large\" fallback fast }
";

/// What stands before charts.
pub(super) fn before(specs: &[&Spec]) -> String {
    let mut out = TYPES.to_owned();
    if specs.iter().any(|spec| spec.taste.words) {
        out += WORD_TYPES;
    }
    if specs.iter().any(|spec| spec.taste.flavour.is_agent()) {
        out += TOOLS;
    }
    out
}

/// What stands in the chart before its states; `models` are the names of steps that have a prompt.
pub(super) fn inside(spec: &Spec, models: &[String]) -> String {
    let mut out = PLAIN.to_owned();
    if spec.taste.words {
        out += WORDS;
    }
    if !spec.taste.plain {
        out += "  pred here = turns_here > 1 or m < 1\n";
    }
    if !spec.taste.flavour.is_agent() {
        return out;
    }
    out += "  param name: Text\n";
    out += match spec.whole % 5 {
        0..=2 => "  defaults { retry 1 then skip }\n",
        3 => "  defaults { retry 0 then fail }\n",
        _ => "",
    };
    out += match spec.whole % 8 {
        2 => "  limits { calls 3 per turn }\n",
        5 => "  limits { calls 0 per turn }\n",
        6 => "  limits { calls 2 per turn  turns 20 warn 9 }\n",
        7 => "  limits { calls 9 warn 5 }\n",
        _ => "",
    };
    if let (Some(one), true) = (models.first(), spec.whole % 3 == 1) {
        let other = models.last().unwrap_or(one);
        let place = ["start", "end", "replace"][usize::from(spec.whole / 8) % 3];
        out += &format!(
            "  component polite into {one} if m > 1 at {place} \"\"\"{{name}} {{t}}\"\"\"\n"
        );
        if other != one {
            out += &format!("  component last_one into {other}, {one} \"\"\"{{m:>3}}\"\"\"\n");
        }
    }
    out
}
