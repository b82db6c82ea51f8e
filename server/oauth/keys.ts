import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import type { Kysely, Transaction } from 'kysely';
import type { JWK } from 'oidc-provider';
import { type Database, type Schema, type SecretBox, uuidv7 } from '../store/index.ts';

export type SigningAlgorithm = 'ES256' | 'RS256';
const algorithms: readonly SigningAlgorithm[] = ['ES256', 'RS256'];

export interface SigningKeyInfo {
  kid: string;
  alg: SigningAlgorithm;
  createdAt: number;
  activatesAt: number;
  /** When it stops being published; null for the newest. */
  expiresAt: number | null;
  /** next: published, does not sign yet · active: signs · retired: only verifies. */
  state: 'next' | 'active' | 'retired';
}

const generate = promisify(generateKeyPair);

async function newJwk(alg: SigningAlgorithm, kid: string): Promise<JWK> {
  const { privateKey } =
    alg === 'ES256' ? await generate('ec', { namedCurve: 'P-256' }) : await generate('rsa', { modulusLength: 2048 });
  return { ...(privateKey.export({ format: 'jwk' }) as JWK), kid, alg, use: 'sig' };
}

interface Row {
  id: string;
  alg: string;
  created_at: number;
  activates_at: number;
  expires_at: number | null;
}

/**
 * Which key of each algorithm signs at this moment, which follow, which only verify: a matter of time alone. The newest
 * whose time has come signs, so a key that waits for its turn never takes over from one that was made after it.
 */
export function keyStates(rows: readonly Row[], nowMs: number): SigningKeyInfo[] {
  const kept = rows.filter((row) => row.expires_at === null || row.expires_at > nowMs);
  return algorithms.flatMap((alg) => {
    const newestFirst = kept
      .filter((row) => row.alg === alg)
      .sort((a, b) => b.created_at - a.created_at || b.activates_at - a.activates_at || (a.id < b.id ? 1 : -1));
    const begun = newestFirst.findIndex((row) => row.activates_at <= nowMs);
    const signing = begun === -1 ? newestFirst.length - 1 : begun;
    return newestFirst.map((row, index) => ({
      kid: row.id,
      alg,
      createdAt: row.created_at,
      activatesAt: row.activates_at,
      expiresAt: row.expires_at,
      state: index === signing ? 'active' : index < signing ? 'next' : 'retired',
    }));
  });
}

const infoColumns = ['id', 'alg', 'created_at', 'activates_at', 'expires_at'] as const;

export async function listKeys(db: Kysely<Schema> | Transaction<Schema>, nowMs: number): Promise<SigningKeyInfo[]> {
  return keyStates(await db.selectFrom('signing_keys').select(infoColumns).execute(), nowMs);
}

/** The order in which the library is given them: it signs with the first that fits. */
const order = { active: 0, next: 1, retired: 2 } as const;

/** What would make a process build its provider anew. */
export function keyVersion(keys: readonly SigningKeyInfo[]): string {
  return keys.map((key) => `${key.kid}:${key.state}`).join(' ');
}

/** The private keys, the signing ones first. */
export async function loadJwks(
  database: Database,
  box: SecretBox,
  nowMs: number,
): Promise<{ keys: JWK[]; version: string }> {
  const states = await listKeys(database.db, nowMs);
  const sealed = await database.db.selectFrom('signing_keys').select(['id', 'sealed_jwk']).execute();
  const jwkOf = new Map(sealed.map((row) => [row.id, row.sealed_jwk]));
  const keys = states
    .toSorted((a, b) => order[a.state] - order[b.state])
    .flatMap(({ kid }) => {
      const text = jwkOf.get(kid);
      return text === undefined ? [] : [JSON.parse(box.open(text, kid)) as JWK];
    });
  return { keys, version: keyVersion(states) };
}

async function insertKeys(
  trx: Transaction<Schema>,
  jwks: JWK[],
  box: SecretBox,
  nowMs: number,
  activatesAt: number,
): Promise<void> {
  const rows = jwks.map((jwk) => ({
    id: jwk.kid ?? '',
    alg: jwk.alg ?? '',
    sealed_jwk: box.seal(JSON.stringify(jwk), jwk.kid),
    created_at: nowMs,
    activates_at: activatesAt,
    expires_at: null,
  }));
  await trx.insertInto('signing_keys').values(rows).execute();
}

const generateAll = (nowMs: number) => Promise.all(algorithms.map((alg) => newJwk(alg, uuidv7(nowMs))));

/** Makes the first keys; of several processes that start at once, one does. */
export async function ensureKeys(database: Database, box: SecretBox, nowMs: number): Promise<void> {
  if ((await listKeys(database.db, nowMs)).length > 0) return;
  const jwks = await generateAll(nowMs);
  await database.migrationTransaction(async (trx) => {
    if ((await listKeys(trx, nowMs)).length === 0) await insertKeys(trx, jwks, box, nowMs, nowMs);
  });
}

/**
 * Rotates: new keys are published at once and sign from `signsFrom`; the ones before them verify until `keptUntil`,
 * which must outlive every session, because they check `id_token_hint`s too.
 */
export async function rotateKeys(
  database: Database,
  box: SecretBox,
  { nowMs, signsFrom, keptUntil }: { nowMs: number; signsFrom: number; keptUntil: number },
): Promise<SigningKeyInfo[]> {
  const jwks = await generateAll(nowMs);
  return database.migrationTransaction(async (trx) => {
    await trx.deleteFrom('signing_keys').where('expires_at', '<=', nowMs).execute();
    await trx.updateTable('signing_keys').set({ expires_at: keptUntil }).where('expires_at', 'is', null).execute();
    await insertKeys(trx, jwks, box, nowMs, signsFrom);
    return listKeys(trx, nowMs);
  });
}
