import { randomBytes } from 'node:crypto';
import {
  MultiSamlStrategy,
  type MultiStrategyConfig,
  type SamlConfig,
  ValidateInResponseTo,
  type VerifyWithoutRequest,
} from '@node-saml/passport-saml';
import type { Request } from 'express';
import type { SamlProviderConfig } from '../../../config/providers.ts';
import { attemptMs } from '../attempts.ts';
import { type Authenticator, createPassport, type StrategyRequest } from '../providers/passport.ts';
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
  /** In which the provider's strategy is registered under its id. */
  passport: Authenticator;
}

/** A request to the strategy. */
export interface SamlRequest extends StrategyRequest {
  body: Record<string, string>;
  headers: Record<string, string>;
  /** The options of the library for this one request. */
  saml: SamlConfig;
}

/** The part of a request that the strategy reads beside those of the library. */
type ReadRequest = Pick<Request, 'query'> & Partial<Pick<SamlRequest, 'saml'>>;

const signedOn: VerifyWithoutRequest = (profile, done) => done(null, profile ?? undefined);
/** Logouts go another way (logout.ts). */
const signedOff: VerifyWithoutRequest = (_profile, done) => done(new Error('a logout where none belongs'));

/** Takes its options from each request: `InResponseTo` is compared with the request of one attempt. */
class SamlStrategy extends MultiSamlStrategy {
  constructor() {
    const getSamlOptions: MultiStrategyConfig['getSamlOptions'] = (req: ReadRequest, done) =>
      req.saml ? done(null, req.saml) : done(new Error('a SAML request without options'));
    super({ getSamlOptions }, signedOn, signedOff);
  }
  /** `never`: the package's types are of Express 4, Passport's of Express 5, and both requests differ. */
  override authenticate(req: never, options: Parameters<MultiSamlStrategy['authenticate']>[1]): void {
    super.authenticate(req, options);
  }
}

export function samlService(
  { publicUrl, file, now }: StrategySettings,
  config: SamlProviderConfig,
  passport: Authenticator = createPassport(),
): SamlService {
  const { id } = config;
  passport.use(id, new SamlStrategy());
  return {
    config,
    entityId: publicUrl + metadataPath(id),
    acs: publicUrl + assertionPath(id),
    logout: config.logoutUrl === undefined ? undefined : publicUrl + logoutPath(id),
    key: file.serviceProvider,
    now,
    passport,
  };
}

/** An id as XML wants it: it does not begin with a digit. */
export const newMessageId = () => `_${randomBytes(20).toString('hex')}`;

/** The one request that a run of the library knows of. */
export interface AuthnRequestRecord {
  id: string;
  begunAtMs: number;
}

/**
 * How the library is set for one run. Its own defaults would take SHA-1, answers to any request or to none, and ask for a
 * password and nothing better.
 * @param request undefined: nobody asked
 */
export function samlOptions(service: SamlService, request: AuthnRequestRecord | undefined, sign: boolean): SamlConfig {
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
      ? { validateInResponseTo: ValidateInResponseTo.always, cacheProvider: onlyRequest(request) }
      : { validateInResponseTo: ValidateInResponseTo.never }),
  };
}

/** In place of a list of all requests of everybody: an answer is to this one, which its attempt keeps. */
function onlyRequest({ id, begunAtMs }: AuthnRequestRecord): NonNullable<SamlConfig['cacheProvider']> {
  const instant = new Date(begunAtMs).toISOString();
  return {
    saveAsync: async (_key, value) => ({ value, createdAt: begunAtMs }),
    getAsync: async (key) => (key === id ? instant : null),
    // Used up by its attempt.
    removeAsync: async (key) => key,
  };
}
