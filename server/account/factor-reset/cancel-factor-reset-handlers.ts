import {
  CancelFactorResetPage,
  FactorResetCancelledPage,
  FactorResetExpiredPage,
} from '../../../views/account/cancel-factor-reset-page.tsx';
import type { RequestContext } from '../../http/index.ts';
import type { AccountDeps } from '../deps.ts';
import type { PageRoute } from '../settings-page.ts';
import { cancelFactorReset, cancelPath, findCancellable } from './factor-reset.ts';

function renderExpired(r: RequestContext): void {
  const view = { status: 404 };
  r.renderForm(FactorResetExpiredPage, {}, { title: 'leaving.reset.expiredTitle', address: cancelPath, view });
}

/** The page of a link. Mail services open links before their readers do, so a GET changes nothing. */
async function show(r: RequestContext, deps: AccountDeps) {
  if (r.query('done') !== undefined) {
    const answer = { title: 'leaving.reset.doneTitle', address: `${cancelPath}?done` } as const;
    return r.render(FactorResetCancelledPage, {}, answer);
  }
  const token = r.query('token') ?? '';
  const reset = await findCancellable(deps, token);
  if (!reset) return renderExpired(r);
  r.render(
    CancelFactorResetPage,
    { action: cancelPath, token, requestedAtMs: reset.requestedAt, dueAtMs: reset.dueAt },
    { title: 'leaving.reset.pageTitle', address: `${cancelPath}?${new URLSearchParams({ token })}` },
  );
}

async function submit(r: RequestContext, deps: AccountDeps) {
  const reset = await findCancellable(deps, r.field('token'));
  if (!reset || !(await cancelFactorReset(deps, reset.userId))) return renderExpired(r);
  r.log.info({ act: 'factor-reset-cancelled', by: 'link' }, 'factor reset cancelled');
  r.redirect(`${cancelPath}?done`);
}

export const cancelFactorResetPage: PageRoute = { path: cancelPath, get: show, post: submit };
