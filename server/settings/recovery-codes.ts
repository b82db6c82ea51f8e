import type { Request, Response, Router } from 'express';
import { createElement } from 'react';
import { z } from 'zod';
import type { PageContext } from '../../views/page-context.ts';
import { NewRecoveryCodesPage, RecoveryCodesPage } from '../../views/settings/recovery-codes-page.tsx';
import type { User } from '../account/index.ts';
import { methodNotAllowed } from '../http/index.ts';
import { originOf } from '../session/index.ts';
import { minuteMs } from '../shared/index.ts';
import { storedRecords } from '../store/index.ts';
import { takeWhereTo } from './after-set-up.ts';
import type { SettingsDeps } from './deps.ts';
import { endOthersIfTicked } from './end-others.ts';
import { type MemberHandler, recently, type SignedIn } from './guard.ts';
import { codesPath, mfaHome } from './mfa-paths.ts';
import { homeAfter, noticeOf, type SettingsNotice } from './notices.ts';

/** Between the act that made them and the page that shows them. */
const ttlMs = 10 * minuteMs;

const schema = z.object({
  codes: z.array(z.string()),
  /** What was turned on with them (`SettingsNotice`). */
  done: z.string().optional(),
});

/** The codes that were just made, for the one page that shows them. */
type NewCodes = z.infer<typeof schema>;

type KeptBy = Pick<SettingsDeps, 'kv' | 'mfaBox' | 'cookies' | 'publicUrl'>;

/** Sealed, under the session's name: neither an address nor the store gives them to anyone. */
const newCodes = ({ kv, mfaBox: seal }: KeptBy) =>
  storedRecords({ kv, kind: 'new-recovery-codes', schema, ttlMs, seal });

/** Where turning a factor on leads: to the recovery codes, if it brought any, else to where whoever had to was going. */
export async function afterTurningOn(
  deps: KeptBy,
  req: Request,
  res: Response,
  { user, session }: SignedIn,
  { done, codes }: { done: SettingsNotice; codes: string[] | undefined },
): Promise<string> {
  if (codes === undefined) return takeWhereTo(deps, req, res, user) ?? homeAfter(done);
  await newCodes(deps).write(session.idHash, { codes, done });
  return codesPath;
}

/** What a file with them says: whose they are, what they are for, and the codes, one to a line. */
function fileOf({ t, brand }: PageContext, { email }: User, codes: readonly string[]): string {
  const head = t('mfaSettings.codes.file', { email, brand: brand.name });
  return [head, t('mfaSettings.codes.fileNote'), '', ...codes, ''].join('\r\n');
}

function sendNewCodes(
  deps: SettingsDeps,
  req: Request,
  res: Response,
  { user }: SignedIn,
  { codes, done }: NewCodes,
): void {
  const { pages } = deps;
  const notice = noticeOf(done);
  const doneHref = takeWhereTo(deps, req, res, user) ?? mfaHome;
  pages.send(
    req,
    res,
    200,
    (ctx) =>
      createElement(NewRecoveryCodesPage, {
        ctx,
        codes,
        ...(notice && { done: ctx.t(notice.text) }),
        file: fileOf(ctx, user, codes),
        doneHref,
      }),
    { title: (ctx) => ctx.t('mfaSettings.codes.title'), address: codesPath },
  );
}

/** GET /settings/recovery-codes: those that were just made, this once; else how many are left. */
function showCodes(deps: SettingsDeps): MemberHandler {
  return async (req, res, member) => {
    const { user, session } = member;
    const { recoveryCodesLeft: left, preference } = await deps.mfa.enrolling.factorsOf(user);
    const needed = preference !== 'none';
    // A HEAD shows nothing to anybody.
    const made = req.method === 'GET' ? await newCodes(deps).takeOnce(session.idHash) : undefined;
    // Those of a factor that is off again are void.
    if (made && needed) return sendNewCodes(deps, req, res, member, made);
    deps.pages.send(
      req,
      res,
      200,
      (ctx) => createElement(RecoveryCodesPage, { ctx, action: codesPath, left, needed }),
      { title: (ctx) => ctx.t('mfaSettings.codes.title'), address: codesPath },
    );
  };
}

/** POST /settings/recovery-codes: new ones; the earlier ones work no more. */
function makeCodes(deps: SettingsDeps): MemberHandler {
  return async (req, res, { user, session }) => {
    const codes = await deps.mfa.enrolling.reissueRecoveryCodes(user, originOf(req));
    deps.log.info({ act: 'recovery-codes', outcome: codes ? 'made' : 'not-needed' }, 'new recovery codes');
    if (codes) {
      await newCodes(deps).write(session.idHash, { codes });
      await endOthersIfTicked(deps, req, { user, session });
    }
    res.redirect(303, codesPath);
  };
}

export function recoveryCodeRoutes(router: Router, deps: SettingsDeps): void {
  router
    .route(codesPath)
    .get(recently(deps, showCodes(deps)))
    .post(recently(deps, makeCodes(deps)))
    .all(methodNotAllowed('GET', 'HEAD', 'POST'));
}
