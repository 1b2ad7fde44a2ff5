// The colours of a picture in those of the editor's theme. chartc draws for white paper; an editor may be dark.

/** A colour of the picture, or what stands for it: a CSS colour made of the theme's. */
export function themed(colour: string): string {
  const parsed = parse(colour);
  if (parsed === undefined) {
    return colour;
  }
  const { hue, chroma, lightness } = parsed;
  if (chroma < 0.2) {
    return grey(lightness);
  }
  const name = hueColour(hue);
  // Pale colours fill shapes; the others are lines and letters.
  return lightness > 0.8 ? `color-mix(in srgb, ${name} 18%, var(--vscode-editor-background))` : name;
}

function grey(lightness: number): string {
  if (lightness > 0.99) {
    return 'var(--vscode-editor-background)';
  }
  if (lightness > 0.85) {
    return `color-mix(in srgb, var(--vscode-editor-foreground) ${lightness > 0.95 ? 4 : 12}%, var(--vscode-editor-background))`;
  }
  if (lightness > 0.25) {
    return `color-mix(in srgb, var(--vscode-editor-foreground) ${lightness > 0.55 ? 50 : 70}%, var(--vscode-editor-background))`;
  }
  return 'var(--vscode-editor-foreground)';
}

function hueColour(hue: number): string {
  const of = (name: string) => `var(--vscode-charts-${name})`;
  if (hue < 12 || hue >= 330) {
    return of('red');
  }
  if (hue < 35) {
    // Themes have none of their own: theirs is that of marks behind a text, and hardly seen.
    return `color-mix(in srgb, ${of('red')} 50%, ${of('yellow')})`;
  }
  if (hue < 75) {
    return of('yellow');
  }
  if (hue < 170) {
    return of('green');
  }
  return of(hue < 240 ? 'blue' : 'purple');
}

function parse(colour: string): { hue: number; chroma: number; lightness: number } | undefined {
  const named: Record<string, string> = { black: '#000000', white: '#ffffff' };
  const hex = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(named[colour.toLowerCase()] ?? colour);
  if (hex === null) {
    return undefined;
  }
  const [red, green, blue] = hex.slice(1).map((part) => parseInt(part, 16) / 255) as [number, number, number];
  const most = Math.max(red, green, blue);
  const least = Math.min(red, green, blue);
  const spread = most - least;
  const lightness = (most + least) / 2;
  // Slate, a grey with some blue, is grey here. Pale colours differ little in their parts, whatever their hue.
  const slate = blue >= green && green >= red && spread < 0.2;
  const chroma = slate ? 0 : lightness > 0.8 && spread > 0.035 ? 1 : spread;
  let hue = 0;
  if (spread > 0) {
    const turned = most === red ? (green - blue) / spread : most === green ? 2 + (blue - red) / spread : 4 + (red - green) / spread;
    hue = (turned * 60 + 360) % 360;
  }
  return { hue, chroma, lightness };
}
