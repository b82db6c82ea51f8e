import { z } from 'zod';

/** What may stand in the file of providers (providers.ts); docs/providers.md is its manual. */

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

export const saml = z.strictObject({
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
  /** Formats beside the persistent one whose NameIDs this provider never gives to another person. */
  permanentNameIdFormats: z.array(z.string().min(1)).max(5, 'name at most 5').default([]),
});

export const standard = z.strictObject({ ...common, domains: z.array(domain).max(200).default([]) }).partial();

export const provider = z.discriminatedUnion('kind', [oidc, saml], 'kind is oidc or saml');

export const schema = z.strictObject({
  /** Foyer's own key as a SAML service provider: PEM files. */
  serviceProvider: z.strictObject({ privateKey: path, certificate: path }).optional(),
  google: standard.optional(),
  facebook: standard.optional(),
  amazon: standard.optional(),
  providers: z.array(provider).max(100, 'name at most 100').default([]),
});
