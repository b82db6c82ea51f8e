import { sql } from 'kysely';
import { parseUnknownJson } from '../../shared/index.ts';
import type { Migration } from './migration.ts';

const tokenGrants = ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code'];

/** The registration with the value; undefined: the client gets no id token from the token endpoint. */
function withIdTokenClaims(metadata: string): string | undefined {
  let registration: unknown;
  try {
    registration = parseUnknownJson(metadata);
  } catch {
    return undefined;
  }
  if (typeof registration !== 'object' || registration === null || !('grant_types' in registration)) return undefined;
  const { grant_types: grants } = registration;
  const hasIdTokens = Array.isArray(grants) && grants.some((grant) => tokenGrants.includes(grant));
  return hasIdTokens ? JSON.stringify({ ...registration, id_token_claims: true }) : undefined;
}

/** Registered clients may read the claims of their scopes in id tokens, so their id tokens keep them. */
export const idTokenClaims: Migration = {
  name: '0028-id-token-claims',
  async up({ executor }) {
    const clients = await sql<{ id: string; metadata: string }>`select id, metadata from clients`.execute(executor);
    for (const { id, metadata } of clients.rows) {
      const changed = withIdTokenClaims(metadata);
      if (changed !== undefined) await sql`update clients set metadata = ${changed} where id = ${id}`.execute(executor);
    }
  },
};
