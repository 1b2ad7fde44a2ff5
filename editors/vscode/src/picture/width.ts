// How wide words are in Helvetica, which Graphviz lays them out with where it has no fonts.

/** Of the characters from the blank to the tilde, in thousandths of the size. */
const plain = [
  278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584,
  584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278,
  278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500,
  500, 334, 260, 334, 584,
];
const bold = [
  278, 333, 474, 556, 556, 889, 722, 238, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 333, 333, 584, 584,
  584, 611, 975, 722, 722, 722, 722, 667, 611, 778, 722, 278, 556, 722, 611, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 333,
  278, 333, 584, 556, 333, 556, 611, 556, 611, 556, 333, 611, 611, 278, 278, 556, 278, 889, 611, 611, 611, 611, 389, 556, 333, 611, 556, 778, 556, 556,
  500, 389, 280, 389, 584,
];
/** Of any other character. */
const other = 600;

/** The width of a text of size 1. */
export function width(text: string, isBold: boolean): number {
  const table = isBold ? bold : plain;
  let sum = 0;
  for (const character of text) {
    sum += table[(character.codePointAt(0) ?? 0) - 32] ?? other;
  }
  return sum / 1000;
}

/** The picture with one font instead of a list: of a list Graphviz without fonts knows nothing, and takes Times for it, which is narrower. */
export function inHelvetica(dot: string): string {
  return dot.replaceAll(/fontname="Helvetica,[^"]*"/g, 'fontname="Helvetica"');
}
