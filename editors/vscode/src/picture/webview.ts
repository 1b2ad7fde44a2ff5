// The panel itself: lays the picture out with Graphviz in WebAssembly, in the theme's colours, to be moved, zoomed and clicked on.

import { instance } from '@viz-js/viz';
import { themed } from './colour';
import { endsOf, stateOf, type Clicked } from './map';
import type { FromPanel, ToPanel } from './messages';
import { View } from './view';
import { inHelvetica, width } from './width';

declare function acquireVsCodeApi(): { postMessage(message: FromPanel): void };

const editor = acquireVsCodeApi();
const graphviz = instance();
const page = {
  canvas: element('canvas'),
  message: element('message'),
  charts: element('charts') as HTMLSelectElement,
  name: element('name'),
};
const view = new View(page.canvas);
let shown: { chart: string; svg: SVGSVGElement; groups: Map<string, Element> } | undefined;
let at: string | undefined;
let edge: string | undefined;
/** The last message wins: a layout that takes long must not hide a later one. */
let latest = 0;

function element(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) {
    throw new Error(`the page has no ${id}`);
  }
  return found;
}

window.addEventListener('message', (event: MessageEvent<ToPanel>) => {
  const message = event.data;
  switch (message.kind) {
    case 'picture':
      void draw(message);
      break;
    case 'at':
      at = message.id;
      edge = message.edge;
      pointOut(true);
      break;
    case 'none':
      latest += 1;
      if (!message.keep) {
        shown = undefined;
        page.canvas.replaceChildren();
        offer([], '');
      }
      say(`${shown === undefined ? 'There is no picture' : 'This is the last picture that could be drawn'}: ${message.why}`);
      break;
  }
});

async function draw(picture: Extract<ToPanel, { kind: 'picture' }>): Promise<void> {
  latest += 1;
  const mine = latest;
  try {
    const svg = (await graphviz).renderSVGElement(inHelvetica(picture.dot));
    if (mine !== latest) {
      return;
    }
    dress(svg);
    page.canvas.replaceChildren(svg);
    const another = shown?.chart !== picture.chart;
    shown = { chart: picture.chart, svg, groups: groupsIn(svg) };
    at = picture.at;
    edge = picture.edge;
    offer(picture.charts, picture.chart);
    say('');
    squeeze(svg);
    view.show(svg, another);
    pointOut(another);
    editor.postMessage({ kind: 'drawn', chart: picture.chart, nodes: svg.querySelectorAll('g.node').length });
  } catch (error) {
    if (mine === latest) {
      const why = `The picture cannot be laid out: ${error instanceof Error ? error.message : String(error)}`;
      say(why);
      editor.postMessage({ kind: 'failed', why });
    }
  }
}

/** The theme's colours instead of those for paper, and letters no wider than the layout has room for. */
function dress(svg: SVGSVGElement): void {
  svg.querySelector('g.graph > polygon')?.remove();
  for (const it of svg.querySelectorAll<SVGElement>('polygon, path, ellipse, polyline, text, rect')) {
    for (const part of ['fill', 'stroke'] as const) {
      const colour = it.getAttribute(part) ?? (part === 'fill' && it.tagName === 'text' ? 'black' : null);
      if (colour !== null && colour !== 'none' && colour !== 'transparent') {
        it.style[part] = themed(colour);
      }
    }
  }
  for (const text of svg.querySelectorAll('text')) {
    const size = parseFloat(text.getAttribute('font-size') ?? '14');
    const bold = text.getAttribute('font-weight') === 'bold';
    laidOut.set(text, size * width(text.textContent ?? '', bold));
    text.setAttribute('font-size', (size * narrowing(bold)).toFixed(2));
    text.setAttribute('font-family', family);
  }
  // A tooltip is the title of a link that leads nowhere: keep the title, drop the link.
  for (const link of svg.querySelectorAll('a')) {
    const title = document.createElementNS('http://www.w3.org/2000/svg', 'title');
    title.textContent = link.getAttributeNS('http://www.w3.org/1999/xlink', 'title');
    const group = document.createElementNS('http://www.w3.org/2000/svg', 'g');
    group.append(title, ...link.childNodes);
    link.replaceWith(group);
  }
}

const family = 'Helvetica, Arial, "Liberation Sans", Arimo, sans-serif';
const letters = 'abcdefghijklmnopqrstuvwxyz';
/** How wide texts are in the layout. */
const laidOut = new WeakMap<SVGTextElement, number>();
const narrowings: { plain?: number; bold?: number } = {};

/** How much smaller letters have to be where another font stands in for Helvetica. */
function narrowing(bold: boolean): number {
  const weight = bold ? 'bold' : 'plain';
  let factor = narrowings[weight];
  if (factor === undefined) {
    const paper = document.createElement('canvas').getContext('2d');
    if (paper === null) {
      return 1;
    }
    paper.font = `${bold ? 'bold ' : ''}100px ${family}`;
    factor = Math.min(1, (100 * width(letters, bold)) / paper.measureText(letters).width);
    narrowings[weight] = factor;
  }
  return factor;
}

/** Words must not run into each other or out of their boxes, whatever their letters. */
function squeeze(svg: SVGSVGElement): void {
  for (const text of svg.querySelectorAll('text')) {
    const room = laidOut.get(text) ?? Infinity;
    if (text.getComputedTextLength() > room) {
      text.setAttribute('textLength', room.toFixed(2));
      text.setAttribute('lengthAdjust', 'spacingAndGlyphs');
    }
  }
}

/** Marks the state and the arrow under the cursor, and brings the state into view if it was the cursor that has moved. */
function pointOut(move: boolean): void {
  if (shown === undefined) {
    return;
  }
  for (const it of shown.svg.querySelectorAll('.at, .outline')) {
    it.classList.remove('at', 'outline');
  }
  const arrow = edge === undefined ? null : shown.svg.querySelector(`g.edge[id="${CSS.escape(edge)}"]`);
  arrow?.classList.add('at');
  const group = shown.groups.get(at ?? '');
  if (group !== undefined) {
    group.classList.add('at');
    // The shape is drawn first, what is in it later.
    group.querySelector('path, polygon, ellipse')?.classList.add('outline');
    if (move) {
      view.reveal(group);
    }
  }
}

function offer(charts: string[], chart: string): void {
  page.name.textContent = chart;
  const several = charts.length > 1;
  page.name.hidden = several;
  page.charts.hidden = !several;
  page.charts.replaceChildren(...charts.map((name) => new Option(name, name, false, name === chart)));
}

function say(text: string): void {
  page.message.textContent = text;
  page.message.hidden = text === '';
  page.canvas.classList.toggle('stale', text !== '' && shown !== undefined);
}

page.charts.addEventListener('change', () => editor.postMessage({ kind: 'chosen', chart: page.charts.value }));
page.canvas.addEventListener('click', (event) => {
  if (view.moved || !(event.target instanceof Element)) {
    return;
  }
  const clicked = clickedOn(event.target);
  if (clicked !== undefined) {
    editor.postMessage({ kind: 'clicked', clicked });
  }
});

function clickedOn(target: Element): Clicked | undefined {
  const group = target.closest('g.node, g.edge, g.cluster');
  if (group === null) {
    return undefined;
  }
  const title = titleOf(group);
  if (!group.classList.contains('edge')) {
    return { id: stateOf(title) ?? '' };
  }
  const ends = endsOf(title);
  return { id: group.id, tail: stateOf(ends?.tail ?? ''), head: stateOf(ends?.head ?? '') };
}

/** The groups of states, by the states' ids. */
function groupsIn(svg: SVGSVGElement): Map<string, Element> {
  const groups = [...svg.querySelectorAll('g.node, g.cluster')];
  return new Map(groups.flatMap((group) => {
    const id = stateOf(titleOf(group));
    return id === undefined ? [] : [[id, group]];
  }));
}

function titleOf(group: Element): string {
  return group.querySelector(':scope > title')?.textContent ?? '';
}

for (const [id, act] of [['in', () => view.zoom(1.25)], ['out', () => view.zoom(0.8)], ['fit', () => view.fit()]] as const) {
  element(id).addEventListener('click', act);
}
document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target instanceof HTMLSelectElement) {
    return;
  }
  const act: Record<string, () => void> = {
    '+': () => view.zoom(1.25), '=': () => view.zoom(1.25), '-': () => view.zoom(0.8), '0': () => view.fit(),
    ArrowLeft: () => view.pan(60, 0), ArrowRight: () => view.pan(-60, 0), ArrowUp: () => view.pan(0, 60), ArrowDown: () => view.pan(0, -60),
  };
  const chosen = act[event.key];
  if (chosen !== undefined) {
    event.preventDefault();
    chosen();
  }
});
editor.postMessage({ kind: 'ready' });
