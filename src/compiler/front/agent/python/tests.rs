use super::*;
use crate::syntax::source::{FileId, Source};

fn text(code: &str) -> (Text, Source) {
    (Text::new(FileId(0), code, 0..code.len(), code.to_owned()), Source::new("a.yaml", code))
}

/// Findings as `underlined text: message`.
fn faults(code: &str) -> Vec<String> {
    let (text, source) = text(code);
    let mut findings = Vec::new();
    super::code(&text, &mut findings);
    findings.iter().map(|d| format!("{}: {}", source.slice(d.span), d.message)).collect()
}

fn names(statements: &[Statement]) -> Vec<String> {
    let mut out = Vec::new();
    for statement in statements {
        match &statement.kind {
            StatementKind::Assign(name, _) => out.push(name.node.clone()),
            StatementKind::Store { mapping, key, .. } => {
                out.push(format!("{}[{}]", mapping.node, key.node));
            }
            StatementKind::Again(name, _) => out.push(format!("again {}", name.node)),
            StatementKind::If(_, then, other) => {
                out.push(format!("if {:?} else {:?}", names(then), names(other)));
            }
            StatementKind::For(name, _, body) => {
                out.push(format!("for {} {:?}", name.node, names(body)));
            }
        }
    }
    out
}

fn read(code: &str) -> Vec<Statement> {
    let (text, _) = text(code);
    let mut findings = Vec::new();
    let statements = super::code(&text, &mut findings);
    let messages: Vec<_> = findings.iter().map(|d| &d.message).collect();
    assert!(findings.is_empty(), "{messages:?}");
    statements
}

#[test]
fn statements_of_all_kinds() {
    let code = "a = b = 1\nif a > 1:\n    c = 2\n\n    # why\n    d = 3  # trailing\nelif a: e = 4; f = 5\n# between\nelse:\n  if x:\n    pass\n  g = {}\n\"text\"\nfor x in xs:\n\ty += x\ncontext['z'] = [\n  1,\n2]\n";
    let statements = read(code);
    assert_eq!(
        names(&statements),
        [
            "a",
            "b",
            r#"if ["c", "d"] else ["if [\"e\", \"f\"] else [\"if [] else []\", \"g\"]"]"#,
            r#"for x ["y"]"#,
            "context[z]"
        ]
    );
    let StatementKind::If(_, then, _) = &statements[2].kind else { panic!("an if") };
    assert!(!then[0].apart);
    let (text, _) = text(code);
    let found: Vec<&str> = super::comments(&text).into_iter().map(|r| &code[r]).collect();
    assert_eq!(found, ["# why", "# trailing", "# between"]);
    let statements = read("a = 1\n\nb = 2\n# c\nc = 3\n");
    assert_eq!(statements.iter().map(|s| s.apart).collect::<Vec<_>>(), [false, true, false]);
}

#[test]
fn spans_leave_parentheses_out() {
    let code = "x = (a + (b)) * -c";
    let (_, source) = text(code);
    let statements = read(code);
    let StatementKind::Assign(_, value) = &statements[0].kind else { panic!("an assignment") };
    let PyExprKind::Binary(BinaryOp::Multiply, left, right) = &value.kind else {
        panic!("a product")
    };
    assert_eq!(source.slice(left.span), "a + (b)");
    assert_eq!(source.slice(right.span), "-c");
}

#[test]
fn precedence_follows_python() {
    let (text, _) = text("not a == b or c and -d ** 2 < 3 <= e if f else g");
    let mut findings = Vec::new();
    let expr = condition(&text, &mut findings).expect("an expression");
    let PyExprKind::If(_, then, _) = expr.kind else { panic!("a conditional") };
    let PyExprKind::Or(parts) = then.kind else { panic!("an or") };
    assert!(
        matches!(&parts[0].kind, PyExprKind::Unary(UnaryOp::Not, e) if matches!(e.kind, PyExprKind::Compare(..)))
    );
    let PyExprKind::And(parts) = &parts[1].kind else { panic!("an and") };
    let PyExprKind::Compare(first, rest) = &parts[1].kind else { panic!("a comparison") };
    assert_eq!(rest.len(), 2);
    assert!(
        matches!(&first.kind, PyExprKind::Unary(UnaryOp::Negate, e) if matches!(e.kind, PyExprKind::Binary(BinaryOp::Power, ..)))
    );
}

#[test]
fn every_faulty_statement_is_reported() {
    let code = "import os\nx = 1\nwhile True:\n    y = 2\n    z = 3\nw = lambda a: a\nx.append(1)\nx.y = 2\na, b = 1, 2\nf(k=1)\nx = f'{x}'\ng = [x for x in y for z in x]\nh = = 2\nok = 1\nx = 'open\ntry:\n  a = 1\nexcept:\n  pass\nb = a[1:2:3]\nif a = 1:\n    c = 2\n";
    assert_eq!(
        faults(code),
        [
            "f'{x}': f-strings are not available here",
            "'open: this string does not end",
            "import: imports are not available here",
            "while: loops without bound are not available here",
            "lambda: functions are not available here",
            "x.append(1): a code step only assigns: this statement changes nothing",
            "x.y: only names can be assigned to",
            ",: assignments to several names are not available here",
            "=: arguments by name are not available here",
            "for: comprehensions over two sources are not available here",
            "=: expected a value, found `=`",
            "try: handlers of errors are not available here",
            ":: slices with a step are not available here",
            "=: `=` assigns: a condition compares with `==`",
        ]
    );
}

#[test]
fn an_assignment_for_a_comparison() {
    let (text, source) = text("balance = 5");
    let mut findings = Vec::new();
    assert!(condition(&text, &mut findings).is_none());
    assert_eq!(source.slice(findings[0].span), "=");
    assert!(findings[0].help.as_deref().is_some_and(|h| h.contains("`==`")));
}

#[test]
fn hostile_code_ends_soon() {
    for code in [
        "(".repeat(100_000),
        format!("x = {}", "-".repeat(100_000)),
        format!("x = {}1", "not ".repeat(50_000)),
        format!("x = a{}", " + a".repeat(50_000)),
        format!("x = a{}", ".b".repeat(50_000)),
        format!("x = a{}", "[0]".repeat(50_000)),
        format!("x = a{}", " or a".repeat(50_000)),
        format!("x = {}1", "a if b else ".repeat(50_000)),
        format!("x = {}", "2 ** ".repeat(50_000)),
        // Below the limit of tokens.
        format!("x = {}b{}", "[a for a in ".repeat(1_500), "]".repeat(1_500)),
        format!("x = {}b{}", "[a for a in b if ".repeat(1_500), "]".repeat(1_500)),
        (0..3000).fold(String::new(), |s, i| s + &" ".repeat(i) + "if a:\n"),
        format!("if a:\n  b = 1\n{}", "elif a:\n  b = 1\n".repeat(5_000)),
        "{".repeat(50_000),
        "'".repeat(50_001),
    ] {
        assert!(!faults(&code).is_empty(), "{code:.30}");
    }
}
