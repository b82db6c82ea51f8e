import { availableParallelism, loadavg } from 'node:os';
import { compared, type Figure, type Rounds, workPer } from './figures.ts';
import type { StepsGenerator } from './generator/steps.ts';
import type { Effort } from './part-provider.ts';
import { startChild } from './rpc.ts';
import type { FoyerServer } from './servers/foyer.ts';
import type { RawArgon2 } from './servers/raw-argon2.ts';
import type { Stores } from './stores.ts';

const cores = availableParallelism();
/** Enough callers that the queue of hashes is never empty. */
const atOnce = 4 * cores;
/** About what a core hashes within a second, and a sign-up with its other work. */
const perCoreAndSecond = 40;
const limitless = { SIGN_UP_LIMIT_ADDRESS: '1000000', SIGN_UP_LIMIT_OVERALL: '100000000' };
const empty = (): Rounds => ({ perSecond: [], cpuMs: [] });
const loadNow = () => `load ${loadavg()[0]?.toFixed(1)}`;

/** Sign-ups against the raw rate of argon2id, and their confirmation by the mailed code. */
export async function measureSignUps(stores: Stores, { pairs, seconds }: Effort): Promise<Figure[]> {
  const generator = startChild<StepsGenerator>('generator/steps.ts');
  const raw = startChild<RawArgon2>('servers/raw-argon2.ts');
  const SMTP_URL = `smtp://127.0.0.1:${await generator.startMail()}?requireTLS=false`;
  const foyer = startChild<FoyerServer>('servers/foyer.ts', { ...stores.environment, ...limitless, SMTP_URL });
  try {
    const { port } = await foyer.start({ members: 0 });
    await foyer.deliver();
    await generator.open({ port, atOnce });
    const [ofRaw, ofFoyer] = [empty(), empty()];
    const confirmed: number[] = [];
    const count = Math.ceil(perCoreAndSecond * seconds * cores);
    for (let round = 0; round <= pairs; round += 1) {
      const perSecond = await raw.measure({ ms: seconds * 1000 });
      const before = (await foyer.usage()).cpuMs;
      const ms = await generator.signUp({ count, atOnce });
      // The work of a sign-up ends when its mail has left.
      await generator.readMails();
      const between = (await foyer.usage()).cpuMs;
      await generator.confirm({ atOnce });
      const after = (await foyer.usage()).cpuMs;
      // The first round warms up.
      if (round === 0) continue;
      ofRaw.perSecond.push(perSecond);
      ofFoyer.perSecond.push(count / (ms / 1000));
      ofFoyer.cpuMs.push((between - before) / count);
      confirmed.push((after - between) / count);
    }
    const detail = `${pairs} × ${count}; ${loadNow()}`;
    return [
      compared('Sign-ups against raw argon2id', ofRaw, ofFoyer),
      workPer('A sign-up with its mail', ofFoyer.cpuMs, detail),
      workPer('The confirmation of a sign-up', confirmed, detail),
    ];
  } finally {
    await Promise.all([generator.stop(), raw.stop(), foyer.stop()]);
  }
}

/** Sign-ins by password and authenticator app on known devices, against the raw rate of argon2id. */
export async function measureApps(stores: Stores, { pairs, seconds }: Effort): Promise<Figure[]> {
  const generator = startChild<StepsGenerator>('generator/steps.ts');
  const raw = startChild<RawArgon2>('servers/raw-argon2.ts');
  const foyer = startChild<FoyerServer>('servers/foyer.ts', stores.environment);
  try {
    const count = Math.ceil(perCoreAndSecond * seconds * cores);
    const { port } = await foyer.start({ members: count * pairs });
    await foyer.addAuthenticators({ count: count * pairs });
    await generator.open({ port, atOnce });
    await generator.signInWithApps({ first: 0, count: count * pairs, atOnce, before: true });
    await raw.measure({ ms: 500 });
    const [ofRaw, ofFoyer] = [empty(), empty()];
    for (let pair = 0; pair < pairs; pair += 1) {
      ofRaw.perSecond.push(await raw.measure({ ms: seconds * 1000 }));
      const before = (await foyer.usage()).cpuMs;
      const ms = await generator.signInWithApps({ first: pair * count, count, atOnce, before: false });
      ofFoyer.perSecond.push(count / (ms / 1000));
      ofFoyer.cpuMs.push(((await foyer.usage()).cpuMs - before) / count);
    }
    return [
      compared('Sign-ins with an app against raw argon2id', ofRaw, ofFoyer),
      workPer('A sign-in with an app', ofFoyer.cpuMs, `${pairs} × ${count}; ${loadNow()}`),
    ];
  } finally {
    await Promise.all([generator.stop(), raw.stop(), foyer.stop()]);
  }
}
