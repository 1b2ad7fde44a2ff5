use super::*;

fn of(name: &str) -> Holder {
    Holder::of(name)
}

fn ledger() -> Ledger {
    let mut ledger = Ledger::default();
    for (name, scrip) in [("ada", 100), ("bob", 5)] {
        ledger.mint(name, Resource::Scrip, scrip, "endowment").expect("it is new");
    }
    ledger
}

fn scrip(ledger: &mut Ledger, from: &str, to: &str, amount: i64) -> Result<(), LedgerError> {
    ledger.transfer(of(from), of(to), Resource::Scrip, amount, "test")
}

#[test]
fn what_comes_has_left() {
    let mut ledger = ledger();
    scrip(&mut ledger, "ada", "bob", 30).expect("100");
    assert_eq!((ledger.scrip("ada"), ledger.scrip("bob"), ledger.circulation()), (70, 35, 105));
    ledger.burn("bob", Resource::Scrip, 5, "fee").expect("35");
    assert_eq!(ledger.circulation(), 100);
    ledger.audit().expect("it adds up");
}

#[test]
fn an_amount_that_cannot_move_has_a_reason_and_changes_nothing() {
    let mut ledger = ledger();
    let before = ledger.clone();
    for (from, to, amount, why) in [
        ("ada", "bob", 0, "an amount is a whole number, 1 or more; 0 is not"),
        ("ada", "bob", -5, "an amount is a whole number, 1 or more; -5 is not"),
        ("ada", "bob", i64::MIN, "an amount is a whole number, 1 or more; "),
        ("ada", "ada", 5, "ada cannot transfer to itself"),
        ("ada", "bob", 101, "ada has 100 scrip, and 101 is needed"),
        ("ada", "bob", i64::MAX, "ada has 100 scrip, and 9223372036854775807 is needed"),
        ("eve", "bob", 1, "eve has 0 scrip, and 1 is needed"),
    ] {
        let found = scrip(&mut ledger, from, to, amount).expect_err(why).to_string();
        assert!(found.starts_with(why), "{found}");
        assert_eq!(ledger, before, "{why}");
    }
    let most = ledger.mint("ada", Resource::Scrip, i64::MAX, "too much").expect_err("100 and all");
    assert_eq!(most, LedgerError::Overflow(Holder::Mint));
    assert_eq!(ledger, before);
    ledger.mint("eve", Resource::Scrip, i64::MAX - 105, "all that there is").expect("it fits");
    assert_eq!(ledger.circulation(), i64::MAX);
    let most = ledger.mint("bob", Resource::Scrip, 1, "and one").expect_err("no more");
    assert_eq!(most, LedgerError::Overflow(Holder::Mint));
    ledger.audit().expect("it adds up");
}

#[test]
fn entries_are_booked_together_or_not_at_all() {
    let mut ledger = ledger();
    let before = ledger.clone();
    let entry = |from: &str, to: &str, amount| Entry {
        from: of(from),
        to: of(to),
        resource: Resource::Scrip,
        amount,
        why: "test".into(),
    };
    let why = ledger.post(vec![entry("ada", "bob", 60), entry("bob", "eve", 66)]);
    assert!(matches!(why, Err(LedgerError::Short { has: 65, wanted: 66, .. })), "{why:?}");
    for name in ["ada", "bob", "eve"] {
        assert_eq!(ledger.scrip(name), before.scrip(name), "{name}");
    }
    assert_eq!(ledger.posted(), before.posted());
    ledger.post(vec![entry("ada", "bob", 60), entry("bob", "eve", 65)]).expect("both");
    assert_eq!((ledger.scrip("ada"), ledger.scrip("bob"), ledger.scrip("eve")), (40, 0, 65));
}

#[test]
fn what_is_put_aside_is_paid_once() {
    let mut ledger = ledger();
    let hold = ledger.hold("ada", 60, "bid").expect("100");
    assert_eq!((ledger.scrip("ada"), ledger.circulation()), (40, 105));
    scrip(&mut ledger, "ada", "bob", 41).expect_err("60 are put aside");
    ledger.release_part(hold, of("bob"), 25, "price").expect("60");
    ledger.release_part(hold, of("bob"), 36, "price").expect_err("35 are left");
    ledger.audit().expect("it adds up");
    assert_eq!(ledger.release(hold, of("ada"), "rest"), Ok(35));
    assert_eq!(ledger.release(hold, of("ada"), "rest"), Err(LedgerError::NoHold(hold)));
    assert_eq!((ledger.scrip("ada"), ledger.scrip("bob")), (75, 30));
    assert_eq!(ledger.holds().count(), 0);
    let next = ledger.hold("ada", 75, "bid").expect("all of it");
    assert!(next > hold);
    ledger.release_part(next, Holder::Mint, 75, "burned").expect("all of it");
    assert_eq!(ledger.holds().count(), 0);
    ledger.audit().expect("it adds up");
}

#[test]
fn an_audit_finds_what_is_wrong() {
    let sound = || {
        let mut ledger = ledger();
        ledger.hold("ada", 10, "bid").expect("100");
        ledger.audit().expect("it adds up");
        ledger
    };
    type Break = fn(&mut Ledger);
    let breaks: [(&str, Break); 4] = [
        ("all scrip adds up to 1", |ledger| {
            ledger.accounts.insert(of("eve"), [1, 0, 0]);
        }),
        ("bob has -3 scrip", |ledger| {
            ledger.accounts.insert(of("bob"), [-3, 0, 0]);
        }),
        ("hold 1 is of 9", |ledger| {
            ledger.holds.entry(1).and_modify(|hold| hold.amount = 9);
        }),
        ("hold 2 is of 4, and has 0", |ledger| {
            ledger.holds.insert(2, Hold { by: "ada".into(), amount: 4, why: String::new() });
        }),
    ];
    for (why, change) in breaks {
        let mut ledger = sound();
        change(&mut ledger);
        let found = ledger.audit().expect_err(why);
        assert!(found.starts_with(why), "{found}");
        let saved = ledger.save();
        assert!(Ledger::load(saved).is_err(), "{why}");
    }
}

#[test]
fn it_goes_on_where_it_was_saved() {
    let mut first = ledger();
    first.hold("ada", 10, "bid").expect("100");
    let text = serde_json::to_string(&first.save()).expect("JSON");
    let mut second = Ledger::load(serde_json::from_str(&text).expect("JSON")).expect("sound");
    first.take_recent();
    assert_eq!(first, second);
    for ledger in [&mut first, &mut second] {
        assert_eq!(ledger.hold("bob", 5, "bid"), Ok(2));
    }
    assert_eq!(first, second);
}
