import { createBoxes } from '../../deps.ts';
import { listKeys, loadJwks, type SigningKeyInfo } from '../../oidc/index.ts';
import { dayMs } from '../../shared/index.ts';
import { type Database, UnsealError } from '../../store/index.ts';
import { counted, moment } from '../text.ts';
import { type Finding, findingsFor, those } from './finding.ts';
import type { Setup } from './setup.ts';

const { ok, note, warning, fault } = findingsFor('keys');
/** A recommendation: NIST SP 800-57 allows a signing key for one to three years. */
const oldAfterDays = 180;
const algorithms = ['ES256', 'RS256'] as const;

export interface KeyFacts {
  keys: readonly SigningKeyInfo[];
  /** Whether all can be opened; `newest`: with only the first of SECRET_KEY. Undefined without SECRET_KEY. */
  opens: { all: boolean; newest: boolean } | undefined;
  nowMs: number;
}

export async function lookAtKeys(database: Database, { config, now }: Setup): Promise<KeyFacts> {
  const nowMs = now();
  const opens = async (secretKeys: readonly string[]) => {
    try {
      await loadJwks(database, createBoxes(secretKeys).keys, nowMs);
      return true;
    } catch (error) {
      if (error instanceof UnsealError) return false;
      throw error;
    }
  };
  const { SECRET_KEYS: all } = config;
  return {
    keys: await listKeys(database.db, nowMs),
    opens: all.length === 0 ? undefined : { all: await opens(all), newest: await opens(all.slice(0, 1)) },
    nowMs,
  };
}

function sealing({ opens }: KeyFacts): Finding | undefined {
  if (opens === undefined) return undefined;
  if (!opens.all) {
    return fault('keys.sealed', {
      seen: 'SECRET_KEY does not open the signing keys in this database.',
      why: 'A Foyer with these two cannot sign a token: it does not start.',
      todo: 'Set SECRET_KEY to the one they were sealed with (behind the new one, with a comma), or DATABASE_URL to the right database. If the service runs with this key, this command has read it differently: compare quotes and # in the file.',
    });
  }
  if (!opens.newest) {
    return note('keys.sealed', {
      seen: 'A signing key is still sealed with an old SECRET_KEY of the list.',
      why: 'Without that old one it cannot be opened.',
      todo: 'Run `foyer keys rotate`, and keep the old SECRET_KEY until the keys that it sealed are gone (`foyer keys list`).',
    });
  }
  return ok('keys.sealed', 'SECRET_KEY opens all signing keys.');
}

function ages({ keys, nowMs }: KeyFacts): Finding[] {
  return algorithms.map((alg) => {
    const active = keys.find((key) => key.alg === alg && key.state === 'active');
    if (!active) {
      return fault('keys.missing', {
        seen: `There is no signing key for ${alg}.`,
        why: `No client app that wants ${alg} gets a token.`,
        todo: 'Run `foyer keys rotate`.',
      });
    }
    const days = Math.floor((nowMs - active.activatesAt) / dayMs);
    if (days < oldAfterDays)
      return ok('keys.age', `The ${alg} key has signed for ${counted(Math.max(0, days), 'day')}.`);
    return note('keys.age', {
      seen: `The ${alg} key has signed for ${days} days, since ${moment(active.activatesAt)}.`,
      why: 'The longer a key signs, the more an unnoticed leak is worth.',
      todo: 'Run `foyer keys rotate`; it disturbs no one.',
    });
  });
}

function others({ keys }: KeyFacts): Finding[] {
  const of = (state: SigningKeyInfo['state']) => keys.filter((key) => key.state === state);
  const [next, retired] = [of('next'), of('retired')];
  const soonest = Math.min(...next.map((key) => key.activatesAt));
  const last = Math.max(...retired.map((key) => key.expiresAt ?? 0));
  return those(
    next.length > 0 && ok('keys.next', `${counted(next.length, 'new key')} will sign from ${moment(soonest)}.`),
    retired.length > 0 &&
      ok('keys.retired', `${counted(retired.length, 'retired key')} verify what they signed until ${moment(last)}.`),
  );
}

/** The signing keys: they exist, can be opened, and are not too old. */
export function judgeKeys(facts: KeyFacts): Finding[] {
  if (facts.keys.length === 0) {
    return [
      warning('keys.none', {
        seen: 'There are no signing keys yet.',
        why: 'The first start of Foyer makes them; a Foyer that has run before has some.',
        todo: 'Start Foyer, or see whether DATABASE_URL and DATA_DIR are the server’s.',
      }),
    ];
  }
  return those(sealing(facts), ...ages(facts), ...others(facts));
}

/** Compares the published keys of a running Foyer, read over several connections, with the database. */
export function judgePublished(published: readonly (readonly string[])[], keys: readonly SigningKeyInfo[]): Finding {
  const known = new Set(keys.map(({ kid }) => kid));
  const must = keys.filter(({ state }) => state === 'active').map(({ kid }) => kid);
  const strange = published.filter((kids) => !kids.some((kid) => known.has(kid)));
  if (strange.length > 0) {
    return fault('keys.published', {
      seen: 'The Foyer at PUBLIC_URL publishes keys of which none is in this database.',
      why: 'It has another database than this command, or something else answers there.',
      todo: 'Give this command the same environment as the server; several hosts need the same DATABASE_URL.',
    });
  }
  const late = published.filter((kids) => must.some((kid) => !kids.includes(kid)));
  if (late.length > 0) {
    return fault('keys.published', {
      seen: `A key that signs is missing from ${late.length} of ${published.length} answers of PUBLIC_URL.`,
      why: 'Client apps refuse tokens whose key they do not find there: a process or a cache has not read the keys for too long.',
      todo: 'Look into the log of the server for the store’s errors, restart what is stuck, and let no proxy keep /oauth2/jwks longer than its Cache-Control says.',
    });
  }
  if (new Set(published.map((kids) => [...kids].sort().join())).size > 1) {
    return note('keys.published', {
      seen: 'Answers of PUBLIC_URL differ in the keys that they publish.',
      why: 'Processes read new keys within KEYS_REFRESH_SECONDS: right after a rotation that is as it should be.',
      todo: 'Run `foyer doctor` again in a minute; if it stays, restart the server.',
    });
  }
  return ok('keys.published', `${counted(published.length, 'answer')} of PUBLIC_URL publish the keys that sign.`);
}
