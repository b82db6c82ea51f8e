import { readFileSync } from 'node:fs';
import { dirname, extname, resolve } from 'node:path';
import type { z } from 'zod';
import { findPairFault, findPemFault, type PemKind } from './pem-files.ts';
import { readPrivateKey } from './private-keys.ts';
import { type oidc, provider, type saml, schema, type standard } from './provider-rules.ts';
import { byStandardKind, type StandardKind, standardKinds } from './standard-providers.ts';
import { NotUtf8Error, readUtf8File } from './text-file.ts';

/**
 * The providers besides the standard ones, and settings for the standard ones: a JSON file, read once at the start.
 * docs/providers.md is its manual.
 */

type Raw = z.infer<typeof schema>;
type RawProvider = Raw['providers'][number];
/** The readable part of the file: a provider with a fault is undefined in its place. */
type Readable = Omit<Raw, 'providers'> & { providers: (RawProvider | undefined)[] };

/** The valid parts of a file with faults, so that inconsistencies between them are reported too. */
function readable(json: unknown): Readable {
  const parts: Record<string, unknown> = typeof json === 'object' && json !== null ? { ...json } : {};
  const part = <T>(rules: z.ZodType<T>, name: string): T | undefined => rules.safeParse(parts[name]).data;
  return {
    ...byStandardKind((kind) => part(schema.shape[kind], kind)),
    serviceProvider: part(schema.shape.serviceProvider, 'serviceProvider'),
    providers: Array.isArray(parts.providers) ? parts.providers.map((one) => provider.safeParse(one).data) : [],
  };
}
type Read<T> = Omit<T, 'logo'> & { /** A data: address. */ logo: string | undefined };
export type OidcProviderConfig = Read<z.infer<typeof oidc>>;
export type SamlProviderConfig = Read<z.infer<typeof saml>>;
type StandardProviderConfig = z.infer<typeof standard>;

/** The file with the contents of all that it names: certificates, keys and logos. */
export interface ProvidersFile extends Record<StandardKind, StandardProviderConfig> {
  serviceProvider: { privateKey: string; certificate: string } | undefined;
  providers: (OidcProviderConfig | SamlProviderConfig)[];
}

export const noProviders: ProvidersFile = {
  serviceProvider: undefined,
  ...byStandardKind(() => ({})),
  providers: [],
};

/** Every fault of the file together. */
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

/** The fields that are fetched or visited. Entity ids and names of claims may look like addresses, but are names. */
const addressesIn = (provider: RawProvider): Record<string, string | undefined> =>
  provider.kind === 'oidc'
    ? { issuer: provider.issuer }
    : { ssoUrl: provider.ssoUrl, logoutUrl: provider.logoutUrl, metadataUrl: provider.metadataUrl };

/** The settings of metadata need each other. */
function metadataFaults({
  metadataUrl,
  metadataRefresh,
  metadataCertificate,
}: Extract<RawProvider, { kind: 'saml' }>): string[] {
  if (metadataRefresh !== undefined && metadataUrl === undefined) return ['metadataRefresh: needs metadataUrl'];
  if (metadataCertificate !== undefined && metadataRefresh === undefined)
    return ['metadataCertificate: needs metadataRefresh'];
  return [];
}

/**
 * Checks uniqueness and references.
 * @param hasKey whether the file names a key of Foyer's own, valid or not
 */
function contradictions(raw: Readable, hasKey: boolean, environment: NodeJS.ProcessEnv): string[] {
  const providers = raw.providers.filter((one) => one !== undefined);
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
  // The assertion for one provider must be worthless at another.
  unique(
    'privateKey',
    providers.flatMap((one) => (one.kind === 'oidc' && one.privateKey !== undefined ? [one.privateKey] : [])),
  );
  const standards = standardKinds.flatMap((kind) => raw[kind]?.domains ?? []);
  unique('domain', [...standards, ...providers.flatMap(({ domains }) => domains)]);
  raw.providers.forEach((provider, index) => {
    if (provider === undefined) return;
    const at = `providers.${index}`;
    if (provider.kind === 'saml' && !hasKey) {
      if (provider.signRequests) faults.push(`${at}.signRequests: needs serviceProvider with a key and a certificate`);
      if (provider.encryptedAssertions)
        faults.push(`${at}.encryptedAssertions: needs serviceProvider with a key and a certificate`);
      if (provider.logoutUrl !== undefined)
        faults.push(`${at}.logoutUrl: needs serviceProvider with a key and a certificate, as logouts are signed`);
    }
    if (provider.kind === 'saml') faults.push(...metadataFaults(provider).map((fault) => `${at}.${fault}`));
    if (provider.kind === 'oidc' && provider.clientSecretVariable !== undefined) {
      if (!environment[provider.clientSecretVariable])
        faults.push(`${at}.clientSecretVariable: ${provider.clientSecretVariable} is not set`);
    }
    if (environment.NODE_ENV === 'production') {
      for (const [name, value] of Object.entries(addressesIn(provider))) {
        if (value?.startsWith('http://')) faults.push(`${at}.${name}: must begin with https:// in production`);
      }
    }
  });
  return faults;
}

/**
 * A persistent NameID is the only one that never passes to another person (SAML 2.0 Core, section 8.3.7), so it is asked
 * for unless the entry names something else that does not.
 */
const requestedFormat = ({ nameIdFormat, subject, permanentNameIdFormats }: z.infer<typeof saml>): string | undefined =>
  nameIdFormat ??
  (subject === undefined && permanentNameIdFormats.length === 0
    ? 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent'
    : undefined);

const maxLogoBytes = 20_000;
const logoTypes: Record<string, string> = { '.svg': 'image/svg+xml', '.png': 'image/png' };

/**
 * Checks the text of the file and reads the files that it names.
 * @param environment for its references to variables
 * @throws {ProvidersFileError}
 */
export function parseProviders(text: string, file: string, environment: NodeJS.ProcessEnv): ProvidersFile {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new ProvidersFileError(file, [`it is no JSON: ${Reflect.get(Object(error), 'message')}`]);
  }
  const parsed = schema.safeParse(json);
  const raw: Readable = parsed.data ?? readable(json);
  const issues = parsed.error?.issues ?? [];
  const faults = issues.map(({ path: at, message }) => `${at.join('.') || 'the file'}: ${message}`);
  const hasKey = raw.serviceProvider !== undefined || issues.some(({ path: [part] }) => part === 'serviceProvider');
  faults.push(...contradictions(raw, hasKey, environment));
  const read = (at: string, name: string): Buffer => {
    try {
      return readFileSync(resolve(dirname(file), name));
    } catch (error) {
      faults.push(`${at}: ${name} cannot be read (${Reflect.get(Object(error), 'code') ?? 'error'})`);
      return Buffer.alloc(0);
    }
  };
  const pem = (at: string, name: string, kind: PemKind): string => {
    const content = read(at, name).toString('utf8').trim();
    const fault = content === '' ? undefined : findPemFault(content, kind);
    if (fault !== undefined) faults.push(`${at}: ${name} ${fault}`);
    return content;
  };
  const privateKey = (at: string, name: string | undefined): string | undefined => {
    if (name === undefined) return undefined;
    const content = read(at, name).toString('utf8').trim();
    if (content !== '' && readPrivateKey(content) === undefined)
      faults.push(`${at}: ${name} is no private key in PEM or JWK format, of RSA (2048 bits or more) or P-256`);
    return content;
  };
  const logo = (at: string, name: string | undefined): string | undefined => {
    if (name === undefined) return undefined;
    const type = logoTypes[extname(name).toLowerCase()];
    if (type === undefined) {
      faults.push(`${at}: ${name} is no SVG or PNG file`);
      return undefined;
    }
    const content = read(at, name);
    if (content.length > maxLogoBytes) faults.push(`${at}: ${name} has more than ${maxLogoBytes} bytes`);
    return `data:${type};base64,${content.toString('base64')}`;
  };
  const { serviceProvider, providers } = raw;
  const whole: ProvidersFile = {
    serviceProvider: serviceProvider && {
      privateKey: pem('serviceProvider.privateKey', serviceProvider.privateKey, 'privateKey'),
      certificate: pem('serviceProvider.certificate', serviceProvider.certificate, 'certificate'),
    },
    ...byStandardKind((kind) => raw[kind] ?? {}),
    providers: providers.flatMap((provider, index) => {
      if (provider === undefined) return [];
      const at = `providers.${index}`;
      const view = { logo: logo(`${at}.logo`, provider.logo) };
      if (provider.kind === 'saml') {
        const certificates = provider.certificates.map((name) => pem(`${at}.certificates`, name, 'certificate'));
        const anchor = provider.metadataCertificate;
        const metadataCertificate =
          anchor === undefined ? undefined : pem(`${at}.metadataCertificate`, anchor, 'certificate');
        return { ...provider, ...view, nameIdFormat: requestedFormat(provider), certificates, metadataCertificate };
      }
      const { clientSecretVariable: variable, clientSecret } = provider;
      const secret = variable === undefined ? clientSecret : environment[variable];
      const key = privateKey(`${at}.privateKey`, provider.privateKey);
      const decryptionKey = privateKey(`${at}.decryptionKey`, provider.decryptionKey);
      return { ...provider, ...view, clientSecret: secret, privateKey: key, decryptionKey };
    }),
  };
  const pair = faults.length > 0 ? undefined : whole.serviceProvider && findPairFault(whole.serviceProvider);
  if (pair !== undefined) faults.push(`serviceProvider.${pair}`);
  if (faults.length > 0) throw new ProvidersFileError(file, faults);
  return whole;
}

/** @param file undefined: only the standard providers. @throws {ProvidersFileError} */
export function loadProviders(file: string | undefined, environment: NodeJS.ProcessEnv): ProvidersFile {
  if (file === undefined) return noProviders;
  let text: string;
  try {
    text = readUtf8File(file);
  } catch (error) {
    if (error instanceof NotUtf8Error) throw new ProvidersFileError(file, [`it ${error.message}`]);
    throw new ProvidersFileError(file, [`it cannot be read: ${Reflect.get(Object(error), 'message')}`]);
  }
  return parseProviders(text, file, environment);
}
