import { type Figure, median, quantile } from './figures.ts';
import type { Generator } from './generator/main.ts';
import type { Arrivals } from './generator/visitors.ts';
import { memberPace, servedByProcessorTime, toMemberFigure } from './part-overload.ts';
import type { Effort } from './part-provider.ts';
import { type Child, startChild } from './rpc.ts';
import type { FoyerServer } from './servers/foyer.ts';
import type { Stores } from './stores.ts';

const atOnce = 16;
const times = 10;
const members = 500;

interface Round {
  /** Sign-ins per second while nothing is refused. */
  capacity: number;
  flood: Arrivals;
  /** Members with a session who open their settings meanwhile. */
  withSession: Arrivals;
  /** Processor time, in milliseconds: the server's for a sign-in and a refusal, the generator's for a request. */
  cpuMs: { signIn: number; refusal: number; sending: number };
  /** How late timers of the server fired. */
  late: { p50: number; p99: number };
}

/**
 * Sign-ins by password that are served when ten times as many are sent as the process can hash. The generator waits for
 * the same cores, so its processor time and the lateness of the server's event loop stand beside the figures.
 */
export async function measureSignInOverload(stores: Stores, { pairs, seconds }: Effort): Promise<Figure[]> {
  const generator = startChild<Generator>('generator/main.ts');
  const foyer = startChild<FoyerServer>('servers/foyer.ts', stores.environment);
  try {
    const { port } = await foyer.start({ members });
    await generator.openSessions({ side: 'foyer', port, members, atOnce });
    const rounds: Round[] = [];
    for (let pair = 0; pair < pairs; pair += 1) rounds.push(await measureRound({ generator, foyer }, port, seconds));
    return toFigures(rounds);
  } finally {
    await Promise.all([generator.stop(), foyer.stop()]);
  }
}

interface Processes {
  generator: Child<Generator>;
  foyer: Child<FoyerServer>;
}

/** The work, and the processor time that each process took for it. */
async function spentBy<T>({ generator, foyer }: Processes, work: () => Promise<T>) {
  const [server, sender] = [await foyer.usage(), await generator.usage()];
  const result = await work();
  return {
    result,
    serverMs: (await foyer.usage()).cpuMs - server.cpuMs,
    senderMs: (await generator.usage()).cpuMs - sender.cpuMs,
  };
}

async function measureRound(processes: Processes, port: number, seconds: number): Promise<Round> {
  const { generator, foyer } = processes;
  const ms = seconds * 1000;
  const usual = await spentBy(processes, () => generator.signIns({ port, ms, atOnce }));
  const capacity = usual.result;
  const signIn = usual.serverMs / (capacity * seconds);
  await foyer.lateness();
  const spent = await spentBy(processes, () =>
    Promise.all([
      generator.signInArrivals({ port, ms, perSecond: times * capacity }),
      generator.memberArrivals({ port, ms, perSecond: memberPace }),
    ]),
  );
  const [flood, withSession] = spent.result;
  const refusal = (spent.serverMs - (flood.sent - flood.refused) * signIn) / Math.max(1, flood.refused);
  return {
    capacity,
    flood,
    withSession,
    cpuMs: { signIn, refusal: Math.max(0, refusal), sending: spent.senderMs / flood.sent },
    late: await foyer.lateness(),
  };
}

function toFigures(rounds: readonly Round[]): Figure[] {
  const mid = (read: (round: Round) => number) => median(rounds.map(read));
  const total = (read: (round: Round) => number) => rounds.reduce((sum, round) => sum + read(round), 0);
  const waitedMs = rounds.flatMap(({ flood }) => flood.refusedMs);
  const waited = (share: number) => (waitedMs.length > 0 ? quantile(waitedMs, share) : 0);
  const [signIn, refusal] = [mid(({ cpuMs }) => cpuMs.signIn), mid(({ cpuMs }) => cpuMs.refusal)];
  return [
    {
      what: `Sign-ins served at ${times} × capacity`,
      value: mid(({ capacity, flood }) => flood.servedPerSecond / capacity),
      unit: 'ratio',
      aim: { atLeast: 0.8 },
      detail: `capacity ${mid(({ capacity }) => capacity).toFixed(0)}/s; ${total(({ flood }) => flood.sent)} sent, ${total(({ flood }) => flood.refused)} refused`,
    },
    {
      what: 'The same by processor time',
      value: servedByProcessorTime(refusal / signIn),
      unit: 'ratio',
      aim: { atLeast: 0.8 },
      detail: `a sign-in ${signIn.toFixed(1)} ms, a refusal ${(refusal * 1000).toFixed(0)} µs, to send one ${(mid(({ cpuMs }) => cpuMs.sending) * 1000).toFixed(0)} µs`,
    },
    {
      what: 'A refused sign-in, p99',
      value: waited(0.99),
      unit: 'ms',
      aim: { below: 100 },
      detail: `median ${waited(0.5).toFixed(0)} ms, with the generator's own waiting; the server's event loop was ${mid(({ late }) => late.p50).toFixed(0)} ms late, p99 ${mid(({ late }) => late.p99).toFixed(0)} ms`,
    },
    toMemberFigure(
      'Members with a session served meanwhile',
      rounds.map(({ withSession }) => withSession),
    ),
  ];
}
