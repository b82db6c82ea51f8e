import { MfaSmsCodePage, MfaSmsPage } from '../../../views/account/mfa-sms-pages.tsx';
import {
  AddressWithNotice,
  codeForm,
  defineAction,
  HttpError,
  type PageHandler,
  submitAction,
  type T,
  toRetrySeconds,
  wrongInput,
} from '../../http/index.ts';
import { codeMinutes, normaliseCode, secondsUntilResend } from '../../messages/index.ts';
import { changeMfaPreference, type SmsSent } from '../../mfa/index.ts';
import { toPublicOutcome } from '../../shared/index.ts';
import type { UserRequest } from '../../sign-in/index.ts';
import type { User } from '../../users/index.ts';
import { formatPhone } from '../contact/format-phone.ts';
import type { AccountDeps } from '../deps.ts';
import { endOthersTicked } from '../devices/end-others.ts';
import { phonePath, securityHomePath, smsCodePath, smsPath } from '../paths.ts';
import { requireRecentAuth } from '../recent-auth-guard.ts';
import { type PageRoute, settingsPage } from '../settings-page.ts';
import { afterEnablingFactor } from './after-enabling-factor.ts';

/** A request of a user whose number can carry the factor. */
type NumberRequest = UserRequest & { readonly number: string };

/** The flow of the code: it belongs to this session. */
const enrolmentFlowId = ({ session }: UserRequest) => `enrol:${session.idHash}`;

/** For users whose number can carry the factor; others are redirected to the page that helps. */
function requireNumber(handler: PageHandler<AccountDeps, NumberRequest>) {
  return requireRecentAuth((r, deps: AccountDeps) => {
    const { user } = r;
    if (!deps.smsOffered) throw new HttpError('notFound', { detail: 'SMS is not configured' });
    if (user.mfaPreference === 'sms') return r.redirect(securityHomePath);
    if (user.phone === null || !user.phoneVerified) return r.redirect(phonePath);
    return handler(Object.assign(r, { number: formatPhone(user.phone) }), deps);
  });
}

function refusalText(t: T, { why, retryAfterMs = 0 }: SmsSent & { sent: false }): string {
  switch (why) {
    case 'too-soon':
      return t('mfaSettings.sms.wait', { seconds: toRetrySeconds(retryAfterMs) });
    case 'country':
      return t('mfaSettings.sms.country');
    case 'no-number':
      return t('mfaSettings.errors.noPhone');
    default:
      return t('mfaSettings.sms.tooMany', { minutes: Math.max(1, Math.ceil(retryAfterMs / 60_000)) });
  }
}

const sentKey = ({ session }: UserRequest) => `mfa-sms-sent:${session.idHash}`;

async function sendCode(r: UserRequest, { mfa, kv, now }: AccountDeps): Promise<SmsSent> {
  const sent = await mfa.smsCodes.send(r.user, { flow: enrolmentFlowId(r) }, { lang: r.lang, ip: r.ip });
  r.log.info({ act: 'mfa-sms', outcome: sent.sent ? 'sent' : toPublicOutcome(sent.why) }, 'SMS code');
  if (sent.sent) await kv.set(sentKey(r), String(now()), codeMinutes * 60_000);
  return sent;
}

/** Time of the last code for this session (milliseconds since the epoch); undefined: none. */
async function findSentAt(r: UserRequest, { kv }: AccountDeps): Promise<number | undefined> {
  const text = await kv.get(sentKey(r));
  return text === null ? undefined : Number(text);
}

/** The view of a code that could not be sent. */
function toSendRefusal(r: UserRequest, sent: SmsSent & { sent: false }) {
  if (sent.retryAfterMs !== undefined) r.setRetryAfter(sent.retryAfterMs);
  return { status: 429, problem: refusalText(r.t, sent) };
}

/** Sends a code to the user's number. */
const smsPage = settingsPage({
  path: smsPath,
  title: 'mfaSettings.sms.title',
  guard: requireNumber,
  Page: MfaSmsPage,
  toProps: ({ number }) => ({ number }),
  async act(r, deps) {
    const sent = await sendCode(r, deps);
    return sent.sent || sent.why === 'too-soon' ? smsCodePath : toSendRefusal(r, sent);
  },
});

const resentNotice = 'sms-code:resent';

async function resend(r: NumberRequest, deps: AccountDeps) {
  const sent = await sendCode(r, deps);
  return sent.sent ? new AddressWithNotice(smsCodePath, resentNotice) : toSendRefusal(r, sent);
}

/** The code from the number. `flow`: in which it was sent. */
const checkSmsCodeAction = defineAction({
  id: 'mfa-sms-code',
  form: codeForm,
  async run({ smsCodes }: AccountDeps['mfa'], { user, flow }: { user: User; flow: string }, { code: typed }) {
    const code = normaliseCode(typed);
    const check = code === undefined ? 'incomplete' : await smsCodes.check(user, flow, code);
    return check === 'correct' ? { kind: check } : { kind: 'refused' as const, refusal: { kind: check } };
  },
  refusals: {
    incomplete: wrongInput('codes.incomplete', 'code'),
    incorrect: wrongInput('codes.wrong', 'code'),
    invalidated: wrongInput('codes.expired', 'code'),
  },
});

/** The received code enables the factor; or another one is sent. */
async function submitCode(r: NumberRequest, deps: AccountDeps) {
  const { t, user } = r;
  const refuse = (view: { error: string } | { problem: string }) => ({
    status: 400,
    endOthers: endOthersTicked(r),
    ...view,
  });
  if (r.field('act') === 'resend') return resend(r, deps);
  const caller = { user, flow: enrolmentFlowId(r) };
  const checked = await submitAction(r, checkSmsCodeAction, { deps: deps.mfa, caller });
  if (checked.kind === 'refused-form') {
    // Its page is over too, unless there were only too many attempts with the code.
    if (checked.refusal !== 'invalidated' || (await findSentAt(r, deps)) !== undefined) {
      return refuse({ error: checked.errors.code ?? '' });
    }
    await smsPage.refuse(r, deps, { status: 400, problem: t('codes.expired') });
    return undefined;
  }
  const preferred = await changeMfaPreference(deps.mfa, user, { preference: 'sms', from: r.origin });
  const outcome = toPublicOutcome(preferred.kind);
  r.log.info({ act: 'mfa-preference', outcome, wanted: 'sms' }, 'second factor preference');
  switch (preferred.kind) {
    case 'unchanged':
      return securityHomePath;
    case 'not-found':
      throw new HttpError('unauthorized', { detail: 'user or password has changed' });
    case 'refused':
      return refuse({ problem: t('mfaSettings.errors.noPhone') });
    case 'set':
      return afterEnablingFactor(r, deps, { presented: 'sms', done: 'mfa-sms', codes: preferred.recoveryCodes });
  }
}

const smsCodePage = settingsPage({
  path: smsCodePath,
  title: 'mfaSettings.sms.codeTitle',
  guard: requireNumber,
  Page: MfaSmsCodePage,
  open: async (r, deps) =>
    (await findSentAt(r, deps)) === undefined ? smsPath : { resent: r.takesNotice(resentNotice) },
  async toProps(r, deps) {
    const atMs = await findSentAt(r, deps);
    return {
      number: r.number,
      minutes: codeMinutes,
      resent: false,
      waitSeconds: secondsUntilResend(atMs, deps.now()),
      ...(atMs !== undefined && { newest: { by: 'sms' as const, atMs } }),
    };
  },
  act: submitCode,
});

/** Codes by SMS: one must arrive before they become the second factor. */
export const mfaSmsPages: readonly PageRoute[] = [smsPage, smsCodePage];
