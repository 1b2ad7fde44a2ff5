// From what was clicked on in the picture to places in the text.

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

/** What was clicked on: the id of its group and, for an arrow, those of its two ends. */
export interface Clicked {
  id: string;
  tail?: string;
  head?: string;
}

/** The text of a state, of an arrow, or of the state that the arrow begins at. Of several lines that share an arrow, the one after that at the cursor. */
export function rangeOf(states: readonly Placed[], edges: readonly Placed[], clicked: Clicked, cursor?: Place): Stretch | undefined {
  const all = [...states, ...edges].filter((it) => it.id === clicked.id);
  const nth = all.findIndex((it) => cursor !== undefined && holds(it.range, cursor));
  const known = all[(nth + 1) % all.length];
  const end = (id: string | undefined) => (id === undefined ? undefined : states.find((state) => state.id === id));
  return (known ?? end(clicked.tail) ?? end(clicked.head))?.range;
}

function holds({ start, end }: Stretch, { line, character }: Place): boolean {
  const isBehind = line > start.line || (line === start.line && character >= start.character);
  return isBehind && (line < end.line || (line === end.line && character <= end.character));
}

/** The ends of an arrow: Graphviz calls it by the names of its nodes, with ports behind colons. */
export function endsOf(title: string): { tail: string; head: string } | undefined {
  const found = /^([^:]+?)(?::\S*)?->([^:]+?)(?::\S*)?$/.exec(title);
  return found?.[1] === undefined || found[2] === undefined ? undefined : { tail: found[1], head: found[2] };
}

/** The id of the state that a node of this name stands for: `s3`, or `cluster3` where it has children. */
export function stateOf(node: string): string | undefined {
  const number = /^(?:s|cluster)(\d+)$/.exec(node)?.[1];
  return number === undefined ? undefined : `s${number}`;
}
