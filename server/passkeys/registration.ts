import type { PublicKeyCredentialCreationOptionsJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import { notifySecurityChange, type Origin } from '../messages/index.ts';
import { type SessionIdHash, sha256, toPublicOutcome } from '../shared/index.ts';
import { fullName, lockUser, type User } from '../users/index.ts';
import { challengeMs } from './challenges.ts';
import { postedCredential, registrationResponse, toUserHandle } from './credential-input.ts';
import type { PasskeyDeps } from './deps.ts';
import { countPasskeys, insertPasskey, isSamePasskey, listPasskeys, type Passkey } from './passkey-store.ts';
import { readChallenge, webAuthn } from './webauthn.ts';

/** Enough for all devices of a user; more would clutter the browser's list. */
export const maxPasskeys = 20;

/** COSE algorithms (RFC 9053): Ed25519, ES256, RS256. Every current authenticator supports one of them. */
const algorithms = [-8, -7, -257];

/** The user and the session in which a passkey is added. */
interface PasskeyRegistrant {
  user: User;
  session: { idHash: SessionIdHash };
}

type RegistrationRefusal =
  /** Not an authenticator's answer at all. */
  | 'malformed'
  /** Its challenge has expired, was used before, or belongs to another session or site. */
  | 'expired'
  | 'invalid'
  /** It already belongs to a user. */
  | 'already-in-use'
  | 'too-many';

type Registration = { kind: 'added'; passkey: Passkey } | { kind: 'refused'; why: RegistrationRefusal };

/** For one session and one page: two tabs do not invalidate each other's. */
const registrationKey = (session: PasskeyRegistrant['session'], challenge: string) =>
  `passkey-registration:${session.idHash}:${sha256(challenge)}`;

/** The options of a registration (WebAuthn, section 5.4): a discoverable passkey that verifies the user. */
export async function creationOptions(
  { relyingParty, brandName, database, kv }: PasskeyDeps,
  { user, session }: PasskeyRegistrant,
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const { generateRegistrationOptions } = await webAuthn();
  const known = await listPasskeys(database.db, user.id);
  const options = await generateRegistrationOptions({
    rpName: brandName,
    rpID: relyingParty.id,
    userID: toUserHandle(user.id),
    userName: user.email,
    userDisplayName: fullName(user),
    timeout: challengeMs,
    attestationType: 'none',
    excludeCredentials: known.map(({ id, transports }) => ({ id, transports })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    supportedAlgorithmIDs: algorithms,
  });
  await kv.set(registrationKey(session, options.challenge), user.id, challengeMs);
  return options;
}

interface NewPasskey {
  /** The browser's answer, JSON text. */
  credential: string;
  /** The user's name for it. */
  name: string;
  from: Origin;
}

/** Checks a browser's answer and stores the passkey (WebAuthn, section 7.1); notifies the user by mail. */
export async function registerPasskey(
  deps: PasskeyDeps,
  { user, session }: PasskeyRegistrant,
  { credential, name, from }: NewPasskey,
): Promise<Registration> {
  const { database, kv, outbox, log, now } = deps;
  const refuse = (why: RegistrationRefusal): Registration => {
    log.info({ act: 'passkey-add', outcome: toPublicOutcome(why) }, 'passkey refused');
    return { kind: 'refused', why };
  };
  const posted = postedCredential(credential, registrationResponse);
  const challenge = posted && readChallenge(posted);
  if (!challenge) return refuse('malformed');
  if ((await kv.takeOnce(registrationKey(session, challenge))) !== user.id) return refuse('expired');
  const created = await verifyAnswer(deps, posted, challenge);
  if (!created) return refuse('invalid');
  const nowMs = now();
  const passkey: Passkey = { ...created, userId: user.id, name, createdAt: nowMs, lastUsedAt: null };
  try {
    const refused = await database.transaction(async (trx) => {
      // The password was changed or the user disabled meanwhile: the one who started it is no longer authenticated.
      if (!(await lockUser(trx, user))) return 'expired';
      if ((await countPasskeys(trx, user.id)) >= maxPasskeys) return 'too-many';
      if (!(await insertPasskey(trx, passkey))) return 'already-in-use';
      await notifySecurityChange(trx, { outbox, now }, { user, change: 'passkey-added', from, detail: name });
      return undefined;
    });
    if (refused) return refuse(refused);
  } catch (error) {
    if (!isSamePasskey(error)) throw error;
    return refuse('already-in-use');
  }
  outbox.wake();
  log.info({ act: 'passkey-add', outcome: 'added' }, 'passkey added');
  return { kind: 'added', passkey };
}

type VerifiedCredential = Pick<Passkey, 'id' | 'publicKey' | 'counter' | 'transports' | 'aaguid' | 'backedUp'>;

async function verifyAnswer(
  { relyingParty, log }: PasskeyDeps,
  posted: RegistrationResponseJSON,
  challenge: string,
): Promise<VerifiedCredential | undefined> {
  const { verifyRegistrationResponse } = await webAuthn();
  try {
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: posted,
      expectedChallenge: challenge,
      expectedOrigin: relyingParty.origin,
      expectedRPID: relyingParty.id,
      requireUserVerification: true,
      supportedAlgorithmIDs: algorithms,
    });
    if (!verified) return undefined;
    const { credential, aaguid, credentialBackedUp } = registrationInfo;
    return {
      // From the signed data, not from the form.
      id: credential.id,
      publicKey: Buffer.from(credential.publicKey).toString('base64url'),
      counter: credential.counter,
      transports: validTransports(posted.response.transports),
      aaguid,
      backedUp: credentialBackedUp,
    };
  } catch (error) {
    log.info({ act: 'passkey-add', reason: String(error).slice(0, 200) }, 'authenticator response refused');
    return undefined;
  }
}

const transportNames = new Set(['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb']);

/** They are unsigned, so only known values are stored (WebAuthn, section 5.8.4). */
function validTransports(input: unknown): string[] {
  return Array.isArray(input) ? [...new Set(input)].filter((name) => transportNames.has(name)) : [];
}
