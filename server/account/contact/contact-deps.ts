import type { Transaction } from 'kysely';
import type { HostCookies, Logger, Pages } from '../../http/index.ts';
import type { Codes, Outbox, SmsSender } from '../../messages/index.ts';
import type { PasswordHasher, PasswordModule, PasswordPolicy } from '../../password/index.ts';
import type { DeviceRecognition, Sessions } from '../../sessions/index.ts';
import type { UserId } from '../../shared/index.ts';
import type { Database, KeyValueStore, Schema, SecretBox } from '../../store/index.ts';
import type { PendingContactChanges } from './pending-contact-changes.ts';

/** Dependencies of this module's rules, which do not know requests. */
export interface ContactDeps {
  publicUrl: string;
  brandName: string;
  database: Database;
  kv: KeyValueStore;
  codes: Codes;
  outbox: Outbox;
  texts: SmsSender;
  /** Without text messages no number can be confirmed, so none is accepted. */
  smsOffered: boolean;
  flows: PendingContactChanges;
  passwords: PasswordHasher;
  policy: PasswordPolicy;
  sessions: Pick<Sessions, 'endAll'>;
  /** Failed attempts at the account do not count against its new password. */
  forgetGuesses: PasswordModule['forgetGuesses'];
  /** Functions of other modules for an undo: they remove whatever can sign in and was added since. */
  revertContactChange: readonly TakeBack[];
  log: Logger;
  now: () => number;
}

export type TakeBack = (trx: Transaction<Schema>, userId: UserId, sinceMs: number, nowMs: number) => Promise<unknown>;

/** The dependencies from `wiring.ts`. */
export type ContactSettings = Omit<ContactDeps, 'flows'> & {
  cookies: HostCookies;
  pages: Pages;
  /** From password/: the page for sign-in methods that were added before the change and may be a thief's too. */
  recentFactorsUrl: PasswordModule['recentFactorsUrl'];
  /** The browser of an undo becomes a known device. */
  devices: DeviceRecognition;
  /** Seals the data of a change between its two steps. */
  contactBox: SecretBox;
  /** The answer while too many passwords wait to be hashed. */
  queueFull: { status: number; retrySeconds: number };
};
