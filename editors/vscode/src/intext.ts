/** Whether the end of a chart's text is inside of a text in quotes. */
export function endsInText(chart: string): boolean {
  const tokens = /"""[^]*?("""|$)|"(?:[^"\\\n]|\\.)*("|\n|$)|`(?:[^`\\\n]|\\.)*(?:`|\n|$)|\/\/.*/g;
  for (const found of chart.matchAll(tokens)) {
    const isText = found[0].startsWith('"');
    if (isText && found.index + found[0].length === chart.length && (found[1] ?? found[2]) === '') {
      return true;
    }
  }
  return false;
}
