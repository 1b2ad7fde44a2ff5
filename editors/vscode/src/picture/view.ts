// Moving and zooming.

const least = 0.05;
const most = 8;
/** A picture that is smaller cannot be read. */
const readable = 0.7;

export class View {
  /** Whether the pointer was dragged since it went down: what follows is no click. */
  moved = false;
  private x = 0;
  private y = 0;
  private scale = 1;
  private svg: SVGSVGElement | undefined;
  private fitted = true;

  constructor(private readonly canvas: HTMLElement) {
    canvas.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
    canvas.addEventListener('pointerdown', (event) => this.drag(event));
    canvas.addEventListener('dblclick', () => this.fit());
    new ResizeObserver(() => {
      if (this.fitted) {
        this.fit();
      }
    }).observe(canvas);
  }

  /** Shows a picture: from where the last one was looked at, or whole if it is another chart. */
  show(svg: SVGSVGElement, another: boolean): void {
    this.svg = svg;
    // Graphviz measures in points.
    for (const side of ['width', 'height'] as const) {
      svg.setAttribute(side, `${parseFloat(svg.getAttribute(side) ?? '0') * (4 / 3)}`);
    }
    if (another) {
      this.begin();
    } else if (this.fitted) {
      this.fit();
    } else {
      this.apply();
    }
  }

  /** Shows all, or the top of what would be too small to read. */
  private begin(): void {
    this.fit();
    if (this.scale < readable) {
      this.scale = readable;
      this.x = Math.max((this.canvas.clientWidth - this.size()[0] * readable) / 2, 12);
      this.y = 12;
      this.fitted = false;
      this.apply();
    }
  }

  fit(): void {
    const [width, height] = this.size();
    if (width > 0 && height > 0 && this.canvas.clientWidth > 0) {
      const room = Math.min((this.canvas.clientWidth - 24) / width, (this.canvas.clientHeight - 24) / height);
      this.scale = Math.min(Math.max(room, least), 1);
      this.x = (this.canvas.clientWidth - width * this.scale) / 2;
      this.y = Math.max((this.canvas.clientHeight - height * this.scale) / 2, 12);
    }
    this.fitted = true;
    this.apply();
  }

  zoom(factor: number, x = this.canvas.clientWidth / 2, y = this.canvas.clientHeight / 2): void {
    const scale = Math.min(Math.max(this.scale * factor, least), most);
    this.x = x - ((x - this.x) * scale) / this.scale;
    this.y = y - ((y - this.y) * scale) / this.scale;
    this.scale = scale;
    this.fitted = false;
    this.apply();
  }

  pan(x: number, y: number): void {
    this.x += x;
    this.y += y;
    this.fitted = false;
    this.apply();
  }

  /** Moves as little as is needed to see the whole of a group, or its beginning if it is larger than the panel. */
  reveal(group: Element): void {
    const [inner, outer] = [group.getBoundingClientRect(), this.canvas.getBoundingClientRect()];
    const x = distance(inner.left, inner.right, outer.left, outer.right);
    const y = distance(inner.top, inner.bottom, outer.top, outer.bottom);
    if (x !== 0 || y !== 0) {
      this.pan(x, y);
    }
  }

  private wheel(event: WheelEvent): void {
    event.preventDefault();
    const box = this.canvas.getBoundingClientRect();
    // A mouse wheel and a pinch zoom; two fingers on a touch pad move, which is told by shift or a sideways part.
    if (event.shiftKey || (event.deltaX !== 0 && !event.ctrlKey)) {
      this.pan(-event.deltaX - (event.shiftKey ? event.deltaY : 0), event.shiftKey ? 0 : -event.deltaY);
    } else {
      this.zoom(Math.exp(-Math.max(-120, Math.min(120, event.deltaY)) / (event.ctrlKey ? 100 : 500)), event.clientX - box.left, event.clientY - box.top);
    }
  }

  private drag(down: PointerEvent): void {
    this.moved = false;
    if (down.button !== 0) {
      return;
    }
    let [x, y] = [down.clientX, down.clientY];
    const move = (event: PointerEvent) => {
      if (!this.moved && Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) < 4) {
        return;
      }
      this.moved = true;
      this.canvas.classList.add('dragged');
      this.pan(event.clientX - x, event.clientY - y);
      [x, y] = [event.clientX, event.clientY];
    };
    const up = () => {
      this.canvas.classList.remove('dragged');
      window.removeEventListener('pointermove', move);
      window.removeEventListener('pointerup', up);
      window.removeEventListener('pointercancel', up);
    };
    window.addEventListener('pointermove', move);
    window.addEventListener('pointerup', up);
    window.addEventListener('pointercancel', up);
  }

  private size(): [number, number] {
    return [parseFloat(this.svg?.getAttribute('width') ?? '0'), parseFloat(this.svg?.getAttribute('height') ?? '0')];
  }

  private apply(): void {
    if (this.svg !== undefined) {
      this.svg.style.transform = `translate(${this.x}px, ${this.y}px) scale(${this.scale})`;
    }
  }
}

/** How far a stretch has to move to lie in another; its beginning counts where it is longer. */
function distance(from: number, to: number, low: number, high: number): number {
  const margin = 16;
  if (from < low + margin || to - from > high - low - 2 * margin) {
    return from >= low + margin && from < high - margin ? 0 : low + margin - from;
  }
  return to > high - margin ? high - margin - to : 0;
}
