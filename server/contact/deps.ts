import type { Transaction } from 'kysely';
import type { Codes } from '../codes/index.ts';
import type { HostCookies, Logger, Pages } from '../http/index.ts';
import type { Outbox, TextMessages } from '../messages/index.ts';
import type { PasswordHasher, PasswordPolicy, PasswordRoom } from '../password/index.ts';
import type { Devices, Sessions } from '../session/index.ts';
import type { Database, KeyValueStore, Schema, SecretBox } from '../store/index.ts';
import type { ContactFlows } from './flows.ts';

/** What the rules of this room stand on; they know nothing of requests. */
export interface ContactDeps {
  publicUrl: string;
  brandName: string;
  database: Database;
  kv: KeyValueStore;
  codes: Codes;
  outbox: Outbox;
  texts: TextMessages;
  /** Without text messages no number can be confirmed, so none is taken. */
  smsOffered: boolean;
  flows: ContactFlows;
  passwords: PasswordHasher;
  policy: PasswordPolicy;
  sessions: Pick<Sessions, 'endAll'>;
  /** Guesses at the account do not count against its new password. */
  forgetGuesses: PasswordRoom['forgetGuesses'];
  /** What other rooms take back when a change is undone: whatever opens the account and was added since. */
  takeBack: readonly TakeBack[];
  log: Logger;
  now: () => number;
}

export type TakeBack = (trx: Transaction<Schema>, userId: string, sinceMs: number, nowMs: number) => Promise<unknown>;

/** As `app.ts` gives them. */
export type ContactSettings = Omit<ContactDeps, 'flows'> & {
  cookies: HostCookies;
  pages: Pages;
  /** The room of passwords': what was added before the change, and may be a thief's too. */
  wayToLateWaysIn: PasswordRoom['wayToLateWaysIn'];
  /** The browser in which a change was undone is a known device. */
  devices: Devices;
  /** Seals what is kept of a change between its two steps. */
  contactBox: SecretBox;
  /** What is answered while too many passwords are being hashed already. */
  queueFull: { status: number; retrySeconds: number };
};
