import { MailedCodePage, type MailedCodePageProps } from '../../views/sign-in/mailed-code-page.tsx';
import { type Continuation, type RequestContext, refusalView } from '../http/index.ts';
import { codeMinutes } from '../messages/index.ts';
import { toPublicOutcome } from '../shared/index.ts';
import type { User } from '../users/index.ts';
import { findPending, type SignInDeps } from './deps.ts';
import { mailedCodeRefusals } from './sign-in-texts.ts';

const path = '/sign-in/code';

/** After a password attempt while the limit for all visitors is used up, right or wrong: the code by mail is next. */
export async function askForMailedCode(
  r: RequestContext,
  { mailedCodes }: Pick<SignInDeps, 'mailedCodes'>,
  { user, remember, continuation }: { user: User | undefined; remember: boolean; continuation: Continuation },
): Promise<void> {
  const { lang, log } = r;
  const owner = user && { id: user.id, passwordEpoch: user.passwordEpoch };
  const id = await mailedCodes.begin({ user: owner ?? null, remember });
  r.res.once('close', () => {
    mailedCodes.send(id, lang).catch((error: unknown) => log.warn({ err: error }, 'could not mail a sign-in code'));
  });
  mailedCodes.flows.setCookie(r.res, id);
  r.redirect(path + continuation.search);
}

type MailedCodePageState = Pick<MailedCodePageProps, 'error' | 'problem'> & { status?: number };

function renderMailedCodePage(r: RequestContext, sentAtMs: number | undefined, view: MailedCodePageState = {}): void {
  const { search } = r.continuation;
  const address = path + search;
  const links = { signInHref: `/${search}`, forgotHref: `/forgot-password${search}` };
  r.renderForm(
    MailedCodePage,
    {
      action: address,
      ...links,
      minutes: codeMinutes,
      ...(sentAtMs !== undefined && { newest: { by: 'perhaps-email', atMs: sentAtMs } }),
    },
    { title: 'signIn.mailedCode.title', address, view, search },
  );
}

/** GET /sign-in/code: without a waiting sign-in it leads to the sign-in page. */
export async function showMailedCode(r: RequestContext, { mailedCodes: { flows } }: SignInDeps) {
  const flow = await flows.find(flows.readCookie(r.req));
  if (flow) return renderMailedCodePage(r, flow.sentAtMs);
  r.redirect(`/${r.continuation.search}`);
}

/** POST /sign-in/code: the right code continues as the password alone does at other times. */
export async function submitMailedCode(r: RequestContext, deps: SignInDeps) {
  const { mailedCodes, signIn, metrics, nextRedirect } = deps;
  const { continuation } = r;
  const checked = await mailedCodes.show(mailedCodes.flows.readCookie(r.req), r.field('code').trim(), r.ip);
  if (checked.kind !== 'correct') {
    r.log.info({ act: 'sign-in-code', outcome: toPublicOutcome(checked.kind) }, 'mailed sign-in code');
    if (checked.kind === 'not-found') return r.redirect(`/${continuation.search}`);
    const { status, text, field } = refusalView(r, mailedCodeRefusals, checked);
    return renderMailedCodePage(r, undefined, { status, ...(field ? { error: text } : { problem: text }) });
  }
  mailedCodes.flows.clearCookie(r.res);
  const { user, remember } = checked;
  const requiresAllFactors = async () => (await findPending(r, deps))?.requiresAllFactors === true;
  const entered = await signIn.completeSignIn(r, user, { amr: ['pwd'], remember, continuation, requiresAllFactors });
  metrics.signIn('password', toPublicOutcome(entered.kind));
  r.redirect(entered.kind === 'signed-in' ? nextRedirect(user, continuation).address : entered.address);
}
