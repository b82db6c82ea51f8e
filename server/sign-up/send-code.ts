import type { Transaction } from 'kysely';
import type { Language } from '../http/index.ts';
import { codeMinutes, type IssuedCode } from '../messages/index.ts';
import { type FlowId, minuteMs, type NormalisedEmail } from '../shared/index.ts';
import type { Schema } from '../store/index.ts';
import { findUserByIdentifier } from '../users/index.ts';
import type { SignUpRuleDeps } from './deps.ts';
import { consumeCodeMail } from './limits.ts';
import { logOutcome } from './log-outcome.ts';
import { findVerification, type PendingVerification, type UnverifiedAccount } from './sign-up-records.ts';
import { extendSignUp } from './sign-up-store.ts';

/** The recipient of a confirmation code. */
interface CodeRecipient {
  kind: 'sign-up' | 'user';
  email: NormalisedEmail;
  givenName: string;
  lang: Language;
  /** For a user: the known device. */
  device?: string | undefined;
}

/** Writes the mail into the outbox: the code, or for an existing user the notice that someone used their address. */
export async function addCodeMail(
  trx: Transaction<Schema>,
  { outbox, codes, uniformAnswers }: Pick<SignUpRuleDeps, 'outbox' | 'codes' | 'uniformAnswers'>,
  { kind, email, givenName, lang, code, expiresAtMs }: CodeRecipient & { code: string; expiresAtMs: number },
): Promise<void> {
  const member = kind === 'sign-up' ? await findUserByIdentifier(trx, { email }) : undefined;
  // The newest code arrives last, also if several flows ask.
  const groupId = codes.messageGroup({ purpose: 'confirm-email', account: email });
  const common = { channel: 'mail', to: email, lang, groupId } as const;
  const values = { givenName, code, minutes: codeMinutes, sentAtMs: expiresAtMs - codeMinutes * minuteMs };
  await outbox.add(
    trx,
    member
      ? { ...common, template: 'account-exists', values: { givenName: member.givenName } }
      : { ...common, template: 'verify-email', values, expiresAtMs },
    { delayed: uniformAnswers },
  );
}

/** A code for a flow that has started. */
async function sendCode(deps: SignUpRuleDeps, flow: string, to: CodeRecipient): Promise<IssuedCode> {
  const { codes, database, outbox, now } = deps;
  const issued = await codes.issue({ purpose: 'confirm-email', flow, account: to.email, device: to.device });
  if (issued.issued) {
    const mail = { ...to, code: issued.code, expiresAtMs: now() + issued.expiresInMs };
    await database.transaction((trx) => addCodeMail(trx, deps, mail));
    outbox.wake();
  }
  return issued;
}

export type SendCodeResult =
  | { kind: 'sent' }
  | { kind: 'refused'; why: 'too-soon' | 'daily-limit' | 'too-many'; retryAfterMs: number }
  /** There is nothing to confirm any more. */
  | { kind: 'not-found' };

/** Sends a code for a flow, and records it in the flow. */
export async function sendVerificationCode(
  deps: SignUpRuleDeps,
  { id, flow, account }: PendingVerification,
  { lang, ip, device }: { lang: Language; ip: string; device?: string | undefined },
): Promise<SendCodeResult> {
  const decision = await consumeCodeMail(deps.kv, deps.limits, ip);
  if (!decision.allowed) return { kind: 'refused', why: 'too-many', retryAfterMs: decision.retryAfterMs };
  const { givenName } = account.kind === 'unverified-user' ? account.user : account.signUp;
  const issued = await sendCode(deps, id, { kind: flow.kind, email: account.email, givenName, lang, device });
  if (!issued.issued) {
    await decision.release();
    return { kind: 'refused', why: issued.why, retryAfterMs: issued.retryAfterMs };
  }
  await deps.flows.write(id, { ...flow, sentAtMs: deps.now() });
  if (flow.kind === 'sign-up') await extendSignUp(deps.database.db, flow.id, deps.now());
  return { kind: 'sent' };
}

/** Sends another code for a flow if the last one is old enough; the earlier code becomes invalid. */
export async function resendCode(
  deps: SignUpRuleDeps,
  flowId: FlowId,
  from: { lang: Language; ip: string; device?(account: UnverifiedAccount): string | undefined },
): Promise<SendCodeResult> {
  const pending = await findVerification(deps, flowId);
  const sent: SendCodeResult = pending
    ? await sendVerificationCode(
        deps,
        { ...pending, flow: { ...pending.flow, resent: true } },
        { ...from, device: from.device?.(pending.account) },
      )
    : { kind: 'not-found' };
  logOutcome(deps, 'resend', sent.kind === 'refused' ? sent.why : sent.kind);
  return sent;
}
