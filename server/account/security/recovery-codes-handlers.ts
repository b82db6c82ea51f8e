import { NewRecoveryCodesPage, RecoveryCodesPage } from '../../../views/account/recovery-codes-page.tsx';
import { asksAhead } from '../../http/index.ts';
import { listAuthenticators, reissueRecoveryCodes } from '../../mfa/index.ts';
import type { UserRequest } from '../../sign-in/index.ts';
import type { AccountDeps } from '../deps.ts';
import { endOthersIfTicked } from '../devices/end-others.ts';
import { findNotice } from '../notices.ts';
import { codesPath, securityHomePath } from '../paths.ts';
import { requireRecentAuth } from '../recent-auth-guard.ts';
import type { PageRoute } from '../settings-page.ts';
import { type NewRecoveryCodes, newRecoveryCodes } from './after-enabling-factor.ts';
import { takeEnrolmentReturn } from './enrolment-return.ts';

/** The content of the file: the user, the purpose, and the codes, one per line. */
function toCodesFile({ t, user: { email } }: UserRequest, brand: string, codes: readonly string[]): string {
  const head = t('mfaSettings.codes.file', { email, brand });
  return [head, t('mfaSettings.codes.fileNote'), '', ...codes, ''].join('\r\n');
}

function renderNewCodes(r: UserRequest, deps: AccountDeps, { codes, done }: NewRecoveryCodes): void {
  const notice = done === undefined ? undefined : findNotice(`settings:${done}`);
  const doneHref = takeEnrolmentReturn(r, deps) ?? securityHomePath;
  const file = toCodesFile(r, deps.brandName, codes);
  const props = { codes, file, doneHref, ...(notice && { done: r.t(notice.text) }) };
  r.render(NewRecoveryCodesPage, props, { title: 'mfaSettings.codes.title', address: codesPath });
}

/** GET /settings/recovery-codes: new ones, only once; else the number that is left. */
async function showCodes(r: UserRequest, deps: AccountDeps) {
  const { recoveryCodesLeft: left, preference } = await listAuthenticators(deps.database, r.user);
  const needed = preference !== 'none';
  // A HEAD shows nothing, so it must not use them up.
  const isShown = r.req.method === 'GET' && !asksAhead(r.req);
  const created = isShown ? await newRecoveryCodes(deps).takeOnce(r.session.idHash) : undefined;
  // Codes of a factor that was disabled again are invalid.
  if (created && needed) return renderNewCodes(r, deps, created);
  const props = { action: codesPath, left, needed };
  r.render(RecoveryCodesPage, props, { title: 'mfaSettings.codes.title', address: codesPath });
}

/** POST /settings/recovery-codes: creates new ones; the earlier ones become invalid. */
async function createCodes(r: UserRequest, deps: AccountDeps) {
  const codes = await reissueRecoveryCodes(deps.mfa, r.user, r.origin);
  r.log.info({ act: 'recovery-codes', outcome: codes ? 'made' : 'not-needed' }, 'new recovery codes');
  if (codes) {
    await newRecoveryCodes(deps).write(r.session.idHash, { codes });
    await endOthersIfTicked(r, deps);
  }
  r.redirect(codesPath);
}

export const recoveryCodesPage: PageRoute = {
  path: codesPath,
  get: requireRecentAuth(showCodes),
  post: requireRecentAuth(createCodes),
};
