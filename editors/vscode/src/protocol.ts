// What is asked of `chartc lsp` beside the Language Server Protocol.

import { NotificationType, RequestType, type Position, type Range } from 'vscode-languageclient';

export interface PictureParams {
  uri: string;
  /** The chart, if the file has several; else the one at the position, else the first. */
  chart?: string;
  /** Where the cursor is: the state there is pointed out in the DOT text, and named in the answer. */
  position?: Position;
}

/** A state of a picture. */
export interface PictureState {
  /** `s3`. Its node in the DOT text is called so, or `cluster3` if it has children. */
  id: string;
  path: string;
  /** Its name in the text. */
  range: Range;
}

/** A line that an arrow of a picture shows; several may share one. */
export interface PictureEdge {
  id: string;
  range: Range;
}

export interface Picture {
  chart: string;
  /** All charts of the file. */
  charts: string[];
  dot: string;
  states: PictureState[];
  edges?: PictureEdge[];
  /** The innermost state at the position. */
  at?: string | null;
  /** The arrow whose line is at the position. */
  edge?: string | null;
}

export interface TestItem {
  name: string;
  chart: string;
  range: Range;
}

export interface TestResult {
  name: string;
  passed: boolean;
  message?: string | null;
  range?: Range | null;
  milliseconds: number;
}

export const pictureRequest = new RequestType<PictureParams, Picture | null, void>('chartc/picture');
export const pictureChanged = new NotificationType<{ uri: string }>('chartc/pictureChanged');
export const testsRequest = new RequestType<{ uri: string }, TestItem[] | null, void>('chartc/tests');
export const runTestsRequest = new RequestType<{ uri: string; names?: string[] }, TestResult[] | null, void>('chartc/runTests');
/** The page of a rule, as Markdown. */
export const explainRequest = new RequestType<{ code: string }, string, void>('chartc/explain');
