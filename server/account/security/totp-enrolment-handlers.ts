import { TotpActivatePage, TotpRequestPage, TotpScanPage } from '../../../views/account/totp-pages.tsx';
import { submitAction } from '../../http/index.ts';
import { activateTotpAction, beginTotp, findTotpSetup, listAuthenticators, setupMinutes } from '../../mfa/index.ts';
import { toFlowId } from '../../shared/index.ts';
import type { UserRequest } from '../../sign-in/index.ts';
import type { AccountDeps } from '../deps.ts';
import { endOthersTicked } from '../devices/end-others.ts';
import { activatePath, scanPath, totpPath } from '../paths.ts';
import { requireRecentAuth } from '../recent-auth-guard.ts';
import { type PageRoute, settingsPage } from '../settings-page.ts';
import { afterEnablingFactor } from './after-enabling-factor.ts';
import { qrCode } from './qr-code.ts';

/**
 * The setup's id, only in this browser. Not the session itself, because re-authentication in between creates a new one.
 */
const cookieName = 'foyer_totp_setup';

const readSetupId = (r: UserRequest) => toFlowId(r.cookie(cookieName) ?? '');

const findSetup = (r: UserRequest, { mfa }: AccountDeps) => findTotpSetup(mfa, readSetupId(r), r.user);

/** First of three steps: creates a secret, which has no effect until it is activated. @returns the address of the second */
export async function startTotpSetup(r: UserRequest, { mfa }: Pick<AccountDeps, 'mfa'>): Promise<string> {
  const { setupId } = await beginTotp(mfa, r.user);
  r.setCookie(cookieName, setupId, { maxAgeMs: setupMinutes * 60_000 });
  return scanPath;
}

/** The first step alone, for a replacement or after the set-up has expired: the choice on the card starts one itself. */
const requestPage = settingsPage({
  path: totpPath,
  title: 'mfaSettings.totp.title',
  guard: requireRecentAuth,
  Page: TotpRequestPage,
  toProps: async ({ user }, { database }) => ({ replaces: (await listAuthenticators(database, user)).totp }),
  act: startTotpSetup,
});

/** GET /settings/mfa/totp/scan: second step. */
async function showScan(r: UserRequest, deps: AccountDeps) {
  const setup = await findSetup(r, deps);
  if (!setup) return r.redirect(totpPath);
  const { totp: replaces } = await listAuthenticators(deps.database, r.user);
  const props = { ...setup, replaces, qr: qrCode(setup.uri), nextHref: activatePath };
  r.render(TotpScanPage, props, { title: 'mfaSettings.totp.scan', address: scanPath });
}

/** Third step: a code of the app; from now on the sign-in asks for one. */
const activatePage = settingsPage({
  path: activatePath,
  title: 'mfaSettings.totp.enter',
  guard: requireRecentAuth,
  Page: TotpActivatePage,
  open: async (r, deps) => ((await findSetup(r, deps)) ? {} : totpPath),
  toProps: () => ({ scanHref: scanPath }),
  async act(r, deps) {
    const { t, user } = r;
    const { totp } = await listAuthenticators(deps.database, user);
    const caller = { user, from: r.origin, setupId: readSetupId(r) };
    const activated = await submitAction(r, activateTotpAction, { deps: deps.mfa, caller });
    if (activated.kind !== 'activated') {
      const { status, errors, refusal } = activated;
      // Without a set-up the page for codes returns to the first step, whatever was typed.
      if (errors.code === undefined || !(await findSetup(r, deps))) {
        await requestPage.refuse(r, deps, { status: 400, problem: t('mfaSettings.totp.expired') });
        return undefined;
      }
      const hint = refusal === 'incorrect' ? { hint: t('codes.clock') } : {};
      return { status, error: errors.code, endOthers: endOthersTicked(r), ...hint };
    }
    r.clearCookie(cookieName);
    const done = totp ? 'totp-replaced' : 'mfa-totp';
    return afterEnablingFactor(r, deps, { presented: 'otp', done, codes: activated.recoveryCodes });
  },
});

/** The set-up of an authenticator app: three steps, each with an address of its own. */
export const totpPages: readonly PageRoute[] = [
  requestPage,
  { path: scanPath, get: requireRecentAuth(showScan) },
  activatePage,
];
