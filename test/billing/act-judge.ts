import { type Run, type Saved, type Sweep, startSweep } from './act-sweep.ts';
import { acts } from './plan-actions.ts';
import { dayMs } from './steps.ts';

const shown = ({ charged, next, endsAt }: Run['dayLater']) =>
  [
    charged.length > 0 ? `charged ${charged.join(' + ')}` : 'charged nothing',
    next ? `next charge ${next.cents} on ${next.at}` : 'no next charge',
    ...(endsAt ? [`ends on ${endsAt}`] : []),
  ].join(', ');

/** How a run breaks the rule; nothing, where it does not. */
export function faultsOf(name: string, run: Run, { before, wanted }: { before: Run; wanted: Run }): string[] {
  const found: string[] = [];
  const is = (one: Run['dayLater'], other: Run['dayLater']) => shown(one) === shown(other);
  const mustBeDone = acts[name]?.isWrittenDown || run.answered !== undefined;
  const allowed = mustBeDone ? [wanted] : [before, wanted];
  if (!allowed.some(({ dayLater }) => is(run.dayLater, dayLater))) {
    const expected = allowed.map(({ dayLater }) => shown(dayLater)).join('; or ');
    found.push(`a day later: ${shown(run.dayLater)}; expected: ${expected}`);
  }
  // Right after the act, too: Foyer may be down for days from then on.
  const { next, charged } = run.atOnce;
  const known = [before.atOnce, wanted.atOnce, before.dayLater, wanted.dayLater].map((one) => one.next);
  const isKnown = next === null || known.some((one) => one?.cents === next.cents && one.at === next.at);
  // A code stays on the subscription until its upgrade is over: the next charge is lower for that long.
  const isLower = name === 'upgrade with a code' && next !== null && next.cents < (before.atOnce.next?.cents ?? 0);
  if (!isKnown && !isLower) found.push(`right after it: ${shown(run.atOnce)}`);
  if (charged.length > 0 && ![before, wanted].some(({ atOnce }) => charged.join() === atOnce.charged.join())) {
    found.push(`charged ${charged.join(' + ')}`);
  }
  found.push(...run.left);
  return found;
}

/** As in life: the jobs have their turn every day. */
export async function passDays({ stripe, billing }: Sweep, days: number): Promise<void> {
  for (let day = 0; day < days; day += 1) {
    stripe.engine.advance(dayMs);
    await billing.work();
  }
}

/** A member on trial, with a card. */
export async function startWithCard(backend: Parameters<typeof startSweep>[0]): Promise<{ sweep: Sweep; base: Saved }> {
  const sweep = await startSweep(backend);
  await sweep.billing.ensure(sweep.user, 7);
  await sweep.saveCard(sweep.billing);
  return { sweep, base: await sweep.save() };
}
