import { randomUUID } from 'node:crypto';
import type { Refusal } from '../server/oidc/index.ts';
import { dayMs } from '../server/shared/index.ts';
import type { KeyValueStore } from '../server/store/index.ts';

export interface StoredRefusal extends Refusal {
  id: string;
  /** Milliseconds since the epoch. */
  atMs: number;
}

export interface SandboxRefusals {
  add(refusal: Refusal): Promise<void>;
  /** Newest first; of one client, or all. */
  list(filter?: { clientId?: string | undefined }): Promise<StoredRefusal[]>;
}

const key = 'sandbox-refusals';
const maxRefusals = 50;

/** Stores the last 50 refused requests of client apps for a day: in the store, because each process refuses some. */
export function createSandboxRefusals({ kv, now }: { kv: KeyValueStore; now: () => number }): SandboxRefusals {
  /** Members of the set, newest first: each begins with its time. */
  const members = async () => (await kv.setMembers(key)).toSorted().toReversed();

  return {
    async add(refusal) {
      const stored: StoredRefusal = { ...refusal, id: randomUUID(), atMs: now() };
      await kv.addToSet(key, String(stored.atMs).padStart(15, '0') + JSON.stringify(stored), dayMs);
      await Promise.all((await members()).slice(maxRefusals).map((member) => kv.removeFromSet(key, member)));
    },
    async list({ clientId } = {}) {
      const refusals = (await members()).map((member): StoredRefusal => JSON.parse(member.slice(15)));
      return clientId === undefined ? refusals : refusals.filter((refusal) => refusal.clientId === clientId);
    },
  };
}
