import {
  TotpActivatePage,
  type TotpActivatePageProps,
  TotpRequestPage,
  TotpScanPage,
} from '../../../views/account/totp-pages.tsx';
import { type AddPage, refusalView } from '../../http/index.ts';
import {
  activateTotp,
  beginTotp,
  findTotpSetup,
  listAuthenticators,
  setupMinutes,
  totpRefusals,
} from '../../mfa/index.ts';
import { toFlowId, toPublicOutcome } from '../../shared/index.ts';
import type { UserRequest } from '../../sign-in/index.ts';
import type { AccountDeps } from '../deps.ts';
import { endOthersIfTicked, endOthersTicked } from '../devices/end-others.ts';
import { activatePath, scanPath, totpPath } from '../paths.ts';
import { requireRecentAuth } from '../recent-auth-guard.ts';
import { qrCode } from './qr-code.ts';
import { recordPresentedFactor } from './record-presented-factor.ts';
import { afterEnablingFactor } from './recovery-codes-handlers.ts';

/**
 * The setup's id, only in this browser. Not the session itself, because re-authentication in between creates a new one.
 */
const cookieName = 'foyer_totp_setup';

const readSetupId = (r: UserRequest) => toFlowId(r.cookie(cookieName) ?? '');

const findSetup = (r: UserRequest, { mfa }: AccountDeps) => findTotpSetup(mfa, readSetupId(r), r.user);

async function renderRequestPage(r: UserRequest, deps: AccountDeps, problem?: string): Promise<void> {
  const state = r.viewAt(totpPath, { problem });
  if (!state) return;
  const { totp } = await listAuthenticators(deps.database, r.user);
  r.render(
    TotpRequestPage,
    { action: totpPath, replaces: totp, problem: state.problem },
    { title: 'mfaSettings.totp.title', address: totpPath, status: state.problem === undefined ? 200 : 400 },
  );
}

/** GET /settings/mfa/totp: first of three steps. */
const showRequest = (r: UserRequest, deps: AccountDeps) => renderRequestPage(r, deps);

/** POST /settings/mfa/totp: creates a secret, which has no effect until it is activated. */
async function requestSecret(r: UserRequest, { mfa }: AccountDeps) {
  const { setupId } = await beginTotp(mfa, r.user);
  r.setCookie(cookieName, setupId, { maxAgeMs: setupMinutes * 60_000 });
  r.redirect(scanPath);
}

/** GET /settings/mfa/totp/scan: second step. */
async function showScan(r: UserRequest, deps: AccountDeps) {
  const setup = await findSetup(r, deps);
  if (!setup) return r.redirect(totpPath);
  const props = { ...setup, qr: qrCode(setup.uri), nextHref: activatePath };
  r.render(TotpScanPage, props, { title: 'mfaSettings.totp.scan', address: scanPath });
}

type TotpActivatePageState = Pick<TotpActivatePageProps, 'error' | 'hint' | 'endOthers'> & { status?: number };

function renderActivatePage(r: UserRequest, view: TotpActivatePageState = {}) {
  r.renderForm(
    TotpActivatePage,
    { action: activatePath, scanHref: scanPath },
    { title: 'mfaSettings.totp.enter', address: activatePath, view },
  );
}

/** GET /settings/mfa/totp/activate: third step. */
async function showActivate(r: UserRequest, deps: AccountDeps) {
  if (!(await findSetup(r, deps))) return r.redirect(totpPath);
  renderActivatePage(r);
}

/** POST /settings/mfa/totp/activate: a code of the app; from now on the sign-in asks for one. */
async function activate(r: UserRequest, deps: AccountDeps) {
  const { t, user } = r;
  const { totp } = await listAuthenticators(deps.database, user);
  const code = { setupId: readSetupId(r), typed: r.field('code'), from: r.origin };
  const activated = await activateTotp(deps.mfa, user, code);
  r.log.info({ act: 'totp-activate', outcome: toPublicOutcome(activated.kind) }, 'authenticator app');
  if (activated.kind !== 'activated') {
    const { status, text, field } = refusalView(r, totpRefusals, activated);
    // Without a set-up the page for codes returns to the first step, whatever was typed.
    if (!field || !(await findSetup(r, deps))) return renderRequestPage(r, deps, t('mfaSettings.totp.expired'));
    const hint = activated.kind === 'incorrect' ? { hint: t('mfaSettings.totp.wrongHint') } : {};
    return renderActivatePage(r, { status, error: text, endOthers: endOthersTicked(r), ...hint });
  }
  r.clearCookie(cookieName);
  const done = totp ? 'totp-replaced' : 'mfa-totp';
  const current = await recordPresentedFactor(r, deps, 'otp');
  await endOthersIfTicked(current, deps);
  r.redirect(await afterEnablingFactor(current, deps, { done, codes: activated.recoveryCodes }));
}

/** The set-up of an authenticator app: three steps, each with an address of its own. */
export function totpRoutes(add: AddPage<AccountDeps>): void {
  add(totpPath, { get: requireRecentAuth(showRequest), post: requireRecentAuth(requestSecret) });
  add(scanPath, { get: requireRecentAuth(showScan) });
  add(activatePath, { get: requireRecentAuth(showActivate), post: requireRecentAuth(activate) });
}
