//! Parses scripts of ECMAScript.

use super::expr::{Parser, is_name};
use super::token::Token;
use super::{Expr, Fault, ScriptExprKind, Statement, StatementKind};
use crate::front::scxml::text::Text;
use crate::span::{Ident, Span};
use crate::syntax::BinaryOp;

/// Parses all statements of a script.
pub(in crate::front::scxml) fn statements(text: &Text) -> Result<Vec<Statement>, Fault> {
    let mut parser = Parser::new(text)?;
    let mut found = Vec::new();
    while *parser.peek() != Token::End {
        statement(&mut parser, &mut found)?;
    }
    Ok(found)
}

fn statement(parser: &mut Parser, to: &mut Vec<Statement>) -> Result<(), Fault> {
    if parser.eat(";") {
        return Ok(());
    }
    if matches!(parser.peek(), Token::Mark("{")) {
        to.extend(block(parser)?);
        return Ok(());
    }
    let place = parser.place();
    let word = match parser.peek() {
        Token::Name(word) => word.clone(),
        _ => String::new(),
    };
    match word.as_str() {
        "function" | "class" | "async" => return parser.refuse("a function is not translated"),
        "while" | "do" | "switch" | "try" | "throw" | "return" | "break" | "continue" | "with"
        | "export" | "debugger" => {
            let why = format!("`{word}` is not translated");
            return parser.refuse(&why);
        }
        "var" | "let" | "const" => {
            parser.next();
            return declarations(parser, to);
        }
        "if" => {
            to.push(if_else(parser)?);
            return Ok(());
        }
        "for" => {
            to.push(for_of(parser)?);
            return Ok(());
        }
        _ => {}
    }
    let kind = simple(parser)?;
    end(parser)?;
    to.push(Statement { kind, span: place });
    Ok(())
}

/// Parses the end of a statement: `;`, or the end of the line, the block or the script.
fn end(parser: &mut Parser) -> Result<(), Fault> {
    if parser.eat(";") || parser.broken() || matches!(parser.peek(), Token::Mark("}") | Token::End)
    {
        return Ok(());
    }
    if matches!(parser.peek(), Token::Mark(",")) {
        return parser.refuse("`,` between statements is not translated");
    }
    Err(parser.unexpected("`;`"))
}

fn block(parser: &mut Parser) -> Result<Vec<Statement>, Fault> {
    let mut found = Vec::new();
    if !matches!(parser.peek(), Token::Mark("{")) {
        parser.nested(|p| statement(p, &mut found))?;
        return Ok(found);
    }
    parser.expect("{")?;
    while !parser.eat("}") {
        if *parser.peek() == Token::End {
            return Err(parser.unexpected("`}`"));
        }
        parser.nested(|p| statement(p, &mut found))?;
    }
    Ok(found)
}

fn declarations(parser: &mut Parser, to: &mut Vec<Statement>) -> Result<(), Fault> {
    loop {
        let name = name(parser)?;
        let span = name.span;
        let value = if parser.eat("=") { Some(parser.expr()?) } else { None };
        to.push(Statement { kind: StatementKind::Declare(name, value), span });
        if !parser.eat(",") {
            return end(parser);
        }
    }
}

fn name(parser: &mut Parser) -> Result<Ident, Fault> {
    match parser.peek().clone() {
        Token::Name(word) if is_name(&word) => {
            let (_, span) = parser.next();
            Ok(Ident::new(word, span))
        }
        Token::Mark("[" | "{") => parser.refuse("taking values apart is not translated"),
        _ => Err(parser.unexpected("a name")),
    }
}

fn if_else(parser: &mut Parser) -> Result<Statement, Fault> {
    let (_, span) = parser.next();
    parser.expect("(")?;
    let test = parser.expr()?;
    parser.expect(")")?;
    let then = block(parser)?;
    let other = if parser.word("else") {
        parser.next();
        block(parser)?
    } else {
        Vec::new()
    };
    Ok(Statement { kind: StatementKind::If(test, then, other), span })
}

fn for_of(parser: &mut Parser) -> Result<Statement, Fault> {
    let (_, span) = parser.next();
    parser.expect("(")?;
    if !["var", "let", "const"].iter().any(|word| parser.word(word)) {
        return parser.refuse("of loops, only `for (const x of xs)` is translated");
    }
    parser.next();
    let item = name(parser)?;
    if !parser.word("of") {
        return parser.refuse("of loops, only `for (const x of xs)` is translated");
    }
    parser.next();
    let source = parser.expr()?;
    parser.expect(")")?;
    let body = block(parser)?;
    Ok(Statement { kind: StatementKind::ForOf(item, source, body), span })
}

/// Parses an assignment, or a supported call.
fn simple(parser: &mut Parser) -> Result<StatementKind, Fault> {
    for (mark, op) in [("++", BinaryOp::Add), ("--", BinaryOp::Subtract)] {
        if parser.eat(mark) {
            let place = parser.expr()?;
            return step(place, op);
        }
    }
    let place = parser.expr()?;
    for (mark, op) in [("++", BinaryOp::Add), ("--", BinaryOp::Subtract)] {
        // A `++` on the next line belongs to the next statement.
        if !parser.broken() && parser.eat(mark) {
            return step(place, op);
        }
    }
    if parser.eat("=") {
        let value = parser.expr()?;
        if matches!(parser.peek(), Token::Mark("=")) {
            return parser.refuse("one assignment in another is not translated");
        }
        return assign(place, value);
    }
    let changes = [
        ("+=", BinaryOp::Add),
        ("-=", BinaryOp::Subtract),
        ("*=", BinaryOp::Multiply),
        ("/=", BinaryOp::Divide),
        ("%=", BinaryOp::Modulo),
        ("**=", BinaryOp::Power),
    ];
    for (mark, op) in changes {
        if parser.eat(mark) {
            let value = parser.expr()?;
            let span = place.span.to(value.span);
            let changed = Expr::new(
                ScriptExprKind::Binary(op, Box::new(place.clone()), Box::new(value)),
                span,
            );
            return assign(place, changed);
        }
    }
    call(place)
}

/// Builds `x++` or `x--`. It converts `x` to a number first, as `+` alone could join texts.
fn step(place: Expr, op: BinaryOp) -> Result<StatementKind, Fault> {
    let span = place.span;
    let number = Expr::new(ScriptExprKind::Number(Box::new(place.clone())), span);
    let one = Expr::new(ScriptExprKind::Int(1), span);
    assign(place, Expr::new(ScriptExprKind::Binary(op, Box::new(number), Box::new(one)), span))
}

fn assign(place: Expr, value: Expr) -> Result<StatementKind, Fault> {
    let span: Span = place.span;
    let mut base = &place;
    while let ScriptExprKind::Member(of, _) | ScriptExprKind::Index(of, _) = &base.kind {
        base = of;
    }
    if matches!(base.kind, ScriptExprKind::Name(_)) {
        return Ok(StatementKind::Assign(place, value));
    }
    Err(Fault::Faulty(span, "this cannot be assigned to".to_owned()))
}

fn call(whole: Expr) -> Result<StatementKind, Fault> {
    let ScriptExprKind::Call(function, mut arguments) = whole.kind else {
        return Err(Fault::Refused(
            whole.span,
            "an expression by itself is not translated".to_owned(),
        ));
    };
    if let ScriptExprKind::Member(of, method) = &function.kind {
        if method.node == "push" && arguments.len() == 1 {
            return Ok(StatementKind::Push((**of).clone(), arguments.remove(0)));
        }
        if method.node == "log" && of.kind == ScriptExprKind::Name("console".to_owned()) {
            return Ok(StatementKind::Log(arguments));
        }
    }
    Err(Fault::Refused(
        whole.span,
        "this function is not known, and functions are not translated".to_owned(),
    ))
}
