import { compared, type Figure, type Rounds } from './figures.ts';
import type { Generator, Side } from './generator/main.ts';
import { type Child, startChild } from './rpc.ts';
import type { BareProvider } from './servers/bare-provider.ts';
import type { FoyerServer } from './servers/foyer.ts';
import type { Listening, Usage } from './setting.ts';
import type { Stores } from './stores.ts';

/** The length and number of the measurements. */
export interface Effort {
  pairs: number;
  /** The length of one round of one measurement. */
  seconds: number;
}

const members = 100;
const atOnce = 16;
/** The number of sign-ons before their codes are exchanged and their tokens used, as client apps do within a second. */
const chunk = 400;
const userinfosPerSignOn = 2;
const warmUpSeconds = 6;

/** One of the two that are compared. */
export interface Server {
  side: Side;
  port: number;
  usage(): Promise<Usage>;
}

type Measured = 'authorize' | 'exchange' | 'userinfo';
const measured: readonly Measured[] = ['authorize', 'exchange', 'userinfo'];
type Results = Record<Measured, { perSecond: number; cpuMs: number; seconds: number }>;

/** Sign-ons in chunks: codes by silent sign-on, their exchange, userinfo with the tokens that came of it. */
async function round(generator: Child<Generator>, { port, usage }: Server, chunks: number): Promise<Results> {
  const total = { authorize: { ms: 0, cpuMs: 0 }, exchange: { ms: 0, cpuMs: 0 }, userinfo: { ms: 0, cpuMs: 0 } };
  const countOf = (name: Measured) => (name === 'userinfo' ? chunk * userinfosPerSignOn : chunk);
  for (let done = 0; done < chunks; done += 1) {
    for (const name of measured) {
      const before = await usage();
      const ms = await (name === 'exchange'
        ? generator.exchange({ port })
        : generator[name]({ port, count: countOf(name) }));
      total[name].ms += ms;
      total[name].cpuMs += (await usage()).cpuMs - before.cpuMs;
    }
  }
  const result = (name: Measured) => {
    const count = countOf(name) * chunks;
    const { ms, cpuMs } = total[name];
    return { perSecond: count / (ms / 1000), cpuMs: cpuMs / count, seconds: ms / 1000 };
  };
  return { authorize: result('authorize'), exchange: result('exchange'), userinfo: result('userinfo') };
}

/** Runs until the code is compiled. @returns the seconds of one chunk at the end */
async function warmUp(generator: Child<Generator>, server: Server): Promise<number> {
  const beganMs = performance.now();
  let seconds = 0;
  while (performance.now() - beganMs < warmUpSeconds * 1000) {
    const { authorize, exchange } = await round(generator, server, 1);
    seconds = (authorize.seconds + exchange.seconds) / 2;
  }
  return seconds;
}

const empty = (): Record<Measured, Rounds> => ({
  authorize: { perSecond: [], cpuMs: [] },
  exchange: { perSecond: [], cpuMs: [] },
  userinfo: { perSecond: [], cpuMs: [] },
});

function keep(rounds: Record<Measured, Rounds>, results: Results): void {
  for (const name of measured) {
    rounds[name].perSecond.push(results[name].perSecond);
    rounds[name].cpuMs.push(results[name].cpuMs);
  }
}

/** Compares code exchange, silent authorize and userinfo with the bare library, in alternating rounds. */
export async function measureProvider(stores: Stores, { pairs, seconds }: Effort): Promise<Figure[]> {
  const generator = startChild<Generator>('generator/main.ts');
  const bareChild = startChild<BareProvider>('servers/bare-provider.ts');
  const foyerChild = startChild<FoyerServer>('servers/foyer.ts', stores.environment);
  try {
    const serverOf = ({ port }: Listening, side: Side, child: { usage(): Promise<Usage> }): Server => ({
      side,
      port,
      usage: () => child.usage(),
    });
    const bare = serverOf(await bareChild.start({ members }), 'bare', bareChild);
    const foyer = serverOf(await foyerChild.start({ members }), 'foyer', foyerChild);
    for (const { side, port } of [bare, foyer]) await generator.openSessions({ side, port, members, atOnce });

    await warmUp(generator, foyer);
    const chunks = Math.max(1, Math.round(seconds / (await warmUp(generator, bare))));
    const [ofBare, ofFoyer] = [empty(), empty()];
    for (let pair = 0; pair < pairs; pair += 1) {
      keep(ofBare, await round(generator, bare, chunks));
      keep(ofFoyer, await round(generator, foyer, chunks));
    }
    const { rssBytes } = await foyerChild.usage();
    const figure = (name: Measured, what: string) =>
      compared(`${what}, ${stores.name}`, ofBare[name], ofFoyer[name], stores.leastOfBare);
    return [
      figure('exchange', 'Code exchange'),
      figure('authorize', 'Authorize'),
      figure('userinfo', 'Userinfo'),
      {
        what: `Memory after this load, ${stores.name}`,
        value: rssBytes / 1e6,
        unit: 'MB',
        aim: { below: 200 },
      },
    ];
  } finally {
    await Promise.all([generator.stop(), bareChild.stop(), foyerChild.stop()]);
  }
}
