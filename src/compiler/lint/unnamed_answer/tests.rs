use super::*;

#[track_caller]
fn check(text: &str, words: &[&str]) {
    let known = ["continue", "pivot", "ship it"].map(str::to_owned).into();
    let known = KnownAnswers { words: known, are: Are::All, alone: true };
    let found = offered(text, &known, true);
    let all = found.iter().flatten();
    assert_eq!(all.map(|(w, _)| w.as_str()).collect::<Vec<_>>(), words, "{text}");
    for (word, at) in found.into_iter().flatten() {
        assert_eq!(text[at], word);
    }
}

#[test]
fn lists_with_an_unknown_answer() {
    check("Answer with one of: continue, pivot, stop", &["stop"]);
    check("Answer one of: continue, stop.", &["stop"]);
    check("Say 'continue' or 'stop', not 'maybe'.", &["stop"]);
    check("Answer:\n- \"continue\"\n- \"stop\": give up\nThen wait.", &["stop"]);
    check("1. **continue** - go on\n2. **stop** - give up", &["stop"]);
    check("{\"decision\": \"continue|pivot|stop\"}", &["stop"]);
    check("{\"decision\": \"continue\"} or {\"decision\": \"stop\", \"why\": \"x\"}", &["stop"]);
    check("Choose either pivot or halt", &["halt"]);
}

#[test]
fn lists_behind_a_verb_or_in_final_brackets() {
    check("Is it done? Answer yes, partially or no.", &["yes", "partially", "no"]);
    check("Answer with exactly one word: yes or no.", &["yes", "no"]);
    check("Respond with a yes or a no", &["yes", "no"]);
    check("Say \"go\" or \"halt\".", &["go", "halt"]);
    check("Choose between red and blue.", &[]);
    check("Are you done? (yes/no)", &["yes", "no"]);
    check("Are you done (yes/no) with it?", &[]);
    check("Respond with JSON or text.", &[]);
    check("Answer yes or no, then explain why.", &[]);
    check("Answer with an apple or a continue.", &["apple"]);
}

#[test]
fn what_is_forbidden_is_no_answer() {
    check("Do not answer with maybe, unclear or neutral.", &[]);
    check("Don't ever just say \"maybe\" or \"continue\".", &[]);
    check("Never answer one of: maybe, continue.", &[]);
    check("Answer with pivot or continue, not with maybe or halt.", &[]);
    check("Avoid answers such as continue or maybe.", &[]);
    check("Do not choose by length, tone or continue.", &[]);
    check("If you are not sure, answer with continue or halt.", &["halt"]);
    check("Do nothing else: answer yes or no.", &["yes", "no"]);
    check("When not sure answer with pivot or halt.", &["halt"]);
}

#[test]
fn lists_that_only_describe() {
    check("Threats go to pivot (lawyers, courts, police).", &[]);
    check("Rank each of them (people, money, time)", &[]);
    check("Is it done? (pivto, halt)", &["pivto", "halt"]);
    check("Which one (pivot, halt, wait)?", &["halt", "wait"]);
    check("Choose by length, tone or language.", &[]);
    check("Choose red, green or blue.", &[]);
    check("Choose red, pivto or blue.", &["red", "pivto", "blue"]);
    check("Rate the answer as short or long.", &[]);
    check("Then only answer with short or long.", &["short", "long"]);
    check("Answer short, long.", &[]);
    check("Always answer kindly, calmly or firmly.", &[]);
}

#[test]
fn words_of_one_list_stay_together() {
    let known = ["continue"].map(str::to_owned).into();
    let known = KnownAnswers { words: known, are: Are::All, alone: true };
    let found = offered("Answer yes or no. Say 'continue' or 'no' or 'halt'.", &known, true);
    let words: Vec<Vec<&str>> =
        found.iter().map(|list| list.iter().map(|(word, _)| &word[..]).collect()).collect();
    assert_eq!(words, [vec!["yes", "no"], vec!["halt"]]);
}

#[test]
fn lists_of_known_answers() {
    check("Answer with one of: continue, pivot, ship_it", &[]);
    check("- 'continue'\n- 'ship-it'\n", &[]);
}

#[test]
fn prose_is_no_list() {
    check("Look at balance, tools and friends, then continue, or pivot and rest.", &[]);
    check("Whenever \"market\" closes, continue.", &[]);
    check("Facts:\n- balance: 3\n- a longer line\n- continue: yes\n", &[]);
    check("Think: alone, together or never. Then answer continue or pivot.", &[]);
    check("one of: red, green, continue", &[]);
    check("don't continue, it's over", &[]);
}

#[test]
fn lists_within_a_sentence() {
    let known = ["low", "mid", "high"].map(str::to_owned);
    let of = |text: &str, are| {
        let known = KnownAnswers { words: known.clone().into(), are, alone: true };
        offered(text, &known, true).into_iter().flatten().map(|(word, _)| word).collect::<Vec<_>>()
    };
    for are in [Are::All, Are::Parts] {
        assert_eq!(of("Give it (low, medium, high) and say why.", are), ["medium"]);
        assert_eq!(of("It is low, medium or high.", are), ["medium"]);
        assert_eq!(of("Say which (low, people, money) and why.", are), [""; 0]);
        assert_eq!(of("The price is low, fair or good.", are), [""; 0]);
    }
}
