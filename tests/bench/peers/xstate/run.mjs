// Drives XState with the streams beside it: `node run.mjs ROUNDS MACHINE`. Prints a line of JSON for each stream: the
// nanoseconds of the processor for an event of each round, and where the machine ended. `table.json` has the rows of the large table.
import { readFileSync } from 'node:fs';
import { assign, createActor, createMachine } from 'xstate';

const names = (letter, count) => Array.from({ length: count }, (_, i) => letter + i);
const add = (name) => assign(({ context }) => ({ [name]: context[name] + 1 }));

// Nanoseconds that the processor has spent on this thread; where the system does not tell, the clock's.
function time() {
  try {
    return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]);
  } catch {
    return Number(process.hrtime.bigint());
  }
}

function ring() {
  const count = assign(({ context }) => ({ count: context.count + 1 }));
  const burn = assign(({ context }) => ({ fuel: context.fuel - 1, count: context.count + 1 }));
  const refill = assign({ fuel: 2 });
  const fueled = ({ context }) => context.fuel > 0;
  const states = {};
  for (let i = 0; i < 8; i += 1) {
    states[`s${i}`] = {
      on: {
        next: { guard: fueled, target: `s${(i + 1) % 8}`, actions: burn },
        prev: { target: `s${(i + 7) % 8}`, actions: count },
        skip: { target: `s${(i + 2) % 8}`, actions: count },
        reset: { target: `s${i}`, actions: refill },
      },
    };
  }
  return {
    events: ['next', 'prev', 'skip', 'reset'],
    machine: createMachine({ context: { fuel: 2, count: 0 }, initial: 's0', states }),
    leaf: (value) => Number(value.slice(1)),
    counters: ({ fuel, count }) => [fuel, count],
  };
}

function hierarchy() {
  const inner = { entry: add('entered'), exit: add('left') };
  const leaves = ['a1', 'a2', 'a3', 'b1', 'b2', 'b3', 'c1', 'd'];
  const machine = createMachine({
    context: { count: 0, local: 0, entered: 0, left: 0 },
    initial: 'r',
    states: {
      r: {
        initial: 'a',
        on: { tick: { actions: add('count') }, halt: '.d' },
        states: {
          a: {
            ...inner,
            initial: 'a1',
            on: { switch: 'b' },
            states: {
              a1: { on: { tick: { actions: add('local') }, next: 'a2' } },
              a2: { on: { next: 'a3' } },
              a3: { on: { next: 'a1' } },
            },
          },
          b: {
            ...inner,
            initial: 'b1',
            on: { switch: 'c' },
            states: {
              b1: { on: { tick: { target: 'b2', actions: add('local') }, next: 'b2' } },
              b2: { on: { next: 'b3' } },
              b3: { id: 'b3', on: { next: 'b1' } },
            },
          },
          c: {
            ...inner,
            initial: 'c1',
            on: { switch: 'a' },
            states: { c1: { on: { next: '#b3' } } },
          },
          d: { on: { next: 'a' } },
        },
      },
    },
  });
  return {
    events: ['tick', 'next', 'switch', 'halt'],
    machine,
    leaf: ({ r }) => leaves.indexOf(typeof r === 'string' ? r : Object.values(r)[0]),
    counters: ({ count, local, entered, left }) => [count, local, entered, left],
  };
}

function parallel() {
  const count = add('count');
  const region = (name, step) => {
    const states = {};
    for (let i = 0; i < 4; i += 1) {
      const line = { target: `${name}${(i + 1) % 4}`, actions: count };
      states[`${name}${i}`] = { on: { [step]: line, all: line } };
    }
    return { initial: `${name}0`, states };
  };
  const machine = createMachine({
    context: { count: 0 },
    type: 'parallel',
    states: { p: region('p', 'step1'), q: region('q', 'step2'), r: region('r', 'step3') },
  });
  const at = (value) => Number(value.slice(1));
  return {
    events: ['step1', 'step2', 'step3', 'all'],
    machine,
    leaf: ({ p, q, r }) => 16 * at(p) + 4 * at(q) + at(r),
    counters: (context) => [context.count],
  };
}

function table() {
  const rows = JSON.parse(readFileSync('table.json', 'utf8'));
  const events = names('e', rows[0].length);
  const states = {};
  rows.forEach((row, i) => {
    states[`s${i}`] = { on: Object.fromEntries(row.map((to, e) => [events[e], `s${to}`])) };
  });
  return {
    events,
    machine: createMachine({ initial: 's0', states }),
    leaf: (value) => Number(value.slice(1)),
    counters: () => [],
  };
}

const rounds = Number(process.argv[2]);
const name = process.argv[3];
const make = { ring, hierarchy, parallel, table }[name];
for (const stream of ['random', 'predictable']) {
  const { events, machine, leaf, counters } = make();
  const all = events.map((type) => ({ type }));
  const sent = Array.from(readFileSync(`${name}.${stream}`), (code) => all[code]);
  const times = [];
  let snapshot;
  // The first round warms the compiler up.
  for (let round = 0; round <= rounds; round += 1) {
    const actor = createActor(machine).start();
    const begin = time();
    for (const event of sent) actor.send(event);
    const spent = time() - begin;
    if (round > 0) times.push(spent / sent.length);
    snapshot = actor.getSnapshot();
    actor.stop();
  }
  const end = { leaf: leaf(snapshot.value), counters: counters(snapshot.context) };
  console.log(JSON.stringify({ stream, times, ...end }));
}
