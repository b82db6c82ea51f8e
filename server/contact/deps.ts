import type { Transaction } from 'kysely';
import type { Codes } from '../codes/index.ts';
import type { HostCookies, Logger, Pages } from '../http/index.ts';
import type { Outbox, SmsSender } from '../messages/index.ts';
import type { PasswordHasher, PasswordModule, PasswordPolicy } from '../password/index.ts';
import type { DeviceRecognition, Sessions } from '../sessions/index.ts';
import type { UserId } from '../shared/index.ts';
import type { Database, KeyValueStore, Schema, SecretBox } from '../store/index.ts';
import type { PendingContactChanges } from './pending-contact-changes.ts';

/** What the rules of this room stand on; they know nothing of requests. */
export interface ContactDeps {
  publicUrl: string;
  brandName: string;
  database: Database;
  kv: KeyValueStore;
  codes: Codes;
  outbox: Outbox;
  texts: SmsSender;
  /** Without text messages no number can be confirmed, so none is taken. */
  smsOffered: boolean;
  flows: PendingContactChanges;
  passwords: PasswordHasher;
  policy: PasswordPolicy;
  sessions: Pick<Sessions, 'endAll'>;
  /** Guesses at the account do not count against its new password. */
  forgetGuesses: PasswordModule['forgetGuesses'];
  /** What other rooms take back when a change is undone: whatever opens the account and was added since. */
  revertContactChange: readonly TakeBack[];
  log: Logger;
  now: () => number;
}

export type TakeBack = (trx: Transaction<Schema>, userId: UserId, sinceMs: number, nowMs: number) => Promise<unknown>;

/** As `app.ts` gives them. */
export type ContactSettings = Omit<ContactDeps, 'flows'> & {
  cookies: HostCookies;
  pages: Pages;
  /** The room of passwords': what was added before the change, and may be a thief's too. */
  recentFactorsUrl: PasswordModule['recentFactorsUrl'];
  /** The browser in which a change was undone is a known device. */
  devices: DeviceRecognition;
  /** Seals what is kept of a change between its two steps. */
  contactBox: SecretBox;
  /** What is answered while too many passwords are being hashed already. */
  queueFull: { status: number; retrySeconds: number };
};
