import type { Logger, Pages } from '../http/index.ts';
import type { Outbox } from '../messages/index.ts';
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
  sessions: Sessions;
  wayOn: WayOn;
  now: () => number;
}
