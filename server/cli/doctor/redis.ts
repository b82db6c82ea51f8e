import type { RedisFacts } from '../../store/index.ts';
import { bytesText, type Finding, findingsFor, those } from './finding.ts';

const { ok, note, warning, fault } = findingsFor('key-value');

const minVersion = [6, 2] as const;

function isOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < minVersion[0] || (major === minVersion[0] && minor < minVersion[1]);
}

function judgeVersion({ version }: RedisFacts): Finding | undefined {
  if (version === undefined) return undefined;
  if (!isOld(version)) return ok('redis.version', `Redis ${version}.`);
  return fault('redis.version', {
    seen: `Redis ${version}.`,
    why: 'Foyer uses GETDEL, which came with 6.2: no one can sign in.',
    todo: 'Upgrade Redis.',
  });
}

function judgeRole({ role, cluster }: RedisFacts): Finding[] {
  return those(
    cluster === true &&
      fault('redis.cluster', {
        seen: 'This Redis is part of a cluster.',
        why: 'Foyer’s scripts use several keys at once, which lie on different nodes there.',
        todo: 'Use one Redis, or a master with replicas under Sentinel (redis+sentinel://…).',
      }),
    role !== undefined &&
      role !== 'master' &&
      fault('redis.role', {
        seen: 'This Redis is a replica.',
        why: 'It takes no writes, or loses them: no one can sign in.',
        todo: 'Let REDIS_URL name the master; with Sentinel write redis+sentinel://…/NAME, which follows it.',
      }),
    role === 'master' && cluster !== true && ok('redis.role', 'It is the master, and no cluster.'),
  );
}

function judgeMemory({ policy, maxMemory, usedMemory }: RedisFacts): Finding[] {
  const full = maxMemory !== undefined && maxMemory > 0 && usedMemory !== undefined && usedMemory > 0.8 * maxMemory;
  return those(
    policy === 'noeviction' && ok('redis.eviction', 'maxmemory-policy is noeviction.'),
    policy !== undefined &&
      policy !== 'noeviction' &&
      fault('redis.eviction', {
        seen: `maxmemory-policy is ${policy}${maxMemory === 0 ? ' (and maxmemory is not set yet)' : ''}.`,
        why: 'When memory runs short, Redis throws away sessions, half-finished sign-ins and the marks that a code was used: members are signed out, and a stolen code may work twice.',
        todo: 'CONFIG SET maxmemory-policy noeviction, and the same in redis.conf (a managed Redis: in its parameters).',
      }),
    full &&
      warning('redis.memory', {
        seen: `${bytesText(usedMemory)} of maxmemory ${bytesText(maxMemory)} are used.`,
        why: 'When it is full, Redis refuses writes and no one can sign in.',
        todo: 'Give it more: CONFIG SET maxmemory …, and in redis.conf; or find out what else is kept there.',
      }),
  );
}

function judgePersistence({ appendOnly, save, lastWritesOk }: RedisFacts): Finding[] {
  const stored = appendOnly === true || (save !== undefined && save !== '');
  const knownNot = appendOnly === false && save === '';
  return those(
    lastWritesOk === false &&
      fault('redis.disk', {
        seen: 'The last time that Redis wrote to its disk it failed.',
        why: 'By default Redis then refuses writes: no one can sign in.',
        todo: 'Look at its log and disk (space, permissions), then run BGSAVE.',
      }),
    stored && ok('redis.persistence', `It survives a restart (${appendOnly ? 'appendonly yes' : `save ${save}`}).`),
    knownNot &&
      warning('redis.persistence', {
        seen: 'Redis keeps nothing on disk: appendonly is no, and save is empty.',
        why: 'Its next restart signs every member out and forgets the counts of guesses.',
        todo: 'CONFIG SET appendonly yes, and the same in redis.conf.',
      }),
  );
}

/** Facts that could not be read, in one note. */
function unseen({ forbidden, policy, appendOnly, save, role }: RedisFacts): Finding | undefined {
  const missing = [
    policy === undefined && 'maxmemory-policy (must be noeviction)',
    appendOnly !== true && save === undefined && 'whether it keeps its content on disk (appendonly or save)',
    role === undefined && 'whether it is the master',
  ].filter((text) => text !== false);
  if (forbidden.length === 0 || missing.length === 0) return undefined;
  return note('redis.unseen', {
    seen: `Not to be seen, because Redis refuses ${forbidden.join(' and ')} to this login: ${missing.join('; ')}.`,
    why: 'A wrong setting there loses sessions.',
    todo: 'Look at them with another login (`redis-cli INFO`, `redis-cli CONFIG GET maxmemory-policy`), or in the settings of the host that runs it.',
  });
}

function judgeWrites({ refusedWrite }: RedisFacts, say: (text: string) => string): Finding {
  if (refusedWrite === undefined) return ok('redis.write', 'Writing, scripts and GETDEL work.');
  return fault('redis.write', {
    seen: `It does not let Foyer write and read: ${say(refusedWrite)}`,
    why: 'Foyer keeps sessions and codes there with SET, EVALSHA, GETDEL and the like: no one can sign in.',
    todo: 'Give the login of REDIS_URL all commands on the keys of Foyer (ACL: ~foyer:* +@all -@dangerous +info +config|get), and see that Redis is not full.',
  });
}

/** The requirements for a Redis that stores sessions and codes. */
export function judgeRedis(facts: RedisFacts, say: (text: string) => string = (text) => text): Finding[] {
  return those(
    judgeVersion(facts),
    ...judgeRole(facts),
    ...judgeMemory(facts),
    ...judgePersistence(facts),
    unseen(facts),
    judgeWrites(facts, say),
  );
}
