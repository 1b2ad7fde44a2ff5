// From places in the text to states of the picture and back.

/** As in the Language Server Protocol: both count from 0. */
export interface Place {
  line: number;
  character: number;
}

export interface Stretch {
  start: Place;
  end: Place;
}

export interface Placed {
  id: string;
  range: Stretch;
}

/** What the picture was clicked on: the ids of its group and, for an arrow, the two ends. */
export interface Clicked {
  id: string;
  tail?: string;
  head?: string;
}

function before(a: Place, b: Place): boolean {
  return a.line < b.line || (a.line === b.line && a.character < b.character);
}

function holds(range: Stretch, place: Place): boolean {
  return !before(place, range.start) && !before(range.end, place);
}

/** The innermost state whose text holds the place. */
export function stateAt<T extends Placed>(states: readonly T[], place: Place): T | undefined {
  let innermost: T | undefined;
  for (const state of states) {
    // Of two that begin and end alike, the later one is inside: states come in document order.
    if (holds(state.range, place) && (innermost === undefined || inside(state.range, innermost.range))) {
      innermost = state;
    }
  }
  return innermost;
}

function inside(inner: Stretch, outer: Stretch): boolean {
  return !before(inner.start, outer.start) && !before(outer.end, inner.end);
}

/** The text of what was clicked on: a state, an arrow, or the state that an arrow begins at. */
export function rangeOf(states: readonly Placed[], edges: readonly Placed[], clicked: Clicked): Stretch | undefined {
  const known = [...states, ...edges].find((it) => it.id === clicked.id);
  const end = (id: string | undefined) => (id === undefined ? undefined : states.find((state) => state.id === id));
  return (known ?? end(clicked.tail) ?? end(clicked.head))?.range;
}

/** The charts that a text declares, in its order; what stands in comments and texts is none. */
export function chartsIn(text: string): string[] {
  const names: string[] = [];
  const token = /"""[^]*?(?:"""|$)|"(?:[^"\\\n]|\\.)*|`(?:[^`\\\n]|\\.)*`?|\/\/.*|(?<![\w.])chart\s+(?:([A-Za-z_]\w*)|`((?:[^`\\\n]|\\.)*)`)\s*\{/g;
  for (const found of text.matchAll(token)) {
    const name = found[1] ?? found[2];
    if (name !== undefined) {
      names.push(name);
    }
  }
  return names;
}
