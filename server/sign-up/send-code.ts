import type { Transaction } from 'kysely';
import type { Language } from '../http/index.ts';
import { codeMinutes, type IssuedCode } from '../messages/index.ts';
import type { NormalisedEmail } from '../shared/index.ts';
import type { Schema } from '../store/index.ts';
import { findUserByIdentifier } from '../users/index.ts';
import type { SignUpRuleDeps } from './deps.ts';

/** The recipient of a confirmation code. */
export interface CodeRecipient {
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
  await outbox.add(
    trx,
    member
      ? { ...common, template: 'account-exists', values: { givenName: member.givenName } }
      : { ...common, template: 'verify-email', values: { givenName, code, minutes: codeMinutes }, expiresAtMs },
    { delayed: uniformAnswers },
  );
}

/** A code for a flow that has started. */
export async function sendCode(deps: SignUpRuleDeps, flow: string, to: CodeRecipient): Promise<IssuedCode> {
  const { codes, database, outbox, now } = deps;
  const issued = await codes.issue({ purpose: 'confirm-email', flow, account: to.email, device: to.device });
  if (issued.issued) {
    const mail = { ...to, code: issued.code, expiresAtMs: now() + issued.expiresInMs };
    await database.transaction((trx) => addCodeMail(trx, deps, mail));
    outbox.wake();
  }
  return issued;
}
