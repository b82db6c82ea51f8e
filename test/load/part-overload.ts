import { type Figure, median, quantile } from './figures.ts';
import type { Generator } from './generator/main.ts';
import type { Arrivals } from './generator/visitors.ts';
import type { Effort } from './part-provider.ts';
import { startChild } from './rpc.ts';
import type { FoyerServer } from './servers/foyer.ts';
import type { Stores } from './stores.ts';

const atOnce = 16;
const times = 10;
const members = 50;
/** Requests per second of members with a session, beside a flood. */
export const memberPace = 20;

/**
 * Pages that are served when visitors send as many requests as the process can answer, and ten times as many. A
 * generator on the same cores cannot send so many: the processor time of a refusal tells what would be served.
 */
export async function measureOverload(stores: Stores, { pairs, seconds }: Effort): Promise<Figure[]> {
  const generator = startChild<Generator>('generator/main.ts');
  const foyer = startChild<FoyerServer>('servers/foyer.ts', stores.environment);
  try {
    const { port } = await foyer.start({ members });
    await generator.openSessions({ side: 'foyer', port, members, atOnce });
    const ms = seconds * 1000;
    await generator.pages({ port, ms: 1_000, atOnce });
    const [capacities, once, ten]: [number[], number[], number[]] = [[], [], []];
    const waitedMs: number[] = [];
    const [pageMs, refusalMs]: [number[], number[]] = [[], []];
    const cpuOf = async <T>(work: () => Promise<T>) => {
      const before = await foyer.usage();
      const result = await work();
      return { result, cpuMs: (await foyer.usage()).cpuMs - before.cpuMs };
    };
    let [sent, refused] = [0, 0];
    const withSession: Arrivals[] = [];
    for (let round = 0; round < pairs; round += 1) {
      const { result: capacity, cpuMs } = await cpuOf(() => generator.pages({ port, ms, atOnce }));
      capacities.push(capacity);
      const ofPage = cpuMs / (capacity * seconds);
      pageMs.push(ofPage);
      once.push((await generator.arrivals({ port, ms, perSecond: capacity })).servedPerSecond / capacity);
      const { result, cpuMs: spentMs } = await cpuOf(() =>
        Promise.all([
          generator.arrivals({ port, ms, perSecond: times * capacity }),
          generator.memberArrivals({ port, ms, perSecond: memberPace }),
        ]),
      );
      const [flood, ofMembers] = result;
      withSession.push(ofMembers);
      if (flood.refused > 0) refusalMs.push((spentMs - (flood.sent - flood.refused) * ofPage) / flood.refused);
      ten.push(flood.servedPerSecond / capacity);
      for (const one of flood.refusedMs) waitedMs.push(one);
      sent += flood.sent;
      refused += flood.refused;
    }
    const of = `capacity ${median(capacities).toFixed(0)}/s with ${atOnce} at once`;
    return [
      { what: 'Pages served at 1 × capacity', value: median(once), unit: 'ratio', detail: of },
      {
        what: `Pages served at ${times} × capacity`,
        value: median(ten),
        unit: 'ratio',
        detail: `${sent} sent, ${refused} refused, p99 of ${waitedMs.length > 0 ? quantile(waitedMs, 0.99).toFixed(0) : 0} ms, with the generator's own waiting`,
      },
      toMemberFigure('Members with a session served meanwhile', withSession),
      ...(refusalMs.length > 0 ? byProcessorTime(median(pageMs), Math.max(0, median(refusalMs))) : []),
    ];
  } finally {
    await Promise.all([generator.stop(), foyer.stop()]);
  }
}

/** What members with a session got, of all rounds. */
export function toMemberFigure(what: string, rounds: readonly Arrivals[]): Figure {
  const served = rounds.flatMap(({ servedMs }) => servedMs);
  const sent = rounds.reduce((sum, round) => sum + round.sent, 0);
  const waited = (share: number) => (served.length > 0 ? quantile(served, share) : 0).toFixed(0);
  return {
    what,
    value: served.length / Math.max(1, sent),
    unit: 'ratio',
    detail: `${served.length} of ${sent} pages of the settings; median ${waited(0.5)} ms, p99 ${waited(0.99)} ms`,
  };
}

/**
 * With `times` × capacity offered, each second is divided among what is served and refused.
 * @param part the processor time of a refusal, as a part of that of an answer
 */
export const servedByProcessorTime = (part: number): number => Math.max(0, (1 - times * part) / (1 - part));

function byProcessorTime(pageMs: number, refusalMs: number): Figure[] {
  return [
    {
      what: 'A refusal, processor time',
      value: refusalMs,
      unit: 'ms',
      aim: { below: 1 },
      detail: `${(refusalMs * 1000).toFixed(0)} µs, the page ${(pageMs * 1000).toFixed(0)} µs`,
    },
    {
      what: `Served at ${times} × capacity by processor time`,
      value: servedByProcessorTime(refusalMs / pageMs),
      unit: 'ratio',
      aim: { atLeast: 0.8 },
      detail: 'of the cheapest page; a dearer request loses less',
    },
  ];
}
