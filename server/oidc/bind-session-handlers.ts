import type { Request, Response } from 'express';
import { type Continuation, continuationFrom, HttpError, readFormField, renderRedirectPage } from '../http/index.ts';
import { toAcr } from '../sessions/index.ts';
import { toClientId } from '../shared/index.ts';
import type { Handler, OauthDeps } from './deps.ts';
import { planRequiredUrl } from './plan-required-handlers.ts';
import { toExpiredError } from './restart-authorization.ts';

/** The next address, and the name of its owner. */
interface RedirectTarget {
  location: string;
  clientName?: string;
}

/** @throws {HttpError} requestExpired or otherBrowser, with the address of a new start if there is one */
export async function requireOwnedRequest(deps: OwnedRequestDeps, req: Request, id: string) {
  const found = await deps.requests.find(req, id);
  if (found.state === 'valid') return found.request;
  const clientId = typeof req.query.client_id === 'string' ? toClientId(req.query.client_id) : undefined;
  throw await toExpiredError(deps, req, found.state, { id, clientId });
}

type OwnedRequestDeps = Parameters<typeof toExpiredError>[0];

/** The parameters of the pending request, for the pages on its way. */
function continuationQuery(continuation: Continuation, id: string): string {
  const query = new URLSearchParams(continuation.search);
  query.set('authorization_code', id);
  return `?${query}`;
}

/**
 * Binds the signed-in session to the pending request. The posted data only identify the request: user, time and methods
 * come from the session's own record (`security.md`, rule 2). Tokens in the body, which the specification's callers
 * send, are ignored.
 */
async function bindSession(
  deps: OauthDeps,
  req: Request,
  res: Response,
  continuation: Continuation,
  id: string,
): Promise<RedirectTarget> {
  const member = await deps.sessions.getCurrentUser(req);
  const search = continuationQuery(continuation, id);
  const landing = `/${search}`;
  if (!member) return { location: landing };
  const request = await requireOwnedRequest(deps, req, id);
  const { step, address } = deps.nextRedirect(member.user, { ...continuation, authorization: id });
  if (step.kind !== 'authorization') return { location: address };
  // The user is already fixed at this prompt: a posted request must neither replace the user nor renew an old sign-in.
  if (request.interaction.prompt.name === 'consent') {
    return { location: `/consent?${new URLSearchParams({ authorization_code: id })}` };
  }
  if (!request.satisfiedBy(member.session)) return { location: landing };
  if (!deps.canAccessClient(request.client, member.user)) return { location: planRequiredUrl(search) };
  await deps.providerSessions.align(req, res, member.session);
  const { userId, authTimeMs, amr, remember } = member.session;
  const location = await deps.requests.answer(request, userId, {
    login: { accountId: userId, ts: Math.floor(authTimeMs / 1000), amr, acr: toAcr(amr), remember },
    ...(request.asksForAcr && { stepUp: true }),
  });
  return { location, clientName: request.clientName };
}

/** Gives a script the address of the new start as if it were the next step. */
function restartInstead(error: unknown): RedirectTarget {
  if (error instanceof HttpError && error.options.redirectTo !== undefined)
    return { location: error.options.redirectTo };
  throw error;
}

/** POST /storage: JSON is answered with `{status, data}`, a form with a page that redirects by itself. */
export function submitStorage(deps: OauthDeps): Handler {
  return async (req, res) => {
    const id = readFormField(req, 'authorization_code');
    if (id === '' || id.length > 100) throw new HttpError('badRequest', { detail: 'authorization_code is missing' });
    const way = await bindSession(deps, req, res, continuationFrom(req, deps.publicUrl), id).catch(restartInstead);
    if (req.is('application/json')) {
      res.json({ status: 200, data: { location: way.location } });
      return;
    }
    renderRedirectPage(deps.pages, req, res, way.location, way.clientName);
  };
}
