import { z } from 'zod';
import { byStandardKind, standardKinds } from './standard-providers.ts';

/** The schema of the file of providers (providers.ts); docs/providers.md is its manual. */

const languages = ['en', 'de', 'fr', 'nl'] as const;
const words = z.string().trim().min(1, 'write some words').max(100, 'write at most 100 characters');
/** It is part of the addresses that are registered at the provider, so it must not change. */
const providerId = z.string().regex(/^[a-z0-9][a-z0-9-]{0,39}$/, 'write 1 to 40 lower-case letters, digits, or -');
const reserved = new Set<string>([...standardKinds, 'link']);
const secure = z.string().refine((value) => {
  const url = URL.parse(value);
  if (url === null || url.username !== '' || url.hash !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && ['127.0.0.1', 'localhost'].includes(url.hostname));
}, 'write an absolute address that begins with https:// (http:// only on this machine)');
const domain = z.string().regex(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/, 'write a domain in lower case, as in example.com');
const path = z.string().min(1, 'write the path of a file');

/** The common properties of all protocols. */
const common = {
  /** Whether it can create new users. */
  signUp: z.boolean().default(true),
  /**
   * `ask`: Foyer asks for its second factor as after a password. `sufficient`: the provider has checked one, so Foyer
   * does not (`amr` then has `mfa`). `required`: its users must have one at Foyer.
   */
  secondFactor: z.enum(['ask', 'sufficient', 'required'], 'write ask, sufficient or required').default('ask'),
};
const configured = {
  ...common,
  id: providerId.refine((id) => !reserved.has(id), 'is taken; write another').brand<'ProviderId'>(),
  /** Of the organization: "Acme". */
  name: words,
  /** The text of the button; by default "Continue with <name>". */
  label: z.strictObject(Object.fromEntries(languages.map((language) => [language, words.optional()]))).optional(),
  /** An SVG or PNG file; its path is relative to this file's folder. */
  logo: path.optional(),
  /** Typed addresses of these domains lead there (home realm discovery). */
  domains: z.array(domain).max(200, 'name at most 200').default([]),
  /**
   * The addresses that count as confirmed: `domains`, those of the domains above (OpenID Connect: if the provider also
   * sends `email_verified: true`); `trusted-domains`: the same, also if it sends no `email_verified`; `never`: each is
   * confirmed by a code.
   */
  verifiedEmails: z
    .enum(['domains', 'trusted-domains', 'never'], 'write domains, trusted-domains or never')
    .default('domains'),
};

const claim = z.string().min(1, 'write a name').max(200, 'write at most 200 characters');
const mapping = {
  email: claim.optional(),
  givenName: claim.optional(),
  familyName: claim.optional(),
  picture: claim.optional(),
};

export const clientAuthentications = ['basic', 'basic-raw', 'post', 'private_key_jwt'] as const;

export const oidc = z
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
    /**
     * The way to authenticate at the provider; by default the one that discovery names, and the others when it refuses
     * that. `basic-raw`: Basic without percent-encoding, which RFC 6749 demands and some providers do not decode.
     */
    clientAuthentication: z
      .enum(clientAuthentications, `write ${clientAuthentications.join(', ')}, or nothing`)
      .optional(),
    /** Foyer's key at this provider for `private_key_jwt`: a PEM or JWK file (RSA or P-256). */
    privateKey: path.optional(),
    /** Foyer's key for id tokens that this provider encrypts: a PEM or JWK file (RSA or P-256). */
    decryptionKey: path.optional(),
    /** Whether requests are pushed (RFC 9126); a provider whose discovery document demands it gets them so anyway. */
    pushedRequests: z.boolean().default(false),
    scope: z
      .string()
      .refine((value) => value.split(' ').includes('openid'), 'must contain openid')
      .default('openid profile email'),
    /** The mapping of claims; by default OpenID Connect's own. */
    claims: z.strictObject(mapping).default({}),
    /** Whether to read the provider's userinfo endpoint. */
    userinfo: z.boolean().default(true),
  })
  .refine((provider) => provider.clientSecret === undefined || provider.clientSecretVariable === undefined, {
    message: 'write clientSecret or clientSecretVariable, not both',
    path: ['clientSecretVariable'],
  })
  .refine((provider) => provider.clientAuthentication !== 'private_key_jwt' || provider.privateKey !== undefined, {
    message: 'private_key_jwt needs privateKey',
    path: ['clientAuthentication'],
  })
  .refine(
    ({ clientAuthentication: way, clientSecret, clientSecretVariable }) =>
      way === undefined || way === 'private_key_jwt' || (clientSecret ?? clientSecretVariable) !== undefined,
    { message: 'needs clientSecret or clientSecretVariable', path: ['clientAuthentication'] },
  );

export const saml = z.strictObject({
  kind: z.literal('saml'),
  ...configured,
  /** The identity provider's entity id. */
  entityId: z.string().min(1, 'write the entity id of the identity provider'),
  /** The address of requests. */
  ssoUrl: secure,
  /** How requests get there: in the address, or in a form that the browser posts. */
  requestBinding: z.enum(['redirect', 'post'], 'write redirect or post').default('redirect'),
  /** Where a typed address goes: `login_hint` beside the request, the request's Subject, or nowhere. */
  loginHint: z.enum(['query', 'subject', 'never'], 'write query, subject or never').default('query'),
  /** PEM files. Several while the identity provider replaces its own. */
  certificates: z.array(path).min(1, 'name at least one file').max(5, 'name at most 5'),
  /** The address of its metadata; `foyer provider check` compares. */
  metadataUrl: secure.optional(),
  /** `signed`: new certificates are taken over from there, if one of those in force has signed the metadata. */
  metadataRefresh: z.literal('signed', 'write signed').optional(),
  /** A PEM file: the certificate that signs the metadata, instead of those in force. */
  metadataCertificate: path.optional(),
  /** The address of its single logout (HTTP-Redirect binding); without it a logout here does not reach it. */
  logoutUrl: secure.optional(),
  /** Needs `serviceProvider`. By default as the metadata of `metadataUrl` want. */
  signRequests: z.boolean().optional(),
  /** Assertions must be encrypted. Needs `serviceProvider`. */
  encryptedAssertions: z.boolean().default(false),
  /** By how many seconds its clock may differ from Foyer's. */
  clockTolerance: z.number().int('write whole seconds').min(0).max(300, 'write at most 300').default(60),
  /** Accept unsolicited (IdP-initiated) responses. */
  idpInitiated: z.boolean().default(false),
  /** The attribute with a permanent subject; by default the NameID. */
  subject: claim.optional(),
  attributes: z.strictObject(mapping).default({}),
  /** The format that is asked for; by default the persistent one. */
  nameIdFormat: z.string().min(1).optional(),
  /** Formats besides the persistent one whose NameIDs this provider never reassigns. */
  permanentNameIdFormats: z.array(z.string().min(1)).max(5, 'name at most 5').default([]),
});

export const standard = z.strictObject({ ...common, domains: z.array(domain).max(200).default([]) }).partial();

export const provider = z.discriminatedUnion('kind', [oidc, saml], 'kind is oidc or saml');

export const schema = z.strictObject({
  /** Foyer's own key as a SAML service provider: PEM files. */
  serviceProvider: z.strictObject({ privateKey: path, certificate: path }).optional(),
  ...byStandardKind(() => standard.optional()),
  providers: z.array(provider).max(100, 'name at most 100').default([]),
});
