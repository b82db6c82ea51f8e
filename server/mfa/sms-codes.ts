import type { Language } from '../http/index.ts';
import {
  type CodeCheck,
  type Codes,
  codeMinutes,
  codeText,
  type Outbox,
  type SmsRefusal,
  type SmsSender,
} from '../messages/index.ts';
import type { Database } from '../store/index.ts';
import type { User } from '../users/index.ts';

export interface SmsCodes {
  /**
   * Sends a code to the user's verified number; the flow's earlier one becomes invalid.
   * @param owner.flow a secret of one browser, for example a challenge's id
   * @param owner.device the known device's id, counted separately
   */
  send(
    user: User,
    owner: { flow: string; device?: string | undefined },
    from: { lang: Language; ip: string },
  ): Promise<SmsSent>;
  /** Uses up the right code. @param code from `normaliseCode` */
  check(user: Pick<User, 'id' | 'phone'>, flow: string, code: string): Promise<CodeCheck>;
  forget(flow: string): Promise<void>;
}

export type SmsSent =
  | { sent: true }
  /**
   * `wait`: one was sent a moment ago; `daily-cap`: the user has reached the daily limit; the others are from
   * messages/.
   */
  | { sent: false; why: 'too-soon' | 'daily-limit' | 'no-number' | SmsRefusal; retryAfterMs?: number };

interface Settings {
  codes: Codes;
  database: Database;
  texts: SmsSender;
  outbox: Outbox;
  publicUrl: string;
  brandName: string;
  now: () => number;
}

const purpose = 'mfa-sms';

/** Bound to user and number: a code that was sent to a former number, for example a stolen phone's, is invalid. */
const phoneKey = ({ id, phone }: Pick<User, 'id' | 'phone'>) => `${id} ${phone}`;

export function createSmsCodes(settings: Settings): SmsCodes {
  const { codes, database, texts, outbox, publicUrl, brandName, now } = settings;
  return {
    async send(user, { flow, device }, { lang, ip }) {
      const { id, phone } = user;
      if (phone === null || !user.phoneVerified) return { sent: false, why: 'no-number' };
      const issued = await codes.issue({ purpose, flow, account: phoneKey(user), device });
      if (!issued.issued) return { sent: false, why: issued.why, retryAfterMs: issued.retryAfterMs };
      const { code, expiresInMs } = issued;
      const sent = await database.transaction((trx) =>
        texts.send(trx, {
          to: phone,
          text: codeText({ code, minutes: codeMinutes, brandName, publicUrl, lang }),
          member: id,
          ip,
          proven: true,
          fromKnownDevice: device !== undefined,
          expiresAtMs: now() + expiresInMs,
          // The newest code arrives last.
          groupId: codes.messageGroup({ purpose, account: id }),
        }),
      );
      if (sent.sent) outbox.wake();
      // A code that could not be sent must not exist.
      else await codes.forget({ purpose, flow });
      return sent;
    },
    check: (user, flow, code) => codes.check({ purpose, flow, account: phoneKey(user) }, code),
    forget: (flow) => codes.forget({ purpose, flow }),
  };
}
