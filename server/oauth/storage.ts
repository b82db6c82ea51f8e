import type { Request, Response } from 'express';
import { type Errand, errandOf, field, HttpError, sendGoingOnPage } from '../http/index.ts';
import { acrOf } from '../session/index.ts';
import { requestOver } from './begin-again.ts';
import type { Handler, OauthDeps } from './deps.ts';
import { notInPlanAddress } from './not-in-plan.ts';

/** Where the browser goes, and for whom it is. */
interface Way {
  location: string;
  clientName?: string;
}

/** @throws {HttpError} requestExpired or otherBrowser, with where it begins again if it can */
export async function ownRequest(deps: OwnRequestDeps, req: Request, id: string) {
  const found = await deps.requests.find(req, id);
  if (found.state === 'ours') return found.request;
  const clientId = typeof req.query.client_id === 'string' ? req.query.client_id : undefined;
  throw await requestOver(deps, req, found.state, { id, clientId });
}

type OwnRequestDeps = Parameters<typeof requestOver>[0];

/** The parameters of the request that waits, for the pages on its way. */
function searchOf(errand: Errand, id: string): string {
  const query = new URLSearchParams(errand.search);
  query.set('authorization_code', id);
  return `?${query}`;
}

/**
 * Binds the signed-in session to the pending request. Nothing that is posted decides anything but which request is meant:
 * who signed in, when and how comes from the session's own record (`security.md`, rule 2). Tokens in the body, which the
 * specification's callers send, are not looked at.
 */
async function bind(deps: OauthDeps, req: Request, res: Response, errand: Errand, id: string): Promise<Way> {
  const member = await deps.sessions.member(req);
  const search = searchOf(errand, id);
  const landing = `/${search}`;
  if (!member) return { location: landing };
  const request = await ownRequest(deps, req, id);
  const { step, address } = deps.wayOn(member.user, { ...errand, authorization: id });
  if (step.kind !== 'authorization') return { location: address };
  // Who has signed in is settled by then; a posted request must not swap the member, nor renew an old sign-in.
  if (request.interaction.prompt.name === 'consent') {
    return { location: `/consent?${new URLSearchParams({ authorization_code: id })}` };
  }
  if (!request.satisfiedBy(member.session)) return { location: landing };
  if (!deps.mayEnter(request.client, member.user)) return { location: notInPlanAddress(search) };
  await deps.providerSessions.align(req, res, member.session);
  const { userId, authTimeMs, amr, remember } = member.session;
  const location = await deps.requests.answer(request, userId, {
    login: { accountId: userId, ts: Math.floor(authTimeMs / 1000), amr, acr: acrOf(amr), remember },
    ...(request.asksForAcr && { stepUp: true }),
  });
  return { location, clientName: request.clientName };
}

/** A script is told where it goes on, as if nothing had happened. */
function beginAgainInstead(error: unknown): Way {
  if (error instanceof HttpError && error.options.instead !== undefined) return { location: error.options.instead };
  throw error;
}

/** POST /storage: JSON is answered with `{status, data}`, a form with a page that goes on by itself. */
export function storage(deps: OauthDeps): Handler {
  return async (req, res) => {
    const id = field(req, 'authorization_code');
    if (id === '' || id.length > 100) throw new HttpError('badRequest', { detail: 'authorization_code is missing' });
    const way = await bind(deps, req, res, errandOf(req, deps.publicUrl), id).catch(beginAgainInstead);
    if (req.is('application/json')) {
      res.json({ status: 200, data: { location: way.location } });
      return;
    }
    sendGoingOnPage(deps.pages, req, res, way.location, way.clientName);
  };
}
