// Versions of the extension and the program, which are released together.

/** The version in what `chartc --version` prints, or in what the server says of itself. */
export function versionIn(text: string): string | undefined {
  return /(?:^|\s)v?(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)(?:\+\S+)?(?=\s|$)/.exec(text.trim())?.[1];
}

/** What to tell about two versions; nothing if they go together. Patches do. */
export function mismatch(extension: string, program: string): string | undefined {
  const [ours, theirs] = [minor(extension), minor(program)];
  if (ours === undefined || theirs === undefined || ours === theirs) {
    return undefined;
  }
  return `The extension is version ${extension}, chartc is version ${program}. Some features may be missing: install the same version of both.`;
}

function minor(version: string): string | undefined {
  return /^(\d+\.\d+)\./.exec(version)?.[1];
}
