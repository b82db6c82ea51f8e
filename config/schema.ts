import { isIP } from 'node:net';
import { z } from 'zod';
import { accentFault } from './accent.ts';
import { appPaths, parseAppPaths } from './app-paths.ts';
import { parseCountries } from './countries.ts';
import { parseMailSender, parseMailTemplates } from './mail.ts';
import { parseTrustProxy } from './trust-proxy.ts';

/**
 * The only configuration schema: from environment variables to typed values. Names include their units. `load.ts`
 * checks rules that depend on several variables (production, sandbox).
 */

const text = (what: string) => z.string().trim().min(1, `write ${what}`);
const whole = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, `write a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((n) => n >= min && n <= max, `write a whole number from ${min} to ${max}`);
const flag = z.enum(['true', 'false'], 'write true or false').transform((value) => value === 'true');
const address = (protocols: string[]) =>
  z.string().refine(
    (value) => {
      const url = URL.parse(value);
      return url !== null && protocols.includes(url.protocol) && url.username === '' && url.hash === '';
    },
    `write an absolute address that begins with ${protocols.map((p) => `${p}//`).join(' or ')}`,
  );
const webAddress = address(['https:', 'http:']);

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

  /** The sender of mails. */
  MAIL_FROM: z
    .string()
    .transform((value, context) => {
      const sender = parseMailSender(value);
      if (sender !== undefined) return sender;
      context.addIssue('write a mail address, as in Foyer <no-reply@example.com>');
      return z.NEVER;
    })
    .optional(),
  /** The address for replies to them. */
  MAIL_SUPPORT_ADDRESS: z
    .string()
    .refine((value) => parseMailSender(value)?.address === value, 'write a mail address, as in help@example.com')
    .optional(),
  SENDGRID_API_KEY: z
    .string()
    .regex(/^SG\.[\w.-]+$/, 'write the key that SendGrid gave you: it begins with SG.')
    .optional(),
  SENDGRID_URL: webAddress.default('https://api.sendgrid.com'),
  SMTP_URL: z
    .string()
    .refine((value) => {
      const url = URL.parse(value);
      return (
        url !== null && ['smtp:', 'smtps:'].includes(url.protocol) && url.hostname !== '' && url.pathname.length <= 1
      );
    }, 'write smtp://user:password@host:587 or smtps://user:password@host:465')
    .optional(),
  /** The specification's further templates, by name, with SendGrid's own ids. */
  SENDGRID_TEMPLATES: z
    .string()
    .transform((value, context) => {
      const templates = parseMailTemplates(value);
      if (templates !== undefined) return templates;
      context.addIssue('write name=id, separated by commas, each name once');
      return z.NEVER;
    })
    .optional(),
  /** Those that may be sent to an address without a user. */
  SENDGRID_OPEN_TEMPLATES: z
    .string()
    .transform((value) =>
      value
        .split(',')
        .map((name) => name.trim())
        .filter(Boolean),
    )
    .optional(),

  TWILIO_ACCOUNT_SID: z
    .string()
    .regex(/^AC[0-9a-f]{32}$/i, 'write the account SID that Twilio gave you: AC and 32 hexadecimal digits')
    .optional(),
  TWILIO_AUTH_TOKEN: text('the auth token of the Twilio account').optional(),
  /** A number of the account, or a name as the sender. */
  TWILIO_FROM: z
    .string()
    .regex(
      /^(\+\d{3,15}|\d{3,8}|(?=.*[A-Za-z])[A-Za-z0-9 +_&-]{1,11})$/,
      'write a number of your Twilio account, as in +15557122661, or a sender’s name of at most 11 letters and digits',
    )
    .optional(),
  TWILIO_MESSAGING_SERVICE_SID: z
    .string()
    .regex(/^MG[0-9a-f]{32}$/i, 'write the SID of a messaging service: MG and 32 hexadecimal digits')
    .optional(),
  TWILIO_URL: webAddress.default('https://api.twilio.com'),
  /** The countries of text messages; unset: all. */
  SMS_COUNTRIES: z
    .string()
    .transform((value, context) => {
      const countries = parseCountries(value);
      if (countries !== undefined) return countries;
      context.addIssue('write countries as in DE,AT,CH: ISO 3166-1 codes of two letters, separated by commas');
      return z.NEVER;
    })
    .optional(),
  SMS_LIMIT_MEMBER: whole(1, 10_000).default(10),
  SMS_LIMIT_NUMBER: whole(1, 10_000).default(10),
  SMS_LIMIT_ADDRESS: whole(1, 1_000_000).default(20),
  SMS_LIMIT_OVERALL: whole(1, 10_000_000).default(500),

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

  /** Unset: true in production. */
  PREVENT_USER_EXISTENCE_ERRORS: flag.optional(),
  SESSION_IDLE_MINUTES: whole(1, 10_080).default(120),
  /** From the sign-in, however much the session is used; remembered sessions have REMEMBER_ME_DAYS instead. */
  SESSION_MAX_HOURS: whole(1, 720).default(24),
  REMEMBER_ME_DAYS: whole(1, 365).default(30),
  /** How long a device skips the second factor, if the user ticks that. */
  MFA_REMEMBER_DAYS: whole(1, 365).default(30),
  /** Between `foyer user reset-mfa` and its effect: the user can cancel it. */
  MFA_RESET_WAIT_HOURS: whole(1, 720).default(72),
  KEYS_REFRESH_SECONDS: whole(1, 300).default(5),

  /**
   * The cost of one hash; at least OWASP's minimum for argon2id. Their product stays below the maximum work of a
   * sign-in.
   */
  ARGON2_MEMORY_KIB: whole(19_456, 131_072).default(19_456),
  ARGON2_PASSES: whole(2, 8).default(2),
  PASSWORD_QUEUE_MAX: whole(1, 10_000).default(200),
  PASSWORD_QUEUE_WAIT_MS: whole(100, 60_000).default(8_000),
  /** For one account, running or waiting: from unknown devices, and as many from known ones. */
  PASSWORD_QUEUE_ACCOUNT: whole(1, 10_000).default(4),
  /** For one address, from unknown devices. */
  PASSWORD_QUEUE_ADDRESS: whole(1, 10_000).default(10),
  /** The status of the answer while the queue is full. */
  PASSWORD_QUEUE_FULL_STATUS: z
    .enum(['503', '429'], 'write 503 or 429')
    .transform((status) => (status === '429' ? 429 : 503))
    .default(503),
  PASSWORD_QUEUE_RETRY_SECONDS: whole(1, 3_600).default(5),
  /** A range interface of Have I Been Pwned for new passwords. */
  BREACHED_PASSWORDS_API: webAddress.optional(),
  GUESS_WINDOW_MINUTES: whole(1, 1_440).default(15),
  GUESS_LIMIT_ACCOUNT: whole(1, 1_000_000).default(10),
  GUESS_LIMIT_DEVICE: whole(1, 1_000_000).default(20),
  GUESS_LIMIT_ADDRESS: whole(1, 1_000_000).default(50),
  GUESS_LIMIT_OVERALL: whole(1, 100_000_000).default(5_000),
  /** Requests per second from strangers while a shared limit is full. */
  OVERALL_LANE_PER_SECOND: whole(1, 1_000).default(5),
  /** Right passwords an hour: of one user from one known device, and from all. */
  PASSWORD_LIMIT_DEVICE: whole(1, 1_000_000).default(30),
  PASSWORD_LIMIT_MEMBER: whole(1, 1_000_000).default(60),
  SIGN_UP_WINDOW_MINUTES: whole(1, 1_440).default(60),
  SIGN_UP_LIMIT_ADDRESS: whole(1, 1_000_000).default(20),
  COMPANY_LIMIT_ADDRESS: whole(1, 1_000_000).default(300),
  SIGN_UP_LIMIT_OVERALL: whole(1, 100_000_000).default(2_000),
});

export type RawConfig = z.infer<typeof schema>;
export const variableNames = Object.keys(schema.shape) as (keyof RawConfig)[];
