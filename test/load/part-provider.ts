import { compared, type Figure, type Rounds } from './figures.ts';
import type { Generator, Side } from './generator/main.ts';
import { type Child, startChild } from './rpc.ts';
import type { BareProvider } from './servers/bare-provider.ts';
import type { FoyerServer } from './servers/foyer.ts';
import type { Listening, Usage } from './setting.ts';
import type { Stores } from './stores.ts';

/** How long and how often everything is measured. */
export interface Effort {
  pairs: number;
  /** Of one round of one measurement. */
  seconds: number;
}

const members = 100;
const atOnce = 16;
/** Codes live a minute: no round may take longer than that. */
const mostAtOnce = 12_000;
const warmUp = 1_000;

interface Server {
  side: Side;
  port: number;
  usage(): Promise<Usage>;
}

type Measured = 'authorize' | 'exchange' | 'userinfo';
const measured: readonly Measured[] = ['authorize', 'exchange', 'userinfo'];
type Counts = Record<Measured, number>;
type Results = Record<Measured, { perSecond: number; cpuMs: number }>;

/** Everything once: codes by silent sign-on, their exchange, userinfo with the tokens that came of it. */
async function round(generator: Child<Generator>, { port, usage }: Server, counts: Counts): Promise<Results> {
  const one = async (name: Measured) => {
    const before = await usage();
    const count = counts[name];
    const ms = await (name === 'exchange' ? generator.exchange({ port }) : generator[name]({ port, count }));
    const cpuMs = (await usage()).cpuMs - before.cpuMs;
    return { perSecond: count / (ms / 1000), cpuMs: cpuMs / count };
  };
  // One after the other: each works with what the one before has made.
  return { authorize: await one('authorize'), exchange: await one('exchange'), userinfo: await one('userinfo') };
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

/** Code exchange, silent authorize and userinfo against the bare library, in alternating rounds. */
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

    // Twice: the first tells nothing about a warm server's pace.
    const few = { authorize: warmUp, exchange: warmUp, userinfo: warmUp };
    await round(generator, foyer, few);
    await round(generator, bare, few);
    await round(generator, foyer, few);
    const pace = await round(generator, bare, few);
    const countOf = (name: Measured) => Math.min(mostAtOnce, Math.ceil(pace[name].perSecond * seconds));
    const codes = Math.min(countOf('authorize'), countOf('exchange'));
    const counts = { authorize: codes, exchange: codes, userinfo: countOf('userinfo') };

    const [ofBare, ofFoyer] = [empty(), empty()];
    for (let pair = 0; pair < pairs; pair += 1) {
      keep(ofBare, await round(generator, bare, counts));
      keep(ofFoyer, await round(generator, foyer, counts));
    }
    const { rssBytes } = await foyerChild.usage();
    const figure = (name: Measured, what: string) =>
      compared(`${what}, ${stores.name}`, ofBare[name], ofFoyer[name], 0.8);
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
