import { resolveLanguage } from '../../http/index.ts';
import {
  classifyNumber,
  codeMinutes,
  codeText,
  notifySecurityChange,
  type Origin,
  type SmsRefusal,
} from '../../messages/index.ts';
import { forgetRememberedDevices } from '../../mfa/index.ts';
import type { E164, FlowId, SessionIdHash } from '../../shared/index.ts';
import { AlreadyInUseError, normalisePhone, removePhone, setPhone, type User } from '../../users/index.ts';
import type { ContactDeps } from './contact-deps.ts';
import type { PendingChangeByKind } from './pending-contact-changes.ts';
import { type CodeRejection, type CodeThrottled, type ContactCode, verifyContactCode } from './verify-contact-code.ts';

export type PhoneRefusal =
  /** Not + and digits (the specification's pattern). */
  | { kind: 'malformed' }
  /** Digits alone, as within one country. */
  | { kind: 'no-country-code' }
  /** Not a number of any country's numbering plan. */
  | { kind: 'impossible' }
  /** A landline, a premium number, or one of a country to which no text messages are sent. */
  | { kind: 'unreachable' }
  | { kind: 'same' }
  /** Text messages are not configured, so no number can be confirmed. */
  | { kind: 'not-offered' }
  | CodeThrottled;

type RequestPhoneChangeResult = { kind: 'asked'; flow: FlowId } | { kind: 'refused'; refusal: PhoneRefusal };

/** Which limit applied would not help a user, and would help an attacker. */
function toRefusal(why: SmsRefusal, retryAfterMs: number): PhoneRefusal {
  if (why === 'country') return { kind: 'unreachable' };
  return { kind: why === 'member' || why === 'number' ? 'daily-limit' : 'too-many', retryAfterMs };
}

/** With a plus sign it would have the form of a number. */
const lacksCountryCode = (typed: string) => normalisePhone(`+${typed}`) !== undefined;

/** The reason that no code can be sent to this number; undefined if one can. */
async function findPhoneFault(
  { smsOffered, texts }: ContactDeps,
  phone: E164,
  user: User,
): Promise<PhoneRefusal | undefined> {
  if (phone === user.phone && user.phoneVerified) return { kind: 'same' };
  if (!smsOffered) return { kind: 'not-offered' };
  if ((await classifyNumber(phone)).kind === 'impossible') return { kind: 'impossible' };
  return (await texts.canReceiveSms(phone)) ? undefined : { kind: 'unreachable' };
}

async function sendCode(
  deps: ContactDeps,
  user: User,
  { id, flow, from }: { id: FlowId; flow: PendingChangeByKind<'phone'>; from: Origin },
): Promise<PhoneRefusal | undefined> {
  const { codes, database, outbox, texts, flows, brandName, publicUrl, now } = deps;
  const { to } = flow;
  const owner = { purpose: 'change-phone', flow: id, account: to } as const;
  const issued = await codes.issue(owner);
  if (!issued.issued) return { kind: issued.why, retryAfterMs: issued.retryAfterMs };
  const { code, expiresInMs } = issued;
  const lang = resolveLanguage(from.lang, user.locale ?? undefined);
  const sent = await database.transaction((trx) =>
    texts.send(trx, {
      to,
      member: user.id,
      ip: from.ip,
      text: codeText({ code, minutes: codeMinutes, brandName, publicUrl, lang }),
      expiresAtMs: now() + expiresInMs,
      groupId: codes.messageGroup(owner),
    }),
  );
  if (!sent.sent) {
    // A code that could not be sent must not exist.
    await codes.forget(owner);
    return toRefusal(sent.why, sent.retryAfterMs ?? 0);
  }
  await flows.update(id, { ...flow, sentAtMs: now() });
  outbox.wake();
  return undefined;
}

/**
 * Starts a change of the phone number: a code goes there by text message. Also if the number belongs to another user:
 * only the reader of the code learns that.
 * @param browser its form that is sent twice sends one code
 */
export async function requestPhoneChange(
  deps: ContactDeps,
  user: User,
  { typed, from, browser }: { typed: string; from: Origin; browser?: SessionIdHash | undefined },
): Promise<RequestPhoneChangeResult> {
  const phone = normalisePhone(typed);
  if (phone === undefined) {
    return { kind: 'refused', refusal: { kind: lacksCountryCode(typed) ? 'no-country-code' : 'malformed' } };
  }
  const fault = await findPhoneFault(deps, phone, user);
  if (fault) return { kind: 'refused', refusal: fault };
  const started = await deps.flows.begin({ kind: 'phone', to: phone }, user);
  const holder = browser === undefined ? started.id : await deps.flows.hold(started.id, started.flow, browser);
  if (holder !== started.id) {
    await deps.flows.end(started.id);
    return { kind: 'asked', flow: holder };
  }
  const refusal = await sendCode(deps, user, { ...started, from });
  if (!refusal) return { kind: 'asked', flow: started.id };
  await deps.flows.end(started.id);
  return { kind: 'refused', refusal };
}

type PhoneResent = { kind: 'sent' } | { kind: 'not-found' } | { kind: 'refused'; refusal: PhoneRefusal };

/** Sends another code if the last one is old enough; the earlier code becomes invalid. */
export async function resendPhoneCode(
  deps: ContactDeps,
  user: User,
  { id, from }: { id: FlowId; from: Origin },
): Promise<PhoneResent> {
  const flow = await deps.flows.find('phone', id, user);
  if (!flow) return { kind: 'not-found' };
  const refusal = await sendCode(deps, user, { id, flow, from });
  return refusal ? { kind: 'refused', refusal } : { kind: 'sent' };
}

type ConfirmPhoneChangeResult = { kind: 'changed' } | CodeRejection;

/**
 * The code from the number completes the change, and the number can sign in. If a second factor is enabled, remembered
 * devices are forgotten, because the number may carry it from now on.
 */
export async function confirmPhoneChange(
  deps: ContactDeps,
  user: User,
  { id, typed, from }: ContactCode,
): Promise<ConfirmPhoneChangeResult> {
  const { database, outbox, flows, log, now } = deps;
  const flow = await flows.find('phone', id, user);
  if (!flow) return { kind: 'not-found' };
  const refused = await verifyContactCode(deps, { id, flow }, { typed, ip: from.ip });
  if (refused) return refused;
  await flows.end(id);
  try {
    const changed = await database.transaction(async (trx) => {
      if (!(await setPhone(trx, user, { phone: flow.to, nowMs: now() }))) return false;
      if (user.mfaPreference !== 'none') await forgetRememberedDevices(trx, user.id);
      await notifySecurityChange(trx, deps, { user, change: 'phone', from });
      return true;
    });
    if (!changed) return { kind: 'not-found' };
  } catch (error) {
    if (error instanceof AlreadyInUseError) return { kind: 'already-in-use' };
    throw error;
  }
  outbox.wake();
  log.info({ act: 'phone-change' }, 'phone number changed');
  return { kind: 'changed' };
}

/** `in-use`: the second factor of the sign-in uses it. */
type RemovePhoneResult = 'removed' | 'none' | 'in-use';

/** Removes the number; this needs no proof. */
export async function removeUserPhone(deps: ContactDeps, user: User, from: Origin): Promise<RemovePhoneResult> {
  const { database, outbox, now } = deps;
  if (user.phone === null) return 'none';
  const removed = await database.transaction(async (trx) => {
    // The row itself decides: the factor may be enabled at this moment.
    if (!(await removePhone(trx, user.id, now()))) return false;
    await notifySecurityChange(trx, deps, { user, change: 'phone-removed', from });
    return true;
  });
  if (!removed) return 'in-use';
  outbox.wake();
  return 'removed';
}
