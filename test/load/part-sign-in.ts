import { availableParallelism } from 'node:os';
import { compared, type Figure, median, quantile, type Rounds } from './figures.ts';
import type { Generator } from './generator/main.ts';
import type { Effort } from './part-provider.ts';
import { startChild } from './rpc.ts';
import type { FoyerServer } from './servers/foyer.ts';
import type { RawArgon2 } from './servers/raw-argon2.ts';
import type { Usage } from './setting.ts';
import type { Stores } from './stores.ts';

const members = 50;
/** Enough callers that the queue of hashes is never empty. */
const atOnce = 4 * availableParallelism();
const visitsPerSecond = 50;
const visitingMs = 20_000;

interface Measured {
  usage(): Promise<Usage>;
}

interface Work {
  perSecond: number;
  /** Processor time for one sign-in or hash, in milliseconds: of the whole process, and of its main thread. */
  cpuMs: number;
  mainMs: number;
}

/** Runs a round that returns a rate. @returns the work of each process in it */
async function measureWork(processes: readonly Measured[], round: () => Promise<number>): Promise<Work[]> {
  const before = await Promise.all(processes.map((each) => each.usage()));
  const beganMs = performance.now();
  const perSecond = await round();
  const count = (perSecond * (performance.now() - beganMs)) / 1000;
  const after = await Promise.all(processes.map((each) => each.usage()));
  return after.map((now, index) => ({
    perSecond,
    cpuMs: (now.cpuMs - (before[index]?.cpuMs ?? Number.NaN)) / count,
    mainMs: (now.mainMs - (before[index]?.mainMs ?? Number.NaN)) / count,
  }));
}

const toRounds = (works: readonly Work[]): Rounds => ({
  perSecond: works.map(({ perSecond }) => perSecond),
  cpuMs: works.map(({ cpuMs }) => cpuMs),
});

/** The share of the hash in a sign-in's processor time: the ratio of the rates if the generator had cores of its own. */
function shareOfHash(raw: readonly Work[], foyer: readonly Work[], generator: readonly Work[]): Figure {
  const inMs = (works: readonly Work[], name: 'cpuMs' | 'mainMs') =>
    `${median(works.map((one) => one[name])).toFixed(2)} ms`;
  return {
    what: 'The same by processor time of the server alone',
    value: median(foyer.map(({ cpuMs }, index) => (raw[index]?.cpuMs ?? Number.NaN) / cpuMs)),
    unit: 'ratio',
    detail: `main thread ${inMs(foyer, 'mainMs')}; the generator takes ${inMs(generator, 'cpuMs')} of the same cores`,
  };
}
/**
 * Compares sign-ins with the raw rate of argon2id, and measures how long other visitors wait during full load by
 * sign-ins.
 */
export async function measureSignIns(stores: Stores, { pairs, seconds }: Effort): Promise<Figure[]> {
  const generator = startChild<Generator>('generator/main.ts');
  const visitors = startChild<Generator>('generator/main.ts');
  const raw = startChild<RawArgon2>('servers/raw-argon2.ts');
  const foyer = startChild<FoyerServer>('servers/foyer.ts', stores.environment);
  try {
    const { port } = await foyer.start({ members });
    await generator.openSessions({ side: 'foyer', port, members, atOnce });
    await raw.measure({ ms: 500 });
    const ms = seconds * 1000;
    const [hashes, signIns, sent]: [Work[], Work[], Work[]] = [[], [], []];
    for (let pair = 0; pair < pairs; pair += 1) {
      hashes.push(...(await measureWork([raw], () => raw.measure({ ms }))));
      const [served, sending] = await measureWork([foyer, generator], () => generator.signIns({ port, ms, atOnce }));
      if (served && sending) signIns.push(served) && sent.push(sending);
    }
    const [, times] = await Promise.all([
      generator.signIns({ port, ms: visitingMs + 1_000, atOnce }),
      visitors.waiting({ port, ms: visitingMs, perSecond: visitsPerSecond }),
    ]);
    const cores = availableParallelism();
    return [
      compared('Password sign-ins against raw argon2id', toRounds(hashes), toRounds(signIns), 0.92),
      shareOfHash(hashes, signIns, sent),
      {
        what: 'GET / while sign-ins saturate, p99',
        value: quantile(times, 0.99),
        unit: 'ms',
        aim: { below: 15 },
        detail: `median ${quantile(times, 0.5).toFixed(1)} ms, ${times.length} visits; ${cores} cores, shared with two generators`,
      },
    ];
  } finally {
    await Promise.all([generator.stop(), visitors.stop(), raw.stop(), foyer.stop()]);
  }
}
