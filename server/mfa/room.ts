import type { ApiOperation } from '../http/index.ts';
import type { Origin } from '../messages/index.ts';
import type { FlowId } from '../shared/index.ts';
import { createLease, runPeriodically } from '../store/index.ts';
import type { User } from '../users/index.ts';
import { listAuthenticators } from './authenticators.ts';
import { type ChallengeMethod, listChallengeMethods } from './challenge-methods.ts';
import { createMfaChallenges, type MfaChallenge } from './challenges.ts';
import type { MfaDeps, MfaSettings } from './deps.ts';
import { createEnrolling, type Enrolling } from './enrolling.ts';
import { mfaOperations } from './operations.ts';
import { sweepRememberedDevices } from './remembered-device-store.ts';
import { createRememberedDevices } from './remembered-devices.ts';
import { createSmsCodes } from './sms-codes.ts';
import { getChallengeState, type VerifyChallengeResult, verifyChallenge } from './verify-challenge.ts';

export interface MfaModule extends Pick<MfaDeps, 'challenges' | 'remembered' | 'smsCodes'> {
  /** The methods for the user's second factor, the preferred one first; empty: none is required. */
  methodsFor(user: User): Promise<ChallengeMethod[]>;
  /** Undefined: the challenge is no longer valid. */
  getChallengeState(challenge: MfaChallenge): Promise<{ user: User; methods: ChallengeMethod[] } | undefined>;
  pass(
    id: FlowId,
    answer: { method: ChallengeMethod; typed: string },
    from: Origin & { device?: string | undefined },
  ): Promise<VerifyChallengeResult>;
  /** Management of second factors. */
  enrolling: Enrolling;
  operations: ApiOperation[];
  stop(): Promise<void>;
}

/** Second factors: one set of rules behind pages and calls. */
export function openMfa(settings: MfaSettings): MfaModule {
  const { cookies, codes, texts, publicUrl, rememberDays, ...common } = settings;
  const { kv, database, outbox, brandName, now } = common;
  const deps: MfaDeps = {
    ...common,
    challenges: createMfaChallenges({ kv, box: common.mfaBox, cookies, now }),
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
      return user.mfaPreference === 'none'
        ? []
        : listChallengeMethods(await listAuthenticators(database, user), smsOffered);
    },
    getChallengeState: (challenge) => getChallengeState(deps, challenge),
    pass: (id, answer, from) => verifyChallenge(deps, id, answer, from),
    enrolling,
    operations: mfaOperations({ ...deps, enrolling }),
    stop: sweepDevices(deps),
  };
}

const everyMs = 60 * 60_000;
const batch = 500;

/** Deletes expired devices, in one process at a time. Returns the function that stops it. */
function sweepDevices({ database, now, log }: MfaDeps): () => Promise<void> {
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
