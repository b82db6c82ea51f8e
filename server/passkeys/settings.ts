import type { Logger } from '../http/index.ts';
import type { Outbox } from '../messages/index.ts';
import type { Database, KeyValueStore } from '../store/index.ts';
import type { PasskeyChallenges } from './challenges.ts';
import type { RelyingParty } from './relying-party.ts';

export interface PasskeySettings {
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
