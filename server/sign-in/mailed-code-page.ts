import type { Request, RequestHandler, Response } from 'express';
import { createElement } from 'react';
import { MailedCodePage, type MailedCodePageProps } from '../../views/sign-in/mailed-code-page.tsx';
import type { User } from '../account/index.ts';
import { codeMinutes } from '../codes/index.ts';
import { type Errand, errandOf, field, setRetryAfter, withErrand } from '../http/index.ts';
import { waitText } from '../password/index.ts';
import type { SignInDeps } from './deps.ts';
import type { CodeShown } from './mailed-code.ts';

const path = '/sign-in/code';

/** After a password that came while the limit of all visitors was full, right or wrong: the code by mail is next. */
export async function askForMailedCode(
  deps: Pick<SignInDeps, 'mailedCodes' | 'log'>,
  req: Request,
  res: Response,
  { user, remember, errand }: { user: User | undefined; remember: boolean; errand: Errand },
): Promise<void> {
  const { mailedCodes, log } = deps;
  const owner = user && { id: user.id, passwordEpoch: user.passwordEpoch };
  const id = await mailedCodes.begin({ user: owner ?? null, remember });
  const { language: lang } = req;
  res.once('close', () => {
    mailedCodes
      .send(id, lang)
      .catch((error: unknown) => log.warn({ err: error }, 'a code for a sign-in could not be mailed'));
  });
  mailedCodes.flows.setCookie(res, id);
  res.redirect(303, path + errand.search);
}

type Shown = Pick<MailedCodePageProps, 'error' | 'problem'> & { status?: number };

function sendPage(deps: SignInDeps, req: Request, res: Response, given: Shown = {}): void {
  const errand = errandOf(req, deps.publicUrl);
  const address = path + errand.search;
  const said = deps.pages.shownAt(req, res, address, given);
  if (!said) return;
  const { status = 200, ...shown } = said;
  deps.pages.send(
    req,
    res,
    status,
    (ctx) =>
      createElement(MailedCodePage, {
        ctx: withErrand(ctx, errand.search),
        action: address,
        signInHref: `/${errand.search}`,
        forgotHref: `/forgot-password${errand.search}`,
        minutes: codeMinutes,
        ...shown,
      }),
    { title: (ctx) => ctx.t('signIn.mailedCode.title'), address },
  );
}

/** GET /sign-in/code: without a sign-in that waits for one it leads to the sign-in page. */
export function showMailedCode(deps: SignInDeps): RequestHandler {
  return async (req, res) => {
    const { flows } = deps.mailedCodes;
    if (await flows.find(flows.readCookie(req))) return sendPage(deps, req, res);
    res.redirect(303, `/${errandOf(req, deps.publicUrl).search}`);
  };
}

function refused(deps: SignInDeps, req: Request, res: Response, shown: Exclude<CodeShown, { kind: 'right' }>) {
  const { t } = req;
  switch (shown.kind) {
    case 'incomplete':
      return sendPage(deps, req, res, { status: 400, error: t('signIn.mailedCode.incomplete') });
    case 'wrong':
      return sendPage(deps, req, res, { status: 400, error: t('signIn.mailedCode.wrong') });
    case 'void':
      return sendPage(deps, req, res, { status: 400, problem: t('signIn.mailedCode.void') });
    case 'too-many':
      setRetryAfter(res, shown.retryAfterMs);
      return sendPage(deps, req, res, { status: 429, problem: waitText(t, 'too-many', shown.retryAfterMs) });
    case 'gone':
      return res.redirect(303, `/${errandOf(req, deps.publicUrl).search}`);
  }
}

/** POST /sign-in/code: the right one goes on as the password alone does at other times. */
export function submitMailedCode(deps: SignInDeps): RequestHandler {
  return async (req, res) => {
    const { mailedCodes, entrance, metrics, wayOn } = deps;
    const errand = errandOf(req, deps.publicUrl);
    const shown = await mailedCodes.show(mailedCodes.flows.readCookie(req), field(req, 'code').trim(), req.ip ?? '');
    if (shown.kind !== 'right') {
      deps.log.info({ act: 'sign-in-code', outcome: shown.kind }, 'code for a sign-in');
      return refused(deps, req, res, shown);
    }
    mailedCodes.flows.clearCookie(res);
    const { user, remember } = shown;
    const waiting =
      errand.authorization === undefined ? undefined : await deps.pendingRequest(req, errand.authorization);
    const entered = await entrance.enter(req, res, user, {
      ...{ amr: ['pwd'], remember, errand },
      everyFactor: waiting?.wantsEveryFactor,
    });
    metrics.signIn('password', entered.kind);
    res.redirect(303, entered.kind === 'signed-in' ? wayOn(user, errand).address : entered.address);
  };
}
