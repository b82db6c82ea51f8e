import type { AuthenticationResponseJSON, PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/server';
import { findUser, type User } from '../users/index.ts';
import { challengeMs } from './challenges.ts';
import { postedCredential } from './credential-input.ts';
import { findPasskey, notePasskeyUse, type Passkey } from './passkey-store.ts';
import type { PasskeySettings } from './settings.ts';
import { toIsUserHandle } from './user-handle.ts';
import { readChallenge, readClientData, webAuthn } from './webauthn.ts';

export type PasskeyRefusal =
  /** No answer of an authenticator at all. */
  | 'malformed'
  /** Its challenge is not ours, too old, or was answered before. */
  | 'expired'
  /** Removed here, or never known. */
  | 'unknown'
  | 'invalid'
  /** The authenticator counts fewer uses than it has had: there may be a second one with the same key. */
  | 'copied';

export type PasskeyCheck =
  | { kind: 'right'; user: User; amr: string[] }
  | { kind: 'refused'; why: PasskeyRefusal; passkey?: Passkey };

/**
 * How somebody signed in by a passkey that has verified them (RFC 8176): possession of a key, and what the authenticator asks
 * for, so both factors. Kept by a password manager the key is software, whatever it is kept in.
 */
export const passkeyAmr = ({ backedUp }: { backedUp: boolean }): string[] => [
  'pop',
  backedUp ? 'swk' : 'hwk',
  'user',
  'mfa',
];

/**
 * What a browser is asked to answer (WebAuthn, section 5.5): with whichever passkey its member chooses, or with one of those
 * of a member who is known already.
 */
export function requestOptions(
  { relyingParty, challenges }: PasskeySettings,
  passkeys?: readonly Pick<Passkey, 'id' | 'transports'>[],
): PublicKeyCredentialRequestOptionsJSON {
  return {
    challenge: challenges.make(),
    rpId: relyingParty.id,
    timeout: challengeMs,
    userVerification: 'required',
    ...(passkeys && {
      allowCredentials: passkeys.map(({ id, transports }) => ({ id, type: 'public-key', transports })),
    }),
  };
}

/** Checks a browser's answer (WebAuthn, section 7.2). The same one is accepted once, whoever sends it again. */
export async function checkPasskey(settings: PasskeySettings, credential: string): Promise<PasskeyCheck> {
  const { database, challenges, now } = settings;
  const posted = postedCredential<AuthenticationResponseJSON>(credential);
  const challenge = posted && readChallenge(posted);
  if (!challenge) return { kind: 'refused', why: 'malformed' };
  if (!challenges.isOurs(challenge)) return { kind: 'refused', why: 'expired' };
  const passkey = await findPasskey(database.db, posted.id);
  const user = passkey && (await findUser(database.db, passkey.userId));
  if (!passkey || !user) return { kind: 'refused', why: 'unknown' };
  const refuse = (why: PasskeyRefusal): PasskeyCheck => ({ kind: 'refused', why, passkey });
  if (!toIsUserHandle(posted.response.userHandle, user.id)) return refuse('invalid');
  const answer = await verified(settings, posted, challenge, passkey);
  if (!answer) return refuse('invalid');
  if (!(await challenges.use(challenge))) return refuse('expired');
  const used = await notePasskeyUse(database.db, passkey.id, { ...answer, nowMs: now() });
  if (used) return { kind: 'right', user, amr: passkeyAmr(answer) };
  // It was removed a moment ago, or the count has not grown.
  return (await findPasskey(database.db, passkey.id)) ? refuse('copied') : refuse('unknown');
}

async function verified(
  { relyingParty, log }: PasskeySettings,
  posted: AuthenticationResponseJSON,
  challenge: string,
  passkey: Passkey,
): Promise<{ counter: number; backedUp: boolean } | undefined> {
  // Pages of ours are in nobody's frame.
  if (readClientData(posted.response.clientDataJSON)?.crossOrigin === true) return undefined;
  const { verifyAuthenticationResponse } = await webAuthn();
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: posted,
      expectedChallenge: challenge,
      expectedOrigin: relyingParty.origin,
      expectedRPID: relyingParty.id,
      requireUserVerification: true,
      credential: {
        id: passkey.id,
        publicKey: new Uint8Array(Buffer.from(passkey.publicKey, 'base64url')),
        // The store compares the counts, for all processes at once, and only once the signature is right.
        counter: 0,
      },
    });
    if (!verified) return undefined;
    return { counter: authenticationInfo.newCounter, backedUp: authenticationInfo.credentialBackedUp };
  } catch (error) {
    log.info({ act: 'passkey', reason: String(error).slice(0, 200) }, 'the answer of an authenticator was refused');
    return undefined;
  }
}
