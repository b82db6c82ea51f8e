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
import { assertionPath, logoutPath, metadataPath, requestPath, type StrategySettings } from '../providers.ts';
import type { ServiceKey } from './decryption.ts';
import { createRequestSigning, type RequestSigning } from './request-signing.ts';
import { addSha512Mgf1 } from './rsa-pss-sha512.ts';

/** Foyer as a service provider of one identity provider. */
export interface SamlService {
  config: SamlProviderConfig;
  /** Foyer's name there: the address of its metadata. */
  entityId: string;
  /** The address of responses. */
  acs: string;
  /** The address of the page that posts a request. */
  requestPage: string;
  /** The address of single logout; undefined: it is not configured. */
  logout: string | undefined;
  key: ServiceKey | undefined;
  signing: RequestSigning;
  now: () => number;
  /** By how much the provider's clock may differ. */
  toleranceMs: number;
  /** The instance in which the provider's strategy is registered under its id. */
  passport: Authenticator;
}

/** A request to the strategy. */
export interface SamlRequest extends StrategyRequest {
  body: Record<string, string>;
  headers: Record<string, string>;
  /** The options of the library for this one request. */
  saml: SamlConfig;
}

/** The part of a request that the strategy reads besides those of the library. */
type ReadRequest = Pick<Request, 'query'> & Partial<Pick<SamlRequest, 'saml'>>;

const signedOn: VerifyWithoutRequest = (profile, done) => done(null, profile ?? undefined);
/** logout.ts processes logouts. */
const signedOff: VerifyWithoutRequest = (_profile, done) => done(new Error('a logout where none belongs'));

addSha512Mgf1();

/** Takes its options from each request: `InResponseTo` is compared with the request of one attempt. */
class SamlStrategy extends MultiSamlStrategy {
  constructor() {
    const getSamlOptions: MultiStrategyConfig['getSamlOptions'] = (req: ReadRequest, done) =>
      req.saml ? done(null, req.saml) : done(new Error('a SAML request without options'));
    super({ getSamlOptions }, signedOn, signedOff);
  }
  /** `never`: the package has types of Express 4 and Passport of Express 5, and their requests differ. */
  override authenticate(req: never, options: Parameters<MultiSamlStrategy['authenticate']>[1]): void {
    super.authenticate(req, options);
  }
}

export function samlService(
  settings: StrategySettings,
  config: SamlProviderConfig,
  passport: Authenticator = createPassport(),
): SamlService {
  const { publicUrl, file, now } = settings;
  const { id } = config;
  passport.use(id, new SamlStrategy());
  return {
    config,
    entityId: publicUrl + metadataPath(id),
    acs: publicUrl + assertionPath(id),
    requestPage: publicUrl + requestPath(id),
    logout: config.logoutUrl === undefined ? undefined : publicUrl + logoutPath(id),
    key: file.serviceProvider,
    signing: createRequestSigning(config, settings),
    now,
    toleranceMs: config.clockTolerance * 1_000,
    passport,
  };
}

/** A valid XML id: it does not start with a digit. */
export const newMessageId = () => `_${randomBytes(20).toString('hex')}`;

/** The only request that a run of the library knows. */
export interface AuthnRequestRecord {
  id: string;
  begunAtMs: number;
}

/**
 * The library's options for one run. Its defaults would accept SHA-1 and responses to any request or none, and would
 * demand a password as the method.
 * @param request undefined: the response is unsolicited
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
    // A demand for a password would refuse users who authenticate with a key or a card.
    disableRequestedAuthnContext: true,
    wantAssertionsSigned: true,
    // Many providers sign only the assertion, and only that is read.
    wantAuthnResponseSigned: false,
    // Foyer checks times itself (assertion.ts), more strictly than the library except for this.
    acceptedClockSkewMs: -1,
    requestIdExpirationPeriodMs: attemptMs,
    generateUniqueId: () => request?.id ?? newMessageId(),
    ...(request
      ? { validateInResponseTo: ValidateInResponseTo.always, cacheProvider: onlyRequest(request) }
      : { validateInResponseTo: ValidateInResponseTo.never }),
  };
}

/** Replaces a shared list of all requests: a response must belong to this one, which its attempt keeps. */
function onlyRequest({ id, begunAtMs }: AuthnRequestRecord): NonNullable<SamlConfig['cacheProvider']> {
  const instant = new Date(begunAtMs).toISOString();
  return {
    saveAsync: async (_key, value) => ({ value, createdAt: begunAtMs }),
    getAsync: async (key) => (key === id ? instant : null),
    // The attempt uses it up.
    removeAsync: async (key) => key,
  };
}
