import { randomBytes } from 'node:crypto';
import type { SamlConfig } from '@node-saml/passport-saml';
import type { SamlProviderConfig } from '../../../config/providers.ts';
import { attemptMs } from '../attempts.ts';
import { assertionPath, logoutPath, metadataPath, type StrategySettings } from '../providers.ts';

/** Foyer as a service provider towards one identity provider. */
export interface SamlService {
  config: SamlProviderConfig;
  /** Our own name there: the address of our metadata. */
  entityId: string;
  /** Where answers are posted. */
  acs: string;
  /** Where single logout reaches us; undefined: it is not configured. */
  logout: string | undefined;
  key: { privateKey: string; certificate: string } | undefined;
  now: () => number;
}

export function samlService({ publicUrl, file, now }: StrategySettings, config: SamlProviderConfig): SamlService {
  const { id } = config;
  return {
    config,
    entityId: publicUrl + metadataPath(id),
    acs: publicUrl + assertionPath(id),
    logout: config.logoutUrl === undefined ? undefined : publicUrl + logoutPath(id),
    key: file.serviceProvider,
    now,
  };
}

/** An id as XML wants it: it does not begin with a digit. */
export const newMessageId = () => `_${randomBytes(20).toString('hex')}`;

/** The one request that a run of the library knows of. */
export interface KnownRequest {
  id: string;
  begunAtMs: number;
}

/**
 * How the library is set for one run. Its own defaults would take SHA-1, answers to any request or to none, and ask for a
 * password and nothing better.
 * @param request undefined: nobody asked
 */
export function libraryOptions(service: SamlService, request: KnownRequest | undefined, sign: boolean): SamlConfig {
  const { config, entityId, acs, key } = service;
  return {
    entryPoint: config.ssoUrl,
    logoutUrl: config.logoutUrl ?? '',
    issuer: entityId,
    audience: entityId,
    callbackUrl: acs,
    idpIssuer: config.entityId,
    idpCert: config.certificates,
    ...(sign && key && { privateKey: key.privateKey }),
    ...(config.encryptedAssertions && key && { decryptionPvk: key.privateKey }),
    signatureAlgorithm: 'sha256',
    digestAlgorithm: 'sha256',
    identifierFormat: config.nameIdFormat ?? null,
    // Whoever asks for a password refuses those who came with a key or a card.
    disableRequestedAuthnContext: true,
    wantAssertionsSigned: true,
    // Many sign the assertion alone, which is all that is read.
    wantAuthnResponseSigned: false,
    // Times are judged by the house's own clock (assertion.ts), which is stricter than the library in all but this.
    acceptedClockSkewMs: -1,
    requestIdExpirationPeriodMs: attemptMs,
    generateUniqueId: () => request?.id ?? newMessageId(),
    ...(request
      ? { validateInResponseTo: 'always' as never, cacheProvider: onlyRequest(request) }
      : { validateInResponseTo: 'never' as never }),
  };
}

/** In place of a list of all requests of everybody: an answer is to this one, which its attempt keeps. */
function onlyRequest({ id, begunAtMs }: KnownRequest): NonNullable<SamlConfig['cacheProvider']> {
  const instant = new Date(begunAtMs).toISOString();
  return {
    saveAsync: async (_key, value) => ({ value, createdAt: begunAtMs }),
    getAsync: async (key) => (key === id ? instant : null),
    // Used up by its attempt.
    removeAsync: async (key) => key,
  };
}
