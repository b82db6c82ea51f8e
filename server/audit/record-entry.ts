import { randomBytes } from 'node:crypto';
import { type Db, uuidv7 } from '../store/index.ts';
import { readOrigin } from './actor.ts';
import { insertEntry } from './audit-store.ts';
import { canonicalJson, digestPerson } from './chain.ts';
import { type AuditEntry, checkEvent } from './events.ts';

/**
 * Adds an event to the queue, in the caller's transaction: it is in the trail if, and only if, that commits. A sealer
 * appends it to the chain within about a second.
 */
export async function recordEntry(db: Db, entry: AuditEntry): Promise<void> {
  const { subject, atMs } = entry;
  const { type, details } = checkEvent(entry);
  const { actor, address, device, clientId } = readOrigin(entry);
  const id = uuidv7(atMs);
  const isPersonal = subject !== undefined || address !== null || device !== null;
  const person = isPersonal ? canonicalJson({ address, device, member: subject ?? null }) : null;
  const salt = isPersonal ? randomBytes(16).toString('base64url') : null;
  const digest = person !== null && salt !== null ? digestPerson(salt, person) : null;
  const body = canonicalJson({ actor, at: atMs, client: clientId ?? null, details, id, person: digest, type, v: 1 });
  await insertEntry(db, { id, at: atMs, type, userId: subject ?? null, body, person, salt });
}
