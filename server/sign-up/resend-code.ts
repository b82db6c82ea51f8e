import type { Language } from '../http/index.ts';
import { resendWaitMs } from '../messages/index.ts';
import type { FlowId } from '../shared/index.ts';
import type { SignUpRuleDeps } from './deps.ts';
import { consumeCodeMail } from './limits.ts';
import { logOutcome } from './log-outcome.ts';
import { sendCode } from './send-code.ts';
import type { SignUpRecord } from './sign-up-records.ts';
import { extendSignUp } from './sign-up-store.ts';
import { findUnverifiedSubject, type PendingVerification, type UnverifiedSubject } from './unverified-subject.ts';

export type SendCodeResult =
  | { kind: 'sent' }
  | { kind: 'refused'; why: 'too-soon' | 'daily-limit' | 'too-many'; retryAfterMs: number }
  /** There is nothing to confirm any more. */
  | { kind: 'not-found' };

/** Sends a code for a flow, and records it in the flow. */
export async function sendVerificationCode(
  deps: SignUpRuleDeps,
  { id, flow, subject }: PendingVerification,
  { lang, ip, device }: { lang: Language; ip: string; device?: string | undefined },
): Promise<SendCodeResult> {
  const decision = await consumeCodeMail(deps.kv, deps.limits, ip);
  if (!decision.allowed) return { kind: 'refused', why: 'too-many', retryAfterMs: decision.retryAfterMs };
  const { givenName } = subject.kind === 'user' ? subject.user : subject.signUp;
  const issued = await sendCode(deps, id, { kind: flow.kind, email: subject.email, givenName, lang, device });
  if (!issued.issued) {
    await decision.release();
    return { kind: 'refused', why: issued.why, retryAfterMs: issued.retryAfterMs };
  }
  await deps.flows.write(id, { ...flow, sentAtMs: deps.now() });
  if (subject.kind === 'sign-up') await extendSignUp(deps.database.db, flow.id, deps.now());
  return { kind: 'sent' };
}

/** Sends another code for a flow if the last one is old enough; the earlier code becomes invalid. */
export async function resendCode(
  deps: SignUpRuleDeps,
  flowId: FlowId,
  from: { lang: Language; ip: string; device?(subject: UnverifiedSubject): string | undefined },
): Promise<SendCodeResult> {
  const flow = await deps.flows.find(flowId);
  const subject = flow && (await findUnverifiedSubject(deps, flow));
  const pending = flow && subject && { id: flowId, flow: { ...flow, resent: true }, subject };
  const sent: SendCodeResult = pending
    ? await sendVerificationCode(deps, pending, { ...from, device: from.device?.(pending.subject) })
    : { kind: 'not-found' };
  logOutcome(deps, 'resend', sent.kind === 'refused' ? sent.why : sent.kind);
  return sent;
}

/** Seconds until another code can be requested; 0: now. */
export function secondsUntilResend(flow: SignUpRecord, nowMs: number): number {
  return flow.sentAtMs === undefined ? 0 : Math.max(0, Math.ceil((flow.sentAtMs + resendWaitMs - nowMs) / 1000));
}
