import type { Codes } from '../codes/index.ts';
import type { HostCookies, Logger } from '../http/index.ts';
import type { Outbox, SmsSender } from '../messages/index.ts';
import type { Database, KeyValueStore, SecretBox } from '../store/index.ts';
import type { MfaChallenges } from './challenges.ts';
import type { MfaLimits } from './guess-limits.ts';
import type { RememberedDevices } from './remembered-devices.ts';
import type { SmsCodes } from './sms-codes.ts';

/** What the rules of this room stand on; they know nothing of requests. */
export interface MfaDeps {
  database: Database;
  kv: KeyValueStore;
  /** Seals the secrets of authenticator apps. */
  mfaBox: SecretBox;
  outbox: Outbox;
  log: Logger;
  limits: MfaLimits;
  /** How mails, text messages and authenticator apps name this house. */
  brandName: string;
  /** Whether text messages can be sent at all. */
  smsOffered: boolean;
  challenges: MfaChallenges;
  smsCodes: SmsCodes;
  remembered: RememberedDevices;
  now: () => number;
}

/** As `app.ts` gives them. */
export type MfaSettings = Omit<MfaDeps, 'challenges' | 'smsCodes' | 'remembered'> & {
  codes: Codes;
  cookies: HostCookies;
  texts: SmsSender;
  publicUrl: string;
  /** For how long a device is remembered. */
  rememberDays: number;
};
