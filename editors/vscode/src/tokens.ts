// Colours from the server, beside those of the grammar.
//
// The grammar tells words that declare from words that do, and escapes from the text around them; the server has one kind for each. What
// the server alone knows is what names mean. So of its tokens those of names are taken.

/** Kinds of the protocol that the grammar knows better. */
export const lexical: ReadonlySet<string> = new Set(['keyword', 'string', 'number', 'operator', 'comment', 'regexp']);

/** The tokens without those of some kinds. Five numbers are a token, each placed relative to the one before. */
export function without(data: ArrayLike<number>, kinds: ReadonlySet<number>): Uint32Array {
  const kept: number[] = [];
  let [lines, characters] = [0, 0];
  for (let at = 0; at + 4 < data.length; at += 5) {
    const [line, character, length, kind, modifiers] = [0, 1, 2, 3, 4].map((nth) => data[at + nth] ?? 0) as [number, number, number, number, number];
    lines += line;
    characters = line === 0 ? characters + character : character;
    if (!kinds.has(kind)) {
      kept.push(lines, characters, length, kind, modifiers);
      [lines, characters] = [0, 0];
    }
  }
  return Uint32Array.from(kept);
}
