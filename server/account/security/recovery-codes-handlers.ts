import { z } from 'zod';
import { NewRecoveryCodesPage, RecoveryCodesPage } from '../../../views/account/recovery-codes-page.tsx';
import type { AddPage } from '../../http/index.ts';
import { listAuthenticators, reissueRecoveryCodes } from '../../mfa/index.ts';
import { minuteMs } from '../../shared/index.ts';
import type { UserRequest } from '../../sign-in/index.ts';
import { storedRecords } from '../../store/index.ts';
import type { AccountDeps } from '../deps.ts';
import { endOthersIfTicked } from '../devices/end-others.ts';
import { accountHomeUrl, findNotice, type SettingsNotice } from '../notices.ts';
import { codesPath, securityHomePath } from '../paths.ts';
import { requireRecentAuth } from '../recent-auth-guard.ts';
import { takeEnrolmentReturn } from './enrolment-return.ts';

/** Between their creation and the page that shows them. */
const ttlMs = 10 * minuteMs;

const schema = z.object({
  codes: z.array(z.string()),
  /** The factor that was enabled with them (`SettingsNotice`). */
  done: z.string().optional(),
});

/** The new codes, for the one page that shows them. */
type NewRecoveryCodes = z.infer<typeof schema>;

type RecoveryCodeDeps = Pick<AccountDeps, 'kv' | 'mfaBox' | 'publicUrl'>;

/** Sealed, under the session's id: neither an address nor the store reveals them. */
const newCodes = ({ kv, mfaBox: seal }: RecoveryCodeDeps) =>
  storedRecords({ kv, kind: 'new-recovery-codes', schema, ttlMs, seal });

/**
 * The page after enabling a factor: the recovery codes if there are new ones, else the target of a user who had to set
 * it up.
 */
export async function afterEnablingFactor(
  r: UserRequest,
  deps: RecoveryCodeDeps,
  { done, codes }: { done: SettingsNotice; codes: string[] | undefined },
): Promise<string> {
  if (codes === undefined) return takeEnrolmentReturn(r, deps) ?? accountHomeUrl(done);
  await newCodes(deps).write(r.session.idHash, { codes, done });
  return codesPath;
}

/** The content of the file: the user, the purpose, and the codes, one per line. */
function toCodesFile({ t, user: { email } }: UserRequest, brand: string, codes: readonly string[]): string {
  const head = t('mfaSettings.codes.file', { email, brand });
  return [head, t('mfaSettings.codes.fileNote'), '', ...codes, ''].join('\r\n');
}

function renderNewCodes(r: UserRequest, deps: AccountDeps, { codes, done }: NewRecoveryCodes): void {
  const notice = findNotice(done);
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
  const created = r.req.method === 'GET' ? await newCodes(deps).takeOnce(r.session.idHash) : undefined;
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
    await newCodes(deps).write(r.session.idHash, { codes });
    await endOthersIfTicked(r, deps);
  }
  r.redirect(codesPath);
}

export function recoveryCodeRoutes(add: AddPage<AccountDeps>): void {
  add(codesPath, { get: requireRecentAuth(showCodes), post: requireRecentAuth(createCodes) });
}
