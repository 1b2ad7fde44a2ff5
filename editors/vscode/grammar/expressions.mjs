// Comments, texts with placeholders, and expressions.

import { any, braces, brackets, caps, func, include, isReserved, match, name, property, quoted, scoped, type } from './notation.mjs';
import { observables, types } from './words.mjs';

// A placeholder of a one-line text, from behind its brace, in which texts have plain quotes: a quote begins one where an operand can stand.
const plainHole = String.raw`((?:[^"\\{}]|(?:[(\[,:=<>+\-*/%?{]|(?<!\w)(?:then|else|and|or|not|in|div|if))\s*"(?:[^"\\]|\\.)*"|\{\g<1>)*\})`;

export const expressions = {
  comments: {
    patterns: [
      {
        name: 'comment.line.documentation.chart',
        begin: '///', beginCaptures: { 0: scoped('punctuation.definition.comment') },
        end: '$',
        patterns: [{ name: 'markup.inline.raw.chart', match: '`[^`]*`' }],
      },
      { name: 'comment.line.double-slash.chart', match: '(//).*$', captures: caps('punctuation.definition.comment') },
    ],
  },

  // Texts. A placeholder stands on one line, so that a stray brace does no harm to what follows.
  'plain-string': {
    name: 'string.quoted.double.plain.chart',
    begin: '"', beginCaptures: { 0: scoped('punctuation.definition.string.begin') },
    end: '(")|$', endCaptures: caps('punctuation.definition.string.end'),
    patterns: include('escapes'),
  },
  strings: { patterns: include('block-string', 'line-string') },
  'block-string': {
    name: 'string.quoted.triple.chart',
    begin: '"""', beginCaptures: { 0: scoped('punctuation.definition.string.begin') },
    end: '"""', endCaptures: { 0: scoped('punctuation.definition.string.end') },
    patterns: include('doubled', 'block-hole'),
  },
  'line-string': {
    name: 'string.quoted.double.chart',
    begin: '"', beginCaptures: { 0: scoped('punctuation.definition.string.begin') },
    end: '(")|$', endCaptures: caps('punctuation.definition.string.end'),
    patterns: include('escapes', 'doubled', 'plain-hole', 'line-hole'),
  },
  escapes: {
    patterns: [
      { name: 'constant.character.escape.chart', match: '\\\\(?:[ntr"\\\\]|u\\{[0-9A-Fa-f]{1,6}\\})' },
      { name: 'invalid.illegal.escape.chart', match: '\\\\.' },
    ],
  },
  doubled: { name: 'constant.character.escape.brace.chart', match: '\\{\\{|\\}\\}' },
  'block-hole': {
    name: 'meta.interpolation.chart', contentName: 'meta.embedded.expression.chart',
    begin: '\\{(?=.*\\})', beginCaptures: { 0: scoped('punctuation.section.embedded.begin') },
    end: '(\\})|(?=""")|$', endCaptures: caps('punctuation.section.embedded.end'),
    patterns: [...include('block-format', 'block-string-inner', 'block-brackets', 'expression')],
  },
  'block-format': match('(:)([^{}"]*)(?=\\})', 'punctuation.separator.format', 'constant.other.format'),
  'block-string-inner': {
    name: 'string.quoted.double.chart',
    begin: '"(?!"")', beginCaptures: { 0: scoped('punctuation.definition.string.begin') },
    end: '(")|$', endCaptures: caps('punctuation.definition.string.end'),
    patterns: include('escapes', 'doubled', 'line-hole'),
  },
  'block-brackets': {
    patterns: [
      brackets('parens', '\\(', '\\)', ['block-string-inner', 'block-brackets', 'expression'], '(?=""")|$'),
      brackets('brackets', '\\[', '\\]', ['block-string-inner', 'block-brackets', 'expression'], '(?=""")|$'),
      brackets('map', '\\{', '\\}', ['block-string-inner', 'block-brackets', 'expression'], '(?=""")|$'),
    ],
  },
  'plain-hole': {
    name: 'meta.interpolation.chart', contentName: 'meta.embedded.expression.chart',
    begin: `\\{(?=${plainHole})`, beginCaptures: { 0: scoped('punctuation.section.embedded.begin') },
    end: '(\\})|$', endCaptures: caps('punctuation.section.embedded.end'),
    patterns: [...include('line-format', 'line-string', 'record', 'map', 'parens', 'list', 'expression')],
  },
  'line-hole': {
    name: 'meta.interpolation.chart', contentName: 'meta.embedded.expression.chart',
    begin: '\\{(?=(?:[^"\\\\]|\\\\.)*\\})', beginCaptures: { 0: scoped('punctuation.section.embedded.begin') },
    end: '(\\})|(?=")|$', endCaptures: caps('punctuation.section.embedded.end'),
    patterns: [...include('line-format', 'escaped-string', 'line-brackets', 'expression')],
  },
  'line-format': match('(:)([^{}"]*)(?=\\})', 'punctuation.separator.format', 'constant.other.format'),
  'escaped-string': {
    name: 'string.quoted.double.escaped.chart',
    begin: '\\\\"', beginCaptures: { 0: scoped('punctuation.definition.string.begin') },
    end: '(\\\\")|(?=")|$', endCaptures: caps('punctuation.definition.string.end'),
    patterns: include('doubled'),
  },
  'line-brackets': {
    patterns: [
      brackets('parens', '\\(', '\\)', ['escaped-string', 'line-brackets', 'expression'], '(?=")|$'),
      brackets('brackets', '\\[', '\\]', ['escaped-string', 'line-brackets', 'expression'], '(?=")|$'),
      brackets('map', '\\{', '\\}', ['escaped-string', 'line-brackets', 'expression'], '(?=")|$'),
    ],
  },

  // Expressions, without brackets and texts: inside a text they end otherwise.
  expression: {
    patterns: include('numbers', 'constants', 'expression-words', 'types', 'calls', 'property', 'observables', 'names', 'operators', 'punctuation'),
  },
  value: { patterns: include('comments', 'strings', 'record', 'map', 'parens', 'list', 'expression') },
  parens: brackets('parens', '\\(', '\\)', ['comments', 'strings', 'argument', 'record', 'map', 'parens', 'list', 'expression']),
  list: brackets('brackets', '\\[', '\\]', ['comments', 'strings', 'record', 'map', 'parens', 'list', 'expression']),
  // A block of actions never begins with a text, a map does.
  map: { ...braces('map', 'value'), begin: '\\{(?=\\s*(?:"|\\}\\s*[,)\\]]))' },
  record: {
    name: 'meta.record.chart',
    begin: `([A-Z]\\w*|${quoted})\\s*(\\{)(?=\\s*(?:${name}\\s*:|$))`, beginCaptures: caps(type, 'punctuation.section.braces.begin'),
    end: '\\}', endCaptures: { 0: scoped('punctuation.section.braces.end') },
    patterns: include('argument', 'value'),
  },
  argument: match(`(${name})\\s*(:)(?!:)`, 'variable.parameter', 'punctuation.separator.colon'),
  numbers: {
    patterns: [
      { name: 'constant.numeric.duration.chart', match: '(?<![\\w.])\\d+(ms|s|m|h|d)(?!\\w)', captures: caps('keyword.other.unit') },
      { name: 'constant.numeric.float.chart', match: '(?<!\\w)\\d+(?:\\.\\d+(?:[eE][+-]?\\d+)?|[eE][+-]?\\d+)(?!\\w)' },
      { name: 'constant.numeric.integer.chart', match: '(?<!\\w)(?:\\d{1,3}(?:_\\d{3})+|\\d+)(?!\\w)' },
    ],
  },
  constants: { name: 'constant.language.chart', match: '(?<![\\w.])(?:true|false|none)(?!\\w)' },
  'expression-words': {
    patterns: [
      // `in(s)` asks whether a state is active.
      { name: 'support.function.chart', match: '(?<![\\w.])in(?=\\()' },
      { name: 'keyword.operator.word.chart', match: '(?<![\\w.])(?:and|or|not|in|div)(?!\\w)' },
      { name: 'keyword.control.conditional.chart', match: '(?<![\\w.])(?:if|then|else)(?!\\w)' },
      { name: 'keyword.control.loop.chart', match: '(?<![\\w.])for(?!\\w)' },
      { name: 'keyword.control.chart', match: '(?<![\\w.])(?:stay|turn)(?!\\w)' },
    ],
  },
  types: {
    patterns: [
      { name: 'support.type.chart', match: `(?<![\\w.])${any(types)}(?!\\w)` },
      match(`(?<![\\w.])([A-Z]\\w*)(\\.)(${name})`, type, 'punctuation.accessor', 'variable.other.enummember'),
      { name: 'entity.name.type.chart', match: '(?<![\\w.])[A-Z]\\w*(?!\\w)' },
    ],
  },
  calls: {
    patterns: [
      match(`(?<![\\w.])(in|turns_in|streak|repeated)(?=\\()`, 'support.function'),
      match(`(?<![\\w.])(${name})(?=\\()`, func),
    ],
  },
  property: match(`(\\.)(?!\\.)(${name}|[A-Za-z_]\\w*)`, 'punctuation.accessor', property),
  observables: { name: 'variable.language.chart', match: `(?<![\\w.])${any(observables)}(?![\\w])(?!\\s*=[^=])` },
  names: {
    patterns: [
      { name: 'variable.other.quoted.chart', match: quoted },
      { name: 'variable.other.readwrite.chart', match: `(?<![\\w.])${isReserved}[a-z_]\\w*` },
    ],
  },
  operators: {
    patterns: [
      { name: 'keyword.operator.arrow.chart', match: '->' },
      { name: 'keyword.operator.comparison.chart', match: '==|!=|<=|>=|<|>' },
      { name: 'keyword.operator.null-coalescing.chart', match: '\\?\\?' },
      { name: 'keyword.operator.optional.chart', match: '\\?' },
      { name: 'keyword.operator.range.chart', match: '\\.\\.' },
      { name: 'keyword.operator.arithmetic.chart', match: '\\*\\*|[-+*/%]' },
      { name: 'keyword.operator.assignment.chart', match: '=' },
      { name: 'keyword.operator.union.chart', match: '\\|' },
    ],
  },
  dot: { name: 'punctuation.accessor.chart', match: '\\.' },
  punctuation: {
    patterns: [
      { name: 'punctuation.separator.comma.chart', match: ',' },
      { name: 'punctuation.separator.colon.chart', match: ':' },
    ],
  },
};
