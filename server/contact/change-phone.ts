import { codeMinutes } from '../codes/index.ts';
import { resolveLanguage } from '../http/index.ts';
import { classifyNumber, codeText, notifySecurityChange, type Origin, type SmsRefusal } from '../messages/index.ts';
import { forgetRememberedDevices } from '../mfa/index.ts';
import { AlreadyInUseError, normalisePhone, removePhone, setPhone, type User } from '../users/index.ts';
import type { ContactDeps } from './deps.ts';
import type { PendingContactChange } from './pending-contact-changes.ts';
import { type CodeRejection, type CodeThrottled, verifyContactCode } from './verify-contact-code.ts';

export type PhoneRefusal =
  /** Not + and digits (the specification's pattern). */
  | { kind: 'malformed' }
  /** No number of any country's plan. */
  | { kind: 'impossible' }
  /** A landline, a number at a premium, or one of a country that no text messages are sent to. */
  | { kind: 'unreachable' }
  | { kind: 'same' }
  /** No text messages are sent here, so no number can be confirmed. */
  | { kind: 'not-offered' }
  | CodeThrottled;

export type RequestPhoneChangeResult = { kind: 'asked'; flow: string } | { kind: 'refused'; refusal: PhoneRefusal };

/** Which limit it was tells a stranger nothing that they could use, and a member nothing that they could mend. */
function toRefusal(why: SmsRefusal, retryAfterMs: number): PhoneRefusal {
  if (why === 'country') return { kind: 'unreachable' };
  return { kind: why === 'member' || why === 'number' ? 'daily-cap' : 'too-many', retryAfterMs };
}

/** Why no code can be sent to this number; undefined when one can. */
async function findPhoneFault(
  { smsOffered, texts }: ContactDeps,
  phone: string | undefined,
  user: User,
): Promise<PhoneRefusal | undefined> {
  if (phone === undefined) return { kind: 'malformed' };
  if (phone === user.phone && user.phoneVerified) return { kind: 'same' };
  if (!smsOffered) return { kind: 'not-offered' };
  if ((await classifyNumber(phone)).kind === 'impossible') return { kind: 'impossible' };
  return (await texts.canReceiveSms(phone)) ? undefined : { kind: 'unreachable' };
}

async function sendCode(
  deps: ContactDeps,
  { id, flow }: { id: string; flow: PendingContactChange },
  user: User,
  from: Origin,
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
      ...{ to, member: user.id, ip: from.ip },
      text: codeText({ code, minutes: codeMinutes, brandName, publicUrl, lang }),
      expiresAtMs: now() + expiresInMs,
      groupId: codes.messageGroup(owner),
    }),
  );
  if (!sent.sent) {
    // A code that went to nobody is none.
    await codes.forget(owner);
    return toRefusal(sent.why, sent.retryAfterMs ?? 0);
  }
  await flows.update(id, { ...flow, sentAtMs: now() });
  outbox.wake();
  return undefined;
}

/**
 * Begins a change of the phone number: a code goes there by text message. Also to a number that is another member's: only who
 * reads the code is told so.
 */
export async function requestPhoneChange(
  deps: ContactDeps,
  user: User,
  typed: string,
  from: Origin,
): Promise<RequestPhoneChangeResult> {
  const phone = normalisePhone(typed);
  const fault = await findPhoneFault(deps, phone, user);
  if (fault || phone === undefined) return { kind: 'refused', refusal: fault ?? { kind: 'malformed' } };
  const started = await deps.flows.begin('phone', user, phone);
  const refusal = await sendCode(deps, started, user, from);
  if (!refusal) return { kind: 'asked', flow: started.id };
  await deps.flows.end(started.id);
  return { kind: 'refused', refusal };
}

export type PhoneResent = { kind: 'sent' } | { kind: 'gone' } | { kind: 'refused'; refusal: PhoneRefusal };

/** Another code, once the last one is a while ago; the one before is void. */
export async function resendPhoneCode(deps: ContactDeps, user: User, id: string, from: Origin): Promise<PhoneResent> {
  const flow = await deps.flows.find('phone', id, user);
  if (!flow) return { kind: 'gone' };
  const refusal = await sendCode(deps, { id, flow }, user, from);
  return refusal ? { kind: 'refused', refusal } : { kind: 'sent' };
}

export type ConfirmPhoneChangeResult = { kind: 'changed' } | CodeRejection;

/**
 * The code from the number makes it the member's, and a way to sign in. Where a second factor is asked for, remembered
 * devices are forgotten: the number may carry it from now on.
 */
export async function confirmPhone(
  deps: ContactDeps,
  user: User,
  id: string,
  typed: string,
  from: Origin,
): Promise<ConfirmPhoneChangeResult> {
  const { database, outbox, flows, log, now } = deps;
  const flow = await flows.find('phone', id, user);
  if (!flow) return { kind: 'gone' };
  const refused = await verifyContactCode(deps, { id, flow }, typed, from.ip);
  if (refused) return refused;
  await flows.end(id);
  try {
    const changed = await database.transaction(async (trx) => {
      if (!(await setPhone(trx, user, flow.to, now()))) return false;
      if (user.mfaPreference !== 'none') await forgetRememberedDevices(trx, user.id);
      await notifySecurityChange(trx, deps, { user, change: 'phone', from });
      return true;
    });
    if (!changed) return { kind: 'gone' };
  } catch (error) {
    if (error instanceof AlreadyInUseError) return { kind: 'taken' };
    throw error;
  }
  outbox.wake();
  log.info({ act: 'phone-change' }, 'a member has another number');
  return { kind: 'changed' };
}

/** `in-use`: it carries the second factor that is asked for at the sign-in. */
export type RemovePhoneResult = 'removed' | 'none' | 'in-use';

/** Takes the number away; nothing need be shown for it. */
export async function removeUserPhone(deps: ContactDeps, user: User, from: Origin): Promise<RemovePhoneResult> {
  const { database, outbox, now } = deps;
  if (user.phone === null) return 'none';
  const removed = await database.transaction(async (trx) => {
    // Decided by the row itself: the factor may be turned on at this moment.
    if (!(await removePhone(trx, user.id, now()))) return false;
    await notifySecurityChange(trx, deps, { user, change: 'phone-removed', from });
    return true;
  });
  if (!removed) return 'in-use';
  outbox.wake();
  return 'removed';
}
