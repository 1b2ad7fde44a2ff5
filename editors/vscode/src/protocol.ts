// What is asked of `chartc lsp` beside the Language Server Protocol.

import { NotificationType, RequestType, type Position, type Range } from 'vscode-languageclient';

export interface PictureParams {
  uri: string;
  /** The chart, if the file has several; else the one at the position, else the first. */
  chart?: string;
  position?: Position;
  /** Paths of states to point out. */
  highlight?: string[];
}

/** A state of a picture. */
export interface PictureState {
  /** The `id` of its node in the DOT text, and of its group in the SVG document. */
  id: string;
  path: string;
  range: Range;
}

/** An arrow of a picture, where the server tells of arrows. */
export interface PictureEdge {
  id: string;
  range: Range;
}

export interface Picture {
  chart: string;
  /** All charts of the file, where the server tells. */
  charts?: string[];
  dot: string;
  states: PictureState[];
  edges?: PictureEdge[];
  /** The state at the position. */
  at?: string;
}

export interface TestItem {
  name: string;
  chart: string;
  range: Range;
}

export interface TestResult {
  name: string;
  passed: boolean;
  message?: string;
  range?: Range;
  milliseconds: number;
}

export const pictureRequest = new RequestType<PictureParams, Picture | null, void>('chartc/picture');
export const pictureChanged = new NotificationType<{ uri: string }>('chartc/pictureChanged');
export const testsRequest = new RequestType<{ uri: string }, TestItem[] | null, void>('chartc/tests');
export const runTestsRequest = new RequestType<{ uri: string; names?: string[] }, TestResult[] | null, void>('chartc/runTests');
