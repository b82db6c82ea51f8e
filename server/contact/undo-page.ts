import type { Request, RequestHandler, Response, Router } from 'express';
import { createElement } from 'react';
import {
  UndoDonePage,
  UndoEmailChangePage,
  type UndoEmailChangePageProps,
  UndoGonePage,
} from '../../views/contact/undo-email-change-page.tsx';
import { passwordStrength } from '../../views/parts/password-strength.ts';
import { field, methodNotAllowed, type Pages, query, type T } from '../http/index.ts';
import { passwordFaultText, unlessBusy } from '../password/index.ts';
import { originOf } from '../session/index.ts';
import type { ContactDeps, ContactSettings } from './deps.ts';
import { findUndoable, type Undoable, undoChange } from './undo.ts';

/** The mails name it (email-change.ts). */
const undoPath = '/undo-email-change';

interface PageDeps extends ContactDeps, Pick<ContactSettings, 'wayToLateWaysIn' | 'devices'> {
  pages: Pages;
  queueFull: { status: number; retrySeconds: number };
}

type Shown = Partial<Pick<UndoEmailChangePageProps, 'errors' | 'problem' | 'met'>> & { status?: number };

function sendGone({ pages }: PageDeps, req: Request, res: Response): void {
  const shown = pages.shownAt(req, res, undoPath, { status: 404 });
  if (!shown) return;
  pages.send(req, res, shown.status, (ctx) => createElement(UndoGonePage, { ctx }), {
    title: (ctx) => ctx.t('contact.undo.goneTitle'),
    address: undoPath,
  });
}

function sendForm(
  { pages }: PageDeps,
  req: Request,
  res: Response,
  token: string,
  { change }: Undoable,
  given: Shown = {},
): void {
  const address = `${undoPath}?${new URLSearchParams({ token })}`;
  const said = pages.shownAt(req, res, address, given);
  if (!said) return;
  const { status = 200, errors = {}, ...shown } = said;
  const about = { action: undoPath, token, email: change.oldEmail, changedAtMs: change.changedAt };
  pages.send(req, res, status, (ctx) => createElement(UndoEmailChangePage, { ctx, ...about, errors, ...shown }), {
    title: (ctx) => ctx.t('contact.undo.title'),
    address,
  });
}

/** What a link leads to. Mail services open links before their readers do: nothing happens by that. */
function show(deps: PageDeps): RequestHandler {
  return async (req, res) => {
    if (query(req, 'done') !== undefined) {
      return deps.pages.send(req, res, 200, (ctx) => createElement(UndoDonePage, { ctx }), {
        title: (ctx) => ctx.t('contact.undo.doneTitle'),
      });
    }
    const token = query(req, 'token') ?? '';
    const found = await findUndoable(deps, token);
    return found ? sendForm(deps, req, res, token, found) : sendGone(deps, req, res);
  };
}

/** What of a form is wrong without a look at any account. */
function formFaults(t: T, password: string, confirm: string): Shown['errors'] | undefined {
  if (password === '') return { password: t('password.reset.passwordEmpty') };
  if (confirm === '') return { confirm: t('password.reset.confirmEmpty') };
  return password === confirm ? undefined : { confirm: t('password.reset.inconsistent') };
}

function submit(deps: PageDeps): RequestHandler {
  return async (req, res) => {
    const token = field(req, 'token');
    const found = await findUndoable(deps, token);
    if (!found) return sendGone(deps, req, res);
    const { t } = req;
    // Taken as they are, never trimmed.
    const [password, confirm] = [field(req, 'password'), field(req, 'confirm')];
    const met = passwordStrength(password, { ...found.user, email: found.change.oldEmail });
    const again = (shown: Shown) => sendForm(deps, req, res, token, found, { status: 400, met, ...shown });
    const errors = formFaults(t, password, confirm);
    if (errors) return again({ errors });
    const undone = await unlessBusy(res, deps, () => undoChange(deps, token, password, originOf(req)));
    switch (undone.kind) {
      case 'busy':
        return again({ status: undone.status, problem: t('signIn.errors.busy') });
      case 'undone':
        await deps.devices.trust(req, res, undone.user);
        // Whoever steals an account may give it a passkey first, and another address then.
        return res.redirect(303, (await deps.wayToLateWaysIn(req, res, found.user.id)) ?? `${undoPath}?done`);
      case 'faults':
        return again({ errors: { password: passwordFaultText(t, undone.faults) } });
      case 'gone':
        return sendGone(deps, req, res);
    }
  };
}

export function undoRoutes(router: Router, deps: PageDeps): void {
  router
    .route(undoPath)
    .get(show(deps))
    .post(submit(deps))
    .all(methodNotAllowed('GET', 'HEAD', 'POST'));
}
