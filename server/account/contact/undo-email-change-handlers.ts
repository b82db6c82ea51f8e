import {
  UndoDonePage,
  UndoEmailChangePage,
  type UndoEmailChangePageProps,
  UndoExpiredPage,
} from '../../../views/account/undo-email-change-page.tsx';
import type { PersonalData } from '../../../views/parts/password-strength.ts';
import type { RequestContext, T } from '../../http/index.ts';
import { hashForPage, passwordErrorText, recentFactorsUrl, strengthErrorText } from '../../password/index.ts';
import type { AccountDeps } from '../deps.ts';
import type { PageRoute } from '../settings-page.ts';
import { findPendingUndo, type PendingUndo, undoEmailChangeByToken } from './undo-email-change.ts';

/** The mails contain it (change-email.ts). */
const undoPath = '/undo-email-change';

type UndoEmailChangePageState = Partial<Pick<UndoEmailChangePageProps, 'errors' | 'problem'>> & {
  status?: number;
};

function renderExpired(r: RequestContext): void {
  const view = { status: 404 };
  r.renderForm(UndoExpiredPage, {}, { title: 'contact.undo.expiredTitle', address: undoPath, view });
}

/** The link that a form belongs to. */
interface UndoLink extends Pick<PendingUndo, 'change'> {
  token: string;
}

function renderForm(r: RequestContext, { token, change }: UndoLink, view: UndoEmailChangePageState): void {
  const address = `${undoPath}?${new URLSearchParams({ token })}`;
  r.renderForm(
    UndoEmailChangePage,
    { action: undoPath, token, email: change.oldEmail, changedAtMs: change.changedAt, errors: {} },
    { title: 'contact.undo.title', address, view },
  );
}

/** The page of a link. Mail services open links before their readers do, so a GET changes nothing. */
async function show(r: RequestContext, deps: AccountDeps) {
  if (r.query('done') !== undefined) return r.render(UndoDonePage, {}, { title: 'contact.undo.doneTitle' });
  const token = r.query('token') ?? '';
  const found = await findPendingUndo(deps.contact, token);
  return found ? renderForm(r, { token, change: found.change }, {}) : renderExpired(r);
}

/** The faults of a form that need no look at any account. */
function findFormFaults(
  t: T,
  { password, confirm, personal }: { password: string; confirm: string; personal: PersonalData },
): UndoEmailChangePageState['errors'] | undefined {
  if (password === '') return { password: t('password.reset.passwordEmpty') };
  if (password === confirm) return undefined;
  const weak = strengthErrorText(t, password, personal);
  return {
    ...(weak !== undefined && { password: weak }),
    confirm: t(confirm === '' ? 'password.reset.confirmEmpty' : 'password.reset.inconsistent'),
  };
}

async function submit(r: RequestContext, deps: AccountDeps) {
  const token = r.field('token');
  const found = await findPendingUndo(deps.contact, token);
  if (!found) return renderExpired(r);
  const { t } = r;
  const { user, change } = found;
  // Used unchanged, never trimmed.
  const [password, confirm] = [r.field('password'), r.field('confirm')];
  const refuse = (state: UndoEmailChangePageState) => renderForm(r, { token, change }, { status: 400, ...state });
  const errors = findFormFaults(t, { password, confirm, personal: { ...user, email: change.oldEmail } });
  if (errors) return refuse({ errors });
  const undone = await hashForPage(r, deps, () =>
    undoEmailChangeByToken(deps.contact, token, { password, from: r.origin }),
  );
  switch (undone.kind) {
    case 'busy':
      return refuse({ status: undone.status, problem: t('signIn.errors.busy') });
    case 'undone':
      await deps.devices.trust(r.req, r.res, undone.user);
      // A thief may first have added a passkey, and changed the address then.
      return r.redirect((await recentFactorsUrl(r, deps.password, user.id)) ?? `${undoPath}?done`);
    case 'faults':
      return refuse({ errors: { password: passwordErrorText(t, undone.faults) } });
    case 'not-found':
      return renderExpired(r);
  }
}

export const undoEmailChangePage: PageRoute = { path: undoPath, get: show, post: submit };
