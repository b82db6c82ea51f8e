import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server';
import type { Origin } from '../messages/index.ts';
import type { User } from '../users/index.ts';
import { checkPasskey, type PasskeyCheck, requestOptions } from './authentication.ts';
import { createPasskeyChallenges } from './challenges.ts';
import { listPasskeys } from './passkey-store.ts';
import { creationOptions, type PasskeyRegistrant, type Registration, register } from './registration.ts';
import { toRelyingParty } from './relying-party.ts';
import type { PasskeySettings } from './settings.ts';

export interface Passkeys {
  /** The options for any visitor. */
  requestOptions(): PublicKeyCredentialRequestOptionsJSON;
  /** The same for a known user; undefined if they have no passkey. */
  requestOptionsFor(user: Pick<User, 'id'>): Promise<PublicKeyCredentialRequestOptionsJSON | undefined>;
  /** @param credential the browser's answer, JSON text */
  check(credential: string): Promise<PasskeyCheck>;
  creationOptions(registrant: PasskeyRegistrant): Promise<PublicKeyCredentialCreationOptionsJSON>;
  /** @param created the browser's answer, JSON text, and the user's name for it */
  register(
    registrant: PasskeyRegistrant,
    created: { credential: string; name: string },
    from: Origin,
  ): Promise<Registration>;
}

/**
 * Undefined if passkeys are unsupported (`relying-party.ts`): then no page shows them.
 * @param secret of the HMAC of challenges
 */
export function openPasskeys({
  publicUrl,
  secret,
  ...rest
}: Omit<PasskeySettings, 'relyingParty' | 'challenges'> & { publicUrl: string; secret: Buffer }): Passkeys | undefined {
  const relyingParty = toRelyingParty(publicUrl);
  if (!relyingParty) return undefined;
  const { kv, now } = rest;
  const settings: PasskeySettings = { ...rest, relyingParty, challenges: createPasskeyChallenges({ kv, secret, now }) };
  return {
    requestOptions: () => requestOptions(settings),
    async requestOptionsFor(user) {
      const passkeys = await listPasskeys(settings.database.db, user.id);
      return passkeys.length > 0 ? requestOptions(settings, passkeys) : undefined;
    },
    check: (credential) => checkPasskey(settings, credential),
    creationOptions: (registrant) => creationOptions(settings, registrant),
    register: (registrant, created, from) => register(settings, registrant, created, from),
  };
}
