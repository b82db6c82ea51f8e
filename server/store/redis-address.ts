import type { Redis, RedisOptions } from 'ioredis';

const DEFAULT_PREFIX = 'foyer:';
const DEFAULT_PORT = 6379;
const DEFAULT_SENTINEL_PORT = 26_379;

/** `scheme://[user[:password]@]hosts[/path][?query]`, with several hosts separated by commas, which URL rejects. */
const ADDRESS =
  /^(?<scheme>rediss?(?:\+sentinel)?):\/\/(?:(?<login>[^@/]*)@)?(?<hosts>[^/?]+)(?:\/(?<path>[^?]*))?(?:\?(?<query>.*))?$/;

type RedisAddress = Pick<
  RedisOptions,
  | 'host'
  | 'port'
  | 'username'
  | 'password'
  | 'db'
  | 'tls'
  | 'keyPrefix'
  | 'name'
  | 'sentinels'
  | 'sentinelUsername'
  | 'sentinelPassword'
  | 'sentinelTLS'
  | 'enableTLSForSentinelMode'
>;

/**
 * Parses an address of Redis:
 *
 *     redis://[user:password@]host[:6379][/db]
 *     rediss://…                                            over TLS
 *     redis+sentinel://[user:password@]host[:26379],host2[:26379]/NAME[/db]
 *     rediss+sentinel://…                                   TLS to the servers and to the sentinels
 *
 * User and password are those of the server; those of the sentinels are in `?sentinelUsername=` and `?sentinelPassword=`.
 * `?prefix=` replaces the prefix `foyer:` of all keys, `?db=` is another way to name the database.
 *
 * @throws TypeError for anything else. The message never repeats the address, which holds a password.
 */
export function parseRedisAddress(url: string): RedisAddress {
  const { scheme, login, hosts, path = '', query = '' } = ADDRESS.exec(url)?.groups ?? {};
  if (!scheme || !hosts) {
    throw new TypeError('A Redis address begins with redis://, rediss:// or redis+sentinel:// and names a host');
  }
  const parameters = new URLSearchParams(query);
  const segments = path.split('/').filter(Boolean).map(decodeURIComponent);
  const tls = scheme.startsWith('rediss') ? {} : undefined;
  const common = { ...credentials(login), keyPrefix: parameters.get('prefix') ?? DEFAULT_PREFIX };

  if (!scheme.endsWith('+sentinel')) {
    if (hosts.includes(',')) throw new TypeError('Several Redis hosts need redis+sentinel://');
    const db = databaseNumber(segments[0] ?? parameters.get('db'));
    return {
      ...common,
      ...hostAndPort(hosts, DEFAULT_PORT),
      db,
      tls: tls && { servername: hostAndPort(hosts, 0).host },
    };
  }
  const [name, dbSegment] = segments;
  if (!name) throw new TypeError('A redis+sentinel:// address ends with the name of the master: …:26379/NAME');
  return {
    ...common,
    name,
    sentinels: hosts.split(',').map((host) => hostAndPort(host, DEFAULT_SENTINEL_PORT)),
    sentinelUsername: parameters.get('sentinelUsername') ?? undefined,
    sentinelPassword: parameters.get('sentinelPassword') ?? undefined,
    db: databaseNumber(dbSegment ?? parameters.get('db')),
    ...(tls && { tls, sentinelTLS: tls, enableTLSForSentinelMode: true }),
  };
}

/**
 * ioredis goes on in database 0 if it may not use the one of the address, or if there is none.
 * @throws TypeError
 */
export async function requireRedisDatabase(redis: Redis): Promise<void> {
  const { db = 0 } = redis.options;
  if (db === 0) return;
  try {
    await redis.select(db);
  } catch (error) {
    if (!(error instanceof Error && error.name === 'ReplyError')) throw error;
    throw new TypeError(`Redis refuses its database ${db}: ${error.message}; write another number, or none`);
  }
}

function credentials(login: string | undefined): { username?: string; password?: string } {
  if (!login) return {};
  const colon = login.indexOf(':');
  const username = decodeURIComponent(colon < 0 ? login : login.slice(0, colon));
  const password = colon < 0 ? '' : decodeURIComponent(login.slice(colon + 1));
  return { ...(username && { username }), ...(password && { password }) };
}

function hostAndPort(text: string, defaultPort: number): { host: string; port: number } {
  const [, ipv6, name, port] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(text) ?? [];
  const host = ipv6 ?? name;
  if (!host) throw new TypeError('A Redis host is written host or host:port, an IPv6 address in brackets');
  return { host, port: port ? Number(port) : defaultPort };
}

function databaseNumber(text: string | null | undefined): number {
  if (text === null || text === undefined) return 0;
  if (!/^\d+$/.test(text)) throw new TypeError('The database of a Redis address is a number');
  return Number(text);
}
