import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import type { JWK } from 'oidc-provider';
import { type Row, uuidv7 } from '../store/index.ts';

export type SigningAlgorithm = 'ES256' | 'RS256';
const algorithms: readonly SigningAlgorithm[] = ['ES256', 'RS256'];

export interface SigningKeyInfo {
  kid: string;
  alg: SigningAlgorithm;
  createdAt: number;
  activatesAt: number;
  /** End of its publication; null for the newest. */
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

/** The stored times of a key. */
type KeyTimes = Omit<Row<'signingKeys'>, 'sealedJwk'>;

/**
 * The state of each key of each algorithm, which depends on time alone. The newest key whose time has come signs, so a
 * waiting key never replaces a newer one.
 */
export function deriveKeyStates(rows: readonly KeyTimes[], nowMs: number): SigningKeyInfo[] {
  const stored = rows.filter((row) => row.expiresAt === null || row.expiresAt > nowMs);
  return algorithms.flatMap((alg) => {
    const newestFirst = stored
      .filter((row) => row.alg === alg)
      .sort((a, b) => b.createdAt - a.createdAt || b.activatesAt - a.activatesAt || (a.id < b.id ? 1 : -1));
    const started = newestFirst.findIndex((row) => row.activatesAt <= nowMs);
    const signing = started === -1 ? newestFirst.length - 1 : started;
    return newestFirst.map(({ id, ...times }, index) => ({
      ...times,
      kid: id,
      alg,
      state: index === signing ? 'active' : index < signing ? 'next' : 'retired',
    }));
  });
}

/** Changes if and only if the provider must be rebuilt. */
export function keyVersion(keys: readonly SigningKeyInfo[]): string {
  return keys.map((key) => `${key.kid}:${key.state}`).join(' ');
}

/** One new key of each algorithm. */
export const generateAll = (nowMs: number) => Promise.all(algorithms.map((alg) => newJwk(alg, uuidv7(nowMs))));
