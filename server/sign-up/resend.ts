import { resendWaitMs } from '../codes/index.ts';
import type { Language } from '../http/index.ts';
import type { RuleDeps } from './deps.ts';
import type { Flow } from './flows.ts';
import { admitCodeMail } from './limits.ts';
import { report } from './report.ts';
import { sendCode } from './send-code.ts';
import { prolong } from './sign-up-store.ts';
import { type Unconfirmed, unconfirmedOf } from './unconfirmed.ts';

export type Sent =
  | { kind: 'sent' }
  | { kind: 'refused'; why: 'wait' | 'daily-cap' | 'too-many'; retryAfterMs: number }
  /** There is nothing to confirm any more. */
  | { kind: 'gone' };

/** Sends a code to whom a flow is to confirm, and writes into the flow that it did. */
export async function sendCodeTo(
  deps: RuleDeps,
  { id, flow }: { id: string; flow: Flow },
  whom: Unconfirmed,
  { lang, ip, device }: { lang: Language; ip: string; device?: string | undefined },
): Promise<Sent> {
  const decision = await admitCodeMail(deps.kv, deps.limits, ip);
  if (!decision.allowed) return { kind: 'refused', why: 'too-many', retryAfterMs: decision.retryAfterMs };
  const { givenName } = whom.kind === 'user' ? whom.user : whom.signUp;
  const issued = await sendCode(deps, id, { kind: flow.kind, email: whom.email, givenName, lang, device });
  if (!issued.issued) {
    await decision.release();
    return { kind: 'refused', why: issued.why, retryAfterMs: issued.retryAfterMs };
  }
  await deps.flows.write(id, { ...flow, sentAtMs: deps.now() });
  if (whom.kind === 'sign-up') await prolong(deps.database.db, flow.id, deps.now());
  return { kind: 'sent' };
}

/** Another code for a flow, once the last one is a while ago; the one before is void. */
export async function resendCode(
  deps: RuleDeps,
  flowId: string,
  how: { lang: Language; ip: string; device?(whom: Unconfirmed): string | undefined },
): Promise<Sent> {
  const flow = await deps.flows.find(flowId);
  const whom = flow && (await unconfirmedOf(deps, flow));
  const sent: Sent =
    flow && whom
      ? await sendCodeTo(deps, { id: flowId, flow: { ...flow, resent: true } }, whom, {
          lang: how.lang,
          ip: how.ip,
          device: how.device?.(whom),
        })
      : { kind: 'gone' };
  report(deps, 'resend', sent.kind === 'refused' ? sent.why : sent.kind);
  return sent;
}

/** In how many seconds another code may be asked for; 0: now. */
export function resendSeconds(flow: Flow, nowMs: number): number {
  return flow.sentAtMs === undefined ? 0 : Math.max(0, Math.ceil((flow.sentAtMs + resendWaitMs - nowMs) / 1000));
}
