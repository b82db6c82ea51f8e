import { createLease, runPeriodically } from '../store/index.ts';
import { createMfaChallenges } from './challenges.ts';
import type { MfaDeps, MfaSettings } from './deps.ts';
import { sweepRememberedDevices } from './remembered-device-store.ts';
import { createRememberedDevices } from './remembered-devices.ts';
import { createSmsCodes } from './sms-codes.ts';

/** The dependencies of this module's functions, with the job that deletes expired devices. */
export interface Mfa extends MfaDeps {
  stop(): Promise<void>;
}

export function createMfa({ cookies, codes, texts, publicUrl, rememberDays, ...common }: MfaSettings): Mfa {
  const { kv, database, outbox, brandName, now } = common;
  return {
    ...common,
    challenges: createMfaChallenges({ kv, box: common.mfaBox, cookies, now }),
    smsCodes: createSmsCodes({ codes, database, texts, outbox, publicUrl, brandName, now }),
    remembered: createRememberedDevices({ database, cookies, days: rememberDays, now }),
    stop: sweepDevices(common),
  };
}

const everyMs = 60 * 60_000;
const batch = 500;

/** Deletes expired devices, in one process at a time. Returns the function that stops it. */
function sweepDevices({ database, now, log }: Pick<MfaDeps, 'database' | 'now' | 'log'>): () => Promise<void> {
  const sweep = async () => {
    while ((await sweepRememberedDevices(database.db, now(), batch)) === batch);
  };
  const lease = createLease(database, 'sweep of remembered devices', { ttlMs: 2 * everyMs, now });
  return runPeriodically(lease, {
    everyMs,
    run: sweep,
    onError: (error) => log.warn({ err: error }, 'could not sweep remembered devices'),
  });
}
