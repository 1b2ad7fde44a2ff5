// What the editor and the panel say to each other.

import type { Clicked } from './map';

export type ToPanel =
  | { kind: 'picture'; chart: string; charts: string[]; dot: string; at?: string; edge?: string }
  /** The cursor has moved. */
  | { kind: 'at'; id?: string; edge?: string }
  /** There is no picture of the text as it is now. The last one stays if it is of the same text. */
  | { kind: 'none'; why: string; keep: boolean };

export type FromPanel =
  | { kind: 'ready' }
  | { kind: 'clicked'; clicked: Clicked }
  | { kind: 'chosen'; chart: string }
  /** What is drawn now, or why it cannot be. */
  | { kind: 'drawn'; chart: string; nodes: number }
  | { kind: 'failed'; why: string };
