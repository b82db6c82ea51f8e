import type { Request, RequestHandler, Response } from 'express';
import { createElement } from 'react';
import { TermsPage } from '../../views/sign-in/terms-page.tsx';
import { type Continuation, continuationFrom, HttpError, readFormField, readQueryParam } from '../http/index.ts';
import { StoreUnavailable } from '../store/index.ts';
import { mustAcceptTerms, recordAcceptance } from '../users/index.ts';
import type { SignInDeps } from './deps.ts';
import { redirectToSignIn } from './require-sign-in.ts';

interface TermsOutcome {
  declined?: boolean;
  notice?: { kind: 'error' | 'success'; text: string };
  status?: number;
}

interface TermsPageState extends TermsOutcome {
  mode: 'read' | 'accept';
  search: string;
}

function renderTermsPage(
  { pages, legal, terms }: SignInDeps,
  req: Request,
  res: Response,
  { mode, search, ...args }: TermsPageState,
): void {
  const view: TermsOutcome | undefined = pages.shownAt(req, res, `/tos${search}`, args);
  if (!view) return;
  const { notice, declined = false, status = 200 } = view;
  const document = legal.terms(req.language);
  pages.send(
    req,
    res,
    status,
    (ctx) =>
      createElement(TermsPage, {
        ctx,
        mode,
        action: `/tos${search}`,
        document,
        version: terms,
        declined: declined && mode === 'accept',
        ...(notice && { notice }),
      }),
    { title: () => document.title, address: `/tos${search}` },
  );
}

/** Value in the address after terms were accepted without a continuation. */
const acceptedMark = 'accepted';

/** GET /tos: public to read; a user who has not accepted the current version is asked to. */
export function showTerms(deps: SignInDeps): RequestHandler {
  return async (req, res) => {
    const member = await deps.sessions.getCurrentUser(req);
    const mode = member && mustAcceptTerms(member.user, deps.terms) ? 'accept' : 'read';
    const { search } = continuationFrom(req, deps.publicUrl);
    const { t } = req;
    const accepted = member && mode === 'read' && readQueryParam(req, acceptedMark) !== undefined;
    renderTermsPage(deps, req, res, {
      mode,
      search,
      ...(accepted && { notice: { kind: 'success', text: t('terms.TERMS_OF_SERVICE_MESSAGE_ACCEPTED') } }),
    });
  };
}

/** The client app whose request waits: from the continuation, or from the page to which it leads. */
async function findWaitingClient(deps: SignInDeps, req: Request, { authorization, returnTo }: Continuation) {
  const id = authorization ?? (returnTo && new URL(returnTo).searchParams.get('authorization_code'));
  return id ? (await deps.findPendingAuthorization(req, id))?.clientId : undefined;
}

/** POST /tos: accepting continues, declining stays on the page. */
export function submitTerms(deps: SignInDeps): RequestHandler {
  return async (req, res) => {
    const continuation = continuationFrom(req, deps.publicUrl);
    const member = await deps.sessions.getCurrentUser(req);
    if (!member) return redirectToSignIn(req, res, deps.publicUrl);
    const { t, language: lang } = req;
    const say = (text: string, mode: TermsPageState['mode'], more: TermsOutcome) =>
      renderTermsPage(deps, req, res, { mode, search: continuation.search, notice: { kind: 'error', text }, ...more });
    const decision = readFormField(req, 'decision');
    if (decision === 'decline') {
      return say(
        t('terms.TERMS_OF_SERVICE_MESSAGE_DECLINE'),
        mustAcceptTerms(member.user, deps.terms) ? 'accept' : 'read',
        { declined: true },
      );
    }
    if (decision !== 'accept') throw new HttpError('badRequest', { detail: 'unknown form action' });
    // The version may have changed since the page was shown; users can only accept the version that they saw.
    if (readFormField(req, 'version') !== String(deps.terms.number)) {
      return renderTermsPage(deps, req, res, { mode: 'accept', search: continuation.search, status: 409 });
    }
    const { version, hash, lang: view } = { version: deps.terms, ...deps.legal.terms(lang) };
    const acceptance = {
      userId: member.user.id,
      version: version.number,
      label: version.label,
      lang: view,
      textHash: hash,
      ip: req.ip ?? null,
      userAgent: req.get('user-agent') ?? null,
      clientId: (await findWaitingClient(deps, req, continuation)) ?? null,
    };
    try {
      await deps.database.transaction((trx) => recordAcceptance(trx, acceptance, deps.now()));
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      deps.log.error({ err: error }, 'could not store the acceptance of the terms');
      return say(t('terms.TERMS_OF_SERVICE_MESSAGE_ERROR'), 'accept', { status: 503 });
    }
    if (continuation.authorization === undefined && continuation.returnTo === undefined) {
      return res.redirect(303, `/tos?${acceptedMark}=1`);
    }
    const accepted = { ...member.user, acceptedTosVersion: version.number };
    res.redirect(303, deps.nextRedirect(accepted, continuation).address);
  };
}
