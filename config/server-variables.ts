import { isIP } from 'node:net';
import { z } from 'zod';
import { parseTrustProxy } from './trust-proxy.ts';
import { flag, text, whole } from './value-rules.ts';

/**
 * The variables of `server/process/`, `server/store/`, `server/http/`, `server/oidc/` and `server/metrics/`, and of the
 * sandbox: a part of the schema in `schema.ts`.
 */
export const serverVariables = {
  NODE_ENV: z.enum(['development', 'production', 'test'], 'write development or production').default('development'),
  PORT: whole(1, 65_535).default(3000),
  /** The address of this machine on which it listens; `isIP` accepts both kinds. */
  HOST: z
    .string()
    .refine((value) => isIP(value) !== 0, 'write an address of this machine, as in 127.0.0.1')
    .optional(),
  /** The public address; also the issuer of the OpenID Provider. */
  PUBLIC_URL: z
    .string()
    .refine((value) => {
      const { protocol, pathname, username, password, search, hash } = URL.parse(value) ?? { protocol: '' };
      const isBare = [username, password, search, hash].every((part) => part === '') && pathname === '/';
      return ['https:', 'http:'].includes(protocol) && isBare;
    }, 'write scheme and host alone (and a port), as in https://login.example.com')
    .transform((value) => new URL(value).origin)
    .optional(),
  SECRET_KEY: z
    .string()
    .refine(
      (value) => value.split(',').every((key) => key.length >= 32),
      'write at least 32 random characters, for example the output of: openssl rand -base64 48 (several, newest first, separated by commas, while a key is being replaced)',
    )
    .optional(),
  /** How long events of the audit trail are stored. */
  AUDIT_DAYS: whole(30, 3650).default(400),
  DATA_DIR: text('a folder').default('./data'),
  DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\/.+/, 'write postgres://user:password@host:5432/name')
    .optional(),
  REDIS_URL: z
    .string()
    .regex(
      /^rediss?(\+sentinel)?:\/\/.+/,
      'write redis://…, rediss://… or redis+sentinel://host1:26379,host2:26379/NAME',
    )
    .optional(),
  /** The maximum size of visitors' data in the key-value store. */
  VISITOR_DATA_MAX_MB: whole(10, 100_000).default(200),
  /** Number of serving processes; with 1 there is only the started one. */
  WEB_CONCURRENCY: whole(1, 64).default(1),
  /** For one process; each connection is an open file. */
  MAX_CONNECTIONS: whole(100, 1_000_000).default(5_000),
  /** For one process: requests in progress, and the delay of the event loop; above them visitors are refused first. */
  REQUESTS_MAX: whole(10, 1_000_000).default(600),
  REQUESTS_DELAY_MS: whole(10, 60_000).default(50),
  TRUST_PROXY: z
    .string()
    .transform((value, context) => {
      const parsed = parseTrustProxy(value);
      if (parsed !== undefined) return parsed;
      context.addIssue(
        'write how many proxies stand before Foyer (1), loopback, or their addresses and networks, as in 10.0.0.7,192.168.0.0/16',
      );
      return z.NEVER;
    })
    .optional(),
  /** Its hosts' apps share the id token and the access token of a signed-in user. */
  COOKIE_DOMAIN: z
    .string()
    .regex(/^\.?[a-z0-9-]+(\.[a-z0-9-]+)+$/i, 'write a domain, as in example.com')
    .transform((value) => value.toLowerCase().replace(/^\./, ''))
    .optional(),
  /** The client that owns those tokens. */
  DEFAULT_CLIENT_ID: z
    .string()
    .regex(/^[A-Za-z0-9._~-]{1,100}$/, 'write 1 to 100 letters, digits, or . _ ~ -')
    .default('web')
    .brand<'ClientId'>(),
  SANDBOX: flag.optional(),
  SANDBOX_PORT: whole(1, 65_535).optional(),
  /** The port for Prometheus; unset: nothing is counted. */
  METRICS_PORT: whole(1, 65_535).optional(),
  METRICS_HOST: text('an address of this machine, as in 127.0.0.1').default('127.0.0.1'),
  LOG_LEVEL: z
    .enum(
      ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'],
      'write silent, fatal, error, warn, info, debug or trace',
    )
    .optional(),
};
