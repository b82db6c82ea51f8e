import { randomToken, sha256 } from '../shared/index.ts';
import type { KeyValueStore, SecretBox } from '../store/index.ts';
import type { RefusalKind, UpstreamIdentity } from './identity.ts';

/**
 * What a post from another site brought (SAML's HTTP-POST binding). It comes without the browser's cookies, so nothing is
 * decided at it: its address leads to a GET of our own, where they are back.
 */
export interface Ticket {
  provider: string;
  /** Undefined: nobody asked (IdP-initiated). */
  attempt: string | undefined;
  outcome: { kind: 'identity'; identity: UpstreamIdentity } | { kind: 'refused'; why: RefusalKind };
}

export interface Tickets {
  /** @returns its id, a secret */
  put(ticket: Ticket): Promise<string>;
  find(id: string): Promise<Ticket | undefined>;
  /** Of many at once, one gets it. */
  take(id: string): Promise<Ticket | undefined>;
}

const ticketMs = 5 * 60_000;
const idPattern = /^[\w-]{43}$/;

export function createTickets({ kv, box }: { kv: KeyValueStore; box: SecretBox }): Tickets {
  const keyOf = (id: string) => `federation-ticket:${sha256(id)}`;
  const read = (id: string, sealed: string | null) =>
    sealed === null ? undefined : (JSON.parse(box.open(sealed, keyOf(id))) as Ticket);
  return {
    async put(ticket) {
      const id = randomToken();
      await kv.set(keyOf(id), box.seal(JSON.stringify(ticket), keyOf(id)), ticketMs);
      return id;
    },
    find: async (id) => (idPattern.test(id) ? read(id, await kv.get(keyOf(id))) : undefined),
    take: async (id) => (idPattern.test(id) ? read(id, await kv.take(keyOf(id))) : undefined),
  };
}
