import { z } from 'zod';
import {
  consumeLimits,
  type HostCookies,
  type Language,
  type Logger,
  type RateLimits,
  resolveLanguage,
} from '../http/index.ts';
import { type Codes, codeMinutes, decoyAddress, type Mail, normaliseCode, type Outbox } from '../messages/index.ts';
import { type FlowId, minuteMs, userIdSchema } from '../shared/index.ts';
import {
  type BrowserRecords,
  browserRecords,
  type Database,
  type KeyValueStore,
  type RecordCookie,
} from '../store/index.ts';
import { findUser, type User } from '../users/index.ts';

const schema = z.object({
  /** Null: the password was wrong, or the user does not exist; this is not revealed before the mailbox is proven. */
  user: z.object({ id: userIdSchema, passwordEpoch: z.number() }).nullable(),
  /** The checkbox of the sign-in form. */
  remember: z.boolean(),
  /** Time of the code; undefined: in a flow from before its page said so. */
  sentAtMs: z.number().optional(),
});

/** A sign-in that waits for the code from the user's mailbox. Its data cannot create a session. */
type MailedCodeFlow = z.infer<typeof schema>;

export type MailedCodeResult =
  | { kind: 'correct'; user: User; remember: boolean }
  /** Fewer than six digits: not checked. */
  | { kind: 'incomplete' }
  | { kind: 'incorrect' }
  /** Used, expired, or too many attempts. */
  | { kind: 'invalidated' }
  /** No sign-in waits in this browser, or the user has changed meanwhile. */
  | { kind: 'not-found' }
  | { kind: 'too-many'; retryAfterMs: number };

interface Settings {
  database: Database;
  kv: KeyValueStore;
  cookies: HostCookies;
  codes: Codes;
  outbox: Outbox;
  limits: Pick<RateLimits, 'signInCodeGuess'>;
  log: Logger;
  now: () => number;
}

/**
 * The second proof after a password attempt while the limit for all visitors is used up: a code by mail, before a
 * session starts. The answer is the same for a right and a wrong password, so that an attacker who exhausts the limit
 * learns nothing.
 */
export interface MailedCodes {
  flows: Pick<BrowserRecords<MailedCodeFlow>, 'find'> & RecordCookie;
  /** Starts the flow. @returns its id, a secret of the browser */
  begin(flow: MailedCodeFlow): Promise<FlowId>;
  /** Mails the code, or does equal work without a mail. Runs after the answer, so that its time reveals nothing. */
  send(id: FlowId, lang: Language): Promise<void>;
  show(id: FlowId, typed: string, ip: string): Promise<MailedCodeResult>;
}

const ttlMs = codeMinutes * minuteMs;
const purpose = 'sign-in';

/** The code is bound to the user: a flow that was changed in the store is useless. */
const toAccount = (id: FlowId, { user }: MailedCodeFlow): string => user?.id ?? `nobody ${id}`;

export function createMailedCodes(settings: Settings): MailedCodes {
  const { database, kv, cookies, codes, outbox, limits, log, now } = settings;
  const flows = browserRecords({
    kv,
    kind: 'sign-in-code',
    schema,
    ttlMs,
    cookie: { cookies, name: 'foyer_sign_in_code', maxAgeMs: ttlMs },
  });

  async function findMember({ user }: MailedCodeFlow): Promise<User | undefined> {
    const member = user === null ? undefined : await findUser(database.db, user.id);
    const same = member?.passwordEpoch === user?.passwordEpoch && member?.disabledAt === null && member.emailVerified;
    return same ? member : undefined;
  }

  async function issue(id: FlowId, flow: MailedCodeFlow) {
    const issued = await codes.issue({ purpose, flow: id, account: toAccount(id, flow) });
    if (issued.issued || flow.user === null) return { flow, issued };
    // The user has reached the daily limit of codes. From here on the flow has no user, so that a code reveals nothing.
    const nobody = { ...flow, user: null };
    await flows.update(id, nobody);
    await codes.forget({ purpose, flow: id });
    return { flow: nobody, issued };
  }

  return {
    flows,
    begin: (flow) => flows.create({ ...flow, sentAtMs: now() }),
    async send(id, lang) {
      const found = await flows.find(id);
      if (!found) return;
      const { flow, issued } = await issue(id, found);
      if (!issued.issued) return;
      const member = await findMember(flow);
      const mail: Mail<'sign-in-code'> = {
        channel: 'mail',
        to: member?.email ?? decoyAddress,
        template: 'sign-in-code',
        lang: resolveLanguage(lang, member?.locale ?? undefined),
        values: {
          givenName: member?.givenName ?? '',
          code: issued.code,
          minutes: codeMinutes,
          sentAtMs: flow.sentAtMs ?? now(),
        },
        groupId: codes.messageGroup({ purpose, account: toAccount(id, flow) }),
        expiresAtMs: now() + issued.expiresInMs,
      };
      await database.transaction(async (trx) => {
        await outbox.add(trx, mail, { decoy: member === undefined, delayed: true });
      });
      outbox.wake();
    },
    async show(id, typed, ip) {
      const flow = await flows.find(id);
      if (!flow) return { kind: 'not-found' };
      const code = normaliseCode(typed);
      if (code === undefined) return { kind: 'incomplete' };
      const decision = await consumeLimits(kv, limits.signInCodeGuess, { address: ip });
      if (!decision.allowed) return { kind: 'too-many', retryAfterMs: decision.retryAfterMs };
      const checked = await codes.check({ purpose, flow: id, account: toAccount(id, flow) }, code);
      // A flow without a user never succeeds, even with a guessed code.
      if (checked === 'invalidated') return { kind: 'invalidated' };
      if (checked === 'incorrect' || flow.user === null) return { kind: 'incorrect' };
      await Promise.all([decision.release(), flows.delete(id)]);
      const user = await findMember(flow);
      log.info({ act: 'sign-in-code' }, 'mailed code verified');
      return user ? { kind: 'correct', user, remember: flow.remember } : { kind: 'not-found' };
    },
  };
}
