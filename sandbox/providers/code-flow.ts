import express, { type Express, type Request, type RequestHandler } from 'express';
import { type StandardKind, type StandardProvider, standardProviders } from '../../config/standard-providers.ts';
import { type AuthorizeSettings, authenticateClient, authorize, readBearerToken } from './authorize.ts';
import { sendBrokenAnswer } from './broken-answer.ts';
import { createGrants, type Grant, type RedemptionResult, randomText } from './grants.ts';
import { type Person, toFullName, toSubject } from './people.ts';
import type { StandIn, StandInSettings } from './settings.ts';

/** The reason for which a token endpoint refuses a request. */
type TokenRefusal = 'client' | 'grant-type' | 'planned' | Extract<RedemptionResult, string>;

/** The answers in which a provider differs from the plain form of OAuth 2.0. */
interface OwnAnswers {
  /** Other addresses of the same endpoints. */
  otherPaths?: Partial<Record<'token' | 'profile', readonly string[]>>;
  newCode?(): string;
  newToken?(): string;
  /** Besides `code` and `state`. */
  more?: AuthorizeSettings['more'];
  errors?: AuthorizeSettings['errors'];
  /** The headers of the token endpoint. */
  tokenHeaders?(): Record<string, string>;
  toTokenError?(refusal: TokenRefusal, grantType: unknown): object;
  toTokens?(accessToken: string, grant: Grant, settings: StandInSettings): object | Promise<object>;
  readToken?(req: Request): string;
  profileError?(): { status: number; body: object };
  toProfile?(grant: Grant): object;
}

const errorWords: Partial<Record<TokenRefusal, string>> = {
  client: 'invalid_client',
  'grant-type': 'unsupported_grant_type',
};

/** RFC 6749, section 4.1.2.1. */
const toPlainErrors = ({ name, errors: { cancelled } }: StandardProvider): AuthorizeSettings['errors'] => ({
  refused: { error: String(cancelled[0] ?? 'access_denied') },
  failed: { error: 'server_error', error_description: `Something went wrong at ${name}.` },
});

/** RFC 6749, section 5.2. */
const toPlainError = (refusal: TokenRefusal) => ({ error: errorWords[refusal] ?? 'invalid_grant' });

/** The members that the provider's entry names, each with the person's value. */
function toPlainProfile(kind: StandardKind, person: Person): object {
  const { claims, emailVerification }: StandardProvider = standardProviders[kind];
  const values: [name: string | undefined, value: unknown][] = [
    [claims.subject, toSubject(kind, person)],
    [claims.name, toFullName(person)],
    [claims.givenName, person.givenName],
    [claims.familyName, person.familyName],
    [claims.picture, person.picture],
    [claims.email, person.email],
    [
      'claim' in emailVerification ? emailVerification.claim : undefined,
      person.email === undefined ? undefined : person.emailVerified,
    ],
  ];
  return Object.fromEntries(values.filter(([name, value]) => name !== undefined && value !== undefined));
}

interface Context {
  kind: StandardKind;
  own: OwnAnswers;
  settings: StandInSettings;
  grants: ReturnType<typeof createGrants>;
}

/** RFC 6749, section 4.1.3. */
function answerToken({ kind, own, settings, grants }: Context): RequestHandler {
  const { toTokenError = toPlainError, newToken = randomText } = own;
  const client = settings.clients[kind];
  return async (req, res) => {
    const { code = '', redirect_uri: redirectUri = '', code_verifier: verifier = '', grant_type } = req.body ?? {};
    res.set(own.tokenHeaders?.() ?? {});
    const refuse = (refusal: TokenRefusal) => {
      res.status(refusal === 'client' ? 401 : 400).json(toTokenError(refusal, grant_type));
    };
    if (!authenticateClient(req, client)) return refuse('client');
    if (grant_type !== 'authorization_code') return refuse('grant-type');
    const grant = grants.redeem({ code, clientId: client.id, redirectUri, verifier });
    if (typeof grant === 'string') return refuse(grant);
    if (grant.broken === 'token-error') return refuse('planned');
    if (sendBrokenAnswer(res, 'token', grant.broken)) return;
    const token = grants.issueToken(newToken(), grant);
    const plain = { access_token: token, token_type: 'Bearer', expires_in: 3_600, scope: grant.scope };
    res.json(own.toTokens ? await own.toTokens(token, grant, settings) : plain);
  };
}

function answerProfile({ kind, own, grants }: Context): RequestHandler {
  const readToken = own.readToken ?? ((req: Request) => readBearerToken(req));
  return (req, res) => {
    const grant = grants.byToken(readToken(req));
    if (!grant || grant.broken === 'profile-error') {
      const { status, body } = own.profileError?.() ?? { status: 401, body: { error: 'invalid_token' } };
      res.status(status).json(body);
      return;
    }
    if (sendBrokenAnswer(res, 'profile', grant.broken)) return;
    res.json(own.toProfile?.(grant) ?? toPlainProfile(kind, grant.person));
  };
}

/** The stand-in of a provider of OAuth 2.0 whose profile is one JSON object, at the paths of its entry. */
export function codeFlow(kind: StandardKind, own: OwnAnswers = {}): StandIn {
  const provider: StandardProvider = standardProviders[kind];
  const { endpoints } = provider;
  const pathsAt = (endpoint: 'token' | 'profile') => [
    new URL(endpoints[endpoint]).pathname,
    ...(own.otherPaths?.[endpoint] ?? []),
  ];
  const authorization = new URL(endpoints.authorization).pathname;
  const [token, profile] = [pathsAt('token'), pathsAt('profile')];
  return {
    paths: [authorization, ...token, ...profile],
    mount(app: Express, settings) {
      const { clients, accountChooser, now } = settings;
      const grants = createGrants(now);
      const { newCode = randomText, more, errors = toPlainErrors(provider) } = own;
      app.get(
        authorization,
        authorize({ kind, client: clients[kind], accountChooser, grants, now, newCode, errors, ...(more && { more }) }),
      );
      const context = { kind, own, settings, grants };
      app.post(token, express.urlencoded({ extended: false }), answerToken(context));
      app.get(profile, answerProfile(context));
    },
  };
}
