import type { Logger, Pages } from '../http/index.ts';
import type { Outbox, TextMessages } from '../messages/index.ts';
import type { Sessions } from '../session/index.ts';
import type { WayOn } from '../sign-in/index.ts';
import type { Database, KeyValueStore } from '../store/index.ts';

export interface SettingsDeps {
  publicUrl: string;
  pages: Pages;
  log: Logger;
  database: Database;
  kv: KeyValueStore;
  outbox: Outbox;
  /** Text messages, within the limits of what they may cost. */
  texts: TextMessages;
  /** Else nothing that needs them is offered. */
  smsOffered: boolean;
  brandName: string;
  sessions: Sessions;
  wayOn: WayOn;
  now: () => number;
}
