// Which `chartc` is used: the setting's, else the environment's, else the one on the PATH, else the one in the extension.

/** Who has named the program. */
export type NamedBy = 'setting' | 'environment' | 'path' | 'bundled';

/** What is looked at, so that nothing here reads the machine itself. */
export interface Surroundings {
  /** The setting `chartc.path`. */
  setting: string;
  /** The variable `CHARTC`. */
  environment: string | undefined;
  /** The variable `PATH`. */
  path: string | undefined;
  home: string;
  windows: boolean;
  /** The folder of the extension. */
  extension: string;
  /** Whether this is a file that can be started. */
  isProgram(path: string): boolean;
}

export type Found =
  | { kind: 'found'; program: string; by: NamedBy }
  /** Somebody has named a program that is not there. Another one in its place would be a surprise. */
  | { kind: 'wrong'; by: 'setting' | 'environment'; named: string; tried: string[] }
  | { kind: 'none'; tried: string[] };

export function find(around: Surroundings): Found {
  for (const [by, named] of [['setting', around.setting], ['environment', around.environment]] as const) {
    const wanted = (named ?? '').trim();
    if (wanted !== '') {
      const tried = places(wanted, around);
      const program = tried.find((place) => around.isProgram(place));
      return program === undefined ? { kind: 'wrong', by, named: wanted, tried } : { kind: 'found', program, by };
    }
  }
  const onPath = places('chartc', around);
  const bundled = join(around, around.extension, 'bin', around.windows ? 'chartc.exe' : 'chartc');
  for (const [by, program] of [...onPath.map((place) => ['path', place] as const), ['bundled', bundled] as const]) {
    if (around.isProgram(program)) {
      return { kind: 'found', program, by };
    }
  }
  return { kind: 'none', tried: [...onPath, bundled] };
}

/** Where a program may be that is named so: a path is one place, the name of a command one in each folder of the PATH. */
function places(named: string, around: Surroundings): string[] {
  const home = /^~(?=$|[/\\])/.test(named) ? around.home + named.slice(1) : named;
  const files = around.windows && !/\.[A-Za-z]+$/.test(home) ? [`${home}.exe`] : [home];
  if (isAbsolute(home, around.windows)) {
    return files;
  }
  if (/[/\\]/.test(home)) {
    // Relative to what? A folder that is opened must not choose the program.
    return [];
  }
  const folders = (around.path ?? '').split(around.windows ? ';' : ':').filter((folder) => isAbsolute(folder, around.windows));
  return [...new Set(folders.flatMap((folder) => files.map((file) => join(around, folder, file))))];
}

function isAbsolute(path: string, windows: boolean): boolean {
  return windows ? /^([A-Za-z]:[/\\]|\\\\)/.test(path) : path.startsWith('/');
}

function join(around: Surroundings, ...parts: string[]): string {
  const separator = around.windows ? '\\' : '/';
  return parts.map((part, i) => (i < parts.length - 1 ? part.replace(/[/\\]+$/, '') : part)).join(separator);
}

/** How the program was found, in words. */
export function foundBy(by: NamedBy): string {
  switch (by) {
    case 'setting':
      return 'named by the setting chartc.path';
    case 'environment':
      return 'named by the environment variable CHARTC';
    case 'path':
      return 'found on the PATH';
    case 'bundled':
      return 'bundled with the extension';
  }
}

/** Why there is no program and what helps, for people. */
export function whyNot(found: Exclude<Found, { kind: 'found' }>): string {
  if (found.kind === 'none') {
    return 'chartc was not found on the PATH. Install it, or name it in the setting chartc.path.';
  }
  const who = found.by === 'setting' ? 'The setting chartc.path' : 'The environment variable CHARTC';
  if (found.tried.length === 0) {
    return `${who} names "${found.named}", a relative path. Give an absolute path, or the name of a command on the PATH.`;
  }
  return `${who} names "${found.named}", which is no program. Correct or clear it.`;
}
