import type { JWK } from 'oidc-provider';
import { generateAll } from '../../server/oidc/signing-keys.ts';
import { uuidv7 } from '../../server/store/index.ts';

let made: Promise<JWK[]> | undefined;

/**
 * Initial signing keys for a further Foyer of this process, created once: an RSA key costs a third of a second of the
 * processor, more than the rest of a test's start. Each Foyer gets them under its own names; later keys are its own.
 */
export async function sharedKeys(nowMs: number): Promise<JWK[]> {
  made ??= generateAll(nowMs);
  return (await made).map((jwk) => ({ ...jwk, kid: uuidv7(nowMs) }));
}
