import { type Row, uuidv7 } from '../../server/store/index.ts';
import { toClientId, toNormalisedEmail, toSealedText, toSha256, toUserId } from '../support/ids.ts';
import { emptyProfile } from '../support/profile.ts';

/** More than 32 bits, like every time in milliseconds. */
export const NOW_MS = 1_790_000_000_123;

export function aUser(change: Partial<Row<'users'>> = {}): Row<'users'> {
  const id = uuidv7();
  return {
    id: toUserId(id),
    email: toNormalisedEmail(`${id}@example.com`),
    emailVerified: 0,
    phone: null,
    phoneVerified: 0,
    phoneChangedAt: null,
    passwordHash: null,
    passwordChangedAt: null,
    passwordEpoch: 0,
    signedInEpoch: null,
    givenName: 'Ada',
    familyName: 'Lovelace',
    ...emptyProfile,
    locale: 'en',
    acceptedTosVersion: null,
    acceptedTosAt: null,
    source: 'general',
    planId: null,
    seats: null,
    trialUntil: null,
    offeredPlanId: null,
    dealAgainAt: null,
    picture: null,
    preferredLanguage: null,
    gender: '0',
    newsletter: 0,
    mfaPreference: 'none',
    secondFactorRequired: 0,
    disabledAt: null,
    importedAt: null,
    passwordProfile: null,
    createdAt: NOW_MS,
    updatedAt: NOW_MS,
    ...change,
  };
}

export function aClient(change: Partial<Row<'clients'>> = {}): Row<'clients'> {
  return {
    id: toClientId(uuidv7()),
    name: 'App',
    metadata: '{}',
    secretHash: null,
    previousSecretHash: null,
    previousSecretExpiresAt: null,
    secretCreatedAt: null,
    createdAt: NOW_MS,
    updatedAt: NOW_MS,
    ...change,
  };
}

export function aSigningKey(): Row<'signingKeys'> {
  return {
    id: uuidv7(),
    alg: 'ES256',
    sealedJwk: toSealedText('sealed'),
    createdAt: NOW_MS,
    activatesAt: NOW_MS,
    expiresAt: null,
  };
}

export function anOidcRecord(change: Partial<Row<'oidc'>> = {}): Row<'oidc'> {
  return {
    model: 'Grant',
    idHash: toSha256(uuidv7()),
    payload: toSealedText('sealed'),
    grantId: null,
    clientId: null,
    accountId: null,
    foyerSession: null,
    offline: 0,
    consumedAt: null,
    expiresAt: NOW_MS,
    ...change,
  };
}
