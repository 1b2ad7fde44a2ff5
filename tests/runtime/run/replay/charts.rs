//! Charts of the replay campaign beside the shipped ones.

/// Clients with prices and deadlines, limits, regions that ask at the same time, a person, a tool of a `call` step, a chart that is run twice, events that are sent late.
pub(super) const OWN: &str = r#"
tool look(what: Text) -> Int

chart Helper {
  param word: Text
  event hurry
  initial at_work
  state at_work {
    llm think { prompt "What of {word}?"  returns Text  retry 1  done -> good(think)  error -> bad }
    on hurry -> bad
    after 8s -> bad
  }
  final good(said: Text)
  final bad : error
}

chart Own {
  client big { model "openai:big"  max_tokens 200  timeout 4s  input_price 1.5  output_price 2.0  fallback small }
  client small { model "openai:small"  max_tokens 100  timeout 6s  input_price 0.5  output_price 1.0 }
  limits { tokens 9000 warn 300  cost 90.0 warn 0.002 }
  fn weight(what: Text, n: Int) -> Float else 0.5
  do tell(what: Text)
  input level: Int = 0
  event go
  event hurry
  event late(n: Int)
  var said: Json = none
  var seen: Int = 0
  on limit.* -> both.left.waiting
  initial both
  parallel both {
    state left {
      initial thinking
      state thinking {
        llm plan with big { prompt "Level {level}, seen {seen}."  tools look calls 2  returns Int  retry 2  done -> asking  error -> waiting }
        after 5s -> waiting
      }
      state asking {
        human sure "Go on with {seen}?" { returns Bool  retry 1  done if sure -> looking  done -> waiting  error -> waiting }
      }
      state looking {
        call found look("{level}") { returns Int into seen  done -> waiting  error -> waiting }
      }
      state waiting {
        enter { send late(seen) after 2s  tell("left") }
        on late(n) if weight("late", n) > 0.4 -> thinking
        on go -> thinking
        after 30s -> asking
      }
    }
    state right {
      initial picking
      state picking {
        may help "ask somebody" -> helped
        may rest "do nothing" -> resting
        may look "look it up" if weight("look", level) > 0.3 -> resting
        ask which on turn else resting { prompt "What now?"  retry 1 }
      }
      state helped {
        run first Helper("one")
        on done(first) as v -> picking { said = v }
        on error(first) -> resting
      }
      state resting {
        on go -> picking
        on turn if turns_here > 3 or turns_here >= 4 or turns > 8 -> helped
        after 20s -> picking
      }
    }
  }
}
"#;

/// One question for the leaves of two regions, tools that it may call, and other calls beside it.
pub(super) const SHARED: &str = r#"
tool look(what: Text) -> Int

chart Shared {
  client big { model "openai:big"  max_tokens 200  timeout 4s  input_price 1.5  output_price 2.0 }
  limits { tokens 90000 calls 3 per turn }
  event go
  var seen: Int = 0
  initial both
  parallel both {
    ask next with big on turn else stay { prompt "Seen {seen}. {options}"  retry 2  timeout 6s { } }
    state left {
      initial here
      state here { may call look into seen  may there "over there" -> there  may stay_here "stay" { seen = seen + 1 } }
      state there { llm think with big { prompt "Seen {seen}?"  returns Int into seen  retry 1 then skip } -> here  on go -> here }
    }
    state right {
      initial up
      state up { may down "go down" -> down  may stay_up "stay" { seen = seen + 2 } }
      state down { call search look("down") { retry 1 then skip } -> up  on go -> up }
    }
    on go if seen > 9 -> both
  }
}
"#;

/// Elements that have to wait for what others give back, and lines that read what they took.
pub(super) const TIGHT: &str = r#"
chart Tight {
  param room: Int = 2500
  client small { model "openai:small"  max_tokens 100  timeout 9s  input_price 1.5  output_price 2.0 }
  limits { tokens room * 2 warn room  cost 90.0 }
  event go
  event stop
  var warned: Int = 0
  var said: List(Text) = []
  on limit.warn.tokens { warned = warned + 1 }
  on limit.tokens -> resting
  initial asking
  state asking {
    llm ask each n in [1, 2, 3, 4, 5, 6, 7, 8] with small {
      prompt "{n}: {calls_here} calls, {tokens} tokens"  returns Text into said  retry 1  else skip
      done -> resting  error -> resting
    }
    on stop -> resting
    when tokens_here > 4000 or tokens > 4000000 -> resting
  }
  state resting {
    on go -> asking
    on turn if cost < 80.0 -> asking
  }
}
"#;
