import {
  CancelByLinkPage,
  type CancelByLinkPageProps,
  CancelByMailPage,
  CancelLinkMessagePage,
} from '../../../views/account/cancel-by-mail-pages.tsx';
import { cancelByMailPath } from '../../../views/account/tabs.ts';
import { findRefund, type Plan, readAnnouncedEnd } from '../../billing/index.ts';
import { AddressWithNotice, type RefusalRules, type RequestContext, refusalView } from '../../http/index.ts';
import { minuteMs } from '../../shared/index.ts';
import type { User } from '../../users/index.ts';
import type { AccountDeps } from '../deps.ts';
import type { PageRoute } from '../settings-page.ts';
import {
  type CancelLinkRefusal,
  cancelByLink,
  cancelLinkPath,
  findCancelLink,
  requestCancelLink,
} from './cancel-by-mail.ts';
import { toOwedText, toPlanView } from './membership-view.ts';
import { toPlanStatus } from './plan-status.ts';

const refusals: RefusalRules<CancelLinkRefusal> = {
  malformed: { problem: 'badRequest', text: 'membership.cancelByMail.malformed', field: 'email' },
  'too-many': {
    problem: 'tooMany',
    text: (t, { retryAfterMs = 0 }) =>
      t('membership.cancelByMail.tooMany', { minutes: Math.max(1, Math.ceil(retryAfterMs / minuteMs)) }),
  },
};

/** The plan that ends by a link, and its end. */
async function findEnding(r: RequestContext, deps: AccountDeps, user: User) {
  const membership = await deps.membership.getMembership(user.id);
  const { catalogue } = deps.membership;
  const words = (plan: Plan) => toPlanView(r, plan, { catalogue, membership });
  const owed = toOwedText(r, membership, catalogue.currency);
  const status = toPlanStatus({ catalogue, nowMs: deps.billingNow(), words }, user, membership);
  if (status.kind === 'renews' || status.kind === 'changes' || (status.kind === 'pauses' && !status.hasBegun)) {
    const refund = await findRefund(r, deps, user.id);
    return { plan: status.plan.name, until: status.at, refund, owed };
  }
  if (status.kind === 'tries') return { plan: status.plan.line, until: status.at, owed };
  if (status.kind === 'unpaid' || status.kind === 'paused' || status.kind === 'pauses')
    return { plan: status.plan.name, until: null, owed };
  return undefined;
}

type RequestPageState = { status?: number; email: string; error?: string | undefined; problem?: string | undefined };

function renderRequest(r: RequestContext, view: RequestPageState): void {
  const state = r.viewAt(cancelByMailPath, view);
  if (!state) return;
  const { status, ...props } = state;
  const answer = { title: 'membership.cancelByMail.title', address: cancelByMailPath, status } as const;
  r.render(CancelByMailPage, { action: cancelByMailPath, ...props }, answer);
}

/** The notice with the address that was entered. */
const sentNotice = 'cancel-by-mail:sent/';

const findSentTo = (name: string): string | undefined =>
  name.startsWith(sentNotice) ? name.slice(sentNotice.length) : undefined;

/** The end of a step: the mail is under way, the membership is cancelled, or the link is not valid any more. */
function renderMessage(r: RequestContext, message: 'sent' | 'done' | 'noted' | 'nothing' | 'expired', address: string) {
  const view = r.viewAt(address, { status: message === 'expired' ? 404 : 200 });
  if (!view) return;
  const title = `membership.cancelByMail.${message}.title` as const;
  const email = message === 'sent' ? r.takeNotice(findSentTo) : undefined;
  r.render(CancelLinkMessagePage, { message, email }, { title, address, status: view.status });
}

/** The page that asks for the address. The answer to its form is the same for every address. */
function show(r: RequestContext): void {
  if (r.query('sent') === undefined) renderRequest(r, { email: '' });
  else renderMessage(r, 'sent', `${cancelByMailPath}?sent`);
}

async function submit(r: RequestContext, deps: AccountDeps): Promise<void> {
  const email = r.field('email').trim();
  const requested = await requestCancelLink(deps, email, { ip: r.ip, lang: r.lang });
  if (requested.kind === 'sent')
    return r.redirect(new AddressWithNotice(`${cancelByMailPath}?sent`, sentNotice + email));
  const { status, text, field } = refusalView(r, refusals, requested.refusal);
  renderRequest(r, { status, email, ...(field ? { error: text } : { problem: text }) });
}

/** The page of a link. Mail services open links before their readers do, so a GET changes nothing. */
async function showLink(r: RequestContext, deps: AccountDeps): Promise<void> {
  const done = r.query('done');
  if (done === 'done' || done === 'noted' || done === 'nothing') {
    return renderMessage(r, done, `${cancelLinkPath}?done=${done}`);
  }
  return renderLink(r, deps, { token: r.query('token') ?? '' });
}

async function renderLink(
  r: RequestContext,
  deps: AccountDeps,
  { token, ...state }: { token: string; status?: 409; problem?: string },
): Promise<void> {
  const user = await findCancelLink(deps, token);
  if (!user) return renderMessage(r, 'expired', cancelLinkPath);
  const ending = await findEnding(r, deps, user);
  if (!ending) return renderMessage(r, 'nothing', cancelLinkPath);
  const address = `${cancelLinkPath}?${new URLSearchParams({ token })}`;
  const view = r.viewAt(address, state);
  if (!view) return;
  const { status, problem } = view;
  const props: Omit<CancelByLinkPageProps, 'ctx'> = { action: cancelLinkPath, token, problem, ...ending };
  r.render(CancelByLinkPage, props, { title: 'membership.cancelByMail.title', address, status });
}

async function submitLink(r: RequestContext, deps: AccountDeps): Promise<void> {
  const token = r.field('token');
  const cancelled = await cancelByLink(deps, token, readAnnouncedEnd(r));
  if (cancelled === 'changed') {
    return renderLink(r, deps, { token, status: 409, problem: r.t('membership.cancel.changed') });
  }
  if (cancelled === 'not-found') return renderMessage(r, 'expired', cancelLinkPath);
  const done = { cancelled: 'done', ended: 'done', noted: 'noted', 'no-change': 'nothing' }[cancelled];
  r.redirect(`${cancelLinkPath}?done=${done}`);
}

/** Cancelling without a sign-in (section 312k BGB asks for it): by a link to the member's address. */
export const cancelByMailPages: readonly PageRoute[] = [
  { path: cancelByMailPath, get: show, post: submit },
  { path: cancelLinkPath, get: showLink, post: submitLink },
];
