import type { ClientTable, OidcTable, SigningKeyTable, UserTable } from '../../server/store/index.ts';
import { uuidv7 } from '../../server/store/index.ts';
import { toClientId, toNormalisedEmail, toSealedText, toSha256, toUserId } from '../support/ids.ts';

/** More than 32 bits, like every time in milliseconds. */
export const NOW_MS = 1_790_000_000_123;

export function aUser(change: Partial<UserTable> = {}): UserTable {
  const id = uuidv7();
  return {
    id: toUserId(id),
    email: toNormalisedEmail(`${id}@example.com`),
    email_verified: 0,
    phone: null,
    phone_verified: 0,
    phone_changed_at: null,
    password_hash: null,
    password_epoch: 0,
    signed_in_epoch: null,
    given_name: 'Ada',
    family_name: 'Lovelace',
    locale: 'en',
    accepted_tos_version: null,
    accepted_tos_at: null,
    source: 'general',
    plan_id: null,
    trial_until: null,
    offered_plan_id: null,
    deal_again_at: null,
    picture: null,
    birthdate: null,
    address: null,
    company_name: null,
    job_title: null,
    preferred_language: null,
    gender: '0',
    newsletter: 0,
    mfa_preference: 'none',
    second_factor_required: 0,
    disabled_at: null,
    imported_at: null,
    password_profile: null,
    created_at: NOW_MS,
    updated_at: NOW_MS,
    ...change,
  };
}

export function aClient(change: Partial<ClientTable> = {}): ClientTable {
  return {
    id: toClientId(uuidv7()),
    name: 'App',
    metadata: '{}',
    secret_hash: null,
    previous_secret_hash: null,
    previous_secret_expires_at: null,
    created_at: NOW_MS,
    updated_at: NOW_MS,
    ...change,
  };
}

export function aSigningKey(): SigningKeyTable {
  return {
    id: uuidv7(),
    alg: 'ES256',
    sealed_jwk: toSealedText('sealed'),
    created_at: NOW_MS,
    activates_at: NOW_MS,
    expires_at: null,
  };
}

export function anOidcRecord(change: Partial<OidcTable> = {}): OidcTable {
  return {
    model: 'Grant',
    id_hash: toSha256(uuidv7()),
    payload: toSealedText('sealed'),
    grant_id: null,
    client_id: null,
    account_id: null,
    foyer_session: null,
    offline: 0,
    consumed_at: null,
    expires_at: NOW_MS,
    ...change,
  };
}
