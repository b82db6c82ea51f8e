import { TermsPage } from '../../views/sign-in/terms-page.tsx';
import { AddressWithNotice, type ArrivalName, HttpError, type RequestContext } from '../http/index.ts';
import type { ClientId } from '../shared/index.ts';
import { StoreUnavailable } from '../store/index.ts';
import { mustAcceptTerms, recordAcceptance, type User } from '../users/index.ts';
import type { SignInDeps } from './deps.ts';
import { redirectToSignIn } from './require-user.ts';

interface TermsOutcome {
  declined?: boolean;
  notice?: { kind: 'error' | 'success'; text: string };
  status?: number;
}

type TermsMode = 'read' | 'accept';

function renderTermsPage(
  r: RequestContext,
  { legal, terms }: SignInDeps,
  { mode, user, ...view }: TermsOutcome & { mode: TermsMode; user?: User | undefined },
): void {
  const address = `/tos${r.continuation.search}`;
  const state: TermsOutcome | undefined = r.viewAt(address, view);
  if (!state) return;
  const { notice, declined = false, status } = state;
  const document = legal.terms(r.lang);
  const hasChanged = mode === 'accept' && user !== undefined && user.acceptedTosVersion !== null;
  r.render(
    TermsPage,
    {
      mode,
      ...(hasChanged && { changed: { summary: legal.changes(r.lang) } }),
      action: address,
      document,
      version: terms,
      declined: declined && mode === 'accept',
      ...(notice && { notice }),
    },
    { title: () => document.title, address, status },
  );
}

/** Shown by the next page, whichever it is (`server/http/arrival-notices.ts`). */
const acceptedNotice: ArrivalName = 'terms:accepted';

/** GET /tos: public to read; a user who has not accepted the current version is asked to. */
export async function showTerms(r: RequestContext, deps: SignInDeps) {
  const found = await deps.sessions.getCurrentUser(r.req);
  const mode = found && mustAcceptTerms(found.user, deps.terms) ? 'accept' : 'read';
  const isAccepted = found && mode === 'read' && r.takesNotice(acceptedNotice);
  const notice = { kind: 'success', text: r.t('terms.TERMS_OF_SERVICE_MESSAGE_ACCEPTED') } as const;
  renderTermsPage(r, deps, { mode, user: found?.user, ...(isAccepted && { notice }) });
}

/** The client app whose request waits: from the continuation, or from the page to which it leads. */
async function findWaitingClient(r: RequestContext, deps: SignInDeps): Promise<ClientId | undefined> {
  const { authorization, returnTo } = r.continuation;
  const id = authorization ?? (returnTo && new URL(returnTo).searchParams.get('authorization_code'));
  return id ? (await deps.findPendingAuthorization(r.req, id))?.clientId : undefined;
}

/** Stores the acceptance. @returns false if the store is unavailable */
async function storeAcceptance(r: RequestContext, deps: SignInDeps, user: User): Promise<boolean> {
  const { lang, hash } = deps.legal.terms(r.lang);
  const acceptance = {
    userId: user.id,
    version: deps.terms.number,
    label: deps.terms.label,
    lang,
    textHash: hash,
    ip: r.req.ip ?? null,
    userAgent: r.req.get('user-agent') ?? null,
    clientId: (await findWaitingClient(r, deps)) ?? null,
  };
  try {
    await deps.database.transaction((trx) => recordAcceptance(trx, acceptance, deps.now()));
    return true;
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    r.log.error({ err: error }, 'could not store the acceptance of the terms');
    return false;
  }
}

/** POST /tos: accepting continues, declining stays on the page. */
export async function submitTerms(r: RequestContext, deps: SignInDeps) {
  const { t, continuation } = r;
  const found = await deps.sessions.getCurrentUser(r.req);
  if (!found) return redirectToSignIn(r, deps.publicUrl);
  const { user } = found;
  const toNotice = (text: string) => ({ kind: 'error', text }) as const;
  const decision = r.field('decision');
  if (decision === 'decline') {
    const mode = mustAcceptTerms(user, deps.terms) ? 'accept' : 'read';
    const notice = toNotice(t('terms.TERMS_OF_SERVICE_MESSAGE_DECLINE'));
    return renderTermsPage(r, deps, { mode, user, notice, declined: true });
  }
  if (decision !== 'accept') throw new HttpError('badRequest', { detail: 'unknown form action' });
  // The version may have changed since the page was shown; users can only accept the version that they saw.
  if (r.field('version') !== String(deps.terms.number)) {
    return renderTermsPage(r, deps, { mode: 'accept', user, status: 409 });
  }
  if (!(await storeAcceptance(r, deps, user))) {
    const notice = toNotice(t('terms.TERMS_OF_SERVICE_MESSAGE_ERROR'));
    return renderTermsPage(r, deps, { mode: 'accept', user, notice, status: 503 });
  }
  if (continuation.authorization === undefined && continuation.returnTo === undefined) {
    return r.redirect(new AddressWithNotice('/tos', acceptedNotice));
  }
  const accepted = { ...user, acceptedTosVersion: deps.terms.number };
  r.announce(acceptedNotice);
  r.redirect(deps.nextRedirect(accepted, continuation).address);
}
