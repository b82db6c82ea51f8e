import type { JWK } from 'oidc-provider';
import { generateAll } from '../../server/oidc/keys.ts';
import { uuidv7 } from '../../server/store/index.ts';

let made: Promise<JWK[]> | undefined;

/**
 * First signing keys for one more Foyer of this process, made once: an RSA key costs a third of a second of the processor,
 * more than all else that a test's Foyer begins with. Each is given them under names of its own; those that replace them are
 * its own.
 */
export async function sharedKeys(nowMs: number): Promise<JWK[]> {
  made ??= generateAll(nowMs);
  return (await made).map((jwk) => ({ ...jwk, kid: uuidv7(nowMs) }));
}
