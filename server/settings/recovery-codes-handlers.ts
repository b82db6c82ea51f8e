import type { Request, Response, Router } from 'express';
import { createElement } from 'react';
import { z } from 'zod';
import type { PageContext } from '../../views/page-context.ts';
import { NewRecoveryCodesPage, RecoveryCodesPage } from '../../views/settings/recovery-codes-page.tsx';
import { methodNotAllowed } from '../http/index.ts';
import { getRequestOrigin } from '../sessions/index.ts';
import { minuteMs } from '../shared/index.ts';
import { storedRecords } from '../store/index.ts';
import type { User } from '../users/index.ts';
import type { AccountDeps } from './deps.ts';
import { endOthersIfTicked } from './end-others.ts';
import { takeEnrolmentReturn } from './enrolment-return.ts';
import { accountHomeUrl, findNotice, type SettingsNotice } from './notices.ts';
import { codesPath, securityHomePath } from './paths.ts';
import { type MemberHandler, requireRecentAuth, type SignedInUser } from './require-recent-auth.ts';

/** Between their creation and the page that shows them. */
const ttlMs = 10 * minuteMs;

const schema = z.object({
  codes: z.array(z.string()),
  /** The factor that was enabled with them (`SettingsNotice`). */
  done: z.string().optional(),
});

/** The new codes, for the one page that shows them. */
type NewRecoveryCodes = z.infer<typeof schema>;

type RecoveryCodeDeps = Pick<AccountDeps, 'kv' | 'mfaBox' | 'cookies' | 'publicUrl'>;

/** Sealed, under the session's id: neither an address nor the store reveals them. */
const newCodes = ({ kv, mfaBox: seal }: RecoveryCodeDeps) =>
  storedRecords({ kv, kind: 'new-recovery-codes', schema, ttlMs, seal });

/**
 * The page after enabling a factor: the recovery codes if there are new ones, else the target of a user who had to set
 * it up.
 */
export async function afterEnablingFactor(
  deps: RecoveryCodeDeps,
  req: Request,
  res: Response,
  { user, session }: SignedInUser,
  { done, codes }: { done: SettingsNotice; codes: string[] | undefined },
): Promise<string> {
  if (codes === undefined) return takeEnrolmentReturn(deps, req, res, user) ?? accountHomeUrl(done);
  await newCodes(deps).write(session.idHash, { codes, done });
  return codesPath;
}

/** The content of the file: the user, the purpose, and the codes, one per line. */
function toCodesFile({ t, brand }: PageContext, { email }: User, codes: readonly string[]): string {
  const head = t('mfaSettings.codes.file', { email, brand: brand.name });
  return [head, t('mfaSettings.codes.fileNote'), '', ...codes, ''].join('\r\n');
}

function renderNewCodes(
  deps: AccountDeps,
  req: Request,
  res: Response,
  { user }: SignedInUser,
  { codes, done }: NewRecoveryCodes,
): void {
  const { pages } = deps;
  const notice = findNotice(done);
  const doneHref = takeEnrolmentReturn(deps, req, res, user) ?? securityHomePath;
  pages.send(
    req,
    res,
    200,
    (ctx) =>
      createElement(NewRecoveryCodesPage, {
        ctx,
        codes,
        ...(notice && { done: ctx.t(notice.text) }),
        file: toCodesFile(ctx, user, codes),
        doneHref,
      }),
    { title: (ctx) => ctx.t('mfaSettings.codes.title'), address: codesPath },
  );
}

/** GET /settings/recovery-codes: new ones, only once; else the number that is left. */
function showCodes(deps: AccountDeps): MemberHandler {
  return async (req, res, member) => {
    const { user, session } = member;
    const { recoveryCodesLeft: left, preference } = await deps.mfa.enrolling.findFactors(user);
    const needed = preference !== 'none';
    // A HEAD shows nothing, so it must not use them up.
    const created = req.method === 'GET' ? await newCodes(deps).takeOnce(session.idHash) : undefined;
    // Codes of a factor that was disabled again are invalid.
    if (created && needed) return renderNewCodes(deps, req, res, member, created);
    deps.pages.send(
      req,
      res,
      200,
      (ctx) => createElement(RecoveryCodesPage, { ctx, action: codesPath, left, needed }),
      { title: (ctx) => ctx.t('mfaSettings.codes.title'), address: codesPath },
    );
  };
}

/** POST /settings/recovery-codes: creates new ones; the earlier ones become invalid. */
function makeCodes(deps: AccountDeps): MemberHandler {
  return async (req, res, { user, session }) => {
    const codes = await deps.mfa.enrolling.reissueRecoveryCodes(user, getRequestOrigin(req));
    deps.log.info({ act: 'recovery-codes', outcome: codes ? 'made' : 'not-needed' }, 'new recovery codes');
    if (codes) {
      await newCodes(deps).write(session.idHash, { codes });
      await endOthersIfTicked(deps, req, { user, session });
    }
    res.redirect(303, codesPath);
  };
}

export function recoveryCodeRoutes(router: Router, deps: AccountDeps): void {
  router
    .route(codesPath)
    .get(requireRecentAuth(deps, showCodes(deps)))
    .post(requireRecentAuth(deps, makeCodes(deps)))
    .all(methodNotAllowed('GET', 'HEAD', 'POST'));
}
