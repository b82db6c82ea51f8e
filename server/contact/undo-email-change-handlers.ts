import type { Request, RequestHandler, Response, Router } from 'express';
import { createElement } from 'react';
import {
  UndoDonePage,
  UndoEmailChangePage,
  type UndoEmailChangePageProps,
  UndoExpiredPage,
} from '../../views/contact/undo-email-change-page.tsx';
import { passwordStrength } from '../../views/parts/password-strength.ts';
import { methodNotAllowed, type Pages, readFormField, readQueryParam, type T } from '../http/index.ts';
import { hashForPage, passwordErrorText } from '../password/index.ts';
import { getRequestOrigin } from '../sessions/index.ts';
import type { ContactDeps, ContactSettings } from './deps.ts';
import { findPendingUndo, type PendingUndo, undoEmailChangeByToken } from './undo-email-change.ts';

/** The mails contain it (change-email.ts). */
const undoPath = '/undo-email-change';

interface PageDeps extends ContactDeps, Pick<ContactSettings, 'recentFactorsUrl' | 'devices'> {
  pages: Pages;
  queueFull: { status: number; retrySeconds: number };
}

type UndoEmailChangePageState = Partial<Pick<UndoEmailChangePageProps, 'errors' | 'problem' | 'met'>> & {
  status?: number;
};

function renderExpired({ pages }: PageDeps, req: Request, res: Response): void {
  const view = pages.shownAt(req, res, undoPath, { status: 404 });
  if (!view) return;
  pages.send(req, res, view.status, (ctx) => createElement(UndoExpiredPage, { ctx }), {
    title: (ctx) => ctx.t('contact.undo.expiredTitle'),
    address: undoPath,
  });
}

function sendForm(
  { pages }: PageDeps,
  req: Request,
  res: Response,
  token: string,
  { change }: PendingUndo,
  state: UndoEmailChangePageState = {},
): void {
  const address = `${undoPath}?${new URLSearchParams({ token })}`;
  const submitted = pages.shownAt(req, res, address, state);
  if (!submitted) return;
  const { status = 200, errors = {}, ...view } = submitted;
  const about = { action: undoPath, token, email: change.oldEmail, changedAtMs: change.changedAt };
  pages.send(req, res, status, (ctx) => createElement(UndoEmailChangePage, { ctx, ...about, errors, ...view }), {
    title: (ctx) => ctx.t('contact.undo.title'),
    address,
  });
}

/** The page of a link. Mail services open links before their readers do, so a GET changes nothing. */
function show(deps: PageDeps): RequestHandler {
  return async (req, res) => {
    if (readQueryParam(req, 'done') !== undefined) {
      return deps.pages.send(req, res, 200, (ctx) => createElement(UndoDonePage, { ctx }), {
        title: (ctx) => ctx.t('contact.undo.doneTitle'),
      });
    }
    const token = readQueryParam(req, 'token') ?? '';
    const found = await findPendingUndo(deps, token);
    return found ? sendForm(deps, req, res, token, found) : renderExpired(deps, req, res);
  };
}

/** The faults of a form that need no look at any account. */
function findFormFaults(t: T, password: string, confirm: string): UndoEmailChangePageState['errors'] | undefined {
  if (password === '') return { password: t('password.reset.passwordEmpty') };
  if (confirm === '') return { confirm: t('password.reset.confirmEmpty') };
  return password === confirm ? undefined : { confirm: t('password.reset.inconsistent') };
}

function submit(deps: PageDeps): RequestHandler {
  return async (req, res) => {
    const token = readFormField(req, 'token');
    const found = await findPendingUndo(deps, token);
    if (!found) return renderExpired(deps, req, res);
    const { t } = req;
    // Used unchanged, never trimmed.
    const [password, confirm] = [readFormField(req, 'password'), readFormField(req, 'confirm')];
    const met = passwordStrength(password, { ...found.user, email: found.change.oldEmail });
    const rerender = (pageState: UndoEmailChangePageState) =>
      sendForm(deps, req, res, token, found, { status: 400, met, ...pageState });
    const errors = findFormFaults(t, password, confirm);
    if (errors) return rerender({ errors });
    const undone = await hashForPage(res, deps, () =>
      undoEmailChangeByToken(deps, token, password, getRequestOrigin(req)),
    );
    switch (undone.kind) {
      case 'busy':
        return rerender({ status: undone.status, problem: t('signIn.errors.busy') });
      case 'undone':
        await deps.devices.trust(req, res, undone.user);
        // A thief may first have added a passkey, and changed the address then.
        return res.redirect(303, (await deps.recentFactorsUrl(req, res, found.user.id)) ?? `${undoPath}?done`);
      case 'faults':
        return rerender({ errors: { password: passwordErrorText(t, undone.faults) } });
      case 'not-found':
        return renderExpired(deps, req, res);
    }
  };
}

export function undoEmailChangeRoutes(router: Router, deps: PageDeps): void {
  router
    .route(undoPath)
    .get(show(deps))
    .post(submit(deps))
    .all(methodNotAllowed('GET', 'HEAD', 'POST'));
}
