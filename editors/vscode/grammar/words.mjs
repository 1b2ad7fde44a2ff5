// The words of the language, by what they are for. `test/unit/words.test.mjs` compares them with the compiler's grammar.

/** No names without back-quotes. */
export const reserved = [
  'and', 'or', 'not', 'in', 'if', 'then', 'else', 'for', 'none', 'true', 'false', 'stay', 'turn', 'div',
];

/** First words outside charts. */
export const top = [
  'import', 'type', 'enum', 'chart', 'fn', 'do', 'tools', 'tool', 'client', 'component', 'test',
];

/** First words in charts and states. */
export const items = [
  'state', 'on', 'when', 'may', 'after', 'each', 'initial', 'final', 'llm', 'ask', 'code', 'call', 'human', 'run', 'from',
  'enter', 'exit', 'defer', 'allow', 'advice', 'limits', 'parallel', 'history', 'var', 'param', 'input', 'event', 'pred',
  'fn', 'do', 'tools', 'tool', 'client', 'component', 'check', 'defaults', 'trace', 'meta',
];

/** First words in steps. */
export const steps = [
  'prompt', 'tools', 'tool', 'retry', 'returns', 'done', 'error', 'timeout', 'doubt', 'cut', 'ends', 'then', 'skip', 'fail', 'up', 'enough',
];

/** First words in tests. */
export const tests = ['given', 'at', 'send', 'turns', 'until', 'turn', 'set', 'wait', 'answers', 'fails', 'tool', 'expect'];

/** The kinds of what a `check` names. */
export const subjects = ['state', 'do', 'tool', 'step', 'may', 'event'];

/** How a run ends. */
export const statuses = ['ok', 'partial', 'stuck', 'limit', 'canceled', 'error'];

/** Where in a prompt a component goes. */
export const places = ['start', 'end', 'replace'];

/** Types that are built in. */
export const types = ['Bool', 'Int', 'Float', 'Text', 'Duration', 'Json', 'List', 'Map'];

/** What the run itself knows. */
export const observables = [
  'state', 'turns', 'turns_here', 'elapsed', 'elapsed_here', 'event', 'fails_here', 'last_result', 'last_failed', 'advice', 'health',
  'calls', 'calls_here', 'tokens', 'tokens_here', 'cost', 'cost_here', 'options',
];
