// The TextMate grammar of `.chart` files, as a program: `node grammar/build.mjs` writes `syntaxes/chart.tmLanguage.json`.
//
// White space only separates in the language, while a TextMate grammar looks at one line at a time. So words are told from names
// by what stands behind them on the same line, and braces by what stands before them.

import { expressions } from './expressions.mjs';
import {
  any, arrow, block, braces, brackets, caps, control, declares, endOfLine, event, func, include, isReserved, itemWords, keyword,
  match, modifier, name, option, path, paths, property, quoted, scoped, state, step, target, type, variable, word,
} from './notation.mjs';
import { places, statuses, subjects } from './words.mjs';

// `a.b | c.* - d`
const toolSum = `${path}(?:\\.\\*)?(?:\\s*[|-](?!>)\\s*${path}(?:\\.\\*)?)*`;

const lines = {
  // Parts that several lines have.
  renamed: match(`(renamed_from)\\s+(${name}(?:\\s*,\\s*${name})*,?)`, modifier, { patterns: [{ name: 'entity.name.class.former.chart', match: name }, ...include('punctuation')] }),
  // `-> a.b(x), c reenter`: names of states may be any words.
  move: {
    patterns: [
      match(`(->)\\s*(${path}(?:\\s*,\\s*${path})*)(?:\\s+(reenter)(?!\\w))?`, arrow, paths(target), modifier),
      match('(?<!\\w)(reenter)(?!\\w)(?!\\s*[=:(])', modifier),
    ],
  },
  policy: {
    patterns: [
      match(`${word('retry')}\\s+(\\d+)(?:\\s+(on)\\s+(${name}(?:\\s*,\\s*${name})*))?(?:\\s+(wait)(?=\\s+\\d))?`, control, 'constant.numeric.integer', control, { patterns: [{ name: 'constant.other.failure.chart', match: name }, ...include('punctuation')] }, control),
      keyword(`${word('then')}(?=\\s*(?:->|skip|fail|$))`),
      keyword(`${word('skip', 'fail')}(?!\\s*[=:.(])`),
    ],
  },
  'type-of': {
    name: 'meta.type.chart',
    begin: ':', beginCaptures: { 0: scoped('punctuation.separator.colon') },
    end: '(?=[^\\s\\w`(?])|(?<=[\\w)?`])(?=\\s)|(?=//)',
    patterns: include('type'),
  },
  type: {
    patterns: [
      ...include('types'),
      { name: 'entity.name.type.quoted.chart', match: quoted },
      { name: 'keyword.operator.optional.chart', match: '\\?' },
      brackets('type-arguments', '\\(', '\\)', ['comments', 'type', 'punctuation']),
      { name: 'entity.name.type.chart', match: `${isReserved}[a-z_]\\w*` },
    ],
  },
  params: brackets('parameters', '\\(', '\\)', ['comments', 'param', 'default', 'type-of', 'range', 'punctuation']),
  param: match(`(${name})(?=\\s*:)`, 'variable.parameter'),
  range: { patterns: [keyword(word('in'), 'keyword.operator.word'), ...include('numbers', 'operators')] },
  default: {
    begin: '=', beginCaptures: { 0: scoped('keyword.operator.assignment') },
    end: '(?=[,)])', patterns: include('value'),
  },
  entries: { patterns: [...include('comments', 'param', 'type-of', 'range', 'punctuation'), { name: 'variable.other.enummember.chart', match: `${name}` }] },

  // What stands outside charts, and may stand in them.
  shared: {
    patterns: [
      {
        name: 'meta.function.chart',
        begin: `${word('fn', 'do')}\\s+(${name})\\s*(?=\\()`, beginCaptures: caps(declares, func),
        end: '(?<=\\))', patterns: include('params'),
      },
      // Behind the parameters: `-> T from "a" "b" else e`, `-> T idempotent`.
      {
        begin: '(?<=\\))\\s*(->)\\s*(?=[A-Z`])', beginCaptures: caps(arrow),
        end: '(?<=[\\w)?`])(?=\\s|$|\\})', patterns: include('type'),
      },
      match(`${word('from')}(?=\\s*")`, modifier),
      keyword(`${word('idempotent')}(?!\\s*[=:.(])`, modifier),
      {
        name: 'meta.tool.chart',
        begin: `${word('tool')}\\s+(${path})\\s*(?=\\()`, beginCaptures: caps(declares, func),
        end: '(?<=\\))', patterns: include('params'),
      },
      {
        name: 'meta.tools.chart',
        begin: `${word('tools')}\\s+(${name})\\s*(=)`, beginCaptures: caps(declares, variable, 'keyword.operator.assignment'),
        end: `$|(?=\\})|(?=(?<![\\w.|-])\\s(?:${itemWords})\\s+\\w)`,
        patterns: [
          ...include('comments', 'tool-sum'),
        ],
      },
      block('client', `${word('client')}\\s+(${name})`, [declares, variable], [], braces('client-body', 'client')),
      {
        name: 'meta.component.chart',
        begin: `${word('component')}\\s+(${name})\\s+(into)(?!\\w)`, beginCaptures: caps(declares, variable, control),
        end: '(?<=")|(?=\\})',
        patterns: [
          match(`(at)\\s+(${any(places)})(?!\\w)`, control, 'constant.language'),
          ...include('value'),
        ],
      },
    ],
  },
  client: {
    patterns: [
      ...include('comments'),
      ...include('policy'),
      match('(up)\\s+(to)(?=\\s+\\d)', control, control),
      match(`(${name})(?=\\s+(?:["\\d{-]|true|false|none|[A-Za-z_\`]|$))(?:\\s+(${name}))?`, property, 'constant.other'),
      braces('server-options', 'client'),
      ...include('plain-string', 'numbers', 'constants', 'operators'),
    ],
  },

  file: {
    patterns: [
      ...include('comments'),
      { begin: `${word('import')}(?=\\s*(?:"|$))`, beginCaptures: caps('keyword.control.import'), end: '(?<=")|(?=[^\\s"/])', patterns: include('comments', 'plain-string') },
      block('type-declaration', `${word('type', 'enum')}\\s+(${name})`, [declares, type], [], braces('entries', 'entries')),
      block('chart', `${word('chart')}\\s+(${name})`, [declares, 'entity.name.type.class'], ['renamed'], braces('chart-body', 'items'), '(?!renamed_from\\b)[^\\s{/]'),
      {
        name: 'meta.test.chart',
        begin: `${word('test')}(?=\\s*(?:"|$))`, beginCaptures: caps(declares),
        end: '(?<=\\})',
        patterns: [
          ...include('comments', 'plain-string'),
          match(`(for)\\s+(${name})`, control, type),
          braces('test-body', 'test'),
        ],
      },
      ...include('shared', 'value'),
    ],
  },

  // What stands in charts and states.
  items: {
    patterns: include('comments', 'declarations', 'states', 'lines', 'step', 'behind-a-step', 'move', 'shared', 'strings', 'record', 'map', 'block', 'parens', 'list', 'expression'),
  },
  declarations: {
    patterns: [
      {
        name: 'meta.variable.chart',
        begin: `${word('param', 'input', 'var')}\\s+(${name})(?=\\s*(?::|$|renamed_from))`, beginCaptures: caps(declares, variable),
        end: '(?<=[\\w)?`])(?=\\s+[^\\s?(]|\\s*$|\\s*[=}])',
        patterns: include('comments', 'renamed', 'type-of'),
      },
      match(`${word('per')}\\s+(turn)(?!\\w)`, modifier, modifier),
      {
        name: 'meta.event.chart',
        begin: `${word('event')}\\s+(${path})`, beginCaptures: caps(declares, event),
        end: '(?<=\\))|(?=[^\\s(])|$',
        patterns: include('params'),
      },
      match(`${word('pred')}\\s+(${name})`, declares, variable),
      {
        name: 'meta.check.chart',
        begin: `${word('check')}\\s+(${name})\\s*(\\()`, beginCaptures: caps(declares, 'support.function.property', 'punctuation.section.brackets.begin'),
        end: '\\)', endCaptures: { 0: scoped('punctuation.section.brackets.end') },
        patterns: [
          ...include('comments', 'numbers'),
          keyword(word('before', 'unless'), 'keyword.operator.word'),
          keyword(`${word(...subjects)}(?=\\s+${name})(?!\\s+(?:unless|before)(?!\\w))`, declares),
          match(`(?<=[\\w)])\\s+(${any(['turns', 'calls', 'turn', 'call'])})(?=\\s*\\))`, 'keyword.other.unit'),
          ...paths(target).patterns,
          ...include('operators'),
        ],
      },
      {
        name: 'meta.check.chart',
        begin: `${word('check')}\\s+(?=[a-z_\`])`, beginCaptures: caps(declares),
        end: '(?=\\})|$',
        patterns: [
          ...include('comments', 'numbers'),
          keyword(word('before', 'at', 'most', 'given', 'in'), 'keyword.operator.word'),
          keyword(`${word(...subjects)}(?=\\s+${name})(?!\\s+(?:before|at)(?!\\w))`, declares),
          ...paths(target).patterns,
          ...include('operators'),
        ],
      },
      match(`(?<=\\))\\s+(given)\\s+(?=${name}\\s+in(?!\\w))`, control),
      block('defaults', `${word('defaults')}(?=\\s*(?:\\{|$))`, [control], [], braces('policy', 'comments', 'policy', 'move', 'numbers', 'parens')),
      match(`${word('trace')}\\s+(?:(all)(?!\\w)|(?=\\d))`, control, 'constant.language'),
      block('meta', `${word('meta')}(?=\\s*(?:\\{|$))`, [control], [], braces('meta-body', 'meta')),
      block('limits', `${word('limits')}(?=\\s*(?:\\{|$))`, [control], [], braces('limits-body', 'limits')),
    ],
  },
  meta: {
    patterns: [
      ...include('comments'),
      match(`(${name})\\s*(:)`, property, 'punctuation.separator.colon'),
      ...include('plain-string', 'numbers', 'constants', 'operators', 'punctuation'),
      brackets('brackets', '\\[', '\\]', ['meta']),
      braces('map', 'meta'),
    ],
  },
  limits: {
    patterns: [
      ...include('comments'),
      match(`${word('per')}\\s+(turn)(?!\\w)`, modifier, modifier),
      keyword(`${word('warn')}(?=\\s+[\\w(\`])`),
      match(`(?:(?<=\\{)|(?<=[\\w)\`])\\s|^)\\s*(${any(['turns', 'calls', 'tokens', 'cost', 'time'])})(?=\\s+[\\w(\`])`, property),
      ...include('value'),
    ],
  },
  states: {
    patterns: [
      block('state', `${word('state', 'parallel')}\\s+(${name})`, [declares, state], ['renamed'], braces('state-body', 'items'), '(?!renamed_from\\b)[^\\s{/]'),
      {
        name: 'meta.final.chart',
        begin: `${word('final')}\\s+(${name})`, beginCaptures: caps(declares, state),
        end: '(?<=\\})|(?=(?!renamed_from\\b)[^\\s{/(:])',
        patterns: [
          ...include('comments', 'renamed', 'params'),
          match(`(:)\\s*(?:(${any(statuses)})(?!\\w)|(${name}))?`, 'punctuation.separator.colon', 'constant.language.status', 'constant.other.status'),
          braces('state-body', 'items'),
        ],
      },
      match(`${word('initial')}\\s+(${path}(?:\\s*,\\s*${path})*)`, control, paths(target)),
      match(`${word('history')}\\s+(${name})(?:\\s+(deep)(?!\\w))?(?=\\s*(?:->|$|renamed_from))`, declares, state, modifier),
      ...include('renamed'),
      keyword(`${word('deep')}(?=\\s*->)`, modifier),
      keyword(`${word('enter', 'exit')}(?=\\s*(?:\\{|$))`),
      match(`${word('defer')}\\s+(${path}(?:\\s*,\\s*${path})*)`, control, paths(event)),
      keyword(`${word('advice')}(?=\\s*(?:"|$))`),
      match(`${word('allow')}\\s+(?:(\\*)|(${path}))(?=\\s*(?:->|$))`, control, 'keyword.operator.wildcard', paths(target)),
      {
        name: 'meta.from.chart',
        begin: `${word('from')}(?=\\s+[\\w*\`])`, beginCaptures: caps(control),
        end: '(?<=\\})|(?=\\})',
        patterns: [
          ...include('comments'),
          keyword(`${word('except')}(?=\\s+[\\w\`])`),
          { name: 'keyword.operator.wildcard.chart', match: '\\*' },
          ...paths(target).patterns,
          ...include('operators'),
          braces('lines', 'items'),
        ],
      },
    ],
  },
  'tool-sum': {
    patterns: [
      keyword(word('any'), 'constant.language'),
      match(`(${path})(\\.\\*)?`, func, 'keyword.operator.wildcard'),
      { name: 'keyword.operator.union.chart', match: '[|]' },
      { name: 'keyword.operator.difference.chart', match: '-' },
    ],
  },
  lines: {
    patterns: [
      // `on done(s) as v`, `on error.execution`, `on *`, `on turn`, `on e(a, b)`
      match(`${word('on')}\\s+(done|error|doubt)\\s*(\\()\\s*(${path})\\s*(\\))(?:\\s*(as)\\s+(${name}))?`, control, control, 'punctuation.section.brackets.begin', paths(target), 'punctuation.section.brackets.end', control, variable),
      match(`${word('on')}\\s+((?:error|limit)(?:\\.(?:\\w+|\\*))+)`, control, 'support.function.event'),
      match(`${word('on')}\\s+(\\*\\*?)`, control, 'keyword.operator.wildcard'),
      match(`${word('on')}\\s+(turn)(?!\\w)`, control, 'support.function.event'),
      match(`${word('on')}\\s+(${path})(?:\\s*(\\()([^()"]*)(\\)))?`, control, event, 'punctuation.section.brackets.begin',
        { patterns: [{ name: 'variable.parameter.chart', match: name }, ...include('punctuation')] }, 'punctuation.section.brackets.end'),
      keyword(`${word('when')}(?=\\s+[\\w(\`"\\[-]|${endOfLine})`),
      match(`(?:${word('each')}\\s+)?${word('after')}(?=\\s+[\\w(\`]|${endOfLine})`, control, control),
      match('(?<=[\\w)])\\s+(turns)(?=\\s*(?:->|if\\b|\\{|$|//))', 'keyword.other.unit'),
      match(`${word('may')}\\s+(call)\\s+(${toolSum})(?:\\s+(into)\\s+(${name}))?`, control, control, { patterns: include('tool-sum') }, control, variable),
      {
        begin: `${word('may')}\\s+(${name})`, beginCaptures: caps(control, option),
        end: '(?<=\\))|(?=[^\\s(])|$', patterns: include('params'),
      },
    ],
  },

  // Steps: a head of any length, then a body in braces, then perhaps an arrow.
  step: {
    patterns: [
      {
        name: 'meta.step.code.chart',
        begin: `${word('code')}\\s+(${name})`, beginCaptures: caps(declares, step),
        end: `(?<=\\})|(?=\\})`,
        patterns: [...include('comments', 'renamed'), ...include('record', 'map', 'block', 'value')],
      },
      {
        name: 'meta.step.chart',
        begin: `${word('llm', 'ask', 'call', 'human', 'run')}\\s+(${name})`, beginCaptures: caps(declares, step),
        end: `(?<=\\})|(?=\\})|(?=->)|(?=^\\s*${itemWords}\\s+[\\w\`*{"])(?!^\\s*on\\s+turn\\b)`,
        patterns: [
          ...include('comments', 'renamed'),
          match(`(each)\\s+(${name})\\s+(in)(?!\\w)(?:\\s+(${path}))?`, control, 'variable.parameter', control, paths(variable)),
          match(`(with)\\s+(${name})`, control, variable),
          match(`(on)\\s+(?:(turn)(?!\\w)|(${path})(?:\\s*(\\()([^()"]*)(\\)))?)`, control, 'support.function.event', event, 'punctuation.section.brackets.begin',
            { patterns: [{ name: 'variable.parameter.chart', match: name }, ...include('punctuation')] }, 'punctuation.section.brackets.end'),
          keyword(word('exact', 'always'), modifier),
          match(`(else)\\s+(?:(stay)(?!\\w)|(${path}))`, control, 'constant.language', paths(target)),
          match('(at)\\s+(entry)(?!\\w)', control, control),
          match('(events)\\s+(all|none)(?!\\w)', control, 'constant.language'),
          match(`(${name}(?:\\.${name})+)(?=\\s*\\()`, func),
          ...include('strings', 'record', 'map'),
          braces('step-body', 'step-body'),
          ...include('parens', 'list', 'expression'),
        ],
      },
    ],
  },
  'behind-a-step': {
    patterns: [
      match(`(?<=\\})\\s*(else)\\s+(skip|fail)(?!\\w)`, control, control),
      match(`(?<=\\})\\s*(else)(?=\\s*->)`, control),
      match(`(?<=[\\w)])\\s+(else)\\s+(skip|fail)(?!\\w)`, control, control),
    ],
  },
  'step-body': {
    patterns: [
      ...include('comments'),
      keyword(`${word('prompt')}(?=\\s*(?:"|$))`),
      {
        begin: `${word('returns')}(?=\\s+[A-Z\`]|\\s*$)`, beginCaptures: caps(control),
        end: '(?<=[\\w)?`])(?=\\s|$|\\})', patterns: include('type'),
      },
      match(`${word('into')}\\s+(${name})`, control, variable),
      match(`${word('tools')}\\s+(${toolSum})(?:\\s+(calls)(?=\\s+\\d))?`, control, { patterns: include('tool-sum') }, control),
      match(`${word('tool')}\\s+(${toolSum})`, control, { patterns: include('tool-sum') }),
      keyword(`${word('human')}(?=\\s*(?:"|$))`),
      match(`${word('doubt')}\\s+(retry)(?!\\w)`, control, control),
      match(`${word('cut')}\\s+(ok)(?!\\w)`, control, control),
      keyword(`${word('done', 'error', 'doubt')}(?=\\s*(?:->|if\\b|\\{|$|//|\\}))`),
      keyword(`${word('timeout')}(?=\\s+[\\w(\`])`),
      match(`${word('ends')}\\s+(turn)(?!\\w)`, control, control),
      match('(?<=\\d)\\s+(at)\\s+(a)\\s+(time)(?!\\w)', control, control, control),
      match(`${word('up')}\\s+(to)(?=\\s+\\d)`, control, control),
      keyword(`${word('enough')}(?=\\s+\\d)`),
      match(`${word('else')}\\s+(?:(fail|skip)|(none))(?!\\w)`, control, control, 'constant.language'),
      ...include('policy', 'move', 'strings', 'record', 'map', 'block', 'parens', 'list', 'expression'),
    ],
  },

  // Blocks of actions and statements.
  block: braces('block', 'actions'),
  actions: {
    patterns: [
      ...include('comments'),
      match(`${word('raise')}\\s+(${path})`, control, event),
      match(`${word('send')}\\s+(${path})`, control, event),
      match(`${word('to')}\\s+(?:(parent)(?!\\w)|(${name}))`, control, 'variable.language', step),
      keyword(`${word('after')}(?=\\s+[\\w(\`])`),
      match(`${word('as')}\\s+(${name})`, control, variable),
      match(`${word('cancel')}\\s+(${name})`, control, variable),
      keyword(`${word('log')}(?=\\s*(?:"|$))`),
      match(`${word('for')}\\s+(${name})\\s+(in)(?!\\w)`, 'keyword.control.loop', 'variable.parameter', 'keyword.control.loop'),
      match(`(?<![\\w.])(${name})\\s*(=)(?!=)`, variable, 'keyword.operator.assignment'),
      ...include('strings', 'record', 'map', 'block', 'parens', 'list', 'expression'),
    ],
  },

  // Scenarios.
  test: {
    patterns: [
      ...include('comments'),
      match(`${word('given')}\\s+(fn)\\s+(${name})`, control, declares, func),
      match(`${word('given', 'set')}\\s+(${name})(?=\\s*=)`, control, variable),
      match(`${word('send')}\\s+(${path})`, control, event),
      match(`${word('answers')}\\s+(${name}(?:/${name})*(?:\\[\\d+\\])?)(?:\\s+(?!true|false|none|if|not|in\\b)([a-z_]\\w*(?:\\.\\w+)*))?`, control, step, option),
      match(`${word('fails')}\\s+(${name}(?:/${name})*(?:\\[\\d+\\])?)(?:\\s+(${name}))?(?=\\s*(?:"|$|//|\\w|\\}))`, control, step, 'constant.other.failure'),
      keyword(`${word('fails', 'returns')}(?=\\s+[\\w"\`\\[{(-]|\\s*$)`),
      match(`${word('tool')}\\s+(${path})`, control, func),
      match(`${word('until')}\\s+(asked)\\s+(${name}(?:/${name})*(?:\\[\\d+\\])?)`, control, control, step),
      keyword(`${word('wait')}(?=\\s+[\\w(\`])`),
      keyword(`${word('turns')}(?=\\s+\\d)`),
      match(`(?<![\\w.])(?:(expect)(?:\\s+(not))?\\s+)?(at)\\s+(${path}(?:\\s*,\\s*${path})*)`, control, 'keyword.operator.word', control, paths(target)),
      match(`${word('expect')}(?:\\s+(not))?\\s+(ended)(?:\\s+(${any(statuses)})(?!\\w))?(?=\\s*(?:$|//|\\w|\\}))`, control, 'keyword.operator.word', control, 'constant.language.status'),
      match(`${word('expect')}(?:\\s+(not))?\\s+(offered)(?:\\s+(only))?\\s+(${path}(?:\\s*,\\s*${path})*)`, control, 'keyword.operator.word', control, control, { patterns: [{ name: 'entity.name.function.option.chart', match: name }, ...include('dot', 'punctuation')] }),
      match(`${word('expect')}(?:\\s+(not))?\\s+(denied)(?=\\s*(?:->|$|//|\\}))`, control, 'keyword.operator.word', control),
      match(`${word('expect')}(?:\\s+(not))?\\s+(called|asked|asking)\\s+(${path})`, control, 'keyword.operator.word', control, func),
      match(`${word('expect')}(?:\\s+(not))?\\s+(prompt)\\s+(of)\\s+(${name})\\s+(contains)(?!\\w)`, control, 'keyword.operator.word', control, control, step, control),
      match(`${word('expect')}(?:\\s+(not))?\\s+(${name})\\s+(contains)(?!\\w)`, control, 'keyword.operator.word', variable, control),
      match(`${word('expect')}(?:\\s+(not)(?!\\w))?`, control, 'keyword.operator.word'),
      ...include('move', 'value'),
    ],
  },
};

export const grammar = {
  $schema: 'https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json',
  name: 'chart',
  scopeName: 'source.chart',
  fileTypes: ['chart'],
  patterns: include('file'),
  repository: { ...expressions, ...lines },
};
