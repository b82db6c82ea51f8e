/** Checks that the schema cannot express: faults that depend on several variables, or on production. */
import type { PaymentMethodWord } from './billing-variables.ts';
import { cookieDomainFault } from './cookie-domain.ts';
import { printedFaults } from './printed.ts';
import { schema } from './schema.ts';
import { standardKinds, standardProviders, standardUrlVariables } from './standard-providers.ts';

/** Prefix of keys that a development start has generated; production refuses them. */
export const developmentKeyPrefix = 'development-';

const loopbackHosts = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Tests whether an address refers only to this machine. */
export function isLoopback(url: string): boolean {
  return loopbackHosts.has(new URL(url).hostname);
}

type Environment = Partial<Record<string, string>>;

/** The variables that production requires: checked on the raw values, so that another fault hides none of these. */
export function findProductionFaults(args: Environment): string[] {
  const faults: string[] = [];
  const missing = (name: string, what: string) => {
    if (!args[name]) faults.push(`${name} is missing: write ${what}`);
  };
  missing('PUBLIC_URL', 'the address members use, as in https://login.example.com');
  // An unreadable one has its fault already.
  if (URL.parse(args.PUBLIC_URL ?? '')?.protocol === 'http:') {
    faults.push('PUBLIC_URL: must begin with https:// in production');
  }
  missing('SECRET_KEY', 'at least 32 random characters, for example the output of: openssl rand -base64 48');
  if (args.SECRET_KEY?.split(',').some((key) => key.startsWith(developmentKeyPrefix))) {
    faults.push('SECRET_KEY: was made for development; write the output of: openssl rand -base64 48');
  }
  missing('SEARCH_APP_URL', 'the address of the search app, where members go after signing in');
  missing(
    'TRUST_PROXY',
    'how many proxies stand before Foyer (1); without it all members seem to come from one address',
  );
  missing('MAIL_FROM', 'who mails are from, as in Foyer <no-reply@example.com>');
  if (!args.SENDGRID_API_KEY && !args.SMTP_URL) {
    faults.push('SENDGRID_API_KEY or SMTP_URL is missing: write by which service mails are sent');
  }
  if (args.SENDGRID_URL && !args.SENDGRID_URL.startsWith('https://')) {
    faults.push('SENDGRID_URL: must begin with https:// in production');
  }
  if (args.SANDBOX === 'true') faults.push('SANDBOX: must not be true in production; remove it');
  faults.push(...printedFaults(args));
  return faults;
}

/** `security.md`, rule 16: the sandbox, and everything that is not production, opens only on this machine. */
export function findPublicUrlFaults(args: Environment): string[] {
  const url = args.PUBLIC_URL;
  if (args.NODE_ENV === 'production' || !url || !URL.canParse(url) || isLoopback(url)) return [];
  return [
    `PUBLIC_URL: ${url} is a public address, so set NODE_ENV=production; development and the sandbox run only on a localhost address`,
  ];
}

/** The same rule: only production listens to other machines. */
export function findHostFaults(args: Environment): string[] {
  if (args.NODE_ENV === 'production' || args.HOST === undefined || ['127.0.0.1', '::1'].includes(args.HOST)) return [];
  return ['HOST: only with NODE_ENV=production; development and the sandbox listen on 127.0.0.1'];
}

/** Only the sandbox has a page that replaces the search app; production checks this variable itself. */
export function searchAppFaults(args: Environment): string[] {
  const sandbox =
    args.SANDBOX === undefined ? (args.NODE_ENV ?? 'development') === 'development' : args.SANDBOX === 'true';
  if (args.NODE_ENV === 'production' || sandbox || args.SEARCH_APP_URL) return [];
  return [
    'SEARCH_APP_URL is missing: write the address of the search app (only the sandbox has a page that stands for it)',
  ];
}

/** Members would come back to the sign-in page. A search app below a path of the same host is another page. */
export function searchAppAddressFaults({ SEARCH_APP_URL, PUBLIC_URL }: Environment): string[] {
  const [search, own] = [URL.parse(SEARCH_APP_URL ?? ''), URL.parse(PUBLIC_URL ?? '')];
  if (!search || search.origin !== own?.origin || search.pathname !== '/') return [];
  return [
    'SEARCH_APP_URL: is PUBLIC_URL, so members would come back to the sign-in page; write that of the search app',
  ];
}

/** Two servers cannot share a port. */
export function findPortFaults({ PORT = '3000', METRICS_PORT }: Environment): string[] {
  return METRICS_PORT === undefined || Number(METRICS_PORT) !== Number(PORT)
    ? []
    : ['METRICS_PORT: is the same as PORT; write another one'];
}

/** Checked only if both are readable: each has its own fault otherwise. */
export function cookieDomainFaults(args: Environment): string[] {
  const domain = schema.shape.COOKIE_DOMAIN.safeParse(args.COOKIE_DOMAIN).data;
  if (domain === undefined) return [];
  const url = args.PUBLIC_URL ?? 'http://localhost';
  const fault = URL.canParse(url) ? cookieDomainFault(domain, url) : undefined;
  return fault === undefined ? [] : [`COOKIE_DOMAIN: ${fault}`];
}

/** The template variables must be consistent; each list has its own fault if it is unreadable. */
export function mailTemplateFaults(args: Environment): string[] {
  const { SENDGRID_TEMPLATES, SENDGRID_OPEN_TEMPLATES } = schema.shape;
  const templates = SENDGRID_TEMPLATES.safeParse(args.SENDGRID_TEMPLATES);
  const open = SENDGRID_OPEN_TEMPLATES.safeParse(args.SENDGRID_OPEN_TEMPLATES).data ?? [];
  if (!templates.success) return [];
  const unknown = open.filter((name) => !templates.data?.has(name));
  const unusable =
    templates.data !== undefined && !args.SENDGRID_API_KEY && args.NODE_ENV === 'production'
      ? ['SENDGRID_TEMPLATES: are SendGrid’s, so SENDGRID_API_KEY is needed; remove one or write the other']
      : [];
  return [...unusable, ...unknown.map((name) => `SENDGRID_OPEN_TEMPLATES: SENDGRID_TEMPLATES has no ${name}`)];
}

/** An incomplete account sends nothing; and text messages to every country invite SMS pumping. */
export function findSmsFaults(args: Environment): string[] {
  const { TWILIO_ACCOUNT_SID, TWILIO_AUTH_TOKEN, TWILIO_FROM, TWILIO_MESSAGING_SERVICE_SID, TWILIO_URL } = args;
  const sender = TWILIO_FROM ?? TWILIO_MESSAGING_SERVICE_SID;
  if ([TWILIO_ACCOUNT_SID, TWILIO_AUTH_TOKEN, sender].every((value) => value === undefined)) return [];
  const production = args.NODE_ENV === 'production';
  return [
    ...(TWILIO_ACCOUNT_SID === undefined ? ['TWILIO_ACCOUNT_SID is missing: write the account’s SID'] : []),
    ...(TWILIO_AUTH_TOKEN === undefined ? ['TWILIO_AUTH_TOKEN is missing: write the account’s auth token'] : []),
    ...(sender === undefined
      ? ['TWILIO_FROM or TWILIO_MESSAGING_SERVICE_SID is missing: write by which text messages are sent']
      : []),
    ...(production && args.SMS_COUNTRIES === undefined
      ? ['SMS_COUNTRIES is missing: write the countries that text messages may go to, as in DE,AT,CH']
      : []),
    ...(production && TWILIO_URL && !TWILIO_URL.startsWith('https://')
      ? ['TWILIO_URL: must begin with https:// in production']
      : []),
  ];
}

/** All variables of Stripe or none: an incomplete set would accept cards without ever getting the results. */
export function findStripeFaults(args: Environment): string[] {
  const { STRIPE_SECRET_KEY, STRIPE_PUBLISHABLE_KEY, STRIPE_WEBHOOK_SECRET } = args;
  const keys = { STRIPE_SECRET_KEY, STRIPE_PUBLISHABLE_KEY, STRIPE_WEBHOOK_SECRET };
  const missing = Object.entries(keys).flatMap(([name, value]) => (value === undefined ? [name] : []));
  const faults =
    missing.length === 0 || missing.length === 3
      ? []
      : missing.map(
          (name) => `${name} is missing: Stripe needs its secret key, its publishable key and the webhook secret`,
        );
  const modes = [STRIPE_SECRET_KEY, STRIPE_PUBLISHABLE_KEY].map((key) => /^\w+?_(test|live)_/.exec(key ?? '')?.[1]);
  if (modes[0] !== undefined && modes[1] !== undefined && modes[0] !== modes[1])
    faults.push(
      'STRIPE_PUBLISHABLE_KEY: is of the other mode than STRIPE_SECRET_KEY; write two keys of test mode or of live mode',
    );
  if (args.NODE_ENV !== 'production') return faults;
  for (const name of ['STRIPE_API_URL', 'STRIPE_JS_URL']) {
    if (args[name] && !args[name].startsWith('https://'))
      faults.push(`${name}: must begin with https:// in production`);
  }
  return faults;
}

const euroMethods: ReadonlySet<PaymentMethodWord> = new Set(['sepa_debit', 'ideal', 'bancontact']);

/** Stripe collects these in euros alone. @param currency of the catalogue */
export const findMethodFaults = (words: readonly PaymentMethodWord[], currency: string): string[] =>
  currency === 'eur'
    ? []
    : words
        .filter((word) => euroMethods.has(word))
        .map((word) => `PAYMENT_METHODS: ${word} needs a catalogue in eur; that of PLANS_FILE is in ${currency}`);

/** Incomplete credentials give a button that does not work; and secrets must not be sent unencrypted. */
export function findProviderFaults(args: Environment): string[] {
  const halves = standardKinds.flatMap((kind) => {
    const { id, secret } = standardProviders[kind].credentials;
    if ((args[id.variable] === undefined) === (args[secret.variable] === undefined)) return [];
    const [there, missing] =
      args[id.variable] === undefined ? [secret.variable, id.variable] : [id.variable, secret.variable];
    return [`${missing} is missing: ${there} is there, and one needs the other`];
  });
  if (args.NODE_ENV !== 'production') return halves;
  const plain = standardUrlVariables.filter((name) => args[name] && !args[name].startsWith('https://'));
  return [...halves, ...plain.map((name) => `${name}: must begin with https:// in production`)];
}
