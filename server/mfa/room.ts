import type { User } from '../account/index.ts';
import type { Operation } from '../http/index.ts';
import type { Origin } from '../messages/index.ts';
import { createLease, everySoOften } from '../store/index.ts';
import { type Challenge, createChallenges } from './challenges.ts';
import type { MfaDeps, MfaSettings } from './deps.ts';
import { createEnrolling, type Enrolling } from './enrolling.ts';
import { factorsOf } from './factors.ts';
import { type Method, methodsOf } from './methods.ts';
import { mfaOperations } from './operations.ts';
import { type Passed, passChallenge, standingOf } from './pass.ts';
import { createRememberedDevices } from './remembered.ts';
import { sweepRememberedDevices } from './remembered-device-store.ts';
import { createSmsCodes } from './sms-code.ts';

export interface MfaRoom extends Pick<MfaDeps, 'challenges' | 'remembered' | 'smsCodes'> {
  /** What the member is asked for beside the password, the preferred way first; empty: nothing. */
  methodsFor(user: User): Promise<Method[]>;
  /** Undefined: the challenge is void by now. */
  standingOf(challenge: Challenge): Promise<{ user: User; methods: Method[] } | undefined>;
  pass(
    id: string,
    answer: { method: Method; typed: string },
    from: Origin & { device?: string | undefined },
  ): Promise<Passed>;
  /** How members look after their second factors. */
  enrolling: Enrolling;
  operations: Operation[];
  stop(): Promise<void>;
}

/** Second factors: one set of rules behind pages and calls. */
export function openMfa(settings: MfaSettings): MfaRoom {
  const { cookies, codes, texts, publicUrl, rememberDays, ...common } = settings;
  const { kv, database, outbox, brandName, now } = common;
  const deps: MfaDeps = {
    ...common,
    challenges: createChallenges({ kv, box: common.mfaBox, cookies, now }),
    smsCodes: createSmsCodes({ codes, database, texts, outbox, publicUrl, brandName, now }),
    remembered: createRememberedDevices({ database, cookies, days: rememberDays, now }),
  };
  const { challenges, smsCodes, remembered, smsOffered } = deps;
  const enrolling = createEnrolling(deps);
  return {
    challenges,
    smsCodes,
    remembered,
    async methodsFor(user) {
      return user.mfaPreference === 'none' ? [] : methodsOf(await factorsOf(database, user), smsOffered);
    },
    standingOf: (challenge) => standingOf(deps, challenge),
    pass: (id, answer, from) => passChallenge(deps, id, answer, from),
    enrolling,
    operations: mfaOperations({ ...deps, enrolling }),
    stop: sweepDevices(deps),
  };
}

const everyMs = 60 * 60_000;
const batch = 500;

/** Deletes remembered devices that have run out, in one process at a time. Answers how to stop. */
function sweepDevices({ database, now, log }: MfaDeps): () => Promise<void> {
  const sweep = async () => {
    while ((await sweepRememberedDevices(database.db, now(), batch)) === batch);
  };
  const lease = createLease(database, 'sweep of remembered devices', 2 * everyMs, now);
  return everySoOften(lease, everyMs, sweep, (error) => log.warn({ err: error }, 'could not sweep remembered devices'));
}
