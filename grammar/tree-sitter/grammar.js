/**
 * @file The `.chart` language for tree-sitter
 * @license MIT OR Apache-2.0
 */

/// <reference types="tree-sitter-cli/dsl" />
// @ts-check

// Most words of the language are keywords in some places only and names everywhere else. The lexer takes a word for a keyword
// where the grammar allows that keyword, so a place that allows both a keyword and a name lists the keyword among its names.

/** Loosest first. */
const PREC = {
  or: 1,
  and: 2,
  not: 3,
  compare: 4,
  default: 5,
  add: 6,
  multiply: 7,
  negate: 8,
  power: 9,
  postfix: 10,
};

/** Words that are no names without back-quotes. */
const RESERVED = [
  'and', 'or', 'not', 'in', 'if', 'then', 'else', 'for', 'none', 'true', 'false', 'stay', 'turn', 'div',
];

/** First words of items in charts and states. */
const ITEM_WORDS = [
  'state', 'on', 'when', 'may', 'after', 'each', 'initial', 'final', 'llm', 'ask', 'code', 'call', 'human', 'run', 'from',
  'enter', 'exit', 'defer', 'allow', 'advice', 'limits', 'parallel', 'history', 'var', 'param', 'input', 'event', 'pred',
  'fn', 'do', 'tools', 'tool', 'client', 'component', 'check', 'defaults', 'trace', 'meta',
];

/** First words of items in tests; `turn` is reserved. */
const TEST_WORDS = ['given', 'at', 'send', 'turns', 'until', 'set', 'wait', 'answers', 'fails', 'tool', 'expect'];

/** First words of what a test expects that is no expression. */
const TOLD_WORDS = ['at', 'ended', 'offered', 'denied', 'called', 'asked', 'asking', 'prompt'];

/** The kinds of what a `check` names. */
const SUBJECT_KINDS = ['state', 'do', 'tool', 'step', 'may', 'event'];

/** First words of actions that are calls or assignments where `(` or `=` follows. */
const ACTION_WORDS = ['raise', 'send', 'cancel', 'log'];

/** Words that may continue a `send`, or begin the assignment behind it. */
const SEND_WORDS = ['to', 'after', 'as'];

/** @param {RuleOrLiteral} rule */
function commaSep1(rule) {
  return seq(rule, repeat(seq(',', rule)));
}

/** With a comma allowed behind the last. @param {RuleOrLiteral} rule */
function commaSep(rule) {
  return optional(seq(commaSep1(rule), optional(',')));
}

/** All of the rules in their order, each optional, but not none of them. @param {RuleOrLiteral[]} rules */
function some(...rules) {
  return choice(...rules.map((rule, n) => seq(rule, ...rules.slice(n + 1).map(next => optional(next)))));
}

/** A name that may also be one of the words. */
function nameOr($, words) {
  return choice($._name, alias(words.length > 1 ? choice(...words) : words[0], $.identifier));
}

/** A path whose first name may also be one of the words. */
function pathOr($, words) {
  return seq(nameOr($, words), repeat(seq('.', $._name)));
}

export default grammar({
  name: 'chart',

  word: $ => $.identifier,

  reserved: {
    global: _ => RESERVED,
  },

  extras: $ => [/[ \t\r\n\uFEFF]/, $.doc_comment, $.comment],

  externals: $ => [
    $._line_start,
    $._block_start,
    $._plain_line_start,
    $._plain_block_start,
    $._string_end,
    $.unclosed,
    $.string_content,
    $.escape_sequence,
    $.brace_escape,
    $.stray_brace,
    $._hole_start,
    $._hole_end,
    $.format,
    $._record_ahead,
    $._value_ahead,
    $._error_sentinel,
  ],

  supertypes: $ => [
    $.declaration,
    $.transition,
    $.step,
    $.action,
    $.statement,
    $.test_item,
    $.expression,
  ],

  inline: $ => [$._name],

  conflicts: $ => [
    // `fn f() -> T from "shop"`, or a `from` item behind it.
    [$.function],
    [$.effect],
    // `llm s each x in xs`, or `each after 2h` behind it.
    [$.llm_step],
    // `llm s on e { prompt "…" }`, or a line `on e { n = 1 }` behind `llm s`.
    [$.llm_step, $._started],
    [$._step_rest, $._started],
    // `call c each state in xs t`, or the tool `each` and an item behind it.
    [$.each, $._tool_path],
    [$.each, $.run_step],
    // `send e to c`, or an assignment to a variable of that name behind it.
    [$.send_action],
    // `calls 1 per turn`, or a limit of that name behind it.
    [$.limit],
    // `on done(s)`, or the event `done` with its data.
    [$.outcome_event, $._outcome_path],
    // `doubt retry 3`, or `doubt retry` and `3 at a time`.
    [$.doubt_retry, $.outcome],
    // `retry 3 wait 1s up to 30s`, or `up to 20` elements behind it.
    [$._retry_wait],
    // `retry 3`, or `retry 3 on timeout`; behind it may stand options that are named `on` and so on.
    [$._client_retry],
    [$._client_retry, $._number],
    // What a `check` is about: states or a bound.
    [$._check_path, $._operand],
    // `do pay`, or something that is named `do`.
    [$._check_path, $._subject_kind],
  ],

  rules: {
    source_file: $ => repeat($._top_item),

    _top_item: $ => choice(
      $.import,
      $.record_type,
      $.enum_type,
      $.chart,
      $.function,
      $.effect,
      $.tool,
      $.tool_set,
      $.client,
      $.component,
      $.test,
    ),

    // Declarations

    import: $ => seq('import', field('path', $._plain)),

    record_type: $ => seq('type', field('name', $._name), '{', repeat(seq($.parameter, optional(','))), '}'),

    enum_type: $ => seq('enum', field('name', $._name), '{', repeat(seq($.enum_value, optional(','))), '}'),
    enum_value: $ => field('name', $._name),

    function: $ => seq(
      'fn', field('name', $._name), field('parameters', $.parameters), '->', field('type', $.type),
      optional($.method),
      optional(seq('else', field('default', $.expression))),
    ),
    method: $ => prec.right(seq('from', field('artifact', $._plain), optional(field('method', $._plain)))),
    effect: $ => seq('do', field('name', $._name), field('parameters', $.parameters), optional($.method)),

    tool: $ => seq(
      'tool', field('name', $.path), field('parameters', $.parameters), '->', field('type', $.type),
      optional('idempotent'),
    ),
    tool_set: $ => seq(
      'tools', field('name', $._name), '=', $._tool_sum,
    ),
    _tool_sum: $ => prec.right(seq($.tool_pattern, repeat(seq(choice('|', '-'), $.tool_pattern)))),
    tool_pattern: $ => choice(prec(1, 'any'), seq(alias($._pattern_path, $.path), optional('.*'))),
    _pattern_path: $ => pathOr($, ['any']),

    client: $ => seq('client', field('name', $._name), '{', repeat(choice(alias($._client_retry, $.client_option), $.client_option)), '}'),
    client_option: $ => seq(
      field('name', $._name),
      field('value', $._option_value),
    ),
    _option_value: $ => choice($._plain, $._signed_number, $.boolean, $.none, $._name, $.server_options),
    server_options: $ => seq('{', repeat($.client_option), '}'),
    _signed_number: $ => seq(optional('-'), $._number),

    component: $ => seq(
      'component', field('name', $._name), 'into', commaSep1($.insertion), field('text', $.string),
    ),
    insertion: $ => seq(
      field('step', $._name), optional($.guard), optional(seq('at', choice('start', 'end', 'replace'))),
    ),

    chart: $ => seq('chart', field('name', $._name), optional($.renamed), field('body', $.chart_body)),
    chart_body: $ => seq('{', repeat(choice($.declaration, $._state_item)), '}'),

    declaration: $ => choice(
      $.variable,
      $.event,
      $.predicate,
      $.function,
      $.effect,
      $.tool,
      $.tool_set,
      $.client,
      $.component,
      $.check,
      $.defaults,
      $.trace,
      $.meta,
    ),

    variable: $ => seq(
      choice('var', 'param', 'input'), field('name', $._name), optional($.renamed), ':', field('type', $.type),
      optional($.range),
      optional(seq('=', field('value', $.expression))),
      optional(seq('per', 'turn')),
    ),
    renamed: $ => seq('renamed_from', commaSep1($._name)),
    range: $ => seq('in', field('from', $.expression), '..', field('to', $.expression)),
    event: $ => seq('event', field('name', $.path), optional(field('parameters', $.parameters))),
    predicate: $ => seq('pred', field('name', $._name), '=', field('value', $.expression)),

    check: $ => seq('check', choice($._property, $.at_most, $.before), optional($.check_given)),
    _property: $ => seq(field('name', $._name), '(', optional(commaSep1($._check_argument)), ')'),
    _check_argument: $ => choice(alias($._check_path, $.path), $.unless, $.before, $.bound),
    unless: $ => seq($._subject, 'unless', $._subject),
    before: $ => seq($._subject, 'before', $._subject),
    at_most: $ => seq($._subject, 'at', 'most', field('most', $.expression)),
    _subject: $ => seq(optional(field('kind', $._subject_kind)), alias($._check_path, $.path)),
    _subject_kind: $ => choice(...SUBJECT_KINDS),
    _check_path: $ => pathOr($, [...TOLD_WORDS, ...SUBJECT_KINDS]),
    bound: $ => seq(field('value', $.expression), field('unit', choice(nameOr($, ['before', 'unless']), 'turn'))),
    check_given: $ => seq('given', commaSep1($.check_range)),
    check_range: $ => seq(field('param', $._name), $.range),

    defaults: $ => seq('defaults', '{', $.policy, '}'),
    trace: $ => seq('trace', choice($.integer, 'all')),

    meta: $ => seq('meta', '{', repeat(seq($.meta_entry, optional(','))), '}'),
    meta_entry: $ => seq(field('key', choice($._name, $._plain)), ':', field('value', $._meta_value)),
    _meta_value: $ => choice(
      seq(optional('-'), choice($.float, $.integer)), $._plain, $.boolean, $.none, $.meta_list, $.meta_map,
    ),
    meta_list: $ => seq('[', commaSep($._meta_value), ']'),
    meta_map: $ => seq('{', repeat(seq($.meta_entry, optional(','))), '}'),

    parameters: $ => seq('(', commaSep($.parameter), ')'),
    parameter: $ => seq(field('name', $._name), ':', field('type', $.type), optional($.range)),

    type: $ => prec.right(seq(
      field('name', $._name), optional(seq('(', commaSep1($.type), ')')), repeat('?'),
    )),

    // States

    _state_item: $ => choice(
      $.state,
      $.parallel,
      $.final,
      $.initial,
      $.history,
      $.transition,
      $.from,
      $.enter,
      $.exit,
      $.defer,
      $.allow,
      $.advice,
      $.limits,
      $.step,
    ),

    state: $ => seq('state', field('name', $._name), optional($.renamed), optional(field('body', $.state_body))),
    parallel: $ => seq('parallel', field('name', $._name), optional($.renamed), optional(field('body', $.state_body))),
    final: $ => seq(
      'final', field('name', $._name), optional($.renamed),
      optional(field('results', $.results)),
      optional(seq(':', field('status', $._name))),
      optional(field('body', $.state_body)),
    ),
    results: $ => seq('(', commaSep($.result), ')'),
    result: $ => seq($.parameter, optional(seq('=', field('value', $.expression)))),
    state_body: $ => seq('{', repeat($._state_item), '}'),
    initial: $ => seq('initial', commaSep1(field('state', $.path)), optional(field('actions', $.block))),
    history: $ => seq(
      'history', field('name', $._name), optional($.renamed), optional('deep'),
      '->', commaSep1(field('state', $.path)), optional(field('actions', $.block)),
    ),

    transition: $ => choice($.on_transition, $.when_transition, $.after_transition, $.may_transition),

    on_transition: $ => seq('on', field('event', $._event_pattern), optional($._tail)),
    when_transition: $ => seq('when', field('condition', $.expression), optional($._tail)),
    after_transition: $ => seq(
      optional('each'), 'after', field('delay', $.expression), optional('turns'), optional($._tail),
    ),
    may_transition: $ => seq(
      'may', choice($.option, $.tool_option), optional(field('text', $.string)), optional($._tail),
    ),
    option: $ => seq(field('name', nameOr($, ['call'])), optional(field('parameters', $.parameters))),
    // `may call on -> a` offers the set `on`.
    tool_option: $ => prec.right(1, seq(
      'call', $._item_sum, optional(seq('into', field('variable', $._name))),
    )),
    _item_sum: $ => prec.right(seq(
      alias($._item_pattern, $.tool_pattern), repeat(seq(choice('|', '-'), $.tool_pattern)),
    )),
    _item_pattern: $ => choice(prec(1, 'any'), seq(alias($._item_path, $.path), optional('.*'))),
    _item_path: $ => pathOr($, ITEM_WORDS),

    _event_pattern: $ => choice($.any_event, 'turn', $.outcome_event, $.machine_event, $.event_use),
    any_event: _ => choice('*', '**'),
    outcome_event: $ => prec.dynamic(1, seq(
      choice('done', 'error', 'doubt'), '(', field('subject', $.path), ')', optional(seq('as', field('name', $._name))),
    )),
    machine_event: $ => prec(1, seq(choice('error', 'limit'), repeat1(
      seq('.', choice($._name, alias(choice(...RESERVED), $.identifier), '*')),
    ))),
    event_use: $ => seq(
      field('name', choice($.path, alias($._outcome_path, $.path))), optional($.bindings),
    ),
    // Behind `error` and `limit` a dot leads to what the run itself raises.
    _outcome_path: $ => choice(
      seq(alias(choice('done', 'doubt'), $.identifier), repeat(seq('.', $._name))),
      alias(choice('error', 'limit'), $.identifier),
    ),
    bindings: $ => seq('(', optional(commaSep1(field('name', $._name))), ')'),

    _tail: $ => some($.guard, $._move, field('actions', $.block)),
    guard: $ => seq('if', field('condition', $.expression)),
    _move: $ => seq('->', commaSep1($.target), optional('reenter')),
    _then: $ => seq($._move, optional(field('actions', $.block))),
    target: $ => seq(field('state', $.path), optional(field('arguments', $.arguments))),

    from: $ => seq(
      'from', choice(seq($.any_state, optional($.except)), $._states), '{', repeat($.transition), '}',
    ),
    any_state: _ => '*',
    except: $ => seq('except', $._states),
    _states: $ => seq($.path, repeat(seq('|', $.path))),
    enter: $ => seq('enter', field('actions', $.block)),
    exit: $ => seq('exit', field('actions', $.block)),
    allow: $ => seq(
      'allow', field('from', choice($.any_state, $.path)), '->', field('to', $.path), optional($.guard),
    ),
    defer: $ => seq('defer', commaSep1(field('event', $._event_pattern))),
    advice: $ => seq('advice', field('text', $.string)),
    limits: $ => seq('limits', '{', repeat($.limit), '}'),
    limit: $ => seq(
      field('name', nameOr($, ['per'])), field('value', $.expression),
      optional(seq('warn', field('warn', $.expression))), optional(seq('per', 'turn')),
    ),

    // Steps

    step: $ => choice($.llm_step, $.ask_step, $.code_step, $.call_step, $.human_step, $.run_step),

    llm_step: $ => seq(
      'llm', field('name', $._name), optional($.renamed),
      choice(seq(optional($.each), optional($._step_rest)), prec.dynamic(1, $._started)),
    ),
    _started: $ => seq(
      choice(
        seq($._on_event, optional($.each), optional($.with)), seq($.each, $._on_event, optional($.with)),
        seq(optional($.each), $.with, $._on_event),
      ),
      optional($.guard), field('body', $.step_body), optional($._then),
    ),
    _on_event: $ => seq('on', field('event', choice('turn', $.event_use))),
    ask_step: $ => seq(
      'ask', field('name', $._name), optional($.renamed), optional('exact'), optional($.with),
      $._on_event, optional($._ask_rest),
    ),
    _ask_rest: $ => some('always', seq('else', choice('stay', $.target)), $._asked_rest),
    code_step: $ => seq(
      'code', field('name', $._name), optional($.renamed), optional($.guard),
      field('body', $.statements), optional($._then), optional(seq('else', $._on_failure)),
    ),
    call_step: $ => seq(
      'call', field('name', $._name), optional($.renamed), optional($._each_on),
      field('tool', alias($._tool_path, $.path)), optional(field('arguments', $.arguments)), optional($._step_rest),
    ),
    _each_on: $ => prec.right(choice(seq($._on_event, optional($.each)), seq($.each, optional($._on_event)))),
    _tool_path: $ => pathOr($, ['each', 'renamed_from', 'on']),
    human_step: $ => seq(
      'human', field('name', $._name), optional($.renamed), optional($._each_on), field('text', $.string), optional($._step_rest),
    ),
    run_step: $ => seq(
      'run', field('name', $._name), optional($.renamed), optional($.each),
      field('chart', nameOr($, ['each', 'renamed_from'])), optional($._run_rest),
    ),
    _run_rest: $ => some(
      field('arguments', $.run_arguments), seq('at', 'entry'), seq('events', choice('all', $.none)), $._step_rest,
    ),
    run_arguments: $ => seq('(', commaSep($._run_argument), ')'),
    _run_argument: $ => choice($.expression, $.named_argument),
    named_argument: $ => seq(field('name', nameOr($, TOLD_WORDS)), ':', field('value', $.expression)),
    _step_rest: $ => choice(seq($.with, optional($._asked_rest)), $._asked_rest),
    _asked_rest: $ => some($.guard, field('body', $.step_body), $._then),
    each: $ => seq('each', field('name', nameOr($, ITEM_WORDS)), 'in', field('list', $.expression)),
    with: $ => seq('with', field('client', $._name)),

    step_body: $ => seq('{', repeat($._step_item), '}'),
    _step_item: $ => choice(
      $.prompt,
      $.returns,
      $.use_tools,
      $.tool_line,
      $.outcome,
      $.timeout,
      $.doubt_retry,
      $.cut_ok,
      $.ends_turn,
      $.policy,
      $.at_a_time,
      $.up_to,
      $.enough,
      $.lost,
    ),
    prompt: $ => seq('prompt', field('text', $.string)),
    returns: $ => seq(
      'returns', field('type', $.type), optional($.range), optional(seq('into', field('variable', $._name))),
    ),
    use_tools: $ => seq('tools', $._tool_sum, optional(seq('calls', $.integer))),
    tool_line: $ => prec.right(seq(
      'tool', $._tool_sum, optional($.up_to), optional($.guard), optional($.approval),
    )),
    approval: $ => seq('human', field('question', $.string)),
    outcome: $ => seq(choice('done', 'error', 'doubt'), optional($._tail)),
    timeout: $ => seq('timeout', field('delay', $.expression), optional($._tail)),
    doubt_retry: _ => seq('doubt', 'retry'),
    cut_ok: _ => seq('cut', 'ok'),
    ends_turn: $ => seq('ends', 'turn', optional($.guard)),
    policy: $ => prec.right(choice(
      seq($._retry, optional(seq('then', $._on_failure))),
      seq('then', $._on_failure),
      'skip',
      'fail',
    )),
    _retry: $ => prec.right(seq('retry', $.integer, optional($._retry_on), optional($._retry_wait))),
    _client_retry: $ => choice(
      prec.dynamic(1, seq(
        field('name', alias('retry', $.identifier)), field('value', $.integer), optional($._retry_on), optional($._retry_wait),
      )),
      seq(field('name', alias(choice('retry', 'on', 'wait', 'up', 'to'), $.identifier)), field('value', $._option_value)),
    ),
    _retry_on: $ => seq('on', commaSep1(field('kind', $._name))),
    _retry_wait: $ => seq('wait', $.duration, optional(seq('up', 'to', $.duration))),
    _on_failure: $ => choice('skip', 'fail', seq('->', $.target)),
    at_a_time: $ => seq($.integer, 'at', 'a', 'time'),
    up_to: $ => seq('up', 'to', $.integer),
    enough: $ => seq('enough', $.integer),
    lost: $ => seq('else', choice('fail', 'skip', $.none)),

    // Statements and actions

    statements: $ => seq('{', repeat($.statement), '}'),
    statement: $ => choice($.assignment, $.if_statement, $.for_statement),
    assignment: $ => seq(field('name', $._name), '=', field('value', $.expression)),
    if_statement: $ => seq(
      'if', field('condition', $.expression), field('then', $.statements),
      repeat(seq('else', 'if', field('condition', $.expression), field('then', $.statements))),
      optional(seq('else', field('else', $.statements))),
    ),
    for_statement: $ => seq(
      'for', field('name', $._name), 'in', field('list', $.expression), field('body', $.statements),
    ),

    block: $ => seq('{', repeat($.action), '}'),
    action: $ => choice(
      alias($._assign_action, $.assignment),
      $.do_call,
      $.raise_action,
      $.if_action,
      $.for_action,
      $.send_action,
      $.cancel_action,
      $.log_action,
    ),
    _assign_action: $ => seq(field('name', $._action_name), '=', field('value', $.expression)),
    do_call: $ => seq(field('name', $._action_name), field('arguments', $.arguments)),
    _action_name: $ => nameOr($, [...ACTION_WORDS, ...SEND_WORDS]),
    raise_action: $ => seq('raise', field('event', $.path), optional(field('arguments', $.arguments))),
    if_action: $ => seq(
      'if', field('condition', $.expression), field('then', $.block),
      repeat(seq('else', 'if', field('condition', $.expression), field('then', $.block))),
      optional(seq('else', field('else', $.block))),
    ),
    for_action: $ => seq(
      'for', field('name', $._name), 'in', field('list', $.expression), field('body', $.block),
    ),
    send_action: $ => seq(
      'send', field('event', $.path), optional(field('arguments', $.arguments)),
      optional($.receiver),
      optional(seq('after', field('delay', $.expression))),
      optional(seq('as', field('name', $._name))),
    ),
    receiver: $ => seq('to', field('name', $._name), optional(seq('[', field('index', $.expression), ']'))),
    cancel_action: $ => seq('cancel', field('name', $._name)),
    log_action: $ => seq('log', field('text', $.string)),

    // Tests

    test: $ => seq('test', field('name', $._plain), 'for', field('chart', $._name), field('body', $.test_body)),
    test_body: $ => seq('{', repeat($.test_item), '}'),
    test_item: $ => choice(
      $.given,
      $.given_function,
      $.at_item,
      $.send_item,
      $.turn_item,
      $.turns_item,
      $.until_item,
      $.set_item,
      $.wait_item,
      $.answers_item,
      $.fails_item,
      $.tool_item,
      $.expect_item,
    ),
    given: $ => seq('given', field('name', nameOr($, ['fn'])), '=', field('value', $.expression)),
    given_function: $ => seq(
      'given', 'fn', field('name', $._name), optional(field('arguments', $.arguments)),
      choice(seq('=', field('value', $.expression)), seq('fails', field('why', $._why))),
    ),
    at_item: $ => seq('at', commaSep1(field('state', $.path))),
    send_item: $ => seq('send', field('event', $.path), optional(field('arguments', $.arguments))),
    turn_item: _ => 'turn',
    turns_item: $ => seq('turns', $.integer),
    until_item: $ => seq('until', 'asked', field('step', $.asked)),
    set_item: $ => seq('set', field('name', $._name), '=', field('value', $.expression)),
    wait_item: $ => seq('wait', field('delay', $.expression)),
    answers_item: $ => seq(
      'answers', field('step', $.asked),
      field('answer', choice($._plain, $.chosen, seq($._value_ahead, $.expression))),
    ),
    asked: $ => seq(
      $._name, repeat(seq(token.immediate('/'), $._name)),
      optional(seq(token.immediate(prec(1, '[')), $.integer, ']')),
    ),
    _test_asked: $ => seq(
      nameOr($, TEST_WORDS), repeat(seq(token.immediate('/'), $._name)),
      optional(seq(token.immediate(prec(1, '[')), $.integer, ']')),
    ),
    chosen: $ => seq(field('name', $.path), optional(field('arguments', $.arguments))),
    fails_item: $ => seq('fails', field('step', $.asked), field('why', $._why)),
    tool_item: $ => seq(
      'tool', field('tool', $.path),
      choice(seq('returns', field('value', $.expression)), seq('fails', field('why', $._why))),
    ),
    _why: $ => choice($._plain, $._name),
    expect_item: $ => seq('expect', choice(seq(optional('not'), $._told), field('condition', $.expression))),
    _told: $ => choice($.told_at, $.told_ended, $.told_offered, $.told_denied, $.told_called, $.told_asked, $.told_asking, $.told_text),
    told_at: $ => seq('at', field('state', alias($._test_path, $.path)), repeat(seq(',', field('state', $.path)))),
    told_ended: $ => seq('ended', optional(choice('ok', 'partial', 'stuck', 'limit', 'canceled', 'error'))),
    told_offered: $ => seq(
      'offered',
      choice(seq('only', $.path), alias($._test_path, $.path)),
      repeat(seq(',', $.path)),
    ),
    told_denied: $ => seq('denied', optional(seq('->', field('state', $.path)))),
    told_called: $ => seq('called', field('name', alias($._test_path, $.path)), optional(field('arguments', $.arguments))),
    told_asked: $ => seq('asked', field('step', nameOr($, TEST_WORDS))),
    told_asking: $ => seq('asking', field('step', alias($._test_asked, $.asked))),
    told_text: $ => seq(
      choice(seq('prompt', 'of', field('step', $._name)), field('name', choice($._told_name, alias('prompt', $.identifier)))),
      'contains', field('text', $._plain),
    ),
    _told_name: $ => $._name,
    _test_path: $ => pathOr($, TEST_WORDS),

    // Expressions

    expression: $ => choice($.conditional, $._chain),

    conditional: $ => seq(
      'if', field('condition', $._chain), 'then', field('then', $._chain), 'else', field('else', $.expression),
    ),

    _chain: $ => choice($.binary, $.unary, $._operand),

    binary: $ => choice(
      ...[
        ['or', PREC.or],
        ['and', PREC.and],
        ['==', PREC.compare],
        ['!=', PREC.compare],
        ['<', PREC.compare],
        ['<=', PREC.compare],
        ['>', PREC.compare],
        ['>=', PREC.compare],
        ['in', PREC.compare],
        ['??', PREC.default],
        ['+', PREC.add],
        ['-', PREC.add],
        ['*', PREC.multiply],
        ['/', PREC.multiply],
        ['div', PREC.multiply],
        ['%', PREC.multiply],
      ].map(([operator, level]) => prec.left(level, seq(
        field('left', $._chain), field('operator', operator), field('right', $._chain),
      ))),
      prec.left(PREC.compare, seq(
        field('left', $._chain), field('operator', $.not_in), field('right', $._chain),
      )),
      prec.right(PREC.power, seq(field('left', $._chain), field('operator', '**'), field('right', $._chain))),
    ),
    not_in: _ => seq('not', 'in'),

    unary: $ => choice(
      prec(PREC.not, seq(field('operator', 'not'), field('operand', $._chain))),
      prec(PREC.negate, seq(field('operator', '-'), field('operand', $._chain))),
    ),

    _operand: $ => choice(
      $._name,
      $._told_word,
      $.call,
      $.record,
      $._number,
      $.string,
      $.boolean,
      $.none,
      $.list,
      $.comprehension,
      $.map,
      $.parenthesized,
      $.field_access,
      $.index,
      $.slice,
    ),

    // In `expect at == 3`, `at` is a variable.
    _told_word: $ => prec(-1, alias(choice(...TOLD_WORDS), $.identifier)),

    parenthesized: $ => seq('(', $.expression, ')'),
    call: $ => prec(PREC.postfix, seq(
      field('function', choice($._name, $._told_word, 'in')),  field('arguments', $.arguments))),
    arguments: $ => seq('(', commaSep($.expression), ')'),
    record: $ => seq($._record_ahead, field('type', $._name), '{', repeat(seq($.record_field, optional(','))), '}'),
    record_field: $ => seq(field('name', $._name), ':', field('value', $.expression)),
    list: $ => seq('[', commaSep($.expression), ']'),
    comprehension: $ => seq(
      '[', field('value', $.expression),
      repeat1(seq('for', field('name', $._name), 'in', field('list', $.expression), optional($.guard))), ']',
    ),
    map: $ => seq('{', commaSep($.entry), '}'),
    entry: $ => seq(field('key', $.expression), ':', field('value', $.expression)),
    field_access: $ => prec(PREC.postfix, seq(field('value', $._operand), '.', field('field', $._name))),
    index: $ => prec(PREC.postfix, seq(field('value', $._operand), '[', field('index', $.expression), ']')),
    slice: $ => prec(PREC.postfix, seq(
      field('value', $._operand), '[',
      optional(field('from', $.expression)), ':', optional(field('to', $.expression)),
      ']',
    )),

    // Names, numbers, texts

    path: $ => seq($._name, repeat(seq('.', $._name))),

    _name: $ => choice($.identifier, $.quoted_identifier),
    identifier: _ => /[A-Za-z_][A-Za-z0-9_]*/,
    quoted_identifier: _ => /`([^`\\\n]|\\[^\n])*`/,

    _number: $ => choice($.integer, $.float, $.duration),
    integer: _ => /[0-9]+|[0-9]{1,3}(_[0-9]{3})+/,
    float: _ => /[0-9]+(\.[0-9]+([eE][+-]?[0-9]+)?|[eE][+-]?[0-9]+)/,
    duration: _ => /[0-9]+(ms|s|m|h|d)/,
    boolean: _ => choice('true', 'false'),
    none: _ => 'none',

    string: $ => choice(
      seq(alias($._line_start, '"'), repeat($._string_part), choice(alias($._string_end, '"'), $.unclosed)),
      seq(alias($._block_start, '"""'), repeat($._string_part), choice(alias($._string_end, '"""'), $.unclosed)),
    ),
    _string_part: $ => choice($.string_content, $.escape_sequence, $.brace_escape, $.stray_brace, $.interpolation),
    interpolation: $ => seq(
      alias($._hole_start, '{'), field('value', $.expression), optional(seq(':', optional(field('format', $.format)))),
      alias($._hole_end, '}'),
    ),

    // A text without placeholders.
    _plain: $ => alias($.plain_string, $.string),
    plain_string: $ => choice(
      seq(alias($._plain_line_start, '"'), repeat($._plain_part), choice(alias($._string_end, '"'), $.unclosed)),
      seq(alias($._plain_block_start, '"""'), repeat($._plain_part), choice(alias($._string_end, '"""'), $.unclosed)),
    ),
    _plain_part: $ => choice($.string_content, $.escape_sequence),

    doc_comment: _ => /\/\/\/([^\/\r\n]([^\r\n]|\r+[^\r\n])*)?/,
    comment: _ => /\/\/([^\r\n]|\r+[^\r\n])*/,
  },
});
