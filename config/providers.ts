import { readFileSync } from 'node:fs';
import { dirname, extname, resolve } from 'node:path';
import { z } from 'zod';

/**
 * The providers beside Google, Facebook and Amazon by which members may sign in, and what holds for those three: a JSON
 * file, read once at start. docs/providers.md is its manual.
 */

const languages = ['en', 'de', 'fr', 'nl'] as const;
const words = z.string().trim().min(1, 'write some words').max(100, 'write at most 100 characters');
/** It stands in the addresses that a provider is told, so it must not change. */
const providerId = z.string().regex(/^[a-z0-9][a-z0-9-]{0,39}$/, 'write 1 to 40 lower-case letters, digits, or -');
const reserved = new Set(['google', 'facebook', 'amazon', 'link']);
const secure = z.string().refine((value) => {
  const url = URL.parse(value);
  if (url === null || url.username !== '' || url.hash !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && ['127.0.0.1', 'localhost'].includes(url.hostname));
}, 'write an absolute address that begins with https:// (http:// only on this machine)');
const domain = z.string().regex(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/, 'write a domain in lower case, as in example.com');
const path = z.string().min(1, 'write the path of a file');

/** What holds for a provider whatever it speaks. */
const common = {
  /** Whether somebody who is no member yet becomes one by it. */
  signUp: z.boolean().default(true),
  /**
   * `ask`: a second factor of Foyer is asked for as after a password. `sufficient`: the provider has asked for one, so Foyer
   * does not (`amr` then says `mfa`). `required`: whoever comes by it must have one at Foyer.
   */
  secondFactor: z.enum(['ask', 'sufficient', 'required'], 'write ask, sufficient or required').default('ask'),
};
const configured = {
  ...common,
  id: providerId.refine((id) => !reserved.has(id), 'is taken; write another'),
  /** Of the organisation: "Acme". */
  name: words,
  /** What the button says; else "Continue with <name>". */
  label: z.strictObject(Object.fromEntries(languages.map((language) => [language, words.optional()]))).optional(),
  /** An SVG or PNG file; its path is read from the file's own folder. */
  logo: path.optional(),
  /** Whose addresses lead there when they are typed (home realm discovery). */
  domains: z.array(domain).max(200, 'name at most 200').default([]),
  /**
   * Whose addresses count as confirmed: `domains`, those of the domains above (OpenID Connect: if the provider says
   * `email_verified: true`, too); `never`: each is confirmed by a code.
   */
  verifiedEmails: z.enum(['domains', 'never'], 'write domains or never').default('domains'),
};

const claim = z.string().min(1, 'write a name').max(200, 'write at most 200 characters');
const mapping = {
  email: claim.optional(),
  givenName: claim.optional(),
  familyName: claim.optional(),
  picture: claim.optional(),
};

const oidc = z
  .strictObject({
    kind: z.literal('oidc'),
    ...configured,
    /** As in its discovery document (OpenID Connect Discovery 1.0, section 3). */
    issuer: secure,
    clientId: z.string().min(1, 'write the client id that the provider gave you'),
    /** One of both; the second names an environment variable. Without either Foyer is a public client there. */
    clientSecret: z.string().min(1, 'write the client secret').optional(),
    clientSecretVariable: z
      .string()
      .regex(/^[A-Z][A-Z0-9_]*$/, 'write the name of a variable')
      .optional(),
    scope: z
      .string()
      .refine((value) => value.split(' ').includes('openid'), 'must contain openid')
      .default('openid profile email'),
    /** Claims that stand for what Foyer knows; else OpenID Connect's own. */
    claims: z.strictObject(mapping).default({}),
    /** Also ask the provider's userinfo endpoint. */
    userinfo: z.boolean().default(true),
  })
  .refine((provider) => provider.clientSecret === undefined || provider.clientSecretVariable === undefined, {
    message: 'write clientSecret or clientSecretVariable, not both',
    path: ['clientSecretVariable'],
  });

const saml = z.strictObject({
  kind: z.literal('saml'),
  ...configured,
  /** The identity provider's entity id. */
  entityId: z.string().min(1, 'write the entity id of the identity provider'),
  /** Where requests go (HTTP-Redirect binding). */
  ssoUrl: secure,
  /** PEM files. Several while the identity provider replaces its own. */
  certificates: z.array(path).min(1, 'name at least one file').max(5, 'name at most 5'),
  /** Where its metadata can be fetched; `foyer provider check` compares. */
  metadataUrl: secure.optional(),
  /** Where its single logout is (HTTP-Redirect binding); without it signing out here says nothing to it. */
  logoutUrl: secure.optional(),
  /** Needs `serviceProvider`. */
  signRequests: z.boolean().default(false),
  /** Assertions must come encrypted. Needs `serviceProvider`. */
  encryptedAssertions: z.boolean().default(false),
  /** Whether answers are taken for which nobody asked. */
  idpInitiated: z.boolean().default(false),
  /** The attribute that stands for a person and never changes; else the NameID. */
  subject: claim.optional(),
  attributes: z.strictObject(mapping).default({}),
  nameIdFormat: z.string().min(1).optional(),
});

const standard = z.strictObject({ ...common, domains: z.array(domain).max(200).default([]) }).partial();

const schema = z.strictObject({
  /** Foyer's own key as a SAML service provider: PEM files. */
  serviceProvider: z.strictObject({ privateKey: path, certificate: path }).optional(),
  google: standard.optional(),
  facebook: standard.optional(),
  amazon: standard.optional(),
  providers: z
    .array(z.discriminatedUnion('kind', [oidc, saml], 'kind is oidc or saml'))
    .max(100, 'name at most 100')
    .default([]),
});

type Raw = z.infer<typeof schema>;
type Read<T> = Omit<T, 'logo'> & { /** A data: address. */ logo: string | undefined };
export type OidcProviderConfig = Read<z.infer<typeof oidc>>;
export type SamlProviderConfig = Read<z.infer<typeof saml>>;
export type StandardProviderConfig = z.infer<typeof standard>;

/** The file with everything that it names: certificates, keys and logos are their contents. */
export interface ProvidersFile {
  serviceProvider: { privateKey: string; certificate: string } | undefined;
  google: StandardProviderConfig;
  facebook: StandardProviderConfig;
  amazon: StandardProviderConfig;
  providers: (OidcProviderConfig | SamlProviderConfig)[];
}

export const noProviders: ProvidersFile = {
  serviceProvider: undefined,
  google: {},
  facebook: {},
  amazon: {},
  providers: [],
};

/** Every fault of the file at once. */
export class ProvidersFileError extends Error {
  override name = 'ProvidersFileError';
  readonly faults: readonly string[];
  constructor(file: string, faults: readonly string[]) {
    super(
      `The providers in ${file} have ${faults.length === 1 ? 'a fault' : `${faults.length} faults`}:\n${faults.map((f) => `  - ${f}`).join('\n')}`,
    );
    this.faults = faults;
  }
}

/** What must be one of a kind, and what needs something else. */
function contradictions(raw: Raw, environment: NodeJS.ProcessEnv): string[] {
  const { providers, serviceProvider } = raw;
  const faults: string[] = [];
  const unique = (what: string, values: readonly string[]) => {
    const twice = new Set(values.filter((value, index) => values.indexOf(value) !== index));
    for (const value of twice) faults.push(`providers: ${what} ${value} stands there twice`);
  };
  unique(
    'id',
    providers.map(({ id }) => id),
  );
  unique(
    'issuer',
    providers.flatMap((provider) => (provider.kind === 'oidc' ? [provider.issuer] : [])),
  );
  unique(
    'entityId',
    providers.flatMap((provider) => (provider.kind === 'saml' ? [provider.entityId] : [])),
  );
  const standards = [raw.google, raw.facebook, raw.amazon].flatMap((one) => one?.domains ?? []);
  unique('domain', [...standards, ...providers.flatMap(({ domains }) => domains)]);
  providers.forEach((provider, index) => {
    const at = `providers.${index}`;
    if (provider.kind === 'saml' && serviceProvider === undefined) {
      if (provider.signRequests) faults.push(`${at}.signRequests: needs serviceProvider with a key and a certificate`);
      if (provider.encryptedAssertions)
        faults.push(`${at}.encryptedAssertions: needs serviceProvider with a key and a certificate`);
      if (provider.logoutUrl !== undefined)
        faults.push(`${at}.logoutUrl: needs serviceProvider with a key and a certificate, as logouts are signed`);
    }
    if (provider.kind === 'oidc' && provider.clientSecretVariable !== undefined) {
      if (!environment[provider.clientSecretVariable])
        faults.push(`${at}.clientSecretVariable: ${provider.clientSecretVariable} is not set`);
    }
    if (environment.NODE_ENV === 'production') {
      for (const [name, value] of Object.entries(provider)) {
        if (typeof value === 'string' && value.startsWith('http://'))
          faults.push(`${at}.${name}: must begin with https:// in production`);
      }
    }
  });
  return faults;
}

const mostLogoBytes = 20_000;
const logoTypes: Record<string, string> = { '.svg': 'image/svg+xml', '.png': 'image/png' };

/**
 * Checks the text of the file and reads the files that it names.
 * @param environment for what it takes from there
 * @throws {ProvidersFileError}
 */
export function parseProviders(text: string, file: string, environment: NodeJS.ProcessEnv): ProvidersFile {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new ProvidersFileError(file, [`is no JSON: ${(error as Error).message}`]);
  }
  const parsed = schema.safeParse(json);
  if (!parsed.success) {
    throw new ProvidersFileError(
      file,
      parsed.error.issues.map(({ path: at, message }) => `${at.join('.') || 'the file'}: ${message}`),
    );
  }
  const faults = contradictions(parsed.data, environment);
  const read = (at: string, name: string): Buffer => {
    try {
      return readFileSync(resolve(dirname(file), name));
    } catch (error) {
      faults.push(`${at}: ${name} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'error'})`);
      return Buffer.alloc(0);
    }
  };
  const pem = (at: string, name: string, kind: RegExp, what: string): string => {
    const content = read(at, name).toString('utf8').trim();
    if (content !== '' && !kind.test(content)) faults.push(`${at}: ${name} is no ${what} in PEM format`);
    return content;
  };
  const certificate = (at: string, name: string) => pem(at, name, /-----BEGIN CERTIFICATE-----/, 'certificate');
  const logo = (at: string, name: string | undefined): string | undefined => {
    if (name === undefined) return undefined;
    const type = logoTypes[extname(name).toLowerCase()];
    if (type === undefined) {
      faults.push(`${at}: ${name} is no SVG or PNG file`);
      return undefined;
    }
    const content = read(at, name);
    if (content.length > mostLogoBytes) faults.push(`${at}: ${name} has more than ${mostLogoBytes} bytes`);
    return `data:${type};base64,${content.toString('base64')}`;
  };
  const { serviceProvider, google = {}, facebook = {}, amazon = {}, providers } = parsed.data;
  const whole: ProvidersFile = {
    serviceProvider: serviceProvider && {
      privateKey: pem(
        'serviceProvider.privateKey',
        serviceProvider.privateKey,
        /-----BEGIN (RSA )?PRIVATE KEY-----/,
        'private key',
      ),
      certificate: certificate('serviceProvider.certificate', serviceProvider.certificate),
    },
    google,
    facebook,
    amazon,
    providers: providers.map((provider, index) => {
      const at = `providers.${index}`;
      const shown = { logo: logo(`${at}.logo`, provider.logo) };
      if (provider.kind === 'saml') {
        const certificates = provider.certificates.map((name) => certificate(`${at}.certificates`, name));
        return { ...provider, ...shown, certificates };
      }
      const { clientSecretVariable: variable, clientSecret } = provider;
      const secret = variable === undefined ? clientSecret : environment[variable];
      return { ...provider, ...shown, clientSecret: secret };
    }),
  };
  if (faults.length > 0) throw new ProvidersFileError(file, faults);
  return whole;
}

/** @param file undefined: there are none but Google, Facebook and Amazon. @throws {ProvidersFileError} */
export function loadProviders(file: string | undefined, environment: NodeJS.ProcessEnv): ProvidersFile {
  if (file === undefined) return noProviders;
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new ProvidersFileError(file, [`cannot be read: ${(error as Error).message}`]);
  }
  return parseProviders(text, file, environment);
}
