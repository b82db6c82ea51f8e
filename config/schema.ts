import { isIP } from 'node:net';
import { z } from 'zod';
import { accentFault } from './accent.ts';
import { appPaths, parseAppPaths } from './app-paths.ts';
import { messageVariables } from './message-variables.ts';
import { signInVariables } from './sign-in-variables.ts';
import { parseTrustProxy } from './trust-proxy.ts';
import { flag, text, webAddress, whole } from './value-rules.ts';

/**
 * The only configuration schema: from environment variables to typed values. Names include their units. `load.ts`
 * checks rules that depend on several variables (production, sandbox).
 */

export const schema = z.object({
  NODE_ENV: z.enum(['development', 'production', 'test'], 'write development or production').default('development'),
  PORT: whole(1, 65_535).default(3000),
  /** The address of this machine on which it listens; `isIP` accepts both kinds. */
  HOST: z
    .string()
    .refine((value) => isIP(value) !== 0, 'write an address of this machine, as in 127.0.0.1')
    .optional(),
  /** The public address; also the issuer of the OpenID Provider. */
  PUBLIC_URL: webAddress
    .refine((value) => {
      const url = URL.parse(value);
      return url !== null && url.pathname === '/' && url.search === '';
    }, 'write only scheme, host and port, as in https://login.example.com')
    .transform((value) => new URL(value).origin)
    .optional(),
  SECRET_KEY: z
    .string()
    .refine(
      (value) => value.split(',').every((key) => key.length >= 32),
      'write at least 32 random characters, for example the output of: openssl rand -base64 48 (several, newest first, separated by commas, while a key is being replaced)',
    )
    .optional(),
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
  /** Number of serving processes; with 1 there is only the started one. */
  WEB_CONCURRENCY: whole(1, 64).default(1),
  /** For one process; each connection is an open file. */
  MAX_CONNECTIONS: whole(100, 1_000_000).default(5_000),
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
  LOG_LEVEL: z.enum(['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'], 'write a pino level').optional(),

  SEARCH_APP_URL: webAddress.optional(),
  MAIN_APP_URL: webAddress.optional(),
  HELP_URL: webAddress.optional(),
  PRIVACY_URL: webAddress.optional(),
  /** Profile, wallet, teams, membership, payment methods. */
  USER_MANAGEMENT_URL: webAddress.optional(),
  /** Other paths of those pages in the apps. */
  APP_PATHS: z
    .string()
    .transform((value, context) => {
      const paths = parseAppPaths(value);
      if (paths !== undefined) return paths;
      context.addIssue(`write name=/path, separated by commas; the names are ${Object.keys(appPaths).join(', ')}`);
      return z.NEVER;
    })
    .optional(),
  /** Base address of the users' pictures. */
  MEDIA_URL: webAddress.optional(),
  /** Alternatively their folder: Foyer serves them. */
  MEDIA_DIR: text('a folder').optional(),
  /** Terms of service and imprint: `<language>/terms.md` and `imprint.md`. */
  LEGAL_DIR: text('a folder').optional(),
  BRAND_NAME: text('a name').default('Foyer'),
  BRAND_LOGO_URL: webAddress.optional(),
  BRAND_ACCENT: z
    .string()
    .superRefine((value, context) => {
      const fault = accentFault(value);
      if (fault !== undefined) context.addIssue(fault);
    })
    .optional(),

  ...messageVariables,

  /** The catalogue of plans; unset: the one that comes with the product. */
  PLANS_FILE: text('a file').optional(),
  STRIPE_SECRET_KEY: z
    .string()
    .regex(/^(sk|rk)_(test|live)_\w+$/, 'write the secret key that Stripe gave you: it begins with sk_ or rk_')
    .optional(),
  STRIPE_PUBLISHABLE_KEY: z
    .string()
    .regex(/^pk_(test|live)_\w+$/, 'write the publishable key that Stripe gave you: it begins with pk_')
    .optional(),
  STRIPE_WEBHOOK_SECRET: z
    .string()
    .regex(/^whsec_\S+$/, 'write the signing secret of the webhook endpoint: it begins with whsec_')
    .optional(),
  STRIPE_API_URL: webAddress.default('https://api.stripe.com'),
  STRIPE_JS_URL: webAddress.default('https://js.stripe.com/endive/stripe.js'),
  /** Limits of card attempts: per browser session, per network, in total. */
  CARD_WINDOW_MINUTES: whole(1, 1_440).default(60),
  CARD_LIMIT_MEMBER: whole(1, 1_000_000).default(10),
  CARD_LIMIT_ADDRESS: whole(1, 1_000_000).default(20),
  CARD_LIMIT_OVERALL: whole(1, 100_000_000).default(1_000),

  /** Identity providers; SAML and OpenID Connect ones are in the file. */
  GOOGLE_CLIENT_ID: text('the client id that Google gave you').optional(),
  GOOGLE_CLIENT_SECRET: text('the client secret that Google gave you').optional(),
  FACEBOOK_APP_ID: text('the app id that Facebook gave you').optional(),
  FACEBOOK_APP_SECRET: text('the app secret that Facebook gave you').optional(),
  AMAZON_CLIENT_ID: text('the client id that Amazon gave you').optional(),
  AMAZON_CLIENT_SECRET: text('the client secret that Amazon gave you').optional(),
  /** One address for all endpoints of the provider: a stand-in's. */
  GOOGLE_URL: webAddress.optional(),
  FACEBOOK_URL: webAddress.optional(),
  AMAZON_URL: webAddress.optional(),
  PROVIDERS_FILE: text('a file').optional(),

  /** The maximum size of visitors' data in the key-value store. */
  VISITOR_DATA_MAX_MB: whole(10, 100_000).default(200),

  ...signInVariables,
});

export type RawConfig = z.infer<typeof schema>;
export const variableNames = Object.keys(schema.shape) as (keyof RawConfig)[];
