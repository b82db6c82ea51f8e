import type { Request, RequestHandler, Response } from 'express';
import type { AccountChooser } from './account-chooser.ts';
import type { Answer } from './answers.ts';
import { type createGrants, randomText } from './grants.ts';
import { sendFault } from './pages.ts';
import type { StandInKind } from './people.ts';

export interface Client {
  id: string;
  secret: string;
}

/** The common part of authorization endpoints (RFC 6749, section 4.1.1; RFC 7636, section 4.3). */
export interface AuthorizeSettings {
  kind: StandInKind;
  client: Client;
  accountChooser: AccountChooser;
  grants: ReturnType<typeof createGrants>;
  now(): number;
  newCode(): string;
  /** Besides `code` and `state`. */
  more?(grant: { scope: string }): Record<string, string>;
  /** The provider's errors for a refusal by the person, and for a failure. */
  errors: { refused: Record<string, string>; failed: Record<string, string> };
  /** Facebook's own. */
  fragment?: string;
}

const text = (req: Request, name: string): string | undefined => {
  const value = req.query[name];
  return typeof value === 'string' ? value : undefined;
};

/** Accepts redirect addresses as if registered: an app on this machine, with this provider's path. */
function isRegistered(address: string): boolean {
  const url = URL.parse(address);
  return (
    url !== null &&
    ['localhost', '127.0.0.1'].includes(url.hostname) &&
    url.hash === '' &&
    url.username === '' &&
    /^\/federation\/[a-z0-9-]+\/callback$/.test(url.pathname)
  );
}

/** The redirect address with the response. */
function returnAddress(redirectUri: string, params: Record<string, string | undefined>, fragment = ''): string {
  const url = new URL(redirectUri);
  for (const [name, value] of Object.entries(params)) if (value !== undefined) url.searchParams.set(name, value);
  return `${url.href}${fragment}`;
}

/** Lets the person choose an account, and redirects the browser with a code. */
export function authorize(settings: AuthorizeSettings): RequestHandler {
  const { kind, client, accountChooser, grants, now, newCode, more, errors, fragment } = settings;
  return async (req, res) => {
    const redirectUri = text(req, 'redirect_uri') ?? '';
    if (text(req, 'client_id') !== client.id)
      return sendFault(res, { title: 'Unknown app', text: 'No app with this client_id is registered here.' });
    if (!isRegistered(redirectUri))
      return sendFault(res, {
        title: 'Unknown redirect_uri',
        text: 'The address to return to is not registered for this app.',
      });
    const state = text(req, 'state');
    const scope = text(req, 'scope') ?? '';
    const back = (to: Response, params: Record<string, string | undefined>) =>
      to.redirect(302, returnAddress(redirectUri, params, fragment));
    if (text(req, 'response_type') !== 'code')
      return back(res, { error: 'unsupported_response_type', error_description: 'response_type must be code', state });
    const challenge = text(req, 'code_challenge');
    if (challenge !== undefined && text(req, 'code_challenge_method') !== 'S256')
      return back(res, { error: 'invalid_request', error_description: 'code_challenge_method must be S256', state });
    const nonce = text(req, 'nonce');
    const answer = (to: Response, { person, broken, idToken }: Answer) => {
      if (!person) return back(to, { ...errors.refused, state });
      if (broken === 'error') return back(to, { ...errors.failed, state });
      if (broken === 'no-code') return back(to, { state });
      const grant = { clientId: client.id, redirectUri, scope, nonce, challenge, person, broken, idToken, atMs: now() };
      const code = grants.issueCode(newCode(), grant);
      back(to, {
        ...more?.(grant),
        code: broken === 'wrong-code' ? newCode() : code,
        state: broken === 'wrong-state' ? randomText() : broken === 'no-state' ? undefined : state,
        ...(broken === 'wrong-iss' && { iss: 'https://somebody-else.example' }),
      });
    };
    await accountChooser.ask(req, res, { kind, app: new URL(redirectUri).host, hint: text(req, 'login_hint'), answer });
  };
}

/** RFC 6749, section 2.3.1: by Basic, or in the body. @returns undefined: the secret is missing or wrong */
export function authenticateClient(req: Request, client: Client): Client | undefined {
  const body = (req.body ?? {}) as Record<string, unknown>;
  const [scheme, credentials = ''] = (req.get('authorization') ?? '').split(' ');
  const decode = (part: string) => decodeURIComponent(part.replaceAll('+', ' '));
  let [id, secret] = [body.client_id, body.client_secret];
  if (scheme?.toLowerCase() === 'basic') {
    [id, secret] = Buffer.from(credentials, 'base64').toString('utf8').split(':').map(decode);
  }
  return id === client.id && secret === client.secret ? client : undefined;
}

/** The access token of a request: by header (RFC 6750, section 2.1), or in the address with `inQuery`. */
export function readBearerToken(req: Request, { inQuery = false } = {}): string {
  const [scheme, token = ''] = (req.get('authorization') ?? '').split(' ');
  if (scheme?.toLowerCase() === 'bearer') return token;
  return (inQuery ? text(req, 'access_token') : undefined) ?? '';
}
