import type { HostCookies, Logger } from '../http/index.ts';
import type { Codes, Outbox, SmsSender } from '../messages/index.ts';
import type { Database, KeyValueStore, SecretBox } from '../store/index.ts';
import type { MfaChallenges } from './challenges.ts';
import type { MfaLimits } from './guess-limits.ts';
import type { RememberedDevices } from './remembered-devices.ts';
import type { SmsCodes } from './sms-codes.ts';

/** The dependencies of this module's functions. */
export interface MfaDeps {
  database: Database;
  kv: KeyValueStore;
  /** Seals the secrets of authenticator apps. */
  mfaBox: SecretBox;
  outbox: Outbox;
  log: Logger;
  limits: MfaLimits;
  /** Name of the product in mails, text messages and authenticator apps. */
  brandName: string;
  /** Whether text messages can be sent. */
  smsOffered: boolean;
  challenges: MfaChallenges;
  smsCodes: SmsCodes;
  remembered: RememberedDevices;
  now: () => number;
}

/** The dependencies from `wiring.ts`. */
export type MfaSettings = Omit<MfaDeps, 'challenges' | 'smsCodes' | 'remembered'> & {
  codes: Codes;
  cookies: HostCookies;
  texts: SmsSender;
  publicUrl: string;
  /** How long a device is remembered. */
  rememberDays: number;
};
