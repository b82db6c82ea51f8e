import { z } from 'zod';
import { SecondFactorPage, type SecondFactorPageProps } from '../../views/sign-in/second-factor-page.tsx';
import {
  formField,
  type RefusalRules,
  type RequestContext,
  refusalView,
  type T,
  tickSchema,
  toRetrySeconds,
  wrongInput,
} from '../http/index.ts';
import { secondsUntilResend } from '../messages/index.ts';
import {
  type ChallengeMethod,
  methods as challengeMethods,
  type SmsSent,
  type VerifyChallengeResult,
} from '../mfa/index.ts';
import type { E164 } from '../shared/index.ts';
import type { CurrentChallenge } from './current-challenge.ts';
import type { SignInDeps } from './deps.ts';

export type SecondFactorPageState = Partial<
  Pick<SecondFactorPageProps, 'error' | 'hint' | 'notice' | 'rememberDevice' | 'waitSeconds'>
> & { status?: number; method?: ChallengeMethod };

/** The form of the page. The rule says what a whole code is, by its method. */
export const secondFactorForm = {
  code: formField('code', { schema: z.string().trim(), isSecret: true }),
  method: formField('method', { schema: z.string().transform((text) => challengeMethods.find((one) => one === text)) }),
  rememberDevice: formField('rememberDevice', { schema: tickSchema }),
};

type FormDeps = Pick<SignInDeps, 'mfa' | 'now'>;

/** Enough for users to recognize their own number: `+49…67`. */
const masked = (phone: E164 | null) => (phone === null ? undefined : `${phone.slice(0, 3)}…${phone.slice(-2)}`);

/** The page behind the dialog. */
export const closeUrl = ({ challenge, continuation }: Pick<CurrentChallenge, 'challenge' | 'continuation'>): string =>
  challenge.intent === 'sign-in' ? `/${continuation.search}` : `/re-authenticate${continuation.search}`;

/** A request in a browser with an open challenge. */
export type ChallengeRequest = RequestContext & { readonly current: CurrentChallenge };

export function renderSecondFactorPage(
  r: ChallengeRequest,
  { mfa, now }: FormDeps,
  view: SecondFactorPageState = {},
): void {
  const { challenge, user, methods, continuation } = r.current;
  const { search } = continuation;
  const address = `/second-factor${search}`;
  const state = r.viewAt(address, view);
  if (!state) return;
  const { status, method: requested, waitSeconds, ...texts } = state;
  const expected = requested ?? challenge.method;
  const method = methods.includes(expected) ? expected : (methods[0] ?? 'recovery');
  const signsIn = challenge.intent === 'sign-in';
  r.render(
    SecondFactorPage,
    {
      action: address,
      closeHref: closeUrl({ challenge, continuation }),
      method,
      others: methods.filter((other) => other !== method),
      phone: masked(user.phone),
      unsent: challenge.sentAtMs === undefined,
      ...(method === 'sms' && challenge.sentAtMs !== undefined && { newest: { by: 'sms', atMs: challenge.sentAtMs } }),
      waitSeconds: waitSeconds ?? secondsUntilResend(challenge.sentAtMs, now()),
      backdrop: signsIn ? 'sign-in' : 'again',
      ...(signsIn && { rememberDays: mfa.remembered.days }),
      ...texts,
    },
    { title: 'mfa.challenge.title', address, status, search },
  );
}

function tooManyText(t: T, retryAfterMs: number): string {
  const minutes = Math.max(1, Math.ceil(retryAfterMs / 60_000));
  if (minutes <= 90) return t('mfa.challenge.errors.tooManyMinutes', { minutes });
  return t('mfa.challenge.errors.tooManyHours', { hours: Math.ceil(minutes / 60) });
}

type ChallengeRefusal = Exclude<VerifyChallengeResult, { kind: 'passed' | 'expired' }>;

const challengeRefusals = (method: ChallengeMethod): RefusalRules<ChallengeRefusal> => ({
  incomplete: wrongInput(method === 'recovery' ? 'mfa.challenge.recoveryIncomplete' : 'codes.incomplete', 'code'),
  incorrect: wrongInput('codes.wrong', 'code'),
  used: wrongInput('mfa.challenge.errors.used', 'code'),
  invalidated: wrongInput('codes.expired', 'code'),
  'too-many': { problem: 'tooMany', text: (t, { retryAfterMs }) => tooManyText(t, retryAfterMs) },
});

/** Text and status for each wrong code (the specification's section 8). */
export function toPageState(
  r: RequestContext,
  refused: ChallengeRefusal,
  method: ChallengeMethod,
): SecondFactorPageState {
  const { status, text, field } = refusalView(r, challengeRefusals(method), refused);
  if (field === undefined) return { status, notice: { kind: 'error', text } };
  // A clock that is wrong is the usual reason for the codes of an app.
  const isOfClock = method === 'totp' && refused.kind === 'incorrect';
  return { status, error: text, ...(isOfClock && { hint: r.t('codes.clock') }) };
}

/** The reason why no new code was sent. */
export function resendRefusedText(
  r: RequestContext,
  { why, retryAfterMs }: Extract<SmsSent, { sent: false }>,
): SecondFactorPageState {
  const { t } = r;
  const title = t('mfa.challenge.failed');
  const notice = (text: string) => ({ kind: 'error', title, text }) as const;
  if (retryAfterMs === undefined) return { status: 400, notice: notice(t('mfa.challenge.smsUnsent')) };
  r.setRetryAfter(retryAfterMs);
  if (why !== 'too-soon') return { status: 429, notice: notice(tooManyText(t, retryAfterMs)) };
  const seconds = toRetrySeconds(retryAfterMs);
  return { status: 429, notice: notice(t('mfa.challenge.tooSoon', { seconds })), waitSeconds: seconds };
}
