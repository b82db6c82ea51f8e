import type { Logger } from '../http/index.ts';
import type { Outbox } from '../messages/index.ts';
import type { Database, KeyValueStore } from '../store/index.ts';
import { createPasskeyChallenges, type PasskeyChallenges } from './challenges.ts';
import { type RelyingParty, toRelyingParty } from './relying-party.ts';

/** The dependencies of this module's functions. */
export interface PasskeyDeps {
  relyingParty: RelyingParty;
  /** The relying party's name in the browser's prompt. */
  brandName: string;
  database: Database;
  kv: KeyValueStore;
  outbox: Outbox;
  log: Logger;
  challenges: PasskeyChallenges;
  now: () => number;
}

/** The dependencies from `wiring.ts`. */
type PasskeySettings = Omit<PasskeyDeps, 'relyingParty' | 'challenges'> & {
  publicUrl: string;
  /** Of the HMAC of challenges. */
  secret: Buffer;
};

/** Undefined if passkeys are unsupported (`relying-party.ts`): then no page shows them. */
export function createPasskeys({ publicUrl, secret, ...common }: PasskeySettings): PasskeyDeps | undefined {
  const relyingParty = toRelyingParty(publicUrl);
  if (!relyingParty) return undefined;
  const { kv, now } = common;
  return { ...common, relyingParty, challenges: createPasskeyChallenges({ kv, secret, now }) };
}
