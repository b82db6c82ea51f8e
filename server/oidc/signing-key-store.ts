import type { Transaction } from 'kysely';
import type { JWK } from 'oidc-provider';
import { z } from 'zod';
import { checkedAs, type Database, type Db, parseStored, type Schema, type SecretBox } from '../store/index.ts';
import { deriveKeyStates, generateAll, keyVersion, type SigningKeyInfo } from './signing-keys.ts';

const jwkSchema = checkedAs<JWK>(z.looseObject({ kid: z.string(), kty: z.string(), alg: z.string() }));

const infoColumns = ['id', 'alg', 'createdAt', 'activatesAt', 'expiresAt'] as const;

export async function listKeys(db: Db, nowMs: number): Promise<SigningKeyInfo[]> {
  return deriveKeyStates(await db.selectFrom('signingKeys').select(infoColumns).execute(), nowMs);
}

/** The order for the library: it signs with the first key that fits. */
const order = { active: 0, next: 1, retired: 2 } as const;

/** The private keys, the signing ones first. */
export async function loadJwks(
  database: Database,
  box: SecretBox,
  nowMs: number,
): Promise<{ keys: JWK[]; version: string }> {
  const states = await listKeys(database.db, nowMs);
  const sealed = await database.db.selectFrom('signingKeys').select(['id', 'sealedJwk']).execute();
  const jwkById = new Map(sealed.map((row) => [row.id, row.sealedJwk]));
  const keys = states
    .toSorted((a, b) => order[a.state] - order[b.state])
    .flatMap(({ kid }) => {
      const text = jwkById.get(kid);
      return text === undefined ? [] : [parseStored(jwkSchema, box.open(text, kid))];
    });
  return { keys, version: keyVersion(states) };
}

async function insertKeys(
  trx: Transaction<Schema>,
  box: SecretBox,
  { jwks, nowMs, signsFrom }: { jwks: JWK[]; nowMs: number; signsFrom: number },
): Promise<void> {
  const rows = jwks.map((jwk) => ({
    id: jwk.kid ?? '',
    alg: jwk.alg ?? '',
    sealedJwk: box.seal(JSON.stringify(jwk), jwk.kid),
    createdAt: nowMs,
    activatesAt: signsFrom,
  }));
  await trx.insertInto('signingKeys').values(rows).execute();
}

/** Creates the first keys; of several processes that start at once, one does. */
export async function ensureKeys(
  database: Database,
  box: SecretBox,
  { nowMs, makeKeys = generateAll }: { nowMs: number; makeKeys?: (nowMs: number) => Promise<JWK[]> },
): Promise<void> {
  if ((await listKeys(database.db, nowMs)).length > 0) return;
  const jwks = await makeKeys(nowMs);
  await database.migrationTransaction(async (trx) => {
    if ((await listKeys(trx, nowMs)).length === 0) await insertKeys(trx, box, { jwks, nowMs, signsFrom: nowMs });
  });
}

/**
 * Rotates: new keys are published at once and sign from `signsFrom`. The earlier ones verify until `keptUntil`, which
 * must outlive every session, because they also verify `id_token_hint`s.
 */
export async function rotateKeys(
  database: Database,
  box: SecretBox,
  { nowMs, signsFrom, keptUntil }: { nowMs: number; signsFrom: number; keptUntil: number },
): Promise<SigningKeyInfo[]> {
  const jwks = await generateAll(nowMs);
  return database.migrationTransaction(async (trx) => {
    await trx.deleteFrom('signingKeys').where('expiresAt', '<=', nowMs).execute();
    await trx.updateTable('signingKeys').set({ expiresAt: keptUntil }).where('expiresAt', 'is', null).execute();
    await insertKeys(trx, box, { jwks, nowMs, signsFrom });
    return listKeys(trx, nowMs);
  });
}
