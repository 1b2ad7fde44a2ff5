// How the grammar is written down: names, words, braces, and the scopes of what they stand for.

import { items, reserved } from './words.mjs';

export const any = (words) => `(?:${[...words].sort((a, b) => b.length - a.length || (a < b ? -1 : 1)).join('|')})`;
export const quoted = '`(?:[^`\\\\]|\\\\.)*`';
export const isReserved = `(?!${any(reserved)}\\b)`;
export const name = `(?:${isReserved}[A-Za-z_]\\w*|${quoted})`;
export const path = `${name}(?:\\.${name})*`;
/** A word, whole: neither the end of a longer one nor a part of a path. */
export const word = (...words) => `(?<![\\w.])(${any(words)})(?!\\w)`;
export const endOfLine = '\\s*(?://.*)?$';

export const include = (...names) => names.map((it) => ({ include: `#${it}` }));
export const caps = (...scopes) => Object.fromEntries(scopes.flatMap((scope, i) => (scope ? [[i + 1, scoped(scope)]] : [])));
export const scoped = (scope) => (typeof scope === 'string' ? { name: `${scope}.chart` } : scope);
export const match = (regex, ...scopes) => ({ match: regex, captures: caps(...scopes) });
export const keyword = (regex, scope = 'keyword.control') => match(regex, scope);
/** What stands in braces; the brace is the next thing in the text. */
export const braces = (kind, ...inside) => ({
  name: `meta.${kind}.chart`,
  begin: '\\{', beginCaptures: { 0: scoped('punctuation.section.braces.begin') },
  end: '\\}', endCaptures: { 0: scoped('punctuation.section.braces.end') },
  patterns: include(...inside),
});
/** From a head to the end of its braces, or to the first thing that cannot belong to it. */
export const block = (kind, begin, scopes, head, body, stop = '[^\\s{/]') => ({
  name: `meta.${kind}.chart`,
  begin, beginCaptures: caps(...scopes),
  end: `(?<=\\})|(?=${stop})`,
  patterns: [...include('comments', ...head), body],
});
export const brackets = (kind, open, close, inside, also = '') => ({
  name: `meta.${kind}.chart`,
  begin: open, beginCaptures: { 0: scoped('punctuation.section.brackets.begin') },
  end: also ? `(${close})|${also}` : close,
  ...(also
    ? { endCaptures: { 1: scoped('punctuation.section.brackets.end') } }
    : { endCaptures: { 0: scoped('punctuation.section.brackets.end') } }),
  patterns: include(...inside),
});

export const state = 'entity.name.class.state';
export const target = 'entity.name.class.target';
export const event = 'entity.name.function.event';
export const option = 'entity.name.function.option';
export const step = 'entity.name.function.step';
export const func = 'entity.name.function';
export const type = 'entity.name.type';
export const variable = 'variable.other.readwrite';
export const property = 'variable.other.property';
export const declares = 'storage.type';
export const control = 'keyword.control';
export const modifier = 'storage.modifier';
export const arrow = 'keyword.operator.arrow';

/** States behind a word or an arrow: one or several, with commas or bars. */
export const paths = (inside) => ({ patterns: [...include('comments'), { match: quoted, name: 'entity.name.class.target.quoted.chart' }, { match: `${name}`, name: `${inside}.chart` }, ...include('dot', 'punctuation')] });

export const itemWords = any(new Set(items));
